"""File names say what a module is about (CONTRIBUTING)."""

from __future__ import annotations

from pathlib import Path

import webwinnow

SOURCE = Path(webwinnow.__file__).parent


def test_a_module_has_a_name_that_says_something() -> None:
    vague = {"utils", "util", "helpers", "common", "core", "misc", "data"}
    assert not vague & {path.stem for path in SOURCE.rglob("*.py")}
