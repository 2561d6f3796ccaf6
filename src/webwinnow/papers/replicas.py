"""DocView 7.2: the labelled replicas that each fingerprint finds, and its false positives.

Table 2 of the paper (hits and errors of the published fingerprint by Percentage and Interval); for fingerprints with a
similarity, a threshold chosen on half of the original pages and tested on the other half.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from webwinnow.errors import InputError
from webwinnow.inspect.templating import render_text
from webwinnow.page.blocks import text_of_runs
from webwinnow.page.fingerprints import BITS, distance, simhash
from webwinnow.page.metadata import metadata
from webwinnow.page.page import Page
from webwinnow.page.parsing import language_of, parse
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList, shingles, words
from webwinnow.papers.experiment import Report
from webwinnow.progress import Progress, no_progress
from webwinnow.record.cleaner import Cleaner
from webwinnow.record.sitemodel import learn
from webwinnow.replicas.grouping import similarity_of
from webwinnow.replicas.sketches import (
    INTERVAL,
    PERCENTAGE,
    PageOrigin,
    ReplicaSettings,
    distinctive_runs,
    published_fingerprint,
    sketch,
)
from webwinnow.run.inputs import known_page_count, open_pages
from webwinnow.run.tablefiles import TableFile
from webwinnow.run.unpacking import InputProblem, ProblemListener, ignore_problem

PERCENTAGES: Final = tuple(k / 10 for k in range(1, 11))
INTERVALS: Final = tuple(range(1, 11))
SHINGLES: Final = (1, 2, 3, 4, 5)
SIMHASH_SHINGLE: Final = 3


class PageText(NamedTuple):
    """The cleaned text of a page and its language, None where that is unknown."""

    text: str
    language: str | None = None


Texts = Mapping[str, PageText]
Similarity = Callable[["Pair"], float]


class Pair(NamedTuple):
    """An original page, another page, whether that is a replica of it, and the `kind` of alteration."""

    page_a: str
    page_b: str
    replica: bool
    kind: str


def read_pairs(path: Path) -> list[Pair]:
    """Read labelled pairs from a Parquet or JSONL file with the columns of `Pair`."""

    def refuse(problem: str) -> None:
        raise InputError(problem)

    file = TableFile(path)
    file.check(Pair._fields)
    rows = file.rows(Pair._fields, refuse, required=Pair._fields)
    pairs = [Pair(str(r["page_a"]), str(r["page_b"]), bool(r["replica"]), str(r["kind"])) for r in rows]
    if not any(pair.replica for pair in pairs):
        raise InputError(f"{path}: has no pair of replicas")
    return pairs


def cleaned_texts(
    pages: Path,
    pairs: Sequence[Pair],
    cleaning: str,
    site_by: SiteKey,
    on_progress: Progress | None = None,
    on_problem: ProblemListener = ignore_problem,
) -> dict[str, PageText]:
    """Return the cleaned text of each page of the pairs by page id, each site learned from all its pages."""
    progress = on_progress or no_progress
    wanted = {page for pair in pairs for page in (pair.page_a, pair.page_b)}
    sites: dict[str, list[tuple[str | None, PageTree]]] = defaultdict(list)
    total = known_page_count([pages])
    for done, page in enumerate(open_pages([pages], on_problem=on_problem), start=1):
        if page.refused is None:
            tree = parse(page.body, url=page.url, content_type=page.content_type, layout=page.layout)
            sites[site_by.of(page.url, page.site)].append((page.page_id, tree))
        else:
            on_problem(InputProblem(f"{pages}: page {done} was refused ({page.refused})"))
        progress("parse", done, total)
    texts: dict[str, PageText] = {}
    cleaner = Cleaner.of(cleaning)
    for site, members in sorted(sites.items()):
        learns = cleaner.method.learns and site_by.has_sites
        model = learn([tree for _, tree in members], site, cleaner.method.parts) if learns else None
        for page_id, tree in members:
            if page_id in wanted:
                context = Page(tree)
                verdict = cleaner.clean_in(context, model).verdict
                scored = context if cleaner.method.scores else None
                text = text_of_runs(tree, distinctive_runs(tree, verdict, scored, model))
                texts[page_id] = PageText(text, metadata(tree).language or language_of(text))
                progress("clean", len(texts), len(wanted))
    missing = sorted(wanted - texts.keys())
    if missing:
        raise InputError(f"{pages}: has no page {', '.join(missing[:3])}, which the labels name")
    return texts


# Results


@dataclass(frozen=True, slots=True)
class Rates:
    """The hit rate of the replicas of each kind, and the error rate: the share of other pages taken for replicas."""

    hit: dict[str, float]
    error: float


@dataclass(frozen=True, slots=True)
class FingerprintTrial:
    """A fingerprint with a similarity: a threshold chosen on one half and tested on the other, in both directions."""

    fingerprint: str
    cleaning: str
    thresholds: tuple[float, float]
    tested: Rates
    """Over both halves, each with the threshold chosen on the other."""
    least_alike: dict[str, float]
    """The lowest similarity of a replica to its original, by kind."""
    most_alike_other: float

    @property
    def margin(self) -> float:
        """The least similar replica minus the most similar other page; below 0 no threshold separates them."""
        return min(self.least_alike.values(), default=0.0) - self.most_alike_other


@dataclass(frozen=True, slots=True)
class ReplicaResults:
    """The measurements by cleaning method. `table` has (hits, errors) by interval, then by percentage."""

    replicas: int
    others: int
    table: dict[str, list[list[tuple[int, int]]]]
    published: dict[str, Rates]
    default: dict[str, Rates]
    trials: tuple[FingerprintTrial, ...]

    def report(self) -> Report:
        """The tables in Markdown, and plain results."""
        plain = asdict(self) | {"percentages": PERCENTAGES, "intervals": INTERVALS}
        for row, trial in zip(plain["trials"], self.trials, strict=True):
            row["margin"] = trial.margin
        text = render_text("replicas.md.j2", results=self, percentages=PERCENTAGES, intervals=INTERVALS)
        return Report(name="replicas", summary=text.splitlines(), plain=plain)


def replica_experiment(
    pairs: Sequence[Pair], texts: Mapping[str, Texts], stops: StopList | None = None
) -> ReplicaResults:
    """Measure every fingerprint on labelled pairs; `texts` are the pages' texts by cleaning method."""
    stops = stops or StopList()
    table, published, default, trials = {}, {}, {}, []
    for cleaning, by_page in texts.items():
        tokens = {page: words(text) for page, (text, _) in by_page.items()}
        features = {page: _features(tokens[page], stops.of(language)) for page, (_, language) in by_page.items()}
        table[cleaning] = [
            [_hits_and_errors(pairs, features, share, interval) for share in PERCENTAGES] for interval in INTERVALS
        ]
        same = _same_published(features, PERCENTAGE, INTERVAL)
        published[cleaning] = _rates(pairs, [same(pair) for pair in pairs])
        settings = ReplicaSettings()
        modern = _minhash(by_page, settings)
        default[cleaning] = _rates(pairs, [modern(pair) >= settings.threshold for pair in pairs])
        trials.append(_trial(f"SimHash of shingles of {SIMHASH_SHINGLE}", cleaning, pairs, _simhash(tokens)))
        for size in SHINGLES:
            modern = _minhash(by_page, ReplicaSettings(shingle_words=size))
            trials.append(_trial(f"modern, shingles of {size}", cleaning, pairs, modern))
    replicas = sum(pair.replica for pair in pairs)
    return ReplicaResults(replicas, len(pairs) - replicas, table, published, default, tuple(trials))


