"""DocView 7.2 run again: how many labelled replicas each fingerprint finds, and how many other pages it takes for one.

Table 2 of the paper (hits and errors of the published fingerprint over Percentage and Interval), and for fingerprints
that have degrees a threshold fixed on half of the original pages and tested on the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from webwinnow.fingerprints import BITS, distance, simhash
from webwinnow.replicas import ReplicaSettings, Standing, sketch
from webwinnow.replicas.grouping import likeness
from webwinnow.replicas.sketches import INTERVAL, PERCENTAGE, published_fingerprint
from webwinnow.words import shingles, words

__all__ = ["Pair", "ReplicaResults", "replica_experiment"]

PERCENTAGES: Final = tuple(k / 10 for k in range(1, 11))
INTERVALS: Final = tuple(range(1, 11))
SHINGLES: Final = (1, 2, 3, 4, 5)
SIMHASH_SHINGLE: Final = 3

Texts = Mapping[str, str]
Similarity = Callable[["Pair"], float]


class Pair(NamedTuple):
    """Two pages, the first an original, and whether the second is a replica of it; `kind` says how it was altered."""

    page_a: str
    page_b: str
    replica: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Rates:
    """Of the replicas of each kind the share that was hit, of the others the share taken for replicas."""

    hit: dict[str, float]
    error: float

    @property
    def least_hit(self) -> float:
        """The hit rate of the kind that is hit least."""
        return min(self.hit.values(), default=0.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """A fingerprint with degrees: a threshold fixed on one half and tested on the other, both ways; and the margin."""

    fingerprint: str
    cleaning: str
    thresholds: tuple[float, float]
    tested: Rates
    """Over both halves, each with the threshold that the other gave."""
    least_alike: dict[str, float]
    """Of each kind the replica least like its original."""
    most_alike_other: float

    @property
    def margin(self) -> float:
        """How far the least alike replica lies above the most alike other page; below 0 no threshold parts them."""
        return min(self.least_alike.values(), default=0.0) - self.most_alike_other


@dataclass(frozen=True, slots=True)
class ReplicaResults:
    """What was measured, cleaning by cleaning. `table` holds (hits, errors) by interval, then by percentage."""

    replicas: int
    others: int
    table: dict[str, list[list[tuple[int, int]]]]
    published: dict[str, Rates]
    default: dict[str, Rates]
    trials: tuple[Trial, ...]

    def to_plain(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain = asdict(self) | {"percentages": PERCENTAGES, "intervals": INTERVALS}
        for told, trial in zip(plain["trials"], self.trials, strict=True):
            told["margin"] = trial.margin
        return plain

    def to_markdown(self) -> str:
        """The tables for people."""
        kinds = sorted({kind for rates in self.published.values() for kind in rates.hit})
        told = [
            "# Replicas",
            "",
            f"{self.replicas} pairs of replicas, {self.others} pairs of other pages.",
            "",
            "## Fingerprints",
            "",
            "A threshold is fixed on half of the original pages and tested on the other half, both ways. The margin",
            "lies between the least alike replica and the most alike other page, over all pairs.",
            "",
            _row(["fingerprint", "cleaning", "threshold", *(f"hit: {kind}" for kind in kinds), "error", "margin"]),
            _row(["---"] * (len(kinds) + 5)),
        ]
        for cleaning, rates in self.published.items():
            told.append(_row(["published, 0.4 and 5", cleaning, "", *_shown(rates, kinds), ""]))
        for cleaning, rates in self.default.items():
            told.append(_row(["modern, as by default", cleaning, "", *_shown(rates, kinds), ""]))
        for trial in self.trials:
            cut = " / ".join(f"{threshold:.2f}" for threshold in trial.thresholds)
            margin = f"{trial.margin:+.3f}"
            told.append(_row([trial.fingerprint, trial.cleaning, cut, *_shown(trial.tested, kinds), margin]))
        for cleaning, rows in self.table.items():
            told += [
                "",
                f"## Table 2, cleaning: {cleaning}",
                "",
                f"Hits of {self.replicas} / errors of {self.others}, by Percentage (P) and Interval (I).",
                "",
                _row(["", *(f"P={percentage:.0%}" for percentage in PERCENTAGES)]),
                _row(["---"] * (len(PERCENTAGES) + 1)),
                *(
                    _row([f"I={interval}", *(f"{hits}/{errors}" for hits, errors in row)])
                    for interval, row in zip(INTERVALS, rows, strict=True)
                ),
            ]
        return "\n".join(told) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(rates: Rates, kinds: Sequence[str]) -> list[str]:
    return [*(f"{rates.hit[kind]:.3f}" for kind in kinds), f"{rates.error:.3f}"]


def replica_experiment(pairs: Sequence[Pair], texts: Mapping[str, Texts]) -> ReplicaResults:
    """Measure every fingerprint on labelled pairs; `texts` are the pages' texts by the name of a cleaning."""
    table, published, default, trials = {}, {}, {}, []
    for cleaning, said in texts.items():
        tokens = {page: words(text) for page, text in said.items()}
        table[cleaning] = [
            [_counted(pairs, tokens, share, interval) for share in PERCENTAGES] for interval in INTERVALS
        ]
        same = _same_published(tokens, PERCENTAGE, INTERVAL)
        published[cleaning] = _rates(pairs, [same(pair) for pair in pairs])
        settings = ReplicaSettings()
        modern = _minhash(said, settings)
        default[cleaning] = _rates(pairs, [modern(pair) >= settings.threshold for pair in pairs])
        trials.append(_trial(f"SimHash of shingles of {SIMHASH_SHINGLE}", cleaning, pairs, _simhash(tokens)))
        for size in SHINGLES:
            modern = _minhash(said, ReplicaSettings(shingle_words=size))
            trials.append(_trial(f"modern, shingles of {size}", cleaning, pairs, modern))
    replicas = sum(pair.replica for pair in pairs)
    return ReplicaResults(replicas, len(pairs) - replicas, table, published, default, tuple(trials))


