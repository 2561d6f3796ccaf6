"""`webwinnow experiment replicas` on a small labelled collection, and on the shared one where available."""

from __future__ import annotations

import json
import os
import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from warmcommand import command

from webwinnow.papers.replicas import PageText, Pair, best_threshold, replica_experiment

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")


def story(seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{k}" for k in range(3000)], k=200))


run = partial(command, "experiment", "replicas")


def test_table_2_counts_hits_and_errors():
    # Ten words: P=100 % and I=5 take all of them; the edit is among the last five of the alphabet, which I=10 needs.
    words = {
        "a": "a b c d e f g h i j",
        "copy": "j i h g f e d c b a",
        "edit": "a b c d e f g h i z",
        "other": "k l m n o",
    }
    pairs = [Pair("a", "copy", True, "copy"), Pair("a", "edit", True, "edit"), Pair("a", "other", False, "other")]
    texts = {page: PageText(" ".join(f"x{word}" for word in said.split())) for page, said in words.items()}
    table = replica_experiment(pairs, {"none": texts}).table["none"]
    assert table[0][9] == (1, 0)  # I=1, P=100 %: all ten words
    assert table[4][8] == (2, 0)  # I=5, P=90 %: nine words, of which the first five
    assert table[9][9] == (1, 0)  # I=10: all ten
    assert table[9][8] == (0, 0)  # nine words are fewer than one interval


def test_the_threshold_is_between_replicas_and_others():
    pairs = [Pair("a", "b", True, "copy"), Pair("a", "c", True, "edit"), Pair("a", "d", False, "other")]
    assert best_threshold(pairs, np.array([0.9, 0.7, 0.1])) == pytest.approx(0.4, rel=1e-6)


def test_json_and_markdown_are_written(tmp_path):
    pages, pairs = [], []
    for number in range(6):
        menu = "<nav><a href=/>Home</a></nav>"
        for kind, said in (("original", story(number)), ("copy", story(number)), ("swap", story(50 + number))):
            name = f"{number}-{kind}"
            html = f"<title>Tale</title>{menu}<main><h1>Tale</h1><p>{said}.</p></main>"
            pages.append({"page_id": name, "url": f"http://a.example/{name}", "html": html})
        pairs += [
            {"page_a": f"{number}-original", "page_b": f"{number}-{kind}", "replica": kind == "copy", "kind": kind}
            for kind in ("copy", "swap")
        ]
    for name, rows in (("pages", pages), ("pairs", pairs)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run(tmp_path / "pairs.jsonl", tmp_path / "pages.jsonl", "-o", tmp_path / "out", "--method", "page")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out" / "replicas.json").read_text(encoding="utf-8"))
    assert (found["replicas"], found["others"]) == (6, 6)
    assert set(found["table"]) == {"none", "docview", "page"}
    assert all(rates["hit"] == {"copy": 1.0} and rates["error"] == 0.0 for rates in found["default"].values())
    assert "| I=5 | " in (tmp_path / "out" / "replicas.md").read_text(encoding="utf-8")


def test_labels_without_their_pages_are_reported(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"page_a":"x","page_b":"y","replica":true,"kind":"k"}\n', encoding="utf-8")
    (tmp_path / "pages.jsonl").write_text('{"page_id":"x","url":"http://a.example","html":"<p>a"}\n', encoding="utf-8")
    done = run(tmp_path / "pairs.jsonl", tmp_path / "pages.jsonl", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "has no page y" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "replicas-pairs.parquet").exists(), reason="WEBWINNOW_DATA names no labelled pairs")
def test_labelled_pairs_are_distinguished(tmp_path):
    done = run(DATA / "replicas-pairs.parquet", DATA / "replicas.parquet", "-o", tmp_path, "-q")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "replicas.json").read_text(encoding="utf-8"))
    (modern,) = (
        trial
        for trial in found["trials"]
        if (trial["fingerprint"], trial["cleaning"]) == ("modern, shingles of 3", "combined")
    )
    for rates in (modern["tested"], found["default"]["combined"]):
        assert min(rates["hit"].values()) >= 0.98
        assert rates["error"] <= 0.02
    assert modern["margin"] > 0.5
