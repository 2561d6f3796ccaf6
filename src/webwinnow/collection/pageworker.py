"""What a worker does with one item: parse a page, learn a site, clean a page. Plain values in, plain values out."""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.blocks import cut
from webwinnow.cleaner import Cleaner
from webwinnow.cleaning.tasks import DEFAULT_TASK, TASKS
from webwinnow.cleanpage import CleanPage
from webwinnow.collection.servedpage import KnownSites, PageDesk
from webwinnow.collection.settings import RunSettings
from webwinnow.docview import CategoryModel
from webwinnow.errors import InputError
from webwinnow.fingerprints import exact_fingerprint, short_fingerprint
from webwinnow.io.rows import LINK_FIELDS, record_line
from webwinnow.links import page_edges
from webwinnow.pagemodel import PageContext, PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.parsing import parse
from webwinnow.records import Dropped, PageRecord
from webwinnow.replicas import Standing, distinctive_runs, page_sketch
from webwinnow.site.epochs import join_epoch
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import ModelFolder, open_models
from webwinnow.site.sampling import page_key
from webwinnow.site.sums import TEXTS, SiteSums, block_keys
from webwinnow.treebytes import tree_from_bytes, tree_to_bytes

__all__ = ["PageWorker", "failed_page"]

SHOWN_REPEATS = 5
"""Most repeated blocks that a site reports to the summary."""
SHOWN_CHARACTERS = 80

Ref = tuple[int, int]
"""Where a packed tree lies in the spool: offset and length."""


