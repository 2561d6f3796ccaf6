"""The command `webwinnow sites mine` on a synthetic web of real servers on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from siteweb import SiteWeb, site_web, texts_of
from warmcommand import run_command
from webserver import Asked, Reply, WebServer

from webwinnow.crawl.guard import AddressGuard, Route
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import InputError, SettingsError
from webwinnow.run.inputs import open_pages
from webwinnow.topics.discovery import DiscoverySettings
from webwinnow.topics.mining.report import MineRun, mined_html
from webwinnow.topics.mining.run import fates_of, mine_sites
from webwinnow.topics.mining.seeds import read_seeds
from webwinnow.topics.mining.store import MineStore
from webwinnow.topics.settings import MineSettings
from webwinnow.topics.sitetopics import SiteTopics

SAMPLE = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
MINE = ["sites", "mine"]
PATIENCE = 240.0
TOPICS = ("glfw", "sqlite")


@pytest.fixture(scope="module")
def web() -> SiteWeb:
    """Twelve sites: two topics with seeds, and one without."""
    pages: dict[str, list] = {}
    for page in open_pages([SAMPLE], on_problem=lambda _: None):
        pages.setdefault(page.url.split("/")[2].split(".")[0], []).append(page)
    texts = {name: texts_of(found, 400) for name, found in pages.items()}
    return site_web(texts, {"glfw": 5, "sqlite": 5, "python": 2}, hubs=2, below=4, out_links=12)


@pytest.fixture(scope="module")
def seeds(web: SiteWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seeds") / "seeds.csv"
    path.write_text("url,label\n" + "".join(f"{web.starts[f'{topic}-0.web.test']},{topic}\n" for topic in TOPICS))
    return path


@dataclass(frozen=True)
class Mined:
    out: Path
    stderr: str
    asked: Counter[str]


def options(server: WebServer, seeds: Path, out: Path) -> list[str]:
    more = ["--delay", "0", "--hosts", "12", "--no-search", "--allow", "127.0.0.1", "--resolve", server.route()]
    return ["--seeds", str(seeds), "-o", str(out), *more]


@pytest.fixture(scope="module")
def mined(web: SiteWeb, seeds: Path, tmp_path_factory: pytest.TempPathFactory) -> Mined:
    out = tmp_path_factory.mktemp("mined") / "run"
    with WebServer(web.pages) as server:
        done = run_command(*MINE, *options(server, seeds, out), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return Mined(out, done.stderr, pages_asked(server))


def pages_asked(server: WebServer) -> Counter[str]:
    return Counter(line.asked.url for line in server.log if not line.asked.path.endswith("robots.txt"))


def records_of(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "sites.jsonl").read_text().splitlines()]


def test_sites_with_the_topics_of_the_seeds_are_found(web: SiteWeb, mined: Mined) -> None:
    records = records_of(mined.out)
    found = {record["site"]: record for record in records if record["on_topic"] and not record["seed"]}
    wanted = web.of_topic(TOPICS) - {record["site"] for record in records if record["seed"]}
    assert len(wanted & found.keys()) >= 0.9 * len(wanted)
    right = [site for site in wanted & found.keys() if found[site]["topic"] == web.topics[site]]
    assert len(right) >= 0.9 * len(wanted & found.keys())
    assert len(found.keys() - wanted) <= 1
    rate = 100 * len(found) / 2  # equation 15, counted by hand
    assert f"{len(found)} sites found from 2 seeds" in mined.stderr
    assert f"spotting rate {rate:.0f} %" in mined.stderr


def test_links_between_sites_led_there_and_are_reported(web: SiteWeb, mined: Mined) -> None:
    for record in records_of(mined.out):
        assert all((linking, record["site"]) in web.links for linking in record["linked_by"])
        assert record["seed"] or record["linked_by"]
        assert record["start"] == web.starts[record["site"]]


def test_no_page_is_asked_for_twice_and_no_site_is_read_to_its_end(web: SiteWeb, mined: Mined) -> None:
    assert set(mined.asked.values()) == {1}
    records = [record for record in records_of(mined.out) if not record["seed"]]
    sizes = Counter(url.split("/")[2] for url in web.pages)
    assert all(record["pages"] <= sizes[record["site"]] for record in records)


def test_the_reason_of_a_decision_is_reported(mined: Mined) -> None:
    found = [record for record in records_of(mined.out) if record["on_topic"] and not record["seed"]]
    for record in found:
        assert record["deciding_pages"]
        assert all(page["url"].startswith(record["start"]) for page in record["deciding_pages"])
        assert any(block["text"] and block["xpath"].startswith("/html") for block in record["deciding_blocks"])


def test_the_report_is_self_contained(mined: Mined) -> None:
    report = (mined.out / "report.html").read_text()
    assert "default-src 'none'" in report.replace("&#39;", "'")
    assert "<script" not in report
    assert "src=" not in report.replace("default-src", "").replace("style-src", "")
    assert '<a href="http://glfw-1.web.test/" rel="noreferrer nofollow">glfw-1.web.test</a>' in report


def test_urls_are_links_and_names_are_not_cut(mined: Mined) -> None:
    """Start pages, linking sites, deciding pages and the pages of deciding blocks."""
    report = (mined.out / "report.html").read_text()
    for record in records_of(mined.out):
        if record["seed"]:
            continue
        blocks = record["deciding_blocks"][:2]
        urls = [record["start"], *(page["url"] for page in [*record["deciding_pages"], *blocks])]
        urls += [f"http://{name}/" for name in record["linked_by"]]
        for url in urls:
            assert f'<a href="{url}" rel="noreferrer nofollow">' in report
        for text in [record["site"], *record["linked_by"], *(page["url"] for page in record["deciding_pages"])]:
            assert f">{text}</a>" in report


def test_the_counts_of_summary_report_and_records_agree(mined: Mined) -> None:
    records = [record for record in records_of(mined.out) if not record["seed"]]
    found = sum(record["on_topic"] for record in records)
    off = sum(record["pages"] > 0 and not record["on_topic"] for record in records)
    failed = sum(record["pages"] == 0 for record in records)
    assert (found and off) and found + off + failed == len(records)
    assert f"{len(records)} sites read in" in mined.stderr
    assert f"{found} on topic, {off} off topic, {failed} could not be read" in mined.stderr
    pages = sum(record["pages"] for record in records_of(mined.out))
    assert (
        f"{pages:,} pages of seeds and sites; this run fetched {sum(mined.asked.values()):,} pages, 0 of"
        in mined.stderr
    )
    report = (mined.out / "report.html").read_text()
    for name, count in {"Sites read": len(records), "Sites found": found, "Off topic": off, "Pages": pages}.items():
        assert f"<dt>{name}</dt><dd>{count:,}</dd>" in report
    assert f"<h2>Off topic ({off})</h2>" in report
    for topic in TOPICS:
        assert f"<h2>{topic} ({sum(r['topic'] == topic and r['on_topic'] for r in records)})</h2>" in report


def test_how_the_model_moved_is_reported_round_by_round(mined: Mined) -> None:
    """The sites that were learned from, the largest change of pi, A and B, P(C), and words that came and went."""
    rounds = [json.loads(line) for line in (mined.out / "rounds.jsonl").read_text().splitlines()]
    assert rounds
    records = {record["site"]: record for record in records_of(mined.out)}
    taught = {site: topic for change in rounds for site, topic in change["sites"].items()}
    sure = [r for r in records.values() if r["on_topic"] and r["probability"] >= 0.9 and r["none"] <= 1 / 3]
    assert taught == {record["site"]: record["topic"] for record in sure if not record["seed"]}
    assert all(records[site]["round"] == change["round"] for change in rounds for site in change["sites"])
    first = rounds[0]
    assert set(first["topics"]) == set(TOPICS)
    assert all(first["largest"][scale]["A"] > 0 for scale in ("pages", "blocks"))
    for before, after in pairwise(rounds):
        for topic in TOPICS:
            assert before["topics"][topic]["prior"] == after["topics"][topic]["prior_before"]
    model = SiteTopics.load(mined.out / "topics.npz")
    shares = model.method_.final.parameters.root
    for topic, share in zip(model.names_, shares, strict=True):
        assert rounds[-1]["topics"][topic]["prior"]["sites"] == pytest.approx(share, abs=1e-6)
    words = [word for change in rounds for moved in change["topics"].values() for word in moved["words_in"]]
    assert words
    assert "?" not in words
    report = (mined.out / "report.html").read_text()
    assert "How the model moved" in report
    assert f'<td class="left">{", ".join(first["topics"]["sqlite"]["words_in"])}</td>' in report
    assert f"the model learned from {len(taught)} of the found sites" in mined.stderr


def test_progress_counts_pages_and_sites_upwards(web: SiteWeb, seeds: Path, tmp_path: Path) -> None:
    seen: dict[str, list[int]] = {"crawl": [], "sites": []}
    with WebServer(web.pages) as server:
        run = mine_sites(
            seeds,
            tmp_path / "run",
            None,
            settings_of(server),
            on_progress=lambda stage, done, _: seen[stage].append(done),
        )
    assert run.rounds > 1
    for counts in seen.values():
        assert counts == sorted(counts)
    assert seen["crawl"][-1] == run.fetched
    assert run.fetched_for_links > 0
    assert seen["sites"][-1] == len(run.sites) - len(run.seeds)


def test_the_model_that_was_learned_can_be_used(web: SiteWeb, mined: Mined) -> None:
    model = SiteTopics.load(mined.out / "topics.npz")
    assert model.names_ == TOPICS
    assert len(model.hosts_) > len(TOPICS)  # it has learned from the sites that were found


def test_a_finished_run_asks_nobody_again(web: SiteWeb, seeds: Path, mined: Mined) -> None:
    before = (mined.out / "sites.jsonl").read_bytes()
    with WebServer(web.pages) as server:
        again = mine_sites(seeds, mined.out, MineSettings(search=False), settings_of(server))
    assert not server.log
    assert again.fetched == 0
    assert (mined.out / "sites.jsonl").read_bytes() == before


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.01)


def children_of(pid: int) -> list[int]:
    return [
        int(child)
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for child in (thread / "children").read_text().split()
    ]


def test_a_killed_run_continues_to_the_same_end(web: SiteWeb, seeds: Path, mined: Mined, tmp_path: Path) -> None:
    """The server delays its answers in the first round until the run is killed, so that it cannot end earlier."""
    out, is_killed = tmp_path / "run", threading.Event()

    def is_held() -> bool:
        return (out / "round-001").is_dir() and sum(pages_asked(server).values()) > 60

    def answer(asked: Asked) -> Reply:
        if is_held():
            is_killed.wait(PATIENCE)
        found = web.pages.get(asked.url)
        return Reply(b"", status=404) if found is None else Reply(found.encode())

    with WebServer(answer=answer) as server:
        command = [*MINE, *options(server, seeds, out), "--quiet"]
        process = subprocess.Popen([sys.executable, "-m", "webwinnow", *command], start_new_session=True)
        wait_for(is_held)
        children = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))  # the crawl ends with it
        before = pages_asked(server)
        is_killed.set()
        done = run_command(*command)
        assert done.returncode == 0
        after = pages_asked(server)
    assert set(before) <= set(after)
    twice = [url for url, times in after.items() if times > 1]
    assert len(twice) <= 12  # those in flight when it was killed, one per host
    for name in ("sites.jsonl", "rounds.jsonl"):
        assert (out / name).read_bytes() == (mined.out / name).read_bytes()
    models = [SiteTopics.load(folder / "topics.npz").method_.to_arrays() for folder in (out, mined.out)]
    for name, array in models[0].items():
        np.testing.assert_array_equal(array, models[1][name])


def settings_of(server: WebServer) -> CrawlSettings:
    guard = AddressGuard(allow=("127.0.0.1/32",), routes=(Route.parse(server.route()),))
    return CrawlSettings(delay=0.0, backoff=0.01, retries=0, guard=guard)


def test_other_settings_do_not_continue_with_a_run(seeds: Path, mined: Mined) -> None:
    with pytest.raises(SettingsError, match="other confidence"):
        mine_sites(seeds, mined.out, MineSettings(mining=DiscoverySettings(confidence=0.7)))
    with pytest.raises(SettingsError, match="no seed has the topic maps"):
        mine_sites(seeds, mined.out, MineSettings(mining=DiscoverySettings(topics=("maps",))))
    with pytest.raises(SettingsError, match="has other files"):
        mine_sites(seeds, seeds.parent)


def test_limits_end_a_run_and_larger_ones_continue_with_it(
    web: SiteWeb, seeds: Path, mined: Mined, tmp_path: Path
) -> None:
    labels = {url.split("/")[2]: label for url, label in (line.split(",") for line in seeds.read_text().split()[1:])}
    stored = tmp_path / "seeds.jsonl"
    rows = [
        {"url": url, "html": html, "topic": labels[host]}
        for url, html in web.pages.items()
        if (host := url.split("/")[2]) in labels
    ]
    stored.write_text("".join(json.dumps(row) + "\n" for row in rows))
    some = MineSettings(label="topic", pages=12, mining=DiscoverySettings(sites=2, topics=("sqlite",)))
    with WebServer(web.pages) as server:
        first = mine_sites(stored, tmp_path / "run", some, settings_of(server))
        asked = pages_asked(server)
    assert first.ended == "2 sites were read, as many as wanted"
    assert [record["pages"] <= 12 for record in first.sites[2:]] == [True, True]
    assert not any(url.startswith(tuple(f"http://{host}" for host in labels)) for url in asked)  # seeds were stored
    assert all(record["topic"] == "sqlite" for record in first.found)
    late = mine_sites(stored, tmp_path / "late", MineSettings(label="topic", seconds=1e-6))
    assert (late.ended, late.finished, len(late.sites)) == ("the time is up", False, 2)
    more = MineSettings(label="topic", pages=12, mining=DiscoverySettings(sites=3, topics=("sqlite",)))
    with WebServer(answer=lambda _: Reply(b"gone", status=404)) as server:
        second = mine_sites(stored, tmp_path / "run", more, settings_of(server))
    assert second.sites[: len(first.sites)] == first.sites
    failed = second.sites[-1]
    assert (failed["pages"], failed["topic"], failed["on_topic"]) == (0, None, False)
    assert "404" in failed["reason"]


def test_sites_on_topic_are_read_further_where_no_candidate_is_left(tmp_path: Path) -> None:
    """a.test links to c.test on its last page only, which pruning skips."""
    sea = "harbour anchor sailor lighthouse tide wharf rudder keel mast rigging".split()
    field = "plough harvest orchard barley pasture shepherd furrow meadow thresher granary".split()

    def page(words: list[str], n: int, links: list[str]) -> str:
        said = "".join(f"<p>{words[(n + k) % 10]} {words[(n + 2 * k) % 10]}</p>" for k in range(4))
        return f"<title>{n}</title>{said}" + "".join(f"<a href='{link}'>on</a>" for link in links)

    pages = {}
    for host, words in (("s.test", sea), ("f.test", field), ("a.test", sea), ("c.test", sea)):
        for n in range(40):
            links = [f"/{k}" for k in range(1, 40)] if n == 0 else []
            links += ["http://a.test/"] if host == "s.test" and n == 0 else []
            links += ["http://c.test/"] if host == "a.test" and n == 39 else []
            pages[f"http://{host}/{n or ''}"] = page(words, n, links)
    seeds = tmp_path / "seeds.csv"
    seeds.write_text("http://s.test/,sea\nhttp://f.test/,field\n")
    few = MineSettings(search=False, mining=DiscoverySettings(sites=2))
    with WebServer(pages) as server:
        pruned = mine_sites(seeds, tmp_path / "run", few, settings_of(server))
        whole = mine_sites(seeds, tmp_path / "run", replace(few, search=True), settings_of(server))
        asked = len(server.log)
        again = mine_sites(seeds, tmp_path / "run", replace(few, search=True), settings_of(server))
    assert [record["site"] for record in pruned.found] == ["a.test"]
    assert pruned.found[0]["pages"] < 30
    assert [record["site"] for record in whole.found] == ["a.test", "c.test"]
    assert again.sites == whole.sites
    assert len(server.log) == asked


SEA_AND_FIELD = {
    "sea": "harbour anchor sailor lighthouse tide wharf rudder keel mast rigging".split(),
    "field": "plough harvest orchard barley pasture shepherd furrow meadow thresher granary".split(),
}


def sea_and_field(folder: str = "") -> dict[str, str]:
    """Three sites below a folder; c.test, which s.test links to, has pages of another topic beside the folder."""
    sea, field = SEA_AND_FIELD.values()
    pages = {}
    for host, words in (("s.test", sea), ("f.test", field), ("c.test", sea)):
        for n in range(6):
            said = "".join(f"<p>{words[(n + k) % 10]} {words[(n + 2 * k) % 10]}</p>" for k in range(4))
            links = [f"/{folder}{k}" for k in range(1, 6)] + ["/else/0"] if n == 0 else []
            links += [f"http://c.test/{folder}"] if host == "s.test" and n == 0 else []
            pages[f"http://{host}/{folder}{n or ''}"] = f"<title>{n}</title>{said}" + "".join(
                f"<a href='{link}'>on</a>" for link in links
            )
        pages[f"http://{host}/else/0"] = "<title>x</title><p>something else</p>"
    return pages


@pytest.mark.parametrize(("scope", "outside"), [("below", False), ("host", True)])
def test_a_site_is_what_is_below_its_start_page(tmp_path: Path, scope: str, outside: bool) -> None:
    """Definition 1; the whole host is an option."""
    seeds = tmp_path / "seeds.csv"
    seeds.write_text("http://s.test/docs/,sea\nhttp://f.test/docs/,field\n")
    with WebServer(sea_and_field("docs/")) as server:
        run = mine_sites(seeds, tmp_path / "run", MineSettings(scope=scope), settings_of(server))
        asked = pages_asked(server)
    assert [record["site"] for record in run.found] == ["c.test"]
    assert ("http://c.test/else/0" in asked) == outside
    with pytest.raises(SettingsError, match="expected below, host, domain"):
        MineSettings(scope="moon")


def test_sites_that_cannot_be_read_are_not_counted_as_off_topic(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.csv"
    seeds.write_text("http://s.test/,sea\nhttp://f.test/,field\n")
    pages = {url: html for url, html in sea_and_field().items() if "c.test" not in url}
    settings = MineSettings(search=False, mining=DiscoverySettings(fruitless=1))
    with WebServer(pages) as server:
        run = mine_sites(seeds, tmp_path / "run", settings, settings_of(server))
    assert "1 site read in 1 round: 0 on topic, 0 off topic, 1 could not be read" in run.lines()[1]
    assert "off topic" not in run.ended or "0 off topic, 1 could not be read" in run.ended


def test_the_pruned_tree_is_what_is_classified(mined: Mined) -> None:
    records = [record for record in records_of(mined.out) if not record["seed"] and record["pages"]]
    assert all(0 < record["classified_pages"] <= record["pages"] for record in records)
    assert any(record["classified_pages"] < record["pages"] for record in records)


def test_how_far_sites_are_read_is_set_from_the_command_line(
    web: SiteWeb, seeds: Path, mined: Mined, tmp_path: Path
) -> None:
    """With one unconditional page, as published, and a delta that no page reaches, a site is its start page."""
    out = tmp_path / "run"
    given = ["reading.least=1", "reading.unchanged=2", "reading.delta=50", "topics.passes=1"]
    with WebServer(web.pages) as server:
        command = [*MINE, *options(server, seeds, out), *(word for pair in given for word in ("--set", pair))]
        done = run_command(*command, "--taught", "1", capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    records = [record for record in records_of(out) if not record["seed"]]
    assert records
    assert {record["classified_pages"] for record in records} == {1}
    assert max(record["pages"] for record in records) <= 3
    usual = [record for record in records_of(mined.out) if not record["seed"]]
    assert min(record["classified_pages"] for record in usual) > 3
    model = SiteTopics.load(out / "topics.npz")
    assert len(model.hosts_) == len(TOPICS)  # no site is certain enough to learn from


def test_sites_are_denoised_by_a_thesaurus_and_pruned_as_published(tmp_path: Path) -> None:
    """Beside the start page, c.test has four pages of which most nodes are noise, and two about the sea."""
    pytest.importorskip("ahocorasick_rs")
    seeds, terms, out = tmp_path / "seeds.csv", tmp_path / "terms.txt", tmp_path / "run"
    seeds.write_text("http://s.test/,sea\nhttp://f.test/,field\n")
    pages = sea_and_field()
    terms.write_text("".join(f"[{name}]\n" + "\n".join(words) + "\n" for name, words in SEA_AND_FIELD.items()))
    for n in range(2, 6):
        words = SEA_AND_FIELD["field"][n:]
        pages[f"http://c.test/{n}"] = f"<title>{n}</title><p>casino {n}<p>bonus {n}<p>spin {n}<p>{' '.join(words)}"
    with WebServer(pages) as server:
        command = [*MINE, *options(server, seeds, out), "--set", "reading.published=true"]
        done = run_command(*command, "--thesaurus", terms, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        other = run_command(*command, capture_output=True, text=True)
    assert "has a run with other thesaurus" in other.stderr
    found = records_of(out)[-1]
    assert (found["site"], found["topic"], found["pages"]) == ("c.test", "sea", 7)
    assert 1 <= found["classified_pages"] <= 2  # pages that change nothing are not added, the start page always is
    model = SiteTopics.load(out / "topics.npz")
    assert model.denoiser is not None
    assert model.denoiser.thesaurus.by_topic == {name: tuple(sorted(words)) for name, words in SEA_AND_FIELD.items()}


def test_two_runs_do_not_work_in_one_folder(seeds: Path, mined: Mined) -> None:
    with MineStore(mined.out), pytest.raises(InputError, match="wait if another run is using the folder"):
        mine_sites(seeds, mined.out)


def test_a_damaged_state_is_refused(seeds: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.sqlite").write_bytes(b"no database at all, but long enough to be taken for one" * 20)
    with pytest.raises(InputError, match=r"mine\.sqlite cannot be used"):
        mine_sites(seeds, tmp_path)


# Seeds


def test_seeds_are_read_from_tables_of_start_pages(tmp_path: Path) -> None:
    for name, text in {
        "a.csv": "url,label\nhttp://a.test/,one\nhttp://b.test/x,two\n",
        "b.tsv": "http://a.test/\tone\nhttp://b.test/x\ttwo\n",
        "c.jsonl": '{"url": "http://a.test/", "label": "one"}\n{"url": "http://b.test/x", "label": "two"}\n',
    }.items():
        path = tmp_path / name
        path.write_text(text)
        found = read_seeds(path)
        assert found.topics == {"a.test": "one", "b.test": "two"}
        assert found.starts == {"a.test": "http://a.test/", "b.test": "http://b.test/x"}


def test_seeds_of_one_topic_or_of_two_at_one_site_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "seeds.csv"
    path.write_text("url,label\nhttp://a.test/,one\nhttp://b.test/,one\n")
    with pytest.raises(InputError, match="two topics or more"):
        read_seeds(path)
    path.write_text("url,label\nhttp://a.test/1,one\nhttp://a.test/2,two\n")
    with pytest.raises(InputError, match=r"a\.test has two topics"):
        read_seeds(path)
    path.write_text("url,label\nnonsense,one\n")
    with pytest.raises(InputError, match="no web URL"):
        read_seeds(path)
    with pytest.raises(InputError, match="no such file"):
        read_seeds(tmp_path / "missing.csv")


def test_the_report_escapes_what_sites_say() -> None:
    evil = "</style><script>alert(1)</script>"
    record = {
        "site": evil,
        "topic": evil,
        "probability": 0.9,
        "probabilities": {},
        "pages": 1,
        "failed_pages": 0,
        "deciding_pages": [{"url": evil, "probability": 0.9}],
        "deciding_blocks": [{"url": evil, "xpath": evil, "text": evil, "probability": 0.9}],
        "seed": False,
        "on_topic": True,
        "none": 0.1,
        "leads_to": [],
        "whole": True,
        "start": f"javascript:{evil}",
        "round": 1,
        "linked_by": [evil],
        "reason": None,
    }
    seed, failed = record | {"seed": True}, record | {"on_topic": False, "pages": 0, "reason": evil}
    moved = {"prior_before": {evil: 0.5}, "prior": {evil: 0.6}, "words_in": [evil], "words_out": [evil]}
    largest = {scale: {"pi": 0.1, "A": 0.2, "B": 0.3} for scale in ("pages", "blocks")}
    change = {"round": 1, "sites": {evil: evil}, "largest": largest, "topics": {evil: moved}}
    run = MineRun((seed, record, failed), (change,), 1, 3, 0, 1.0, evil, finished=True)
    report = mined_html(run, evil)
    assert "<script" not in report
    assert report.count("</style>") == 1
    assert "href" not in report
    assert run.spotting == 1.0


DOCS = Path(os.environ.get("WEBWINNOW_DATA") or "no-data") / "sites-docs.parquet"
DOC_TOPICS = {
    "databases": "postgresql-doc-15",
    "languages": "cppreference-doc-en-html",
    "mathematics": "python-scipy-doc",
    "servers": "apache2-doc",
    "interfaces": "libgtk-3-doc",
    "web": "python-django-doc",
}
OTHER_TOPICS = {"mail": "exim4-doc-html", "statistics": "python-statsmodels-doc", "pascal": "fp-docs-3.2.2"}


@pytest.mark.slow
@pytest.mark.skipif(not DOCS.is_file(), reason="WEBWINNOW_DATA names no folder with sites-docs")
@pytest.mark.parametrize(("others", "deep"), [(0, False), (4, False), (4, True)])
def test_sixty_sites_are_mined_from_six_seeds(tmp_path: Path, others: int, deep: bool) -> None:
    """Six topics; with `others`, that many sites of each of three topics without seeds are between them. Where links
    between sites are deep, pruning leaves most of them unread at first.
    """
    pages: dict[str, list] = {}
    for page in open_pages([DOCS], on_problem=lambda _: None):
        pages.setdefault(str(page.site), []).append(page)
    texts = {topic: texts_of(pages[site]) for topic, site in (DOC_TOPICS | OTHER_TOPICS).items()}
    counts = dict.fromkeys(DOC_TOPICS, (60 - 3 * others) // 6) | dict.fromkeys(OTHER_TOPICS, others)
    web = site_web(
        texts, {topic: count for topic, count in counts.items() if count}, deep=deep, below=10 if deep else 4
    )
    assert len(web.topics) == 60
    seeds = tmp_path / "seeds.csv"
    seeds.write_text("url,label\n" + "".join(f"http://{topic}-0.web.test/,{topic}\n" for topic in DOC_TOPICS))
    with WebServer(web.pages) as server:
        run = mine_sites(seeds, tmp_path / "run", crawling=settings_of(server))
    found = {record["site"]: record["topic"] for record in run.found}
    wanted = web.of_topic(DOC_TOPICS) - {record["site"] for record in run.seeds}
    assert len(wanted & found.keys()) >= 0.9 * len(wanted)
    right = sum(found[site] == web.topics[site] for site in wanted & found.keys())
    assert right >= 0.9 * len(wanted & found.keys())
    assert run.spotting == len(found) / 6
    assert len(found.keys() - wanted) <= 2 * others


def test_a_line_of_the_log_does_not_end_at_a_line_separator_within(tmp_path: Path) -> None:
    lines = [{"reason": "says \u2028 and \u0085"}, {"reason": "\u2029"}]
    log = tmp_path / "fates.jsonl"
    log.write_bytes(b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))
    assert fates_of(log) == lines
