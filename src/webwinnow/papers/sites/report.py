"""The page of the sites experiment: findings in sentences that are computed from the results, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from markupsafe import Markup

from webwinnow.inspect.charts import Axis, Series, line_chart, point_chart
from webwinnow.inspect.templating import render_paragraphs
from webwinnow.papers.experiment import Cell, Report, best_of_columns, experiment_page
from webwinnow.papers.sites.likelihood import Curve
from webwinnow.papers.sites.results import DenoisingRow, SitesResults, accuracy_of, tables_of
from webwinnow.site.hmt.em import MOST_PASSES
from webwinnow.topics.sitetopics import METHODS

_ACCURACY = Axis("accuracy", 0, 1, percent=True)
_RULE_COLOURS = {"everything": 0, "depth": 1, "first": 2, "KL,": 3, "variance,": 4}


def sites_report(results: SitesResults) -> Report:
    """The report: a page, tables, and the findings as summary."""
    return Report(name="sites", summary=findings(results), page=sites_html(results), tables=tables_of(results))


def sites_html(results: SitesResults) -> str:
    """Return the whole page."""
    return experiment_page(
        "sites.html.j2",
        results,
        findings=findings(results),
        accuracy=_accuracy(results),
        left_out=_left_out(results),
        denoising=_denoising(results),
        reading=_reading(results),
        likelihood=_likelihood(results),
        times=[[stage, f"{seconds:.2f}"] for stage, seconds in results.seconds.items()],
    )


def _accuracy(results: SitesResults) -> dict[str, Any] | None:
    """Figure 9."""
    if not results.sizes:
        return None
    counts = sorted({size.sites for size in results.sizes})
    rows, series = [], []
    for method in results.methods:
        found = {size.sites: size for size in results.sizes if size.method == method}
        rows.append([method, *(f"{found[n].mean:.3f} ± {found[n].deviation:.3f}" for n in counts)])
        series.append(Series(method, [(size.sites, size.mean) for size in found.values()]))
    across = Axis("training sites", counts[0], counts[-1], whole=True)
    return {
        "chart": line_chart("Accuracy by number of training sites", series, across, _ACCURACY),
        "head": ["method", *(f"{n} sites" for n in counts)],
        "rows": best_of_columns(rows),
    }


def _left_out(results: SitesResults) -> dict[str, Any]:
    """Every site left out once: the totals, and every error."""
    totals = [
        [method, f"{results.accuracy(method):.3f}", f"{results.right(method)} of {len(results.sites)}"]
        for method in results.methods
    ]
    by_site: dict[str, dict[str, str | Cell]] = {name: {} for name, *_ in results.sites}
    for method, answers in results.left_out.items():
        for answer in answers:
            wrong = Cell(f"{answer.topic} {answer.probability:.2f}", "wrong")
            by_site[answer.site][method] = "" if answer.right else wrong
    errors = [
        [name, label, f"{pages:,}", *(by_site[name][method] for method in results.methods)]
        for name, label, pages in results.sites
        if any(by_site[name].values())
    ]
    every = [[name, label, f"{pages:,}"] for name, label, pages in results.sites]
    return {"totals": best_of_columns(totals), "errors": errors, "every": every}


def _denoising(results: SitesResults) -> list[Any]:
    """Section 4.2."""
    rows = []
    for row in results.denoising:
        shares = [f"{row.words:.0%}", f"{row.pages:.0%}", f"{row.seconds:.1f}"]
        rows.append([row.choice, *shares, *(f"{accuracy_of(row.answers[m]):.3f}" for m in results.methods)])
    return best_of_columns(rows, first=4)


def _reading(results: SitesResults) -> dict[str, Any] | None:
    """Figure 11."""
    if not results.pruning:
        return None
    whole = max(results.pruning[0].read, 1)
    points = [(row.rule, row.read / whole, row.accuracy, _RULE_COLOURS[row.rule.split()[0]]) for row in results.pruning]
    rows = [
        [row.rule, f"{row.read:,}", f"{row.read / whole:.0%}", f"{row.kept:,}", f"{row.accuracy:.3f}"]
        for row in results.pruning
    ]
    across = Axis("pages read", 0, 1, percent=True)
    chart = point_chart("Accuracy by share of pages read", points, across, _ACCURACY)
    return {"chart": chart, "rows": best_of_columns(rows, first=4)}


def _likelihood(results: SitesResults) -> dict[str, Any] | None:
    """Figure 6."""
    sets = (
        ("random", "Random trees (the paper's check)", results.drawn),
        ("sites", "Page trees of these sites", results.learned),
    )
    charts = [_curves(title, curves) for _, title, curves in sets if curves]
    rows = [
        [f"{name}: {curve.name}", str(len(curve.history)), f"{curve.history[0]:.4f}", f"{curve.history[-1]:.4f}"]
        for name, _, curves in sets
        for curve in curves
    ]
    return {"charts": charts, "rows": rows} if charts else None


def _curves(title: str, curves: Sequence[Curve]) -> Markup:
    values = [value for curve in curves for value in curve.history]
    series = [Series(curve.name, list(enumerate(curve.history, start=1))) for curve in curves]
    most = max(len(curve.history) for curve in curves)
    return line_chart(title, series, Axis("pass", 1, most, whole=True), Axis("nats", min(values), max(values)))


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
