"""Training of the recogniser of kinds: labelled regions, the latent basis, the linear model, boosted trees.

Every stage learns from the labelled regions and their pages only; folds are by registrable domain (a documentation
site of the Debian packages is its own), so that every stage is evaluated on sites that it has not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import randomized_svd

from training.boosting import fit_forest
from training.regionlabels import MEASURED, TRAINING, label_rows, located, spans_of, with_labelled
from webwinnow.judge.kinds import (
    CONTEXTS,
    EVIDENCE,
    KIND_CODE,
    WEIGHT_SCALE,
    KindModel,
    by_evidence,
    in_context,
    in_groups,
    softmax,
    token_weights,
)
from webwinnow.judge.reading import read
from webwinnow.judge.regionfeatures import TOKENS, RegionReading, read_regions
from webwinnow.judge.removedregions import removed_regions
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord
from webwinnow.page.urls import SiteKey
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import learn
from webwinnow.site.sums import BLOCKS

__all__ = ["MEASURED", "TRAINING", "ReadPage", "fit_kinds", "folds_of", "held_out", "label_rows", "load_pages"]

SINGLE, DOCS = ("pages-wcxb", "pages-more"), "sites-docs"
"""Files of pages that are cleaned alone, and the one whose sites share a domain."""
LEARNED = 40
"""Pages of a site from which its model is learned, as when the regions were sampled."""
LATENT, SVD_ROUNDS, SVD_ROWS = 64, 3, 25_000
RAREST = 3
"""Least number of regions that have a token for it to be used."""
TOKENS_COUNT, NUMBERS_COUNT = 3.0, 0.2
"""Weights in the linear model: all tokens of one part of a region together, and one number."""
STRENGTH = 2.0
"""Inverse regularisation of the linear model."""
FOREST: dict[str, Any] = {
    "iterations": 520,
    "depth": 5,
    "learning_rate": 0.06,
    "rsm": 0.3,
    "loss_function": "MultiClass",
}
FOREST_SHARE = 0.7
CONTEXT_FOLDS = 5
"""Folds by domain in which the first probabilities that the forest learns from are predicted."""
NEVER = -30.0
"""Bias of a kind without a label in a fold."""
BALANCE = 0.35
"""Weight of a region: (share of its kind)^-0.35. Rare kinds weigh more per region, but less in total."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage:
    """A page with labelled regions among its removed ones; `labels` maps the number of a region to (id, kind)."""

    group: str
    reading: RegionReading
    labels: dict[int, tuple[str, int]]

    def kinds(self) -> list[tuple[int, int]]:
        """The labelled regions and their kinds."""
        return [(r, kind) for r, (_, kind) in self.labels.items()]


def load_pages(data: Path, rows: Sequence[dict[str, Any]]) -> list[ReadPage]:
    """Read the pages of labelled regions, cleaned as when sampled: with a model of their site if it has one."""
    wanted: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        wanted[row["file"]][row["page_id"]].append(row)
    domain, found = SiteKey(by="domain"), []
    for file, pages in sorted(wanted.items()):
        by_site = defaultdict(list)
        sites = {row["site"] for labelled in pages.values() for row in labelled}
        for page in pq.read_table(data / f"{file}.parquet", columns=["page_id", "url", "site", "html"]).to_pylist():
            if page["page_id"] in pages or (file not in SINGLE and page["site"] in sites):
                by_site[page["site"] if file not in SINGLE else page["page_id"]].append(page)
        for site in sorted(by_site):
            own = sorted(by_site[site], key=lambda page: str(page["page_id"]))
            model = None
            if file not in SINGLE:
                order = np.random.default_rng(0).permutation(len(own)).tolist()[:LEARNED]
                trees = [parse(own[k]["html"], url=own[k]["url"]) for k in order]
                model = learn(trees, site, frozenset({BLOCKS}))
            for page in own:
                if page["page_id"] in pages:
                    tree = parse(page["html"], url=page["url"])
                    verdict = clean_page(tree, "combined", model).verdict
                    cut = removed_regions(tree, verdict)
                    spans = located(cut, pages[page["page_id"]])
                    cut = with_labelled(cut, spans.values())
                    at = {span: r for r, span in enumerate(spans_of(cut))}
                    labels = {
                        at[spans[row["id"]]]: (row["id"], KIND_CODE[row["kind"]])
                        for row in pages[page["page_id"]]
                        if row["id"] in spans
                    }
                    url = page["url"] if "://" in page["url"] else f"http://{page['url']}"
                    group = page["site"] if file == DOCS else domain.of(PageRecord(url=url, body=b""))
                    found.append(ReadPage(group, read_regions(cut, read(tree), verdict, model), labels))
    return found


