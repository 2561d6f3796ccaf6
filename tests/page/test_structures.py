"""Structures above blocks: data tables and their grid, lists; what headings head, introductions, code, the headline."""

from __future__ import annotations

import numpy as np
import pytest
from growth import growth
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tables import placed_cells

from webwinnow.judge.evidence import PageEvidence, evidence_of, headlines_of, page_with, sections_of
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.page.structures import COLUMN_HEADER, GROUP_HEADER, ROW_HEADER, Structures, data_tables

Cell = tuple[str, int, int, int, int, int]


def cells_of(html: str) -> list[Cell]:
    """Each cell of the data tables: text, row, column, rows, columns, what it heads."""
    tree = parse(f"<body>{html}</body>".encode(), "http://a.example/")
    found = Structures.of(tree)
    return [(tree[node].text.strip(), *rest) for node, *rest in found.cells.T.tolist()]


def headers_of(html: str) -> dict[int, list[str]]:
    """The texts of the cells that head columns, rows, or the rows that follow."""
    found: dict[int, list[str]] = {COLUMN_HEADER: [], ROW_HEADER: [], GROUP_HEADER: []}
    for cell in cells_of(html):
        if cell[0] and cell[-1]:
            found[cell[-1]].append(cell[0])
    return found


def table(*rows: str, tag: str = "td") -> str:
    """A table from rows of cells between bars; a row of one cell covers all columns."""
    columns = max(row.count("|") for row in rows) + 1
    lines = [f"<tr><td colspan={columns}>{row}" if "|" not in row else
             "<tr>" + "".join(f"<{tag}>{cell}" for cell in row.split("|")) for row in rows]  # fmt: skip
    return f"<table>{''.join(lines)}</table>"


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
    assert cells_of("<table role=presentation><tr><th>a<td>b<tr><th>c<td>d</table>")
    assert not cells_of("<table><tr><td>a<td>b</table>")
    assert not cells_of("<table><tr><td>a<tr><td>b<tr><td>c</table>")


@st.composite
def any_table(draw: st.DrawFn) -> str:
    spans = st.sampled_from(
        ["", "", "", " colspan=2", " rowspan=2", " colspan=3 rowspan=2", " rowspan=0", " colspan=x"]
    )
    parts = []
    for _ in range(draw(st.integers(1, 6))):
        parts.append(draw(st.sampled_from(["<tr>", "<tr>", "<tr>", "<tbody><tr>", "<tr hidden>"])))
        for _ in range(draw(st.integers(0, 4))):
            more = draw(st.sampled_from(["", "", "", " hidden"]))
            parts.append(f"<{draw(st.sampled_from(['td', 'th']))}{draw(spans)}{more}>x")
    return f"<table>{''.join(parts)}</table>"


