"""The process of one job, which ends with the server: its steps in turn, each as the command of its name does it.

The pages of a job are parsed once: records, inspector and clusters come from one collection in the job's folder. A step
that was done is not done again, so the job of a killed server continues where it was. A lock prevents that two
processes work on one job.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from webwinnow.cluster.settings import DEFAULT_WEIGHTING, ClusterSettings
from webwinnow.counted import counted
from webwinnow.crawl.crawling import crawled_once
from webwinnow.crawl.guard import AddressGuard
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import RENDERED
from webwinnow.errors import InputError, SettingsError, WebwinnowError
from webwinnow.features.vectors import VectorSettings
from webwinnow.inspect.inspector import ReportSettings, report_collection
from webwinnow.judge.tasks import TASKS
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.platforms import lock_file
from webwinnow.run.cleaning import clean_collection, run_identity
from webwinnow.run.learning import learn_sites
from webwinnow.run.outputs import write_output
from webwinnow.run.parsedcollection import ParsedCollection
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.run.tablefiles import read_records
from webwinnow.run.unpacking import ignore_problem
from webwinnow.search.index import IndexFolder
from webwinnow.serve.jobs import Job, JobProgress, read_kept
from webwinnow.serve.requests import JobOptions
from webwinnow.site.epochs import EPOCHS
from webwinnow.storage.atomic import write_file

SECONDS_BETWEEN = 0.2
"""Progress is reported no more often."""
SHOWN_PROBLEMS = 20
REPORT_PAGES = 60
"""Sample pages of the inspector's report of a job."""


