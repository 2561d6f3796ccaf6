"""Quality of the post model on domains it has not seen: `python benchmarks/post_quality.py`.

Five folds by registrable domain (news by publisher); names and pooling both learn from the other folds only. Precision
and recall count words, over the pages labelled by hand (`tools/training/posts.json`). Flagged true text of other
pages, except forums, counts as an error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

FOLDS = 5
CUTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def judge(pages: Sequence, *, folds: int = FOLDS, seed: int = 0) -> list[np.ndarray]:
    """The probability of each block of each page, predicted by a model that saw no page of its site."""
    from training.fit import INNER_FOLDS, folds_of
    from training.posts import fit_posts

    fold = folds_of(pages, folds, seed)
    found: list[np.ndarray] = [np.zeros(0)] * len(pages)
    for k in range(folds):
        others = [page for page, f in zip(pages, fold, strict=True) if f != k]
        model = fit_posts(others, folds_of(others, INNER_FOLDS, seed + 1), seed=seed)
        for i in np.flatnonzero(fold == k).tolist():
            found[i] = model.probability(pages[i].reading)
    return found


def tables(pages: Sequence, probability: list[np.ndarray]) -> str:
    """Precision and recall by cut, and by genre at the cut that ships, as Markdown."""
    from training.pages import SINGLE
    from training.posts import FORUM, LOOKED_AT, looked_at

    from webwinnow.judge.models import POST_ABOVE
    from webwinnow.judge.reading import GENRES

    seen = [
        (page, p, looked_at(page))
        for page, p in zip(pages, probability, strict=True)
        if page.source == SINGLE and page.page_id in LOOKED_AT
    ]
    rest = [
        (page, p)
        for page, p in zip(pages, probability, strict=True)
        if not (page.source == SINGLE and (page.page_id in LOOKED_AT or page.genre == FORUM))
    ]
    forums = [
        (page, p) for page, p in zip(pages, probability, strict=True) if page.source == SINGLE and page.genre == FORUM
    ]
    with_posts = sum(bool(post.any()) for *_, post in seen)
    lines = [
        f"{len(seen)} pages were looked at; on {with_posts} of them readers wrote. {len(rest):,} more are no forums.",
        "",
        "| above | precision | recall | recall, mean over pages | true text of the other pages flagged | on pages "
        "| forum text found |",
        "|---|---|---|---|---|---|---|",
    ]
    for cut in CUTS:
        found = sum(page.words[(p > cut) & post].sum() for page, p, post in seen)
        flagged = sum(page.words[p > cut].sum() for page, p, _ in seen)
        written = sum(page.words[post].sum() for page, _, post in seen)
        by_page = [page.words[(p > cut) & post].sum() / page.words[post].sum() for page, p, post in seen if post.any()]
        wrong = [page.words[(p > cut) & (page.label >= 0.5)].sum() for page, p in rest]
        true = sum(page.words[page.label >= 0.5].sum() for page, _ in rest)
        thread = sum(page.words[(p > cut) & (page.label >= 0.5)].sum() for page, p in forums)
        threads = sum(page.words[page.label >= 0.5].sum() for page, _ in forums)
        lines.append(
            f"| {cut:.1f} | {found / max(flagged, 1):.3f} | {found / max(written, 1):.3f} | {np.mean(by_page):.3f} "
            f"| {sum(wrong) / true:.5f} | {sum(words > 0 for words in wrong)} | {thread / threads:.3f} |"
        )
    lines += ["", f"By genre, above {POST_ABOVE}:", "", "| genre | pages | with posts | precision | recall |"]
    lines.append("|---|---|---|---|---|")
    for g, name in enumerate(GENRES):
        own = [(page, p, post) for page, p, post in seen if page.genre == g]
        if own:
            found = sum(page.words[(p > POST_ABOVE) & post].sum() for page, p, post in own)
            flagged = sum(page.words[p > POST_ABOVE].sum() for page, p, _ in own)
            written = sum(page.words[post].sum() for page, _, post in own)
            shown = [f"{found / total:.3f}" if total else "" for total in (flagged, written)]
            lines.append(f"| {name} | {len(own)} | {sum(bool(post.any()) for *_, post in own)} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folds", type=int, default=FOLDS)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    data = os.environ.get("WEBWINNOW_DATA", "")
    if not (Path(data) / "pages-wcxb.parquet").is_file():
        sys.exit("post_quality: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet and sites-news.parquet")
    from training.pages import load

    pages = load(Path(data), more=False)
    print(tables(pages, judge(pages, folds=chosen.folds, seed=chosen.seed)))


if __name__ == "__main__":
    main()
