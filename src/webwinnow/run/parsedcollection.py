"""`ParsedCollection`: the pages of a crawl, parsed once, with the workers that process them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from webwinnow.counted import counted
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.progress import Progress, no_progress
from webwinnow.run.inputs import known_page_count, open_pages
from webwinnow.run.pagestore import CollectionStore, PageRow, scratch_store, stored_tree
from webwinnow.run.recordpages import open_records
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.tablefiles import are_records, spooled_tables
from webwinnow.run.unpacking import InputProblem, ProblemListener, ReadLimits, ignore_problem
from webwinnow.run.workerjobs import BuildModel, ModelBuilt, ParsedPage, ParsePage, Shared, UpdateModel
from webwinnow.run.workerpool import Answer, Task, WorkerPool
from webwinnow.site.modelstore import ModelFolder

if TYPE_CHECKING:
    from webwinnow.run.engines.clusterengine import ClusterEngine

CHUNK_PAGES = 32
CHUNK_BYTES = 4_000_000
"""Pages, and bytes of pages, in a task to parse."""


class OpenOptions(TypedDict, total=False):
    """Options of `ParsedCollection.open` that commands pass on: a folder for temporary files, and callbacks."""

    tmp: Path | None
    on_progress: Progress | None
    on_problem: ProblemListener | None


def all_pages(pages: Iterator[PageRecord]) -> Iterator[PageRecord]:
    """The pages as they are read."""
    return pages


class ParsedCollection:
    """Pages in a store on disk, and worker processes. Every command over many pages opens one.

        with ParsedCollection.open(["crawl.warc.gz"], CollectionSettings()) as collection:
            trees = [collection.tree(row) for row in collection.rows() if row.error is None]

    Rows come in the order (site, input ordinal). Pages are parsed when the collection is opened; the workers stay for
    further jobs (`run`). A page that cannot be parsed is a row with an error. `has_markup` is False for records of
    `clean`, whose pages are plain text (`run.recordpages`).
    """

    def __init__(
        self,
        store: CollectionStore,
        settings: CollectionSettings,
        pool: WorkerPool | None = None,
        progress: Progress = no_progress,
        on_problem: ProblemListener = ignore_problem,
        *,
        has_markup: bool = True,
    ) -> None:
        self.has_markup = has_markup
        self.store, self.settings, self.progress, self.on_problem = store, settings, progress, on_problem
        self._pool = pool

    @classmethod
    @contextmanager
    def open(
        cls,
        inputs: Sequence[str | Path],
        settings: CollectionSettings,
        *,
        records: bool = False,
        pages: Callable[[Iterator[PageRecord]], Iterator[PageRecord]] = all_pages,
        label: str | None = None,
        read_limits: ReadLimits | None = None,
        folder: Path | None = None,
        identity: dict[str, Any] | None = None,
        resume: bool = False,
        tmp: Path | None = None,
        engine: ClusterEngine | None = None,
        on_progress: Progress | None = None,
        on_problem: ProblemListener | None = None,
    ) -> Iterator[ParsedCollection]:
        """Read and parse the pages of files and folders.

        - `records`: the inputs may be records of `clean` instead, whose sites are those of the records.
        - `pages`: sees every page on its way to the workers and may change or leave out some.
        - `label`: the column with the label of a page.
        - `folder`: where the store is, with the `identity` of the run for `resume`; else it is temporary, in `tmp`.
        - `engine`: a cluster that parses the pages. It has no workers here, and its trees are not in the store.
        """
        listener, progress = on_problem or ignore_problem, on_progress or no_progress
        problems: list[str] = []

        def note(problem: str) -> None:
            problems.append(problem)
            listener(problem)

        with spooled_tables(inputs, read_limits) if records else nullcontext(inputs) as files:
            has_markup = not (records and are_records(files, read_limits))
            if has_markup:
                columns = settings.columns
                found = open_pages(files, on_problem=note, limits=read_limits, label=label, columns=columns)
            else:
                found = open_records(files, on_problem=note, limits=read_limits, label=label)
                settings = replace(settings, site_by=SiteKey.parse("column"))
            with (
                scratch_store(tmp, identity)
                if folder is None
                else CollectionStore(folder, identity or {}, resume=resume) as store
            ):
                if engine is not None:
                    engine.parse_all(files, store, settings, read_limits or ReadLimits(), note, progress)
                    yield cls(store, settings, None, progress, note)
                    return
                with WorkerPool(settings) as pool:
                    collection = cls(store, settings, pool, progress, note, has_markup=has_markup)
                    total = None if pages is not all_pages else known_page_count(files)
                    collection.parse_all(pages(found), problems, total=total)
                    yield collection

    @classmethod
    @contextmanager
    def of_pages(
        cls,
        pages: Iterable[PageRecord],
        settings: CollectionSettings,
        *,
        tmp: Path | None = None,
        on_progress: Progress | None = None,
    ) -> Iterator[ParsedCollection]:
        """Parse pages that the caller has read."""
        with scratch_store(tmp) as store, WorkerPool(settings) as pool:
            collection = cls(store, settings, pool, on_progress or no_progress)
            collection.parse_all(pages)
            yield collection

    @property
    def pool(self) -> WorkerPool:
        """The workers."""
        assert self._pool is not None, "a collection that a cluster parses has no workers"
        return self._pool

    def parse_all(self, pages: Iterable[PageRecord], problems: Sequence[str] = (), *, total: int | None = None) -> None:
        """Parse every page that the store does not have yet; `problems` are those of reading `pages`.

        `total` is the number of pages, if it is known. A run that is resumed after this stage reports the problems
        again.
        """
        store = self.store
        if store.marked("parsed") is not None:
            for problem in store.marked("problems") or ():
                self.on_problem(InputProblem(problem))
            return
        before = store.page_count()
        new = (page for page in pages if not (before and store.has_page(page.ordinal)))
        for done, (row, packed) in enumerate(parsed_pages(new, self.pool, self.settings), start=before + 1):
            store.add_page(row, packed)
            self.progress("parse", done, None if total is None else max(total, done))
        store.commit()
        store.mark("problems", list(problems))
        store.mark_parsed()

    @property
    def page_count(self) -> int:
        """The number of pages, failed ones too."""
        return self.store.page_count()

    @property
    def failed_count(self) -> int:
        """The number of pages that could not be read."""
        return self.store.failed_count()

    def report_errors(self, most: int) -> None:
        """Report why pages could not be read: the `most` frequent reasons."""
        for error, count in self.store.errors(most):
            self.on_problem(f"{counted(count, 'page')} could not be read: {error}")

    def sites(self) -> list[tuple[str, int]]:
        """The sites in order, each with its number of pages."""
        return self.store.sites()

    def pages_of(self, site: str) -> Iterator[PageRow]:
        """The pages of a site in input order."""
        return self.store.pages_of(site)

    def rows(self) -> Iterator[PageRow]:
        """All pages."""
        return (row for site, _ in self.sites() for row in self.pages_of(site))

    def tree(self, row: PageRow) -> PageTree:
        """The tree of a page that could be read."""
        assert row.ref is not None
        return stored_tree(self.store.read(row.ref))

    def chosen_trees(self, site: str, most: int | None = None) -> Iterator[PageTree]:
        """The trees that a site is learned from, at most `most` of them."""
        for ref in self.store.chosen_of(site, self.settings.learn_pages)[:most]:
            yield stored_tree(self.store.read(ref))

    def run(self, tasks: Iterable[Task]) -> Iterator[Answer]:
        """Let the workers do the jobs of some tasks; answers come in any order."""
        return self.pool.run(tasks)


def parsed_pages(
    pages: Iterable[PageRecord], pool: WorkerPool, settings: CollectionSettings
) -> Iterator[tuple[PageRow, bytes | None]]:
    """Parse pages in workers: a row for each, and its bytes for the spool; in any order.

    A page that cannot be parsed, or that its source could not read, has an error in its row and no bytes.
    """
    task, size = Task([], []), 0
    for page in pages:
        if page.refused is not None:
            yield (
                PageRow(
                    page.ordinal, settings.site_by.of(page.url, page.site), page.url, page.page_id, error=page.refused
                ),
                None,
            )
            continue
        row = PageRow(page.ordinal, "", page.url, page.page_id, fetched_at=page.fetched_at)  # the worker finds its site
        task.about.append(row)
        about = (page.content_type, page.site, page.page_id, page.layout, page.fetched_at)
        task.jobs.append(ParsePage(page.url, page.body, *about))
        size += len(page.body) + len(page.layout or b"")
        if len(task.jobs) >= CHUNK_PAGES or size >= CHUNK_BYTES:
            pool.submit(task)
            task, size = Task([], []), 0
            while not pool.has_room:
                yield _stored(pool.answer(), settings)
    if task.jobs:
        pool.submit(task)
    for answer in pool.answers():
        yield _stored(answer, settings)


def _stored(answer: Answer, settings: CollectionSettings) -> tuple[PageRow, bytes | None]:
    row: PageRow = answer.task.about[answer.at]
    if answer.error is not None:
        job: ParsePage = answer.task.jobs[answer.at]
        site = settings.site_by.of(job.url, job.site)
        return row._replace(site=site, error=answer.error, fetched_at=None), None
    parsed: ParsedPage = answer.result
    return row._replace(site=parsed.site, key=parsed.key, content=parsed.content), parsed.packed


# Models


class ModelOrder(NamedTuple):
    """Which models to build: their folder, the settings of their trees, whether to keep sums, the epochs to join."""

    folder: str
    learn_pages: int
    cleaning: CleaningSettings = CleaningSettings()
    with_sums: bool = True
    update: int | None = None


class SiteModelBuilt(NamedTuple):
    """The packed model and sums of a site, or an error; an update has no model where no page was new."""

    site: str
    is_update: bool
    error: str | None = None
    model: bytes | None = None
    sums: bytes | None = None
    familiar: float = 1.0
    redesigned: bool = False


def build_models(
    store: CollectionStore, pool: WorkerPool, order: ModelOrder, wanted: Container[str] | None = None
) -> Iterator[SiteModelBuilt]:
    """Learn the sites of a store, or the `wanted` ones of them; in any order."""
    for answer in pool.run(_tasks(store, order, wanted)):
        site, is_update = answer.task.about, isinstance(answer.task.jobs[0], UpdateModel)
        if answer.error is not None:
            yield SiteModelBuilt(site, is_update, answer.error)
        else:
            built: ModelBuilt = answer.result
            yield SiteModelBuilt(site, is_update, None, *built)


def _tasks(store: CollectionStore, order: ModelOrder, wanted: Container[str] | None) -> Iterator[Task]:
    folder = None if order.update is None else ModelFolder(Path(order.folder), make=True)
    shared, cleaning = Shared(str(store.spool_path)), order.cleaning.to_plain()
    for site, _ in store.sites():
        chosen = store.chosen_of(site, order.learn_pages) if wanted is None or site in wanted else []
        earlier = [] if folder is None else folder.epochs(folder.model_path(site))
        if chosen and earlier and order.update is not None:
            job = UpdateModel(site, chosen, cleaning, [str(path) for path in earlier], order.update)
            yield Task(site, [job], shared)
        elif chosen:
            yield Task(site, [BuildModel(site, chosen, cleaning, order.with_sums)], shared)
