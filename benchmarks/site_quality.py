"""The default cleaner on whole sites: page evidence alone, with site evidence, and by the number of pages learned.

Two folds of news by publisher: no page model has seen a site that it scores. The few constants of `cleaning.combined`
were chosen on these sites.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from heldout import MODELS, NEWS, SHOPS, HeldOutPage, HeldOutSite, held_out_sites
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from training.pages import word_f1, words_of
from training.sites import spellings

from webwinnow.cleaner import Cleaner, CleanPage

CURVE = (1, 2, 5, 10, 20)
PAGE, COMBINED = Cleaner.of("page"), Cleaner.of("combined")


def sites(data: Path) -> list[tuple[str, str]]:
    """Word F1 on news, recall of true values on shops; with a page model that saw other news, and one that saw none."""
    rows = []
    for name in MODELS:
        news = list(held_out_sites(data, NEWS, name))
        alone, both = news_f1(news, PAGE), news_f1(news, COMBINED)
        rows.append((f"sites-news, {name}: page, combined", f"{alone:.4f}, **{both:.4f}** ({both - alone:+.4f})"))
        curve = ", ".join(f"{n}: {news_f1(news, COMBINED, n):.3f}" for n in CURVE)
        rows.append((f"sites-news, {name}: combined by pages learned", f"{curve}, all: {both:.3f}"))
        shops = [
            [shop_scores(site, cleaner) for cleaner in (PAGE, COMBINED)] for site in held_out_sites(data, SHOPS, name)
        ]
        for method, (recall, leak, kept) in zip(("page", "combined"), np.mean(shops, axis=0), strict=True):
            rows.append(
                (
                    f"sites-swde, {name}, {method}: recall, repeated words in the output, words kept",
                    f"**{recall:.4f}**, {leak:.4f}, {kept:.3f}",
                )
            )
    return rows


def news_f1(sites: Sequence[HeldOutSite], cleaner: Cleaner, most: int | None = None) -> float:
    """Word F1, mean over sites; with `most`, pages are learned and cleaned in groups of that size."""
    scores = []
    for site in sites:
        step, found = most or len(site.pages), []
        for k in range(0, len(site.pages), step):
            group = site.pages[k : k + step]
            model = site.learned(cleaner, group)
            found += [word_f1(page.cleaned(cleaner, model).text, page.row["text"])[0] for page in group]
        scores.append(statistics.mean(found))
    return statistics.mean(scores)


def shop_scores(site: HeldOutSite, cleaner: Cleaner) -> tuple[float, float, float]:
    """Recall of true values, share of the output's words in texts that half of the pages have, share of words kept."""
    table, rows = site.learned(COMBINED).block_table, []
    for page, clean in site.cleaned(cleaner):
        evidence, mask = page.context.evidence, kept_blocks(page, clean)
        words, spelled = evidence.words, [any(mask[list(s)].all() for s in found) for found in values_of(page) if found]
        often = 2 * table.pages_that_say(evidence.text) >= len(site.pages)
        rows.append(
            (
                float(np.mean(spelled)) if spelled else 1.0,
                float(words[mask & often].sum() / max(words[mask].sum(), 1)),
                float(words[mask].sum() / max(words.sum(), 1)),
            )
        )
    recall, leak, kept = np.mean(rows, axis=0)
    return float(recall), float(leak), float(kept)


def kept_blocks(page: HeldOutPage, clean: CleanPage) -> NDArray[np.bool_]:
    """Which of the blocks with text are kept."""
    blocks, verdict = page.context.blocks, clean.verdict
    runs = verdict.keep_runs & verdict.keep[page.context.tree.run_owner]
    kept: NDArray[np.bool_] = np.bincount(blocks.of_run(), runs, len(blocks))[page.context.evidence.said] > 0
    return kept


def values_of(page: HeldOutPage) -> list[list[tuple[int, ...]]]:
    """For each true value of a page, its spellings: consecutive blocks whose words contain it."""
    blocks = page.context.blocks
    said = [words_of(blocks.text(b)) for b in page.context.evidence.said.tolist()]
    values = [value for found in json.loads(page.row["attributes"] or "{}").values() for value in found]
    return spellings(said, [words_of(value) for value in values if words_of(value)])


if __name__ == "__main__":
    print(json.dumps(sites(Path(os.environ["WEBWINNOW_DATA"])), indent=1))
