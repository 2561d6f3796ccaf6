"""Repeated records with their fields, and lists of siblings that are no ul or ol."""

from __future__ import annotations

import plain_structures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.page.blocks import cut
from webwinnow.page.parsing import parse
from webwinnow.page.structures import Structures


def records_of(html: str) -> list[tuple[str, str]]:
    """The text of each block in a record, and where it is."""
    tree = parse(f"<body>{html}</body>".encode(), "http://a.example/")
    found, blocks = Structures.of(tree), cut(tree)
    owners = zip(blocks.texts(), blocks.owner.tolist(), strict=True)
    return [(text, found.says(node)) for text, node in owners if text and found.record_of[node] >= 0]


CARDS = "".join(
    f"<div class=card><h3>Lamp {k}</h3><p class=price>${k}</p>{'<p class=old>was $9</p>' if k == 2 else ''}</div>"
    for k in (1, 2, 3)
)
ROWS = CARDS.replace("div class=card", "tr><td").replace("</div", "</td></tr")


def test_siblings_of_several_blocks_are_records_whose_fields_align_by_style() -> None:
    assert records_of(f"<h2>Lamps</h2>{CARDS}") == [
        ("Lamp 1", "record 1 of 3, field 1"),
        ("$1", "record 1 of 3, field 2"),
        ("Lamp 2", "record 2 of 3, field 1"),
        ("$2", "record 2 of 3, field 2"),
        ("was $9", "record 2 of 3, field 3"),
        ("Lamp 3", "record 3 of 3, field 1"),
        ("$3", "record 3 of 3, field 2"),
    ]


@pytest.mark.parametrize(
    "html",
    [
        CARDS.replace("</div><div class=card><h3>Lamp 3", "</div><hr><br><p> </p><div class=card><h3>Lamp 3"),
        "<ul>" + CARDS.replace("div class=card", "li class=x").replace("</div", "</li") + "</ul>",
        f"<table>{ROWS}</table>",
        f"<table>{ROWS.replace('<tr', '<tr class=b', 2)}</table>",
    ],
    ids=["separators", "items", "rows of a layout table", "striped rows"],
)
def test_separators_do_not_split_records_and_items_and_rows_of_a_layout_are_some(html: str) -> None:
    assert records_of(html)[-1] == ("$3", "record 3 of 3, field 2")


@pytest.mark.parametrize(
    "html",
    [
        CARDS.replace("<div class=card><h3>Lamp 3", "<div class=other><h3>Lamp 3"),
        CARDS.replace("Lamp", "word " * 100),
        CARDS.replace("<div class=card>", "<blockquote>").replace("</div>", "</blockquote>"),
        "<table><tr><td>a<td>b<tr><td>c<td>d<tr><td>e<td>f</table>",
        "<p>one</p><p>two</p><p>three</p>",
    ],
    ids=["two of a style", "long texts", "quotations", "a data table", "paragraphs"],
)
def test_what_is_no_record(html: str) -> None:
    assert not records_of(html)


@pytest.mark.parametrize(("several", "are_records"), [(2, True), (1, False)])
def test_half_of_the_records_have_several_blocks(several: int, are_records: bool) -> None:
    html = "".join(f"<div class=x><p>a {k}</p>{'<p>b</p>' if k < several else ''}</div>" for k in range(4))
    assert bool(records_of(html)) == are_records


def test_the_innermost_of_nested_groups_is_the_record() -> None:
    rows = "".join(f"<div class=row><h2>Row {r}</h2>{CARDS}</div>" for r in range(3))
    found = dict(records_of(rows))
    assert found["Row 2"] == "record 3 of 3, field 1"
    assert found["Lamp 3"] == "record 3 of 3, field 1"


def test_siblings_of_one_short_block_are_a_list() -> None:
    html = "".join(f"<div class=ingredient><b>{k}</b> eggs</div>" for k in range(4)) + "<div>Mix them.</div>"
    tree = parse(f"<body>{html}</body>".encode(), "http://a.example/")
    found = Structures.of(tree)
    assert found.lists[1:].T.tolist() == [[4, 20, 0]]
    assert found.says(int(found.lists[0, 0]) + 1) == "list 1, of 4 items"
    long = parse(f"<body>{html.replace('eggs', 'eggs ' * 40)}</body>".encode(), "http://a.example/")
    assert not Structures.of(long).lists.shape[1]


@st.composite
def nested(draw: st.DrawFn, depth: int = 2) -> str:
    names = ["div", "div class=a", "p", "li", "ul", "section", "span", "x-a", "x-b", "tr", "td", "br", "h2"]
    parts = []
    for _ in range(draw(st.integers(0, 5))):
        name = draw(st.sampled_from(names))
        times = draw(st.sampled_from([1, 1, 3, 4]))
        inside = draw(nested(depth - 1)) if depth else draw(st.sampled_from(["", " ", "x", "some text"]))
        parts.append(f"<{name}>{inside}</{name.split()[0]}>" * times + draw(st.sampled_from(["", " ", "y"])))
    return "".join(parts)


@given(nested())
@settings(max_examples=80, deadline=None)
def test_records_fields_and_items_are_those_of_the_plain_version(html: str) -> None:
    tree = parse(f"<body>{html}</body>".encode(), "http://a.example/")
    plain_structures.check(tree, Structures.of(tree))
