"""Train the recogniser of kinds: `python tools/train_kinds.py [--out FILE]`.

Reads the labelled regions of `tools/labels` and their pages under WEBWINNOW_DATA (pages-wcxb, sites-news, sites-swde,
crawl-ics, sites-docs) and writes `src/webwinnow/judge/kinds.npz`. The same data on the same machine gives the same
bytes.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from training.kinds import MEASURED, TRAINING, fit_kinds, label_rows, load_pages

LABELS = Path(__file__).parent / "labels"
SHIPPED = Path(__file__).parents[1] / "src/webwinnow/judge/kinds.npz"


def main() -> None:
    """Load, fit, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=SHIPPED, help="output file")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    data = Path(os.environ.get("WEBWINNOW_DATA", ""))
    if not (data / "pages-wcxb.parquet").is_file():
        sys.exit("train: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet and the files of whole sites")
    rows = label_rows(LABELS, MEASURED, TRAINING)
    pages = load_pages(data, rows)
    count = sum(len(page.labels) for page in pages)
    print(f"{count:,} labelled regions of {len(pages):,} pages read, {len(rows) - count} lost", flush=True)
    model = fit_kinds(pages, seed=chosen.seed, about={"regions": count, "pages": len(pages), "seed": chosen.seed})
    chosen.out.write_bytes(model.to_bytes())
    print(f"{chosen.out}: {chosen.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
