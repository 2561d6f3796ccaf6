"""Index and search on a real tantivy index on disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webwinnow.errors import InputError, SettingsError
from webwinnow.search.index import IndexFolder, IndexSettings, key_of
from webwinnow.search.query import SearchSettings, parse_query, search, snippet, suggest
from webwinnow.search.spelling import near_words, typos


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
from webwinnow.search.index import IndexFolder, IndexSettings
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
    assert [clause[:2] for clause in parse_query('frost "ripe apples" -perry').clauses] == [
        (("frost",), "may"),
        (("ripe", "apples"), "must"),
        (("perry",), "not"),
    ]
    assert len(parse_query("word " * 1000).clauses) == 64


@pytest.mark.parametrize("gone", ["meta.json", "*.pos", "*.store"])
@pytest.mark.parametrize("level", ["full", "abstract"])
def test_an_index_that_misses_a_file_is_refused_and_left_as_it_is(tmp_path, level, gone):
    # Without meta.json tantivy made an empty index of it: a search found nothing, and pages that were put replaced all.
    with IndexFolder(tmp_path / "x", create=True).writing() as index:
        index.put({"url": "http://a.test/", "title": "River", "text": "The river rose at the mill"})
    next((tmp_path / "x" / level).glob(gone)).unlink()
    before = sorted((tmp_path / "x").rglob("*"))
    with pytest.raises(InputError, match=f"{level} is a damaged index .*; make it again"):
        search(IndexFolder(tmp_path / "x"), "river")
    assert sorted((tmp_path / "x").rglob("*")) == before


def test_a_damaged_index_is_an_input_error(tmp_path):
    # Whatever file is cut or overwritten: tantivy panics for some, which is no Exception.
    made(tmp_path / "index", ORCHARD)
    whole = {path: path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file()}
    damaged = 0
    for number, (path, content) in enumerate(whole.items()):
        for how, changed in enumerate((content[: len(content) // 2], b"", b"\xff" * len(content), content[::-1])):
            place = tmp_path / f"{number}-{how}"  # a new one: the files of an open index are mapped into memory
            shutil.copytree(tmp_path / "index", place)
            (place / path.relative_to(tmp_path / "index")).write_bytes(changed)
            try:
                index = IndexFolder(place)
                assert index.pages >= 0
                search(index, "apples winter", SearchSettings())
            except InputError:
                damaged += 1
    assert damaged > 10


def test_a_query_names_fields_filters_and_days():
    asked = parse_query('title:"on apples" frost site:a.example -lang:de after:2024-01-31 http://b.example/c a:b')
    assert [(clause.words, clause.role, clause.fields) for clause in asked.clauses] == [
        (("on", "apples"), "must", ("title",)),
        (("frost",), "may", ()),
        (("http", "b", "example", "c"), "may", ()),
        (("a", "b"), "may", ()),
    ]
    assert asked.narrowed.filters == {"site": "a.example"}
    assert asked.narrowed.excluded == (("lang", "de"),)
    assert (asked.narrowed.after, asked.narrowed.before) == (20240131, None)
    with pytest.raises(SettingsError, match="expected a day"):
        parse_query("after:yesterday")


def test_fields_filters_and_days_narrow_the_results(tmp_path):
    dated = [page | {"date": f"202{k}-05-06"} for k, page in enumerate(ORCHARD[:2])] + ORCHARD[2:]
    index = made(tmp_path / "index", dated)
    assert keys(index, "title:apples") == ["p1"]
    assert keys(index, "apples after:2021-01-01") == ["p2"]
    assert keys(index, "apples", before="2020-12-31") == ["p1"]
    assert keys(index, "site:b.example") == ["p3"]
    assert sorted(keys(index, "-genre:forum apples rivers")) == ["p1", "p2"]


def test_other_forms_of_a_word_are_found_after_the_form_that_was_typed(tmp_path):
    forms = [
        record(1, "The apple falls.", title="One"),
        record(2, "Running and apples.", title="Two"),
        record(3, "Die Häuser am Fluss.", title="Drei", lang="de"),
    ]
    index = made(tmp_path / "index", forms)
    assert keys(index, "apples") == ["p2", "p1"]
    assert keys(index, "apple") == ["p1", "p2"]
    assert keys(index, "runs") == ["p2"]
    assert keys(index, "häusern") == ["p3"]
    assert keys(index, "apples", forms=False, typos=False) == ["p2"]
    (hit,) = search(index, "runs").hits
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.marks] == ["Running"]


def test_a_word_that_the_index_lacks_stands_for_near_ones(tmp_path):
    index = made(tmp_path / "index", [*ORCHARD, record(4, "The river Kura crosses Azerbaijan.")])
    found = search(index, "azerbajan")
    assert [hit.key for hit in found.hits] == ["p4"]
    assert found.corrections == {"azerbajan": "azerbaijan"}
    assert keys(index, "zerbaijan") == ["p4"]  # the first letter too
    assert keys(index, "azerbajan", typos=False) == []
    assert search(index, "azerbaijan").corrections == {}
    assert keys(index, "kara") == ["p4"]
    assert keys(index, "kua") == []  # too short


def test_typos_are_letters_too_many_too_few_other_and_swapped():
    assert [typos("frost", other, 2) for other in ("frost", "frots", "frst", "froost", "frest")] == [0, 1, 1, 1, 1]
    assert typos("frost", "winter", 2) > 2
    assert near_words("aples", [("apples", 3), ("maples", 9), ("pears", 50)]) == ["maples", "apples"]


def test_facets_count_the_pages_that_match(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    found = search(index, "apples rivers", SearchSettings(facets=("site", "lang")))
    assert found.facets == {"site": [("a.example", 2), ("b.example", 1)], "lang": [("en", 2), ("de", 1)]}
    with pytest.raises(SettingsError, match="no filter"):
        SearchSettings(facets=("date",))


def test_suggestions_complete_the_last_word(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert suggest(index, "frost app") == ["frost apples"]
    assert suggest(index, "pe") == ["pears", "perry"]
    assert suggest(index, "") == []


def test_suggestions_keep_what_is_before_the_word_and_add_something(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert suggest(index, 'frost -"app') == ['frost -"apples']
    assert suggest(index, "title:app") == ["title:apples"]
    assert suggest(index, "title:pea") == []  # is in texts only
    assert suggest(index, "winter/app") == ["winter/apples"]
    assert suggest(index, "Apples") == []
    assert suggest(index, "app,") == []
    assert suggest(index, "site:a") == []
    assert suggest(index, "after:20") == []


@pytest.mark.parametrize("query", ["after:2010-13-45 apples", "apples before:2010-02-31", "apples after:today"])
def test_days_that_do_not_exist_are_refused(query):
    with pytest.raises(SettingsError, match="expected a day"):
        parse_query(query)


def test_filters_are_compared_without_case(tmp_path):
    index = made(tmp_path / "index", [*ORCHARD, record(4, "Plums are sour.", site="BBC.co.uk", category="Fruit")])
    assert keys(index, "rivers lang:DE") == ["p3"]
    assert keys(index, "plums site:bbc.CO.uk category:fruit") == ["p4"]
    assert keys(index, "plums -site:bbc.co.uk") == []
    assert keys(index, "rivers", filters={"lang": "De"}) == ["p3"]
    assert keys(index, "rivers lang:fr") == []


def test_facets_and_the_number_of_pages_are_of_the_same_pages(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    for limit in (1, 10):
        found = search(index, "apples", SearchSettings(limit=limit, facets=("lang",)))
        assert sum(count for _, count in found.facets["lang"]) == found.count


def test_what_is_no_field_of_a_query_is_named(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    found = search(index, "titel:apples pears http://a.example/ title:apples")
    assert found.unknown == ("titel",)


def test_a_page_with_a_long_key_is_replaced_and_removed(tmp_path):
    long = record(1, "quinces are hard", page_id="x" * 70_000)  # longer than a term of the index may be
    other = record(2, "medlars are soft", page_id="x" * 70_000 + "y")
    for _ in range(2):
        assert made(tmp_path / "index", [long, other]).pages == 2
    with IndexFolder(tmp_path / "index").writing() as index:
        index.remove("x" * 70_000)
    assert keys(IndexFolder(tmp_path / "index"), "hard soft") == [key_of(other)]


def test_records_without_a_key_are_counted_and_cost_no_other(tmp_path):
    unnamed = record(1, "quinces", page_id=None, url=None)
    dropped = unnamed | {"outcome": "dropped"}
    with IndexFolder(tmp_path / "index", create=True).writing() as index:
        done = index.put_all([unnamed, dropped, *ORCHARD])
    assert (done.put, done.unnamed, done.not_kept) == (3, 1, 1)


def test_more_results_than_there_are_pages_reserve_no_memory(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    for huge in (10**11, 2**63 - 11, 10**30):
        assert keys(index, "apples", limit=huge) == ["p1", "p2"]
        assert keys(index, "apples", offset=huge) == []
        assert suggest(index, "appl", huge) == ["apples"]


def test_a_filter_that_is_not_utf8_matches_no_page(tmp_path):
    index = made(tmp_path / "index", ORCHARD)
    assert keys(index, "apples site:\udcff") == []
    assert keys(index, "apples", filters={"site": "\udcff"}) == []
    with index.writing() as opened:
        opened.remove("\udcff")
    assert index.pages == 3


@pytest.mark.parametrize("memory", [1_000_000, 10**10, 10**20])
def test_memory_that_the_index_cannot_use_is_refused_before_a_folder_is_made(memory):
    with pytest.raises(SettingsError, match="expected 15,000,000 to"):
        IndexSettings(memory=memory)
