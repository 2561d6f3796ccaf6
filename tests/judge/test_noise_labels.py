"""Consistency of the hand-labelled regions, checked against their pages where WEBWINNOW_DATA has them."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from xxhash import xxh3_64_hexdigest

from webwinnow.judge.kinds import FAMILIES, KIND_CODE, KINDS
from webwinnow.judge.removedregions import RemovedRegions, removed_regions
from webwinnow.judge.verdict import keep_visible
from webwinnow.page.parsing import parse

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from training.regionlabels import located

LABELS = Path(__file__).parents[2] / "tools/labels/noise-blocks.jsonl"
DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")
ROWS = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
TRAINING = [json.loads(line) for line in LABELS.with_name("noise-training.jsonl").read_text("utf-8").splitlines()]
SPAN = ("node", "first_node", "last_node", "first_run", "last_run")


def test_kinds_have_distinct_names_and_known_families() -> None:
    assert len(KIND_CODE) == len(KINDS)
    assert {kind.family for kind in KINDS} == set(FAMILIES)


def test_every_region_has_a_kind_and_none_is_listed_twice() -> None:
    assert len(ROWS) == 300
    assert len({row["id"] for row in ROWS}) == 300
    assert len({(row["file"], row["page_id"], row["first_run"]) for row in ROWS}) == 300
    assert all(row["kind"] in KIND_CODE for row in ROWS)


def test_many_sites_are_sampled_with_few_regions_of_each() -> None:
    sites = Counter((row["file"], row["site"]) for row in ROWS)
    assert len(sites) >= 30
    assert max(sites.values()) <= 4


def test_consent_banners_and_breadcrumbs_are_there_in_number() -> None:
    kinds = Counter(row["kind"] for row in ROWS)
    assert kinds["consent"] >= 10
    assert kinds["hierarchic-directory"] >= 10


def test_what_is_learned_from_is_of_other_pages_than_what_is_measured() -> None:
    assert len({row["id"] for row in TRAINING}) == len(TRAINING)
    assert all(row["kind"] in KIND_CODE for row in TRAINING)
    measured = {(row["file"], row["page_id"]) for row in ROWS}
    assert not {(row["file"], row["page_id"]) for row in TRAINING} & measured


def test_single_pages_that_are_learned_from_are_of_other_sites() -> None:
    single = ("pages-wcxb", "pages-more")
    assert {row["file"] for row in TRAINING} >= set(single)
    measured = {row["site"] for row in ROWS if row["file"] in single}
    assert not {row["site"] for row in TRAINING if row["file"] in single} & measured


def test_what_is_learned_from_is_not_labelled_twice() -> None:
    spans = Counter((row["file"], row["page_id"], row["first_node"], row["first_run"]) for row in TRAINING)
    assert max(spans.values()) == 1


MENU = '<div class="menu"><a href="/a">One</a> <a href="/b">Two</a></div>'


def cut(page: str, kept: str = "KEPT") -> RemovedRegions:
    tree = parse(page, url="http://mill.example/rye.html")
    keep = np.array([kept in tree.run(r) for r in range(tree.run_count)], np.bool_)
    return removed_regions(tree, replace(keep_visible(tree), keep_runs=keep))


def label(regions: RemovedRegions, r: int) -> dict[str, Any]:
    span = {name: int(getattr(regions, name)[r]) for name in SPAN}
    digest = xxh3_64_hexdigest(regions.texts()[r].encode())[:10]
    return {"id": f"t{r}", "xpath": regions.tree.xpath(span["node"]), "hash": digest, "kind": "content"} | span


def test_a_labelled_region_is_found_whatever_the_cleaner_removes() -> None:
    regions = cut(f"<body>{MENU}<p>KEPT</p>")
    row = label(regions, 0)
    other_cleaner = cut(f"<body>{MENU}<p>KEPT</p>", kept="One")
    assert other_cleaner.texts() != regions.texts()
    assert located(other_cleaner, [row]) == {"t0": tuple(row[name] for name in SPAN)}


def test_a_labelled_region_that_has_moved_is_found_by_its_text() -> None:
    row = label(cut(f"<body>{MENU}<p>KEPT</p>"), 0)
    moved = cut(f"<body><p>KEPT</p><hr>{MENU}")
    assert located(moved, [row]) == {"t0": tuple(label(moved, 0)[name] for name in SPAN)}


def test_a_labelled_region_whose_text_is_gone_is_lost() -> None:
    row = label(cut(f"<body>{MENU}<p>KEPT</p>"), 0)
    assert located(cut("<body><div>Three</div><p>KEPT</p>"), [row]) == {}
    assert located(cut("<p>KEPT"), [row]) == {}


@pytest.mark.skipif(not DATA.is_dir(), reason="WEBWINNOW_DATA names no folder with pages")
def test_the_labelled_regions_still_read_as_they_did() -> None:
    by_file = defaultdict(list)
    for row in [*ROWS, *TRAINING[::10]]:
        by_file[row["file"]].append(row)
    for file, own in by_file.items():
        wanted = [("page_id", "in", [row["page_id"] for row in own])]
        table = pq.read_table(DATA / f"{file}.parquet", columns=["page_id", "url", "html"], filters=wanted)
        pages = {page["page_id"]: page for page in table.to_pylist()}
        for row in own:
            tree = parse(pages[row["page_id"]]["html"], url=pages[row["page_id"]]["url"])
            [text] = RemovedRegions(tree=tree, **{name: np.array([row[name]], np.int32) for name in SPAN}).texts()
            assert xxh3_64_hexdigest(text.encode())[:10] == row["hash"], row["id"]
            assert tree.xpath(row["node"]) == row["xpath"]
