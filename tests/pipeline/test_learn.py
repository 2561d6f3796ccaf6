"""`webwinnow learn`, `models merge|show` and `clean --models`, run as a user runs them."""

from __future__ import annotations

import pytest

from webwinnow import SiteModel
from webwinnow.site.folder import ModelFolder
from webwinnow.site.sums import SiteSums


def test_models_clean_as_learning_from_the_same_pages_does(webwinnow, make_pages, write_crawl, records, tmp_path):
    crawl = write_crawl(make_pages("a.example", 70) + make_pages("b.example", 6))
    learned = webwinnow("learn", crawl, "-o", tmp_path / "models", "--jobs", 2)
    assert learned.returncode == 0, learned.stderr
    assert "2 sites learned from 76 pages" in learned.stderr
    for method in ("repeated", "sst", "cst"):
        assert webwinnow("clean", crawl, "-o", tmp_path / "1.jsonl", "--method", method).returncode == 0
        known = webwinnow(
            "clean", crawl, "-o", tmp_path / "2.jsonl", "--method", method, "--models", tmp_path / "models"
        )
        assert known.returncode == 0, known.stderr
        assert records(tmp_path / "1.jsonl") == records(tmp_path / "2.jsonl")
    assert "section" not in records(tmp_path / "2.jsonl")[0]["text"]


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
    assert tried.stdout.count("http://a.example/p/") == 20
    assert "goes: a.example section" in tried.stdout
    webwinnow("learn", crawl, "-o", tmp_path / "m", "-q", "--threshold", 0.4)
    model = ModelFolder(tmp_path / "m").find("a.example")
    assert model is not None
    assert model.threshold == 0.4


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
    pages = [*make_pages("a.example", 4), {"url": "http://a.example/deep", "html": "<div>" * 300_000}]
    done = webwinnow("learn", write_crawl(pages), "-o", tmp_path / "m")
    assert "sites learned from 5 pages" in done.stderr