@given(any_table(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_cells_are_placed_as_the_slow_version_places_them(html: str, with_hidden: bool) -> None:
    tree = parse(f"<body>{html}</body>")
    absent = np.zeros(len(tree), np.bool_) if with_hidden else ~tree.visible
    for node in np.flatnonzero(tree.tagged("table")).tolist():
        found = data_tables(tree).cells(node, absent)
        expected = placed_cells(tree, node, frozenset(np.flatnonzero(absent).tolist()))
        assert [tuple(cell[:5]) for cell in found.tolist()] == expected


@pytest.mark.parametrize("tag", ["td", "th"])
def test_header_row_below_titles(tag: str) -> None:
    header = "<tr>" + "".join(f"<{tag}>{text}" for text in ("", "G", "MPG", "3P%"))
    html = table("Season and career", "2010|21|31.0|.459", "Career|98|23.6|.487")
    html = html.replace("<tr><td>2010", header + "<tr><td>2010")
    assert headers_of(html) == {
        COLUMN_HEADER: ["G", "MPG", "3P%"],
        ROW_HEADER: ["2010", "Career"],
        GROUP_HEADER: ["Season and career"],
    }


def test_several_rows_without_numbers_above_numbers_are_headers() -> None:
    html = table("Statistics|Goals|Free throws", "Season|3PM-A|FT%", "99-00|5-10|.500", "00-01|4-4|1.000")
    assert headers_of(html)[COLUMN_HEADER] == ["Statistics", "Goals", "Free throws", "Season", "3PM-A", "FT%"]


def test_one_row_of_numbers_is_enough_below_a_header_of_three_columns() -> None:
    assert headers_of(table("Date|G|MPG", "2010|21|31.0"))[COLUMN_HEADER] == ["Date", "G", "MPG"]
    assert headers_of(table("Price|new", "12|30"))[COLUMN_HEADER] == []


def test_first_row_of_a_table_of_words_is_no_header_unless_its_style_differs() -> None:
    rows = ("Name|Ann|Bob", "City|Rome|Oslo", "Job|cook|clerk")
    assert headers_of(table(*rows))[COLUMN_HEADER] == []
    styled = table(*rows).replace("<tr>", '<tr class="head">', 1)
    assert headers_of(styled)[COLUMN_HEADER] == ["Name", "Ann", "Bob"]


def test_row_with_numbers_is_no_header() -> None:
    assert headers_of(table("2010|2011|2012", "1|2|3", "4|5|6"))[COLUMN_HEADER] == []
    assert headers_of(table("Year|2011|2012", "1|2|3", "4|5|6"))[COLUMN_HEADER] == []


@pytest.mark.parametrize(("style", "later"), [(' class="head"', True), ("", False)])
def test_later_row_in_the_style_of_headers_only_is_a_header_too(style: str, later: bool) -> None:
    html = table("Last game", "Date|MIN|PTS", "Dec 6|33|7", "Next game", "Day|MINS|POINTS", "Dec 8|31|10")
    for first in ("Date", "Day"):
        html = html.replace(f"<tr><td>{first}", f"<tr{style}><td>{first}")
    found = headers_of(html)
    assert found[COLUMN_HEADER] == ["Date", "MIN", "PTS"] + ["Day", "MINS", "POINTS"] * later
    assert found[GROUP_HEADER] == ["Last game", "Next game"]


def test_a_later_row_of_header_cells_is_a_header_and_a_table_of_header_cells_has_one() -> None:
    html = "<table><tr><th>a<th>b<tr><td>1<td>2<tr><th>c<th>d<tr><td>3<td>4</table>"
    assert headers_of(html)[COLUMN_HEADER] == ["a", "b", "c", "d"]
    assert headers_of(table("a|b", "c|d", "e|f", tag="th"))[COLUMN_HEADER] == ["a", "b"]


def test_a_row_of_one_cell_heads_the_rows_below_unless_others_are_covered() -> None:
    assert headers_of("<table><tr><td>a<td>b<tr><td>more<tr><td>c<td>d</table>")[GROUP_HEADER] == ["more"]
    assert headers_of("<table><tr><td rowspan=2>a<td>b<tr><td>more<tr><td>c<td>d</table>")[GROUP_HEADER] == []


def test_labels_that_end_with_a_colon_head_their_rows_in_any_column() -> None:
    assert headers_of(table("Team:|Den|Pay:|12", "City:|Rome|Age:|30"))[ROW_HEADER] == [
        "Team:",
        "Pay:",
        "City:",
        "Age:",
    ]
    assert headers_of(table("Team|Den|Pay|12", "City|Rome|Age|30"))[ROW_HEADER] == ["Team", "City"]


def test_a_list_counts_its_items_and_how_much_of_it_is_links() -> None:
    tree = parse(b"<body><ul><li><a href=x>four</a> <li>abcd ef<ol><li>z</ol></ul>", "http://a.example/")
    found = Structures.of(tree)
    assert found.lists[1:].T.tolist() == [[2, 10, 4], [1, 1, 0]]
    inner = int(found.lists[0, 1])
    assert found.list_of[inner] == 0
    assert found.list_of[inner + 1] == 1


# Sections


def outline(body: str, head: str = "") -> list[tuple[str, str | None]]:
    """The text of each block of a page, and the text of the heading that it is under."""
    page = Page(parse(f"<head>{head}</head><body>{body}</body>"))
    said = [page.blocks.text(b).strip() for b in evidence_of(page).said]
    return [
        (text, said[k] if k >= 0 else None) for text, k in zip(said, sections_of(page).heading.tolist(), strict=True)
    ]


def headline(body: str, head: str) -> str | None:
    """The last of the best candidates, which a page with all its content below has as headline."""
    page = Page(parse(f"<head>{head}</head><body>{body}</body>"))
    best = next((found for found in headlines_of(page) if found), None)
    return None if best is None else page.blocks.text(evidence_of(page).said[best[-1]]).strip()


def test_section_ends_at_the_next_heading_of_the_same_or_a_higher_level():
    found = outline("<h2>A</h2><p>one</p><h3>B</h3><p>two</p><h3>C</h3><p>three</p><h2>D</h2><p>four</p>")
    assert found == [
        *[("A", None), ("one", "A"), ("B", "A"), ("two", "B"), ("C", "A"), ("three", "C")],
        *[("D", None), ("four", "D")],
    ]


def test_heading_in_a_box_does_not_head_the_text_after_the_box():
    found = outline("<div><h3>News</h3><p>short and more</p></div><div><p>the article</p></div>")
    assert found == [("News", None), ("short and more", "News"), ("the article", None)]


def test_element_with_hardly_more_than_the_heading_does_not_end_its_section():
    found = outline("<div><h2>History</h2><span>edit</span></div><p>In the beginning</p>")
    assert found[-1] == ("In the beginning", "History")


def test_heading_of_a_list_item_heads_the_item_only():
    found = outline("<ul><li><h3>First</h3></li><li><h3>Second</h3></li></ul><p>text</p>")
    assert found == [("First", None), ("Second", None), ("text", None)]


def test_heading_does_not_reach_beyond_the_section_element_around_it():
    for tag in ("section", "article", "aside", "nav"):
        found = outline(f"<main><{tag}><h2>Share</h2><a href=x><img src=y></a></{tag}><p>the article</p></main>")
        assert found == [("Share", None), ("the article", None)]
    assert outline("<main><header><h2>Share</h2></header><p>text</p></main>")[-1] == ("text", "Share")


def test_lines_of_one_heading_are_under_its_first():
    found = outline("<h2>Two<br>lines</h2><p>text</p>")
    assert found == [("Two", None), ("lines", "Two"), ("text", "Two")]


def test_element_with_the_role_of_a_heading_is_one():
    found = outline("<div role=heading>Part</div><p>text</p>")
    assert found == [("Part", None), ("text", "Part")]


def introduced(body: str) -> list[int]:
    return sections_of(Page(parse(f"<body>{body}</body>"))).end.tolist()


def test_sentence_with_a_colon_introduces_the_list_after_it():
    assert introduced("<p>These include:</p><ul><li>one<li>two</ul><p>end</p>") == [3, 0, 0, 0]
    assert introduced("<p>包括：</p><ol><li>一<li>二</ol>") == [3, 0, 0]
    assert introduced("<p>As in:</p><pre>code</pre>") == [2, 0]


def test_sentence_without_a_colon_or_without_a_list_introduces_nothing():
    assert introduced("<p>These.</p><ul><li>one</ul>") == [0, 0]
    assert introduced("<p>These:</p><p>one</p>") == [0, 0]
    assert introduced("<ul><li>Price:</li><li>3</li></ul>") == [0, 0]


def test_code_and_figures_are_found():
    page = Page(parse("<body><pre>a<br>b</pre><figure><img src=x><figcaption>c</figcaption></figure><p>d</p>"))
    assert (sections_of(page).code >= 0).tolist() == [True, True, False, False]
    assert (sections_of(page).figure >= 0).tolist() == [False, False, True, False]


def test_figure_without_a_picture_is_none():
    page = Page(parse("<body><figure><blockquote>said</blockquote></figure>"))
    assert (sections_of(page).figure < 0).all()


def test_headline_is_the_heading_that_the_title_confirms():
    body = "<h1>The Daily Planet</h1><h2>Dog bites man</h2><p>It happened at noon.</p>"
    assert headline(body, "<title>Dog bites man | The Daily Planet</title>") == "Dog bites man"
    assert headline(body, "<title>x</title><meta property=og:title content='Dog bites man'>") == "Dog bites man"


def test_longer_part_of_the_title_is_the_headline():
    body = "<h1>Dogs: who they bite</h1><p>Many people.</p><h2>Dogs</h2><p>It happened at noon.</p>"
    assert headline(body, "<title>Dogs: who they bite | Planet</title>") == "Dogs: who they bite"


def test_headline_may_be_the_middle_of_a_title():
    body = "<h2>Dog bites man</h2><p>It happened at noon.</p>"
    assert headline(body, "<title>News | Dog bites man | Planet</title>") == "Dog bites man"


def test_text_that_is_the_title_is_the_headline_where_no_heading_is():
    body = "<p>Menu</p><div>Dog bites man</div><p>It happened at noon.</p>"
    assert headline(body, "<title>Dog bites man - Planet</title>") == "Dog bites man"


def test_longest_part_of_the_title_is_the_headline_among_other_text_too():
    body = "<div>The Pope: your tributes</div><p>He has died.</p><div>Your tributes</div><p>It happened at noon.</p>"
    assert headline(body, "<title>News | The Pope: your tributes</title>") == "The Pope: your tributes"


def test_last_item_of_the_path_is_not_the_headline():
    body = "<ul><li>Home<li>Dog bites man</ul><h1>A dog story</h1><p>It happened at noon.</p>"
    assert headline(body, "<title>Dog bites man - Planet</title>") == "A dog story"


def test_without_confirmation_the_first_level_heading_is_the_headline():
    assert headline("<h2>Other</h2><h1>Dog</h1><p>It happened.</p>", "<title>Planet</title>") == "Dog"


def test_hidden_heading_is_not_the_headline():
    body = "<h1 hidden>Dog bites man</h1><p>It happened at noon.</p>"
    assert headline(body, "<title>Dog bites man</title>") is None


@pytest.mark.parametrize("body", ["<h2>a</h2><p>b", "<div><h3>a</h3></div>", "<p>a:<ul><li>b</ul>", "<h1>t"])
def test_time_is_linear_in_the_number_of_headings(body: str):
    def structures(count: int):
        tree = parse(f"<title>t</title><body>{body * count}</body>")
        evidence = PageEvidence.of(tree)

        def found():
            page = page_with(tree, evidence)
            headlines_of(page)

        return found

    assert growth(structures, 10_000, 100_000, 40) < 40  # 10 if linear, 100 if quadratic
