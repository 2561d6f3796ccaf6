"""The tree-construction tests of html5lib are those of the HTML standard (tests/html5lib; MIT, see LICENSE there)."""

from __future__ import annotations

from pathlib import Path

import pytest
from treelines import HTML5LIB, built, cases, expected

COPIED = "a browser copies the chosen option into <selectedcontent>, which would count its words twice"
DEPARTURES = {
    "<select><button><selectedcontent></button><option>X": COPIED,
    "<select><button><selectedcontent></button><option>X<option>Y": COPIED,
    "<select><button><selectedcontent></button><option>X<option selected>Y": COPIED,
    "<select><button><selectedcontent></button><option>x<i>i<b>ib</i>b": COPIED,
}
"""Pages whose trees are not the standard's, with the reason; at most five."""
CASES = 1_592
"""Whole documents without scripts; of the others, 192 are fragments and 8 need scripts."""


@pytest.mark.parametrize("path", HTML5LIB, ids=lambda path: path.stem)
def test_trees_are_those_of_the_standard(path: Path):
    wrong = {page for page, document in cases(path) if built(page.encode()) != expected(document)}
    assert wrong == {page for page, _ in cases(path)} & DEPARTURES.keys()


def test_all_tests_are_run_and_few_depart():
    assert sum(1 for path in HTML5LIB for _ in cases(path)) == CASES
    assert len(DEPARTURES) <= 5
