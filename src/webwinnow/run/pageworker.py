"""A worker process: parses pages, learns sites, cleans pages; tasks on standard input, answers on standard output.

`WorkerPool` starts it with `child_command`.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, ModelError
from webwinnow.judge.evidence import PageEvidence, page_with
from webwinnow.judge.tasks import TASKS
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.blocks import cut
from webwinnow.page.fingerprints import exact_fingerprint, short_fingerprint
from webwinnow.page.page import Page
from webwinnow.page.parsing import ParseLimits, parse
from webwinnow.page.records import Dropped
from webwinnow.page.tree import PageTree
from webwinnow.page.treebytes import tree_from_bytes, tree_to_bytes
from webwinnow.page.urls import SiteKey
from webwinnow.platforms import limit_memory
from webwinnow.record.cleaner import Cleaner, CleanPage
from webwinnow.record.fields import ordered, record_line
from webwinnow.run.pagestore import StoredPage, stored_tree
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.run.stages import Stages
from webwinnow.run.workerjobs import (
    DONE,
    FAILED,
    HEARTBEAT,
    LEARNS,
    READY,
    BuildModel,
    CleanRequest,
    CleanStored,
    Job,
    LearnSite,
    ModelBuilt,
    PageCleaned,
    ParsedPage,
    ParsePage,
    Ref,
    RequestCleaned,
    Result,
    Shared,
    SiteLearned,
    SiteToClean,
    UpdateModel,
    decode_task,
)
from webwinnow.site.epochs import join_epoch
from webwinnow.site.learned import LearnedSite, limits_for
from webwinnow.site.modelstore import ModelFolder, ModelTable, open_models
from webwinnow.site.part_texts import block_keys
from webwinnow.site.sums import SAME_CSS, TEXTS, SiteSums, page_key
from webwinnow.storage.encoding import read_frame, to_json, write_frame

SHOWN_REPEATS = 5
"""Most repeated blocks of a site in the summary of a run."""
SHOWN_CHARACTERS = 80
GARBAGE_THRESHOLD = 50_000
OPEN_MODELS = 16
"""Models that a worker keeps in memory."""


class ModelCache:
    """The models of a folder or table. The last used stay in memory; a model that changes on disk is read again."""

    def __init__(self, folder: ModelFolder | ModelTable) -> None:
        self.folder = folder
        self.open: dict[str, tuple[int, LearnedSite]] = {}

    def model(self, site: str) -> LearnedSite | None:
        """The model of a site, None where there is none."""
        written = self.folder.written(site)
        if written is None:
            return None
        held = self.open.pop(site, None)
        if held is None or held[0] != written:
            model = self.folder.find(site)
            if model is None:
                return None
            held = (written, model)
        self.open[site] = held
        if len(self.open) > OPEN_MODELS:
            del self.open[next(iter(self.open))]
        return held[1]


class PageWorker:
    """A worker with its settings, the open spool, and the model of the current site.

    `send` is called with a `HEARTBEAT` from time to time within a job that takes longer than a page, and with what it
    `LEARNS`. `unlearned`: the last site that could not be learned.
    """

    def __init__(self, settings: CollectionSettings, send: Callable[[int, Any], None] = lambda *_: None) -> None:
        self.settings = settings
        self.send = send
        self.unlearned: str | None = None
        self.spool: int | None = None
        self.spool_path = ""
        self.model_of: tuple[str, LearnedSite | None] | None = None
        self.last: tuple[Ref, StoredPage] | None = None
        self.request_models: ModelCache | None = None
        self.cleans_at_once = self.scores = False
        if isinstance(settings, RunSettings):
            self.run = settings
            self.cleans_at_once = not settings.learns
            self.stages = Stages.of(settings)
            self.categories = self.stages.categories
            task = settings.task if self.stages.instead is None else self.stages.instead.task or settings.task
            self.cleaner = Cleaner.of(settings.method, settings.cleaning, task, selection=settings.selection)
            self.method = self.cleaner.method
            self.scores = self.method.scores
            self.is_filtering = not settings.corpus.is_open
            self.models = None if settings.models is None else ModelCache(open_models(Path(settings.models)))

    def heartbeat(self) -> None:
        """Tell that a long job goes on."""
        self.send(HEARTBEAT, None)

    def do(self, job: Job, shared: Shared) -> Result:
        """Do one job of a task."""
        match job:
            case ParsePage():
                return self.parse(job)
            case CleanRequest():
                if self.request_models is None:
                    self.request_models = ModelCache(ModelFolder(Path(shared.path), make=True))
                return clean_request(job, self.settings.limits, self.request_models)
        self._open_spool(shared.path)
        match job:
            case CleanStored():
                return self.clean(job, shared.sites[job.site])
            case LearnSite():
                model, repeats = self._learned(job.chosen)
                return SiteLearned(model.to_bytes(), repeats)
            case BuildModel():
                return self.build_model(job)
            case UpdateModel():
                return self.update_model(job)

    def parse(self, page: ParsePage) -> ParsedPage:
        """Parse a page, with evidence where the method learns from that; clean it where it needs no site model."""
        settings, url = self.settings, page.url
        site = settings.site_by.of(url, page.site)
        model = None
        if self.cleans_at_once and self.models is not None and self.method.learns:
            model = self.models.model(site)
        limits = limits_for(model, settings.limits)
        tree = parse(page.body, url=url, content_type=page.content_type, limits=limits, layout=page.layout)
        if self.cleans_at_once:
            cleaned = self._cleaned(Page(tree), model, settings.site_by.name(site, url), page)
            if not self.run.keep_trees:
                return ParsedPage(site, 0, "", StoredPage(None, cleaned=tuple(cleaned)).pack())
            stored = StoredPage(tree_to_bytes(tree), cleaned=tuple(cleaned))
            return ParsedPage(site, page_key(url), exact_fingerprint(tree), stored.pack())
        stored, content = StoredPage(tree_to_bytes(tree)), exact_fingerprint(tree)
        if self.scores:
            stored = stored._replace(evidence=PageEvidence.of(tree).to_bytes(), fingerprint=short_fingerprint(content))
        return ParsedPage(site, page_key(url), content, stored.pack())

    # Learning

    def build_model(self, job: BuildModel) -> ModelBuilt:
        """Learn a site from the chosen pages."""
        cleaning = CleaningSettings.from_plain(job.cleaning)
        sums = SiteSums(job.site, settings=cleaning, css=self.settings.limits.css)
        for tree in self._trees(job.chosen):
            self.heartbeat()
            sums.add(tree)
        self.heartbeat()
        return ModelBuilt(LearnedSite.of(sums).to_bytes(), sums.to_bytes() if job.with_sums else None)

    def update_model(self, job: UpdateModel) -> ModelBuilt:
        """Join a new epoch, learned from the chosen pages, to the earlier ones."""
        cleaning = CleaningSettings.from_plain(job.cleaning)
        known = [SiteSums.load(path, cleaning) for path in job.earlier]
        for path, sums in zip(job.earlier, known, strict=True):
            if sums.site != job.site:
                raise ModelError(f"{path} has the sums of {sums.site!r}, not of {job.site!r}; learn the site again")
        if known[-1].css not in (None, self.settings.limits.css):
            how = "with" if known[-1].css else "without"
            raise ModelError(f"its earlier pages were learned {how} --css; {SAME_CSS}")
        epoch = join_epoch(
            known,
            lambda: self._trees(job.chosen),
            epochs=job.epochs,
            beat=self.heartbeat,
        )
        if epoch.model is None or epoch.sums is None:
            return ModelBuilt(None, None, epoch.familiar)
        return ModelBuilt(epoch.model.to_bytes(), epoch.sums.to_bytes(), epoch.familiar, epoch.redesigned)

    def _learned(self, chosen: list[Ref]) -> tuple[LearnedSite, list[tuple[int, str]]]:
        """Learn a site for the cleaning method; also returns its most repeated blocks."""
        if not chosen:
            return LearnedSite.of(SiteSums(parts=self.method.parts)), []
        if self.scores:
            return self._learned_from_evidence(chosen)
        sums = SiteSums(parts=self.method.parts | {TEXTS}, settings=self.cleaner.settings)
        for tree in self._trees(chosen):
            self.heartbeat()
            sums.add(tree)
        model = LearnedSite.of(sums)
        blocks = cut(tree)
        return model, _most_repeated(blocks.texts(), model.pages_that_say(block_keys(blocks)))

    def _learned_from_evidence(self, chosen: list[Ref]) -> tuple[LearnedSite, list[tuple[int, str]]]:
        """Learn a site from the page model's evidence; the trees stay packed."""
        if len(chosen) == 1:
            return LearnedSite.of_one(self._stored(chosen[0]).fingerprint), []
        sums = SiteSums(parts=self.method.parts)
        for ref in chosen:
            self.heartbeat()
            stored = self._stored(ref)
            assert stored.evidence is not None
            evidence = PageEvidence.from_bytes(stored.evidence)
            sums.add_evidence(stored.fingerprint, evidence)
        model = LearnedSite.of(sums)
        pages = model.block_table.pages_that_say(evidence.text)
        repeated = np.flatnonzero(pages > 1)
        assert stored.tree is not None
        blocks = evidence.blocks(tree_from_bytes(stored.tree))
        texts = [" ".join(blocks.text(b).split()) for b in evidence.said[repeated].tolist()]
        return model, _most_repeated(texts, pages[repeated])

    # Cleaning

    def clean(self, page: CleanStored, site: SiteToClean) -> PageCleaned:
        """Clean a page of the spool, with the model of its site."""
        if page.error is not None or page.ref is None:
            return failed_page(page.url, page.page_id, site.name, self.run, self.stages, page.error or "")
        repeats: list[tuple[int, str]] = []
        if not self.cleans_at_once and (self.model_of is None or self.model_of[0] != site.name):
            repeats = self._learn(site)
        model = self.model_of[1] if self.model_of is not None else None
        stored = self._stored(page.ref)
        assert stored.tree is not None
        evidence = None if stored.evidence is None else PageEvidence.from_bytes(stored.evidence)
        context = page_with(tree_from_bytes(stored.tree), evidence, fingerprint=stored.fingerprint or None)
        cleaned = self._cleaned(context, model, site.name, page)
        return cleaned._replace(repeats=repeats)

    def _learn(self, site: SiteToClean) -> list[tuple[int, str]]:
        """Learn the site of the pages that follow, unless that failed before; returns its most repeated blocks."""
        model, repeats = None, list[tuple[int, str]]()
        for stage in self.stages.every:
            stage.learn(None)
        if self.unlearned != site.name:
            self.unlearned = site.name
            self.send(LEARNS, site.name)
            model, repeats = self._site_model(site)
            if chosen := site.chosen:
                for stage in self.stages.every:
                    stage.learn(lambda: self._trees(chosen))
            self.unlearned = None
            self.send(LEARNS, None)
        self.model_of = site.name, model
        return repeats

    def _site_model(self, site: SiteToClean) -> tuple[LearnedSite | None, list[tuple[int, str]]]:
        if site.model is not None:
            return LearnedSite.load(Path(site.model)), []
        return (None, []) if site.chosen is None else self._learned(site.chosen)

    def _cleaned(self, page: Page, model: LearnedSite | None, site: str, job: ParsePage | CleanStored) -> PageCleaned:
        clean, stages, run = self.cleaner.clean_in(page, model), self.stages, self.run
        about = {"page_id": job.page_id, "site": site}
        if stages.instead is not None:
            line, tallies = stages.instead.page_lines(clean, about)
            found = clean.outcome
            outcome, reason = ("dropped", found.reason) if isinstance(found, Dropped) else ("kept", clean.verdict.note)
            return PageCleaned(line, [], outcome, reason, clean.kept_words, clean.all_words, tallies=tallies)
        record = clean.record(also=run.also, categories=self.categories, view=run.view, fetched=job.fetched_at)
        record |= about
        for stage in stages.filling:
            stage.fill(clean, record)
        text, is_kept = record["text"], record["outcome"] == "kept"
        if self.is_filtering:
            run.corpus.judge(record)
        outcome, reason, kept, words = (record[name] for name in ("outcome", "reason", "kept_words", "all_words"))
        is_filtered = is_kept and outcome != "kept"
        rejected = list(_rejected(clean, record, text if is_filtered else None)) if run.rejected else []
        rows = [] if is_filtered else [stage.row(clean, record) for stage in stages.keeping]
        return PageCleaned(record_line(record, stages.fields), rejected, outcome, reason, kept, words, rows)

    # The spool

    def _open_spool(self, path: str) -> None:
        """Open a spool unless it is open. Another spool has other pages: the site model is dropped."""
        if self.spool is None or self.spool_path != path:
            if self.spool is not None:
                os.close(self.spool)
            self.spool, self.spool_path = os.open(path, os.O_RDONLY), path
            self.model_of = self.last = None

    def _trees(self, refs: list[Ref]) -> Iterator[PageTree]:
        return (stored_tree(self._read(ref)) for ref in refs)

    def _stored(self, ref: Ref) -> StoredPage:
        """A page of the spool; the last one is not read again."""
        if self.last is None or self.last[0] != ref:
            self.last = ref, StoredPage.unpack(self._read(ref))
        return self.last[1]

    def _read(self, ref: Ref) -> bytes:
        assert self.spool is not None
        packed = os.pread(self.spool, ref[1], ref[0])
        if len(packed) < ref[1]:
            raise InputError("the spool is shorter than its index says; run again without --resume")
        return packed


