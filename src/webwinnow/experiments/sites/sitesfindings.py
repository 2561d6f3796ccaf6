"""The findings in sentences that are computed from the results; they say so if a simpler method wins."""

from __future__ import annotations

from collections.abc import Sequence

from webwinnow.experiments.sites.likelihood import Curve
from webwinnow.experiments.sites.sitesresults import DenoisingRow, PruningRow, SitesResults, accuracy_of
from webwinnow.sitemining.hmt.em import MOST_PASSES
from webwinnow.sitemining.topics import METHODS

SAME = 1e-9
FEW = 0.005
"""Accuracies that differ by less are called even."""


def findings(results: SitesResults) -> list[str]:
    """Return one or two sentences for each part of the report."""
    sentences = [_left_out(results), *_sizes(results)]
    if results.denoising:
        sentences.append(_denoising(results))
    if results.pruning:
        sentences.append(_pruning(results.pruning, results))
    sentences += _likelihood(results.drawn, "On random trees, as in the paper,")
    sentences += _likelihood(results.own, "On the page trees of these sites")
    return sentences


def _left_out(results: SitesResults) -> str:
    """Which method is best when every site is left out once, and whether a simpler one is as good."""
    accuracy = {method: results.accuracy(method) for method in results.methods}
    best = max(accuracy.values())
    order = [name for name in METHODS if name in accuracy]
    simplest = next(name for name in order if accuracy[name] >= best - SAME)
    several = [name for name in order if accuracy[name] >= best - SAME]
    of = len(results.sites)
    text = (
        f"With every site left out once, the best accuracy (16) is {best:.3f}, that of {_names(several)} "
        f"({simplest}: {results.right(simplest)} of {of} sites right)."
    )
    richest = order[-1]
    if simplest != richest:
        lost = best - accuracy[richest]
        text += (
            f" The paper's order does not hold here: {richest}, the richest method, has {accuracy[richest]:.3f} and is "
            f"{'no better than' if lost <= SAME else f'{lost:.3f} below'} {simplest}, which is simpler."
        )
    elif "superpage" in accuracy and richest != "superpage":
        text += f" It is {best - accuracy['superpage']:+.3f} beside the baseline superpage (the paper: +0.167)."
    return f"{text} One site more or less right is {1 / of:.3f} of all sites, so small differences mean nothing."


def _sizes(results: SitesResults) -> list[str]:
    """Figure 9: from the fewest to the most training sites."""
    if not results.sizes:
        return []
    fewest, most = min(size.sites for size in results.sizes), max(size.sites for size in results.sizes)
    sizes = []
    for count in dict.fromkeys((fewest, most)):
        found = {size.method: size.mean for size in results.sizes if size.sites == count}
        best = max(found.values())
        winners = [name for name in METHODS if name in found and found[name] >= best - FEW]
        worst = min(found, key=lambda name: found[name])
        sizes.append(f"with {count} training sites {_names(winners)} {best:.3f}, least {worst} {found[worst]:.3f}")
    return [f"Means over {results.repeats} random samples (Figure 9): {'; '.join(sizes)}."]


def _denoising(results: SitesResults) -> str:
    """Each choice beside none, as the mean over methods, and for the best method."""
    means = {row.choice: _mean(row) for row in results.denoising}
    best = max(means, key=lambda choice: means[choice])
    ordered = sorted(means.items(), key=lambda entry: -entry[1])
    listed = ", ".join(f"{choice} {value:.3f}" for choice, value in ordered)
    text = f"Denoising, mean accuracy over the methods that use it: {listed}."
    if "none" in means and means["none"] >= means[best] - FEW:
        return f"{text} No denoising helps here."
    if "thesaurus" in means and "centroid" in means:
        better = means["thesaurus"] - means["centroid"]
        text += (
            f" The paper found thesaurus above centroid; here the difference is {better:+.3f}."
            if abs(better) > FEW
            else " The paper found thesaurus above centroid; here they are even."
        )
    return text


def _mean(row: DenoisingRow) -> float:
    values = [accuracy_of(answers) for method, answers in row.answers.items() if method != "superpage"]
    values = values or [accuracy_of(answers) for answers in row.answers.values()]
    return sum(values) / len(values)


def _pruning(rows: Sequence[PruningRow], results: SitesResults) -> str:
    """The cost of reading fewer pages: the KL rule against everything and against as few pages without a rule."""
    by_rule = {row.rule: row for row in rows}
    whole = by_rule["everything"]
    rules = [row for row in rows if row.rule.startswith("KL")]
    best = max(rules, key=lambda row: (row.accuracy, -row.read))
    text = (
        f"Reading ({results.reading_method}): everything is {whole.read:,} pages and accuracy {whole.accuracy:.3f}; "
        f"{best.rule}, the best of {len(rules)} on these same sites, reads {best.read / max(whole.read, 1):.0%} of "
        f"them, keeps {best.kept / max(whole.read, 1):.0%} and has {best.accuracy:.3f}."
    )
    plain = [row for row in rows if row.rule.startswith(("depth", "first")) and row.read <= best.read]
    if plain:
        rival = max(plain, key=lambda row: (row.accuracy, -row.read))
        if rival.accuracy >= best.accuracy - SAME:
            text += (
                f" No rule is needed for that: {rival.rule} reads {rival.read / max(whole.read, 1):.0%} and has "
                f"{rival.accuracy:.3f}."
            )
    loose = by_rule["depth 0"].read - len(results.sites)
    if loose > whole.read / 2:
        text += (
            f" {loose:,} of the stored pages are linked from no other page, so the tree is flat: a rule, which judges "
            "a page after reading it, saves almost nothing there."
        )
    return text


def _likelihood(curves: Sequence[Curve], where: str) -> list[str]:
    """Whether incremental EM is faster, as in the paper."""
    if not curves:
        return []
    passes = {curve.name: len(curve.history) for curve in curves}
    batch = curves[0]
    fastest = min(passes, key=lambda name: passes[name])
    listed = ", ".join(
        f"{name} {count}{' (stopped there)' if count >= MOST_PASSES else ''}" for name, count in passes.items()
    )
    spread = max(curve.history[-1] for curve in curves) - min(curve.history[-1] for curve in curves)
    verdict = "incremental EM is faster" if fastest != batch.name else "incremental EM is no faster"
    return [
        f"{where} EM needs these passes (Figure 6): {listed}; {verdict}. The final values differ by {spread:.2g} nats "
        "per node."
    ]


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
