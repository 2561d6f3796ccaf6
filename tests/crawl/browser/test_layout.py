"""`PageLayout`: rows found again after parsing, bytes and back, damaged layouts."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow.errors import ModelError
from webwinnow.page.layout import UNKNOWN_COVER, PageLayout
from webwinnow.page.parsing import parse


def layout_of(rows: int) -> PageLayout:
    columns = {name: list(range(rows)) for name in PageLayout.dtypes()}
    columns["position"] = columns["display"] = [0] * rows
    return PageLayout.of_columns(columns, [1280, 900], [1280, 3000])


def test_rows_are_found_although_the_parser_builds_another_tree() -> None:
    """Scripts make what HTML cannot say: a paragraph in a paragraph, a link in a link, a block in a table."""
    html = (
        '<body ww-box="0"><p ww-box="1">One<p ww-box="2">Two</p></p>'
        '<a href=x ww-box="3">Link <a href=y ww-box="4">in</a></a>'
        '<table ww-box="5"><div ww-box="6">Fostered</div><tr ww-box="7"><td ww-box="8">Cell</td></tr></table></body>'
    )
    tree = parse(html)
    rows = layout_of(9).rows(tree)
    found = {node.text.strip(): int(rows[node.index]) for node in tree if node.text.strip()}
    expected = {"One": 1, "Two": 2, "in": 4, "Fostered": 6}
    assert {name: found[name] for name in expected} == expected
    cell = next(node for node in tree if node.tag == "td")
    assert rows[cell.index] == 8
    assert rows[0] == -1  # the root, which no browser has
    at = layout_of(9).at(tree)
    assert at.width[cell.index] == 8
    assert (at.width[0], at.covered[0]) == (0, UNKNOWN_COVER)


@pytest.mark.parametrize("written", ["9", "-1", "x", "", "²", "99999999999999999999"])
def test_a_number_that_is_no_row_is_ignored(written: str) -> None:
    tree = parse(f'<body><p ww-box="{written}">Text</p></body>')
    assert (layout_of(9).rows(tree) == -1).all()


def test_a_layout_is_equal_after_packing() -> None:
    layout = layout_of(5)
    read = PageLayout.from_bytes(layout.to_bytes())
    assert all(np.array_equal(getattr(read, name), getattr(layout, name)) for name in PageLayout.dtypes())
    assert (read.viewport, read.page_size) == ((1280, 900), (1280, 3000))


def test_numbers_out_of_range_are_clipped() -> None:
    columns = {name: [0] for name in PageLayout.dtypes()}
    columns |= {"left": [-(10**12)], "font_size": [10**9], "colour": [2**40]}
    layout = PageLayout.of_columns(columns, [1, 1], [1, 1])
    assert (layout.left[0], layout.font_size[0], layout.colour[0]) == (-(2**31), 2**16 - 1, 2**32 - 1)


def test_a_damaged_layout_is_an_error() -> None:
    packed = layout_of(5).to_bytes()
    with pytest.raises(ModelError, match="page layout"):
        PageLayout.from_bytes(packed[:-20])
    with pytest.raises(ValueError, match="different lengths"):
        PageLayout.of_columns({name: [0] * (name == "left") for name in PageLayout.dtypes()}, [1, 1], [1, 1])
