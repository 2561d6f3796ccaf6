"""Structures above blocks: data tables and their grid, lists; what headings head, introductions, code, the headline."""

from __future__ import annotations

import time

from webwinnow.pagemodel import PageContext
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


# Sections


def outline(body: str, head: str = "") -> list[tuple[str, str | None]]:
    """The text of each block of a page, and the text of the heading that it is under."""
    page = PageContext(parse(f"<head>{head}</head><body>{body}</body>"))
    said = [page.blocks.text(b).strip() for b in page.evidence.said]
    return [(text, said[k] if k >= 0 else None) for text, k in zip(said, page.sections.heading.tolist(), strict=True)]


def headline(body: str, head: str) -> str | None:
    """The last of the best candidates, which a page with all its content below has as headline."""
    page = PageContext(parse(f"<head>{head}</head><body>{body}</body>"))
    best = next((found for found in page.headlines if found), None)
    return None if best is None else page.blocks.text(page.evidence.said[best[-1]]).strip()


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


def test_lines_of_one_heading_are_under_its_first():
    found = outline("<h2>Two<br>lines</h2><p>text</p>")
    assert found == [("Two", None), ("lines", "Two"), ("text", "Two")]


def test_element_with_the_role_of_a_heading_is_one():
    found = outline("<div role=heading>Part</div><p>text</p>")
    assert found == [("Part", None), ("text", "Part")]


def introduced(body: str) -> list[int]:
    return PageContext(parse(f"<body>{body}</body>")).sections.end.tolist()


def test_sentence_with_a_colon_introduces_the_list_after_it():
    assert introduced("<p>These include:</p><ul><li>one<li>two</ul><p>end</p>") == [3, 0, 0, 0]
    assert introduced("<p>包括：</p><ol><li>一<li>二</ol>") == [3, 0, 0]
    assert introduced("<p>As in:</p><pre>code</pre>") == [2, 0]


def test_sentence_without_a_colon_or_without_a_list_introduces_nothing():
    assert introduced("<p>These.</p><ul><li>one</ul>") == [0, 0]
    assert introduced("<p>These:</p><p>one</p>") == [0, 0]
    assert introduced("<ul><li>Price:</li><li>3</li></ul>") == [0, 0]


def test_code_and_figures_are_found():
    page = PageContext(parse("<body><pre>a<br>b</pre><figure><img src=x><figcaption>c</figcaption></figure><p>d</p>"))
    assert (page.sections.code >= 0).tolist() == [True, True, False, False]
    assert (page.sections.figure >= 0).tolist() == [False, False, True, False]


def test_figure_without_a_picture_is_none():
    page = PageContext(parse("<body><figure><blockquote>said</blockquote></figure>"))
    assert (page.sections.figure < 0).all()


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


def test_without_confirmation_the_first_level_heading_is_the_headline():
    assert headline("<h2>Other</h2><h1>Dog</h1><p>It happened.</p>", "<title>Planet</title>") == "Dog"


def test_hidden_heading_is_not_the_headline():
    body = "<h1 hidden>Dog bites man</h1><p>It happened at noon.</p>"
    assert headline(body, "<title>Dog bites man</title>") is None


def test_time_is_linear_in_the_number_of_headings():
    def seconds(count: int, body: str) -> float:
        page = PageContext(parse(f"<title>t</title><body>{body * count}</body>"))
        _ = page.evidence
        begin = time.perf_counter()
        _ = page.sections, page.headlines
        return time.perf_counter() - begin

    for body in ("<h2>a</h2><p>b", "<div><h3>a</h3></div>", "<p>a:<ul><li>b</ul>", "<h1>t"):
        assert seconds(100_000, body) < 100 * max(seconds(10_000, body), 0.01)
