"""What a run may be told, as one frozen object."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import Any

from webwinnow.cleaning.tasks import DEFAULT_TASK, TASKS, Task
from webwinnow.docview import ViewSettings
from webwinnow.errors import SettingsError
from webwinnow.io.rows import LINK_FIELDS, PAGE_FIELDS, Fields
from webwinnow.methods import DEFAULT_METHOD, CleaningSettings, method_named
from webwinnow.parsing import ParseLimits
from webwinnow.replicas import ReplicaSettings
from webwinnow.site.sampling import LEARNED_PAGES
from webwinnow.urls import SiteKey

__all__ = ["RunSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How to clean a collection.

    - `method`, `cleaning`: the cleaning method and what it is told.
    - `site_by`: what makes pages one site (see `SiteKey`).
    - `also`: `markdown`, `html`: more renderings in each record.
    - `learn_pages`: pages learned from one site at most.
    - `jobs`: worker processes; 0 for one a core.
    - `page_seconds`: a page that takes longer fails; the others go on.
    - `worker_memory`: bytes of address space that a worker may use; a page that needs more fails.
    - `rejected`: also gather what was removed, with reasons.
    - `models`: a folder of models to clean with, instead of learning each site from the pages at hand.
    - `replicas`: how replicas are found; None not to look for any.
    - `view`: type, keywords, abstract and relevant links of the records; None leaves them out, which is faster.
    - `categories`: a model of categories (`docview.CategoryModel`) that names the content category of each page.
    - `task`: which kinds of removed regions come back (see `webwinnow.cleaning.tasks`).
    - `links`: None for records of pages; `kept` for records of the links that the task keeps, `all` for all of them.
    - `keep_trees`: spool trees even where the method does not learn from the site.
    """

    method: str = DEFAULT_METHOD
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)
    site_by: SiteKey = field(default_factory=SiteKey)
    also: tuple[str, ...] = ()
    limits: ParseLimits = field(default_factory=ParseLimits)
    learn_pages: int = LEARNED_PAGES
    jobs: int = 0
    page_seconds: float = 60.0
    worker_memory: int = 3 << 30
    rejected: bool = False
    models: str | None = None
    replicas: ReplicaSettings | None = field(default_factory=ReplicaSettings)
    view: ViewSettings | None = field(default_factory=ViewSettings)
    categories: str | None = None
    keep_trees: bool = False
    task: Task = field(default_factory=lambda: TASKS[DEFAULT_TASK])
    links: str | None = None

    def __post_init__(self) -> None:
        method_named(self.method)
        for name in ("learn_pages", "page_seconds", "worker_memory"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected a number above 0")
        if self.jobs < 0:
            raise SettingsError(f"jobs is {self.jobs}: expected 0 (one a core) or more")
        if self.models is not None:
            self.site_by.check_sites("cleaning with models")
        if self.links not in (None, "kept", "all"):
            raise SettingsError(f"links is {self.links!r}: expected kept, all or nothing")
        unknown = set(self.also) - {"markdown", "html"}
        if unknown:
            raise SettingsError(f"no rendering {', '.join(sorted(unknown))}; there are: markdown, html")

    @property
    def learns(self) -> bool:
        """Whether sites are learned from the pages at hand."""
        return self.models is None and method_named(self.method).learns and self.site_by.has_sites

    @property
    def spools_trees(self) -> bool:
        """Whether stage 1 spools page trees rather than finished records."""
        return self.keep_trees or self.learns

    @property
    def workers(self) -> int:
        """How many worker processes run."""
        return self.jobs or len(os.sched_getaffinity(0))

    @property
    def fields(self) -> Fields:
        """The fields of the records that a run writes."""
        return PAGE_FIELDS if self.links is None else LINK_FIELDS

    def to_plain(self) -> dict[str, Any]:
        """Plain values that `from_plain` reads back, for workers and for telling whether two runs are the same."""
        return asdict(self) | {"also": list(self.also)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> RunSettings:
        """Read what `to_plain` wrote."""
        return cls(
            **plain
            | {
                "cleaning": CleaningSettings.from_plain(plain["cleaning"]),
                "site_by": SiteKey(**plain["site_by"]),
                "view": None if plain["view"] is None else ViewSettings.from_plain(plain["view"]),
                "limits": ParseLimits(**plain["limits"]),
                "also": tuple(plain["also"]),
                "replicas": None if plain["replicas"] is None else ReplicaSettings(**plain["replicas"]),
                "task": Task(**plain["task"] | {"keeps": tuple(plain["task"]["keeps"])}),
            }
        )

    def result_settings(self) -> dict[str, Any]:
        """The settings that change what comes out; a run is only resumed with the same ones."""
        plain = self.to_plain()
        for name in ("jobs", "page_seconds", "worker_memory"):
            del plain[name]
        return plain
