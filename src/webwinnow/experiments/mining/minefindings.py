"""The findings of a task in plain sentences that are computed from the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from webwinnow.experiments.mining.mineresults import TaskResults

DRAMATIC = 0.1
"""A drop of F from configuration 1 to 3 that we call dramatic; the thesis has 0.39 and 0.32 (Tables 5-5 to 5-15)."""
SMALL_SHARE = 0.5
"""A drop is small beside one that is at least twice as large; the thesis has 0.03 and 0.02 for W."""
WEAK = 0.7
"""A mean F below it in configuration 1 shows that the words separate the classes poorly, whatever the cleaning."""
BEST_SHOWN = 3
UNCLEANED, WEIGHTED, PLUS = "N", "W", "W+"


class Finding(Enum):
    """Whether the thesis's finding, a dramatic drop for N and a small one for W, holds in a task."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    NOT = "does not hold"
    CANNOT_HELP = "does not apply: one class per site, where cleaning cannot help (5.6)"
    UNTESTED = "was not tested"


def finding(results: TaskResults) -> Finding:
    """Compare the drops from configuration 1 to 3; without sites of several classes there are none (5.6)."""
    if _has_one_class_per_site(results):
        return Finding.CANNOT_HELP
    if not {UNCLEANED, WEIGHTED} <= set(results.letters):
        return Finding.UNTESTED
    without, weighted = results.drop(UNCLEANED), results.drop(WEIGHTED)
    if without is None or weighted is None:
        return Finding.UNTESTED
    lost, kept = without[0] - without[1], weighted[0] - weighted[1]
    if lost >= DRAMATIC and kept <= SMALL_SHARE * lost:
        return Finding.HOLDS
    return Finding.IN_PART if lost > kept and weighted[1] > without[1] else Finding.NOT


def sentences(results: TaskResults) -> list[str]:
    """Return the findings of a task, one paragraph each."""
    third = _ranked(results, lambda letter: _third(results, letter))
    clusters = _ranked(results, lambda letter: _mean_f(results, letter))
    runs = max((len(runs) for runs in results.runs.values()), default=0)
    paragraphs = [
        _configurations(results),
        _sites(results),
        f"SVM, configuration 3, best F: {third}." if third else "",
        f"k-means, mean F over {runs:,} runs, best: {clusters}." if clusters else "",
        _neighbours(results),
    ]
    return [paragraph for paragraph in paragraphs if paragraph]


def _has_one_class_per_site(results: TaskResults) -> bool:
    return results.task.single_class_sites == len(results.task.sites)


def _configurations(results: TaskResults) -> str:
    found = finding(results)
    if found in (Finding.CANNOT_HELP, Finding.UNTESTED):
        return ""
    without, weighted = results.drop(UNCLEANED), results.drop(WEIGHTED)
    assert without is not None
    assert weighted is not None
    text = (
        f"SVM: without cleaning (N) F goes from {without[0]:.3f} in configuration 1 to {without[1]:.3f} in "
        f"configuration 3 ({without[1] - without[0]:+.3f}); with the weights of the site (W) from {weighted[0]:.3f} to "
        f"{weighted[1]:.3f} ({weighted[1] - weighted[0]:+.3f}). "
    )
    plus = results.drop(PLUS) if PLUS in results.letters else None
    if plus is not None:
        text += f"W+ goes from {plus[0]:.3f} to {plus[1]:.3f} ({plus[1] - plus[0]:+.3f}). "
    if found is Finding.HOLDS:
        text += (
            "The finding of thesis 5.5 holds: repeated content of sites misleads a classifier whose classes come from "
            "different sites, and the weights prevent most of that."
        )
    elif found is Finding.IN_PART:
        text += (
            "The finding of thesis 5.5 holds in part: N loses more than W and ends below it, but N loses little or W "
            "loses much too."
        )
    else:
        text += "The finding of thesis 5.5 does not hold here: W loses as much as N, or ends below it."
    if weighted[0] < WEAK:
        text += (
            f" F is low even if both classes come from one site ({without[0]:.3f} for N, {weighted[0]:.3f} for W): "
            "the words of these pages separate the classes poorly, cleaned or not."
        )
    return text


def _sites(results: TaskResults) -> str:
    alone, sites = results.task.single_class_sites, len(results.task.sites)
    if not alone or sites < 2:
        return ""
    if not _has_one_class_per_site(results):
        return (
            f"{alone} of {sites} sites have pages of one class only. There the repeated content of the site predicts "
            "the class, and removing it can remove useful evidence (thesis 5.6)."
        )
    return (
        f"Each of the {sites} sites has pages of one class only, so the repeated content of a site predicts the class "
        "of its pages, and cleaning removes it. Where the site itself determines the class cleaning cannot help, and "
        f"may harm, as thesis 5.6 says of tasks that distinguish sites. {_helped(results)}"
    )


def _helped(results: TaskResults) -> str:
    """Whether cleaning helped against expectation, by miner."""
    if UNCLEANED not in results.letters:
        return ""
    measures: list[tuple[str, Callable[[str], float | None], str]] = [
        ("k-means", lambda letter: _mean_f(results, letter), ""),
        (
            "SVM in configuration 3",
            lambda letter: _third(results, letter),
            ", since it is tested on sites outside its training, where the noise of another site misleads it",
        ),
        ("k-NN", results.macro_f, ""),
    ]
    measured = []
    for miner, score, since in measures:
        without = score(UNCLEANED)
        cleaned = (letter for letter in results.letters if letter != UNCLEANED)
        others = [(value, letter) for letter in cleaned if (value := score(letter)) is not None]
        if without is None or not others:
            continue
        top, letter = max(others)
        better = sum(value > without for value, _ in others)
        gains = f"gains{since}" if top - without >= DRAMATIC else "gains little" if top > without else "gains nothing"
        measured.append(
            f"{miner} {gains}: N {without:.3f}, {better} of {len(others)} cleaning methods above it, the best "
            f"{letter} {top:.3f}"
        )
    return f"Measured: {'; '.join(measured)}." if measured else ""


def _neighbours(results: TaskResults) -> str:
    found = _ranked(results, results.macro_f)
    if not found:
        return ""
    text = f"Chi-square with k-NN, F1 over held-out {results.folds_by}s, mean over classes, best: {found}."
    if UNCLEANED not in results.letters:
        return text
    without = results.neighbours[UNCLEANED]
    gains = [
        f"{letter} {sum(scores.f > raw.f for scores, raw in zip(results.neighbours[letter], without, strict=True))}"
        for letter in results.letters
        if letter != UNCLEANED and len(results.neighbours[letter]) == len(without)
    ]
    return f"{text} Classes of {len(without)} with F1 above that of N (the paper's Figure 5: all): {', '.join(gains)}."


def _mean_f(results: TaskResults, letter: str) -> float | None:
    found = results.clustering(letter)
    return None if found is None else found.mean


def _third(results: TaskResults, letter: str) -> float | None:
    found = results.average(letter, 3)
    return None if found is None else found.f


def _ranked(results: TaskResults, score: Callable[[str], float | None]) -> str:
    """The best methods with their scores, and N."""
    scored: Sequence[tuple[float, str]] = [
        (value, letter) for letter in results.letters if (value := score(letter)) is not None
    ]
    best = sorted(scored, key=lambda entry: -entry[0])[:BEST_SHOWN]
    raw = [entry for entry in scored if entry[1] == UNCLEANED and entry not in best]
    return ", ".join(f"{letter} {value:.3f}" for value, letter in [*best, *raw])
