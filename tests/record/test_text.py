"""Plain text, as a person would type a page by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webwinnow.page.parsing import parse
from webwinnow.record.flow import to_text


def text(page: str) -> str:
    tree = parse(page)
    return to_text(tree, np.ones(len(tree), np.bool_))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo.\n"),
        ("<div>One.</div><div>Two.</div>", "One.\nTwo.\n"),
        ("Before<p>inside</p>after", "Before\n\ninside\n\nafter\n"),
        ("<section><div><p>Deep.</p></div></section>", "Deep.\n"),
    ],
)
def test_paragraphs_stand_apart_and_lines_do_not(page: str, expected: str) -> None:
    assert text(page) == expected


def test_a_heading_stands_apart_from_the_text_below() -> None:
    assert text("<h1>Head</h1><div>Body.</div>") == "Head\n\nBody.\n"


def test_white_space_of_the_source_is_folded() -> None:
    assert text("<p>  a\n\tb  <b> c </b> d </p>") == "a b c d\n"


def test_inline_elements_do_not_part_a_word() -> None:
    assert text("<p>un<b>be</b>liev<i>able</i></p>") == "unbelievable\n"


@pytest.mark.parametrize("blank", ["&nbsp;", "&#8239;", "&#12288;", "&emsp;"])
def test_wide_and_unbreakable_blanks_become_plain_ones(blank: str) -> None:
    assert text(f"<p>a{blank}{blank}b{blank}</p>") == "a b\n"


def test_br_starts_a_line() -> None:
    assert text("<p>one<br>two<br/>three</p>") == "one\ntwo\nthree\n"


def test_several_br_in_a_row_make_no_empty_lines() -> None:
    assert text("<p><br>one<br><br> <br>two<br></p>") == "one\ntwo\n"


def test_a_rule_parts_the_text_and_is_not_shown() -> None:
    assert text("one<hr>two") == "one\ntwo\n"


# Lists


def test_list_items_have_bullets() -> None:
    assert text("<ul><li>a</li><li>b</li></ul>") == "- a\n- b\n"


def test_nested_lists_are_indented() -> None:
    page = "<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>"
    assert text(page) == "- a\n  - b\n    - c\n- d\n"


def test_ordered_lists_are_numbered() -> None:
    assert text("<ol><li>a</li><li>b</li></ol>") == "1. a\n2. b\n"


def test_ordered_lists_count_from_their_start() -> None:
    assert text("<ol start=9><li>a</li><li>b</li></ol>") == "9. a\n10. b\n"


@pytest.mark.parametrize("start", ["x", "", "1e9", "-3", "999999999999"])
def test_a_start_that_cannot_be_shown_counts_as_one(start: str) -> None:
    assert text(f"<ol start='{start}'><li>a</li></ol>") == "1. a\n"


def test_a_list_inside_an_ordered_list_does_not_disturb_its_numbers() -> None:
    assert text("<ol><li>a<ul><li>x</li></ul></li><li>b</li></ol>") == "1. a\n   - x\n2. b\n"


def test_lists_in_lists_of_either_kind_keep_their_numbers() -> None:
    page = "<ol start=3><li>a<ul><li>b<ol><li>c<li>d</ol><li>e</ul><li>f</ol>"
    assert text(page) == "3. a\n   - b\n     1. c\n     2. d\n   - e\n4. f\n"


def test_a_value_sets_the_number_of_its_item_and_of_those_after_it() -> None:
    assert text("<ol><li>a<li value=7>b<li>c<li value=x>d</ol>") == "1. a\n7. b\n8. c\n9. d\n"


def test_reversed_lists_count_down() -> None:
    assert text("<ol reversed><li>a<li>b<li>c</ol>") == "3. a\n2. b\n1. c\n"
    assert text("<ol reversed start=10><li>a<li value=5>b<li>c</ol>") == "10. a\n5. b\n4. c\n"


def test_numbers_below_zero_are_bullets() -> None:
    assert text("<ol reversed start=0><li>a<li>b</ol>") == "0. a\n- b\n"


@pytest.mark.parametrize(
    ("style", "start", "expected"),
    [
        ("a", 1, "a. x\nb. y\n"),
        ("A", 26, "Z. x\nAA. y\n"),
        ("a", 702, "zz. x\naaa. y\n"),
        ("i", 3, "iii. x\niv. y\n"),
        ("I", 1994, "MCMXCIV. x\nMCMXCV. y\n"),
        ("i", 3999, "mmmcmxcix. x\n4000. y\n"),
        ("a", 0, "0. x\na. y\n"),
        ("1", 1, "1. x\n2. y\n"),
        ("disc", 1, "1. x\n2. y\n"),
    ],
)
def test_items_have_the_letters_or_numerals_of_their_list(style: str, start: int, expected: str) -> None:
    assert text(f"<ol type={style} start={start}><li>x<li>y</ol>") == expected


def test_lines_under_a_lettered_item_are_as_wide_as_its_marker() -> None:
    assert text("<ol type=i start=3><li>a<br>b</ol>") == "iii. a\n     b\n"


def test_removed_items_count_and_hidden_ones_do_not() -> None:
    tree = parse("<ol><li>a<li><b>gone</b><li hidden>never<li>d</ol>")
    keep = tree.visible & ~tree.tagged("b")
    keep[tree.parent[np.flatnonzero(tree.tagged("b"))]] = False
    assert to_text(tree, keep) == "1. a\n3. d\n"


def test_the_second_paragraph_of_an_item_stands_under_the_first() -> None:
    assert text("<ul><li><p>a</p><p>b</p></li></ul>") == "- a\n\n  b\n"


def test_lines_of_an_item_stand_under_one_another() -> None:
    assert text("<ul><li>a<br>b</li></ul>") == "- a\n  b\n"


def test_text_of_a_list_outside_its_items_has_no_bullet() -> None:
    assert text("<ul>loose<li>a</li></ul>") == "loose\n\n- a\n"


def test_a_list_ends_before_the_text_after_it() -> None:
    assert text("<ul><li>a</li></ul>after") == "- a\n\nafter\n"


def test_an_item_without_text_has_no_bullet() -> None:
    assert text("<ul><li> </li><li>a</li></ul>") == "- a\n"


def test_terms_and_definitions_are_lines() -> None:
    assert text("<dl><dt>t</dt><dd>d</dd><dt>u</dt><dd>e</dd></dl>") == "t\nd\nu\ne\n"


def test_lists_deep_inside_one_another_stop_growing_to_the_right() -> None:
    lines = text("<ul><li>" * 150 + "deep").split("\n")
    assert max(map(len, lines)) < 100
    assert lines[-2].endswith("deep")


# Tables


def test_rows_of_a_data_table_are_lines_with_bars() -> None:
    page = "<table><tr><th>h</th><th>i</th></tr><tr><td>a</td><td>b</td></tr></table>"
    assert text(page) == "h | i\na | b\n"


def test_a_caption_stands_before_its_table() -> None:
    assert text("<table><caption>c</caption><tr><td>a</td><td>b</td></tr></table>") == "c\n\na | b\n"


def test_line_breaks_and_blocks_in_data_cells_become_blanks() -> None:
    assert text("<table><tr><td>a<br>b</td><td><p>c</p><p>d</p></td></tr></table>") == "a b | c d\n"


def test_empty_cells_keep_their_column() -> None:
    assert text("<table><tr><td>a<td><td>c<tr><td>d<td>e<td>f</table>") == "a |  | c\nd | e | f\n"


def test_rows_without_text_are_left_out() -> None:
    assert text("<table><tr><td>a<td>b<tr><td> <td><tr><td>c<td>d</table>") == "a | b\nc | d\n"


def test_a_colspan_covers_its_columns() -> None:
    assert text("<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>") == "a |  | b\nc | d | e\n"


def test_a_rowspan_covers_the_cells_below() -> None:
    assert text("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>") == "a | b\n | c\n"


@pytest.mark.parametrize(
    "inside", ["<ul><li>x</li></ul>", "<h2>x</h2>", "<form>x</form>", "<table><tr><td>x</td></tr></table>"]
)
def test_a_table_that_holds_structure_lays_out_a_page(inside: str) -> None:
    assert "|" not in text(f"<table><tr><td>menu</td><td>{inside}</td></tr></table>")


def test_a_table_with_a_long_cell_lays_out_a_page() -> None:
    assert "|" not in text(f"<table><tr><td>menu</td><td>{'word ' * 400}</td></tr></table>")


def test_a_table_of_one_column_is_a_row_of_lines() -> None:
    assert text("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>") == "a\nb\n"


def test_cells_of_a_layout_table_are_lines() -> None:
    assert text("<table><tr><td>a</td><td><h2>b</h2>c</td></tr></table>") == "a\n\nb\n\nc\n"


def test_spans_cannot_blow_a_page_up() -> None:
    row = "<tr>" + "<td colspan=1000 rowspan=1000>x" * 100
    assert len(text(f"<table>{row * 50}</table>")) < 1_000_000


# Preformatted text


@pytest.mark.parametrize("tag", ["pre", "textarea", "listing", "xmp"])
def test_white_space_of_preformatted_text_is_kept(tag: str) -> None:
    assert text(f"<{tag}>def f():\n    return  1\n\nf()</{tag}>") == "def f():\n    return  1\n\nf()\n"


def test_empty_lines_around_preformatted_text_are_removed() -> None:
    assert text("<pre>\n\n  a\n  b\n\n</pre>") == "  a\n  b\n"


def test_tabs_of_preformatted_text_are_kept() -> None:
    assert text("<pre>a\tb</pre>") == "a\tb\n"


def test_inline_elements_in_preformatted_text_leave_its_white_space_alone() -> None:
    assert text("<pre><code><span>if</span>  x:\n\t<b>y</b></code></pre>") == "if  x:\n\ty\n"


def test_br_and_blocks_in_preformatted_text_start_lines() -> None:
    assert text("<pre>a<br>b<div>c</div>d</pre>") == "a\nb\nc\nd\n"


def test_cells_in_preformatted_text_stay_apart() -> None:
    assert text("<pre><table><tr><td>1</td><td>code</td></tr></table></pre>") == "1 code\n"


def test_preformatted_text_inside_preformatted_text_stays_apart() -> None:
    assert text("<pre>a<xmp>b</xmp>c</pre>") == "a\nb\nc\n"


def test_preformatted_text_in_a_list_item_is_indented() -> None:
    assert text("<ul><li>a<pre>b\n c</pre></li></ul>") == "- a\n\n  b\n   c\n"


def test_choices_of_a_form_are_lines() -> None:
    assert text("<select><option>a<option>b</select>") == "a\nb\n"


# Removed text


def test_text_has_neither_links_nor_pictures_nor_marks() -> None:
    page = '<p><b>a</b> <a href="http://x.org/">b</a> <img src="http://x.org/i" alt="picture"><code>c</code></p>'
    assert text(page) == "a b c\n"


def test_scripts_and_styles_are_no_text() -> None:
    assert text("<p>a<script>b()</script><style>c{}</style><svg><text>d</text></svg></p>") == "a\n"


@pytest.mark.parametrize(
    "page", ["<p>a&#27;[31mb</p>", "<pre>a\x1b[2Jb</pre>", "<table><tr><td>a\x1b]0;t\x07b<td>c</table>"]
)
def test_ansi_escapes_are_disarmed(page: str) -> None:
    assert "\x1b" not in text(page)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(st.characters(categories=("Cc", "Zl", "Zp", "L")), max_size=8), max_size=8))
def test_no_control_character_but_tab_and_newline_comes_through(parts: list[str]) -> None:
    shown = text("<p>" + "</p><pre>".join(parts))
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", shown) is None


def test_text_ends_with_one_newline() -> None:
    assert text("<pre>a\n\n\n</pre>") == "a\n"
