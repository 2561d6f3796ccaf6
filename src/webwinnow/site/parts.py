"""`Part`: something that is learned of a site. Each is the constant `PART`, a class, of its file `part_NAME.py`.

A part adds up its sums page by page. Sums over disjoint pages merge exactly, in any order. Finished, they are a table
of arrays that the model of a site has, and that methods read. Files of sums and of models store both tables by their
columns; what a column may contain is declared with it, and checked when a file is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from webwinnow import plugins
from webwinnow.page.page import Page
from webwinnow.storage.modelfile import Array, ArrayTable


class Part(ABC):
    """The sums of one part over the pages of a site; `settings` are those of the group that it `READS`, or None."""

    NAME: ClassVar[str]
    ABOUT: ClassVar[str]
    """What messages call it: "table of blocks"."""
    READS: ClassVar[str | None] = None
    """The group of `CleaningSettings` that it is learned with."""
    PREFIX: ClassVar[str]
    """What the names of its arrays begin with in files; its name, unless given."""
    RANK: ClassVar[int] = 100
    """Its place in files; parts of equal rank are in the order of their names."""
    SUMS: ClassVar[type[ArrayTable]]
    MODEL: ClassVar[type[ArrayTable]]

    def __init_subclass__(cls) -> None:
        if not hasattr(cls, "PREFIX") and hasattr(cls, "NAME"):
            cls.PREFIX = f"{cls.NAME}_"

    def __init__(self, settings: Any = None) -> None:
        self.settings = settings

    @abstractmethod
    def add(self, page: Page) -> None:
        """Add a page; each is added once."""

    def like(self, other: Self) -> None:  # noqa: B027 (most parts learn as their settings say)
        """Learn in the way of other sums, where it is not the settings that say how, but the file that was read."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add sums over other pages. Raises `ModelError` where they were made in another way."""

    @abstractmethod
    def sums(self) -> ArrayTable | None:
        """All sums so far, for files; None where there is nothing to store."""

    @abstractmethod
    def take(self, sums: Any) -> None:
        """Add the sums of a file."""

    @abstractmethod
    def finish(self) -> ArrayTable | None:
        """What a model has of these pages; None where there is nothing to learn."""

    @classmethod
    def read_sums(cls, columns: dict[str, Array], _page_keys: Array) -> ArrayTable:
        """The table of sums from the arrays of a file. Raises `ValueError` where they do not fit together."""
        return cls.SUMS.checked(columns)

    @classmethod
    def read_model(cls, columns: dict[str, Array], _about: dict[str, Any]) -> ArrayTable:
        """The table of a model from the arrays of a file and its metadata. Raises `ValueError` as above."""
        return cls.MODEL.checked(columns)

    @classmethod
    def about(cls, _table: Any) -> dict[str, dict[str, Any]]:
        """Metadata of a model file besides the arrays: by its key, values by the name of the part."""
        return {}


def part_named(name: str) -> type[Part]:
    """The part of this name, ours or a plug-in. Raises `SettingsError` with the names that there are."""
    part: type[Part] = plugins.load("part", name).PART
    return part


def parts_named(names: frozenset[str]) -> list[type[Part]]:
    """The parts of these names, in the order of files."""
    return sorted(map(part_named, names), key=lambda part: (part.RANK, part.NAME))
