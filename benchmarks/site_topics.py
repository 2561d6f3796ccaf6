"""The topic of whole sites, six methods: each site by a model of the others, half of sites-docs by the other half; and
sites added to a model by incremental EM against training it again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from math import log
from pathlib import Path

import numpy as np

from webwinnow.page.parsing import parse
from webwinnow.topics.methods import TwoPhase
from webwinnow.topics.pages import PageWords, SitePages
from webwinnow.topics.scores import bootstrap_interval, macro_accuracy
from webwinnow.topics.sitetopics import METHODS, SiteTopics
from webwinnow.topics.training import Training

COLUMNS = ("sites and method", "right", "95 % interval", "accuracy (16)", "log loss", "CPU s", "mistakes")
FILES = {"sites-swde": "vertical", "sites-docs": "label"}
GROWN_COLUMNS = ("sites-docs, `multiscale`", "incremental", "trained again")
ORDERS, LEARNED, ADDED = 10, 8, 4
"""Random orders of sites-docs; of each the first sites are learned, the next added one by one, the rest classified."""
HALVES = 10
"""Random halves of sites-docs."""
LEAST = 1e-9
"""Lower bound of a probability in the log loss."""


def leave_one_out(data: Path) -> list[tuple[str, ...]]:
    """Leave each site out with every method; one `Training` for all methods of a fold."""
    rows = []
    for name, column in FILES.items():
        sites, labels = read_sites(data / f"{name}.parquet", column)
        predicted: dict[str, list[str]] = defaultdict(list)
        loss: dict[str, float] = defaultdict(float)
        seconds: dict[str, float] = defaultdict(float)
        for out, site in enumerate(sites):
            training = Training([*sites[:out], *sites[out + 1 :]], [*labels[:out], *labels[out + 1 :]])
            for method in METHODS:
                started = time.process_time()
                found = SiteTopics(method).learn(training).classify(site)
                seconds[method] += time.process_time() - started
                predicted[method].append(found.topic)
                loss[method] -= log(max(found.posterior[labels[out]], LEAST)) / len(sites)
        for method in METHODS:
            wrong = [
                f"{site.site} as {topic}"
                for site, topic, label in zip(sites, predicted[method], labels, strict=True)
                if topic != label
            ]
            rows.append(
                (
                    f"{name} `{method}`",
                    f"{len(sites) - len(wrong)} of {len(sites)}",
                    "{:.2f} to {:.2f}".format(
                        *bootstrap_interval([a == b for a, b in zip(predicted[method], labels, strict=True)])
                    ),
                    f"{macro_accuracy(labels, predicted[method]):.3f}",
                    f"{loss[method]:.2f}",
                    f"{seconds[method]:.0f}",
                    "; ".join(wrong) or "none",
                )
            )
        if name == "sites-docs":
            rows += _halves(sites, labels)
    return rows


def _halves(sites: list[SitePages], labels: list[str]) -> list[tuple[str, ...]]:
    """Train on a random half of the sites and classify the other half, ten times: the mean share that is right."""
    chance = np.random.default_rng(0)
    right: dict[str, list[float]] = defaultdict(list)
    for _ in range(HALVES):
        order = chance.permutation(len(sites)).tolist()
        learned, tested = order[: len(order) // 2], order[len(order) // 2 :]
        training = Training([sites[s] for s in learned], [labels[s] for s in learned])
        for method in METHODS:
            model = SiteTopics(method).learn(training)
            right[method].append(float(np.mean([model.classify(sites[s]).topic == labels[s] for s in tested])))
    return [
        (
            f"half of sites-docs `{method}`",
            f"{np.mean(found):.3f}",
            "{:.2f} to {:.2f}".format(*bootstrap_interval(found)),
        )
        + ("",) * 4
        for method, found in right.items()
    ]


def incremental(data: Path) -> list[tuple[str, ...]]:
    """Rounds that each add one site, by incremental EM and by training on all sites again: time and answers."""
    sites, labels = read_sites(data / "sites-docs.parquet", FILES["sites-docs"])
    chance = np.random.default_rng(0)
    seconds: dict[str, list[float]] = {"grown": [], "again": []}
    answers: list[tuple[str, str, str]] = []
    apart: list[float] = []
    for _ in range(ORDERS):
        order = _every_topic_first(chance.permutation(len(sites)).tolist(), labels)
        chosen = order[:LEARNED]
        grown = Training([sites[s] for s in chosen], [labels[s] for s in chosen])
        SiteTopics("multiscale").learn(grown)
        for new in order[LEARNED : LEARNED + ADDED]:
            chosen = [*chosen, new]
            started = time.process_time()
            grown = grown.grown([sites[new]], [labels[new]])
            by_growth = SiteTopics("multiscale").learn(grown)
            seconds["grown"].append(time.process_time() - started)
            started = time.process_time()
            again = Training([sites[s] for s in chosen], [labels[s] for s in chosen])
            by_training = SiteTopics("multiscale").learn(again)
            seconds["again"].append(time.process_time() - started)
            scales = [training.learned(TwoPhase).pages.parameters.transition for training in (grown, again)]
            apart.append(float(np.abs(scales[0] - scales[1]).max()))
            for s in order[LEARNED + ADDED :]:
                found = by_growth.classify(sites[s]), by_training.classify(sites[s])
                answers.append((labels[s], found[0].topic, found[1].topic))
    rounds, classified = len(apart), len(answers)
    right = [sum(row[0] == row[way] for row in answers) for way in (1, 2)]
    return [
        ("CPU seconds of a round", *(f"{np.mean(found):.2f}" for found in seconds.values())),
        ("times faster", f"{np.sum(seconds['again']) / np.sum(seconds['grown']):.1f}", "1"),
        (f"right, of {classified} answers after {rounds} rounds", *map(str, right)),
        ("the same answer", f"{sum(row[1] == row[2] for row in answers)} of {classified}", ""),
        ("largest difference of A of page trees, mean over rounds", f"{np.mean(apart):.4f}", ""),
    ]


def _every_topic_first(order: list[int], labels: list[str]) -> list[int]:
    """The order with one site of each topic moved to the front."""
    first = list({labels[s]: s for s in reversed(order)}.values())
    return [*first, *(s for s in order if s not in first)]


def read_sites(path: Path, column: str) -> tuple[list[SitePages], list[str]]:
    """The sites of a file with their topics, each page parsed once and released."""
    import pyarrow.parquet as pq

    pages: dict[str, list[PageWords]] = defaultdict(list)
    topic: dict[str, str] = {}
    for batch in pq.ParquetFile(path).iter_batches(batch_size=64, columns=["url", "site", "html", column]):
        for row in batch.to_pylist():
            pages[row["site"]].append(PageWords.of(parse(row["html"], url=row["url"])))
            topic[row["site"]] = row[column]
    return [SitePages.of_pages(found, site) for site, found in pages.items()], [topic[site] for site in pages]
