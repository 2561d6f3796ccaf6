"""Whole sites, cleaned by `page` and by `combined`: what site evidence changes, by the kind of site and its pages.

No page model has seen a site that it scores. `python benchmarks/site_quality.py [news|shops|more]...` measures a part.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from heldout import MODELS, MORE, NEWS, SHOPS, SINGLE, HeldOutPage, HeldOutSite, grouped_sites, held_out_sites
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from training.pages import words_of
from training.sites import spellings

from webwinnow.judge.evidence import evidence_of
from webwinnow.record.cleaner import Cleaner, CleanPage

COLUMNS = ("what", "page", "combined")
GROUPS, DRAWS = (2, 3, 5, 10), 3
"""Sites are also cut into random groups of so many pages, each learned and cleaned alone, so many times."""
PAGE, COMBINED = Cleaner.of("page"), Cleaner.of("combined")
METHODS = (PAGE, COMBINED)
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_PLAIN = re.compile(r"[\W_]+")
Row = tuple[str, ...]


def sites(data: Path) -> list[Row]:
    """All measures: `page` next to `combined`."""
    return [*news(data), *shops(data), *more(data)]


def news(data: Path) -> Iterator[Row]:
    """Word F1 on sites-news with publishers left out, mean over sites; on whole sites and on groups of few pages."""
    for name in MODELS:
        found = list(held_out_sites(data, NEWS, name))
        for most in (None, *GROUPS):
            pages = "all pages" if most is None else f"groups of {most}"
            yield _shown(f"sites-news, {name}, {pages}: word F1", *([news_f1(found, way, most)] for way in METHODS))


def shops(data: Path) -> Iterator[Row]:
    """Recall of true values on sites-swde, repeated words in the output and words kept, mean over sites."""
    for name in MODELS:
        scores = [[shop_scores(site, way) for way in METHODS] for site in held_out_sites(data, SHOPS, name)]
        yield _shown(f"sites-swde, {name}: recall, repeated words in the output, words kept", *np.mean(scores, axis=0))


def more(data: Path) -> Iterator[Row]:
    """The sites of two pages or more among single pages, mean over pages of a type or set.

    Word F1 where the true text is known; otherwise the share of wanted and unwanted segments that are right.
    """
    for source in (SINGLE, MORE):
        pages: dict[tuple[str, bool], list[tuple[float, float]]] = defaultdict(list)
        for site in grouped_sites(data, source):
            cleaned = zip(site.pages, *([clean for _, clean in site.cleaned(way)] for way in METHODS), strict=True)
            for page, *both in cleaned:
                name = page.row["set"] if source == MORE else page.row["page_type"]
                if page.row["text"]:
                    alone, combined = (word_f1(clean.text, page.row["text"]) for clean in both)
                    pages[name, True].append((alone, combined))
                elif segments := segments_of(page):
                    alone, combined = (right_segments(clean.text, segments) for clean in both)
                    pages[name, False].append((alone, combined))
        if source == SINGLE:
            pages["all", True] = [both for found in pages.values() for both in found]
        for (name, is_f1), found in sorted(pages.items()):
            measure = "word F1" if is_f1 else "segments right"
            yield _shown(f"{source}, {name}, {len(found)} pages: {measure}", *np.mean(found, axis=0).reshape(2, 1))


def _shown(what: str, page: Iterable[float], combined: Iterable[float]) -> Row:
    alone, both = (", ".join(f"{value:.4f}" for value in values) for values in (page, combined))
    return what, alone, f"**{both}**"


def word_f1(text: str, truth: str) -> float:
    """Word F1; a CJK character counts as a word."""
    found, wanted = (Counter(_WORD.findall((some or "").lower())) for some in (text, truth))
    return 2 * (found & wanted).total() / max(found.total() + wanted.total(), 1)


def segments_of(page: HeldOutPage) -> list[tuple[str, bool]]:
    """Segments of a page's text, and whether each is wanted."""
    return [
        (_PLAIN.sub("", segment.lower()), wanted)
        for name, wanted in (("must_have", True), ("must_not_have", False))
        for segment in json.loads(page.row[name] or "[]")
        if _PLAIN.sub("", segment)
    ]


def right_segments(text: str, segments: Sequence[tuple[str, bool]]) -> float:
    """The share of segments that are in the text if they are wanted, and not if they are not."""
    plain = _PLAIN.sub("", text.lower())
    return statistics.fmean((segment in plain) == wanted for segment, wanted in segments)


def news_f1(sites: Sequence[HeldOutSite], cleaner: Cleaner, most: int | None = None) -> float:
    """Word F1, mean over sites; with `most`, over random groups of so many pages."""
    scores = []
    for site in sites:
        found = []
        for group in groups_of(site.pages, most):
            model = site.learned(cleaner, group)
            found += [word_f1(page.cleaned(cleaner, model).text, page.row["text"]) for page in group]
        scores.append(statistics.fmean(found))
    return statistics.fmean(scores)


def groups_of(pages: list[HeldOutPage], most: int | None) -> Iterator[list[HeldOutPage]]:
    """All pages; or groups of so many in each of several random orders, without the rest that fills none."""
    if most is None or len(pages) < most:
        yield pages
        return
    random = np.random.default_rng(0)
    for _ in range(DRAWS):
        order = random.permutation(len(pages)).tolist()
        for k in range(0, len(pages) - most + 1, most):
            yield [pages[at] for at in order[k : k + most]]


def shop_scores(site: HeldOutSite, cleaner: Cleaner) -> tuple[float, float, float]:
    """Recall of true values, share of the output's words in texts that half of the pages have, share of words kept."""
    table, rows = site.learned(COMBINED).block_table, []
    for page, clean in site.cleaned(cleaner):
        evidence, mask = evidence_of(page.context), kept_blocks(page, clean)
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
    kept: NDArray[np.bool_] = np.bincount(blocks.of_run(), runs, len(blocks))[evidence_of(page.context).said] > 0
    return kept


def values_of(page: HeldOutPage) -> list[list[tuple[int, ...]]]:
    """For each true value of a page, its spellings: consecutive blocks whose words contain it."""
    blocks = page.context.blocks
    said = [words_of(blocks.text(b)) for b in evidence_of(page.context).said.tolist()]
    values = [value for found in json.loads(page.row["attributes"] or "{}").values() for value in found]
    return spellings(said, [words_of(value) for value in values if words_of(value)])


if __name__ == "__main__":
    for part in sys.argv[1:] or ("news", "shops", "more"):
        for row in {"news": news, "shops": shops, "more": more}[part](Path(os.environ["WEBWINNOW_DATA"])):
            print(*row, sep=" | ", flush=True)
