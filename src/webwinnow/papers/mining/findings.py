"""The findings of a task in plain sentences that are computed from the results."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from webwinnow.inspect.templating import render_paragraphs
from webwinnow.papers.mining.results import TaskResults

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
    shown = [letter for letter in (UNCLEANED, WEIGHTED, PLUS) if letter in results.letters]
    without = results.neighbours.get(UNCLEANED, ())
    gains = [
        f"{letter} {sum(scores.f > raw.f for scores, raw in zip(results.neighbours[letter], without, strict=True))}"
        for letter in results.letters
        if letter != UNCLEANED and len(results.neighbours[letter]) == len(without)
    ]
    return render_paragraphs(
        "minefindings.txt.j2",
        finding=finding(results).name,
        drops={letter: drop for letter in shown if (drop := results.drop(letter)) is not None},
        weak=WEAK,
        sites=len(results.task.sites),
        alone=results.task.single_class_sites,
        gains_by_miner=_gains(results) if UNCLEANED in results.letters else [],
        dramatic=DRAMATIC,
        third=_ranked(results, results.third),
        clusters=_ranked(results, results.mean_f),
        runs=max((len(runs) for runs in results.runs.values()), default=0),
        neighbours=_ranked(results, results.macro_f),
        folds_by=results.folds_by,
        classes=len(without),
        class_gains=gains if UNCLEANED in results.letters else None,
    )


def _has_one_class_per_site(results: TaskResults) -> bool:
    return results.task.single_class_sites == len(results.task.sites)


def _gains(results: TaskResults) -> list[dict[str, Any]]:
    """The best cleaning against none, by miner."""
    gains = []
    miners = (("k-means", results.mean_f), ("SVM in configuration 3", results.third), ("k-NN", results.macro_f))
    for miner, score in miners:
        without = score(UNCLEANED)
        cleaned = (letter for letter in results.letters if letter != UNCLEANED)
        others = [(value, letter) for letter in cleaned if (value := score(letter)) is not None]
        if without is not None and others:
            better = sum(value > without for value, _ in others)
            best = {"best": max(others)[0], "letter": max(others)[1], "better": better, "others": len(others)}
            gains.append({"miner": miner, "without": without} | best)
    return gains


def _ranked(results: TaskResults, score: Callable[[str], float | None]) -> str:
    """The best methods with their scores, and N."""
    scored = [(value, letter) for letter in results.letters if (value := score(letter)) is not None]
    best = sorted(scored, key=lambda entry: -entry[0])[:BEST_SHOWN]
    raw = [entry for entry in scored if entry[1] == UNCLEANED and entry not in best]
    return ", ".join(f"{letter} {value:.3f}" for value, letter in [*best, *raw])
