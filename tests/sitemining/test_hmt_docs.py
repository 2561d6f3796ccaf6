"""The examples of docs/hmt.md are correct."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "hmt.md"


def test_the_examples_print_what_the_page_says(capsys: pytest.CaptureFixture[str]):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    exec("\n".join(blocks), {})
    said = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(blocks), re.MULTILINE)
    assert len(said) > 8
    assert capsys.readouterr().out.splitlines() == said
