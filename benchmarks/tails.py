"""Words kept behind the end of the true text, without and with `page.tails`, by page models that saw no page of a site.

`python benchmarks/tails.py [SET ...]` prints a row for each file or set with a whole truth: pages, words kept behind
the last true block, true words that only the run without tails keeps, and word F1 of both.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from heldout import SINGLE, all_held_out_pages
from training.labels import block_labels
from training.pages import FOUND, word_f1, words_of

from webwinnow.judge.evidence import evidence_of
from webwinnow.record.cleaner import Cleaner


def tails(data: Path, only: set[str] | None = None, *, method: str = "page") -> list[tuple[str, ...]]:
    """A row for each file or set."""
    cleaner = Cleaner.of(method)
    before = replace(cleaner, settings=replace(cleaner.settings, page=replace(cleaner.settings.page, tails=False)))
    found = defaultdict(list)
    for file, page in all_held_out_pages(data):
        part = f"{SINGLE}, {page.row['page_type']}" if file == SINGLE else file
        if (only and part not in only) or not page.row.get("text"):
            continue
        context, truth = page.context, words_of(page.row["text"])
        blocks, said = context.blocks, evidence_of(context).said
        words = [words_of(blocks.text(int(b))) for b in said]
        true = block_labels(words, truth) >= 0.5
        counts = np.array([len(some) for some in words])
        if not true.any() or counts[true].sum() < FOUND * len(truth):
            continue
        cleaned = [page.cleaned(one) for one in (before, cleaner)]
        kept = [one.verdict.keep_runs[blocks.first_run[said]] for one in cleaned]
        behind = np.arange(len(true)) > np.flatnonzero(true)[-1]
        lost = counts[true & kept[0] & ~kept[1]].sum()
        f1 = [word_f1(" ".join(words_of(one.text)), " ".join(truth))[0] for one in cleaned]
        found[part].append((*(counts[behind & some].sum() for some in kept), lost, *f1))
    rows = []
    for part, values in found.items():
        one, other, lost, *f1 = np.array(values, np.float64).T
        whole = (f"{int(some.sum()):,}" for some in (one, other, lost))
        rows.append((part, str(len(values)), *whole, *(f"{some.mean():.4f}" for some in f1)))
    return rows


if __name__ == "__main__":
    for row in tails(Path(os.environ["WEBWINNOW_DATA"]), set(sys.argv[1:])):
        print(*row, sep=" | ")
