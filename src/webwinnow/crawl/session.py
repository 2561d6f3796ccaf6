"""`CrawlSession`: handle responses: robots.txt, redirects, retries, pages to the WARC file. Independent of Scrapy."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urldefrag

from webwinnow.crawl.browser.capture import RENDERED_TYPE, RenderedPage, RenderFailed
from webwinnow.crawl.frontier import ROBOTS_BYTES, Frontier, Rules, Visit
from webwinnow.crawl.messages import Answer, FetchedPage
from webwinnow.crawl.scope import page_url
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.sitemaps import LIST_TYPES, is_list_of_pages
from webwinnow.crawl.store import NOT_RENDERED, RENDERED, CrawlStore, Fate, KnownPage
from webwinnow.crawl.warcfile import Exchange, FetchFailed, WarcFile, claims_another_type
from webwinnow.errors import InputError, PageRefused
from webwinnow.page.urls import resolve
from webwinnow.run.readers import HEAD_BYTES, looks_like_html, reader_of
from webwinnow.run.unpacking import ReadLimits, decode_http_body, media_type

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
TIME_IS_OVER: Final = "the limit of time is reached"
TEMPORARY: Final = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
"""Status codes after which another attempt makes sense; those from 520 on are sent by reverse proxies."""


class CrawlSession:
    """One run of a crawl. `next` returns a visit to make, `finish` takes its result.

    `ask` returns the links of a page to follow; `on_progress` gets the pages stored and wanted. `render` returns what a
    browser makes of a page, or why it could not; None if the page need not be rendered.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        store: CrawlStore,
        warc: WarcFile,
        ask: Callable[[FetchedPage], Awaitable[Answer]],
        on_progress: Callable[[int, int], None],
        render: Callable[[FetchedPage], Awaitable[RenderedPage | RenderFailed | None]] | None = None,
    ) -> None:
        self.settings = settings
        self.store = store
        self.warc = warc
        self.ask = ask
        self.on_progress = on_progress
        self.render = render
        self.frontier = Frontier(settings, store, time.monotonic)
        self.limits = ReadLimits(max_page_bytes=settings.max_size)
        self.stored_before = self.frontier.stored
        self.started = time.monotonic()
        self.received = 0
        self.pages = 0

    def next(self) -> Visit | None:
        self._check_limits()
        visit = self.frontier.next()
        if visit is not None and self._is_late(visit.ready_at):
            self.frontier.take_back(visit)
            self.frontier.stop(TIME_IS_OVER)
            return None
        return visit

    def has_work(self) -> bool:
        self._check_limits()
        return self.frontier.has_work()

    def _check_limits(self) -> None:
        if self._is_late(time.monotonic()):
            self.frontier.stop(TIME_IS_OVER)
        if self.settings.max_bytes is not None and self.received >= self.settings.max_bytes:
            self.frontier.stop("the limit of bytes is reached")

    def _is_late(self, moment: float) -> bool:
        return self.settings.seconds is not None and moment - self.started >= self.settings.seconds

    async def finish(self, visit: Visit, result: Exchange | FetchFailed) -> None:
        """Settle a visit and its result as one transaction."""
        if isinstance(result, Exchange):
            self.received += len(result.response)
        if visit.page is None:
            failed, wait = self._read_rules(visit, result)
        elif isinstance(result, FetchFailed):
            failed, wait = self._fail(visit, result), 0.0
        else:
            failed, wait = await self._read_page(visit, result)
        self.frontier.leave(visit, failed=failed, silent=failed and isinstance(result, FetchFailed), wait=wait)
        self.store.commit()
        self.on_progress(self.frontier.stored, self.frontier.wanted)

    # robots.txt

    def _read_rules(self, visit: Visit, result: Exchange | FetchFailed) -> tuple[bool, float]:
        """Read a robots.txt; return whether the host failed, and the seconds that it asked us to wait."""
        if isinstance(result, FetchFailed):
            if result.may_pass and self.frontier.retry_rules(visit):
                return True, 0.0
            reason = result.reason if result.refused else f"robots.txt could not be read ({result.reason})"
            self.frontier.set_rules(visit, Rules(closed=reason, failed=not result.refused))
            return result.may_pass, 0.0
        if result.status in REDIRECTS and (target := resolve(visit.url, result.location)) is not None:
            if not self.frontier.redirect_rules(visit, target):
                self.frontier.set_rules(visit, Rules())
            return False, 0.0
        if result.status in TEMPORARY and self.frontier.retry_rules(visit):
            return True, _retry_after(result)
        try:
            body = decode_http_body(result.headers, result.body, ReadLimits(max_page_bytes=4 * ROBOTS_BYTES))
            self.frontier.set_rules(visit, Rules.of(result.status, body))
        except PageRefused as refusal:
            self.frontier.set_rules(visit, Rules(closed=f"robots.txt could not be read ({refusal})", failed=True))
        return False, 0.0

    # Pages

    def _fail(self, visit: Visit, result: FetchFailed) -> bool:
        """Retry or settle a page that could not be fetched; return whether the host is to blame."""
        if not result.may_pass or not self.frontier.retry(visit):
            self.frontier.settle(visit, Fate.REFUSED if result.refused else Fate.FAILED, result.reason)
        return result.may_pass

    async def _read_page(self, visit: Visit, exchange: Exchange) -> tuple[bool, float]:
        status = exchange.status
        if status in REDIRECTS and exchange.location:
            self._redirect(visit, exchange)
        elif status in TEMPORARY:
            self._fail(visit, FetchFailed(f"status {status}", may_pass=True))
            return True, _retry_after(exchange)
        elif status != 200:
            self.frontier.settle(visit, Fate.FAILED, f"status {status}", fetched_at=exchange.fetched_at)
        else:
            await self._store_page(visit, exchange)
        return False, 0.0

    def _redirect(self, visit: Visit, exchange: Exchange) -> None:
        assert visit.page is not None
        target = resolve(visit.url, exchange.location) or ""
        route = urldefrag(visit.url).fragment
        if route and "#" not in target:  # as in browsers (RFC 9110, 10.2.2)
            target = f"{target}#{route}"
        why_not = self.frontier.redirect(visit.page, target)
        if why_not is not None:
            self.frontier.settle(visit, Fate.REFUSED, why_not, fetched_at=exchange.fetched_at)
            return
        end = self.warc.append(visit.url, exchange)
        self.frontier.settle(
            visit,
            Fate.REDIRECTED,
            page_url(target, routes=self.settings.render != "never"),
            fetched_at=exchange.fetched_at,
            warc_end=end,
        )

    async def _store_page(self, visit: Visit, exchange: Exchange) -> None:
        page, fetched_at = visit.page, exchange.fetched_at
        assert page is not None
        content_type = exchange.header("content-type")
        try:
            may_list = page.depth == 0 and media_type(content_type) in LIST_TYPES
            if claims_another_type(content_type) and not may_list:
                raise NotHtml(media_type(content_type))
            body = decode_http_body(exchange.headers, exchange.body, self.limits)
            if may_list:
                if not is_list_of_pages(body):
                    raise NotHtml(media_type(content_type))
                await self._read_list(visit, page, exchange, body)
                return
            _check_html(body, content_type)
        except NotHtml as other:
            self.frontier.settle(visit, Fate.SKIPPED, str(other), fetched_at=fetched_at)
            return
        except PageRefused as refusal:
            self.frontier.settle(visit, Fate.REFUSED, str(refusal), fetched_at=fetched_at)
            return
        fetched = self._fetched(page, exchange, body)
        rendered = None if self.render is None else await self.render(fetched)
        note = None
        if isinstance(rendered, RenderFailed):
            note, rendered = f"{NOT_RENDERED}{rendered}", None
        elif rendered is not None:
            note, fetched = RENDERED, fetched._replace(body=rendered.html, content_type=RENDERED_TYPE)
        answer = await self.ask(fetched)
        end = self.warc.append(page.url, exchange, rendered)
        self.frontier.settle(visit, Fate.STORED, note, size=len(exchange.response), fetched_at=fetched_at, warc_end=end)
        self.frontier.add_links(page, answer.links, routes=note == RENDERED)
        for start in filter(None, map(page_url, answer.sites)):
            self.frontier.add_site(start)
        if answer.leave_site:
            self.frontier.close_site(page.site, "left: enough was seen of the site")

    async def _read_list(self, visit: Visit, page: KnownPage, exchange: Exchange, body: bytes) -> None:
        """Follow what a sitemap or feed lists that was given as a start page; it is no page itself."""
        links = (await self.ask(self._fetched(page, exchange, body))).links if self.settings.sitemaps else []
        why = "a sitemap or feed" if self.settings.sitemaps else "a sitemap or feed; --sitemaps crawls its pages"
        self.frontier.settle(visit, Fate.SKIPPED, f"not HTML ({why})", fetched_at=exchange.fetched_at)
        self.frontier.add_links(page, links)

    def _fetched(self, page: KnownPage, exchange: Exchange, body: bytes) -> FetchedPage:
        self.pages += 1
        content_type, referrer = exchange.header("content-type") or None, self.store.url(page.referrer)
        return FetchedPage(
            self.pages, page.url, body, content_type, exchange.fetched_at, page.site, page.depth, referrer
        )


class NotHtml(InputError):
    """A response that is not a page, by its type or by its bytes."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"not HTML ({kind})")


def _check_html(body: bytes, content_type: str) -> None:
    """Raise `NotHtml` for what is plainly something else, whatever the server calls it."""
    if not content_type:
        if not looks_like_html(body):
            raise NotHtml("no type, and it does not look like HTML")
        return
    try:
        reader = reader_of(body[:HEAD_BYTES], "page.html")
    except InputError as error:
        raise NotHtml(str(error).removeprefix("page.html: is ").partition(";")[0].partition(":")[0]) from None
    if reader.kind != "HTML":
        raise NotHtml(reader.kind)


def _retry_after(exchange: Exchange) -> float:
    """Return the seconds that a server asks us to wait (RFC 9110, 10.2.3)."""
    written = exchange.header("retry-after").strip()
    if written.isascii() and written.isdigit():
        return float(written[:6])
    try:
        return max(0.0, parsedate_to_datetime(written).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
