"""Methods on the 100 rendered pages that two readers labelled (`seenpages`): text, overlays and hidden text.

Word F1 compares a method's text with the blocks that the first reader labelled as content. The site of a page is
learned from its rendered pages, at most six.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from seenpages import SeenPage, block_texts, digest, is_same, kappa, labels, seen_pages

from webwinnow.judge.evidence import evidence_of
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.layout import POSITIONS, UNKNOWN_COVER, VISIBLE
from webwinnow.page.page import Page
from webwinnow.page.visualcues import COVERED_PERCENT
from webwinnow.record.cleaner import Cleaner, CleanPage
from webwinnow.record.sitemodel import SiteModel, learn

WITHOUT = CleaningSettings.from_pairs(["page.layout=false"])
TRIED: dict[str, tuple[str, CleaningSettings | None]] = {
    "`none`": ("none", None),
    "`visual`": ("visual", None),
    "`page` without the layout": ("page", WITHOUT),
    "`page` with the layout": ("page", None),
    "`combined` without the layout": ("combined", WITHOUT),
    "`combined` with the layout": ("combined", None),
}
BY_KIND = ("`visual`", "`page` with the layout", "`combined` without the layout", "`combined` with the layout")
SENT = "`page` on the HTML that the server sent"
_WORD = re.compile(r"\w+")


def word_f1(text: str, truth: str) -> tuple[float, float, float]:
    """Word F1, precision and recall."""
    found, wanted = (Counter(_WORD.findall(of.lower())) for of in (text, truth))
    both = (found & wanted).total()
    if not both:
        return 0.0, 0.0, 0.0
    precision, recall = both / found.total(), both / wanted.total()
    return 2 * precision * recall / (precision + recall), precision, recall


def means(found: list[tuple[float, float, float]]) -> tuple[float, ...]:
    """The means of several scores."""
    return tuple(statistics.mean(column) for column in zip(*found, strict=True))


def labelled_pages(data: Path) -> list[tuple[str, ...]]:
    """All measurements on the labelled pages."""
    pages = seen_pages(data)
    first = labels("first")
    read = [(page, page.context()) for page in pages if page.labelled and page.page_id in first]
    read = [(page, context) for page, context in read if is_same(digest(block_texts(context)), first[page.page_id][0])]
    if not read:
        raise ValueError("none of the pages is as it was when it was labelled")
    rows = [_agreement(read)]
    scores: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    kept: dict[str, Counter[str]] = defaultdict(Counter)
    model_of = _models(pages)
    for page, context in read:
        wanted = first[page.page_id][1]
        truth = " ".join(text for k, text in enumerate(block_texts(context)) if k in wanted)
        for name, clean in _cleaned(page, context, model_of(page.site)):
            for group in ("all", page.kind):
                scores[name, group].append(word_f1(clean.text, truth))
            if name != SENT:
                _count(context, clean, wanted, kept[name])
    rows += [(name, str(len(of)), _says(of)) for (name, group), of in scores.items() if group == "all"]
    for kind in sorted({page.kind for page, _ in read}):
        for name in BY_KIND:
            rows.append((f"{name}, pages of kind {kind}", str(len(scores[name, kind])), _says(scores[name, kind])))
    for what in ("overlays", "hidden text", "hidden content"):
        total, pages_with = kept["`none`"][f"{what} in all"], kept["`none`"][f"{what} pages"]
        for name in TRIED:
            rows.append((f"{what}, {total:,} words: kept by {name}", str(pages_with), f"{kept[name][what]:,} words"))
    return rows


def _says(found: list[tuple[float, float, float]]) -> str:
    return "F1 {:.3f}, precision {:.3f}, recall {:.3f}".format(*means(found))


def _agreement(read: list[tuple[SeenPage, Page]]) -> tuple[str, ...]:
    first, second = labels("first"), labels("second")
    both = [(page.page_id, len(block_texts(context))) for page, context in read if page.page_id in second]
    if not both:
        return ("agreement of the two readers", "0", "skipped: the second reader has not read")
    pairs = [(k in first[name][1], k in second[name][1]) for name, count in both for k in range(count)]
    equal = sum(a == b for a, b in pairs) / len(pairs)
    content = sum(a for a, _ in pairs)
    says = f"equal {equal:.3f}, Cohen's kappa {kappa(pairs):.3f}"
    blocks = f"{len(pairs):,} blocks, {content:,} of them content for the first reader"
    return ("agreement of the two readers", str(len(both)), f"{says}; {blocks}")


def _models(pages: list[SeenPage]) -> Callable[[str], SiteModel | None]:
    """A function that learns a site from its rendered pages when it is asked for; None for a single page."""
    of_site: dict[str, list[SeenPage]] = defaultdict(list)
    for page in pages:
        of_site[page.site].append(page)

    @cache
    def model_of(site: str) -> SiteModel | None:
        found = of_site[site]
        return learn([page.context().tree for page in found], site) if len(found) > 1 else None

    return model_of


def _cleaned(page: SeenPage, context: Page, model: SiteModel | None) -> Iterator[tuple[str, CleanPage]]:
    for name, (method, settings) in TRIED.items():
        yield name, Cleaner.of(method, settings).clean_in(context, model if method == "combined" else None)
    yield SENT, Cleaner.of("page").clean_in(page.context(rendered=False))


def _count(context: Page, clean: CleanPage, wanted: frozenset[int], kept: Counter[str]) -> None:
    """Count the words in fixed boxes and those not drawn, by the reader's label, and those that are kept.

    Facts of the browser, not our cues: a fixed box around the text; not drawn, left of the page, in a font of size 0,
    or under another element.
    """
    fixed, hidden = _facts(context)
    runs = clean.verdict.keep_runs
    blocks = context.blocks
    seen = set()
    for k, block in enumerate(evidence_of(context).said.tolist()):
        what = "overlays" if fixed[k] and k not in wanted else None
        if hidden[k] and not what:
            what = "hidden content" if k in wanted else "hidden text"
        if what:
            words = len(_WORD.findall(blocks.text(block)))
            kept[f"{what} in all"] += words
            kept[what] += words * bool(runs[blocks.first_run[block] : blocks.first_run[block + 1]].any())
            seen.add(what)
    kept.update(f"{what} pages" for what in seen)


def _facts(context: Page) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each block with text: in a fixed box that is shown; not seen."""
    tree, layout = context.tree, context.tree.layout
    assert layout is not None
    first = tree.run_owner[context.blocks.first_run[evidence_of(context).said]]
    position = POSITIONS.index("fixed")
    fixed = np.zeros(len(tree), np.bool_)
    for node in range(1, len(tree)):  # parents come first
        fixed[node] = fixed[tree.parent[node]] or layout.position[node] == position
    hidden = ((layout.flags & VISIBLE) == 0) | ((layout.left + layout.width <= 0) & (layout.width > 0))
    hidden |= (layout.font_size == 0) | ((layout.covered >= COVERED_PERCENT) & (layout.covered != UNKNOWN_COVER))
    return fixed[first] & ~hidden[first], hidden[first]
