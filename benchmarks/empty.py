"""Pages with a true text that come out empty, by page models that saw no page of their site.

`python benchmarks/empty.py` prints a row for each file or set: pages with true text, those without any text in their
HTML, those that confidence alone would have emptied (the rule until November 2026), and those that are emptied now as
pages without main content, with the reasons. Pages of sites with two pages or more are counted for `combined` too. The
last row has the pages of `tests/files/emptycases.py`, which have no main content: those that were recognised.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from heldout import (
    MODELS,
    MORE,
    NEWS,
    SINGLE,
    HeldOutPage,
    HeldOutSite,
    all_held_out_pages,
    grouped_sites,
    held_out_sites,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "files"))

from emptycases import EMPTY, FULL

from webwinnow.judge.emptypages import JUDGED_WORDS, NO_CONTENT_BELOW
from webwinnow.judge.evidence import evidence_of
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import Cleaner, CleanPage

LEAST_TRUE = 5
"""Words of a true text, or wanted segments, without which a page does not count."""


def empty(data: Path) -> list[tuple[str, ...]]:
    """A row for each file or set, then their sum, then pages without main content."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    why: dict[str, Counter[str]] = defaultdict(Counter)
    cleaner = Cleaner.of("page")
    for part, page in all_held_out_pages(data):
        if not _has_truth(page):
            continue
        clean = page.cleaned(cleaner)
        words = int(evidence_of(page.context).words.sum())
        for name in (part, "all"):
            counts = found[name]
            counts["pages"] += 1
            counts["bare"] += words == 0
            counts["before"] += words >= JUDGED_WORDS and clean.verdict.confidence < NO_CONTENT_BELOW
            if words and not clean.text.strip():
                counts["now"] += 1
                why[name][clean.verdict.note or "nothing left to read"] += 1
    for part, page, clean in _combined(data):
        if _has_truth(page) and evidence_of(page.context).words.sum():
            for name in (part, "all"):
                found[name]["of sites"] += 1
                found[name]["combined"] += not clean.text.strip()
    return [
        *(
            (
                name,
                *(f"{found[name][key]:,}" for key in ("pages", "bare", "before", "now")),
                f"{found[name]['combined']:,} of {found[name]['of sites']:,}",
                ", ".join(f"{reason}: {count}" for reason, count in why[name].most_common()),
            )
            for name in (*(name for name in found if name != "all"), "all")
        ),
        _made(cleaner),
    ]


def _has_truth(page: HeldOutPage) -> bool:
    truth = page.row.get("text") or page.row.get("must_have") or ""
    return len(truth.split()) >= LEAST_TRUE


def _combined(data: Path) -> Iterator[tuple[str, HeldOutPage, CleanPage]]:
    """The pages of sites with two pages or more, cleaned by `combined`."""
    sites: list[tuple[str | None, Iterator[HeldOutSite]]] = [
        (SINGLE, grouped_sites(data, SINGLE)),
        (NEWS, held_out_sites(data, NEWS, MODELS[0])),
        (None, grouped_sites(data, MORE)),
    ]
    for part, found in sites:
        for site in found:
            for page, clean in site.cleaned(Cleaner.of("combined")):
                yield part or page.row["set"], page, clean


def _made(cleaner: Cleaner) -> tuple[str, ...]:
    """The row of the pages that were made without main content, and of those that resemble them."""
    cleaned = [cleaner.clean(parse(page)) for page, _ in EMPTY.values()]
    missed = [name for name, clean in zip(EMPTY, cleaned, strict=True) if clean.text.strip()]
    wrong = sum(not cleaner.clean(parse(page)).text.strip() for page in FULL.values())
    says = f"{len(FULL)} pages with content that resemble them: {wrong} emptied"
    recognised = f"{len(EMPTY) - len(missed)} recognised"
    return "made without main content", str(len(EMPTY)), "", "", recognised, "", ", ".join((says, *missed))


if __name__ == "__main__":
    for row in empty(Path(os.environ["WEBWINNOW_DATA"])):
        print(*row, sep=" | ")
