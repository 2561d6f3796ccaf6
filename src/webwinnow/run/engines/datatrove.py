"""Blocks for datatrove pipelines: pages in, cleaned documents, records out. Needs the extra `datatrove`.

    pipeline = [PageReader(["crawl/"]), PageCleaner(models="models"), RecordWriter("clean/")]

Each task of a pipeline reads its share of the files, and a site is learned from the pages of one task. To learn from
all pages, build models first (`webwinnow learn`) and pass them to the cleaner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.writers.disk_base import DiskWriter
from datatrove.utils.logging import logger
from datatrove.utils.typeshelper import StatHints

from webwinnow.page.records import PageRecord
from webwinnow.progress import no_progress
from webwinnow.record.fields import page_fields, record_line
from webwinnow.run.inputs import list_files
from webwinnow.run.outputparts import clean_all, with_values
from webwinnow.run.pagestore import part_lines
from webwinnow.run.parsedcollection import ParsedCollection
from webwinnow.run.settings import RunSettings
from webwinnow.run.stages import Stages
from webwinnow.run.unpacking import ReadLimits
from webwinnow.storage.encoding import from_json

HTML = "html"
"""The metadata with the bytes of the page, between the reader and the cleaner."""
_ABOUT = ("url", "content_type", "fetched_at", "site", "page_id", "refused", "layout")


class PageReader(PipelineStep):  # type: ignore[misc]
    """Reads the inputs of `webwinnow clean`; the files are distributed over the tasks."""

    type = "📖 - READER"
    name = "🌾 webwinnow pages"

    def __init__(self, inputs: Sequence[str | Path], limits: ReadLimits | None = None) -> None:
        super().__init__()
        self.inputs, self.limits = [str(given) for given in inputs], limits or ReadLimits()

    def run(self, data: Iterable[Document] | None = None, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Documents with the page in their metadata."""
        yield from data or ()
        for number, file in enumerate(list_files(self.inputs, on_problem=logger.warning, limits=self.limits)):
            if number % world_size != rank:
                continue
            for position, page in enumerate(file.read(self.limits, logger.warning)):
                self.stat_update(StatHints.total)
                about = {name: getattr(page, name) for name in _ABOUT if getattr(page, name) is not None}
                name = page.page_id or f"{file.name}/{position}"
                yield Document(text="", id=name, metadata=about | {HTML: page.body})


class PageCleaner(PipelineStep):  # type: ignore[misc]
    """Cleans documents whose metadata has `html` (bytes), or whose text is HTML, as from datatrove's own readers.

    A document that is kept has the clean text, and the record of `webwinnow clean` in its metadata. One that is dropped
    or fails goes to `exclusion_writer`, if there is one, with the reason. Documents are in the order of their sites.
    """

    type = "🛢 - EXTRAC"
    name = "🌾 webwinnow cleaner"

    def __init__(
        self, settings: RunSettings | None = None, *, models: str | Path | None = None, exclusion_writer: Any = None
    ) -> None:
        super().__init__()
        settings = settings or RunSettings(jobs=1)
        self.settings = settings if models is None else replace(settings, models=str(Path(models).absolute()))
        self.exclusion_writer = exclusion_writer

    def run(self, data: Iterable[Document], rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Clean the documents of a task."""
        del world_size
        ids: dict[int, str] = {}
        with self.exclusion_writer or nullcontext() as excluded:
            for ordinal, record in cleaned_records(_pages(data, ids), self.settings):
                self.stat_update(StatHints.total)
                about = {name: value for name, value in record.items() if name != "text"}
                document = Document(text=record["text"] or "", id=ids[ordinal], metadata=about)
                if record["outcome"] == "kept":
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(document)
                    yield document
                else:
                    self.stat_update(StatHints.dropped, f"{StatHints.dropped}_{record['outcome']}")
                    if excluded is not None:
                        excluded.write(document, rank)


class RecordWriter(DiskWriter):  # type: ignore[misc]
    """Writes the records of cleaned documents as `webwinnow clean` does."""

    default_output_filename = "${rank}.jsonl"
    name = "🌾 webwinnow records"

    def __init__(self, output_folder: Any, output_filename: str | None = None, compression: str | None = None) -> None:
        super().__init__(output_folder, output_filename, compression, adapter=_record, mode="wb")

    def _write(self, document: dict[str, Any], file_handler: IO[bytes], _filename: str) -> None:
        file_handler.write(record_line(document))


def cleaned_records(pages: Iterable[PageRecord], settings: RunSettings) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of pages with their ordinals, in the order (site, ordinal)."""
    with ParsedCollection.of_pages(pages, settings) as collection:
        store = collection.store
        clean_all(store, collection.pool, settings)
        joined = Stages.of(settings).joined(store, no_progress)
        lines = with_values(part_lines(store.part_path(number) for number, _ in store.parts()), joined.values())
        ordinals = [ordinal for _, ordinal, _ in store.places()]
        yield from zip(ordinals, map(from_json, lines), strict=True)


def _pages(documents: Iterable[Document], ids: dict[int, str]) -> Iterator[PageRecord]:
    """The pages of documents; adds their ids to `ids`."""
    for ordinal, document in enumerate(documents):
        ids[ordinal] = document.id
        about = {name: document.metadata.get(name) for name in _ABOUT}
        body = document.metadata.get(HTML)
        if not isinstance(body, bytes):
            body, about["content_type"] = document.text.encode("utf-8", "replace"), "text/html; charset=utf-8"
        about["page_id"] = about["page_id"] or document.id
        about["url"] = about["url"] or ""
        about["layout"] = about["layout"] if isinstance(about["layout"], bytes) else None  # of another reader
        yield PageRecord(body=body, ordinal=ordinal, **about)


def _record(_writer: RecordWriter, document: Document) -> dict[str, Any]:
    """The record of a cleaned document, without metadata of other blocks."""
    names = {field.name for field in page_fields()}
    return {name: value for name, value in document.metadata.items() if name in names} | {"text": document.text}
