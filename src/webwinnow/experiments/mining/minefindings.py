"""What the numbers of a task say, in plain sentences that are computed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from webwinnow.experiments.mining.mineresults import TaskResults

__all__ = ["DRAMATIC", "SMALL_SHARE", "Finding", "finding", "sentences"]

DRAMATIC = 0.1
"""A drop of F from configuration 1 to 3 that we call dramatic; the thesis has 0.39 and 0.32 (Tables 5-5 to 5-15)."""
SMALL_SHARE = 0.5
"""A drop is small beside one that is at least twice as large; the thesis has 0.03 and 0.02 for W."""
WEAK = 0.7
"""A mean F below it, in configuration 1, says that the words do not tell the classes well whatever the cleaning."""
BEST_SHOWN = 3
UNCLEANED, WEIGHTED, PLUS = "N", "W", "W+"


class Finding(Enum):
    """Whether the thesis's finding, a dramatic drop for N and a small one for W, holds in a task."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    NOT = "does not hold"
    CANNOT_HELP = "does not apply: one class a site, where cleaning cannot help (5.6)"
    UNTESTED = "was not tested"


def finding(results: TaskResults) -> Finding:
    """Compare the drops from configuration 1 to 3; where every site has one class there is none to compare (5.6)."""
    if _tells_sites(results):
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
    """The findings of a task, one paragraph each."""
    told = [_configurations(results), _sites(results), _best(results), _clusters(results), _neighbours(results)]
    return [said for said in told if said]


def _tells_sites(results: TaskResults) -> bool:
    return results.task.single_class_sites == len(results.task.sites)


def _configurations(results: TaskResults) -> str:
    found = finding(results)
    if found in (Finding.CANNOT_HELP, Finding.UNTESTED):
        return ""
    without, weighted = results.drop(UNCLEANED), results.drop(WEIGHTED)
    assert without is not None
    assert weighted is not None
    said = (
        f"SVM: without cleaning (N) F goes from {without[0]:.3f} in configuration 1 to {without[1]:.3f} in "
        f"configuration 3 ({without[1] - without[0]:+.3f}); with the weights of the site (W) from {weighted[0]:.3f} to "
        f"{weighted[1]:.3f} ({weighted[1] - weighted[0]:+.3f}). "
    )
    plus = results.drop(PLUS) if PLUS in results.letters else None
    if plus is not None:
        said += f"W+ goes from {plus[0]:.3f} to {plus[1]:.3f} ({plus[1] - plus[0]:+.3f}). "
    if found is Finding.HOLDS:
        said += (
            "The finding of thesis 5.5 holds: what sites repeat misleads a classifier whose classes come from "
            "different sites, and the weights keep most of that away."
        )
    elif found is Finding.IN_PART:
        said += (
            "The finding of thesis 5.5 holds in part: N loses more than W and ends below it, but N loses little or W "
            "loses much too."
        )
    else:
        said += "The finding of thesis 5.5 does not hold here: W loses as much as N, or ends below it."
    if weighted[0] < WEAK:
        said += (
            f" F is low already where both classes come from one site ({without[0]:.3f} for N, {weighted[0]:.3f} for "
            "W): the words of these pages tell the classes badly, cleaned or not."
        )
    return said


def _sites(results: TaskResults) -> str:
    alone, sites = results.task.single_class_sites, len(results.task.sites)
    if not alone or sites < 2:
        return ""
    if not _tells_sites(results):
        return (
            f"{alone} of {sites} sites have pages of one class only. There whatever the site repeats tells the class, "
            "and removing it can take away a help (thesis 5.6)."
        )
    return (
        f"Each of the {sites} sites has pages of one class only, so whatever a site repeats tells the class of its "
        "pages, and cleaning removes it. Where the site itself tells the class cleaning cannot help, and may harm, as "
        f"thesis 5.6 says of tasks that tell sites apart. {_helped(results)}"
    )


def _helped(results: TaskResults) -> str:
    """Whether cleaning helped after all, where it was not expected to, miner by miner."""
    if UNCLEANED not in results.letters:
        return ""
    measures: list[tuple[str, Callable[[str], float | None], str]] = [
        ("k-means", lambda letter: _mean_f(results, letter), ""),
        (
            "SVM in configuration 3",
            lambda letter: _third(results, letter),
            ", since it is tested on sites that it was not trained on, where the noise of another site misleads it",
        ),
        ("k-NN", results.macro_f, ""),
    ]
    said = []
    for miner, score, since in measures:
        without = score(UNCLEANED)
        cleaned = (letter for letter in results.letters if letter != UNCLEANED)
        others = [(value, letter) for letter in cleaned if (value := score(letter)) is not None]
        if without is None or not others:
            continue
        top, letter = max(others)
        better = sum(value > without for value, _ in others)
        gains = f"gains{since}" if top - without >= DRAMATIC else "gains little" if top > without else "gains nothing"
        said.append(
            f"{miner} {gains}: N {without:.3f}, {better} of {len(others)} ways of cleaning above it, the best "
            f"{letter} {top:.3f}"
        )
    return f"Measured: {'; '.join(said)}." if said else ""


def _best(results: TaskResults) -> str:
    found = _ranked(results, lambda letter: _third(results, letter))
    return f"SVM, configuration 3, best F: {found}." if found else ""


def _clusters(results: TaskResults) -> str:
    found = _ranked(results, lambda letter: _mean_f(results, letter))
    if not found:
        return ""
    runs = max(len(runs) for runs in results.runs.values())
    return f"k-means, mean F over {runs:,} runs, best: {found}."


def _neighbours(results: TaskResults) -> str:
    found = _ranked(results, results.macro_f)
    if not found:
        return ""
    said = f"Chi-square with k-NN, F1 over held-out {results.folds_by}s, mean over classes, best: {found}."
    if UNCLEANED not in results.letters:
        return said
    without = results.neighbours[UNCLEANED]
    gains = [
        f"{letter} {sum(scores.f > raw.f for scores, raw in zip(results.neighbours[letter], without, strict=True))}"
        for letter in results.letters
        if letter != UNCLEANED and len(results.neighbours[letter]) == len(without)
    ]
    told = ", ".join(gains)
    return f"{said} Classes of {len(without)} whose F1 is above that of N (the paper's Figure 5: all): {told}."


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
