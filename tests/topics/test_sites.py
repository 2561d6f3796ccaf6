"""The command `webwinnow sites`."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from crawlfiles import jsonl
from warmcommand import command

from webwinnow import parse
from webwinnow.topics.sitetopics import SiteTopics

TEXTS = {
    "farming": ["wheat harvest field barley", "tractor plough field soil", "cattle barn milk harvest"],
    "shipping": ["harbour vessel cargo crew", "anchor vessel sail tide", "captain crew harbour"],
}


run = partial(command, "sites")


def rows(name: str, topic: str, **more: object) -> list[dict[str, object]]:
    return [
        {
            "url": f"http://{name}.test/{k or ''}",
            "topic": topic,
            "html": f"<title>{name}</title><body><p>{text} {name}</p><a href='/{k + 1}'>next</a>",
        }
        | more
        for k, text in enumerate(TEXTS[topic])
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites")
    pages = [row for topic in TEXTS for k in range(3) for row in rows(f"{topic}{k}", topic)]
    done = run(
        "train", jsonl(folder / "pages.jsonl", pages), "--label", "topic", "-o", folder / "topics.npz", "--jobs", 1
    )
    assert done.returncode == 0, done.stderr
    assert "6 sites learned (farming 3, shipping 3); 18 pages, 0 failed" in done.stderr
    assert "leave one site out: 6 of 6 right (1.00, 95 % interval 1.00 to 1.00)" in done.stderr
    assert done.stdout == ""
    return folder / "topics.npz"


def test_sites_are_classified_a_line_each_with_what_decided(model: Path, tmp_path: Path):
    pages = [*rows("zebra", "shipping"), *rows("apple", "farming"), {"url": "http://broken.test/", "html": None}]
    done = run("classify", model, jsonl(tmp_path / "new.jsonl", pages), "-o", tmp_path / "out.jsonl", "--jobs", 1)
    assert done.returncode == 1  # a page failed
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["site"], one["topic"], one["pages"]) for one in found] == [
        ("apple.test", "farming", 3),
        ("broken.test", None, 0),
        ("zebra.test", "shipping", 3),
    ]
    assert found[1]["reason"] == "no page of the site could be read"
    assert found[0]["probabilities"].keys() == TEXTS.keys()
    assert found[0]["deciding_pages"][0]["url"].startswith("http://apple.test/")
    block = found[0]["deciding_blocks"][0]
    assert block["xpath"].startswith("/html")
    assert set(block["text"].split()) & set(" ".join(TEXTS["farming"]).split())


def test_a_site_without_known_words_has_no_topic(model: Path, tmp_path: Path):
    pages = [{"url": "http://empty.test/", "html": "<html></html>"}, {"url": "http://odd.test/", "html": "<p>zzz qqq"}]
    done = run("classify", model, jsonl(tmp_path / "new.jsonl", pages), "-o", "-", "--jobs", 1)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["topic"], one["probability"], one["none"]) for one in found] == [(None, None, None)] * 2
    assert {one["reason"] for one in found} == {"none of the site's words is known"}
    assert "0 sites classified (none); 2 pages, 0 failed" in done.stderr
    assert "2 sites without an answer" in done.stderr


def test_a_site_of_another_topic_is_none_of_these(model: Path, tmp_path: Path):
    """One word of each topic beside words that no training site has: it is no nearer to a topic than others are."""
    pages = [
        {"url": f"http://mixed.test/{k}", "html": f"<title>x</title><p>{text}"}
        for k, text in enumerate(["harvest vessel", "field crew", "soil tide"])
    ]
    given = jsonl(tmp_path / "new.jsonl", pages)
    answer, forced = (run("classify", model, given, "-o", "-", "-q", "--none", limit) for limit in (0.5, 1.1))
    record = json.loads(answer.stdout)
    assert (record["topic"], record["reason"]) == (None, "none of these topics")
    assert record["none"] > 0.5
    assert json.loads(forced.stdout)["topic"] in TEXTS
    plain = run("classify", model, jsonl(tmp_path / "a.jsonl", rows("a", "farming")), "-o", "-", "-q", "--none", 0.5)
    assert json.loads(plain.stdout)["topic"] == "farming"


def test_topics_of_several_levels_are_scored_at_each(tmp_path: Path):
    names = {"farming": ("land/grain", "land/cattle"), "shipping": ("sea/cargo", "sea/crew")}
    own = {"land/grain": "barley", "land/cattle": "cow", "sea/cargo": "crate", "sea/crew": "cook"}
    pages = [
        row | {"topic": name, "html": f"{row['html']}<p>{own[name]} {own[name]}s"}
        for topic, classes in names.items()
        for name in classes
        for k in range(2)
        for row in rows(f"{own[name]}{k}", topic)
    ]
    given, model = jsonl(tmp_path / "p.jsonl", pages), tmp_path / "m.npz"
    done = run("train", given, "--label", "topic", "-o", model, "--jobs", 1)
    assert "level 1: 8 of 8 right" in done.stderr
    assert "level 2: " in done.stderr
    found = json.loads(run("classify", model, jsonl(tmp_path / "n.jsonl", rows("x", "shipping")), "-o", "-").stdout)
    assert found["levels"][0]["topic"] == "sea"
    below = sum(share for name, share in found["probabilities"].items() if name.startswith("sea/"))
    assert found["levels"][0]["probability"] == pytest.approx(below, abs=1e-5)
    assert found["levels"][1]["topic"].startswith("sea/")


def test_the_same_input_gives_the_same_bytes(model: Path, tmp_path: Path):
    pages = jsonl(tmp_path / "new.jsonl", rows("zebra", "shipping"))
    first, second = (run("classify", model, pages, "-o", "-", "-q", "--jobs", jobs) for jobs in (1, 2))
    assert first.stdout == second.stdout != ""


def test_a_site_has_one_topic(tmp_path: Path):
    pages = jsonl(tmp_path / "p.jsonl", [*rows("a", "farming"), *rows("a", "shipping")])
    done = run("train", pages, "--label", "topic", "-o", tmp_path / "m.npz", "--jobs", 1)
    assert done.returncode == 2
    assert "more than one topic" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label", "nonsense"), "no column 'nonsense'"),
        (("--label", "topic", "--method", "magic"), "there is no method 'magic'"),
        (("--label", "topic", "--site-by", "moon"), "no site key"),
    ],
)
def test_bad_usage_says_what_to_do(tmp_path: Path, options: tuple[str, ...], said: str):
    pages = jsonl(tmp_path / "p.jsonl", [*rows("a", "farming"), *rows("b", "shipping")])
    done = run("train", pages, *options, "-o", tmp_path / "m.npz")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_one_topic_is_not_enough(tmp_path: Path):
    pages = jsonl(tmp_path / "p.jsonl", rows("a", "farming"))
    done = run("train", pages, "--label", "topic", "-o", tmp_path / "m.npz", "--jobs", 1)
    assert done.returncode == 2
    assert "1 topic among 1 site: expected two or more" in done.stderr


def test_a_file_that_is_no_model_is_refused(tmp_path: Path):
    pages = jsonl(tmp_path / "p.jsonl", rows("a", "farming"))
    done = run("classify", pages, pages, "-o", "-")
    assert done.returncode == 2
    assert "train it again" in done.stderr


def test_parameters_of_topics_are_set_from_the_command_line(tmp_path: Path):
    """The nearest site is about farming, the next two about shipping: one vote, or the majority of three."""
    texts = {"one": "wheat harvest field barley", "two": "wheat harvest crew", "three": "wheat field vessel"}
    topics = {"one": "farming", "two": "shipping", "three": "shipping"}
    pages = [
        {"url": f"http://{name}.test/", "topic": topics[name], "html": f"<p>{text}"} for name, text in texts.items()
    ]
    given = jsonl(tmp_path / "pages.jsonl", pages)
    new = jsonl(tmp_path / "new.jsonl", [{"url": "http://new.test/", "html": f"<p>{texts['one']}"}])
    found = {}
    for nearest in (1, 3):
        options = ["--method", "superpage", "--set", f"topics.nearest={nearest}", "--jobs", 1, "-q"]
        done = run("train", given, "--label", "topic", "-o", tmp_path / "m.npz", *options)
        assert done.returncode == 0, done.stderr
        done = run("classify", tmp_path / "m.npz", new, "-o", "-", "--jobs", 1, "-q")
        found[nearest] = json.loads(done.stdout)["probabilities"]
    assert found[1] == {"farming": 1.0, "shipping": 0.0}
    assert 0 < found[3]["shipping"] < 1


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("topics.nearest=0", "nearest is 0: expected 1 or more"),
        ("topics.passes=many", "passes is 'many': expected 1 or more"),
        ("reading.delta=0.1", "there is no setting 'reading.delta'; there are: topics.nearest"),
        ("sst.threshold=0.5", "there is no setting 'sst.threshold'; there are: topics.nearest"),
    ],
)
def test_a_senseless_parameter_of_sites_is_refused(tmp_path: Path, pair: str, said: str):
    given = jsonl(tmp_path / "pages.jsonl", rows("a", "farming") + rows("b", "shipping"))
    done = run("train", given, "--label", "topic", "-o", tmp_path / "m.npz", "--set", pair)
    assert done.returncode == 2
    assert said in done.stderr


# Denoising (Sites 4.2)

TERMS = "".join(f"[{topic}]\n" + "\n".join(" ".join(texts).split()) + "\n" for topic, texts in TEXTS.items())
GAMES = [
    *("casino bonus jackpot roulette spin", "poker chips dealer blackjack bonus", "slots spin jackpot casino"),
    *("roulette dealer jackpot chips", "bonus spin poker slots", "blackjack casino chips roulette"),
]


def with_games(name: str, topic: str) -> list[dict[str, object]]:
    """A site with two blocks of advertising on every page, which no other page repeats, and a page of nothing else."""
    pages = rows(name, topic)
    for k, page in enumerate(pages):
        text = TEXTS[topic][k]
        blocks = (text, text.split()[0], GAMES[k], GAMES[k + 3])
        page["html"] = f"<title>{name}</title>" + "".join(f"<p>{block}" for block in blocks)
    last = {"url": f"http://{name}.test/games", "topic": topic, "html": f"<p>{GAMES[0]}<p>{GAMES[4]}<p>crew"}
    return [*pages, last]


@pytest.fixture(scope="module")
def advertised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sites of farming with advertising, and of shipping without."""
    pages = [row for k in range(3) for row in [*with_games(f"farm{k}", "farming"), *rows(f"ship{k}", "shipping")]]
    return jsonl(tmp_path_factory.mktemp("advertised") / "pages.jsonl", pages)


