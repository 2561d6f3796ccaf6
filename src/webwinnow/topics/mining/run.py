"""`mine_sites`: Algorithm 1 of Sites: train, find candidates, read them with pruning, classify, fuse, train again.

`discovery`, `pruning` and `sitetopics` make the decisions; this module crawls and keeps the state. A run is a folder:
`mine.sqlite`, a WARC file for each round, and at its end `sites.jsonl`, `rounds.jsonl` and the model, `topics.npz`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from webwinnow.counted import counted
from webwinnow.crawl.crawling import CrawlSummary, crawl, stored_crawl
from webwinnow.crawl.scope import page_url, start_url
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import InputError, SettingsError
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.progress import Progress
from webwinnow.run.inputs import open_pages
from webwinnow.run.outputs import write_lines
from webwinnow.storage.atomic import write_file
from webwinnow.topics.discovery import Judgement, SiteGraph, candidates, neighbours_of
from webwinnow.topics.mining.model import MineModel, Models
from webwinnow.topics.mining.report import MineRun
from webwinnow.topics.mining.seeds import Seeds, read_seeds
from webwinnow.topics.mining.store import FILE, MineStore, StoredPage, StoredSite
from webwinnow.topics.pages import PageWords, SitePages
from webwinnow.topics.reading import PrunedFollow, SiteReading, crawled_site, linked_urls, stored_words
from webwinnow.topics.run import NOTHING_READ, site_record
from webwinnow.topics.settings import MineSettings

SITES_FILE, ROUNDS_FILE, MODEL_FILE = "sites.jsonl", "rounds.jsonl", "topics.npz"

Note = Callable[[str], None]


def mine_sites(
    seeds: Path,
    out: Path,
    settings: MineSettings | None = None,
    crawling: CrawlSettings | None = None,
    *,
    on_progress: Progress | None = None,
    on_problem: Note | None = None,
) -> MineRun:
    """Find sites with the topics of the seeds. The folder `out` is made, or the run in it is continued.

    `crawling` has delays, parallel hosts and the guard; pages, strategy, scope and time come from `settings`.
    """
    settings, note = settings or MineSettings(), on_problem or (lambda _: None)
    crawling = replace(
        crawling or CrawlSettings(), pages=settings.pages, strategy="breadth", scope=settings.scope, depth=None
    )
    if out.exists() and not (out.is_dir() and ((out / FILE).is_file() or not any(out.iterdir()))):
        raise SettingsError(f"{out} has other files; give a new folder, or that of a run to continue")
    given = read_seeds(
        seeds,
        settings.label,
        site_by=SiteKey.parse(settings.site_by),
        most=settings.pages,
        counter=settings.counter,
        on_problem=note,
    )
    topics = sorted(set(given.topics.values()))
    settings.mining.wanted(topics)
    if settings.denoiser is not None:
        settings.denoiser.thesaurus.check_topics(topics)
    out.mkdir(parents=True, exist_ok=True)
    with MineStore(out) as store:
        _same_run(store, settings, seeds, out)
        run = _Mine(out, store, settings, crawling, given, on_progress or (lambda *_: None), note)
        return run.run()


class _Mine:
    """One run: the known sites, with their pages in memory."""

    def __init__(
        self,
        out: Path,
        store: MineStore,
        settings: MineSettings,
        crawling: CrawlSettings,
        seeds: Seeds,
        progress: Progress,
        note: Note,
    ) -> None:
        self.out, self.store, self.settings, self.crawling = out, store, settings, crawling
        self.progress, self.note = progress, note
        self.began = time.monotonic()
        self.fetched = self.fetched_for_links = 0
        self.crawled: list[float] = []
        self.seeds = seeds
        self.model = MineModel(settings)
        self.model.spelled.update(seeds.spelled)
        self.wanted = settings.mining.wanted(sorted(set(seeds.topics.values())))
        self.graph = SiteGraph(SiteKey.parse(settings.site_by))
        self.judged: dict[str, Judgement] = {}
        self.known: set[str] = set()
        self.since_found = self.unread_since = 0
        self.unread: dict[str, str] = {}
        """Sites on topic with more pages to read, and their start pages."""
        self.searched = True
        self.searches: list[list[str]] = store.noted("searches") or []

    def run(self) -> MineRun:
        """Rounds until the termination condition."""
        if not list(self.store.sites()):
            self._add_seeds()
        self._load()
        why: str | None = None
        while why is None:
            waiting = [site for site in self.store.sites() if site.record is None]
            if not waiting:
                why = self._choose()
                continue
            left = self._seconds_left()
            if left is not None and left <= 0:
                why = "the time is up"
                continue
            number = waiting[0].round
            why = self._round(waiting, None if number == 0 else self.model.before(number))
        return self._end(why)

    # Seeds, and the sites of earlier runs

    def _add_seeds(self) -> None:
        given, stored = self.seeds.starts, self.seeds.stored
        starts = {
            site: start_url(given[site]) if site in given else stored[site][0].url for site in sorted(self.seeds.topics)
        }
        self.store.add_round(0, [(site, start, self.seeds.topics[site], ()) for site, start in starts.items()])
        for site, pages in sorted(stored.items()):
            self.store.judge(site, self._seed_record(site, starts[site], self.seeds.topics[site], len(pages)), ())

    def _load(self) -> None:
        """Read the pages of sites that were judged before."""
        by_round: dict[int, list[StoredSite]] = {}
        for site in self.store.sites():
            self.known.add(site.name)
            if site.record is not None:
                by_round.setdefault(site.round, []).append(site)
        for number, sites in sorted(by_round.items()):
            words = self._stored_words(number, sites)
            for site in sites:
                stored = self.seeds.stored.get(site.name) if site.label is not None else None
                if stored is not None:
                    pages, links = SitePages.of_pages(stored, site.name), linked_urls(stored)
                else:
                    pages, links = self._read_again(site.name, words)
                assert site.record is not None
                self._know(site.name, pages, links, site.record)
        for number in range(1, 1 + len(self.searches)):
            for record in open_pages([self._search(number)], on_problem=self.note):
                page = None if record.refused is not None else stored_words(record, self.settings.counter)
                if page is not None:
                    self.graph.add(self.graph.site_of(record.url), page.links)
        for name in (name for sites in self.searches for name in sites):
            self.unread.pop(name, None)

    def _stored_words(self, number: int, sites: Sequence[StoredSite]) -> dict[str, PageWords]:
        """The pages of a round by URL, from its WARC file."""
        path = self._warc(number)
        pages = {site.name: {page.url for page in self.store.pages(site.name)} for site in sites}
        wanted = set().union(*pages.values())
        taught = set().union(*(pages[site.name] for site in sites if self._teaches(site.record)))
        found: dict[str, PageWords] = {}
        if wanted and path.is_file():
            for record in open_pages([path], on_problem=self.note):
                read = record.url in wanted and record.refused is None
                spelled = self.model.spelled if record.url in taught else None
                words = stored_words(record, self.settings.counter, spelled) if read else None
                if words is not None:
                    found[record.url] = words
        return found

    def _read_again(self, name: str, words: dict[str, PageWords]) -> tuple[SitePages, set[str]]:
        stored = [page for page in self.store.pages(name) if page.url in words]
        pages = [words[page.url] for page in stored]
        referrers, added = [page.referrer for page in stored], [page.added for page in stored]
        return crawled_site(name, pages, referrers, added), linked_urls(pages)

    def _know(self, name: str, pages: SitePages, links: set[str], record: dict[str, Any]) -> None:
        """Add a site that was judged: its pages, links and topic."""
        self.known.add(name)
        self.known.update(self.graph.site_of(url) for url in pages.urls)
        if not len(pages):
            self.since_found += not record["leads_to"]
            self.unread_since += not record["leads_to"]
            return
        self.graph.add(name, links)
        self.judged[name] = _judgement(record)
        if self._teaches(record):
            self.model.add(record["round"], pages, record["topic"])
        self.since_found = 0 if record["on_topic"] else self.since_found + 1
        self.unread_since = 0 if record["on_topic"] else self.unread_since
        if record["on_topic"] and not record["whole"]:
            self.unread[name] = record["start"]

    def _teaches(self, record: dict[str, Any] | None) -> bool:
        return record is not None and _judgement(record).teaches(self.settings.mining, self.wanted)

    # A round

    def _choose(self) -> str | None:
        """Choose the sites of the next round (step 2); returns why there is none."""
        mining = self.settings.mining
        relevance = {
            name: found.probability for name, found in self.judged.items() if found.on_topic(mining, self.wanted)
        }
        sites = list(self.store.sites())
        read = sum(1 for site in sites if site.label is None)
        found = candidates(self.graph, relevance, self.known)
        chosen = [one for one in found if page_url(one.start) is not None]
        chosen = chosen[: min(mining.batch, max(mining.sites - read, 1))]
        if not chosen and self.settings.search and read < mining.sites and self._search_on():
            return None
        why = mining.why_stop(read=read, since_found=self.since_found, waiting=len(chosen), unread=self.unread_since)
        if why is None:
            number = 1 + max((site.round for site in sites), default=0)
            rows = [(one.site, start_url(one.start), None, one.linked_by) for one in chosen]
            self.store.add_round(number, rows)
            self.known.update(one.site for one in chosen)
        return why

    def _search_on(self) -> bool:
        """Read sites on topic further, only for their links; returns whether that was done.

        Pruning leaves out pages that may link to other sites. Such a site is fetched again, without pruning.
        """
        left = self._seconds_left()
        if not self.unread or (left is not None and left <= 0):
            self.searched = not self.unread
            return False
        number = 1 + len(self.searches)
        warc, unread = self._search(number), dict(self.unread)
        resume = can_resume(warc.parent, warc)
        follow = PrunedFollow({start: SiteReading() for start in unread.values()})
        summary = self._crawl(list(unread.values()), warc, follow, resume=resume)
        self.fetched_for_links += summary.fresh
        if not summary.finished:
            self.searched = False
            return False
        for name, start in unread.items():
            self.graph.add(name, linked_urls(follow.readings[start].pages))
        self.searches.append(sorted(unread))
        self.store.note("searches", self.searches)
        self.unread.clear()
        return True

    def _crawl(
        self, starts: list[str], warc: Path, follow: PrunedFollow, *, resume: bool, log: Path | None = None
    ) -> CrawlSummary:
        """Crawl sites as far as `follow` wants; progress counts the pages of all rounds."""
        before = self.fetched

        def on_progress(stage: str, done: int, _: int | None) -> None:
            self.progress(stage, before + done, None)

        settings = replace(self.crawling, seconds=self._seconds_left())
        summary = crawl(
            starts,
            warc,
            settings,
            follow=follow,
            resume=resume,
            state=warc.parent,
            log=log,
            on_progress=on_progress,
            on_problem=self.note,
        )
        self.fetched += summary.fresh
        return summary

    def _round(self, waiting: Sequence[StoredSite], model: Models | None) -> str | None:
        """Steps 3 and 4: read sites, prune, classify; returns why the run ends here, or None."""
        number = waiting[0].round
        reading = None if model is None else model[1]
        rule, tolerance = self.settings.reading, self.settings.learning.tolerance
        readings = {site.start: SiteReading(reading, rule, tolerance=tolerance) for site in waiting}
        follow = PrunedFollow(readings, counter=self.settings.counter, keep_trees=True)
        folder = self._warc(number).parent
        resume = can_resume(folder, self._warc(number))
        log = folder / "fates.jsonl"
        summary = self._crawl([site.start for site in waiting], self._warc(number), follow, resume=resume, log=log)
        self.crawled.append(summary.seconds)
        if not summary.finished:
            wait = counted(len(waiting), "site waits", "sites wait")
            return f"{summary.ended}; {wait} in a round that was not finished"
        fates = fates_of(log)
        for site in waiting:
            self._judge(site, follow, model, [fate for fate in fates if fate["site"] == site.start])
        judged = sum(site.label is None and site.record is not None for site in self.store.sites())
        self.progress("sites", judged, self.settings.mining.sites)
        for leftover in folder.glob("crawl-*"):
            shutil.rmtree(leftover, ignore_errors=True)  # the store has everything now
        return None

    def _judge(
        self,
        site: StoredSite,
        follow: PrunedFollow,
        model: Models | None,
        fates: Sequence[dict[str, Any]],
    ) -> None:
        """Step 4: classify a site and add it to the graph."""
        reading, read = follow.readings[site.start], follow.trees.pop(site.start)
        trees = [tree for tree, added in zip(read, reading.added, strict=True) if added]
        pages, links = reading.site(site.name), linked_urls(reading.pages)
        failed = sum(1 for fate in fates if fate["fate"] == "failed")
        whole = (all(reading.added) and not reading.settled) or len(read) >= self.settings.pages
        record = self._record(site, pages, links, trees, model, failed, whole=whole)
        record |= {"pages": len(read), "classified_pages": len(trees)}
        moved = {self.graph.site_of(url) for url in pages.urls} - {site.name}
        if not trees:
            why = next((fate["reason"] for fate in fates if fate["url"] == site.start and fate["reason"]), None)
            record["reason"] = why or NOTHING_READ
        elif moved & self.judged.keys() and site.label is None:
            record |= {
                "on_topic": False,
                "pages": 0,
                "classified_pages": 0,
                "leads_to": sorted(moved),
                "reason": f"leads to {', '.join(sorted(moved))}, read before",
            }
            pages, trees = SitePages.of_pages([], site.name), []
        rows = zip(reading.pages, reading.referrers, reading.added, strict=True)
        kept = [StoredPage(page.url, referrer, added) for page, referrer, added in rows] if len(pages) else []
        self.store.judge(site.name, record, kept)
        if self._teaches(record):
            self.model.spelled.update(follow.spelled[site.start])
        self._know(site.name, pages, links, record)

    def _record(
        self,
        site: StoredSite,
        pages: SitePages,
        links: set[str],
        trees: Sequence[PageTree],
        model: Models | None,
        failed: int,
        *,
        whole: bool,
    ) -> dict[str, Any]:
        mining = self.settings.mining
        about = {"start": site.start, "round": site.round, "linked_by": list(site.linked_by)}
        if model is None:
            assert site.label is not None
            return self._seed_record(site.name, site.start, site.label, len(pages)) | {"failed_pages": failed}
        linked = {self.graph.site_of(link) for link in links}
        topics = {
            name: model[0].names_.index(found.topic)
            for name, found in self.judged.items()
            if found.on_topic(mining, self.wanted)
        }
        found = model[0].classify(pages, neighbours_of(self.graph, site.name, topics, linked))
        why = found.why_none(mining.none) if len(pages) else None
        record = (
            site_record(found, pages, trees, failed)
            | about
            | {"seed": False, "whole": whole, "leads_to": [], "reason": why}
        )
        record |= {"topic": None, "probability": None} if why else {}
        return record | {"on_topic": bool(len(pages)) and _judgement(record).on_topic(mining, self.wanted)}

    def _seed_record(self, site: str, start: str, topic: str, pages: int) -> dict[str, Any]:
        return {
            "site": site,
            "topic": topic,
            "probability": 1.0,
            "probabilities": {topic: 1.0},
            "none": 0.0,
            "pages": pages,
            "classified_pages": pages,
            "failed_pages": 0,
            "deciding_pages": [],
            "deciding_blocks": [],
            "seed": True,
            "on_topic": pages > 0 and topic in self.wanted,
            "whole": True,
            "start": start,
            "round": 0,
            "linked_by": [],
            "leads_to": [],
            "reason": None if pages else NOTHING_READ,
        }

    # The end

    def _end(self, why: str) -> MineRun:
        records = [site.record for site in self.store.sites() if site.record is not None]
        waits = any(site.record is None for site in self.store.sites())
        rounds = max((site.round for site in self.store.sites()), default=0)
        if len({found.topic for found in self.judged.values() if found.seed}) > 1:
            write_file(self.out / MODEL_FILE, self.model.before(rounds + 1)[0].to_bytes())
        for name, rows in ((SITES_FILE, records), (ROUNDS_FILE, self.model.changes)):
            lines = (json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for row in rows)
            write_lines(lines, self.out / name)
        finished = self.searched and not waits
        return MineRun(
            tuple(records),
            tuple(self.model.changes),
            rounds,
            self.fetched,
            self.fetched_for_links,
            time.monotonic() - self.began,
            why,
            finished,
            tuple(self.crawled),
        )

    def _seconds_left(self) -> float | None:
        limit = self.settings.seconds
        return None if limit is None else limit - (time.monotonic() - self.began)

    def _warc(self, number: int) -> Path:
        return self._folder(f"round-{number:03}") / "pages.warc.gz"

    def _search(self, number: int) -> Path:
        return self._folder(f"search-{number:03}") / "pages.warc.gz"

    def _folder(self, name: str) -> Path:
        folder = self.out / name
        folder.mkdir(exist_ok=True)
        return folder


def _same_run(store: MineStore, settings: MineSettings, seeds: Path, out: Path) -> None:
    """Store the settings of a run; a run that is continued must have the same."""
    given = settings.lasting | {"seeds": hashlib.sha256(seeds.read_bytes()).hexdigest()}
    before = store.noted("settings")
    if before is None:
        store.note("settings", given)
    elif before != given:
        other = ", ".join(name for name in sorted({*given, *before}) if before.get(name) != given.get(name))
        raise SettingsError(f"{out} has a run with other {other}: give the same to continue it, or a new folder")


def _judgement(record: dict[str, Any]) -> Judgement:
    none = 1.0 if record["none"] is None else record["none"]
    return Judgement(record["topic"], record["probability"] or 0.0, none, record["seed"])


def can_resume(folder: Path, warc: Path) -> bool:
    """Whether a round was begun; a crawl that cannot be continued is removed."""
    try:
        stored_crawl(warc, folder)
    except InputError:
        shutil.rmtree(folder)
        folder.mkdir()
        return False
    return True


def fates_of(log: Path) -> list[dict[str, Any]]:
    """The lines of a crawl's log, split as bytes: text would also end lines at U+2028."""
    return [json.loads(line) for line in log.read_bytes().splitlines()]
