"""The documentation names things that exist: files, links and dotted names of webwinnow."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "webwinnow"
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def missing_names(text: str) -> list[str]:
    """Dotted names (`webwinnow.a.b`) that cannot be imported."""
    return [name for name in re.findall(r"`(webwinnow(?:\.\w+)+)", text) if not exists(name)]


def exists(name: str) -> bool:
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:at]))
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] != "webwinnow":
                return True  # a module of an extra that is not installed
            continue
        for attribute in parts[at:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def missing_files(text: str) -> list[str]:
    """Paths of our own sources (`site/pagelets.py`, `tests/oracles`) that do not exist."""
    paths = re.findall(r"`((?:\w+/)+[\w.-]*\.(?:py|pyx|npz))`|`((?:tests|tools|benchmarks)/[\w./-]+)`", text)
    named = [first or second for first, second in paths]
    return [
        path
        for path in named
        if not ((ROOT / path).exists() or (SOURCE / path).exists() or (ROOT / "src" / path).exists())
    ]


def broken_links(document: Path, text: str) -> list[str]:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    return [target for target in targets if not (document.parent / target).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_names_what_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert missing_names(text) == []
    assert missing_files(text) == []
    assert broken_links(document, text) == []


def test_what_does_not_exist_is_found() -> None:
    assert missing_names("`webwinnow.nothing.here` and `webwinnow.parse`") == ["webwinnow.nothing.here"]
    assert missing_files("`site/nothing.py`, `tests/oracles`, `tests/nothing`") == ["site/nothing.py", "tests/nothing"]
    assert broken_links(ROOT / "README.md", "[a](docs/clean.md) [b](docs/nothing.md)") == ["docs/nothing.md"]
