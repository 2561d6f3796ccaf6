"""Redesigns: how familiar pages are to the model of their own site, of another, and of their site years earlier."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import numpy as np

from webwinnow.judge.evidence import PageEvidence
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.page.parsing import parse
from webwinnow.run.inputs import open_pages
from webwinnow.site.blocktable import BlockRows
from webwinnow.site.epochs import FAMILIAR, familiarity

PAGES = 16
OTHERS = 20


def redesigns(data: Path) -> list[tuple[str, str]]:
    """Compare halves of one site, pairs of different sites, and news sites five years apart."""
    found: dict[str, list[BlockRows]] = defaultdict(list)
    for name in ("sites-swde", "sites-news", "sites-docs"):
        for page in open_pages([data / f"{name}.parquet"], on_problem=print):
            rows = found[f"{name} {page.site}"]
            if len(rows) < PAGES:
                tree = parse(page.body, url=page.url, content_type=page.content_type)
                rows.append(BlockRows.of_page(page_fingerprint(tree), PageEvidence.of(tree)))
    halves = {
        site: (BlockRows.merge(rows[::2]), BlockRows.merge(rows[1::2]))
        for site, rows in found.items()
        if len(rows) >= PAGES // 2
    }
    chance = random.Random(1)
    same = np.array([familiarity(*both) for both in halves.values()])
    others = np.array(
        [
            familiarity(halves[other][0], halves[site][1])
            for site in halves
            for other in chance.sample([other for other in halves if other != site], OTHERS)
        ]
    )
    years = [
        (site, later, familiarity(halves[site][0], halves[later][1]))
        for site in halves
        for later in halves
        if "/20" in site and site.split("/")[0] == later.split("/")[0]
        if int(later[-4:]) - int(site[-4:]) == 5
    ]
    missed = [f"{site.split(' ')[1]} to {later[-4:]}: {share:.2f}" for site, later, share in years if share >= FAMILIAR]
    low = sum(share < FAMILIAR for _, _, share in years)
    return [
        (
            f"halves of {len(same)} sites, {PAGES // 2} pages each",
            f"lowest {same.min():.2f}, median {np.median(same):.2f}; taken for a redesign: {(same < FAMILIAR).sum()}",
        ),
        (
            f"{len(others):,} pairs of different sites",
            f"median {np.median(others):.2f}; not distinguished: {(others >= FAMILIAR).sum()}",
        ),
        (
            "news sites five years later",
            f"detected: **{low} of {len(years)}**" + (f"; not: {', '.join(missed)}" if missed else ""),
        ),
    ]
