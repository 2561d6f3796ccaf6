"""Modules with the names of others, planted in a folder: each notes that it was imported instead of the right one.

>>> imported = plant(folder)
>>> subprocess.run(command, cwd=folder)
>>> assert imported() == []
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PLANTED = """
import sys
with open({marker!r}, "a") as marker:
    print(__name__, sys.orig_argv, file=marker)
raise ImportError("planted " + __name__)
"""


def plant(folder: Path, besides: frozenset[str] = frozenset()) -> Callable[[], list[str]]:
    """Plant a module for each of the standard library and of the installed packages; returns what was imported."""
    marker = folder.parent / f"{folder.name}.imported"
    installed = {name for name in importlib.metadata.packages_distributions() if name.isidentifier()}
    folder.mkdir(exist_ok=True)
    for name in (installed | sys.stdlib_module_names) - besides:
        (folder / f"{name}.py").write_text(PLANTED.format(marker=str(marker)))
    return lambda: marker.read_text().splitlines() if marker.exists() else []


def imported_by_python_itself() -> frozenset[str]:
    """What `python -m webwinnow` has imported before it runs a line of ours but `webwinnow/__init__.py`."""
    program = "import runpy, sys, webwinnow; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())
