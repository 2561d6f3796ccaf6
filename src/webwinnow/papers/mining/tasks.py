"""Tasks of the mining experiment: a column of labels, of all rows of a file or of some; and what limits a task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.errors import SettingsError

SHOWN_NAMES = 6
MOST_CLASSES = 200
"""Our limit: 19,900 pairs, each on every two sites; a column with more values is rarely one of classes."""
_TASK = re.compile(
    r"\s*(?:(?P<name>[^:]+):)?\s*(?P<label>.+?)(?:\s+where\s+(?P<where>.+?))?(?:\s+runs\s+(?P<runs>\d{1,6}))?\s*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """A task: the column `label` has the class; only rows with the values of `where` (column, value) count.

    `runs` of k-means may be set per task: a large task may need fewer.
    """

    label: str
    name: str = ""
    where: tuple[tuple[str, str], ...] = ()
    runs: int | None = None

    def __post_init__(self) -> None:
        if not self.label:
            raise SettingsError("a task needs a column of labels")

    @classmethod
    def parse(cls, text: str) -> TaskSettings:
        """Parse the form of the command line: `[NAME:] COLUMN [where COLUMN=VALUE [and COLUMN=VALUE]] [runs N]`."""
        found = _TASK.fullmatch(text)
        if found is None:
            raise SettingsError(f"no task {text!r}: expected [NAME:] COLUMN [where COLUMN=VALUE [and ...]] [runs N]")
        conditions = [] if found["where"] is None else re.split(r"\s+and\s+", found["where"])
        return cls(
            label=found["label"],
            name=(found["name"] or "").strip(),
            where=tuple(map(condition, conditions)),
            runs=None if found["runs"] is None else int(found["runs"]),
        )

    @property
    def shown_name(self) -> str:
        """The name in the report."""
        rows = ", ".join(f"{column} {value}" for column, value in self.where)
        return self.name or (f"{self.label} of {rows}" if rows else self.label)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return (self.label, *(column for column, _ in self.where))


def condition(text: str) -> tuple[str, str]:
    """Parse `COLUMN=VALUE`."""
    column, equals, value = text.partition("=")
    if not equals or not column.strip():
        raise SettingsError(f"no condition {text!r}: expected COLUMN=VALUE")
    return column.strip(), value.strip()


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTask:
    """The pages of a task: `page` has row numbers of the collection, `label` and `site` the class and site of each.

    `notes` describe what is missing; `ready` is whether anything can be mined.
    """

    settings: TaskSettings
    page: NDArray[np.int64]
    classes: tuple[str, ...]
    label: NDArray[np.int64]
    sites: tuple[str, ...]
    site: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        settings: TaskSettings,
        labels: Sequence[str | None],
        sites: Sequence[str | None],
        inside: Sequence[bool],
        read: NDArray[np.bool_] | None = None,
    ) -> LabelledTask:
        """Select the pages with a label and a site that could be `read`, among the rows of the task (`inside`)."""
        notes = []
        rows = np.flatnonzero(inside).tolist()
        labelled = [k for k in rows if labels[k] is not None]
        placed = [k for k in labelled if sites[k] is not None]
        used = [k for k in placed if read is None or read[k]]
        if len(labelled) < len(rows):
            notes.append(f"{_left_out(len(rows) - len(labelled), 'label')} (of {counted(len(rows), 'page')}).")
        if len(placed) < len(labelled):
            notes.append(f"{_left_out(len(labelled) - len(placed), 'site')}.")
        if not rows:
            notes.append("No page meets the conditions of this task.")
        classes, label = np.unique(np.array([labels[k] for k in used], np.str_), return_inverse=True)
        names, site = np.unique(np.array([sites[k] for k in used], np.str_), return_inverse=True)
        task = cls(
            settings,
            np.array(used, np.int64),
            tuple(map(str, classes.tolist())),
            label.astype(np.int64),
            tuple(map(str, names.tolist())),
            site.astype(np.int64),
        )
        return replace(task, notes=tuple(notes + task._limits()))

    @property
    def name(self) -> str:
        """The name in the report."""
        return self.settings.shown_name

    @property
    def ready(self) -> bool:
        """Whether there are at least two classes, and few enough to compare all pairs."""
        return 1 < len(self.classes) <= MOST_CLASSES

    @property
    def counts(self) -> NDArray[np.int64]:
        """Pages by class (row) and site (column): Tables 5-1 and 5-2."""
        cells = np.bincount(self.label * len(self.sites) + self.site, minlength=len(self.classes) * len(self.sites))
        return cells.reshape(len(self.classes), len(self.sites))

    @property
    def single_class_sites(self) -> int:
        """Sites whose pages are all of one class: there the site's noise predicts the class (thesis 5.6)."""
        return int(((self.counts > 0).sum(axis=0) == 1).sum())

    def _limits(self) -> list[str]:
        """Why some experiments are impossible."""
        if not len(self.page):
            return ["No page has a label: there is nothing to mine."]
        if len(self.classes) == 1:
            return [f"All pages are of one class ({self.classes[0]}): there is nothing to classify."]
        if not self.ready:
            return [
                f"There are {len(self.classes):,} classes, more than the {MOST_CLASSES} that are compared pair by "
                f"pair: is {self.settings.label} a column of classes?"
            ]
        there = self.counts > 0
        if len(self.sites) == 1:
            return ["All pages are of one site: classification needs at least two sites and is left out."]
        if not (there.sum(axis=0) > 1).any():
            return [
                f"Each of the {len(self.sites)} sites has pages of one class only: configuration 1, both classes of "
                "one site, has no experiment."
            ]
        if there.all():
            return []
        absent = Counter(dict(zip(self.classes, (~there).sum(axis=1).tolist(), strict=True)))
        names = [f"{name} ({count})" for name, count in absent.most_common() if count]
        more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
        return [
            f"Classes absent from sites (number of sites): {', '.join(names[:SHOWN_NAMES])}{more}. Averages are over "
            "the possible experiments (thesis 5.5)."
        ]


def _left_out(count: int, lacking: str) -> str:
    if count == 1:
        return f"1 page has no {lacking} and is left out"
    return f"{counted(count, 'page has', 'pages have')} no {lacking} and {'is' if count == 1 else 'are'} left out"