def failed_page(
    url: str, page_id: str | None, site: str, settings: RunSettings, stages: Stages, error: str
) -> PageCleaned:
    """The output of a page that could not be read."""
    if stages.instead is not None:
        return PageCleaned(stages.instead.failed_lines(), [], "failed", error)
    about = {"url": url, "page_id": page_id, "site": site, "outcome": "failed", "reason": error}
    record = about | {"method": settings.method, "text": "", "kept_words": 0, "all_words": 0}
    rejected = [_line(about)] if settings.rejected else []
    return PageCleaned(record_line(record, stages.fields), rejected, "failed", error)


def clean_request(job: CleanRequest, limits: ParseLimits, models: ModelCache) -> RequestCleaned:
    """Clean a page with its own options: its record as JSON; with `explain`, also the decision on each block."""
    options = job.options
    site_by = SiteKey.parse(options["site_by"])
    site = site_by.of(job.url)
    model = models.model(site) if options["models"] and site else None
    tree = parse(job.body, url=job.url, content_type=job.content_type, limits=limits_for(model, limits))
    asked = [options[name] for name in ("method", "cleaning", "task", "explain")]
    clean = _request_cleaner(json.dumps(asked)).clean(tree, model)
    answer = record = ordered(clean.record(also=tuple(options["also"])) | {"site": site_by.name(site, job.url)})
    if options["explain"]:
        decisions = [
            found._asdict() | {"because": [{"push": round(push, 3), "says": says} for push, says in found.because]}
            for found in clean.decisions(explain=True)
        ]
        answer = {"record": record, "decisions": decisions}
    return RequestCleaned(to_json(answer))


