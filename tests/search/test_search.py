"""Index and search on a real tantivy index on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webwinnow.errors import InputError, SettingsError
from webwinnow.search import IndexFolder, IndexSettings, SearchSettings, search
from webwinnow.search.query import clauses_of, snippet


def record(number: int, text: str, **fields: Any) -> dict[str, Any]:
    whole = {
        "url": f"http://a.example/{number}",
        "page_id": f"p{number}",
        "site": "a.example",
        "outcome": "kept",
        "genre": "article",
        "title": f"Page {number}",
        "keywords": [],
        "abstract": text[:40],
        "text": text,
        "lang": "en",
    }
    return whole | fields


ORCHARD = [
    record(1, "Apples need frost in winter. " + "The tree is pruned in March. " * 5, title="On apples"),
    record(2, "Pears are pressed for perry. " + "Long after that, apples are named once."),
    record(3, "An essay on rivers and their mouths.", site="b.example", genre="forum", lang="de"),
]


def made(path: Path, records: list[dict[str, Any]]) -> IndexFolder:
    with IndexFolder(path, create=True).writing() as index:
        index.put_all(records)
    return IndexFolder(path)


def keys(index: IndexFolder, query: str, **settings: Any) -> list[str]:
    return [hit.key for hit in search(index, query, SearchSettings(**settings)).hits]


def test_pages_are_found_by_their_words_the_best_first(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert index.pages == 3
    assert keys(index, "apples") == ["p1", "p2"]
    assert keys(index, "rivers") == ["p3"]
    assert keys(index, "no such word at all") == []


def test_the_upper_level_holds_abstracts_only_and_the_lower_fills_the_list(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert keys(index, "apples", within="abstract") == ["p1"]
    assert sorted(keys(index, "apples", within="full")) == ["p1", "p2"]
    levels = [hit.level for hit in search(index, "apples").hits]
    assert levels == ["abstract", "full"]
    assert keys(index, "apples", limit=1) == ["p1"]
    assert keys(index, "apples", limit=1, offset=1) == ["p2"]


def test_phrases_must_stand_and_words_after_a_minus_must_not(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert keys(index, '"pruned in march"') == ["p1"]
    assert keys(index, '"march in pruned"') == []
    assert keys(index, "apples -perry") == ["p1"]
    with pytest.raises(SettingsError, match="must not hold"):
        search(index, "-apples")


@pytest.mark.parametrize("query", ['"', "title:(", "a AND (b", "\\", "*", "[x TO", "", " - ", '""', "🍎"])
def test_no_query_is_an_error_of_syntax(tmp_path, query):
    assert isinstance(keys(made(tmp_path / "index", ORCHARD), query), list)


def test_results_can_be_narrowed(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert keys(index, "essay apples", filters={"site": "b.example"}) == ["p3"]
    assert keys(index, "essay", filters={"genre": "article"}) == []
    assert keys(index, "essay", filters={"genre": "forum", "lang": "de"}) == ["p3"]
    with pytest.raises(SettingsError, match="no filter 'colour'"):
        SearchSettings(filters={"colour": "red"})


def test_a_page_put_again_replaces_the_old_one_and_one_no_longer_kept_is_deleted(tmp_path):
    made(tmp_path / "index", ORCHARD)
    index = made(tmp_path / "index", [record(2, "Now about cherries."), record(3, "", outcome="dropped")])
    assert index.pages == 2
    assert keys(index, "cherries") == ["p2"]
    assert keys(index, "perry") == []
    assert keys(index, "rivers") == []


def test_pages_and_sites_are_removed(tmp_path):
    made(tmp_path / "index", ORCHARD)
    with IndexFolder(tmp_path / "index").writing() as index:
        index.remove("p1")
        index.remove_where("site", "b.example")
    assert IndexFolder(tmp_path / "index").pages == 1
    assert keys(IndexFolder(tmp_path / "index"), "apples") == ["p2"]


def test_replicas_stay_out_unless_asked_for(tmp_path):
    copy = record(4, "Apples need frost in winter.", replica_of="p1")
    assert made(tmp_path / "a", [*ORCHARD, copy]).pages == 3
    with IndexFolder(tmp_path / "b", create=True).writing(IndexSettings(replicas=True)) as index:
        index.put_all([*ORCHARD, copy])
    assert IndexFolder(tmp_path / "b").pages == 4


def test_scripts_without_blanks_and_marks_above_letters_are_found(tmp_path):
    index = made(
        tmp_path / "index", [record(1, "網頁清理很重要。", lang="zh"), record(2, "Der Äpfel viele. L'été arrive.")]
    )
    assert keys(index, "清理") == ["p1"]
    assert keys(index, "äpfel") == ["p2"]
    assert keys(index, "ÉTÉ") == ["p2"]


def test_a_record_without_an_abstract_is_found_by_its_first_words_on_the_upper_level(tmp_path):
    index = made(tmp_path / "index", [record(1, "quince " + "word " * 100 + "medlar", abstract=None)])
    assert keys(index, "quince", within="abstract") == ["p1"]
    assert keys(index, "medlar", within="abstract") == []
    assert keys(index, "medlar") == ["p1"]


def test_one_writer_at_a_time(tmp_path):
    with IndexFolder(tmp_path / "index", create=True).writing(), pytest.raises(InputError, match="another run"):
        IndexFolder(tmp_path / "index").writing()
    with IndexFolder(tmp_path / "index").writing() as index:
        index.put(ORCHARD[0])


def test_folders_that_are_no_index_are_named(tmp_path):
    with pytest.raises(InputError, match="is no index"):
        IndexFolder(tmp_path)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    with pytest.raises(InputError, match="holds something else"):
        IndexFolder(tmp_path / "precious", create=True)
    made(tmp_path / "index", ORCHARD)
    (tmp_path / "index" / "webwinnow-index.json").write_text('{"format_version": 99}')
    with pytest.raises(InputError, match="format 99"):
        IndexFolder(tmp_path / "index")


KILLED = """
import os, signal, sys
from webwinnow.search import IndexFolder, IndexSettings
with IndexFolder(sys.argv[1], create=True).writing(IndexSettings(commit_every=10)) as index:
    for number in range(25):
        index.put({"page_id": f"p{number}", "url": "u", "text": f"apples number {number}", "outcome": "kept"})
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_index_whose_writer_was_killed_opens_with_what_was_committed(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "index")], check=False, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL
    assert IndexFolder(tmp_path / "index").pages == 20
    again = made(tmp_path / "index", [record(number, f"apples number {number}") for number in range(25)])
    assert again.pages == 25
    assert len(keys(again, "apples", limit=50)) == 25


def test_snippets_hold_the_words_that_were_asked_for():
    text = "Nothing here. " * 40 + "Then the apples came with frost. " + "And nothing more. " * 40
    found = snippet(text, ["apples", "frost"])
    assert "apples came with frost" in found.text
    assert [found.text[a:b] for a, b in found.marks] == ["apples", "frost"]
    assert len(found.text) < 220
    assert snippet("short", ["absent"]).text == "short"
    assert snippet("", ["absent"]).text == ""


def test_a_query_is_read_as_words_phrases_and_exclusions():
    assert clauses_of('frost "ripe apples" -perry') == [
        (("frost",), "may"),
        (("ripe", "apples"), "must"),
        (("perry",), "not"),
    ]
    assert len(clauses_of("word " * 1000)) == 64
