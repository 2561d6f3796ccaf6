"""Labels of training pages that have true segments instead of a whole true text."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rapidfuzz", reason="the dependency group `train` is not installed")
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from training.labels import segment_labels

UNKNOWN = pytest.approx(float("nan"), nan_ok=True)


def test_blocks_in_segments_are_labelled_and_others_are_unknown():
    blocks = ["home", "twolargeeggs", "onecupofmilk", "mixandbakeforhalfanhour", "allrightsreserved"]
    found = segment_labels(blocks, ["twolargeeggs", "bakeforhalfanhour"], ["allrightsreserved"])
    assert found.tolist() == [UNKNOWN, 1.0, UNKNOWN, 1.0, 0.0]


def test_segment_over_several_blocks_labels_each():
    assert segment_labels(["onceupon", "atime", "there"], ["onceuponatime"], []).tolist() == [1.0, 1.0, UNKNOWN]


def test_short_segment_inside_a_longer_block_counts_only_if_the_page_has_it_once():
    assert segment_labels(["price200today", "xyz"], ["200"], []).tolist() == [1.0, UNKNOWN]
    assert segment_labels(["price200today", "200"], ["200"], []).tolist() == [UNKNOWN, 1.0]


def test_segment_in_many_places_labels_none():
    assert np.isnan(segment_labels(["applepie"] * 4, ["applepie"], [])).all()


def test_wanted_segments_win_over_unwanted_ones():
    assert segment_labels(["sharethisstory"], ["sharethisstory"], ["share"]).tolist() == [1.0]
