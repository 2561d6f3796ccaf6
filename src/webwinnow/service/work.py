"""The process of one job: its steps in turn, each as the command of its name does it.

    python -m webwinnow.service.work JOB-FOLDER MODELS-FOLDER

A step that was done is not done again: the job of a killed server goes on where it stood. The process ends with the
server, which holds the other end of its standard input, and holds a lock, so that no two ever work on one job.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from webwinnow.cleaning.tasks import TASKS
from webwinnow.commands import RunSettings, run
from webwinnow.commands.cluster import cluster_collection, write_clusters
from webwinnow.commands.learn import learn_sites
from webwinnow.errors import WebwinnowError
from webwinnow.io import write_output
from webwinnow.io.tablefiles import read_records
from webwinnow.report import ReportSettings, write_report
from webwinnow.search import IndexFolder
from webwinnow.service.jobs import Job, JobProgress
from webwinnow.service.options import JobOptions
from webwinnow.site.epochs import EPOCHS
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.storage import write_file
from webwinnow.urls import SiteKey
from webwinnow.vectors import VectorSettings

__all__ = ["STEPS", "main"]

SECONDS_BETWEEN = 0.2
"""Progress is told no more often."""
SHOWN_PROBLEMS = 20
REPORT_PAGES = 60
"""Sample pages of the inspector's report of a job."""


class JobWork:
    """A job's folder, what is told of its progress, and its steps."""

    def __init__(self, folder: Path, models: Path) -> None:
        self.folder, self.models = folder, models
        plain = json.loads((folder / "job.json").read_bytes())
        self.job = Job(**plain | {"inputs": tuple(plain["inputs"])})
        self.options = JobOptions(**self.job.options)
        self.result = folder / "result"
        self.result.mkdir(exist_ok=True)
        self.progress = self._earlier()
        self._told = 0.0

    def _earlier(self) -> JobProgress:
        """What an earlier process got done."""
        try:
            plain = json.loads((self.folder / "progress.json").read_bytes())
            return replace(JobProgress(**plain), step=None, stage=None, done=0, total=None, problems=[])
        except (OSError, ValueError, TypeError):
            return JobProgress()

    def do(self) -> None:
        """Do the steps that are left. The first one decides over the job; what fails later is told beside it."""
        for k, (name, step) in enumerate(STEPS[self.job.kind].items()):
            if self.progress.steps.get(name, "not yet") is None:
                continue
            self.tell(step=name, stage=None, done=0, total=None)
            trouble: str | None = None
            try:
                step(self)
            except (WebwinnowError, OSError) as error:
                if k == 0:
                    raise
                trouble = str(error)
            self.tell(steps=self.progress.steps | {name: trouble})
        self.tell(step=None, stage=None)

    @property
    def settings(self) -> RunSettings:
        """How the pages are cleaned."""
        return RunSettings(
            method=self.options.method,
            cleaning=self.options.cleaning(),
            task=TASKS[self.options.task],
            also=tuple(sorted(set(self.options.also))),
            site_by=SiteKey.parse(self.options.site_by),
            rejected=True,
            models=str(self.models) if self.options.models else None,
        )

    def update(self, stage: str, done: int, total: int | None) -> None:
        """So many of so many are done."""
        if time.monotonic() - self._told >= SECONDS_BETWEEN or stage != self.progress.stage:
            self.tell(stage=stage, done=done, total=total)

    def note(self, problem: str) -> None:
        """Something is wrong with an input."""
        if len(self.progress.problems) < SHOWN_PROBLEMS:
            self.tell(problems=[*self.progress.problems, problem[:500]])

    def tell(self, **changes: Any) -> None:
        """Change what is told of the job's progress."""
        self.progress = replace(self.progress, **changes)
        self._told = time.monotonic()
        write_file(self.folder / "progress.json", json.dumps(asdict(self.progress)).encode(), durable=False)

    @property
    def records(self) -> Path:
        """Where the records are."""
        return self.result / "records.jsonl"