class PageWorker:
    """A worker's tools: settings, the open spool, and the model of the site at hand."""

    def __init__(self, settings: dict[str, Any], beat: Callable[[], None]) -> None:
        self.settings = RunSettings.from_plain(settings)
        task = None if self.settings.links is not None else self.settings.task
        self.cleaner = Cleaner.of(self.settings.method, self.settings.cleaning, task or TASKS[DEFAULT_TASK])
        self.method = self.cleaner.method
        self.categories = (
            None if self.settings.categories is None else CategoryModel.load(Path(self.settings.categories))
        )
        self.beat = beat
        self.spool: int | None = None
        self.spool_path = ""
        self.model_of: tuple[str, LearnedSite | None] | None = None
        self.known = None if self.settings.models is None else KnownSites(open_models(Path(self.settings.models)))
        self.desk: PageDesk | None = None

    def do(self, kind: str, shared: Any, item: Any) -> Any:
        """Do one item of a task."""
        if kind == "page":
            if self.desk is None:
                self.desk = PageDesk(self.settings.limits, KnownSites(ModelFolder(Path(shared), make=True)))
            return self.desk.clean(*item)
        if kind == "parse":
            return self.parse(*item)
        if kind == "learn":
            self._open_spool(shared)
            return self.learn(item)
        if kind == "model":
            self._open_spool(shared)
            return self.model(*item)
        if kind == "update":
            self._open_spool(shared)
            return self.update(*item)
        self._open_spool(shared["spool"])
        return self.clean(shared["sites"][item[0]], item[1:])

    def parse(
        self, url: str, body: bytes, content_type: str | None, site: str | None, page_id: str | None
    ) -> tuple[str, int, str, bytes]:
        """A page to (site, key, exact fingerprint, what the spool keeps).

        The spool keeps the packed tree, with what the page model says of it if the method learns from that; or, where
        the method learns nothing from the site, the finished answer.
        """
        name = self.settings.site_by.of(PageRecord(url=url, body=b"", site=site))
        tree = parse(body, url=url, content_type=content_type, limits=self.settings.limits)
        if self.settings.spools_trees:
            packed, content = tree_to_bytes(tree), exact_fingerprint(tree)
            if self.settings.learns and self.method.scores:
                packed = marshal.dumps((packed, PageEvidence.of(tree).to_bytes(), short_fingerprint(content)))
            return name, page_key(url), content, packed
        model = self.known.model(name) if self.known is not None and self.method.learns else None
        shown = self.settings.site_by.name(name, url)
        return name, 0, "", marshal.dumps(self._cleaned(tree, None, model, shown, page_id))

    def learn(self, refs: list[Ref]) -> tuple[bytes, list[tuple[int, str]]]:
        """Chosen pages to (model, its most repeated blocks)."""
        model, repeats = self._learned(refs)
        return model.to_bytes(), repeats

    def model(self, site: str, refs: list[Ref], sums_too: bool) -> tuple[bytes, bytes | None]:
        """Chosen pages to (model, sums if they are wanted)."""
        sums = SiteSums(site)
        for ref in refs:
            self.beat()
            sums.add(tree_from_bytes(self._read(ref)))
        self.beat()
        return self._settled(LearnedSite.of(sums)).to_bytes(), sums.to_bytes() if sums_too else None

    def update(
        self, refs: list[Ref], earlier: list[str], epochs: int
    ) -> tuple[bytes | None, bytes | None, float, bool]:
        """Chosen pages of a new crawl to (model, sums of the new epoch, how familiar it is, whether redesigned).

        Model and sums are None where no page is new.
        """
        known = [SiteSums.load(path) for path in earlier]
        epoch = join_epoch(
            known, lambda: (tree_from_bytes(self._read(ref)) for ref in refs), epochs=epochs, beat=self.beat
        )
        if epoch.model is None or epoch.sums is None:
            return None, None, epoch.familiar, False
        return self._settled(epoch.model).to_bytes(), epoch.sums.to_bytes(), epoch.familiar, epoch.redesigned

    def _settled(self, model: LearnedSite) -> LearnedSite:
        """A model with the threshold that a person set, if one did."""
        threshold = self.settings.cleaning.sst.threshold
        return model if threshold is None else model.with_threshold(threshold)

    def clean(self, site: dict[str, Any], page: tuple[Any, ...]) -> tuple[Any, ...]:
        """A page to (record line, rejected lines, outcome, reason, kept words, all words, sketch, repeats of its site).

        The reason of a kept page is a remark on it.
        """
        url, page_id, ref, error = page
        if error is not None:
            return failed_page(url, page_id, site["name"], self.settings, error)
        repeats: list[tuple[int, str]] = []
        if self.settings.learns and (self.model_of is None or self.model_of[0] != site["name"]):
            model, repeats = self._model(site)
            self.model_of = (site["name"], model)
        model = self.model_of[1] if self.model_of is not None else None
        *answer, _ = self._cleaned(*self._page(ref)[:2], model, site["name"], page_id)
        return *answer, repeats

    def _page(self, ref: Ref) -> tuple[PageTree, PageEvidence | None, int]:
        """What the spool keeps of a page: its tree, what the page model says of it, its fingerprint."""
        packed = self._read(ref)
        if not self.method.scores:
            return tree_from_bytes(packed), None, 0
        tree, evidence, key = marshal.loads(packed)
        return tree_from_bytes(tree), PageEvidence.from_bytes(evidence), key

    def _cleaned(
        self,
        tree: PageTree,
        evidence: PageEvidence | None,
        model: LearnedSite | None,
        site: str,
        page_id: str | None,
    ) -> tuple[Any, ...]:
        evidence = self.cleaner.evidence(tree) if evidence is None else evidence
        clean = self.cleaner.clean(tree, model, evidence)
        if self.settings.links is not None:
            return self._linked(clean, site, page_id)
        view = self.settings.view
        record = clean.record(also=self.settings.also, settings=view, categories=self.categories, view=view is not None)
        record |= {"page_id": page_id, "site": site}
        rejected = list(_rejected(clean, record)) if self.settings.rejected else []
        counted = (record[name] for name in ("outcome", "reason", "kept_words", "all_words"))
        return record_line(record), rejected, *counted, self._sketch(clean, evidence, model, record), []

    def _sketch(
        self, clean: CleanPage, evidence: PageEvidence | None, model: LearnedSite | None, record: dict[str, Any]
    ) -> bytes:
        """What is kept of a page to find its replicas; nothing if nobody asks."""
        if self.settings.replicas is None:
            return b""
        runs = distinctive_runs(clean.tree, clean.verdict, evidence, model)
        standing = Standing(
            url=record["url"],
            site=record["site"],
            title=record["title"],
            date=record["date"],
            canonical=clean.tree.head.canonical,
        )
        return page_sketch(clean.tree, runs, standing, self.settings.replicas).tobytes()

    def _linked(self, clean: CleanPage, site: str, page_id: str | None) -> tuple[Any, ...]:
        """The lines of a page's links in the place of its record."""
        verdict, outcome = clean.verdict, clean.outcome
        dropped = outcome.reason if isinstance(outcome, Dropped) else None
        about = {"page_id": page_id, "site": site}
        edges = page_edges(PageContext(clean.tree, blocks=clean.blocks), verdict, self.settings.task, clean.model)
        lines = [
            record_line(edge._asdict() | about, LINK_FIELDS)
            for edge in edges
            if edge.kept or self.settings.links == "all"
        ]
        told = (verdict.note, "kept") if dropped is None else (dropped, "dropped")
        return b"".join(lines), [], told[1], told[0], clean.kept_words, clean.all_words, b"", []

    def _model(self, site: dict[str, Any]) -> tuple[LearnedSite | None, list[tuple[int, str]]]:
        if site["model"] is not None:
            return LearnedSite.load(Path(site["model"])), []
        if site["chosen"] is None:
            return None, []
        return self._learned(site["chosen"])

    def _learned(self, refs: list[Ref]) -> tuple[LearnedSite, list[tuple[int, str]]]:
        if not refs:
            return LearnedSite.of(SiteSums(parts=self.method.parts)), []
        if self.method.scores:
            return self._learned_from_scores(refs)
        sums = SiteSums(parts=self.method.parts | {TEXTS})
        for ref in refs:
            self.beat()
            tree = tree_from_bytes(self._read(ref))
            sums.add(tree)
        model = LearnedSite.of(sums)
        blocks = cut(tree)
        return model, _most_repeated(blocks.texts(), model.pages_that_say(block_keys(blocks)))

    def _learned_from_scores(self, refs: list[Ref]) -> tuple[LearnedSite, list[tuple[int, str]]]:
        """Learn a site from what the page model says of its pages; their trees stay packed."""
        sums = SiteSums(parts=self.method.parts)
        for ref in refs:
            self.beat()
            _, packed, key = marshal.loads(self._read(ref))
            evidence = PageEvidence.from_bytes(packed)
            sums.add_evidence(key, evidence)
        model = LearnedSite.of(sums)
        if len(refs) == 1:
            return model, []
        pages = model.block_table.pages_that_say(evidence.text)
        repeated = np.flatnonzero(pages > 1)
        blocks = evidence.blocks(self._page(refs[-1])[0])
        texts = [" ".join(blocks.text(b).split()) for b in evidence.said[repeated].tolist()]
        return model, _most_repeated(texts, pages[repeated])

    def _open_spool(self, path: str) -> None:
        """Open a spool unless it is open. With another come other pages: what was learned of a site is forgotten."""
        if self.spool is None or self.spool_path != path:
            if self.spool is not None:
                os.close(self.spool)
            self.spool, self.spool_path, self.model_of = os.open(path, os.O_RDONLY), path, None

    def _read(self, ref: Ref) -> bytes:
        assert self.spool is not None
        packed = os.pread(self.spool, ref[1], ref[0])
        if len(packed) < ref[1]:
            raise InputError("the spool is shorter than its index says; run again without --resume")
        return packed


