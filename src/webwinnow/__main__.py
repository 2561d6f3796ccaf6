"""`python -m webwinnow`: the command line."""

from __future__ import annotations

from webwinnow.cli.app import main

if __name__ == "__main__":
    main()
