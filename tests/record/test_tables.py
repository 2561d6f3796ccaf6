"""Tables in plain text and Markdown: all rows have the same columns, and cells stay in theirs whatever is removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webwinnow.page.parsing import parse
from webwinnow.page.structures import MOST_ADDED_CELLS
from webwinnow.page.tree import PageTree
from webwinnow.record.flow import to_text
from webwinnow.record.html import to_html
from webwinnow.record.markdown import to_markdown

Grid = list[list[str]]


def everything(tree: PageTree) -> np.ndarray:
    return np.ones(len(tree), np.bool_)


def without(tree: PageTree, *texts: str) -> np.ndarray:
    """All nodes but the cells with these texts."""
    gone = [i for i in range(len(tree)) if tree.tag_name(i) in ("td", "th") and tree[i].text.strip() in texts]
    assert len(gone) >= len(texts)
    keep = everything(tree)
    keep[gone] = False
    return keep


def in_text(tree: PageTree, keep: np.ndarray) -> Grid:
    """The cells of the lines of plain text."""
    return [line.split(" | ") for line in to_text(tree, keep).split("\n") if line]


def in_markdown(tree: PageTree, keep: np.ndarray) -> Grid:
    """The cells of the rows of Markdown, without the line below the header; other lines have one cell."""
    lines = [line for line in to_markdown(tree, keep).split("\n") if line and set(line) - set("|- ")]
    return [line[2:-2].split(" | ") if line.startswith("|") else [line] for line in lines]


def shown(page: str, *removed: str) -> Grid:
    """What text and Markdown both show of a page without some cells."""
    tree = parse(page)
    keep = without(tree, *removed)
    assert in_text(tree, keep) == in_markdown(tree, keep)
    return in_text(tree, keep)


STATISTICS = """<table><thead><tr><th>Season<th>Team<th>G<th>PPG</thead>
<tr><td>99-00<td>Den<td>81<td>25.3<tr><td>00-01<td>Den<td>70<td>20.1<tr><td>01-02<td>Dal<td>81<td>18</table>"""


def test_a_removed_cell_leaves_its_place_empty() -> None:
    assert shown(STATISTICS, "70", "Dal") == [
        ["Season", "Team", "G", "PPG"],
        ["99-00", "Den", "81", "25.3"],
        ["00-01", "Den", "", "20.1"],
        ["01-02", "", "81", "18"],
    ]


def test_a_removed_column_is_left_out() -> None:
    assert shown(STATISTICS, "G", "81", "70")[:2] == [["Season", "Team", "PPG"], ["99-00", "Den", "25.3"]]


def test_a_removed_row_is_left_out() -> None:
    assert [row[0] for row in shown(STATISTICS, "00-01", "70", "20.1", "Den")] == ["Season", "99-00", "01-02"]


def test_a_removed_last_cell_does_not_shorten_its_row() -> None:
    tree = parse(STATISTICS)
    assert to_text(tree, without(tree, "20.1")).split("\n")[2] == "00-01 | Den | 70 | "


def test_a_row_with_fewer_cells_than_the_others_is_filled() -> None:
    assert shown("<table><tr><td>a<tr><td>b<td>c<td>d<tr><td>e<td>f</table>") == [
        ["a", "", ""],
        ["b", "c", "d"],
        ["e", "f", ""],
    ]


def test_the_text_of_a_spanning_cell_is_in_its_first_column_and_row_only() -> None:
    page = "<table><tr><td colspan=2 rowspan=2>a<td>b<tr><td>c<tr><td>d<td>e<td>f</table>"
    assert shown(page) == [["a", "", "b"], ["", "", "c"], ["d", "e", "f"]]


def test_a_spanning_header_is_over_the_first_of_its_columns_that_is_kept() -> None:
    page = "<table><tr><th>n<th colspan=2>price<tr><td>a<td>buy<td>1<tr><td>b<td>buy<td>2</table>"
    assert shown(page, "buy") == [["n", "price"], ["a", "1"], ["b", "2"]]


def test_columns_that_every_cell_spans_are_one() -> None:
    page = "<table><tr><td colspan=3>a<td colspan=2>b<tr><td colspan=3>c<td colspan=2>d</table>"
    assert shown(page) == [["a", "b"], ["c", "d"]]


def test_spans_of_rows_end_with_their_group() -> None:
    page = "<table><thead><tr><th rowspan=3>h<th>i</thead><tbody><tr><td>a<td>b<tr><td>c<td>d</tbody></table>"
    assert shown(page) == [["h", "i"], ["a", "b"], ["c", "d"]]


def test_a_rowspan_of_zero_covers_the_rest_of_its_group() -> None:
    page = "<table><tbody><tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d</tbody><tbody><tr><td>e<td>f</tbody></table>"
    assert shown(page) == [["a", "b"], ["", "c"], ["", "d"], ["e", "f"]]


def test_hidden_cells_and_rows_take_no_place() -> None:
    tree = parse("<table><tr><td>a<td hidden>x<td>b<tr hidden><td rowspan=9>y<tr><td>c<td>d</table>")
    assert in_text(tree, tree.visible) == in_markdown(tree, tree.visible) == [["a", "b"], ["c", "d"]]


def test_titles_above_the_header_are_lines_before_the_table() -> None:
    page = "<table><tr><td colspan=3>Career<tr><th>y<th>g<th>p<tr><td>1<td>2<td>3</table>"
    tree = parse(page)
    assert to_markdown(tree, everything(tree)) == "Career\n\n| y | g | p |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n"
    assert to_text(tree, everything(tree)) == "Career\n\ny | g | p\n1 | 2 | 3\n"


@pytest.mark.parametrize(
    "first", ["<tr><th><th colspan=2>both", "<tr><td>a<td>b", "<thead><tr><th colspan=3>all</thead><tr><td>a<td>b"]
)
def test_other_rows_above_a_header_stay_in_the_table(first: str) -> None:
    page = f"<table>{first}<tr><th>y<th>g<th>p<tr><td>1<td>2<td>3</table>"
    assert [len(row) for row in shown(page)] == [3] * len(shown(page))


def test_a_caption_among_the_rows_splits_the_table() -> None:
    page = "<table><tr><td>a<td>b<caption>cap</caption><tr><td>c<td>d</table>"
    assert shown(page) == [["a", "b"], ["cap"], ["c", "d"]]


def test_a_column_of_pictures_is_a_column_of_text_too() -> None:
    tree = parse('<table><tr><td><img src="http://x.org/i"><td>a<td>b<tr><td><td>c<td>d</table>')
    assert in_text(tree, everything(tree)) == [["", "a", "b"], ["", "c", "d"]]
    assert [len(row) for row in in_markdown(tree, everything(tree))] == [3, 3]


def test_a_table_that_would_need_too_many_empty_cells_is_lines() -> None:
    side = int(MOST_ADDED_CELLS**0.5) + 50
    page = "<table><tr>" + "<td>a" * side + "<tr><td>b" * side + "</table>"
    tree = parse(page)
    for shown in (to_text(tree, everything(tree)), to_markdown(tree, everything(tree))):
        assert "|" not in shown
        assert shown.count("a") == shown.count("b") == side


def test_html_has_an_empty_cell_for_a_removed_one() -> None:
    tree = parse("<table><tr><td>a<td>b<td>c<tr><td>d<td>e<td>f</table>")
    again = parse(to_html(tree, without(tree, "b")))
    assert in_text(again, everything(again)) == [["a", "", "c"], ["d", "e", "f"]]
    assert "b</td>" not in to_html(tree, without(tree, "b"))


# Random tables, placed here the slow way: a set of the covered places


@dataclass
class Drawn:
    page: str
    place: dict[str, tuple[int, int, int]]
    """Row, column and columns of each cell, by its text."""
    rows: int


@st.composite
def tables(draw: st.DrawFn) -> Drawn:
    """A table of distinct cells with spans, in one group of rows."""
    covered: set[tuple[int, int]] = set()
    place: dict[str, tuple[int, int, int]] = {}
    page = "<table>"
    rows = draw(st.integers(1, 5))
    for row in range(rows):
        page += "<tr>"
        column = 0
        for k in range(draw(st.integers(2, 4))):
            columns, down = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 2), (2, 3), (3, 1)]))
            while (row, column) in covered:
                column += 1
            name = f"r{row}c{k}"
            place[name] = row, column, columns
            covered |= {(row + y, column + x) for y in range(down) for x in range(columns)}
            page += f"<td colspan={columns} rowspan={down}>{name}"
            column += columns
    return Drawn(page + "</table>", place, rows)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.randoms(use_true_random=False))
def test_any_table_is_rectangular_and_its_cells_stay_in_their_columns(table: Drawn, chance) -> None:
    tree = parse(table.page)
    keep = everything(tree)
    kept = {}
    for i in np.flatnonzero(tree.tagged("td")).tolist():
        keep[i] = chance.random() < 0.7
        if keep[i]:
            kept[tree[i].text.strip()] = table.place[tree[i].text.strip()]
    found = in_text(tree, keep)
    assert found == in_markdown(tree, keep)
    assert len({len(row) for row in found}) <= 1
    own = {column for _, column, columns in kept.values() if columns == 1}
    for _, column, columns in kept.values():
        if not own & set(range(column, column + columns)):
            own.add(column)
    shown_rows = sorted({row for row, _, _ in kept.values()})
    expected = [["" for _ in own] for _ in shown_rows]
    for name, (row, column, columns) in kept.items():
        first = min(own & set(range(column, column + columns)))
        expected[shown_rows.index(row)][sorted(own).index(first)] = name
    assert found == [row if len(own) > 1 else [cell for cell in row if cell] for row in expected]
