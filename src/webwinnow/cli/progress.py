"""Progress for people: a bar on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

__all__ = ["ProgressShown", "shown_progress"]

SECONDS_BETWEEN_LINES = 10.0
SECONDS_TO_TELL = 1.0
"""How long a stage must have run before its speed and the time left mean anything."""
_WORDS = {
    "crawl": "crawling",
    "parse": "reading and parsing",
    "learn": "learning site by site",
    "clean": "cleaning site by site",
    "weigh": "weighing site by site",
    "train": "training",
    "replicas": "finding replicas",
    "write": "writing",
    "index": "indexing",
    "search": "searching",
    "choose": "looking for the number of clusters",
    "cluster": "clustering, run by run",
    "map": "drawing the map",
    "mine": "mining",
}
_UNITS = {"write": "parts/s", "choose": "tried/s", "cluster": "runs/s", "map": "", "mine": "trials/s"}


class ProgressShown(Protocol):
    """Where a run tells how far it is."""

    def update(self, stage: str, done: int, total: int | None) -> None:
        """So many of so many are done."""

    def note(self, problem: str) -> None:
        """Something is wrong with an input."""


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[ProgressShown]:
    """Progress fit for where stderr goes."""
    if quiet:
        yield _Lines(seconds=float("inf"))
    elif sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            _TimeLeft(),
            console=Console(stderr=True),
            transient=True,
        ) as bars:
            yield _Bars(bars)
    else:
        yield _Lines(seconds=SECONDS_BETWEEN_LINES)


class _TimeLeft(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        return Text() if (task.elapsed or 0.0) < SECONDS_TO_TELL else super().render(task)


class _Stopwatch:
    def __init__(self) -> None:
        self.stage = ""
        self.started = time.monotonic()

    def speed(self, stage: str, done: int) -> float | None:
        """Things a second in this stage; None while it is too young to tell."""
        if stage != self.stage:
            self.stage, self.started = stage, time.monotonic()
        passed = time.monotonic() - self.started
        return done / passed if passed >= SECONDS_TO_TELL else None


class _Bars:
    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}
        self.watch = _Stopwatch()

    def update(self, stage: str, done: int, total: int | None) -> None:
        speed = self.watch.speed(stage, done)
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(_WORDS[stage], total=total, speed="")
        told = "" if speed is None else f"{speed:,.0f} {_UNITS.get(stage, 'pages/s')}"
        self.bars.update(self.tasks[stage], completed=done, total=total, speed=told)

    def note(self, problem: str) -> None:
        self.bars.console.print(f"webwinnow: {problem}", markup=False, highlight=False)


class _Lines:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.last = time.monotonic()
        self.watch = _Stopwatch()

    def update(self, stage: str, done: int, total: int | None) -> None:
        speed = self.watch.speed(stage, done)
        now = time.monotonic()
        if now - self.last >= self.seconds:
            self.last = now
            rate = "" if speed is None else f", {speed:,.0f}/s"
            left = "" if not total or not speed else f", {(total - done) / speed:,.0f} s left"
            of = "" if total is None else f" of {total:,}"
            sys.stderr.write(f"webwinnow: {_WORDS[stage]}: {done:,}{of}{rate}{left}\n")

    def note(self, problem: str) -> None:
        sys.stderr.write(f"webwinnow: {problem}\n")
