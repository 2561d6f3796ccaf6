"""`Renderer`: a pool of browsers that renders pages for any thread."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from threading import Thread
from typing import Final, Self

import numpy as np

from webwinnow.crawl.browser.capture import RENDERED_TYPE, PageToRender, RenderedPage, RenderFailed, render_page
from webwinnow.crawl.browser.devtools import Browser, BrowserGone, find_chromium, remove_old_profiles
from webwinnow.crawl.browser.lookups import RobotsFiles
from webwinnow.crawl.browser.proxy import GuardProxy, ProxiedRequest
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.guard import AddressGuard
from webwinnow.errors import PageRefused
from webwinnow.page.markup import HIDDEN
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord
from webwinnow.page.urls import is_web_link

NO_URL: Final = "http://page.invalid/"
"""URL of a page that has none (RFC 2606): a host without an address, so its other files cannot be requested."""
LITTLE_TEXT: Final = 200
"""Characters, without white space, that an empty page may show, such as "Loading" or "This page needs JavaScript"."""
_SCRIPT: Final = re.compile(rb"<script[\s>]", re.IGNORECASE)


def shows_little(body: bytes, url: str, content_type: str | None) -> bool:
    """Whether a page has a script but little text, that in `<noscript>` included; False if it cannot be parsed."""
    if _SCRIPT.search(body) is None:
        return False
    try:
        tree = parse(body, url=url, content_type=content_type)
    except PageRefused:
        return False
    shown = (tree.flags[tree.run_owner] & HIDDEN) == 0
    return sum(len("".join(tree.run(int(run)).split())) for run in np.flatnonzero(shown)) < LITTLE_TEXT


def render_file(
    page: PageRecord,
    guard: AddressGuard | None = None,
    *,
    always: bool = True,
    settings: RenderSettings | None = None,
) -> PageRecord:
    """Return a page as a browser shows it, with its layout; `RenderFailed` if that fails.

    With `always` False a page is returned as it is, unless its HTML shows little.
    """
    if not always and not shows_little(page.body, page.url, page.content_type):
        return page
    url = page.url if is_web_link(page.url) else NO_URL
    with Renderer(settings, guard) as renderer:
        found = renderer.render(PageToRender(url=url, body=page.body, content_type=page.content_type))
    return replace(page, body=found.html, content_type=RENDERED_TYPE, layout=found.layout.to_bytes())


class Renderer:
    """Renders pages in up to `settings.browsers` browsers, which are started when they are needed.

    Use it as a context manager; `render` may be called from several threads. A browser that crashed, hung or used too
    much memory is replaced: that costs only its page.
    """

    def __init__(self, settings: RenderSettings | None = None, guard: AddressGuard | None = None) -> None:
        self.settings = settings or RenderSettings()
        self.guard = guard or AddressGuard()
        find_chromium(self.settings.chromium)

    def __enter__(self) -> Self:
        remove_old_profiles()
        self._loop = asyncio.new_event_loop()
        # The kernel ends a browser when the thread that started it ends, so this one lives as long as the pool.
        self._thread = Thread(target=self._loop.run_forever, name="webwinnow-renderer", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def render(self, page: PageToRender) -> RenderedPage:
        """Render a page, when a browser is free; `RenderFailed` if that fails."""
        return asyncio.run_coroutine_threadsafe(self._render(page), self._loop).result()

    @property
    def stray_requests(self) -> list[ProxiedRequest]:
        """Requests that a browser made for no page; all were refused."""
        return list(self._nobody.log)

    async def _open(self) -> None:
        self._free: asyncio.Queue[Browser | None] = asyncio.Queue()
        for _ in range(self.settings.browsers):
            self._free.put_nowait(None)
        self._browsers: set[Browser] = set()
        self._robots = RobotsFiles(self.guard)
        self._nobody = await GuardProxy(None).__aenter__()

    async def _close(self) -> None:
        await asyncio.gather(*(browser.kill() for browser in self._browsers))
        await self._robots.close()
        await self._nobody.__aexit__()
        await self._loop.shutdown_default_executor()

    async def _render(self, page: PageToRender) -> RenderedPage:
        browser = await self._free.get()
        try:
            if browser is None:
                browser = await Browser.start(self.settings, self._nobody.url)
                self._browsers.add(browser)
            browser.pages += 1
            return await render_page(browser, page, self.settings, self._robots)
        except BrowserGone as problem:
            raise RenderFailed(str(problem), []) from None
        finally:
            if browser is not None and (browser.gone is not None or browser.pages >= self.settings.recycle):
                self._browsers.discard(browser)
                ended, browser = browser, None
                self._free.put_nowait(None)
                await ended.kill()
            else:
                self._free.put_nowait(browser)