def _clean(work: JobWork) -> None:
    left_over = work.result / f".{work.records.name}.webwinnow-run"
    summary = run(
        work.job.inputs,
        work.records,
        work.settings,
        rejected=work.result / "rejected.jsonl",
        resume=left_over.exists(),
        on_progress=work.update,
        on_problem=work.note,
    )
    told = {
        "pages": summary.pages,
        "sites": summary.sites,
        "kept": summary.kept,
        "dropped": summary.dropped,
        "failed": summary.failed,
        "replicas": summary.replicas or 0,
        "all_words": summary.counts.all_words,
        "kept_words": summary.counts.kept_words,
        "seconds": round(summary.seconds, 3),
        "repeats": summary.counts.repeats[:10],
        "reasons": dict(sorted(summary.counts.reasons.items(), key=lambda found: -found[1])[:10]),
    }
    work.tell(summary=told)


def _parquet(work: JobWork) -> None:
    write_output(read_records([work.records], on_problem=work.note), work.result / "records.parquet", "parquet")


def _report(work: JobWork) -> None:
    settings = ReportSettings(pages=REPORT_PAGES, site_by=SiteKey.parse(work.options.site_by))
    write_report(
        work.job.inputs,
        work.result / "report.html",
        settings,
        tmp=work.folder,
        shown_inputs=[work.job.name],
        on_progress=work.update,
        on_problem=lambda _: None,
    )


def _index(work: JobWork) -> None:
    with IndexFolder(work.result / "index", create=True).writing() as opened:
        opened.put_all(read_records([work.records], on_problem=work.note), on_progress=work.update)


def _clusters(work: JobWork) -> None:
    from webwinnow.mining import ClusterSettings  # noqa: PLC0415 (an optional extra, and slow to load)
    from webwinnow.report.clusterreport import write_cluster_html  # noqa: PLC0415

    settings = RunSettings(method="none", site_by=SiteKey.parse(work.options.site_by), keep_trees=True)
    collection = cluster_collection(
        work.job.inputs,
        settings,
        VectorSettings(weights=CstWeightSettings(mapped=True)),
        ClusterSettings(map=True),
        tmp=work.folder,
        on_progress=work.update,
        on_problem=lambda _: None,
    )
    write_clusters(collection, work.result / "clusters.jsonl")
    write_cluster_html(collection, work.result / "clusters.html")


def _learn(work: JobWork) -> None:
    settings = replace(work.settings, models=None, rejected=False, method="sst", keep_trees=True)
    learned = learn_sites(
        work.job.inputs,
        work.models,
        settings,
        tmp=work.folder,
        on_progress=work.update,
        on_problem=work.note,
        update=EPOCHS if work.options.update else None,
    )
    work.tell(
        summary={
            "pages": learned.pages,
            "sites": learned.sites,
            "failed": learned.failed_pages,
            "failed_sites": learned.failed_sites,
            "updated": learned.updated,
            "redesigned": learned.redesigned,
        }
    )


STEPS: dict[str, dict[str, Callable[[JobWork], None]]] = {
    "clean": {"clean": _clean, "parquet": _parquet, "inspect": _report, "index": _index, "clusters": _clusters},
    "learn": {"learn": _learn},
}
"""The steps of each kind of job, in their order."""


def main(folder: Path, models: Path) -> str | None:
    """Do a job; returns why it failed."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        threading.Thread(target=_end_with_server, daemon=True).start()
        try:
            JobWork(folder, models).do()
        except WebwinnowError as error:
            return str(error)
        except OSError as error:
            return error.strerror or str(error)
    return None


def _end_with_server() -> None:
    """Wait for the end of standard input: the server is gone, or wants this process gone."""
    while os.read(0, 4096):
        pass
    os.killpg(0, 9)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))  # which writes a reason to the log
