"""One file name, one meaning: a name in several folders has the same meaning in each (CONTRIBUTING)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import webwinnow

SOURCE = Path(webwinnow.__file__).parent

SHARED = {"__init__", "settings"}
"""Names that may be in any folder: the face of a package, and its frozen settings."""
BY_COMMAND = {"cli"}
"""Folders whose modules are named after commands, whatever else has that name."""


def test_a_file_name_has_one_meaning() -> None:
    folders = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        folders[path.stem].add(str(path.parent.relative_to(SOURCE)))
    repeated = {name: sorted(found - BY_COMMAND) for name, found in folders.items() if name not in SHARED}
    assert {name: found for name, found in repeated.items() if len(found) > 1} == {}


def test_a_module_has_a_name_that_says_something() -> None:
    vague = {"utils", "util", "helpers", "common", "core", "misc", "data", "parts"}
    assert not vague & {path.stem for path in SOURCE.rglob("*.py")}
