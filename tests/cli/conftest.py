"""The command line in the process of a test, where parts of it can be replaced."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webwinnow.cli.app import main

Command = Callable[..., tuple[Any, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line in this process: exit code, stdout, stderr."""

    def run(*arguments: str | Path) -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "argv", ["webwinnow", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run
