"""The compiled `flowing_text` against its slow version `text_of_passages`: the same text for any masks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from plain_text import text_of_passages

from webwinnow import parse
from webwinnow.page.structures import data_tables
from webwinnow.page.tree import PageTree
from webwinnow.record._text import flowing_text
from webwinnow.record.flow import to_text

TAGS = (
    "div p span b br hr ul ol menu li dl dt dd blockquote pre textarea code h2 table caption tr td th tbody a math "
    "select option x-y img figure noscript details thead tfoot"
).split()
TEXTS = st.sampled_from(
    ["a", "two words", " ", "\n", " b", "c ", "é", "\u4e2d\u6587", "\x00", "\u2028", "\xa0", "\t\n"]
)
ATTRIBUTES = st.sampled_from(
    """|colspan="2"|rowspan="3"|rowspan="0"|colspan="900" rowspan="900"|start="7"|start="x"|hidden|reversed|value="2"
    |type="a" start="25"|type="I" reversed|type="i" start="3998"|type="A"|type="aa" """.split("|")
).map(lambda found: " " + found.strip())


@st.composite
def markup(draw: st.DrawFn) -> str:
    """Random opening and closing tags with text between them."""
    parts = draw(
        st.lists(
            st.one_of(
                TEXTS,
                st.builds(lambda tag, more: f"<{tag}{more}>", st.sampled_from(TAGS), ATTRIBUTES),
                st.builds(lambda tag: f"</{tag}>", st.sampled_from(TAGS)),
                st.sampled_from(
                    [
                        "<table><tr><td>",
                        "</td><td>",
                        "</td></tr><tr><td>",
                        "</td></tr></table>",
                        "<ol><li>",
                        "<tr><th>a",
                    ]
                ),
            ),
            max_size=40,
        )
    )
    return "".join(parts)


def masks(tree: PageTree, seed: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    return chance.random(len(tree)) < share, chance.random(tree.run_count) < share


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markup(), st.integers(0, 9), st.sampled_from([0.3, 0.7, 1.0]))
@example("<table><tr><td>a<td><menu><math><td>x</td></math>b</menu>c</table>d", 0, 1.0)
@example("<pre>\n\n a\r\n<b>b</b><table><tr><td>c<td>d</table> \n</pre>e", 0, 1.0)
@example("<ol start=9><li>a<br>b<ol><li><p>c<p>d<blockquote>e<br>f</ol><li>g</ol>", 0, 1.0)
@example("<table><caption>x</caption><tr><td rowspan=2>a<td>b<tr><td>c<caption>y</caption></table>", 0, 1.0)
@example("<table><tr><td>t<tr><th>a<th>b<tr><td>c<td>d</table>", 0, 1.0)
@example("<table><caption><math><td>x</td></math>y<math><td>z</td></math></caption><tr><td>a<td>b</table>", 0, 1.0)
def test_the_twins_write_the_same_text(page: str, seed: int, share: float):
    tree = parse(page)
    keep, runs = masks(tree, seed, share)
    assert to_text(tree, keep, runs) == text_of_passages(tree, keep, runs)
    assert to_text(tree, keep) == text_of_passages(tree, keep)


@pytest.mark.parametrize("column", ["parent", "end", "run_owner", "run_before", "run_start", "attr_start"])
def test_a_column_that_points_outside_is_refused(column: str):
    tree = parse('<p class="x">a</p><p>b</p>')
    columns = {name: getattr(tree, name).copy() for name in ("parent", "end", "run_owner", "run_before", "run_start")}
    columns["attr_start"] = tree.attr_start.copy()
    columns[column][-1] = 1_000_000
    with pytest.raises(ValueError, match=r"is outside|has the parent"):
        flowing_text(
            tree.text,
            tree.text_start,
            tree.text_end,
            columns["run_start"],
            columns["run_owner"],
            columns["run_before"],
            tree.tag,
            columns["parent"],
            columns["end"],
            tree.flags,
            np.ones(len(tree), np.bool_),
            np.ones(tree.run_count, np.bool_),
            tree.attr_text,
            tree.attr_node,
            tree.attr_name,
            columns["attr_start"],
            data_tables(tree),
            np.zeros(10, np.uint16),
            (1, 1, 1),
            (0, 1, 2, 3),
            True,
        )
