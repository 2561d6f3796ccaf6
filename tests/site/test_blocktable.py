"""The table of a site's blocks: counts that do not depend on order, and files that are validated on load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from webwinnow import parse
from webwinnow.judge.evidence import PageEvidence
from webwinnow.judge.reading import GENRES
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.site import blocktable
from webwinnow.site.blocktable import BlockRows, BlockTable, copies


def rows(number: int) -> BlockRows:
    tree = parse(f"<ul><li>Home<li>News</ul><p>a story number {number}</p><p>all rights reserved</p>")
    return BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree))


def columns(one: BlockRows | BlockTable) -> dict[str, list[float]]:
    return {name: column.tolist() for name, column in one.columns().items()}


def test_rows_merge_to_the_same_in_any_order():
    parts = [rows(number) for number in range(5)]
    whole = BlockRows.merge(parts)
    nested = BlockRows.merge([BlockRows.merge(parts[3:]), parts[1], BlockRows.merge([parts[2], parts[0]])])
    assert columns(whole) == columns(nested)
    assert columns(BlockTable.of(whole)) == columns(BlockTable.of(nested))


def test_texts_are_counted_by_page():
    table = BlockTable.of(BlockRows.merge([rows(number) for number in range(5)]))
    evidence = PageEvidence.of(parse("<ul><li>Home<li>News</ul><p>a story number 3</p><p>never said</p>"))
    assert table.pages_that_say(evidence.text).tolist() == [5, 5, 1, 1]


def test_a_place_that_is_always_filled_alike_is_fixed_and_one_filled_anew_is_a_field():
    parts = []
    for number in range(10):
        tree = parse(
            f"<div class=a><p>the same words</p></div><div class=b><p>words {number} of page {number}</p></div>"
        )
        parts.append(BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree)))
    table = BlockTable.of(BlockRows.merge(parts))
    tree = parse("<div class=a><p>the same words</p></div><div class=b><p>quite other words</p></div>")
    asked = table.ask(PageEvidence.of(tree), learned=False)
    assert asked.share.tolist() == [1.0, 0.0]
    assert asked.fixed[0] > 0.7
    assert asked.fixed[1] == 0.0
    assert asked.field[1] > 0.7
    assert asked.field[0] < 0.3


def test_what_follows_a_label_and_differs_between_pages_is_labelled_even_if_many_pages_say_it():
    parts = []
    for number in range(12):
        cells = "".join(
            f"<tr><td>{label}<td>{value}"
            for label, value in (
                ("Height", f"{number} feet"),
                ("Genre", "Drama" if number % 2 else "Comedy"),
                ("Terms", "apply"),
            )
        )
        tree = parse(f"<table>{cells}</table>")
        parts.append(BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree)))
    table = BlockTable.of(BlockRows.merge(parts))
    tree = parse("<table><tr><td>Height<td>99 feet<tr><td>Genre<td>Drama<tr><td>Terms<td>apply</table>")
    asked = table.ask(PageEvidence.of(tree), learned=False)
    height, genre, terms = asked.labelled[[1, 3, 5]]
    assert height > 0.7
    assert genre > 0.3
    assert terms < 0.2
    assert asked.labelled[0] == 0.0
    assert asked.fixed[1] < 0.3 < asked.fixed[0]


def test_a_text_is_certain_to_be_the_sites_by_its_place_or_by_the_number_of_pages_that_have_it():
    parts = []
    for number in range(3):
        oil = "oil" if number < 2 else "butter"
        tree = parse(f"<ul><li>Home<li>News</ul><ol><li>{oil}<li>salt {number}<li>egg {number}<li>rice {number}</ol>")
        parts.append(BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree)))
    table = BlockTable.of(BlockRows.merge(parts))
    asked = table.ask(PageEvidence.of(parse("<ul><li>Home<li>News</ul><ol><li>oil<li>corn</ol>")), learned=False)
    assert asked.share.tolist() == pytest.approx([1.0, 1.0, 2 / 3, 0.0])
    assert asked.certain.tolist() == pytest.approx([1.0, 1.0, 2 / 5, 2 / 12])
    assert asked.known.tolist() == pytest.approx([1 / 2] * 4)


@pytest.mark.parametrize("learned", [False, True])
def test_a_text_of_the_menu_is_new_where_each_page_has_another_one(learned):
    teams = ["Bulls", "Hawks", "Kings", "Suns", "Jazz", "Nets"]
    menu = "<ul>" + "".join(f"<li>{team}" for team in teams) + "</ul>"
    trees = [parse(f"{menu}<div class=team><b>{teams[k % 6]}</b></div><p>player {k}</p>") for k in range(24)]
    table = BlockTable.of(
        BlockRows.merge([BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree)) for tree in trees])
    )
    asked = table.ask(PageEvidence.of(trees[3]), learned=learned)
    assert asked.share[:6].tolist() == [1.0] * 6
    assert asked.share[6] < 0.5  # four of 24 pages have this team here, all have it in the menu
    assert asked.field[6] > 0.5 > asked.field[0]


@pytest.mark.parametrize(("paragraphs", "counted"), [(1, 6), (2, 5)])
def test_pages_that_share_several_paragraphs_are_counted_once(paragraphs, counted):
    """One shared paragraph may be a field of two records."""
    parts = []
    for number in range(6):
        said = [f"text {k} of page {max(number, 1)} " + "with many words " * 10 for k in range(paragraphs)]
        tree = parse(f"<h1>Car {number}</h1>" + "".join(f"<p>{text}</p>" for text in said))
        rows = BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree))
        parts.append(replace(rows, logit=np.full_like(rows.logit, 2_000)))
    assert BlockTable.of(BlockRows.merge(parts)).pages == counted


def test_no_rows_make_an_empty_table():
    table = BlockTable.of(BlockRows.merge([]))
    asked = table.ask(PageEvidence.of(parse("<p>x y z")), learned=False)
    assert asked.share.tolist() == [0.0]
    assert asked.known.tolist() == [0.0]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("path_pages", [1]),
        ("text_key", [3, 1]),
        ("whole", [0.0]),
        ("whole", [float("nan")] * 10),
        ("whole", [-1.0] * 10),
    ],
)
def test_damaged_tables_are_refused(name, values):
    found = BlockTable.of(BlockRows.merge([rows(number) for number in range(5)])).columns()
    damaged = found | {name: np.array(values, found[name].dtype)}
    if name == "text_key":
        damaged["text_pages"] = np.array([2, 2], np.int64)
    with pytest.raises(ValueError, match=r"values"):
        BlockTable.checked(damaged)


@pytest.mark.parametrize(("name", "values"), [("page", [99]), ("page_genre", [1]), ("words", [1])])
def test_damaged_rows_are_refused(name, values):
    found = BlockRows.merge([rows(number) for number in range(3)]).columns()
    array = np.array(values, found[name].dtype)
    changed = np.concatenate((array, found[name][1:])) if name == "page" else array
    with pytest.raises(ValueError, match="values"):
        BlockRows.checked(found | {name: changed})


def test_copies_are_the_same_however_many_texts_are_compared_at_a_time(monkeypatch):
    chance = np.random.default_rng(0)
    page = np.repeat(np.arange(30), 6)
    text = chance.integers(0, 60, len(page))
    text[6:12], text[60:64] = text[:6], text[120:124]
    site = BlockRows(
        page_key=np.arange(30, dtype=np.uint64),
        page_genre=np.zeros(30 * len(GENRES), np.float32),
        page=page.astype(np.int32),
        text=text.astype(np.uint64),
        path=np.zeros(len(page), np.uint64),
        words=np.full(len(page), 60, np.int32),
        logit=np.full(len(page), 2.0, np.float32),
    )
    found = copies(site)
    assert found[1]
    assert not found.all()
    monkeypatch.setattr(blocktable, "TEXTS_AT_ONCE", 7)
    np.testing.assert_array_equal(copies(site), found)
    monkeypatch.setattr(blocktable, "MOST_COMPARED", 10)
    np.testing.assert_array_equal(copies(site)[:10], found[:10])
    assert not copies(site)[10:].any()
