"""What people see on stderr: progress, summaries, and text without terminal control characters."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypedDict

import typer

from webwinnow.counted import printable
from webwinnow.progress import Progress as OnProgress
from webwinnow.run.unpacking import InputProblem

SECONDS_BETWEEN_LINES = 10.0
SPEED_AFTER = 1.0
"""Seconds after which the speed of a stage and the time left are shown."""
STAGES = {
    "crawl": "crawling",
    "parse": "reading and parsing",
    "learn": "learning site by site",
    "clean": "cleaning site by site",
    "weigh": "weighting site by site",
    "train": "training",
    "replicas": "finding replicas",
    "write": "writing",
    "index": "indexing",
    "search": "searching",
    "disk": "measuring disk reads",
    "choose": "choosing the number of clusters",
    "cluster": "clustering, run by run",
    "map": "plotting the map",
    "mine": "mining",
    "sites": "reading sites",
    "rank": "ranking",
}
UNITS = {
    "write": "parts/s",
    "choose": "tried/s",
    "cluster": "runs/s",
    "map": "",
    "mine": "trials/s",
    "sites": "sites/s",
    "rank": "",
    "disk": "",
}


class Callbacks(TypedDict):
    """The arguments by which a library function reports."""

    on_progress: OnProgress
    on_problem: Callable[[str], None]


class ShownProgress:
    """Progress of a run: plain lines now and then."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.partial_inputs = 0
        """Problems that say that an input was read only in part."""
        self.stage, self.first = "", 0
        self.last = self.started = time.monotonic()

    @property
    def callbacks(self) -> Callbacks:
        return {"on_progress": self.update, "on_problem": self.note}

    def speed(self, stage: str, done: int) -> float | None:
        """Items per second since this stage began or was returned to; None in its first second."""
        if stage != self.stage:
            self.stage, self.first, self.started = stage, done, time.monotonic()
        passed = time.monotonic() - self.started
        return (done - self.first) / passed if passed >= SPEED_AFTER else None

    def update(self, stage: str, done: int, total: int | None) -> None:
        speed = self.speed(stage, done)
        now = time.monotonic()
        if now - self.last >= self.seconds:
            self.last = now
            rate = "" if speed is None else f", {speed:,.0f}/s"
            left = "" if not total or not speed else f", {(total - done) / speed:,.0f} s left"
            of = "" if total is None else f" of {total:,}"
            sys.stderr.write(f"webwinnow: {STAGES[stage]}: {done:,}{of}{rate}{left}\n")

    def note(self, problem: str) -> None:
        """Report a problem with an input, or a remark."""
        self.partial_inputs += isinstance(problem, InputProblem)
        self.show(f"webwinnow: {printable(problem)}")

    def show(self, line: str) -> None:
        """Write a line for people."""
        sys.stderr.write(f"{line}\n")


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ShownProgress]:
    """Progress as it suits the place that stderr goes to; problems are reported even if `quiet`."""
    if quiet or not sys.stderr.isatty():
        yield ShownProgress(float("inf") if quiet else SECONDS_BETWEEN_LINES)
        return
    from webwinnow.cli.bars import shown_bars  # noqa: PLC0415 (rich is loaded on a terminal only)

    with shown_bars() as bars:
        yield bars


UNCHANGED = "no file was written. Run the same command again"
"""What Ctrl-C leaves of a command whose output appears at the end, and how to go on."""


@contextmanager
def stoppable(message: str | Callable[[], str]) -> Iterator[None]:
    """Exit with code 130 and a message when the user presses Ctrl-C: what is kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"webwinnow: stopped; {message if isinstance(message, str) else message()}\n")
        raise typer.Exit(130) from None


def finish(lines: Iterable[str], *, quiet: bool = False, failed: object = 0) -> None:
    """End a command: write its summary to stderr unless `quiet`, and exit with code 1 if anything `failed`."""
    if not quiet:
        sys.stderr.writelines(f"{line}\n" for line in lines)
    if failed:
        raise typer.Exit(1)
