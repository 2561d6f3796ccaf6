"""The command line: a thin caller of the library. stdout is for machines, stderr for people.

Exit codes: 0 done, 1 some records failed, 2 bad usage or unreadable input, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

from webwinnow.cli.app import app, main

__all__ = ["app", "main"]
