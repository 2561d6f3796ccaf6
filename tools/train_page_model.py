"""Train the page model and the post model: `python tools/train_page_model.py [--without-news] [--posts-only]`.

Reads pages-wcxb, sites-news and the pages of pages-more with `use = train` under WEBWINNOW_DATA and writes
`weights.npz`, `posts.npz` and `typical.npz` of `webwinnow.pagemodel`. The same data on the same machine gives
the same bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from training.fit import INNER_FOLDS, fit, folds_of
from training.pages import NEWS, SINGLE, load
from training.posts import LOOKED_AT, fit_posts
from training.readpages import LABELS as READ_LABELS
from training.typical import typical

from webwinnow.judge.models import PageModel
from webwinnow.storage.modelfile import pack_arrays

SHIPPED = Path(__file__).parents[1] / "src/webwinnow/pagemodel"


def main() -> None:
    """Load, fit, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--without-news", action="store_true", help="train on the single pages only")
    options.add_argument(
        "--without-reading", action="store_true", help="do not train on the pages of tools/labels/pages.jsonl"
    )
    options.add_argument("--posts-only", action="store_true", help="do not train the page model")
    options.add_argument("--out", type=Path, default=SHIPPED, help="output folder")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    data = os.environ.get("WEBWINNOW_DATA", "")
    if not (Path(data) / "pages-wcxb.parquet").is_file():
        sys.exit("train: set WEBWINNOW_DATA to the folder with pages-wcxb, sites-news and pages-more")
    pages = load(Path(data), news=not chosen.without_news, by_reading=None if chosen.without_reading else READ_LABELS)
    print(f"{len(pages):,} pages read", flush=True)
    about = {"pages": len(pages), "news": not chosen.without_news, "seed": chosen.seed}
    if chosen.posts_only:
        model = PageModel.load()
    else:
        model = fit(pages, seed=chosen.seed, about=about, progress=lambda line: print(line, flush=True))
        write(chosen.out / "weights.npz", model.to_bytes())
    labelled = [page for page in pages if page.source in (SINGLE, NEWS)]
    posts = fit_posts(
        labelled,
        folds_of(labelled, INNER_FOLDS, chosen.seed + 1),
        about=about | {"pages": len(labelled), "looked_at": len(LOOKED_AT)},
        seed=chosen.seed,
    )
    write(chosen.out / "posts.npz", posts.to_bytes())
    write(chosen.out / "typical.npz", pack_arrays({"typical": typical(pages, model)}))


def write(path: Path, weights: bytes) -> None:
    """Write weights and print their size."""
    path.write_bytes(weights)
    print(f"{path}: {len(weights):,} bytes", flush=True)


if __name__ == "__main__":
    main()