class JobSteps:
    """A job's folder, its progress, and its steps. Used as a context manager, which ends its workers."""

    def __init__(self, folder: Path, models: Path) -> None:
        self.folder, self.models = folder, models
        self.job = msgspec.json.decode((folder / "job.json").read_bytes(), type=Job)
        self.options = JobOptions(**self.job.options)
        self.stop_list = StopList.from_plain({"own": self.job.stop_words})
        self.site_by = SiteKey.parse(self.options.site_by)
        self.result = folder / "result"
        self.result.mkdir(exist_ok=True)
        self.records = self.result / "records.jsonl"
        earlier = read_kept(folder / "progress.json", JobProgress) or JobProgress()
        self.progress = replace(earlier, step=None, stage=None, done=0, total=None, problems=[])
        self._reported = 0.0
        self._started = time.monotonic()
        self._exit = ExitStack()
        self._collection: ParsedCollection | None = None

    def __enter__(self) -> JobSteps:
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def do(self) -> None:
        """Do the steps that are left. If one of `NEEDED` fails, so does the job; errors of others are reported."""
        steps = ({"crawl": JobSteps.crawl} if self.options.crawl else {}) | STEPS[self.job.kind]
        for name, step in steps.items():
            if self.progress.steps.get(name, "not yet") is None:
                continue
            self.report(step=name, stage=None, done=0, total=None)
            error: str | None = None
            try:
                step(self)
            except (WebwinnowError, OSError) as raised:
                if name in NEEDED:
                    raise
                error = str(raised)
            self.report(steps=self.progress.steps | {name: error})
        if self._collection is not None:
            self._collection.store.finish()
        else:
            shutil.rmtree(self._collection_folder, ignore_errors=True)
        self.report(step=None, stage=None)

    @property
    def settings(self) -> RunSettings:
        """How the pages are cleaned."""
        return RunSettings(
            method=self.options.method,
            cleaning=self.options.cleaning(self.stop_list),
            task=TASKS[self.options.task],
            also=tuple(sorted(set(self.options.also))),
            site_by=self.site_by,
            rejected=True,
            models=str(self.models) if self.options.models else None,
            keep_trees=True,
        )

    @property
    def crawling(self) -> CrawlSettings:
        """How the pages below a URL are fetched. Rendered ones have a picture, for the inspector."""
        return CrawlSettings(
            pages=self.options.crawl_pages,
            guard=AddressGuard(allow_private=self.job.private),
            max_size=self.job.page_bytes,
            max_bytes=self.job.crawl_bytes,
            render=self.options.crawl_render,
            render_set=(f"max_html={self.job.page_bytes}",),
            screenshots=self.options.crawl_render != "never",
        )

    @property
    def _collection_folder(self) -> Path:
        return self.folder / "collection"

    def collection(self) -> ParsedCollection:
        """The pages of the job; they are parsed on the first call, unless an earlier process has parsed them."""
        if self._collection is None:
            try:
                self._collection = self._opened(resume=self._collection_folder.exists())
            except (InputError, SettingsError):  # it began with other inputs or models
                if not self._collection_folder.exists():
                    raise
                self._collection = self._opened(resume=False)
        return self._collection

    def _opened(self, *, resume: bool) -> ParsedCollection:
        opened = ParsedCollection.open(
            self.job.inputs,
            self.settings,
            folder=self._collection_folder,
            identity=run_identity(self.job.inputs, self.settings),
            resume=resume,
            on_progress=self.update,
            on_problem=self.note,
        )
        return self._exit.enter_context(opened)

    def update(self, stage: str, done: int, total: int | None) -> None:
        """Report how far a step is."""
        if time.monotonic() - self._reported >= SECONDS_BETWEEN or stage != self.progress.stage:
            self.report(stage=stage, done=done, total=total)

    def note(self, problem: str) -> None:
        """Report a problem of an input."""
        if len(self.progress.problems) < SHOWN_PROBLEMS:
            self.report(problems=[*self.progress.problems, problem[:500]])

    def report(self, **changes: Any) -> None:
        """Change the progress of the job."""
        self.progress = replace(self.progress, **changes)
        self._reported = time.monotonic()
        write_file(self.folder / "progress.json", msgspec.json.encode(self.progress))

    # The steps

    def crawl(self) -> None:
        """Fetch the pages below the URL of the job; an unfinished crawl is continued."""
        out, settings = Path(self.job.inputs[0]), self.crawling
        callbacks: Any = {"on_progress": self.update, "on_problem": self.note}
        found = crawled_once([self.options.crawl], out, settings, resume=True, **callbacks)
        if found is None:
            return
        if not found.finished:
            self.note(f"the crawl was ended: {found.ended}")
        if settings.render != "never":
            self.report(rendered=dict(found.rendered).get(RENDERED, 0))
            for how, pages in found.rendered:
                if how != RENDERED:
                    self.note(f"{counted(pages, 'page')} {how}")

    def clean(self) -> None:
        """Write the records."""
        collection = self.collection()
        summary = clean_collection(
            collection, self.settings, self.records, "jsonl", rejected=self.result / "rejected.jsonl"
        )
        collection.on_problem = ignore_problem  # the later steps would report the same
        names = ("pages", "sites", "kept", "dropped", "failed")
        self.report(
            summary={name: getattr(summary, name) for name in names}
            | {
                "replicas": summary.replicas or 0,
                "all_words": summary.counts.all_words,
                "kept_words": summary.counts.kept_words,
                "seconds": round(time.monotonic() - self._started, 3),
                "repeats": summary.counts.repeats[:10],
                "reasons": dict(sorted(summary.counts.reasons.items(), key=lambda found: -found[1])[:10]),
            }
        )

    def parquet(self) -> None:
        """Write the records as Parquet."""
        write_output(read_records([self.records], on_problem=self.note), self.result / "records.parquet", "parquet")

    def inspect(self) -> None:
        """Write the inspector's report."""
        settings = ReportSettings(pages=REPORT_PAGES, site_by=self.site_by)
        report_collection(self.collection(), self.result / "report.html", settings, [self.job.name])

    def index(self) -> None:
        """Build the search index."""
        with IndexFolder(self.result / "index", create=True, stop_list=self.stop_list).writing() as opened:
            opened.put_all(read_records([self.records], on_problem=self.note), on_progress=self.update)

    def clusters(self) -> None:
        """Write the clusters."""
        from webwinnow.cluster.report import write_cluster_html  # noqa: PLC0415 (an optional extra, and slow to load)
        from webwinnow.cluster.run import cluster_parsed, write_clusters  # noqa: PLC0415

        vectors = VectorSettings(stop_list=self.stop_list, weighting=DEFAULT_WEIGHTING)
        clustered = cluster_parsed(self.collection(), vectors, ClusterSettings(map=True))
        write_clusters(clustered, self.result / "clusters.jsonl")
        write_cluster_html(clustered, self.result / "clusters.html")

    def learn(self) -> None:
        """Write the models of the sites."""
        learned = learn_sites(
            self.job.inputs,
            self.models,
            CollectionSettings(site_by=self.site_by),
            update=EPOCHS if self.options.update else None,
            tmp=self.folder,
            on_progress=self.update,
            on_problem=self.note,
        )
        names = ("pages", "sites", "failed_sites", "updated", "redesigned")
        self.report(summary={name: getattr(learned, name) for name in names} | {"failed": learned.failed_pages})


STEPS: dict[str, dict[str, Callable[[JobSteps], None]]] = {
    "clean": {
        "clean": JobSteps.clean,
        "parquet": JobSteps.parquet,
        "inspect": JobSteps.inspect,
        "index": JobSteps.index,
        "clusters": JobSteps.clusters,
    },
    "learn": {"learn": JobSteps.learn},
}
"""The steps of each kind of job, in their order."""
NEEDED = frozenset({"crawl", "clean", "learn"})
"""Steps without which a job fails."""


def main(folder: str, models: str) -> str | None:
    """Do the job of a folder, with the models of another; returns why it failed, for the log."""
    with Path(folder, "lock").open("w") as lock:
        lock_file(lock, wait=True)
        try:
            with JobSteps(Path(folder), Path(models)) as job:
                job.do()
        except WebwinnowError as error:
            return str(error)
        except OSError as error:
            return error.strerror or str(error)
    return None
