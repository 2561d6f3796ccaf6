"""Reading less of a site (Sites 4.2, Figure 11): rules for which pages are read, and what is found from those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow.experiments.sites.labelledsites import Answer, StoredSite
from webwinnow.sitemining.hmt.treemodel import Forest, soft_evidence
from webwinnow.sitemining.multiscaletree import NOTHING, LinkTree
from webwinnow.sitemining.pruning import KlRule, Rule, VarianceRule, prune
from webwinnow.sitemining.topics import SiteTopics
from webwinnow.sitemining.topics.treemethods import HmtMethod
from webwinnow.sitemining.topics.treescale import page_observations

__all__ = ["DELTAS", "DEPTHS", "FIRST_PAGES", "OMEGAS", "Read", "read_less", "ways"]

DEPTHS = (0, 1, 2)
"""Links from the start page: the paper's fixed depths, of which its baseline reads three levels."""
FIRST_PAGES = (5, 10, 20, 50)
"""Pages that are read breadth-first without any rule, for comparison (ours)."""
DELTAS = (1e-6, 1e-4, 1e-3, 1e-2)
"""Of the KL rule: the convergence parameter of our training, and larger ones (the paper names none)."""
OMEGAS = (1.0, 2.0, 4.0)
FLOOR = 1e-12

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Read:
    """One way of reading a site: pages read, pages kept, and what the method said of the kept ones."""

    way: str
    read: int
    kept: int
    answer: Answer


def ways() -> list[str]:
    """The names of all ways, in the order of the report."""
    fixed = [f"depth {depth}" for depth in DEPTHS]
    first = [f"first {count} pages" for count in FIRST_PAGES]
    rules = [*(f"KL, delta {delta:g}" for delta in DELTAS), *(f"variance, omega {omega:g}" for omega in OMEGAS)]
    return ["everything", *fixed, *first, *rules]


def read_less(site: StoredSite, model: SiteTopics, pages: HmtMethod) -> list[Read]:
    """Read one site in every way, breadth-first through its stored links, and classify what was read.

    A rule sees all words of a page, for what the site repeats is not known while it is read; the model of its pages is
    that of method `hmt`. The site is then classified as if the kept pages were all there is of it.
    """
    tree = site.site.page_tree
    parent, shown = page_observations(tree, pages.words.of_pages(site.everything.page_words))
    forest = Forest(parent, evidence=soft_evidence(shown, floor=FLOOR))
    rules: list[Rule] = [*(KlRule(delta=delta) for delta in DELTAS), *(VarianceRule(omega=omega) for omega in OMEGAS)]
    chosen = [(mask, mask) for mask in _fixed(tree)]
    for rule in rules:
        found = prune(forest, pages.pages.parameters, rule)
        chosen.append((found.read, found.kept))
    is_page = tree.page != NOTHING
    reads = []
    for way, (read, kept) in zip(ways(), chosen, strict=True):
        said = model.classify(site.of_pages(kept))
        answer = Answer(site.name, site.label, said.topic, said.probability)
        reads.append(Read(way, int((read & is_page).sum()), int((kept & is_page).sum()), answer))
    return reads


def _fixed(tree: LinkTree) -> Sequence[Mask]:
    """The nodes of everything, of fixed depths and of first pages; a virtual root is no level."""
    is_virtual = len(tree) > 0 and tree.page[0] == NOTHING
    depth = tree.depth - int(is_virtual)
    order = np.arange(len(tree)) - int(is_virtual)
    return [
        np.ones(len(tree), np.bool_),
        *(depth <= most for most in DEPTHS),
        *(order < count for count in FIRST_PAGES),
    ]
