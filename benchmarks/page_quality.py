"""Quality of the page model on sites it has not seen: nested cross-validation, by genre, and calibration.

`python benchmarks/page_quality.py [--folds N] [--seed N] [--without-news]` prints the tables; with `--docs` it writes
them into `docs/page-model.md`, with the reliability plot beside it. Folds are by registrable domain (news by
publisher). Every stage of training, calibration included, sees the other folds only; the text is that of the renderer.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

DOCS = Path(__file__).parents[1] / "docs"
FOLDS = 5
BINS = 10
MEASURES = ("f1", "precision", "recall", "best")
PEERS = {
    "article": 0.937,
    "collection": 0.658,
    "documentation": 0.938,
    "forum": 0.774,
    "listing": 0.706,
    "product": 0.635,
    "service": 0.836,
    "all": 0.857,
}
"""The best one-page extractor of each genre (rs-trafilatura or trafilatura), measured on the same pages with the same
scorer; from the table beside the data."""


class Judged(NamedTuple):
    """One page, cleaned by a model that saw neither it nor its site."""

    source: str
    site: str
    genre: str
    guessed: str | None
    f1: float
    precision: float
    recall: float
    confidence: float
    best: float
    """F1 of the best cut in hindsight."""
    probability: np.ndarray
    content: np.ndarray
    words: np.ndarray


def judge(
    data: Path, *, folds: int = FOLDS, seed: int = 0, news: bool = True, progress: Callable[[str], None] = print
) -> list[Judged]:
    """Clean every page with a model of the other folds. Without `news` the models are trained on single pages only, and
    each still cleans the news pages of its fold. `heldout` keeps the models.
    """
    from heldout import NEWS, SINGLE, nested_folds, nested_model, training_pages

    pages, of_site = training_pages(data), nested_folds(data, folds, seed)
    found = []
    for k in range(folds):
        started = time.perf_counter()
        model = nested_model(data, k, folds, seed, news=news)
        own = (page for page in pages if of_site.get(page.site) == k and page.source in (SINGLE, NEWS))
        found += [_judged(page, model) for page in own]
        progress(f"fold {k + 1} of {folds}: {time.perf_counter() - started:.0f} s")
    return found


def _judged(page, model) -> Judged:
    from training.pages import word_f1

    from webwinnow.judge.evidence import page_with
    from webwinnow.judge.reading import GENRES
    from webwinnow.record.cleaner import Cleaner

    clean = Cleaner.of("page").clean_in(page_with(page.tree, model=model))
    verdict = clean.verdict
    scores = model.score(page.tree)
    cuts = np.unique(np.quantile(scores.probability, np.linspace(0, 1, 25))) if len(scores.probability) else []
    f1, precision, recall = word_f1(clean.text, page.truth)
    return Judged(
        page.source,
        page.site,
        GENRES[page.genre],
        verdict.genre,
        f1,
        precision,
        recall,
        verdict.confidence,
        max([f1, *(page.f1(scores.probability >= cut)[0] for cut in cuts)]),
        scores.probability,
        page.label >= 0.5,
        page.words,
    )


def genre_rows(judged: Sequence[Judged]) -> list[tuple[str, int, float, float, float, float, float | None]]:
    """Genre, pages, F1, precision, recall, F1 with the best cut in hindsight, best peer; single pages, then news."""
    groups = defaultdict(list)
    for page in judged:
        if page.source == "pages-wcxb":
            groups["all"].append(page)
            groups[page.genre].append(page)
        else:
            groups["sites-news"].append(page)
    order = ["all", *sorted(set(groups) - {"all", "sites-news"}), *(["sites-news"] if "sites-news" in groups else [])]
    return [
        (
            name,
            len(groups[name]),
            *(statistics.mean(getattr(page, field) for page in groups[name]) for field in MEASURES),
            PEERS.get(name),
        )
        for name in order
    ]  # fmt: skip


def reliability(judged: Sequence[Judged]) -> list[tuple[float, float, float]]:
    """For each tenth of probability: its mean, the share of words that are content, the share of all words.

    All pages have equal weight, whatever their length.
    """
    p = np.concatenate([page.probability for page in judged])
    content = np.concatenate([page.content for page in judged])
    weight = np.concatenate([page.words / max(page.words.sum(), 1.0) for page in judged])
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    rows = []
    for k in range(BINS):
        inside = bins == k
        if weight[inside].sum() > 0:
            rows.append(
                (
                    float(np.average(p[inside], weights=weight[inside])),
                    float(np.average(content[inside], weights=weight[inside])),
                    float(weight[inside].sum() / weight.sum()),
                )
            )
    return rows


def confidence_rows(judged: Sequence[Judged]) -> list[tuple[float, float, int]]:
    """For each tenth of confidence: its mean, the mean F1, the number of pages."""
    bins = defaultdict(list)
    for page in judged:
        bins[min(int(page.confidence * BINS), BINS - 1)].append(page)
    return [
        (statistics.mean(p.confidence for p in bins[k]), statistics.mean(p.f1 for p in bins[k]), len(bins[k]))
        for k in sorted(bins)
    ]


def page(data: Path) -> list[tuple[str, str]]:
    """Rows for `RESULTS.md`."""
    try:
        import catboost  # noqa: F401
    except ImportError:
        return [("skipped", "training needs the dependency group `train`")]
    judged = judge(data)
    rows = [
        (
            f"{name} ({pages:,} pages): F1, precision / recall",
            f"**{f1:.3f}**, {p:.3f} / {r:.3f}" + (f" (best peer {peer:.3f})" if peer else ""),
        )
        for name, pages, f1, p, r, _, peer in genre_rows(judged)
    ]  # fmt: skip
    return [*rows, *_speed(data)]


def _speed(data: Path) -> list[tuple[str, str]]:
    """Time reading, scoring and cutting relative to parsing, in one run."""
    import pyarrow.parquet as pq

    import webwinnow
    from webwinnow.judge.models import PageModel

    model = PageModel.load()
    bodies = pq.read_table(data / "pages-wcxb.parquet", columns=["html"])["html"].to_pylist()
    ratios = []
    for _ in range(3):
        started = time.perf_counter()
        trees = [webwinnow.parse(body) for body in bodies]
        parsed = time.perf_counter()
        for tree in trees:
            scores = model.score(tree)
            model.cut(scores.probability, scores.reading.words)
        ratios.append((time.perf_counter() - parsed) / (parsed - started))
    return [("features, scores and cut, time relative to `webwinnow.parse`", f"**{statistics.median(ratios):.2f}**")]


def tables(judged: Sequence[Judged]) -> str:
    """Return all tables as Markdown."""
    lines = [
        "| pages | count | word F1 | precision | recall | best cut in hindsight | best peer |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, count, f1, precision, recall, best, peer in genre_rows(judged):
        shown = "" if peer is None else f"{peer:.3f}"
        lines.append(f"| {name} | {count:,} | {f1:.4f} | {precision:.3f} | {recall:.3f} | {best:.3f} | {shown} |")
    right = statistics.mean(p.genre == p.guessed for p in judged if p.source == "pages-wcxb")
    lines += ["", f"The genre of the single pages is right on {right:.3f} of them.", ""]
    lines += ["| probability of a block | share of its words that are content | share of all words |", "|---|---|---|"]
    lines += [f"| {p:.2f} | {found:.2f} | {part:.3f} |" for p, found, part in reliability(judged)]
    lines += ["", "| confidence in a page | its word F1 | pages |", "|---|---|---|"]
    lines += [f"| {c:.2f} | {found:.2f} | {count:,} |" for c, found, count in confidence_rows(judged)]
    return "\n".join(lines) + "\n"


def plot(judged: Sequence[Judged], path: Path) -> None:
    """Plot probability against the share of content, and confidence against F1, as a small SVG."""
    size, margin = 220, 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * (size + 2 * margin)}" height="{size + 2 * margin}" '
        'font-family="sans-serif" font-size="11">'
    ]
    panels = (
        (
            "probability of a block",
            "share of words that are content",
            [(p, found) for p, found, _ in reliability(judged)],
        ),
        ("confidence in a page", "word F1", [(c, found) for c, found, _ in confidence_rows(judged)]),
    )
    for k, (x_label, y_label, points) in enumerate(panels):
        left, top = margin + k * (size + 2 * margin), margin // 2
        parts.append(f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#888"/>')
        parts.append(
            f'<line x1="{left}" y1="{top + size}" x2="{left + size}" y2="{top}" stroke="#bbb" stroke-dasharray="4"/>'
        )
        at = [(left + x * size, top + size - y * size) for x, y in points]
        parts.append(f'<polyline fill="none" stroke="#0a6" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#0a6"/>' for x, y in at]
        middle = left + size / 2
        parts.append(f'<text x="{middle}" y="{top + size + 28}" text-anchor="middle">{x_label}</text>')
        parts.append(
            f'<text x="{left - 22}" y="{top + size / 2}" text-anchor="middle" '
            f'transform="rotate(-90 {left - 22} {top + size / 2})">{y_label}</text>'
        )
        for tick in (0.0, 0.5, 1.0):
            parts.append(f'<text x="{left + tick * size}" y="{top + size + 14}" text-anchor="middle">{tick:g}</text>')
            parts.append(f'<text x="{left - 4}" y="{top + size - tick * size + 4}" text-anchor="end">{tick:g}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folds", type=int, default=FOLDS)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--without-news", action="store_true", help="train on no news page")
    options.add_argument("--docs", action="store_true", help="write the tables and the plot into docs/page-model.md")
    chosen = options.parse_args()
    data = os.environ.get("WEBWINNOW_DATA", "")
    if not (Path(data) / "pages-wcxb.parquet").is_file():
        sys.exit("page_quality: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet and sites-news.parquet")
    judged = judge(
        Path(data),
        folds=chosen.folds,
        seed=chosen.seed,
        news=not chosen.without_news,
        progress=lambda line: print(line, file=sys.stderr, flush=True),
    )
    print(tables(judged))
    if chosen.docs:
        plot(judged, DOCS / "page-model.svg")
        guide = DOCS / "page-model.md"
        text = guide.read_text(encoding="utf-8")
        head, _, rest = text.partition("<!-- measured -->")
        _, _, tail = rest.partition("<!-- /measured -->")
        guide.write_text(f"{head}<!-- measured -->\n\n{tables(judged)}\n<!-- /measured -->{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
