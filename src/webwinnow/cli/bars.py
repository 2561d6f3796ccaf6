"""Progress on a terminal: a bar for each stage of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from webwinnow.cli.terminal import SECONDS_BETWEEN_LINES, SPEED_AFTER, STAGES, UNITS, ShownProgress


class _Bars(ShownProgress):
    """Progress of a run: a bar for each stage, on a terminal."""

    def __init__(self, bars: Progress) -> None:
        super().__init__(SECONDS_BETWEEN_LINES)
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def update(self, stage: str, done: int, total: int | None) -> None:
        speed = self.speed(stage, done)
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(STAGES[stage], total=total, speed="")
        shown = "" if speed is None else f"{speed:,.0f} {UNITS.get(stage, 'pages/s')}"
        self.bars.update(self.tasks[stage], completed=done, total=total, speed=shown)

    def show(self, line: str) -> None:
        self.bars.console.print(line, markup=False, highlight=False)


class _TimeLeft(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        return Text() if (task.elapsed or 0.0) < SPEED_AFTER else super().render(task)


@contextmanager
def shown_bars() -> Iterator[ShownProgress]:
    """Bars on stderr, which vanish at the end."""
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