@lru_cache(maxsize=16)  # most requests have the same options
def _request_cleaner(asked: str) -> Cleaner:
    """The cleaner of method, settings, task and whether to explain, as JSON."""
    method, cleaning, task, explain = json.loads(asked)
    return Cleaner.of(method, CleaningSettings.from_plain(cleaning), TASKS[task], kinds=explain)


def _rejected(clean: CleanPage, record: dict[str, Any], text: str | None) -> Iterator[bytes]:
    """What was removed from a page: the page itself, with its clean `text` if it has any, or its blocks."""
    about = {name: record[name] for name in ("url", "page_id", "site")}
    if record["outcome"] != "kept":
        dropped = about | {"outcome": record["outcome"], "reason": record["reason"]}
        yield _line(dropped if text is None else dropped | {"text": text})
    for decision in clean.decisions():
        if not decision.kept:
            yield _line(about | {"xpath": decision.xpath, "reason": decision.reason, "text": decision.text})


def _most_repeated(texts: list[str], pages: NDArray[np.integer[Any]]) -> list[tuple[int, str]]:
    """The blocks of a page that most pages of its site repeat, the longest first among equals."""
    found = {texts[b]: int(pages[b]) for b in np.flatnonzero(pages > 1).tolist() if len(texts[b]) > 1}
    most = sorted(found.items(), key=lambda entry: (-entry[1], -len(entry[0]), entry[0]))[:SHOWN_REPEATS]
    return [(count, text[:SHOWN_CHARACTERS]) for text, count in most]


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


