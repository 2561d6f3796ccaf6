"""Plots as inline SVG: round numbers on the axes, labels that do not overlap, everything escaped."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from webwinnow.inspect.charts import Axis, Series, line_chart, point_chart

UP = Axis("accuracy", 0, 1, percent=True)


def drawing(figure: str) -> ElementTree.Element:
    found = re.search(r"<svg.*</svg>", figure, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found[0])


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (UP, ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (Axis("sites", 5, 12, whole=True), ["6", "8", "10", "12"]),
        (Axis("pass", 1, 3, whole=True), ["1", "2", "3"]),
        (Axis("nats", -2.36, -1.93), ["-2.3", "-2.2", "-2.1", "-2"]),
        (Axis("one", 4, 4, whole=True), ["4"]),
    ],
)
def test_axes_have_round_numbers(axis, labels):
    assert [axis.label(value) for value in axis.ticks()] == labels


def test_names_beside_the_ends_of_lines_stand_apart():
    series = [Series(f"method {k}", [(1, 0.5), (2, 0.5)]) for k in range(6)]
    texts = [
        text
        for text in drawing(line_chart("t", series, Axis("x", 1, 2), UP)).iter("text")
        if text.get("class") == "name"
    ]
    heights = sorted(float(text.get("y", "0")) for text in texts)
    assert all(after - before >= 12.9 for before, after in pairwise(heights))


def test_names_at_the_bottom_stay_inside():
    series = [Series(f"method {k}", [(1, 0.0)]) for k in range(6)]
    texts = [
        text
        for text in drawing(line_chart("t", series, Axis("x", 1, 2), UP)).iter("text")
        if text.get("class") == "name"
    ]
    assert all(0 < float(text.get("y", "0")) < 250 for text in texts)
    assert len({text.get("y") for text in texts}) == 6


def test_names_and_titles_are_escaped_and_points_numbered():
    hostile = '<script>"&'
    for figure in (
        line_chart(hostile, [Series(hostile, [(1, 0.1)]), Series("empty", [])], Axis(hostile, 1, 2), UP),
        point_chart(hostile, [(hostile, 0.5, 0.5, 1), ("b", 2.0, 0.5, 9)], Axis(hostile, 0, 1), UP),
    ):
        assert "<script" not in figure
        drawing(figure)
    assert "<b>2</b> b" in figure
