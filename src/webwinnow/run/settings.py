"""Settings of a collection, and of a cleaning run over one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from webwinnow.errors import SettingsError, check_range
from webwinnow.judge.selection import Selection
from webwinnow.judge.tasks import DEFAULT_TASK, TASKS, Task
from webwinnow.methods.registry import DEFAULT_METHOD, CleaningSettings, method_named
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey
from webwinnow.platforms import MOST_JOBS, cpu_count
from webwinnow.replicas.sketches import ReplicaSettings
from webwinnow.run.corpusfilter import CorpusFilter
from webwinnow.run.rows import LINK_FIELDS, PAGE_FIELDS, ColumnNames, Fields
from webwinnow.site.sums import LEARNED_PAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionSettings:
    """How a collection is split into sites and parsed.

    - `site_by`: what makes pages one site (see `SiteKey`).
    - `limits`: pages over these limits fail.
    - `learn_pages`: the number of pages that a site is learned from at most.
    - `jobs`: worker processes; 0 for one per CPU.
    - `page_seconds`: a page that takes longer fails; the others are not affected.
    - `worker_memory`: bytes of address space of a worker; a page that needs more fails.
    - `columns`: the columns of JSONL and Parquet files that have the URL, the HTML and the id of a page.
    """

    site_by: SiteKey = field(default_factory=SiteKey)
    limits: ParseLimits = field(default_factory=ParseLimits)
    learn_pages: int = LEARNED_PAGES
    jobs: int = 0
    page_seconds: float = 60.0
    worker_memory: int = 3 << 30
    columns: ColumnNames = field(default_factory=ColumnNames)

    def __post_init__(self) -> None:
        for name in ("learn_pages", "page_seconds", "worker_memory"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected a number above 0")
        if not 0 <= self.jobs <= MOST_JOBS:
            raise SettingsError(f"jobs is {self.jobs}: expected 0 (one per CPU) to {MOST_JOBS:,}")

    @property
    def workers(self) -> int:
        """The number of worker processes."""
        return self.jobs or cpu_count()

    def to_plain(self) -> dict[str, Any]:
        """Plain values for `from_plain`, for worker processes and to compare the settings of two runs."""
        return asdict(self)

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> CollectionSettings:
        """Read the values of `to_plain`: `RunSettings` where they have a cleaning method."""
        read = plain | {"site_by": SiteKey(**plain["site_by"]), "limits": ParseLimits(**plain["limits"])}
        read["columns"] = ColumnNames(**plain["columns"])
        if "method" not in plain:
            return CollectionSettings(**read)
        replicas, task = plain["replicas"], plain["task"]
        selection, corpus = plain["selection"], plain["corpus"]
        return RunSettings(
            **read
            | {
                "cleaning": CleaningSettings.from_plain(plain["cleaning"]),
                "also": tuple(plain["also"]),
                "replicas": None if replicas is None else ReplicaSettings(**replicas),
                "task": Task(**task | {"keeps": tuple(task["keeps"])}),
                "selection": Selection(
                    **selection | {"keep": tuple(selection["keep"]), "drop": tuple(selection["drop"])}
                ),
                "corpus": CorpusFilter(**corpus | {"languages": tuple(corpus["languages"])}),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(CollectionSettings):
    """How to clean a collection.

    - `method`, `cleaning`: the cleaning method and the settings of the methods.
    - `task`: the kinds of removed regions to put back (see `webwinnow.judge.tasks`).
    - `also`: further renderings in each record: `markdown`, `html`.
    - `rejected`: also collect what was removed, with reasons.
    - `models`: a folder of models to clean with, instead of learning each site from its pages.
    - `replicas`: how replicas are found; None to leave this out.
    - `view`: fill type, keywords, abstract and relevant links; their settings are `cleaning.docview`.
    - `categories`: a `docview.CategoryModel` file; its categories go into the records.
    - `classes`: a `mining.classmodel.ClassModel` file; its classes are the categories of the records instead.
    - `class_none`, `class_least`: a page whose probability of none of the classes is at least `class_none`, or whose
      class has a probability below `class_least`, has no category; `class_none` is None for no such answer.
    - `links`: None for page records; `kept` for records of the links that the task keeps, `all` for all links.
    - `vectors`: feature vectors (`CleanPage.features`) instead of page records, for training.
    - `keep_trees`: also store the trees of pages that are cleaned as soon as they are parsed.
    - `selection`: parts of pages that are kept or removed whatever the method says.
    - `corpus`: which cleaned pages are kept, by language, length and quality.
    """

    method: str = DEFAULT_METHOD
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)
    task: Task = field(default_factory=lambda: TASKS[DEFAULT_TASK])
    also: tuple[str, ...] = ()
    rejected: bool = False
    models: str | None = None
    replicas: ReplicaSettings | None = field(default_factory=ReplicaSettings)
    view: bool = True
    categories: str | None = None
    classes: str | None = None
    class_none: float | None = None
    class_least: float = 0.0
    links: str | None = None
    vectors: bool = False
    keep_trees: bool = False
    selection: Selection = field(default_factory=Selection)
    corpus: CorpusFilter = field(default_factory=CorpusFilter)

    def __post_init__(self) -> None:
        CollectionSettings.__post_init__(self)
        method_named(self.method)
        check_range(self, "class_none", "class_least", least=0, most=1)
        if self.models is not None:
            self.site_by.check_sites("cleaning with models")
            if self.cleaning.finishes_otherwise:
                raise SettingsError("gamma and overlap are read when a site is learned; give them to webwinnow learn")
        if self.links not in (None, "kept", "all"):
            raise SettingsError(f"links is {self.links!r}: expected kept, all or nothing")
        unknown = set(self.also) - {"markdown", "html"}
        if unknown:
            raise SettingsError(f"no rendering {', '.join(sorted(unknown))}; there are: markdown, html")

    @property
    def learns(self) -> bool:
        """Whether each site is learned from its pages; otherwise pages are cleaned as soon as they are parsed."""
        return self.models is None and method_named(self.method).learns and self.site_by.has_sites

    @property
    def fields(self) -> Fields:
        """The fields of the records that a run writes."""
        return PAGE_FIELDS if self.links is None else LINK_FIELDS

    def cleaned_by(self) -> dict[str, Any]:
        """What decides the text and the features of a page, as plain JSON values.

        The method with its settings, the settings of features, the task, and whether there is evidence from the site.
        """
        method = method_named(self.method)
        own = None if method.group in (None, "docview") else getattr(self.cleaning, method.group)
        plain = {
            "method": self.method,
            "settings": {} if own is None else {method.group: asdict(own)},
            "features": self.cleaning.docview.for_features(self.method),
            "task": asdict(self.task),
            "sites": method.learns and (self.site_by.has_sites or self.models is not None),
        }
        read: dict[str, Any] = json.loads(json.dumps(plain))
        return read

    def cleaning_as(self, cleaned_by: dict[str, Any]) -> RunSettings:
        """These settings with the method, settings and task of `cleaned_by`. Raises `SettingsError`."""
        try:
            groups = self.cleaning.to_plain() | cleaned_by["settings"]
            groups["docview"] = asdict(self.cleaning.docview) | cleaned_by["features"]
            cleaning = CleaningSettings.from_plain(groups)
            task = Task(**cleaned_by["task"] | {"keeps": tuple(cleaned_by["task"]["keeps"])})
            return replace(self, method=cleaned_by["method"], cleaning=cleaning, task=task)
        except (KeyError, TypeError, ValueError) as error:
            raise SettingsError(f"these are no settings of cleaning ({error!r}); expected those of training") from None

    def to_plain(self) -> dict[str, Any]:
        """Plain values for `from_plain`."""
        return asdict(self) | {"also": list(self.also)}

    def result_settings(self) -> dict[str, Any]:
        """The settings that change the output; a run can only be resumed with the same ones."""
        plain = self.to_plain()
        for name in ("jobs", "page_seconds", "worker_memory"):
            del plain[name]
        return plain
