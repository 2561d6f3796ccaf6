"""The command `webwinnow` before its package is imported: Ctrl-C and a broken installation end it with a message."""

from __future__ import annotations

import sys

STOPPED = "webwinnow: stopped; no file was written. Run the same command again\n"


def main() -> None:
    """Import the command line and run it."""
    try:
        from webwinnow.cli import main as run  # noqa: PLC0415 (importing takes most of the start)
    except KeyboardInterrupt:
        sys.stderr.write(STOPPED)
        raise SystemExit(130) from None
    except ImportError as error:
        sys.stderr.write(f"webwinnow: the installation is broken: {error}. Install webwinnow again\n")
        raise SystemExit(1) from None
    run()
