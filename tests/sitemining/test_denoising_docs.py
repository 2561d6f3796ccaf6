"""The examples of docs/denoising.md are correct."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "denoising.md"


def test_the_examples_print_what_they_say(capsys):
    pytest.importorskip("ahocorasick_rs")
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})
    expected = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected
    assert len(expected) == 3
