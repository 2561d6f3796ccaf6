"""Show one record of a cleaned crawl, and what was removed from its page: `show_record.py OUT.jsonl REJECTED.jsonl`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from webwinnow.counted import counted

SHOWN_LINES = 12
LEAST_KEPT = 100
SHOWN_REMOVED = 6


def main() -> None:
    """Print the kept record with the largest share of removed words."""
    out, rejected = map(Path, sys.argv[1:3])
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    kept = [found for found in records if found["kept_words"] >= LEAST_KEPT] or records
    record = max(kept, key=lambda found: 1 - found["kept_words"] / max(1, found["all_words"]))
    for name in ("url", "site", "outcome", "title", "lang", "kept_words", "all_words"):
        print(f"  {name:11}{record[name]}")
    print(f"  {'links':11}{len(record['links'])}")
    print("  text")
    for line in [line for line in record["text"].splitlines() if line.strip()][:SHOWN_LINES]:
        print(f"    | {line[:100]}")
    gone = [json.loads(line) for line in rejected.read_text(encoding="utf-8").splitlines()]
    mine = [found for found in gone if found["url"] == record["url"] and "xpath" in found]
    print(f"\nRemoved from this page ({counted(len(mine), 'block')}):\n")
    for found in mine[:SHOWN_REMOVED]:
        print(f"    - {found['text'][:60]!r}\n      {found['xpath']}: {found['reason']}")
    print("\nRemoved from all pages, by reason:")
    for reason, count in Counter(found["reason"] for found in gone).most_common():
        print(f"    {count:6,} {'block' if count == 1 else 'blocks':6}  {reason}")


if __name__ == "__main__":
    main()
