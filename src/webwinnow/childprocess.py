"""Start of a process that another one needs, such as a worker: `python -m webwinnow.childprocess MODULE PARENT ...`.

It ends with its parent from its first moments on. The imports of MODULE, whose `main` is called, take a second on a
busy machine, in which a parent may be killed.
"""

from __future__ import annotations

import importlib
import os
import sys

from webwinnow.platforms import die_with_parent


def python_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours in another process.

    Without `-P`, Python would import modules from the folder in which it is started before its own: a `json.py` beside
    a crawl would run. Folders of PYTHONPATH, where plug-ins may be, are searched as ever.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def child_command(module: str, *arguments: str) -> list[str]:
    """The command of a process that ends with this one, and runs `main` of the module with these arguments."""
    return python_command(__name__, module, str(os.getpid()), *arguments)


def main() -> int | str | None:
    """Call `main` of the module that the command line names, as long as the parent lives."""
    _, module, parent, *arguments = sys.argv
    die_with_parent(int(parent))
    status: int | str | None = importlib.import_module(module).main(*arguments)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
