"""Train the trees of method `items`: `python tools/train_items.py [--out FILE] [--table]`.

Reads the labels of tools/labels/items.jsonl, and the pages that they are about under WEBWINNOW_DATA. `--table` prints
the tables of docs/rivals.md instead: scores on sites left out, with published features only, on randomly sampled items
only, and by the threshold `items.noisy`. Trees of your own labels: `webwinnow learn-items`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent / "labels"))
from draw_items import LABELS as FILE
from draw_items import url_hash

from webwinnow.cli.itemlabels import ItemLabel, of_page
from webwinnow.methods.itemfeatures import LINK_NUMBERS, OWN_NUMBERS, OWN_PLACE, Items, items_of
from webwinnow.methods.itemtraining import REPEATS, ItemScores, LabelledItems, TreeSettings, left_out_shares, train
from webwinnow.methods.method_items import LABELS, NOISY, SHIPPED
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree


def labelled_pages(data: Path) -> Iterator[tuple[PageTree, list[dict[str, Any]]]]:
    """The pages that have labels, and their labels."""
    rows: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in map(json.loads, FILE.open(encoding="utf-8")):
        rows[row["file"]][row["page_id"]].append(row)
    for file, pages in rows.items():
        table = pq.read_table(data / f"{file}.parquet", columns=["page_id", "url", "html"])
        for k, page_id in enumerate(table["page_id"].to_pylist()):
            if page_id in pages:
                yield parse(table["html"][k].as_py(), url=table["url"][k].as_py()), pages[page_id]


def label_of(tree: PageTree, row: dict[str, Any]) -> ItemLabel:
    """The label of a row, after a check that its item is where it was."""
    found = url_hash(items_of(tree, row["kind"], ()).urls[row["at"]])
    if found != row["hash"]:
        sys.exit(f"train: {row} is another item now; the parser or the page has changed")
    return ItemLabel(row["kind"], row["at"], row["label"] == LABELS[row["kind"]][1])


def published(page: LabelledItems) -> LabelledItems:
    """The items without our own features."""
    numbers = page.items.numbers.copy()
    if numbers.shape[1] == len(LINK_NUMBERS):
        numbers[:, [LINK_NUMBERS.index(name) for name in OWN_NUMBERS]] = 0
    phrases = [frozenset(one for one in own if not one.startswith(f"{OWN_PLACE}:")) for own in page.items.phrases]
    return LabelledItems(page.site, Items(page.items.node, page.items.urls, numbers, phrases), page.noisy)


def table(labelled: dict[str, list[LabelledItems]], drawn: dict[str, list[str]]) -> Iterator[str]:
    """Markdown rows of scores on sites left out."""
    settings = TreeSettings()
    for kind, pages in labelled.items():
        truth = np.tile(np.concatenate([page.noisy for page in pages]), (REPEATS, 1))
        shares = left_out_shares(pages, kind, settings)
        other = left_out_shares(list(map(published, pages)), kind, settings)
        sampled = np.array(drawn[kind]) == "random"
        yield row(f"{kind}s", shares > NOISY, truth)
        yield row(f"{kind}s, published features only", other > NOISY, truth)
        yield row(f"{kind}s sampled at random", (shares > NOISY)[:, sampled], truth[:, sampled])
        for least in (0.7, 0.9):
            yield row(f"{kind}s, `items.noisy={least}`", shares > least, truth)


def row(name: str, found: NDArray[np.bool_], truth: NDArray[np.bool_]) -> str:
    """One row: the scores, and the share of items kept that are not noisy."""
    scores = ItemScores.of(found.ravel(), truth.ravel())
    kept = float((~found & ~truth).sum() / (~truth).sum())
    values = (scores.accuracy, scores.majority, scores.precision, scores.recall, scores.f, kept)
    return f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |"


def main() -> None:
    """Load, cross-validate, fit, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=SHIPPED, help="output file")
    options.add_argument("--table", action="store_true", help="print tables of scores, train nothing")
    chosen = options.parse_args()
    data = Path(os.environ.get("WEBWINNOW_DATA", ""))
    if not (data / "pages-wcxb.parquet").is_file():
        sys.exit("train: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet")
    labelled: dict[str, list[LabelledItems]] = defaultdict(list)
    drawn: dict[str, list[str]] = defaultdict(list)
    for tree, rows in labelled_pages(data):
        for kind, items in of_page(tree, [label_of(tree, row) for row in rows]):
            labelled[kind].append(items)
            drawn[kind] += [row["drawn"] for row in sorted(rows, key=lambda row: row["at"]) if row["kind"] == kind]
    if chosen.table:
        print("\n".join(table(labelled, drawn)))
        return
    model = train(labelled, TreeSettings(), FILE.name)
    for kind in model.trees:
        print(model.summary(kind))
    chosen.out.write_bytes(model.to_bytes())
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
