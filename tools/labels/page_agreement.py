"""Agreement of two readings of pages: `python tools/labels/page_agreement.py --second FILE`.

For each page and over all of them: word F1 of the content blocks of the second reading against the first, Cohen's kappa
(Cohen 1960) over blocks with text, and whether the genre is the same.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from agreement import kappa
from draw_pages import LABELS
from noise_pages import data_folder
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from training.readpages import read_rows

from webwinnow.page.blocks import cut
from webwinnow.page.parsing import parse


def main() -> None:
    """Compare and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--first", type=Path, default=LABELS)
    options.add_argument("--second", type=Path, default=LABELS.with_name("pages-second.jsonl"))
    chosen = options.parse_args()
    first, second = (
        {(row["file"], row["page_id"]): row for row in _rows(path)} for path in (chosen.first, chosen.second)
    )
    scores, pairs, genres = [], [], 0
    for key in sorted(first.keys() & second.keys()):
        one, other = first[key], second[key]
        words = _words(one)
        said = words > 0
        both = float(words[one["content"] & other["content"]].sum())
        total = float(words[one["content"]].sum() + words[other["content"]].sum())
        scores.append(2 * both / total if total else 1.0)
        own = [(str(a), str(b)) for a, b in zip(one["content"][said], other["content"][said], strict=True)]
        pairs += own
        genres += one["page_type"] == other["page_type"]
        print(f"{scores[-1]:.3f} {kappa(own):.3f} {one['page_type']:13} {other['page_type']:13} {' '.join(key)}")
    print(f"{len(scores)} pages read twice: word F1 {np.mean(scores):.3f} (mean of pages), lowest {min(scores):.3f}")
    print(f"kappa over {len(pairs)} blocks {kappa(pairs):.3f}; genre equal on {genres} pages")


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]]
    rows, failed = read_rows(data_folder(), path)
    if failed:
        raise SystemExit(f"{path}: the positions of {', '.join(failed)} do not match their pages")
    return rows


def _words(row: dict[str, Any]) -> NDArray[np.int64]:
    blocks = cut(parse(row["html"], url=row["url"] or ""))
    return np.array([len(text.split()) for text in blocks.texts()])


if __name__ == "__main__":
    main()