# The process


def main() -> None:
    """Serve until standard input ends."""
    sys.setrecursionlimit(10_000)
    inbox: IO[bytes] = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    outbox: IO[bytes] = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # anything printed by mistake goes to the log, not into a frame
    settings, memory = read_frame(inbox)
    limit_memory(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which ends its workers itself
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)  # pages make many objects and hardly any cycles
    kind = RunSettings if "method" in settings else CollectionSettings
    worker = PageWorker(kind.from_plain(settings), lambda *said: write_frame(outbox, said))
    write_frame(outbox, (READY, None))
    while True:
        try:
            jobs, shared = decode_task(read_frame(inbox))
        except EOFError:
            return
        for job in jobs:
            write_frame(outbox, _outcome(worker, job, shared))


def _outcome(worker: PageWorker, job: Job, shared: Shared) -> tuple[int, Any]:
    """The answer to a job. A page whose site cannot be learned is cleaned without it."""
    unlearned = worker.unlearned
    outcome = _attempt(worker, job, shared)
    return _attempt(worker, job, shared) if worker.unlearned not in (None, unlearned) else outcome


def _attempt(worker: PageWorker, job: Job, shared: Shared) -> tuple[int, Any]:
    """The boundary around one record: any error inside is the failure of this record only."""
    try:
        return DONE, tuple(worker.do(job, shared))
    except MemoryError:
        return FAILED, "the page needs more memory than a worker may use"
    except Exception as error:
        return FAILED, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