def failed_page(url: str, page_id: str | None, site: str, settings: RunSettings, error: str) -> tuple[Any, ...]:
    """What `PageWorker.clean` gives for a page that could not be read."""
    about = {"url": url, "page_id": page_id, "site": site, "outcome": "failed", "reason": error}
    if settings.links is not None:
        return b"", [], "failed", error, 0, 0, b"", []
    record = about | {"method": settings.method, "text": "", "kept_words": 0, "all_words": 0}
    return record_line(record), [_line(about)] if settings.rejected else [], "failed", error, 0, 0, b"", []


def _rejected(clean: CleanPage, record: dict[str, Any]) -> Iterator[bytes]:
    """What was left out of a page: the page itself, or block by block."""
    about = {name: record[name] for name in ("url", "page_id", "site")}
    if record["outcome"] != "kept":
        yield _line(about | {"outcome": record["outcome"], "reason": record["reason"]})
    for decision in clean.decisions():
        if not decision.kept:
            yield _line(about | {"xpath": decision.xpath, "reason": decision.reason, "text": decision.text})


def _most_repeated(texts: list[str], pages: NDArray[np.integer[Any]]) -> list[tuple[int, str]]:
    """The blocks of one learned page that most pages repeat, longest first among equals."""
    found = {texts[b]: int(pages[b]) for b in np.flatnonzero(pages > 1).tolist() if len(texts[b]) > 1}
    most = sorted(found.items(), key=lambda entry: (-entry[1], -len(entry[0]), entry[0]))[:SHOWN_REPEATS]
    return [(count, text[:SHOWN_CHARACTERS]) for text, count in most]


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
