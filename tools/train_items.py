"""Train the trees of method `items`: `python tools/train_items.py [--out FILE]`.

Reads pages-wcxb under WEBWINNOW_DATA. The links and images are not labelled one by one: an item is noisy if it is
outside the page's true main text. A link is labelled by the blocks of its own words; an image, and a link without
words, by the words of its nearest ancestor that has some. Cross-validation is by registered domain.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier
from training.labels import block_labels

from webwinnow.blocks import cut
from webwinnow.cleaning.itemfeatures import IMAGE_NUMBERS, ITEM_KINDS, LINK_NUMBERS, Items, items_of
from webwinnow.cleaning.items import SHIPPED, ItemModel, ItemTree
from webwinnow.pagetree import PageTree
from webwinnow.parsing import parse
from webwinnow.records import PageRecord
from webwinnow.urls import SiteKey

SOURCE = "pages-wcxb"
NEAR_WORDS = 10
"""Least number of words of an ancestor that labels an image."""
PHRASE_SITES = 20
"""Least number of sites that have a phrase that a tree may test: one site's habit does not generalise."""
MOST_PHRASES = 2_000
FOLDS = 5
TREE: dict[str, Any] = {"criterion": "entropy", "max_leaf_nodes": 24, "min_weight_fraction_leaf": 0.005}
"""Information gain, as in C4.5; depth limited so that the trees can be read."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LabelledItems:
    """The items of one kind of a page, which of them are noisy, and the page's site."""

    site: str
    items: Items
    noisy: NDArray[np.bool_]


def words_of(text: str) -> list[str]:
    """The words of a text, as compared with the truth."""
    return _WORD.findall((text or "").lower())


def noisy_nodes(tree: PageTree, truth: str) -> NDArray[np.bool_]:
    """For each node, whether an item at it is noisy."""
    blocks = cut(tree)
    said = [words_of(text) for text in blocks.texts()]
    content = block_labels(said, words_of(truth))
    size = np.array([len(block) for block in said], np.float64)
    runs = np.diff(blocks.first_run)
    of_run = blocks.of_run()
    share = np.repeat(size / np.maximum(runs, 1), runs)  # a block's words, distributed over its runs
    total = np.concatenate(([0.0], np.cumsum(share)))
    good = np.concatenate(([0.0], np.cumsum(share * content[of_run])))
    first = np.searchsorted(tree.run_start[:-1], tree.text_start)
    last = np.searchsorted(tree.run_start[:-1], tree.text_end)
    inside, kept = total[last] - total[first], good[last] - good[first]
    around = np.arange(len(tree))
    for i in range(1, len(tree)):  # parents come before children
        if inside[i] < (NEAR_WORDS if tree.tag_name(i) != "a" else 1e-9):
            around[i] = around[tree.parent[i]]
    noisy: NDArray[np.bool_] = kept[around] < 0.5 * inside[around]
    return noisy


def load(data: Path) -> dict[str, list[LabelledItems]]:
    """Return the items of all pages, by kind."""
    found: dict[str, list[LabelledItems]] = {kind: [] for kind in ITEM_KINDS}
    for row in pq.read_table(data / f"{SOURCE}.parquet", columns=["url", "html", "text"]).to_pylist():
        tree = parse(row["html"], url=row["url"] or "")
        if not words_of(row["text"]):
            continue
        noisy = noisy_nodes(tree, row["text"])
        site = SiteKey(by="domain").of(PageRecord(url=tree.url, body=b""))
        for kind in ITEM_KINDS:
            items = items_of(tree, kind)
            if len(items.node):
                found[kind].append(LabelledItems(site, items, noisy[items.node]))
    return found


