"""The process that crawls, started by `crawl` with `child_command`, which it talks to over pipes.

A Twisted reactor cannot be started twice, and a crawl may be killed, so it has its own process. It ends when the
process that started it does.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from functools import partial
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
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure

from webwinnow.crawl import messages
from webwinnow.crawl.browser.capture import PageToRender, RenderedPage, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer, shows_little
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.downloads import RESULT, VISIT
from webwinnow.crawl.frontier import Visit
from webwinnow.crawl.messages import Answer, FetchedPage, Message, read_message, write_message
from webwinnow.crawl.session import CrawlSession
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore, Fate
from webwinnow.crawl.warcfile import Exchange, FetchFailed, WarcFile
from webwinnow.errors import WebwinnowError

HANDLER = "webwinnow.crawl.downloads.GuardedHandler"


def main() -> int:
    """Read what to do from standard input, do it, and report the result on standard output."""
    link = ParentLink(FileIO(0, closefd=False), FileIO(1, "w", closefd=False))
    begin = read_message(link.inward)
    if not isinstance(begin, messages.Begin):
        return 2
    end: Message | None
    try:
        end = _crawl(begin, link)
    except (WebwinnowError, OSError) as error:
        end = messages.Problem(str(error))
    if end is not None:
        write_message(link.outward, end)
    return 0


def _crawl(begin: messages.Begin, link: ParentLink) -> messages.Ended | None:
    with CrawlStore(Path(begin.state)) as store, ExitStack() as browsers:
        settings = CrawlSettings.from_plain(store.noted("settings"))
        warc = WarcFile(Path(begin.out))
        settled = store.warc_end(warc.length)
        warc.truncate(settled)  # removes a record that was being written when the crawl was killed
        if not settled:
            warc.begin(settings)
        session = CrawlSession(settings, store, warc, link.ask, link.report)
        if settings.render != "never":
            chosen = RenderSettings.of_pairs(settings.render_set, browsers=settings.browsers)
            pool = browsers.enter_context(Renderer(chosen, settings.guard))
            session.render = partial(_rendered, pool, session)
        store.commit()
        write_message(link.outward, messages.Ready())
        if read_message(link.inward) is None:
            return None
        _run(session, link)
        link.done = True
        warc.close()
        frontier = session.frontier
        return messages.Ended(
            {str(fate): 0 for fate in Fate}
            | store.counts()
            | {
                "sites": len(store.sites()),
                "reasons": store.reasons(),
                "rendered": store.stored_notes(),
                "links_over": frontier.links_over,
                "fresh": frontier.stored - session.stored_before,
                "received": session.received,
                "ended": frontier.why_ended,
                "finished": frontier.stopped is None,
            }
        )


def _run(session: CrawlSession, link: ParentLink) -> None:
    process = CrawlerProcess(_scrapy_settings(session.settings))
    link.session = session
    crawling = process.crawl(_Spider, session=session, link=link)
    crawling.addErrback(lambda failure: link.give_up(f"{type(failure.value).__name__}: {failure.value}"))
    process.start(install_signal_handlers=False)


def _scrapy_settings(settings: CrawlSettings) -> dict[str, Any]:
    """Use only Scrapy's engine: the session handles rules, retries, redirects, limits and politeness."""
    return {
        "SCHEDULER": _Scheduler,
        "DOWNLOAD_HANDLERS_BASE": {"http": HANDLER, "https": HANDLER},
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {},
        "CONCURRENT_REQUESTS": settings.hosts,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "CONCURRENT_ITEMS": 1,  # Scrapy starts this many tasks per response, and there are no items
        "DOWNLOAD_DELAY": 0,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_INSTALL_ROOT_HANDLER": False,
    }


