"""Structures above blocks: which tables contain data, the grid of their cells, and lists."""

from __future__ import annotations

from webwinnow.parsing import parse
from webwinnow.structures import COLUMN_HEADER, GROUP_HEADER, ROW_HEADER, Structures

Cell = tuple[str, int, int, int, int, int]


def cells_of(html: str) -> list[Cell]:
    """Each cell of the data tables: text, row, column, rows, columns, what it heads."""
    tree = parse(f"<body>{html}</body>".encode(), "http://a.example/")
    found = Structures.of(tree)
    return [(tree[node].text.strip(), *rest) for node, *rest in found.cells.T.tolist()]


def test_spans_are_expanded_and_headers_found() -> None:
    html = (
        "<table><tr><th>Year<th>Team<th colspan=2>Points<tr><td>99-00<td rowspan=2>Den<td>81<td>25.3"
        "<tr><td>00-01<td>80<td>9.9<tr><td colspan=4>Totals</table>"
    )
    assert cells_of(html) == [
        ("Year", 0, 0, 1, 1, COLUMN_HEADER),
        ("Team", 0, 1, 1, 1, COLUMN_HEADER),
        ("Points", 0, 2, 1, 2, COLUMN_HEADER),
        ("99-00", 1, 0, 1, 1, ROW_HEADER),
        ("Den", 1, 1, 2, 1, 0),
        ("81", 1, 2, 1, 1, 0),
        ("25.3", 1, 3, 1, 1, 0),
        ("00-01", 2, 0, 1, 1, ROW_HEADER),
        ("80", 2, 2, 1, 1, 0),
        ("9.9", 2, 3, 1, 1, 0),
        ("Totals", 3, 0, 1, 4, GROUP_HEADER),
    ]


def test_column_covered_from_above_at_the_end_of_a_row_is_free_again_below() -> None:
    rows = "<tr><td>a<td>b<td rowspan=2>c<tr><td>d<td>e<tr><td>f<td>g<td>h"
    assert [(cell[0], cell[2]) for cell in cells_of(f"<table>{rows}</table>")][-3:] == [("f", 0), ("g", 1), ("h", 2)]


def test_terms_and_values_are_the_columns_of_a_dl() -> None:
    found = cells_of("<dl><dt>Height<dd>6-9<dt>Weight<dt>Mass<dd>250<dd>251</dl>")
    assert [cell[:3] for cell in found] == [
        ("Height", 0, 0),
        ("6-9", 0, 1),
        ("Weight", 1, 0),
        ("Mass", 1, 0),
        ("250", 1, 1),
        ("251", 1, 1),
    ]


def test_layout_tables_are_no_data() -> None:
    for inside in ("<ul><li>a</ul>", "<h2>a</h2>", "<table><tr><td>a<td>b<tr><td>c<td>d</table>", "x" * 1001):
        outer = f"<table><tr><td>{inside}<td>b<tr><td>c<td>d</table>"
        assert len(cells_of(outer)) == (4 if "<table>" in inside else 0), inside
    assert not cells_of("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>")
    assert not cells_of("<table><tr><td>a<td>b</table>")
    assert not cells_of("<table><tr><td>a<tr><td>b<tr><td>c</table>")


def test_a_list_counts_its_items_and_how_much_of_it_is_links() -> None:
    tree = parse(b"<body><ul><li><a href=x>four</a> <li>abcd ef<ol><li>z</ol></ul>", "http://a.example/")
    found = Structures.of(tree)
    assert found.lists[1:].T.tolist() == [[2, 10, 4], [1, 1, 0]]
    inner = int(found.lists[0, 1])
    assert found.list_of[inner] == 0
    assert found.list_of[inner + 1] == 1