def folds_of(pages: Sequence[ReadPage], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each page; the pages of a domain share one."""
    groups = np.random.default_rng(seed).permutation(sorted({page.group for page in pages})).tolist()
    fold = {group: k % folds for k, group in enumerate(groups)}
    return np.array([fold[page.group] for page in pages])


def held_out(pages: Sequence[ReadPage], folds: int, seed: int = 0) -> dict[str, tuple[int, NDArray[np.float64]]]:
    """For each labelled region (true kind, probabilities), predicted by a model of other domains."""
    fold, found = folds_of(pages, folds, seed), {}
    for k in range(folds):
        model = fit_kinds([page for page, own in zip(pages, fold, strict=True) if own != k], seed=seed)
        for page, own in zip(pages, fold, strict=True):
            if own == k:
                predicted = model.probabilities(page.reading)
                found |= {name: (kind, predicted[r]) for r, (name, kind) in page.labels.items()}
    return found


def fit_kinds(pages: Sequence[ReadPage], *, seed: int = 0, about: dict[str, Any] | None = None) -> KindModel:
    """Train all stages. Deterministic for the same pages, seed and machine."""
    idf = _idf(pages)
    whole, by_part = (
        sparse.vstack([_token_matrix(page.reading, idf, by_part=by_part) for page in pages]).tocsr()
        for by_part in (False, True)
    )
    basis, scale = _basis(whole, seed)
    first = np.cumsum([0, *(page.reading.features.shape[1] for page in pages)])
    at = sorted(
        (int(a) + r, kind) for page, a in zip(pages, first, strict=False) for r, (_, kind) in page.labels.items()
    )
    rows, kind = np.array([r for r, _ in at]), np.array([k for _, k in at])
    numbers = np.concatenate([page.reading.features for page in pages], axis=1)[:, rows]
    classes, label, times = np.unique(kind, return_inverse=True, return_counts=True)
    weight = (times.max() / times) ** BALANCE
    linear = _linear(by_part[rows], numbers, label, weight[label], len(classes))
    latent = (whole[rows] @ basis.astype(np.float32)) * scale
    stacked = _held_out_scores(pages, by_part, rows, label, weight[label], seed)
    wide = np.ascontiguousarray(
        np.concatenate((numbers, np.concatenate((latent, stacked), axis=1).T), dtype=np.float32)
    )
    forest = fit_forest(wide, label, weight[label], seed=seed, **FOREST)
    return KindModel(
        classes=classes.astype(np.uint8),
        idf=idf,
        basis=basis,
        basis_scale=scale,
        **linear,
        forest=forest,
        forest_share=FOREST_SHARE,
        about=about or {},
    )


def _held_out_scores(
    pages: Sequence[ReadPage],
    by_part: sparse.csr_matrix,
    rows: NDArray[np.int64],
    label: NDArray[np.int64],
    weight: NDArray[np.float64],
    seed: int,
) -> NDArray[np.float64]:
    """First probabilities of the labelled regions in context, and their scores by evidence, from linear models of other
    domains.
    """
    fold = folds_of(pages, CONTEXT_FOLDS, seed)
    first = np.cumsum([0, *(page.reading.features.shape[1] for page in pages)])
    fold_of_row = np.repeat(fold, np.diff(first))
    numbers = np.concatenate([page.reading.features for page in pages], axis=1)
    kinds = int(label.max()) + 1
    found = np.zeros((len(rows), (CONTEXTS + len(EVIDENCE) + 1) * kinds))
    for k in range(CONTEXT_FOLDS):
        others = fold_of_row[rows] != k
        own = rows[others]
        linear = _linear(by_part[own], numbers[:, own], label[others], weight[others], kinds)
        held = np.flatnonzero(fold_of_row == k)
        scores = _scores(linear, by_part[held], numbers[:, held])
        for a, b in zip(first[:-1][fold == k].tolist(), first[1:][fold == k].tolist(), strict=True):
            own_scores = scores[slice(*np.searchsorted(held, (a, b)))]
            read = np.concatenate((in_context(softmax(own_scores.sum(axis=1))), by_evidence(own_scores)), axis=1)
            at = slice(*np.searchsorted(rows, (a, b)))
            found[at] = read[rows[at] - a]
    return found


def _scores(
    linear: dict[str, NDArray[Any]], tokens: sparse.csr_matrix, numbers: NDArray[np.float32]
) -> NDArray[np.float64]:
    """As `KindModel.linear`."""
    scaled = np.clip((numbers.T - linear["middle"]) / linear["spread"], -3.0, 3.0)
    table, kinds = linear["token_weight"] / WEIGHT_SCALE, len(linear["bias"])
    apart = (in_groups(np.arange(TOKENS, dtype=np.int32))[:, :, None] * table).transpose(1, 0, 2).reshape(TOKENS, -1)
    said = (tokens @ apart).reshape(-1, len(EVIDENCE), kinds)
    counted = scaled @ linear["number_weight"] + linear["bias"]
    return np.concatenate((said, counted[:, None]), axis=1)


def _token_matrix(reading: RegionReading, idf: NDArray[np.float32], *, by_part: bool) -> sparse.csr_matrix:
    weights = token_weights(reading, idf, by_part=by_part).astype(np.float32)
    return sparse.csr_matrix((weights, reading.ids, reading.offsets), shape=(len(reading.offsets) - 1, TOKENS))


def _idf(pages: Sequence[ReadPage]) -> NDArray[np.float32]:
    times = sum(np.bincount(page.reading.ids, minlength=TOKENS) for page in pages)
    regions = sum(page.reading.features.shape[1] for page in pages)
    found = np.log(max(regions, 1) / np.maximum(times, 1))
    return np.where(times >= RAREST, found, 0.0).round(3).astype(np.float32)


def _basis(whole: sparse.csr_matrix, seed: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The first right singular vectors of the regions' tokens, as small integers and their scale."""
    sample = np.sort(np.random.default_rng(seed).permutation(whole.shape[0])[:SVD_ROWS])
    _, _, right = randomized_svd(whole[sample], LATENT, n_iter=SVD_ROUNDS, random_state=seed)
    # a few tokens are outliers: clip at a high quantile, so that the rest keeps its precision in 8 bits
    scale = np.quantile(np.abs(right), 0.9995, axis=1) / 127
    basis = np.clip(np.round(right / scale[:, None]), -127, 127).astype(np.int8)
    return np.ascontiguousarray(basis.T), scale.astype(np.float32)


def _linear(
    own: sparse.csr_matrix,
    numbers: NDArray[np.float32],
    label: NDArray[np.int64],
    weight: NDArray[np.float64],
    kinds: int,
) -> dict[str, NDArray[Any]]:
    """Multinomial regression over tokens and numbers; tokens of fewer than two labelled regions are dropped.

    Of `kinds` kinds, those without a label get no probability.
    """
    middle, spread = numbers.mean(axis=1), numbers.std(axis=1) + 1e-6
    scaled = np.clip((numbers.T - middle) / spread, -3.0, 3.0)
    seen = np.flatnonzero(np.asarray((own != 0).sum(axis=0)).ravel() >= 2)
    rows = sparse.hstack([own[:, seen] * TOKENS_COUNT, sparse.csr_matrix(scaled * NUMBERS_COUNT)]).tocsr()
    model = LogisticRegression(C=STRENGTH, max_iter=80, tol=1e-3).fit(rows, label, sample_weight=weight)
    coefficients, bias = np.zeros((kinds, rows.shape[1])), np.full(kinds, NEVER)
    coefficients[model.classes_], bias[model.classes_] = model.coef_, model.intercept_
    table = np.zeros((TOKENS, kinds), np.int16)
    weights = np.round(coefficients[:, : len(seen)].T * TOKENS_COUNT * WEIGHT_SCALE)
    table[seen] = np.clip(weights, -32_767, 32_767).astype(np.int16)
    return {
        "token_weight": table,
        "number_weight": (coefficients[:, len(seen) :].T * NUMBERS_COUNT).astype(np.float32),
        "bias": bias.astype(np.float32),
        "middle": middle.astype(np.float32),
        "spread": spread.astype(np.float32),
    }