class _Spider(Spider):
    name = "webwinnow"

    def __init__(self, *, session: CrawlSession, link: ParentLink) -> None:
        super().__init__()
        self.session = session
        self.link = link

    async def start(self) -> Any:
        """Yield nothing, as the scheduler has the start pages, and start reading the pipe."""
        self.link.open()
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request

    async def parse(self, response: Response, **_: Any) -> None:
        assert response.request is not None
        meta = response.request.meta
        await self._finish(meta[VISIT], meta[RESULT])

    async def failed(self, failure: Failure) -> None:
        """Handle a bug of ours or Scrapy's: it costs the page but not the crawl."""
        problem: Any = failure
        await self._finish(problem.request.meta[VISIT], FetchFailed(f"error ({type(failure.value).__name__})"))

    async def _finish(self, visit: Visit, result: Exchange | FetchFailed) -> None:
        try:
            await self.session.finish(visit, result)
        except Exception as problem:  # a full disk or a bug: nothing is settled, and the crawl can be resumed
            self.link.give_up(f"{type(problem).__name__}: {problem}")


class _Scheduler(BaseScheduler):
    def __init__(self, session: CrawlSession, spider: _Spider) -> None:
        self.session = session
        self.spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> _Scheduler:
        spider: Any = crawler.spider
        return cls(spider.session, spider)

    def has_pending_requests(self) -> bool:
        return self.session.has_work()

    def enqueue_request(self, request: Request) -> bool:  # noqa: ARG002
        """Refuse: only the session makes requests."""
        return False

    def next_request(self) -> Request | None:
        visit = self.session.next()
        if visit is None:
            return None
        meta = {VISIT: visit, "download_slot": visit.host}
        spider = self.spider
        return Request(visit.url, callback=spider.parse, errback=spider.failed, meta=meta, dont_filter=True)


async def _rendered(pool: Renderer, session: CrawlSession, page: FetchedPage) -> RenderedPage | RenderFailed | None:
    """Render a page that needs it, in a thread, so that other hosts are fetched meanwhile."""
    settings = session.settings
    if settings.render == "auto" and not shows_little(page.body, page.url, page.content_type):
        return None
    wanted = PageToRender(
        url=page.url,
        body=page.body,
        content_type=page.content_type,
        user_agent=settings.user_agent,
        rules=session.frontier.known_rules,
        screenshot=settings.screenshots,
    )
    try:
        running: Deferred[RenderedPage] = deferToThread(pool.render, wanted)
        return await maybe_deferred_to_future(running)
    except RenderFailed as failure:
        return failure


class ParentLink:
    """The pipes to the process that started this one. A thread reads; the reactor's thread writes."""

    def __init__(self, inward: IO[bytes], outward: IO[bytes]) -> None:
        self.inward = inward
        self.outward = outward
        self.session: CrawlSession | None = None
        self.done = False
        self._asked: dict[int, Deferred[Answer]] = {}

    def open(self) -> None:
        Thread(target=self._listen, daemon=True).start()

    async def ask(self, page: FetchedPage) -> Answer:
        """Send a page and wait for the links to follow."""
        answer: Deferred[Answer] = Deferred()
        self._asked[page.number] = answer
        write_message(self.outward, page)
        return await maybe_deferred_to_future(answer)

    def report(self, stored: int, wanted: int) -> None:
        write_message(self.outward, messages.Done(stored, wanted))

    def give_up(self, problem: str) -> None:
        """End at once: settled pages are on disk, and Scrapy would wait for answers that will not come."""
        with suppress(OSError):
            write_message(self.outward, messages.Problem(problem))
        os._exit(1)

    def _listen(self) -> None:
        from twisted.internet import reactor  # noqa: PLC0415 (does not exist before Scrapy has installed it)

        loop: Any = reactor
        while (message := read_message(self.inward)) is not None:
            loop.callFromThread(self._receive, message)
        if not self.done:
            self.give_up("the process that started the crawl has gone")

    def _receive(self, message: Message) -> None:
        if isinstance(message, Answer):
            self._asked.pop(message.number).callback(message)
        elif isinstance(message, messages.Stop) and self.session is not None:
            self.session.frontier.stop("stopped")