# Fingerprints


def _same_published(tokens: Mapping[str, list[str]], percentage: float, interval: int) -> Callable[[Pair], bool]:
    found = {page: published_fingerprint(said, percentage, interval) for page, said in tokens.items()}
    return lambda pair: found[pair.page_a] is not None and found[pair.page_a] == found[pair.page_b]


def _counted(
    pairs: Sequence[Pair], tokens: Mapping[str, list[str]], percentage: float, interval: int
) -> tuple[int, int]:
    """Hits and errors of the published fingerprint: a cell of Table 2."""
    same = _same_published(tokens, percentage, interval)
    found = [pair.replica for pair in pairs if same(pair)]
    return sum(found), len(found) - sum(found)


def _minhash(texts: Texts, settings: ReplicaSettings) -> Similarity:
    """How alike the modern fingerprint finds two pages by what they say alone: no titles, no sites."""
    place = {page: k for k, page in enumerate(texts)}
    rows = np.array([sketch(text, Standing(), settings) for text in texts.values()])

    def alike(pair: Pair) -> float:
        one, other = (np.array([place[page]]) for page in (pair.page_a, pair.page_b))
        return float(likeness(rows, one, other)[0][0])

    return alike


def _simhash(tokens: Mapping[str, list[str]]) -> Similarity:
    found = {page: simhash(shingles(said, SIMHASH_SHINGLE)) for page, said in tokens.items()}
    return lambda pair: 1 - distance(found[pair.page_a], found[pair.page_b]) / BITS


# Thresholds


def _trial(fingerprint: str, cleaning: str, pairs: Sequence[Pair], similarity: Similarity) -> Trial:
    alike = np.array([similarity(pair) for pair in pairs])
    half = np.array([xxh3_64_intdigest(pair.page_a.encode()) & 1 for pair in pairs])
    thresholds = tuple(
        best_threshold([pair for pair, h in zip(pairs, half, strict=True) if h == k], alike[half == k]) for k in (0, 1)
    )
    tested = np.where(half == 0, alike >= thresholds[1], alike >= thresholds[0])
    kinds = sorted({pair.kind for pair in pairs if pair.replica})
    least = {
        kind: min(float(a) for pair, a in zip(pairs, alike, strict=True) if pair.replica and pair.kind == kind)
        for kind in kinds
    }
    others = [float(a) for pair, a in zip(pairs, alike, strict=True) if not pair.replica]
    rates = _rates(pairs, tested.tolist())
    return Trial(fingerprint, cleaning, (thresholds[0], thresholds[1]), rates, least, max(others, default=0.0))


def best_threshold(pairs: Sequence[Pair], alike: np.ndarray[Any, Any]) -> float:
    """The threshold with the best of (hit rate of the worst kind - error rate); the middle of all that are as good."""
    values = np.unique(np.concatenate([[0.0, 1.0], alike]))
    tried = (values[1:] + values[:-1]) / 2
    if not len(tried):
        return 0.5
    worth = []
    for threshold in tried:
        rates = _rates(pairs, (alike >= threshold).tolist())
        worth.append(rates.least_hit - rates.error)
    good = np.flatnonzero(np.array(worth) >= max(worth) - 1e-9)
    return float((values[good[0]] + values[good[-1] + 1]) / 2)


def _rates(pairs: Sequence[Pair], found: Sequence[bool]) -> Rates:
    by_kind: dict[str, list[bool]] = {}
    errors: list[bool] = []
    for pair, is_found in zip(pairs, found, strict=True):
        (by_kind.setdefault(pair.kind, []) if pair.replica else errors).append(bool(is_found))
    hit = {kind: sum(hits) / len(hits) for kind, hits in sorted(by_kind.items())}
    return Rates(hit, sum(errors) / len(errors) if errors else 0.0)
