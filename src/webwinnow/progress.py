"""The callback by which long operations report how far they are."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with the name of the stage, the pages done, and the pages in total if that is known."""


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Ignore progress: the default of functions that take a `Progress`."""
