"""DocView 5, the fingerprint step by step, computed by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from warmcommand import run_command

from webwinnow.papers.replicas import PageText, Pair, replica_experiment
from webwinnow.replicas.sketches import INTERVAL, PERCENTAGE, chosen_words, published_fingerprint

# Term frequencies: mill 3, river 2, grain 2, and ten words once: Sum1 is 13.
SAID = "mill river grain mill a b c d e f g h i j grain river mill".split()


def test_the_parameters_are_those_of_the_paper():
    assert (PERCENTAGE, INTERVAL) == (0.4, 5)


def test_steps_with_percentage_04_and_interval_5():
    # Step 2: mill, grain, river, a, b, c, ... Step 3: Sum2 = 13 * 0.4 = 5 (5.2): mill, grain, river, a, b.
    # Step 4: a, b, grain, mill, river. Step 5: Sum3 = 5 DIV 5 * 5 = 5.
    assert chosen_words(SAID, 0.4, 5) == ["a", "b", "grain", "mill", "river"]


def test_the_interval_cuts_the_end_of_the_alphabet():
    # Sum2 = 13 * 0.6 = 7: mill, grain, river, a, b, c, d; Sum3 = 7 DIV 5 * 5 = 5 of a, b, c, d, grain, mill, river.
    assert chosen_words(SAID, 0.6, 5) == ["a", "b", "c", "d", "grain"]
    # Interval 3: Sum3 = 6. Interval 1: all seven.
    assert chosen_words(SAID, 0.6, 3) == ["a", "b", "c", "d", "grain", "mill"]
    assert len(chosen_words(SAID, 0.6, 1)) == 7


def test_step_6_is_the_md5_of_the_chosen_words():
    assert published_fingerprint(SAID) == hashlib.md5(b"a b grain mill river").digest()
    assert len(published_fingerprint(SAID) or b"") == 16


def test_fewer_words_than_one_interval_have_no_fingerprint():
    twelve = [f"w{k}" for k in range(12)]  # Sum2 = 4.8 -> 4; Sum3 = 0
    assert published_fingerprint(twelve) is None
    assert published_fingerprint([*twelve, "w12"]) is not None  # Sum2 = 5.2 -> 5; Sum3 = 5
    assert published_fingerprint([]) is None


def test_order_and_rare_words_do_not_count():
    other = [*reversed(SAID), "z"]  # Sum1 = 14, Sum2 = 5.6 -> 5: the same five
    assert published_fingerprint(other) == published_fingerprint(SAID)


def test_a_frequent_word_more_changes_it():
    assert published_fingerprint([*SAID, "aaa", "aaa"]) != published_fingerprint(SAID)


# The same through `webwinnow replicas`

RARE = "barley barn boat bread brook calf cart corn crow dam".split()
STORY = ["wheel", "river", "grain", "wheel", *RARE, "grain", "river", "wheel"]


def replicas_of(tmp_path: Path, *pages: str, lang: str = "en", options: tuple[str, ...] = ()) -> list[str | None]:
    """`replica_of` of each page, by the published fingerprint of all visible text."""
    path = tmp_path / "pages.jsonl"
    rows = [
        {"url": f"http://a.example/{k}", "page_id": str(k), "html": f"<html lang={lang}><body><p>{text}"}
        for k, text in enumerate(pages)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    command = ["replicas", path, "-o", "-", "-q", "--fingerprint", "published", "--method", "none", *options]
    done = run_command(*command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["replica_of"] for line in done.stdout.splitlines()]


def test_replicas_compare_the_first_words_of_the_feature_vector(tmp_path: Path):
    # wheel 3, grain 2, river 2, ten words once. Percentage 0.4: Sum2 = 5: wheel, grain, river, barley, barn.
    copy = [*reversed(STORY), "zebra"]  # Sum1 = 14, Sum2 = 5: the same five
    edit = [*STORY, "apple", "apple"]  # a frequent word more: apple, grain, river, wheel, barley
    pages = [" ".join(page) for page in (STORY, copy, edit)]
    assert replicas_of(tmp_path, *pages) == [None, "0", None]
    # Percentage 1 takes all words; Interval 13 of 14 drops the last of the alphabet, the zebra.
    assert replicas_of(tmp_path, *pages, options=("--percentage", "1", "--interval", "13")) == [None, "0", None]
    assert replicas_of(tmp_path, *pages, options=("--percentage", "1", "--interval", "1")) == [None, None, None]


@pytest.mark.parametrize(("lang", "stops"), [("en", "the and of it"), ("de", "der und von es")])
def test_stop_words_are_not_in_the_feature_vector(lang: str, stops: str, tmp_path: Path):
    # The stop words are the most frequent words of the second page; as features they would be the first chosen.
    assert replicas_of(tmp_path, " ".join(STORY), " ".join([*STORY, *stops.split() * 5]), lang=lang) == [None, "0"]


def test_words_of_another_language_are_features(tmp_path: Path):
    assert replicas_of(tmp_path, " ".join(STORY), " ".join([*STORY, *["und", "von"] * 5])) == [None, None]


def test_a_list_of_stop_words_replaces_those_of_the_language(tmp_path: Path):
    # As section 3.2 has it, a list derived from a collection (`webwinnow lists stopwords`).
    (tmp_path / "stop.tsv").write_text("und\t9\nvon\t7\n", encoding="utf-8")
    texts = " ".join(STORY), " ".join([*STORY, *["und", "von"] * 5]), " ".join([*STORY, *["the", "and"] * 5])
    assert replicas_of(tmp_path, *texts, options=("--stop-words", str(tmp_path / "stop.tsv"))) == [None, "0", None]


def test_records_of_clean_say_their_language(tmp_path: Path):
    rows = [{"url": f"http://a.example/{k}", "page_id": str(k), "outcome": "kept", "lang": "de"} for k in (0, 1)]
    texts = " ".join(STORY), " ".join([*STORY, *["und", "von"] * 5])
    path = tmp_path / "clean.jsonl"
    path.write_text("\n".join(json.dumps(row | {"text": text}) for row, text in zip(rows, texts, strict=True)), "utf-8")
    command = ["replicas", path, "-o", "-", "-q", "--fingerprint", "published"]
    done = run_command(*command, capture_output=True, encoding="utf-8")
    assert [json.loads(line)["replica_of"] for line in done.stdout.splitlines()] == [None, "0"], done.stderr


def test_the_table_of_the_experiment_has_no_stop_words():
    pairs = [Pair("a", "b", True, "copy")]
    story = " ".join(STORY)
    for stops, hits in (("the and of it " * 5, 1), ("und von " * 5, 0)):
        texts = {"a": PageText(story, "en"), "b": PageText(f"{story} {stops}", "en")}
        found = replica_experiment(pairs, {"docview": texts})
        assert found.table["docview"][4][3] == (hits, 0)  # I = 5, P = 40 %
        assert found.published["docview"].hit == {"copy": hits}