# Fingerprints


def _features(tokens: list[str], stops: Collection[str]) -> list[str]:
    """The words of a page's feature vector (DocView 3.2)."""
    return [word for word in tokens if word not in stops]


def _same_published(tokens: Mapping[str, list[str]], percentage: float, interval: int) -> Callable[[Pair], bool]:
    found = {page: published_fingerprint(of_page, percentage, interval) for page, of_page in tokens.items()}
    return lambda pair: found[pair.page_a] is not None and found[pair.page_a] == found[pair.page_b]


def _hits_and_errors(
    pairs: Sequence[Pair], tokens: Mapping[str, list[str]], percentage: float, interval: int
) -> tuple[int, int]:
    """A cell of Table 2."""
    same = _same_published(tokens, percentage, interval)
    found = [pair.replica for pair in pairs if same(pair)]
    return sum(found), len(found) - sum(found)


def _minhash(texts: Texts, settings: ReplicaSettings) -> Similarity:
    """The similarity of the modern fingerprint from texts alone, without titles and sites."""
    place = {page: k for k, page in enumerate(texts)}
    rows = np.array([sketch(text, PageOrigin(), settings) for text, _ in texts.values()])

    def similarity(pair: Pair) -> float:
        one, other = (np.array([place[page]]) for page in (pair.page_a, pair.page_b))
        return float(similarity_of(rows, one, other)[0][0])

    return similarity


def _simhash(tokens: Mapping[str, list[str]]) -> Similarity:
    found = {page: simhash(shingles(of_page, SIMHASH_SHINGLE)) for page, of_page in tokens.items()}
    return lambda pair: 1 - distance(found[pair.page_a], found[pair.page_b]) / BITS


# Thresholds


def _trial(fingerprint: str, cleaning: str, pairs: Sequence[Pair], similarity: Similarity) -> FingerprintTrial:
    similar = np.array([similarity(pair) for pair in pairs])
    half = np.array([xxh3_64_intdigest(pair.page_a.encode()) & 1 for pair in pairs])
    first, second = (
        best_threshold([pair for pair, of in zip(pairs, half, strict=True) if of == k], similar[half == k])
        for k in (0, 1)
    )
    tested = np.where(half == 0, similar >= second, similar >= first)
    by_kind: dict[str, list[float]] = defaultdict(list)
    others: list[float] = []
    for pair, value in zip(pairs, similar.tolist(), strict=True):
        (by_kind[pair.kind] if pair.replica else others).append(value)
    least = {kind: min(values) for kind, values in sorted(by_kind.items())}
    return FingerprintTrial(
        fingerprint, cleaning, (first, second), _rates(pairs, tested.tolist()), least, max(others, default=0.0)
    )


def best_threshold(pairs: Sequence[Pair], similar: np.ndarray[Any, Any]) -> float:
    """Return the threshold that maximises (hit rate of the worst kind - error rate): the middle of the best range."""
    values = np.unique(np.concatenate([[0.0, 1.0], similar]))
    worth = []
    for threshold in (values[1:] + values[:-1]) / 2:
        rates = _rates(pairs, (similar >= threshold).tolist())
        worth.append(min(rates.hit.values(), default=0.0) - rates.error)
    good = np.flatnonzero(np.array(worth) >= max(worth) - 1e-9)
    return float((values[good[0]] + values[good[-1] + 1]) / 2)


def _rates(pairs: Sequence[Pair], found: Sequence[bool]) -> Rates:
    by_kind: dict[str, list[bool]] = defaultdict(list)
    errors: list[bool] = []
    for pair, is_found in zip(pairs, found, strict=True):
        (by_kind[pair.kind] if pair.replica else errors).append(bool(is_found))
    hit = {kind: sum(hits) / len(hits) for kind, hits in sorted(by_kind.items())}
    return Rates(hit, sum(errors) / len(errors) if errors else 0.0)
