"""Train the page model: `python tools/train_page_model.py [--without-news] [--out FILE]`.

Reads pages-wcxb and sites-news under WEBWINNOW_DATA and writes `src/webwinnow/pagemodel/weights.npz`. The same data on
the same machine gives the same bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from training.fit import fit
from training.pages import load

SHIPPED = Path(__file__).parents[1] / "src/webwinnow/pagemodel/weights.npz"


def main() -> None:
    """Load, fit, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--without-news", action="store_true", help="train on the single pages only")
    options.add_argument("--out", type=Path, default=SHIPPED, help="where the weights go")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    data = os.environ.get("WEBWINNOW_DATA", "")
    if not (Path(data) / "pages-wcxb.parquet").is_file():
        sys.exit("train: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet and sites-news.parquet")
    pages = load(Path(data), news=not chosen.without_news)
    print(f"{len(pages):,} pages read", flush=True)
    about = {"pages": len(pages), "news": not chosen.without_news, "seed": chosen.seed}
    model = fit(pages, seed=chosen.seed, about=about, tell=lambda line: print(line, flush=True))
    chosen.out.write_bytes(model.to_bytes())
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
