"""Pages labelled by reading: their positions are checked against the pages before weights learn from them."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("rapidfuzz", reason="the dependency group `train` is not installed")
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from training.pages import load
from training.readpages import LABELS, labelled_rows, read_rows, span

from webwinnow.judge.reading import GENRES
from webwinnow.page.blocks import cut
from webwinnow.page.parsing import parse

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")
PAGE = "<nav>Home</nav><h1>Mill</h1><p>It grinds <b>flour</b>.</p><p>Open daily.</p><footer>Imprint</footer>"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """One page, of which heading and paragraphs were labelled, and one that nobody has read."""
    spans = [span(cut(parse(PAGE.encode())), 1, 3)]
    rows = [
        {"file": "sites", "page_id": "mill", "genre": "service", "content": spans},
        {"file": "sites", "page_id": "unread"},
    ]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def store(folder: Path, html: str, page_id: str = "mill") -> None:
    row = {"page_id": page_id, "url": "http://mill.test/", "site": "mill", "html": html.encode()}
    pq.write_table(pa.Table.from_pylist([row]), folder / "sites.parquet")


def test_labelled_page_has_its_content_blocks_genre_and_text(labels: Path, tmp_path: Path):
    store(tmp_path, PAGE)
    [row], failed = read_rows(tmp_path, labels)
    assert row["content"].tolist() == [False, True, True, True, False]
    assert (row["page_type"], row["text"].split(), failed) == (
        "service",
        "Mill It grinds flour. Open daily.".split(),
        [],
    )


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(PAGE.replace("daily", "never"), id="the text of a labelled block differs"),
        pytest.param(PAGE.replace("<nav>", "<nav>Skip</nav><nav>"), id="a block more comes before"),
        pytest.param(PAGE.replace("<b>", "<br>").replace("</b>", ""), id="a labelled block is cut in two"),
        pytest.param(PAGE.replace("<b>flour</b>", "flour"), id="equal text in other runs"),
        pytest.param("<p>Mill", id="the page is shorter"),
    ],
)
def test_page_whose_positions_do_not_match_is_reported_and_left_out(labels: Path, tmp_path: Path, changed: str):
    store(tmp_path, changed)
    assert read_rows(tmp_path, labels) == ([], ["sites: mill"])


def test_training_pages_have_the_labels_by_reading_instead_of_others(
    labels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    store(tmp_path, PAGE)
    single = [
        {
            "page_id": name,
            "url": f"http://{name}.test/",
            "html": PAGE.encode(),
            "page_type": "listing",
            "text": "Imprint",
        }
        for name in ("mill", "other")
    ]
    pq.write_table(pa.Table.from_pylist(single), tmp_path / "pages-wcxb.parquet")
    other, mill = load(tmp_path, news=False, more=False, by_reading=labels)
    assert (other.page_id, other.source, mill.page_id, mill.source) == ("other", "pages-wcxb", "mill", "read")
    assert mill.label.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert (mill.genre, mill.site, mill.f1(mill.label > 0)[0]) == (GENRES.index("service"), "mill.test", 1.0)
    assert capsys.readouterr().err == ""
    store(tmp_path, PAGE.replace("daily", "never"))
    assert [page.source for page in load(tmp_path, news=False, more=False, by_reading=labels)] == ["pages-wcxb"] * 2
    assert "1 labels by reading do not match their pages: sites: mill" in capsys.readouterr().err


def test_page_without_content_is_no_training_page(tmp_path: Path):
    row = {"file": "sites", "page_id": "mill", "genre": "service", "content": []}
    (tmp_path / "pages.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    store(tmp_path, PAGE)
    single = {"page_id": "x", "url": "http://x.test/", "html": PAGE.encode(), "page_type": "listing", "text": "Imprint"}
    pq.write_table(pa.Table.from_pylist([single]), tmp_path / "pages-wcxb.parquet")
    pages = load(tmp_path, news=False, more=False, by_reading=tmp_path / "pages.jsonl")
    assert [page.page_id for page in pages] == ["x"]


def test_missing_page_is_reported(labels: Path, tmp_path: Path):
    store(tmp_path, PAGE, page_id="other")
    assert read_rows(tmp_path, labels) == ([], ["sites: mill"])


def test_shipped_labels_have_a_known_genre_and_the_first_sample_three_pages_per_site():
    rows = labelled_rows()
    assert len(rows) >= 130
    assert {row["genre"] for row in rows} <= set(GENRES)
    few = Counter((row["file"], row["site"]) for row in rows if row["drawn"] in ("unsure", "random"))
    assert max(few.values()) <= 3
    assert len({(row["file"], row["page_id"]) for row in rows}) == len(rows)
    assert all(set(row) == {"file", "page_id", "site", "drawn", "predicted", "genre", "content"} for row in rows)


@pytest.mark.skipif(not DATA.is_dir(), reason="WEBWINNOW_DATA names no folder with pages")
def test_shipped_labels_still_match_their_pages_none_of_which_is_for_measuring_only():
    rows, failed = read_rows(DATA, LABELS)
    assert not failed
    assert len(rows) == len(labelled_rows())
    more = [row["page_id"] for row in rows if row["file"] == "pages-more"]
    used = pq.read_table(DATA / "pages-more.parquet", columns=["page_id", "use"], filters=[("page_id", "in", more)])
    assert set(used["use"].to_pylist()) == {"train"}
    assert 0.05 < np.mean([row["content"].mean() for row in rows]) < 0.95
