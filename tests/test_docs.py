"""The documentation names things that exist: files, links, dotted names of webwinnow, commands and their options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docnames import (
    ROOT,
    broken_anchors,
    broken_links,
    command_lines,
    missing_files,
    missing_names,
    stale_commands,
)

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "samples/README.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    *sorted((ROOT / "docs" / "concepts").glob("*.md")),
]
FOLDERS = ("docs", "samples", "benchmarks", "tools", "src", "tests")
MARKDOWN = [*sorted(ROOT.glob("*.md")), *sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_names_what_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert missing_names(text) == []
    assert missing_files(text) == []
    assert broken_links(document, text) == []
    assert stale_commands(text) == []


def test_all_links_of_all_documents_lead_somewhere() -> None:
    broken = {}
    for document in MARKDOWN:
        text = document.read_text(encoding="utf-8")
        if found := broken_links(document, text) + broken_anchors(document, text):
            broken[str(document.relative_to(ROOT))] = found
    assert broken == {}


def test_a_command_that_does_not_exist_is_found() -> None:
    text = """
    webwinnow clean IN -o OUT [--format jsonl] [--threshold T]  # --not an option
        [--site-by host] [--nothing N]

```console
$ webwinnow models paint
$ webwinnow learn IN \\
    --blocks
126 pages --learned
```

`webwinnow page --rules`, and prose about webwinnow clean --nothing-here.
"""
    assert stale_commands(text) == [
        "webwinnow clean --threshold",
        "webwinnow clean --nothing",
        "webwinnow models paint",
        "webwinnow learn --blocks",
        "webwinnow page --rules",
    ]


@pytest.mark.parametrize("command", ["page", "clean", "learn", "cluster", "search", "serve", "crawl"])
def test_the_commands_have_a_synopsis(command: str) -> None:
    lines = [line for path in DOCUMENTS for line in command_lines(path.read_text(encoding="utf-8"))]
    assert any(re.match(rf"webwinnow {command} .*\[--", line) for line in lines)


def test_what_does_not_exist_is_found() -> None:
    assert missing_names("`webwinnow.nothing.here` and `webwinnow.parse`") == ["webwinnow.nothing.here"]
    assert missing_files("`site/nothing.py`, `tests/oracles`, `tests/nothing`") == ["site/nothing.py", "tests/nothing"]
    assert broken_links(ROOT / "README.md", "[a](docs/clean.md) [b](docs/nothing.md)") == ["docs/nothing.md"]
    there = "## Two words, `code`\n[a](#two-words-code) [b](docs/clean.md#output) [c](#two) [d](docs/clean.md#no)"
    assert broken_anchors(ROOT / "README.md", there) == ["#two", "docs/clean.md#no"]


def test_the_thesis_is_named_where_a_document_first_mentions_it() -> None:
    unnamed = []
    for document in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = document.read_text(encoding="utf-8").lower()
        at = text.find("thesis")
        around = text[max(at - 200, 0) : at + 300]
        if at >= 0 and not all(part in around for part in ("yi", "web page cleaning for web mining", "2004")):
            unnamed.append(str(document.relative_to(ROOT)))
    assert unnamed == []
