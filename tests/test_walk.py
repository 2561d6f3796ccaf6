"""A page takes a short path through the code (`tools/walk.py`), and is parsed and cut into blocks once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

WALK = Path(__file__).parent.parent / "tools" / "walk.py"
MOST_MODULES = 46
"""What is, not the goal of 30: a third of them are modules of `judge` and readers of one kind of metadata each."""


@pytest.mark.parametrize("command", ["page", "clean"])
def test_a_page_is_parsed_and_cut_once_and_enters_few_modules(command: str) -> None:
    walked = subprocess.run([sys.executable, str(WALK), command], capture_output=True, text=True, check=True).stdout
    modules = re.search(r"^(\d+) modules for each page", walked, flags=re.MULTILINE)
    assert modules is not None, walked
    assert int(modules[1]) <= MOST_MODULES, walked
    assert "parsing.parse 1.0 times per page" in walked
    assert "blocks.cut 1.0 times per page" in walked