def fit(pages: list[LabelledItems], kind: str) -> ItemTree:
    """Fit one tree; pages have equal weight, whatever their number of items."""
    names = (*(IMAGE_NUMBERS if kind == "image" else LINK_NUMBERS), *_phrases(pages))
    columns = sparse.vstack([sparse.csr_matrix(page.items.columns(names, kind)) for page in pages]).tocsr()
    noisy = np.concatenate([page.noisy for page in pages])
    weight = np.concatenate([np.full(len(page.noisy), 1 / len(page.noisy)) for page in pages])
    learned = DecisionTreeClassifier(random_state=0, **TREE).fit(columns, noisy, sample_weight=weight).tree_
    used = sorted({int(trait) for trait in learned.feature if trait >= 0})
    place = {trait: at for at, trait in enumerate(used)}
    return ItemTree(
        kind=kind,
        names=tuple(names[trait] for trait in used),
        trait=np.array([place.get(int(trait), -1) for trait in learned.feature], np.int16),
        border=learned.threshold.astype(np.float32),
        low=learned.children_left.astype(np.int32),
        high=learned.children_right.astype(np.int32),
        noisy=(learned.value[:, 0, 1] / learned.value[:, 0].sum(axis=1)).round(4).astype(np.float32),
        items=learned.n_node_samples.astype(np.int32),
    )


def _phrases(pages: list[LabelledItems]) -> list[str]:
    """The phrases that occur on most sites."""
    by_site: dict[str, set[str]] = {}
    for page in pages:
        by_site.setdefault(page.site, set()).update(*page.items.phrases)
    sites = Counter(phrase for phrases in by_site.values() for phrase in phrases)
    often = [(count, phrase) for phrase, count in sites.items() if count >= PHRASE_SITES]
    return sorted(phrase for _, phrase in sorted(often, key=lambda entry: (-entry[0], entry[1]))[:MOST_PHRASES])


def judged(tree: ItemTree, pages: list[LabelledItems]) -> NDArray[np.float64]:
    """True positives, false positives, false negatives and true negatives; each page has weight 1."""
    counts = np.zeros(4)
    for page in pages:
        called = tree.noisy_share(page.items) > 0.5
        for k, (said, true) in enumerate(((True, True), (True, False), (False, True), (False, False))):
            counts[k] += ((called == said) & (page.noisy == true)).mean()
    return counts


def validated(pages: list[LabelledItems], kind: str) -> dict[str, float]:
    """Cross-validate trees on sites that they have not seen."""
    sites = sorted({page.site for page in pages})
    fold = dict(zip(np.random.default_rng(0).permutation(sites).tolist(), range(len(sites)), strict=True))
    counts = np.zeros(4)
    for k in range(FOLDS):
        learned = fit([page for page in pages if fold[page.site] % FOLDS != k], kind)
        counts += judged(learned, [page for page in pages if fold[page.site] % FOLDS == k])
    hit, false, missed, other = counts.tolist()
    return {
        "accuracy": round((hit + other) / float(counts.sum()), 3),
        "always noisy": round((hit + missed) / float(counts.sum()), 3),
        "precision": round(hit / (hit + false), 3),
        "recall": round(hit / (hit + missed), 3),
    }


def main() -> None:
    """Load, cross-validate, fit, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=SHIPPED, help="output file")
    chosen = options.parse_args()
    data = Path(os.environ.get("WEBWINNOW_DATA", ""))
    if not (data / f"{SOURCE}.parquet").is_file():
        sys.exit(f"train: set WEBWINNOW_DATA to the folder with {SOURCE}.parquet")
    about: dict[str, Any] = {"source": SOURCE, "labels": "inside or outside of the page's true main text"}
    trees = {}
    for kind, pages in load(data).items():
        scores = validated(pages, kind)
        items = sum(len(page.noisy) for page in pages)
        about[kind] = {"pages": len(pages), "items": items, "unseen sites": scores}
        print(f"{kind}: {items:,} of {len(pages):,} pages; on sites not seen {scores}", flush=True)
        trees[kind] = fit(pages, kind)
    chosen.out.write_bytes(ItemModel(trees=trees, about=about).to_bytes())
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
