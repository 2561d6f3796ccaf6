"""Reading fewer pages of a site (Sites 4.2, Figure 11): rules for the pages to read, and the resulting topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow.experiments.sites.labelledsites import LabelledSite, SiteAnswer
from webwinnow.sitemining.hmt.treemodel import Forest, soft_evidence
from webwinnow.sitemining.multiscaletree import NOTHING, LinkTree
from webwinnow.sitemining.pruning import KlRule, Rule, VarianceRule, prune
from webwinnow.sitemining.topics import SiteTopics
from webwinnow.sitemining.topics.treemethods import HmtMethod
from webwinnow.sitemining.topics.treescale import page_observations

DEPTHS = (0, 1, 2)
"""Links from the start page: the paper's fixed depths; its baseline reads three levels."""
FIRST_PAGES = (5, 10, 20, 50)
"""Pages read breadth-first without a rule, for comparison (ours)."""
DELTAS = (1e-6, 1e-4, 1e-3, 1e-2)
"""For the KL rule: the convergence parameter of our training, and larger ones (the paper names none)."""
OMEGAS = (1.0, 2.0, 4.0)
FLOOR = 1e-12

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RuleReading:
    """A site read by one rule: pages read, pages kept, and the topic of the kept pages."""

    rule: str
    read: int
    kept: int
    answer: SiteAnswer


def rule_names() -> list[str]:
    """Return the names of all rules, in the order of the report."""
    fixed = [f"depth {depth}" for depth in DEPTHS]
    first = [f"first {count} pages" for count in FIRST_PAGES]
    rules = [*(f"KL, delta {delta:g}" for delta in DELTAS), *(f"variance, omega {omega:g}" for omega in OMEGAS)]
    return ["everything", *fixed, *first, *rules]


def read_by_rules(site: LabelledSite, model: SiteTopics, pages: HmtMethod) -> list[RuleReading]:
    """Read one site by every rule, breadth-first through its stored links, and classify the kept pages.

    A rule sees all words of a page, since repeated content is unknown while the site is read; its model of pages is
    that of method `hmt`. The site is then classified as if the kept pages were the whole site.
    """
    tree = site.site.page_tree
    parent, shown = page_observations(tree, pages.words.of_pages(site.everything.page_words))
    forest = Forest(parent, evidence=soft_evidence(shown, floor=FLOOR))
    pruning: list[Rule] = [*(KlRule(delta=delta) for delta in DELTAS), *(VarianceRule(omega=omega) for omega in OMEGAS)]
    chosen = [(mask, mask) for mask in _fixed(tree)]
    for rule in pruning:
        found = prune(forest, pages.pages.parameters, rule)
        chosen.append((found.read, found.kept))
    is_page = tree.page != NOTHING
    readings = []
    for rule, (read, kept) in zip(rule_names(), chosen, strict=True):
        answer = SiteAnswer.of(site, model.classify(site.of_pages(kept)))
        readings.append(RuleReading(rule, int((read & is_page).sum()), int((kept & is_page).sum()), answer))
    return readings


def _fixed(tree: LinkTree) -> Sequence[Mask]:
    """The nodes of everything, of fixed depths and of first pages; a virtual root does not count as a level."""
    is_virtual = len(tree) > 0 and tree.page[0] == NOTHING
    depth = tree.depth - int(is_virtual)
    order = np.arange(len(tree)) - int(is_virtual)
    return [
        np.ones(len(tree), np.bool_),
        *(depth <= most for most in DEPTHS),
        *(order < count for count in FIRST_PAGES),
    ]
