"""`python -m webwinnow`: the command line."""

from __future__ import annotations

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the folder in which it was started: nothing there is ours to import

from webwinnow.cli.app import main

if __name__ == "__main__":
    main()
