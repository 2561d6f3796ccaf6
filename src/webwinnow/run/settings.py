"""Settings of a collection, and of a cleaning run over one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from webwinnow.errors import SettingsError
from webwinnow.judge.selection import Selection
from webwinnow.judge.tasks import DEFAULT_TASK, TASKS, Task, task_of
from webwinnow.methods.registry import DEFAULT_METHOD, CleaningSettings, method_named, method_names
from webwinnow.methods.settings import file_setting
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SITE_KEYS, SiteKey
from webwinnow.platforms import MOST_JOBS, cpu_count
from webwinnow.run.corpusfilter import CorpusFilter
from webwinnow.run.rows import ColumnNames
from webwinnow.run.stages import Stages
from webwinnow.settings import IN_AND_OUT, KEEP, METHOD, RUN, SITE, Settings, setting, share
from webwinnow.site.sums import LEARNED_PAGES

STAGES = ("replicas", "categories", "classes", "links", "vectors")
"""The fields of `RunSettings` that are the settings of stages."""


Rendering = Literal["markdown", "html"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionSettings(Settings):
    """How a collection is split into sites and parsed.

    - `site_by`: what makes pages one site (see `SiteKey`).
    - `limits`: pages over these limits fail.
    - `learn_pages`: the number of pages that a site is learned from at most.
    - `jobs`: worker processes; 0 for one per CPU.
    - `page_seconds`: a page that takes longer fails; the others are not affected.
    - `worker_memory`: bytes of address space of a worker; a page that needs more fails.
    - `columns`: the columns of JSONL and Parquet files that have the URL, the HTML and the id of a page.
    """

    GROUP: ClassVar[str] = "run"

    site_by: Annotated[
        SiteKey,
        setting(
            "What makes pages one site: host, domain, prefix:N, column, all, or none (every page on its own).",
            "--site-by",
            panel=SITE,
            expected=SITE_KEYS,
            read=SiteKey.parse,
            shown="host",
        ),
    ] = field(default_factory=SiteKey)
    limits: ParseLimits = field(default_factory=ParseLimits)
    learn_pages: Annotated[int, setting("Pages that a site is learned from, at most.", "--learn-pages", least=1)] = (
        LEARNED_PAGES
    )
    jobs: Annotated[
        int, setting("Worker processes; 0 for one per core.", "--jobs", panel=RUN, least=0, most=MOST_JOBS)
    ] = 0
    page_seconds: Annotated[
        float, setting("Seconds to clean a page; one that takes longer fails.", "--page-seconds", above=0)
    ] = 60.0
    worker_memory: Annotated[
        int,
        setting(
            "Megabytes of a worker; a page that needs more fails.",
            "--worker-memory",
            above=0,
            read=lambda text: int(text) << 20,
            shown="3072",
        ),
    ] = 3 << 30
    columns: ColumnNames = field(default_factory=ColumnNames)

    @property
    def workers(self) -> int:
        """The number of worker processes."""
        return self.jobs or cpu_count()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(CollectionSettings):
    """How to clean a collection.

    - `method`, `cleaning`: the cleaning method and the settings of the methods.
    - `task`: the kinds of removed regions to put back (see `webwinnow.judge.tasks`).
    - `also`: further renderings in each record: `markdown`, `html`.
    - `rejected`: also collect what was removed, with reasons.
    - `models`: a folder of models to clean with, instead of learning each site from its pages.
    - `replicas`: how replicas are found (`ReplicaSettings`, or its fields by name); None to leave this out.
    - `view`: fill type, keywords, abstract and relevant links; their settings are `cleaning.docview`.
    - `categories`: a `CategoryModel` file; its categories go into the records.
    - `classes`: a `ClassModel` file; its classes are the categories of the records instead.
    - `class_none`, `class_least`: a page whose probability of none of the classes is at least `class_none`, or whose
      class has a probability below `class_least`, has no category; `class_none` is None for no such answer.
    - `links`: None for page records; `kept` for records of the links that the task keeps, `all` for all links.
    - `vectors`: feature vectors (`CleanPage.features`) instead of page records, for training.
    - `keep_trees`: also store the trees of pages that are cleaned as soon as they are parsed.
    - `selection`: parts of pages that are kept or removed whatever the method says.
    - `corpus`: which cleaned pages are kept, by language, length and quality.
    - `stages`: stages of other packages (`webwinnow.run.stages`) by name, each with its settings as plain values.

    `replicas`, `categories`, `classes`, `links` and `vectors` are the settings of the stages of these names.
    """

    method: Annotated[str, setting(f"Cleaning method: {', '.join(method_names())}.", "--method", panel=METHOD)] = (
        DEFAULT_METHOD
    )
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)
    task: Annotated[
        Task,
        setting(
            f"Use of the output, which decides the boilerplate to keep: {', '.join(TASKS)}, or a file.",
            "--task",
            panel=KEEP,
            expected="a task, or a file",
            read=task_of,
            shown=DEFAULT_TASK,
        ),
    ] = field(default_factory=lambda: TASKS[DEFAULT_TASK])
    also: Annotated[
        tuple[Rendering, ...], setting("Add markdown or html to each record; repeatable.", "--also", panel=IN_AND_OUT)
    ] = ()
    rejected: bool = False
    models: Annotated[
        str | None,
        file_setting(
            "Clean with the site models of this folder or table.",
            "--models",
            expected="a folder or table of models",
            panel=SITE,
        ),
    ] = None
    replicas: Any = field(default_factory=dict)
    view: Annotated[
        bool, setting("Fill type, keywords, abstract and relevant links; without, a run is faster.", "--view/--no-view")
    ] = True
    categories: Annotated[
        str | None,
        file_setting(
            "Fill category with this model (classify train --classifier docview); pages are cleaned as in it.",
            "--categories",
        ),
    ] = None
    classes: Annotated[
        str | None, file_setting("Fill category with the classes of this model, as classify apply does.", "--classes")
    ] = None
    class_none: Annotated[
        float | None,
        share(
            "Least probability of none of the classes for that answer, with --classes. [default: all have a class]",
            "--none",
        ),
    ] = None
    class_least: Annotated[
        float, share("Least probability of a class; pages below have none, with --classes.", "--min-probability")
    ] = 0.0
    links: str | None = None
    vectors: bool = False
    keep_trees: bool = False
    selection: Selection = field(default_factory=Selection)
    corpus: CorpusFilter = field(default_factory=CorpusFilter)
    stages: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def group(cls, name: str) -> type[Settings] | None:
        """The class of the group of this name; None if there is none. No method but its own is imported."""
        return cls.groups(options=True).get(name) or CleaningSettings.group(name)

    def validate(self) -> None:
        """Raise `SettingsError` for a method that there is not, or models that cannot be used in this run."""
        method_named(self.method)
        if self.models is not None:
            self.site_by.check_sites("cleaning with models")
            if self.cleaning.finishes_otherwise:
                raise SettingsError("gamma and overlap are read when a site is learned; give them to webwinnow learn")
        if is_dataclass(self.replicas) and not isinstance(self.replicas, type):
            object.__setattr__(self, "replicas", asdict(self.replicas))

    @property
    def learns(self) -> bool:
        """Whether each site is learned from its pages; otherwise pages are cleaned as soon as they are parsed."""
        return self.models is None and method_named(self.method).learns and self.site_by.has_sites

    @property
    def all_stages(self) -> dict[str, Any]:
        """The settings of each stage of the run, by its name."""
        ours = {name: getattr(self, name) for name in STAGES}
        return {name: own for name, own in (ours | {**self.stages}).items() if own is not None and own is not False}

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
            task = msgspec.convert(cleaned_by["task"], Task)
            return replace(self, method=cleaned_by["method"], cleaning=cleaning, task=task)
        except (KeyError, TypeError, ValueError) as error:
            raise SettingsError(f"these are no settings of cleaning ({error!r}); expected those of training") from None

    def cleaned_as_trained(self) -> RunSettings:
        """These settings with the cleaning that the model of a stage was trained with, if there is one."""
        for stage in Stages.of(self).every:
            if stage.cleaning:
                return self.cleaning_as(stage.cleaning)
        return self

    def result_settings(self) -> dict[str, Any]:
        """The settings that change the output; a run can only be resumed with the same ones."""
        plain = self.to_plain()
        for name in ("jobs", "page_seconds", "worker_memory"):
            del plain[name]
        return plain
