"""axe-core in tests: `violations` of a page that is open in a browser.

`make axe` downloads axe-core into `build/axe`; tests that need it are skipped where it is not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

AXE = Path(__file__).parents[2] / "build" / "axe" / "package" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def axe_source() -> str:
    """The script; the test is skipped if it is not there."""
    if not AXE.is_file():
        pytest.skip("there is no axe-core: run `make axe`")
    return AXE.read_text(encoding="utf-8")


def violations(tab: Any) -> list[str]:
    """What axe-core finds wrong on a page whose tab has its script: rule, what is wrong, where."""
    found = tab.evaluate(
        "rules => axe.run(document, {runOnly: rules, iframes: false})"
        ".then(found => found.violations.flatMap(one => one.nodes.map(node =>"
        " `${one.id}: ${one.help}: ${node.target} ${node.html.slice(0, 120)}`)))",
        RULES,
    )
    return list(found)
