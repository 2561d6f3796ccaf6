"""The findings in sentences that are computed from the results; they say so if a simpler method wins."""

from __future__ import annotations

from statistics import mean
from typing import Any

from webwinnow.inspect.templating import render_paragraphs
from webwinnow.papers.sites.results import DenoisingRow, SitesResults, accuracy_of
from webwinnow.site.hmt.em import MOST_PASSES
from webwinnow.topics.sitetopics import METHODS

SAME = 1e-9
FEW = 0.005
"""Accuracies that differ by less are called even."""


def findings(results: SitesResults) -> list[str]:
    """Return one paragraph for each part of the report."""
    accuracy = {method: results.accuracy(method) for method in METHODS if method in results.methods}
    winners = _winners(accuracy, SAME)
    return render_paragraphs(
        "sitesfindings.txt.j2",
        results=results,
        accuracy=accuracy,
        winners=winners,
        right=results.right(winners[0]),
        richest=list(accuracy)[-1],
        best=max(accuracy.values()),
        sizes=_sizes(results),
        denoising=sorted(((_mean(row), row.choice) for row in results.denoising), key=lambda entry: -entry[0]),
        pruning=_pruning(results) if results.pruning else None,
        same=SAME,
        few=FEW,
        most_passes=MOST_PASSES,
    )


def _winners(accuracy: dict[str, float], tolerance: float) -> list[str]:
    """The best methods, from the simplest."""
    best = max(accuracy.values())
    return [name for name in METHODS if name in accuracy and accuracy[name] >= best - tolerance]


def _sizes(results: SitesResults) -> list[dict[str, Any]]:
    """Figure 9: with the fewest and with the most training sites."""
    counts = sorted({size.sites for size in results.sizes})
    found = []
    for count in dict.fromkeys([*counts[:1], *counts[-1:]]):
        means = {size.method: size.mean for size in results.sizes if size.sites == count}
        worst = min(means, key=lambda name: means[name])
        best = {"winners": _winners(means, FEW), "best": max(means.values())}
        found.append(best | {"sites": count, "worst": worst, "least": means[worst]})
    return found


def _mean(row: DenoisingRow) -> float:
    """The mean accuracy over the methods that use denoising."""
    methods = [name for name in row.answers if name != "superpage"] or list(row.answers)
    return mean(accuracy_of(row.answers[name]) for name in methods)


def _pruning(results: SitesResults) -> dict[str, Any]:
    """The KL rule against everything, and against as few pages without a rule."""
    by_rule = {row.rule: row for row in results.pruning}
    rules = [row for row in results.pruning if row.rule.startswith("KL")]
    best = max(rules, key=lambda row: (row.accuracy, -row.read))
    plain = [row for row in results.pruning if row.rule.startswith(("depth", "first")) and row.read <= best.read]
    return {
        "whole": by_rule["everything"],
        "rules": len(rules),
        "best": best,
        "rival": max(plain, key=lambda row: (row.accuracy, -row.read), default=None),
        "loose": by_rule["depth 0"].read - len(results.sites) if "depth 0" in by_rule else 0,
    }
