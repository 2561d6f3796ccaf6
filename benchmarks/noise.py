"""Kinds of noise: the recogniser on the 300 hand-labelled regions, each classified by a model of other domains.

The regions of `tools/labels/noise-training.jsonl` are used for training only. The numbers are those of held-out
domains; the model that ships was trained on all labelled regions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.kinds import FAMILIES, FAMILY_OF_KIND, KIND_CODE, KINDS, most_probable_kinds

TOOLS = Path(__file__).parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
FOLDS = 5
ENOUGH = 10
"""Examples that a kind must have to count in the mean over kinds."""
THREE = ("fixed", "service", "navigation")


def kinds(data: Path) -> list[tuple[str, str]]:
    """Macro F1 over kinds and over families, recall of two kinds, F1 per kind, and the confusion matrix."""
    from training.kinds import MEASURED, TRAINING, held_out, label_rows, load_pages

    pages = load_pages(data, label_rows(TOOLS / "labels", MEASURED, TRAINING))
    predicted = {name: found for name, found in held_out(pages, FOLDS).items() if name.startswith("n")}
    true = np.array([kind for kind, _ in predicted.values()])
    probability = np.array([found for _, found in predicted.values()])
    given = most_probable_kinds(probability)
    sure = probability[np.arange(len(given)), given]
    return [*summary(true, given), *by_sureness(true, given, sure), *by_kind(true, given), *confusion(true, given)]


def summary(true: NDArray[np.int64], given: NDArray[np.int64]) -> list[tuple[str, str]]:
    """Return the numbers that have a target."""
    often = [code for code in range(len(KINDS)) if (true == code).sum() >= ENOUGH]
    of_true, of_given = FAMILY_OF_KIND[true], FAMILY_OF_KIND[given]
    families = [f1(of_true == FAMILIES.index(name), of_given == FAMILIES.index(name)) for name in THREE]
    rows = [
        (f"regions, of which kind right ({FOLDS} folds by domain)", f"{len(true)}, {(true == given).mean():.3f}"),
        (
            f"macro F1 over the {len(often)} kinds with {ENOUGH} examples (target 0.75)",
            f"{np.mean([f1(true == code, given == code) for code in often]):.3f}",
        ),
        ("macro F1 over the three families (target 0.85)", f"{np.mean(families):.3f}"),
        *((f"F1 of family {name}", f"{found:.3f}") for name, found in zip(THREE, families, strict=True)),
    ]
    for name in ("consent", "hierarchic-directory"):
        own = true == KIND_CODE[name]
        rows.append((f"recall of {name} (target 0.9)", f"{(given[own] == KIND_CODE[name]).mean():.3f} of {own.sum()}"))
    return rows


def by_sureness(true: NDArray[np.int64], given: NDArray[np.int64], sure: NDArray[np.float64]) -> list[tuple[str, str]]:
    """Accuracy by the recogniser's score."""
    rows = []
    for least in (0.5, 0.7, 0.9):
        at = sure >= least
        rows.append((f"score at least {least}: regions, right", f"{at.sum()}, {(true == given)[at].mean():.3f}"))
    return rows


def by_kind(true: NDArray[np.int64], given: NDArray[np.int64]) -> list[tuple[str, str]]:
    """F1 and recall of each kind that was measured."""
    rows = []
    for code, kind in enumerate(KINDS):
        own = true == code
        if own.any():
            found = f1(own, given == code)
            rows.append(
                (f"{kind.name}: regions, F1, recall", f"{own.sum()}, {found:.2f}, {(given[own] == code).mean():.2f}")
            )
    return rows


def confusion(true: NDArray[np.int64], given: NDArray[np.int64]) -> list[tuple[str, str]]:
    """The confusion matrix, one row per true kind: the wrong predictions, most frequent first."""
    rows = []
    for code in np.unique(true).tolist():
        wrong = given[(true == code) & (given != code)]
        names, times = np.unique(wrong, return_counts=True)
        order = np.argsort(-times, kind="stable")
        errors = ", ".join(f"{KINDS[names[k]].name} {times[k]}" for k in order)
        rows.append((f"{KINDS[code].name} was taken for", errors or "nothing else"))
    return rows


def f1(true: Sequence[bool] | NDArray[np.bool_], given: Sequence[bool] | NDArray[np.bool_]) -> float:
    """F1 of one class."""
    true, given = np.asarray(true), np.asarray(given)
    return 2 * float((true & given).sum()) / max(float(true.sum() + given.sum()), 1.0)
