"""The fuzzers with two readers that fail, one of them of archives; failing inputs are kept in the current folder.

`test_corpus.py` runs them to see that a failure is found, minimised and kept.
"""

from __future__ import annotations

from pathlib import Path

import fuzzing
from fuzzing import Target, archive, entries

TEXT = b"The river rose in the night, and the bridge at the mill was closed. " * 3


def read_text(data: bytes, _: Path) -> None:
    if b"\xff" in data and b"river" in data:
        raise KeyError("a byte that is no text")


def read_archive(data: bytes, folder: Path) -> None:
    read_text(entries(data)[0].get("b", b""), folder)


fuzzing.SCRIPT, fuzzing.CORPUS, fuzzing.MOST_FAILURES = Path(__file__), Path.cwd(), 1
fuzzing.TARGETS = {
    "text": Target(lambda: [TEXT], read_text),
    "archive": Target(lambda: [archive(dict.fromkeys("abc", TEXT))], read_archive, inside=True),
}

if __name__ == "__main__":
    raise SystemExit(fuzzing.main())
