"""Stages: what capabilities add to a run.

The module `stage_NAME.py` of a room has the stage `NAME`, a class `STAGE`; its settings are the field `NAME` of
`RunSettings`, or of `RunSettings.stages` if another package has it. Every process of a run makes its own stages from
these settings, which are plain values. So the workers of this machine, Ray and Spark run the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from webwinnow import plugins
from webwinnow.record.fields import Fields, page_fields

if TYPE_CHECKING:
    from webwinnow.judge.tasks import Task
    from webwinnow.page.tree import PageTree
    from webwinnow.progress import Progress
    from webwinnow.record.cleaner import CleanPage
    from webwinnow.record.view import Categories
    from webwinnow.run.pagestore import CollectionStore, PageRow
    from webwinnow.run.settings import RunSettings

Tally = tuple[str, str, int]
"""A number for the summary of a run: its table, what was counted, how many."""


class Finding(Protocol):
    """What a stage reports of a run when it is over."""

    @property
    def count(self) -> int:
        """The number of pages that it concerns."""

    def lines(self) -> list[str]:
        """The lines of the summary."""


class Joined(Protocol):
    """What a stage found out when all pages were cleaned."""

    def values(self, place: int) -> dict[str, str]:
        """Values of fields that are null in the record at this place of the output."""

    def finding(self) -> Finding:
        """The report; it needs the store no longer."""


class Stage:
    """A stage of a run. A subclass overrides what it needs.

    `settings` are its own, as they were given or as plain values.
    """

    fields: ClassVar[Fields] = ()
    """Fields that it adds to the records of pages."""
    lines: ClassVar[Fields | None] = None
    """The fields of what it writes about a page instead of a record (`page_lines`)."""
    task: Task | None = None
    """The task that pages are cleaned with instead of that of the run."""
    name: str = ""
    """That of its module."""
    row_bytes: int = 0
    """Bytes that the run keeps of each page for `join`."""

    def __init__(self, settings: Any, run: RunSettings) -> None:
        self.settings, self.run = settings, run

    @property
    def categories(self) -> Categories | None:
        """A model that fills the field `category` from the features of a page."""
        return None

    @property
    def cleaning(self) -> dict[str, Any] | None:
        """How the pages were cleaned that its model was trained with (`RunSettings.cleaned_by`)."""
        return None

    def check(self, *, is_cluster: bool) -> None:
        """Raise `SettingsError` if it cannot be part of this run."""

    def learn(self, trees: Callable[[], Iterable[PageTree]] | None) -> None:
        """Learn from the trees that a site is learned from before its pages come; None if the site is not learned."""

    def fill(self, clean: CleanPage, record: dict[str, Any]) -> None:
        """Fill its fields of a record."""

    def page_lines(self, clean: CleanPage, about: dict[str, str | None]) -> tuple[bytes, list[Tally]]:
        """What is written about a page instead of a record, with numbers for the summary."""
        raise NotImplementedError

    def failed_lines(self) -> bytes:
        """What is written about a page that could not be read, instead of a record."""
        return b""

    def row(self, clean: CleanPage, record: dict[str, Any]) -> bytes:
        """What to keep of a page for `join`, in a worker."""
        raise NotImplementedError

    def placed(self, row: bytes, site: str, page: PageRow) -> bytes:
        """A row with what is known of its page outside of the worker; a page that failed has an empty one so far."""
        raise NotImplementedError

    def join(self, rows: NDArray[np.void], store: CollectionStore, progress: Progress) -> Joined:
        """Work on the rows of all pages, in output order."""
        raise NotImplementedError


class Stages(NamedTuple):
    """The stages of a run."""

    every: tuple[Stage, ...] = ()
    filling: tuple[Stage, ...] = ()
    """Those that fill fields when a page is cleaned."""
    keeping: tuple[Stage, ...] = ()
    """Those with a row of each page."""
    instead: Stage | None = None
    """The one whose lines are written instead of records."""
    fields: Fields = ()
    """The fields of what is written about a page."""

    @classmethod
    def of(cls, run: RunSettings) -> Stages:
        """The stages of a run with these settings."""
        every: list[Stage] = []
        for name, own in run.all_stages.items():
            every.append(plugins.load("stage", name).STAGE(own, run))
            every[-1].name = name
        instead = next((stage for stage in every if stage.lines is not None), None)
        fields = instead.lines if instead is not None and instead.lines is not None else page_fields(tuple(run.stages))
        return cls(
            tuple(every),
            tuple(stage for stage in every if type(stage).fill is not Stage.fill),
            tuple(stage for stage in every if stage.row_bytes),
            instead,
            fields,
        )

    @property
    def categories(self) -> Categories | None:
        """The model that fills the field `category` from the features of a page."""
        return next((stage.categories for stage in self.every if stage.categories is not None), None)

    def check(self, *, is_cluster: bool) -> None:
        """Raise `SettingsError` if a stage cannot be part of the run."""
        for stage in self.every:
            stage.check(is_cluster=is_cluster)

    def joined(self, store: CollectionStore, progress: Progress) -> dict[str, Joined]:
        """What the stages find out when all parts of a store are finished, by their names."""
        if not self.keeping:
            return {}
        table = np.dtype([(str(k), f"V{stage.row_bytes}") for k, stage in enumerate(self.keeping)])
        path = store.joined_rows()
        rows = np.memmap(path, table, "r") if path.stat().st_size else np.zeros(0, table)
        return {stage.name: stage.join(rows[str(k)], store, progress) for k, stage in enumerate(self.keeping)}
