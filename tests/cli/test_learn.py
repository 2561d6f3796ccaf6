"""`webwinnow learn`, `models merge|show` and `clean --models`."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow import SiteModel
from webwinnow.page.parsing import ParseLimits, parse
from webwinnow.site.learned import limits_for
from webwinnow.site.modelstore import ModelFolder
from webwinnow.site.sums import SiteSums


def test_models_clean_as_learning_from_the_same_pages_does(webwinnow, make_pages, write_crawl, records, tmp_path):
    crawl = write_crawl(make_pages("a.example", 70) + make_pages("b.example", 6))
    learned = webwinnow("learn", crawl, "-o", tmp_path / "models", "--jobs", 2)
    assert learned.returncode == 0, learned.stderr
    assert "2 sites learned from 76 pages" in learned.stderr
    for method in ("combined", "repeated", "sst", "cst"):
        assert webwinnow("clean", crawl, "-o", tmp_path / "1.jsonl", "--method", method).returncode == 0
        known = webwinnow(
            "clean", crawl, "-o", tmp_path / "2.jsonl", "--method", method, "--models", tmp_path / "models"
        )
        assert known.returncode == 0, known.stderr
        assert records(tmp_path / "1.jsonl") == records(tmp_path / "2.jsonl")
    assert "section" not in records(tmp_path / "2.jsonl")[0]["text"]


def test_cst_with_models_removes_the_menu_of_unseen_pages(webwinnow, write_crawl, records, tmp_path):
    def pages(first: int, last: int) -> list[dict[str, str]]:
        """Pages that differ in the number of rules: no sequence of children occurs twice."""
        menu = "<div class=menu><p><b>home about contact</b></p></div>"
        texts = [f"{'<hr>' * k}<div class=story><p><b>story{k} tale{k}</b></p></div>" for k in range(first, last)]
        return [{"url": f"http://a.example/{first + k}", "html": menu + text} for k, text in enumerate(texts)]

    assert webwinnow("learn", write_crawl(pages(0, 6)), "-o", tmp_path / "models", "-q").returncode == 0
    out, unseen = tmp_path / "out.jsonl", write_crawl(pages(6, 12), "unseen.jsonl")
    done = webwinnow("clean", unseen, "-o", out, "--method", "cst", "--models", tmp_path / "models")
    assert done.returncode == 0, done.stderr
    assert [record["text"].split() for record in records(out)] == [[f"story{k}", f"tale{k}"] for k in range(6, 12)]


def styled_pages(first: int, last: int) -> list[dict[str, str]]:
    """Pages whose parts have styles of their own in a style sheet only."""
    sheet = "<style>div + div { color: red } div + div + div { font-weight: 700; color: blue }</style>"
    return [
        {"url": f"http://a.example/{k}", "html": f"{sheet}<div>home about</div><div>story{k}</div><div>terms</div>"}
        for k in range(first, last)
    ]


@pytest.mark.parametrize("css", [(), ("--css",)])
def test_a_model_says_whether_style_sheets_count(webwinnow, write_crawl, records, tmp_path, css):
    models = tmp_path / "models"
    assert webwinnow("learn", write_crawl(styled_pages(0, 6)), "-o", models, "-q", *css).returncode == 0
    assert ModelFolder(models).find("a.example").css is bool(css)
    unseen = write_crawl(styled_pages(6, 9), "unseen.jsonl")
    for given in ((), ("--css",)):
        out = tmp_path / "out.jsonl"
        done = webwinnow("clean", unseen, "-o", out, "--method", "sst", "--models", models, "-q", *given)
        assert done.returncode == 0, done.stderr
        assert [record["text"].split() for record in records(out)] == [[f"story{k}"] for k in range(6, 9)]
    page = tmp_path / "page.html"
    page.write_text(styled_pages(6, 7)[0]["html"])
    given = ("--url", "http://a.example/6", "--method", "sst", "--models", models)
    assert webwinnow("page", page, *given).stdout.split() == ["story6"]


def test_pages_learned_with_and_without_style_sheets_are_not_joined(webwinnow, write_crawl, tmp_path):
    for name, first, css in (("one", 0, ()), ("two", 4, ("--css",))):
        crawl = write_crawl(styled_pages(first, first + 4), f"{name}.jsonl")
        assert webwinnow("learn", crawl, "-o", tmp_path / name, "-q", *css).returncode == 0
    merged = webwinnow("models", "merge", tmp_path / "one", tmp_path / "two", "-o", tmp_path / "both")
    assert merged.returncode == 2 and "--css" in merged.stderr
    updated = webwinnow("learn", tmp_path / "two.jsonl", "-o", tmp_path / "one", "--update", "--css")
    assert "learned without --css" in updated.stderr


def test_a_model_that_does_not_say_whether_style_sheets_count_leaves_that_to_the_option():
    model = SiteModel.learn([parse(page["html"], page["url"]) for page in styled_pages(0, 4)])
    assert SiteModel.from_bytes(model.to_bytes()).css is None
    for css in (False, True):
        assert limits_for(model, ParseLimits(css=css)).css is css


def test_a_site_without_a_model_says_so(webwinnow, make_pages, write_crawl, records, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 5)), "-o", tmp_path / "models")
    other = write_crawl(make_pages("b.example", 5), "other.jsonl")
    done = webwinnow("clean", other, "-o", tmp_path / "o.jsonl", "--method", "sst", "--models", tmp_path / "models")
    assert done.returncode == 0, done.stderr
    assert all(record["reason"].startswith("nothing is known of this site") for record in records(tmp_path / "o.jsonl"))


def test_merged_models_are_those_of_all_pages(webwinnow, make_pages, write_crawl, tmp_path):
    pages = make_pages("a.example", 9)
    for name, some in (("one", pages[:4]), ("two", pages[4:]), ("all", pages)):
        assert webwinnow("learn", write_crawl(some, f"{name}.jsonl"), "-o", tmp_path / name, "-q").returncode == 0
    merged = webwinnow("models", "merge", tmp_path / "two", tmp_path / "one", "-o", tmp_path / "merged")
    assert merged.returncode == 0, merged.stderr
    whole = sorted((tmp_path / "all").iterdir())
    assert len(whole) == 2
    for file in whole:
        assert (tmp_path / "merged" / file.name).read_bytes() == file.read_bytes()


def test_models_that_share_pages_are_not_merged(webwinnow, make_pages, write_crawl, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m", "-q")
    merged = webwinnow("models", "merge", tmp_path / "m", tmp_path / "m", "-o", tmp_path / "both")
    assert merged.returncode == 2
    assert "share pages" in merged.stderr


def test_models_without_sums_cannot_merge_and_say_why(webwinnow, make_pages, write_crawl, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m", "-q", "--no-sums")
    assert len(list((tmp_path / "m").iterdir())) == 1
    merged = webwinnow("models", "merge", tmp_path / "m", "-o", tmp_path / "both")
    assert merged.returncode == 2
    assert "--no-sums" in merged.stderr


def test_show_draws_what_repeats_and_what_varies(webwinnow, make_pages, write_crawl, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 6)), "-o", tmp_path / "m", "-q")
    listed = webwinnow("models", "show", tmp_path / "m")
    assert listed.stdout.startswith("a.example: 6 pages")
    drawn = webwinnow("models", "show", tmp_path / "m", "--site", "a.example").stdout
    assert "- ul.menu" in drawn
    assert "+ main" in drawn
    one = next((tmp_path / "m").glob("*.model.npz"))
    assert webwinnow("models", "show", one).stdout == drawn


@pytest.mark.parametrize("arguments", [["--site", "b.example"], []])
def test_show_of_what_is_not_there_is_an_error(webwinnow, make_pages, write_crawl, tmp_path, arguments):
    webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m", "-q")
    shown = webwinnow("models", "show", tmp_path / ("m" if arguments else "nowhere"), *arguments)
    assert shown.returncode == 2
    assert shown.stderr.startswith("webwinnow: ")


def test_clean_with_a_folder_that_is_not_there_is_an_error(webwinnow, make_pages, write_crawl, tmp_path):
    crawl = write_crawl(make_pages("a.example", 4))
    done = webwinnow("clean", crawl, "-o", tmp_path / "o.jsonl", "--method", "sst", "--models", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "webwinnow learn" in done.stderr


def test_a_damaged_model_fails_its_pages_and_no_others(webwinnow, make_pages, write_crawl, records, tmp_path):
    crawl = write_crawl(make_pages("a.example", 4) + make_pages("b.example", 4))
    webwinnow("learn", crawl, "-o", tmp_path / "m", "-q")
    ModelFolder(tmp_path / "m").model_path("a.example").write_bytes(b"rubbish")
    done = webwinnow("clean", crawl, "-o", tmp_path / "o.jsonl", "--method", "sst", "--models", tmp_path / "m")
    assert done.returncode == 1
    outcomes = {record["page_id"]: record["outcome"] for record in records(tmp_path / "o.jsonl")}
    assert {outcomes[f"a.example/{n}"] for n in range(4)} == {"failed"}
    assert {outcomes[f"b.example/{n}"] for n in range(4)} == {"kept"}


def test_thresholds_are_shown_for_a_person_and_one_can_be_set(webwinnow, make_pages, write_crawl, tmp_path):
    crawl = write_crawl(make_pages("a.example", 25))
    tried = webwinnow("learn", crawl, "-o", tmp_path / "m", "-q", "--try-thresholds")
    assert tried.returncode == 0, tried.stderr
    assert tried.stdout.startswith("a.example: 20 pages")
    assert tried.stdout.count("http://a.example/p/") == 2 * 20
    assert "threshold of sst" in tried.stdout
    assert "threshold of aligned" in tried.stdout
    assert "removed: a.example section" in tried.stdout
    fewer = webwinnow("learn", crawl, "-o", tmp_path / "m", "-q", "--try-thresholds", "--try-pages", 3)
    assert fewer.stdout.startswith("a.example: 3 pages")
    webwinnow("learn", crawl, "-o", tmp_path / "m", "-q", "--set", "sst.threshold=0.4")
    model = ModelFolder(tmp_path / "m").find("a.example")
    assert model is not None
    assert model.thresholds["sst"] == 0.4
    assert model.thresholds["aligned"] != 0.4


def test_names_of_sites_are_no_paths(tmp_path):
    folder = ModelFolder(tmp_path / "m", make=True)
    for site in ("../../etc/passwd", "", "a" * 5000, "ü/🚜", "..", "a.example", "A.example"):
        folder.save(site, SiteModel.of(SiteSums(site)).to_bytes())
        found = folder.find(site)
        assert found is not None
        assert found.site == site
    assert len(list((tmp_path / "m").iterdir())) == 7
    assert {file.parent for file in tmp_path.rglob("*.npz")} == {tmp_path / "m"}


def test_a_page_that_cannot_be_read_is_counted(webwinnow, make_pages, write_crawl, tmp_path):
    pages = [*make_pages("a.example", 4), {"url": "http://a.example/without-html"}]
    done = webwinnow("learn", write_crawl(pages), "-o", tmp_path / "m")
    assert "1 site learned from 5 pages" in done.stderr
    assert "1 page could not be read: " in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "sst.threshold=2"], "threshold is 2.0: expected a number from 0 to 1"),
        (["--set", "sst.threshold=nan"], "threshold is nan: expected a number from 0 to 1"),
        (["--site-by", "page"], "no site key 'page'"),
    ],
)
def test_a_setting_without_meaning_is_refused_before_anything_is_written(
    webwinnow, make_pages, write_crawl, tmp_path, arguments, message
):
    done = webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "m").exists()


def test_an_input_that_is_not_there_makes_no_folder(webwinnow, tmp_path):
    assert webwinnow("learn", tmp_path / "nothing.warc", "-o", tmp_path / "m").returncode == 2
    assert not (tmp_path / "m").exists()


def test_models_do_not_go_into_a_file(webwinnow, make_pages, write_crawl, tmp_path):
    (tmp_path / "m").write_text("mine")
    done = webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m")
    assert done.returncode == 2
    assert "is a file; expected a folder" in done.stderr
    assert (tmp_path / "m").read_text() == "mine"


@pytest.mark.parametrize("called", [("models", "show"), ("models", "merge", "-o", "out"), ("clean", "-o", "out")])
def test_a_folder_without_models_is_refused(webwinnow, make_pages, write_crawl, tmp_path, called):
    (tmp_path / "empty").mkdir()
    given = [write_crawl(make_pages("a.example", 4)), "--models"] if called[0] == "clean" else []
    done = webwinnow(*called, *given, tmp_path / "empty", cwd=tmp_path)
    assert done.returncode == 2
    assert "is not a folder of models; make one with: webwinnow learn" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_summary_says_how_many_pages_are_of_unknown_sites(webwinnow, make_pages, write_crawl, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 5)), "-o", tmp_path / "m")
    other = write_crawl(make_pages("b.example", 5), "other.jsonl")
    done = webwinnow("clean", other, "-o", tmp_path / "o.jsonl", "--method", "sst", "--models", tmp_path / "m")
    assert "      5  nothing is known of this site" in done.stderr


def test_sites_in_turn_are_cleaned_as_sites_in_a_row_are(webwinnow, make_pages, write_crawl, tmp_path):
    sites = [make_pages(f"s{k}.example", 4) for k in range(20)]
    in_a_row = write_crawl([page for pages in sites for page in pages], "row.jsonl")
    in_turn = write_crawl([page for pages in zip(*sites, strict=True) for page in pages], "turn.jsonl")
    webwinnow("learn", in_a_row, "-o", tmp_path / "m", "-q")
    for crawl in (in_a_row, in_turn):
        out = tmp_path / f"clean-{crawl.name}"
        done = webwinnow("clean", crawl, "-o", out, "--method", "sst", "--models", tmp_path / "m", "--jobs", 1)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "clean-row.jsonl").read_bytes() == (tmp_path / "clean-turn.jsonl").read_bytes()


def test_names_of_sites_do_not_command_the_terminal(webwinnow, make_pages, write_crawl, tmp_path):
    pages = [page | {"site": "a\x1b[2Jb"} for page in make_pages("a.example", 4)]
    learned = webwinnow("learn", write_crawl(pages), "-o", tmp_path / "m", "--site-by", "column", "--try-thresholds")
    shown = webwinnow("models", "show", tmp_path / "m")
    drawn = webwinnow("models", "show", *(tmp_path / "m").glob("*.model.npz"))
    for done in (learned, shown, drawn):
        assert done.stdout.startswith("a?[2Jb: 4 pages")


def test_a_model_is_not_shown_under_the_name_of_another_site(webwinnow, make_pages, write_crawl, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m", "-q")
    shown = webwinnow("models", "show", *(tmp_path / "m").glob("*.model.npz"), "--site", "b.example")
    assert shown.returncode == 2
    assert "is the model of 'a.example', not of 'b.example'" in shown.stderr


def test_folders_with_different_sites_merge_into_one(webwinnow, make_pages, write_crawl, tmp_path):
    for site in ("a.example", "b.example"):
        webwinnow("learn", write_crawl(make_pages(site, 4)), "-o", tmp_path / site, "-q")
    merged = webwinnow("models", "merge", tmp_path / "a.example", tmp_path / "b.example", "-o", tmp_path / "both")
    assert "2 sites of 2 folders merged" in merged.stderr
    for site in ("a.example", "b.example"):
        for file in (tmp_path / site).iterdir():
            assert (tmp_path / "both" / file.name).read_bytes() == file.read_bytes()


def test_models_are_not_merged_into_one_of_the_merged_folders(webwinnow, make_pages, write_crawl, tmp_path):
    webwinnow("learn", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "m", "-q")
    merged = webwinnow("models", "merge", tmp_path / "m", "-o", tmp_path / "m")
    assert merged.returncode == 2
    assert "is one of the folders to merge" in merged.stderr


def test_the_number_of_pages_that_clean_and_features_learn_can_be_set(
    webwinnow, make_pages, write_crawl, records, tmp_path
):
    """Thesis 5.3, k: with too few pages `sst` keeps the menu, and every word has its full weight."""
    crawl = write_crawl(make_pages("a.example", 6))

    def kept(*options: object) -> str:
        done = webwinnow("clean", crawl, "-o", tmp_path / "o.jsonl", "--method", "sst", "-q", *options)
        assert done.returncode == 0, done.stderr
        return records(tmp_path / "o.jsonl")[0]["text"]

    def columns(*options: object) -> set[str]:
        done = webwinnow("features", crawl, "-o", tmp_path / "f.npz", "-q", *options)
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "f.npz", allow_pickle=False) as saved:
            return set(saved["vocabulary"].tolist())

    assert "section" not in kept()
    assert "section" in kept("--learn-pages", 2)
    assert "section" not in columns()
    assert columns("--learn-pages", 1) != columns()
