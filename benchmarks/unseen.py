"""Pages that were not learned: half of each site is learned, and both halves are cleaned with what was learned.

Each half is learned once; the shares are means over both halves and over sites.

A repeated line is a line of the uncleaned text, compared by its words, that at least half of the site's pages have.
For the weights (W) the share left is the mean weight of the words in such lines.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow.parquet as pq

from webwinnow import PageTree, SiteModel, clean_page, parse
from webwinnow.judge.verdict import Reason
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.registry import method_named, method_names
from webwinnow.page._words import word_spans
from webwinnow.page.blocks import cut
from webwinnow.page.urls import SiteKey
from webwinnow.run.inputs import open_pages
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.site.structuremap import NOWHERE

SAMPLE = Path(__file__).parents[1] / "samples" / "docs.warc.gz"
COLUMNS = (
    "corpus",
    "method",
    "pages",
    "outside the tree: learned",
    "unseen",
    "repeated lines left: learned",
    "unseen",
    "ratio",
)
TREES = ("sst", "aligned", "cst")
PARTS = frozenset().union(*(method_named(name).parts for name in TREES if name in method_names()))
SITE_PAGES = 500
"""Pages of a site whose lines are kept in memory."""
_WORD = re.compile(r"\w+")


class Counts(NamedTuple):
    """Occurrences outside the tree and all, repeated lines (or their words' weights) left and all, of one page."""

    outside: float
    occurrences: float
    left: float
    repeated: float


class Measure(Protocol):
    """Counts of a page by a method."""

    def __call__(self, model: SiteModel, tree: PageTree, repeated: frozenset[str]) -> Counts: ...


def unseen(data: Path) -> list[tuple[str, ...]]:
    """The table of all methods on the sample crawl and on sites-swde: means over sites."""
    rows = []
    for corpus, sites in (("sample crawl", _sample()), ("sites-swde", _swde(data))):
        found: dict[str, list[list[float]]] = defaultdict(list)
        pages = 0
        for trees in sites:
            pages += len(trees)
            repeated, halves = repeated_lines(trees), (trees[::2], trees[1::2])
            for learned, rest in (halves, halves[::-1]):
                model = SiteModel.learn(learned, parts=PARTS)
                for name, measure in measures().items():
                    one = partial(measure, model, repeated=repeated)
                    found[name].append([share for half in (learned, rest) for share in _shares(map(one, half))])
        for name, shares in found.items():
            outside, left, outside_unseen, left_unseen = (
                statistics.mean(column) for column in zip(*shares, strict=True)
            )
            numbers = [f"{share:.3f}" for share in (outside, outside_unseen, left, left_unseen)]
            rows.append((corpus, name, f"{pages:,}", *numbers, f"**{left_unseen / left:.2f}**"))
    return rows


def measures() -> dict[str, Measure]:
    """What is measured, by the name in the table."""
    found: dict[str, Measure] = {name: partial(_by_sst, name) for name in TREES[:2] if name in method_names()}
    found |= {"cst": _by_cst}
    return found | {
        name: partial(_by_weights, CstWeightSettings(mapped=mapped))
        for name, mapped in (("weights, exact (W)", False), ("weights, mapped (M)", True))
    }


def _by_sst(method: str, model: SiteModel, tree: PageTree, repeated: frozenset[str]) -> Counts:
    page = clean_page(tree, method, model)
    _, runs, _, _ = word_spans(tree.text, tree.run_start, tree.visible[tree.run_owner])
    outside = page.verdict.run_reason[runs] == Reason.POSSIBLY
    return Counts(int(outside.sum()), len(runs), *_lines(tree, page.text, repeated))


def _by_cst(model: SiteModel, tree: PageTree, repeated: frozenset[str]) -> Counts:
    page = clean_page(tree, "cst", model)
    return Counts(*_outside(model, tree, CstSettings().weights), *_lines(tree, page.text, repeated))


def _by_weights(settings: CstWeightSettings, model: SiteModel, tree: PageTree, repeated: frozenset[str]) -> Counts:
    blocks = cut(tree)
    in_repeated = np.array([_words(text) in repeated for text in blocks.texts()], np.bool_)
    runs, weight = model.feature_weights(settings).of_words(tree)
    inside = in_repeated[blocks.of_run()[runs]]
    return Counts(*_outside(model, tree, settings), float(weight[inside].sum()), int(inside.sum()))


def _outside(model: SiteModel, tree: PageTree, settings: CstWeightSettings) -> tuple[int, int]:
    _, leaf, _ = model.feature_weights(settings).occurrences(tree)
    return int((leaf == NOWHERE).sum()), len(leaf)


def _lines(tree: PageTree, text: str, repeated: frozenset[str]) -> tuple[int, int]:
    """The repeated lines in a cleaned text and in the page."""
    kept, every = _line_counts(text), _uncleaned(tree)
    return (
        sum(min(count, every[line]) for line, count in kept.items() if line in repeated),
        sum(count for line, count in every.items() if line in repeated),
    )


def repeated_lines(trees: Sequence[PageTree]) -> frozenset[str]:
    """The lines of the uncleaned texts that at least half of the pages have."""
    pages = Counter(line for tree in trees for line in _uncleaned(tree))
    return frozenset(line for line, count in pages.items() if count >= len(trees) / 2)


@lru_cache(maxsize=SITE_PAGES)
def _uncleaned(tree: PageTree) -> Counter[str]:
    return _line_counts(clean_page(tree, "none").text)


def _line_counts(text: str) -> Counter[str]:
    return Counter(words for line in text.splitlines() if (words := _words(line)))


def _words(line: str) -> str:
    return " ".join(_WORD.findall(line.lower()))


def _shares(pages: Iterator[Counts]) -> tuple[float, float]:
    outside, occurrences, left, repeated = (sum(column) for column in zip(*pages, strict=True))
    return outside / max(occurrences, 1), left / max(repeated, 1)


def _sample() -> Iterator[list[PageTree]]:
    """The sites of the sample crawl."""
    sites: dict[str, list[PageTree]] = defaultdict(list)
    for page in open_pages([SAMPLE], on_problem=print):
        sites[SiteKey.parse("host").of(page)].append(parse(page.body, url=page.url, content_type=page.content_type))
    yield from sites.values()


def _swde(data: Path) -> Iterator[list[PageTree]]:
    file = data / "sites-swde.parquet"
    for site in sorted(set(pq.read_table(file, columns=["site"])["site"].to_pylist())):
        pages = pq.read_table(file, columns=["url", "html"], filters=[("site", "=", site)]).to_pylist()
        yield [parse(page["html"], url=page["url"]) for page in pages]