def trained(given: Path, model: Path, *options: object) -> Path:
    done = run("train", given, "--label", "topic", "-o", model, "--jobs", 1, "--no-score", "-q", *options)
    assert done.returncode == 0, done.stderr
    return model


def classified(model: Path, given: Path, *options: object) -> dict:
    done = run("classify", model, given, "-o", "-", "--jobs", 1, "-q", "--none", 1.1, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("form", ["list", "skos"])
def test_a_thesaurus_removes_what_is_not_about_the_topics(advertised: Path, tmp_path: Path, form: str):
    """A site of shipping with advertising looks like farming, whose training sites alone had any."""
    pytest.importorskip("ahocorasick_rs")
    terms = tmp_path / "terms.txt"
    terms.write_text(TERMS)
    if form == "skos":
        pytest.importorskip("rdflib")
        label = '<http://t.test/{0}> <http://www.w3.org/2004/02/skos/core#prefLabel> "{0}" .\n'
        terms = tmp_path / "terms.nt"
        terms.write_text("".join(label.format(word) for word in TERMS.split() if word.isalpha()))
    new = jsonl(tmp_path / "new.jsonl", with_games("new", "shipping"))
    plain = classified(trained(advertised, tmp_path / "plain.npz"), new)
    assert plain["topic"] == "farming"
    model = trained(advertised, tmp_path / "denoised.npz", "--thesaurus", terms)
    terms.unlink()  # the model has what it needs
    found = classified(model, new)
    assert found["topic"] == "shipping"
    assert {page["url"] for page in found["deciding_pages"]} == {f"http://new.test/{k or ''}" for k in range(3)}
    assert not any(set(block["text"].split()) & set(" ".join(GAMES).split()) for block in found["deciding_blocks"])


def test_both_stages_of_denoising_are_set_from_the_command_line(advertised: Path, tmp_path: Path):
    """Two of four nodes are noise: no majority, unless more than 0.4 is one; a share of 0 marks no node with words."""
    pytest.importorskip("ahocorasick_rs")
    terms = tmp_path / "terms.txt"
    terms.write_text(TERMS)
    tree = parse(str(with_games("new", "shipping")[0]["html"]), url="http://new.test/")
    counted = {}
    for pair in ("denoising.majority=0.5", "denoising.majority=0.4", "denoising.least_pertinence=0"):
        model = trained(advertised, tmp_path / "m.npz", "--thesaurus", terms, "--set", pair)
        counted[pair] = SiteTopics.load(model).counter.of(tree).counted.tolist()
    assert counted["denoising.majority=0.5"] == [True, True, True, False, False, True]  # page, four blocks, title
    assert counted["denoising.majority=0.4"] == [False] * 6
    assert counted["denoising.least_pertinence=0"] == [True] * 6


def test_sites_classify_takes_a_thesaurus_of_its_own(advertised: Path, tmp_path: Path):
    pytest.importorskip("ahocorasick_rs")
    terms = tmp_path / "terms.txt"
    terms.write_text(TERMS)
    plain = trained(advertised, tmp_path / "plain.npz")
    new = jsonl(tmp_path / "new.jsonl", with_games("new", "shipping"))
    assert classified(plain, new, "--thesaurus", terms)["topic"] == "shipping"


@pytest.mark.parametrize(
    ("name", "text", "options", "said"),
    [
        ("terms.txt", None, (), "terms.txt: no thesaurus (No such file or directory)"),
        ("terms.txt", "[shipping]\ncrew", (), "the thesaurus has no terms of 'farming'"),
        ("terms.txt", TERMS + "[flying]\nwing", (), "terms of 'flying', which no site has"),
        ("terms.txt", "wheat\ncrew", ("--method", "superpage"), "a thesaurus has no effect on it"),
        ("terms.jsonld", "{}", (), "JSON-LD is not read"),
    ],
)
def test_a_bad_thesaurus_is_refused(tmp_path: Path, name: str, text: str | None, options: tuple[str, ...], said: str):
    pytest.importorskip("ahocorasick_rs")
    pytest.importorskip("rdflib")
    if text is not None:
        (tmp_path / name).write_text(text)
    given = jsonl(tmp_path / "pages.jsonl", rows("a", "farming") + rows("b", "shipping"))
    command = ("train", given, "--label", "topic", "-o", tmp_path / "m.npz", "--jobs", 1)
    done = run(*command, "--thesaurus", tmp_path / name, *options)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_settings_of_denoising_need_a_thesaurus(tmp_path: Path):
    given = jsonl(tmp_path / "pages.jsonl", rows("a", "farming") + rows("b", "shipping"))
    command = ("train", given, "--label", "topic", "-o", tmp_path / "m.npz", "--set", "denoising.majority=0.4")
    done = run(*command)
    assert (done.returncode, "no effect without --thesaurus" in done.stderr) == (2, True), done.stderr
