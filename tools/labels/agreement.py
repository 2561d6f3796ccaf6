"""Agreement of two labellings: `python tools/labels/agreement.py [--second FILE]`.

The second file has one line per region: `{"id": "n001", "kind": "consent"}`. Prints the share of equal labels and
Cohen's kappa (Cohen 1960) for kinds and for families, the agreement on each of them, and the regions that differ.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from webwinnow.judge.kinds import KIND_CODE, KINDS

HERE = Path(__file__).parent
Pairs = list[tuple[str, str]]


def main() -> None:
    """Compare and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--first", type=Path, default=HERE / "noise-blocks.jsonl")
    options.add_argument("--second", type=Path, default=HERE / "noise-blocks-second.jsonl")
    chosen = options.parse_args()
    if not chosen.second.is_file():
        raise SystemExit(f"{chosen.second} does not exist: a second labeller has to write it")
    first, second = labels_in(chosen.first), labels_in(chosen.second)
    shared = sorted(first.keys() & second.keys())
    kinds = [(first[name], second[name]) for name in shared]
    families = [(family_of(a), family_of(b)) for a, b in kinds]
    print(f"{len(shared)} regions labelled twice")
    for what, pairs in (("kinds", kinds), ("families", families)):
        print(f"{what}: equal {share_equal(pairs):.3f}, kappa {kappa(pairs):.3f}")
    for what, pairs in (("family", families), ("kind", kinds)):
        print(f"\n{what}: count of the first labeller, of the second, of both, F1")
        for name in sorted({label for pair in pairs for label in pair}):
            one, other = sum(a == name for a, _ in pairs), sum(b == name for _, b in pairs)
            both = sum(a == b == name for a, b in pairs)
            print(f"  {name:22}{one:4}{other:4}{both:4}  {2 * both / (one + other):.2f}")
    print("\ndifferent:")
    for name, (a, b) in zip(shared, kinds, strict=True):
        if a != b:
            print(f"  {name}  {a} / {b}")


def labels_in(path: Path) -> dict[str, str]:
    """The kind of each region; an unknown kind is an error."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] not in KIND_CODE:
            raise SystemExit(f"{path}: {row['id']} has the unknown kind {row['kind']!r}")
        found[row["id"]] = row["kind"]
    return found


def family_of(kind: str) -> str:
    """The family of a kind."""
    return KINDS[KIND_CODE[kind]].family


def share_equal(pairs: Pairs) -> float:
    """The share of regions with equal labels."""
    return sum(a == b for a, b in pairs) / max(len(pairs), 1)


def kappa(pairs: Pairs) -> float:
    """Cohen's kappa: (p_o - p_e) / (1 - p_e), where p_e is the agreement expected by chance."""
    one, other = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(one[label] * other[label] for label in one) / max(len(pairs), 1) ** 2
    return 1.0 if by_chance == 1 else (share_equal(pairs) - by_chance) / (1 - by_chance)


if __name__ == "__main__":
    main()
