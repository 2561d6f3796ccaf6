"""Sample removed regions to label for training: `python tools/labels/draw_training_regions.py --out FILE [--seed N]`.

Active learning: the shipped recogniser predicts the kinds of all removed regions of pages that may be learned from.
Sampled are regions that may be of a kind that has too few labels or is often confused (`WANTED`), and regions whose
two most probable kinds are close. No region is of a domain of `noise-blocks.jsonl`, and none is labelled already.
The output has the fields of `noise-training.jsonl` without `kind`; `show_noise_blocks.py --short` prints it for the
labeller.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from noise_pages import MORE, SINGLE, cut_pages, data_folder, domain_of, text_hash

from webwinnow.judge.kinds import KIND_CODE, KindModel
from webwinnow.judge.reading import read
from webwinnow.judge.regionfeatures import read_regions

HERE = Path(__file__).parent
MEASURED, TRAINING = HERE / "noise-blocks.jsonl", HERE / "noise-training.jsonl"
PAGES_A_SITE = {MORE: 3, SINGLE: 2, "sites-swde": 6, "crawl-ics": 12, "sites-docs": 10}
"""Most pages per site, for each file."""
A_DOMAIN, A_KIND = 6, 2
"""Most regions per domain, and of them for one wanted kind."""
POSSIBLE = 0.12
"""Least probability of a kind that a region may be of."""
WANTED = {
    **{"page-description": 130, "declaration": 100, "decoration": 90, "hybrid-directory": 120, "advertisement": 110},
    **{"newsletter": 70, "page-service": 70, "notice": 40, "content": 60, "interactive": 50, "page-recommendation": 60},
    **{"posts": 20, "site-recommendation": 30, "contents": 20, "share": 20, "hierarchic-directory": 20, "board": 20},
}
"""Regions for each kind, rare kinds first."""
UNCERTAIN = 120
_WORD = re.compile(r"\w\w")


def main() -> None:
    """Sample regions and write them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--seed", type=int, default=2318)
    chosen = options.parse_args()
    rng = np.random.default_rng(chosen.seed)
    found = candidates(rng)
    print(f"{len(found):,} regions", flush=True)
    taken = sample(found, rng)
    with chosen.out.open("w", encoding="utf-8") as out:
        for row in taken:
            shown = {name: value for name, value in row.items() if not name.startswith("_")}
            out.write(json.dumps(shown, ensure_ascii=False) + "\n")
    print(f"{chosen.out}: {len(taken)} regions of {len({row['_domain'] for row in taken})} domains")


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of labels."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def candidates(rng: np.random.Generator) -> list[dict[str, Any]]:
    """All regions that may be sampled, with the probabilities of the shipped recogniser."""
    data, model = data_folder(), KindModel.load()
    labelled = [*rows_of(MEASURED), *rows_of(TRAINING)]
    texts = {row["hash"] for row in labelled}
    places = defaultdict(list)
    for row in labelled:
        places[row["file"], row["page_id"]].append((row["first_run"], row["last_run"]))
    measured = domains_of(data, rows_of(MEASURED))
    found = []
    for file, a_site in PAGES_A_SITE.items():
        for page in cut_pages(data, file, rng, a_site):
            domain = page.site if file == "sites-docs" else domain_of(page.tree.url)
            if domain in measured or page.site in measured:
                continue
            predicted = model.probabilities(read_regions(page.regions, read(page.tree), page.verdict, page.model))
            for r, text in enumerate(page.regions.texts()):
                digest, span = text_hash(text), page.span(r)
                known = [a < span["last_run"] and span["first_run"] < b for a, b in places[file, page.page_id]]
                if digest not in texts and _WORD.search(text) and not any(known):
                    texts.add(digest)
                    where = {"file": file, "page_id": page.page_id, "site": page.site}
                    row = where | span | {"hash": digest, "drawn": ""}
                    found.append(row | {"_domain": domain, "_probability": predicted[r]})
    return found


def domains_of(data: Path, rows: list[dict[str, Any]]) -> set[str]:
    """The registrable domains of the pages of labelled regions; of documentation, and beside them, the names of the
    sites.
    """
    found = {row["site"] for row in rows}
    for file in {row["file"] for row in rows} - {"sites-docs"}:
        wanted = [("page_id", "in", [row["page_id"] for row in rows if row["file"] == file])]
        urls = pq.read_table(data / f"{file}.parquet", columns=["url"], filters=wanted)["url"].to_pylist()
        found |= {domain_of(url if "://" in url else f"http://{url}") for url in urls}
    return found


def sample(found: list[dict[str, Any]], rng: np.random.Generator) -> list[dict[str, Any]]:
    """Regions that may be of each wanted kind, then uncertain ones."""
    taken: list[dict[str, Any]] = []
    domains: Counter[str] = Counter()
    probability = np.array([row["_probability"] for row in found])
    for kind, wanted in sorted(WANTED.items(), key=lambda item: item[1]):
        own = probability[:, KIND_CODE[kind]]
        possible = np.flatnonzero(own >= POSSIBLE)
        # half confident or not, at random; half where the model hesitates most
        order = [*rng.permutation(possible)[: len(possible) // 2], *possible[np.argsort(np.abs(own[possible] - 0.4))]]
        _take(found, order, f"possible {kind}", wanted, taken, domains)
    best = np.sort(probability, axis=1)
    _take(found, np.argsort(best[:, -1] - best[:, -2]), "uncertain", UNCERTAIN, taken, domains)
    return taken


def _take(
    found: list[dict[str, Any]],
    order: Any,
    drawn: str,
    wanted: int,
    taken: list[dict[str, Any]],
    domains: Counter[str],
) -> None:
    own: Counter[str] = Counter()
    count = 0
    for k in order:
        row = found[int(k)]
        if count == wanted:
            break
        if row["drawn"] or domains[row["_domain"]] >= A_DOMAIN or own[row["_domain"]] >= A_KIND:
            continue
        row["drawn"] = drawn
        domains[row["_domain"]] += 1
        own[row["_domain"]] += 1
        taken.append(row)
        count += 1


if __name__ == "__main__":
    main()
