"""The process that crawls: `python -m webwinnow.crawl.child`, started by `crawl`, which it talks to over its pipes.

A Twisted reactor cannot be started twice, and a crawl may be killed: so it has a process of its own. It ends when the
process that started it does.

    in:   begin (settings, paths, start pages), then go, answer (to a page), stop
    out:  ready, page (with its body, to be answered), progress, end or problem
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from io import FileIO
from pathlib import Path
from threading import Thread
from typing import IO, Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from webwinnow.crawl.exchange import Exchange, FetchFailed
from webwinnow.crawl.frontier import Visit
from webwinnow.crawl.handler import RESULT, VISIT
from webwinnow.crawl.messages import Message, read_message, write_message
from webwinnow.crawl.session import Answer, CrawlSession, PageToJudge
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore
from webwinnow.crawl.warcfile import WarcFile
from webwinnow.errors import InputError, WebwinnowError

__all__ = ["main"]

HANDLER = "webwinnow.crawl.handler.GuardedHandler"


def main() -> int:
    """Read what to do, do it, tell what was done."""
    link = Link(FileIO(0, closefd=False), FileIO(1, "w", closefd=False))
    begin = read_message(link.inward)
    if begin is None or begin.kind != "begin":
        return 2
    try:
        end = _crawl(begin.about, link)
    except (WebwinnowError, OSError, sqlite3.Error) as error:
        end = Message("problem", {"problem": str(error)})
    if end is not None:
        write_message(link.outward, end)
    return 0


def _crawl(about: dict[str, Any], link: Link) -> Message | None:
    settings = CrawlSettings.from_plain(about["settings"])
    create = bool(about["create"])
    with CrawlStore(Path(about["state"]), create=create) as store:
        warc = WarcFile(Path(about["out"]))
        settled = store.warc_end(warc.length)
        if settled:
            warc.cut(settled)  # what was being written when the crawl was killed
        else:
            warc.cut(0)
            warc.begin(settings)
        store.note("settings", about["settings"])
        store.note("follow", about["follow"])
        session = CrawlSession(settings, store, warc, link.ask, link.tell)
        for start in about["starts"]:
            session.frontier.add_site(start)
        if not store.sites():
            raise InputError(f"{store.path} knows no start page: it was killed before it began; start the crawl again")
        store.commit()
        write_message(link.outward, Message("ready", {}))
        if read_message(link.inward) is None:
            return None
        _run(session, link)
        link.done = True
        warc.close()
        return Message(
            "end",
            {
                "ended": session.frontier.why_ended,
                "finished": session.frontier.stopped is None,
                "counts": store.counts(),
                "reasons": store.reasons(),
                "sites": len(store.sites()),
                "links_over": session.frontier.links_over,
                "received": session.received,
                "fresh": session.frontier.stored - session.stored_before,
            },
        )


def _run(session: CrawlSession, link: Link) -> None:
    process = CrawlerProcess(_scrapy_settings(session.settings))
    link.session = session
    crawling = process.crawl(_Spider, session=session, link=link)
    crawling.addErrback(lambda failure: link.give_up(f"{type(failure.value).__name__}: {failure.value}"))
    process.start(install_signal_handlers=False)


def _scrapy_settings(settings: CrawlSettings) -> dict[str, Any]:
    """Scrapy with its engine alone: rules, retries, redirects, limits and manners are the session's."""
    return {
        "SCHEDULER": _Scheduler,
        "DOWNLOAD_HANDLERS_BASE": {"http": HANDLER, "https": HANDLER},
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {},
        "CONCURRENT_REQUESTS": settings.hosts,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "CONCURRENT_ITEMS": 1,  # Scrapy starts so many tasks for each response, and there are no items
        "DOWNLOAD_DELAY": 0,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_INSTALL_ROOT_HANDLER": False,
    }


class _Spider(Spider):
    """Hands each response to the session."""

    name = "webwinnow"

    def __init__(self, *, session: CrawlSession, link: Link) -> None:
        super().__init__()
        self.session = session
        self.link = link

    async def start(self) -> Any:
        """Nothing: the scheduler has the start pages. The pipes are read from now on."""
        self.link.open()
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request

    async def parse(self, response: Response, **_: Any) -> None:
        """Take what came."""
        assert response.request is not None
        meta = response.request.meta
        await self._finish(meta[VISIT], meta[RESULT])

    async def failed(self, failure: Failure) -> None:
        """Take what should not be: a fault of ours, or Scrapy's, costs the page and not the crawl."""
        problem: Any = failure
        await self._finish(problem.request.meta[VISIT], FetchFailed(f"error ({type(failure.value).__name__})"))

    async def _finish(self, visit: Visit, result: Exchange | FetchFailed) -> None:
        try:
            await self.session.finish(visit, result)
        except Exception as problem:  # a full disk, a fault: nothing is settled, and the crawl can be resumed
            self.link.give_up(f"{type(problem).__name__}: {problem}")


class _Scheduler(BaseScheduler):
    """Gives Scrapy the session's visits."""

    def __init__(self, session: CrawlSession, spider: _Spider) -> None:
        self.session = session
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> _Scheduler:
        spider: Any = crawler.spider
        return cls(spider.session, spider)

    def has_pending_requests(self) -> bool:
        """Whether the crawl goes on."""
        return self.session.has_work()

    def enqueue_request(self, request: Request) -> bool:  # noqa: ARG002
        """Nobody but the session makes requests."""
        return False

    def next_request(self) -> Request | None:
        """The next visit as a request."""
        visit = self.session.next()
        if visit is None:
            return None
        meta = {VISIT: visit, "download_slot": visit.host}
        spider = self.spider
        return Request(visit.url, callback=spider.parse, errback=spider.failed, meta=meta, dont_filter=True)


class Link:
    """The pipes to the process that started this one. Read in a thread of its own; written where we are."""

    def __init__(self, inward: IO[bytes], outward: IO[bytes]) -> None:
        self.inward = inward
        self.outward = outward
        self.session: CrawlSession | None = None
        self.done = False
        self._asked: dict[int, Deferred[Answer]] = {}
        self._number = 0

    def open(self) -> None:
        """Listen from now on."""
        Thread(target=self._listen, daemon=True).start()

    async def ask(self, page: PageToJudge) -> Answer:
        """Show a page; the links to follow come back."""
        self._number += 1
        answer: Deferred[Answer] = Deferred()
        self._asked[self._number] = answer
        write_message(self.outward, Message("page", page.about | {"number": self._number}, page.body))
        return await maybe_deferred_to_future(answer)

    def tell(self, done: int, total: int) -> None:
        """Tell how far the crawl is."""
        write_message(self.outward, Message("progress", {"done": done, "total": total}))

    def give_up(self, problem: str) -> None:
        """End at once. What is settled is on disk; Scrapy would wait for answers that nobody gives any more."""
        with suppress(OSError):
            write_message(self.outward, Message("problem", {"problem": problem}))
        os._exit(1)

    def _listen(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 (there is none before Scrapy has installed it)

        loop: Any = reactor
        while (message := read_message(self.inward)) is not None:
            loop.callFromThread(self._take, message)
        if not self.done:
            self.give_up("the process that started the crawl has gone")

    def _take(self, message: Message) -> None:
        """An answer, or the wish to stop."""
        if message.kind == "answer":
            about = message.about
            found = self._asked.pop(about["number"])
            found.callback(Answer(about["links"], about["sites"], about["leave_site"]))
        elif message.kind == "stop" and self.session is not None:
            self.session.frontier.stop("stopped")


if __name__ == "__main__":
    raise SystemExit(main())
