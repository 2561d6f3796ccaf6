"""Which pages the held-out page models of the benchmarks learn from."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from heldout import MORE, NEWS, SINGLE, is_elsewhere


@pytest.mark.parametrize(
    ("source", "site", "learns"),
    [
        (SINGLE, "newegg.com", False),
        (MORE, "newegg.com", False),
        (SINGLE, "other.example", True),
        (MORE, "other.example", True),
        (NEWS, "bbc.co.uk", True),
    ],
)
def test_no_page_of_a_measured_site_is_learned_from_but_news_of_another_fold(source: str, site: str, learns: bool):
    page = SimpleNamespace(source=source, site=site)
    assert is_elsewhere(page, {"newegg.com", "bbc.co.uk"}) == learns
