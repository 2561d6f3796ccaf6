"""`--stop-words FILE`: every command that uses words leaves out the words of a file, and no others."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crawlfiles import jsonl
from sklearn.base import clone
from warmcommand import command

from webwinnow import InputError, SiteFeatureWeighter, StopList
from webwinnow.classify.classmodel import ClassModel
from webwinnow.topics.sitetopics import SiteTopics

TEXTS = {
    "farming": "The farmer brings wheat and rye to the barn every harvest. The harvest of wheat was good.",
    "shipping": "The captain saw the harbour and the anchor every tide. The anchor of the ship was lost.",
}
OWN = "harvest anchor wheat"
"""Frequent words of the pages, which no built-in list has."""


run = partial(command, code=0)


def page(topic: str, k: int, site: str) -> dict[str, Any]:
    body = f"<h1>{topic} {k}</h1><p>{TEXTS[topic]} word{'abcdefghij'[k]}</p>"
    return {
        "url": f"https://{site}/{topic}/{k}",
        "page_id": f"{site}-{topic}-{k}",
        "topic": topic,
        "site": site,
        "html": f"<html lang=en><title>{topic} {k}</title><body>{body}<a href='/{topic}/{k + 1}'>more</a>",
    }


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    pages = [page(topic, k, site) for site in ("a.test", "b.test") for topic in TEXTS for k in range(4)]
    return jsonl(tmp_path / "crawl.jsonl", pages)


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    """Sites of one topic each."""
    pages = [page(topic, k, f"{topic}{n}.test") for topic in TEXTS for n in range(3) for k in range(4)]
    return jsonl(tmp_path / "sites.jsonl", pages)


@pytest.fixture
def stops(tmp_path: Path) -> Path:
    path = tmp_path / "stop.tsv"
    path.write_text("".join(f"{word}\t7\n" for word in OWN.split()), encoding="utf-8")
    return path


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def check_words(with_own: set[str], without: set[str]) -> None:
    """The file replaces the built-in list: its words are gone, and `the` is a word."""
    assert with_own.isdisjoint(OWN.split())
    assert "the" in with_own
    assert set(OWN.split()) & without
    assert "the" not in without


def test_a_derived_list_is_one_that_commands_read(crawl: Path, tmp_path: Path) -> None:
    derived = tmp_path / "derived.tsv"
    derived.write_text(run("lists", "stopwords", crawl, "--share", 0.9).stdout, encoding="utf-8")
    assert StopList.read(derived).own == ("the",)


def test_features_leave_out_the_words_of_the_file(crawl: Path, stops: Path, tmp_path: Path) -> None:
    def vocabulary(*more: object) -> set[str]:
        run("features", crawl, "-o", tmp_path / "f.npz", "--weighting", "tfidf", "-q", *more)
        with np.load(tmp_path / "f.npz", allow_pickle=False) as found:
            return set(found["vocabulary"].tolist())

    check_words(vocabulary("--stop-words", stops), vocabulary())
    done = run("features", crawl, "-o", tmp_path / "f.npz", "--all-words", "--stop-words", stops, code=2)
    assert "expected one of the two" in done.stderr


def test_clusters_are_not_named_by_the_words_of_the_file(crawl: Path, stops: Path, tmp_path: Path) -> None:
    def summary(*more: object) -> str:
        given = ("--weighting", "tfidf", "-k", 2, "--no-report", "-o", tmp_path / "c.jsonl")
        return run("cluster", crawl, *given, *more).stderr

    assert any(word in summary() for word in OWN.split())
    assert not any(word in summary("--stop-words", stops) for word in OWN.split())
    done = run("cluster", tmp_path / "f.npz", "-o", tmp_path / "c.jsonl", "--stop-words", stops, code=2)
    assert "webwinnow features" in done.stderr


def test_a_classifier_keeps_its_stop_words_and_applies_them(crawl: Path, stops: Path, tmp_path: Path) -> None:
    def model(*more: object) -> ClassModel:
        given = ("--label", "topic", "--weighting", "tfidf", "-o", tmp_path / "m.npz", "-q")
        run("classify", "train", crawl, *given, *more)
        return ClassModel.load(tmp_path / "m.npz")

    plain, own = model(), model("--stop-words", stops)
    check_words(set(own.names), set(plain.names))
    assert own.vectors.stop_list == StopList.read(stops)
    stops.unlink()
    run("classify", "apply", tmp_path / "m.npz", crawl, "-o", tmp_path / "classes.jsonl", "-q")
    assert {(row["page_id"].split("-")[1], row["label"]) for row in written(tmp_path / "classes.jsonl")} == {
        (topic, topic) for topic in TEXTS
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_records_have_no_keyword_of_the_file(crawl: Path, stops: Path, tmp_path: Path, jobs: int) -> None:
    def keywords(*more: object) -> set[str]:
        given = ("--method", "none", "--keywords", 50, "--jobs", jobs, "-o", tmp_path / "out.jsonl", "-q")
        run("clean", crawl, *given, *more)
        return {word for row in written(tmp_path / "out.jsonl") for word in row["keywords"]}

    check_words(keywords("--stop-words", stops), keywords())


def test_one_page_has_no_keyword_of_the_file(stops: Path, tmp_path: Path) -> None:
    (tmp_path / "p.html").write_text(page("farming", 1, "a.test")["html"], encoding="utf-8")

    def keywords(*more: object) -> set[str]:
        done = run("page", tmp_path / "p.html", "--method", "none", "--format", "json", *more)
        return set(json.loads(done.stdout)["keywords"])

    check_words(keywords("--stop-words", stops), keywords())


def test_a_model_of_site_topics_keeps_its_stop_words_and_applies_them(sites: Path, stops: Path, tmp_path: Path) -> None:
    model = tmp_path / "topics.npz"
    run("sites", "train", sites, "--label", "topic", "-o", model, "-q", "--stop-words", stops)
    assert SiteTopics.load(model).stop_list == StopList.read(stops)
    stops.unlink()
    only_stops = [page("farming", k, "new.test") | {"html": f"<p>{OWN}</p>"} for k in range(2)]
    run("sites", "classify", model, jsonl(tmp_path / "new.jsonl", only_stops), "-o", tmp_path / "out.jsonl", "-q")
    (found,) = written(tmp_path / "out.jsonl")
    assert (found["topic"], found["probabilities"]) == (None, {})  # it has no word that counts
    assert found["reason"] == "none of the site's words is known"
    run("sites", "train", sites, "--label", "topic", "-o", model, "-q")
    run("sites", "classify", model, tmp_path / "new.jsonl", "-o", tmp_path / "out.jsonl", "-q")
    (found,) = written(tmp_path / "out.jsonl")
    assert found["probabilities"]["farming"] > 0.5


def test_mined_sites_are_judged_without_the_words_of_the_file(sites: Path, stops: Path, tmp_path: Path) -> None:
    given = ("--seeds", sites, "--label", "topic", "-o", tmp_path / "run", "-q")
    run("sites", "mine", *given, "--stop-words", stops, code=1)  # no links to other sites: nothing is found
    assert SiteTopics.load(tmp_path / "run" / "topics.npz").stop_list == StopList.read(stops)
    done = run("sites", "mine", *given, code=2)
    assert "a run with other stop words" in done.stderr


def test_an_index_leaves_out_the_words_of_the_file_in_pages_and_queries(
    crawl: Path, stops: Path, tmp_path: Path
) -> None:
    records, index = tmp_path / "clean.jsonl", tmp_path / "index"
    run("clean", crawl, "-o", records, "-q", "--no-replicas")
    run("index", records, "-o", index, "-q", "--stop-words", stops)

    def found(query: str) -> int:
        return len(run("search", index, query, "--json", "--limit", 100).stdout.splitlines())

    assert found("wheat") == 0
    assert found("barn") == found("wheat barn") == found('"rye to the barn every harvest"') == 8
    assert found("the") == 16
    done = run("index", records, "-o", tmp_path / "other", "-q")
    done = run("index", records, "-o", tmp_path / "other", "-q", "--stop-words", stops, code=2)
    assert "other stop words" in done.stderr
    run("index", records, "-o", index, "-q")
    assert found("wheat") == 0


def alike(topic: str, k: int, site: str) -> dict[str, Any]:
    """A page whose only word of its topic is in the file of stop words."""
    word = {"farming": "wheat", "shipping": "anchor"}[topic]
    shared = f"word{'abcdefghij'[k]} common words here"
    return page(topic, k, site) | {"html": f"<html lang=en><body><p>{word} {word} {shared}</p>"}


def test_the_mining_experiment_leaves_out_the_words_of_the_file(stops: Path, tmp_path: Path) -> None:
    rows = [alike(topic, k, f"{site}.test") for site in "abc" for topic in TEXTS for k in range(4)]
    data = jsonl(tmp_path / "pages.jsonl", rows)

    def scores(*more: object) -> dict[str, float]:
        given = ("--methods", "N,W", "--runs", 0, "--configurations", "none", "--jobs", 1, "--keep", tmp_path / "kept")
        run("experiment", "mining", "--data", data, "--label", "topic", "-o", tmp_path / "out", "-q", *given, *more)
        with (tmp_path / "out" / "neighbours.csv").open(encoding="utf-8") as lines:
            return {row["method"]: float(row["f"]) for row in csv.DictReader(lines)}

    assert set(scores().values()) == {1.0}
    assert max(scores("--stop-words", stops).values()) < 0.9


def test_the_sites_experiment_leaves_out_the_words_of_the_file(stops: Path, tmp_path: Path) -> None:
    rows = [alike(topic, k, f"{topic}{n}.test") for topic in TEXTS for n in range(3) for k in range(3)]
    data = jsonl(tmp_path / "pages.jsonl", rows)

    def right(*more: object) -> float:
        given = ("--methods", "superpage", "--no-denoising", "--no-reading", "--no-likelihood", "--repeats", 0)
        run("experiment", "sites", "--data", data, "--label", "topic", "-o", tmp_path / "out", "-q", *given, *more)
        with (tmp_path / "out" / "sites.csv").open(encoding="utf-8") as lines:
            found = list(csv.DictReader(lines))
        return sum(row["right"] == "true" for row in found) / len(found)

    assert right() == 1.0
    assert right("--stop-words", stops) < 1.0


def test_a_feature_weighter_takes_a_stop_list(crawl: Path) -> None:
    pages = [row["html"] for row in written(crawl)]
    plain, own = SiteFeatureWeighter(site_by="all"), SiteFeatureWeighter(site_by="all", stop_list=StopList(("wheat",)))
    assert "wheat" in set(plain.fit(pages).get_feature_names_out())
    assert "wheat" not in set(clone(own).fit(pages).get_feature_names_out())


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "has no word"), (b"\xff\xfe", "expected one word per line"), (b"two words\n", "has no word")],
)
def test_a_file_without_words_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "stop.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        StopList.read(tmp_path / "stop.txt")


def test_entries_are_spelled_as_words_are_and_contractions_count_as_their_parts() -> None:
    assert StopList(("The", "don’t", "new york", "Été")).own == ("don", "don't", "t", "the", "été")


def test_an_own_list_is_for_every_language() -> None:
    assert StopList(("wheat",)).of("de") == StopList(("wheat",)).of(None) == {"wheat"}
    assert "und" in StopList().of("de-AT")


@pytest.mark.parametrize("plain", [None, {}, {"own": "the"}, {"own": [1]}, {"own": None, "more": 1}])
def test_damaged_stop_words_in_a_model_are_refused(plain: Any) -> None:
    with pytest.raises(ValueError, match="stop words"):
        StopList.from_plain(plain)


def test_segments_are_judged_without_the_words_of_the_file(stops: Path, tmp_path: Path) -> None:
    """A table of stop words has no features, and so the entropy of boilerplate (thesis 3.2, equation 4-2)."""

    def tables(k: int) -> str:
        own = " ".join(f"fact{chr(97 + k)}{chr(97 + j)}" for j in range(8))
        return f"<table><tr><td>{own}</table><table><tr><td>{'wheat' if k % 2 else 'anchor'}</table>"

    pages = [page("farming", k, "a.test") | {"html": f"<html lang=en><body>{tables(k)}"} for k in range(8)]
    crawl = jsonl(tmp_path / "tables.jsonl", pages)

    def texts(*more: object) -> str:
        given = ("--method", "segments", "--set", "segments.threshold=0.9", "-o", tmp_path / "out.jsonl", "-q")
        run("clean", crawl, *given, *more)
        return " ".join(row["text"] for row in written(tmp_path / "out.jsonl"))

    assert "wheat" in texts()
    assert "wheat" not in texts("--stop-words", stops)
    assert "facta" in texts("--stop-words", stops)
    models = tmp_path / "models"
    run("learn", crawl, "-o", models, "--stop-words", stops, "--no-sums", "-q")
    assert "wheat" not in texts("--models", models)
    run("learn", crawl, "-o", models, "--no-sums", "-q")
    assert "wheat" in texts("--models", models)


def test_sums_keep_no_stop_list(crawl: Path, stops: Path, tmp_path: Path) -> None:
    done = run("learn", crawl, "-o", tmp_path / "models", "--stop-words", stops, code=2)
    assert "add --no-sums" in done.stderr
