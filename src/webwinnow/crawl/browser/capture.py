"""`render_page`: load one page in a browser, let its scripts settle, and capture what they made of it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

from webwinnow.crawl.browser import devtools
from webwinnow.crawl.browser.devtools import Browser, BrowserGone, DevtoolsError
from webwinnow.crawl.browser.lookups import RobotsFiles
from webwinnow.crawl.browser.proxy import GuardProxy, ProxiedRequest
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.frontier import Rules
from webwinnow.errors import InputError
from webwinnow.page.layout import MOST_PICTURE, PICTURE_SCALE, PageLayout

MOST_DOCUMENTS: Final = 20
"""Documents of one page: where its scripts go on the same origin, and its frames. Ours."""
MOST_SAMPLES: Final = 4_000
MOST_STEPS: Final = 60
"""Elements that are tested for being covered, and half windows that the page is scrolled for that. Ours."""
MOST_PICTURED, PICTURE_QUALITY = 8_000, 50
"""Height of a screenshot, in CSS pixels of the page, and its quality as WebP. Ours."""
BEATS: Final = 4
"""Parts of the quiet time after each of which the page must answer. Ours."""
MEMORY_SECONDS: Final = 0.2
"""Seconds between two looks at the memory of the browser; one takes 2 ms. Ours."""
ANSWER_SECONDS: Final = 10.0
"""Seconds that the browser may take for what takes milliseconds on an idle machine."""
UNIMPORTANT: Final = frozenset(
    ("EventSource", "WebSocket", "Ping", "Media", "Manifest", "Prefetch", "CSPViolationReport", "Other")
)
"""Requests that a page need not finish to have settled; icons of the window are `Other`."""
NO_WORKERS: Final = """
delete self.SharedWorker;
if (self.ServiceWorkerContainer) ServiceWorkerContainer.prototype.register = () =>
  Promise.reject(new DOMException("service workers are not allowed", "SecurityError"));
"""
CLOSED_TARGETS: Final = frozenset(("page", "service_worker", "shared_worker"))
RENDERED_TYPE: Final = "text/html; charset=utf-8"
_CAPTURE: Final = "capture.js"
_SCROLL: Final = "scroll.js"

KnownRules = Callable[[str], Rules | None]


class RenderFailed(InputError):
    """A page that could not be rendered, and why; `requests` are those that the browser made for it."""

    def __init__(self, why: str, requests: list[ProxiedRequest]) -> None:
        super().__init__(why)
        self.requests = requests


@dataclass(frozen=True, slots=True, eq=False)
class RenderedPage:
    """What a browser made of a page: its HTML with `ww-box` attributes, and its layout.

    `settled` is False if the page was captured before its scripts had come to rest. `requests` are those that the
    browser made, with what became of each.
    """

    url: str
    html: bytes
    layout: PageLayout
    settled: bool
    requests: list[ProxiedRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageToRender:
    """A page as it was fetched. The browser gets this body for its URL; it requests the page's other files itself.

    `rules` returns the robots.txt rules of a URL's origin, None if they must be fetched; by default all is allowed.
    With `screenshot`, the layout has a picture of the page.
    """

    url: str
    body: bytes
    content_type: str | None = None
    user_agent: str = ""
    rules: KnownRules = lambda _: Rules()
    screenshot: bool = False


async def render_page(
    browser: Browser, page: PageToRender, settings: RenderSettings, robots: RobotsFiles
) -> RenderedPage:
    """Render a page, with the guard of `robots`. If that fails the browser may be gone; `RenderFailed` says why."""
    limits = {"max_bytes": settings.max_bytes, "max_requests": settings.max_requests}
    async with GuardProxy(robots.guard, **limits) as proxy:
        visit = _PageVisit(browser, page, settings, proxy, robots)
        watch = asyncio.ensure_future(_watch_memory(browser, settings.memory))
        try:
            page_rendered = await visit.run()
            await _check_memory(browser, settings.memory)  # what was taken since the last look
            return page_rendered
        except TimeoutError:
            browser.fail("it did not answer in time")
            raise RenderFailed("the page keeps the browser busy beyond the limit", proxy.log) from None
        except (BrowserGone, DevtoolsError, ValueError, KeyError) as problem:
            raise RenderFailed(str(browser.gone or problem), proxy.log) from None
        finally:
            watch.cancel()
            await visit.end()


async def _watch_memory(browser: Browser, most: int) -> None:
    while browser.gone is None:
        with suppress(BrowserGone):
            await _check_memory(browser, most)
        await asyncio.sleep(MEMORY_SECONDS)


async def _check_memory(browser: Browser, most: int) -> None:
    """Kill a browser that uses too much memory; `BrowserGone` if it was."""
    if await asyncio.get_running_loop().run_in_executor(browser.watcher, browser.memory) > most:
        browser.fail(f"the page needs more than {most >> 20:,} MB of memory")
    if browser.gone is not None:
        raise BrowserGone(browser.gone)


class _PageVisit:
    """One page in a browser context of its own, which shares nothing with other pages."""

    def __init__(
        self, browser: Browser, page: PageToRender, settings: RenderSettings, proxy: GuardProxy, robots: RobotsFiles
    ) -> None:
        self.browser = browser
        self.page = page
        self.settings = settings
        self.proxy = proxy
        self.robots = robots
        self.context = self.session = self.frame = ""
        self.is_loaded = False
        self.is_served = False
        self.documents = self.requests = 0
        self.under_way: dict[str, str] = {}
        """URLs of requests without a response, by number."""
        self.arriving: set[str] = set()
        """Requests whose response has begun; the page waits while data arrive, but not for an end that never comes."""
        self.secure: dict[str, ProxiedRequest] = {}
        """Lines of the log for requests inside tunnels, whose end the proxy does not see."""
        self.activity = asyncio.Event()
        self.tasks: set[asyncio.Task[Any]] = set()

    async def run(self) -> RenderedPage:
        async with asyncio.timeout(ANSWER_SECONDS):
            await self._open()
        settled = True
        try:
            async with asyncio.timeout(self.settings.load_seconds):
                await self._load()
        except TimeoutError:
            settled = False
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._send("Runtime.terminateExecution")
                await self._send("Emulation.setScriptExecutionDisabled", value=True)
                await self._send("Page.stopLoading")
        async with asyncio.timeout(self.settings.capture_seconds):
            return await self._capture(settled)

    async def end(self) -> None:
        """Close the page; a browser that does not do that at once is killed."""
        for task in self.tasks:
            task.cancel()
        self.browser.listeners.clear()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                if self.context and self.browser.gone is None:
                    await self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)
        except (TimeoutError, BrowserGone, DevtoolsError):
            self.browser.fail("it did not close a page")

    async def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return await self.browser.send(method, self.session, **parameters)

    async def _open(self) -> None:
        send, page = self.browser.send, self.page
        made = await send(
            "Target.createBrowserContext",
            disposeOnDetach=True,
            proxyServer=self.proxy.url,
            proxyBypassList="<-loopback>",
        )
        self.context = made["browserContextId"]
        await send("Browser.setDownloadBehavior", behavior="deny", browserContextId=self.context)
        await send("Browser.grantPermissions", permissions=[], browserContextId=self.context)  # rejects all others
        target = (await send("Target.createTarget", url="about:blank", browserContextId=self.context))["targetId"]
        self.session = (await send("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        self.browser.listeners[self.session] = self._event
        self.browser.listeners[""] = lambda method, event: self._window(method, event, target)
        await send("Target.setDiscoverTargets", discover=True)
        await self._send("Page.enable")
        self.frame = (await self._send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        await self._send("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0)
        await self._send("Network.setBypassServiceWorker", bypass=True)
        await self._send("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
        agent = f"{self.browser.user_agent} {page.user_agent}".strip()
        await self._send("Network.setUserAgentOverride", userAgent=agent)
        await self._send("Page.addScriptToEvaluateOnNewDocument", source=NO_WORKERS)
        size = {"width": self.settings.width, "height": self.settings.height}
        await self._send("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
        # Those of workers are reported to this session, too; those of WebSockets to none.
        patterns = [{"urlPattern": "*", "resourceType": "Document"}, {"urlPattern": "http*"}]
        await self._send("Fetch.enable", patterns=patterns)

    # Events

    def _event(self, method: str, event: dict[str, Any]) -> None:
        match method:
            case "Fetch.requestPaused":
                self._do(lambda: self._answer(event))
            case "Page.javascriptDialogOpening":
                self._do(lambda: self._send("Page.handleJavaScriptDialog", accept=False))
            case "Page.frameStartedLoading" | "Page.frameStoppedLoading" if event.get("frameId") == self.frame:
                self.is_loaded = method == "Page.frameStoppedLoading"
            case "Network.requestWillBeSent":
                if event.get("type") not in UNIMPORTANT and event["request"]["url"].startswith("http"):
                    self.under_way[event["requestId"]] = event["request"]["url"]
                    self.arriving.discard(event["requestId"])
            case "Network.responseReceived" if event["requestId"] in self.under_way:
                del self.under_way[event["requestId"]]
                self.arriving.add(event["requestId"])
            case "Network.dataReceived" if event["requestId"] in self.arriving:
                pass
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._end_request(event)
            case "Target.attachedToTarget":  # a worker: the end of its script's request is not reported to the page
                script = event["targetInfo"].get("url")
                self.under_way = {number: url for number, url in self.under_way.items() if url != script}
            case "Inspector.targetCrashed":
                self.browser.fail("the page crashed")
            case devtools.GONE:
                pass
            case _:
                return
        self.activity.set()

    def _end_request(self, event: dict[str, Any]) -> None:
        number = event["requestId"]
        self.under_way.pop(number, None)
        self.arriving.discard(number)
        logged = self.secure.pop(number, None)
        if logged is not None and not logged.refused:
            logged.refused = str(event.get("errorText", ""))

    def _window(self, method: str, event: dict[str, Any], page: str) -> None:
        """Close windows, and workers other than those of the page alone, that the page opened."""
        found = event.get("targetInfo", {})
        if method != "Target.targetCreated" or found.get("targetId") == page:
            return
        if found.get("browserContextId") == self.context and found.get("type") in CLOSED_TARGETS:
            self._do(lambda: self.browser.send("Target.closeTarget", targetId=found["targetId"]))

    def _do(self, command: Callable[[], Awaitable[Any]]) -> None:
        async def ignore_failure() -> None:
            with suppress(BrowserGone, DevtoolsError):
                await command()

        task = asyncio.ensure_future(ignore_failure())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        """Decide about a request: the page itself was fetched before, others are counted and checked."""
        number, request = event["requestId"], event["request"]
        is_document = event.get("resourceType") == "Document"
        if is_document and not self.is_served and event.get("frameId") == self.frame:
            self.is_served = True
            kind = self.page.content_type or "text/html"
            await self._send(
                "Fetch.fulfillRequest",
                requestId=number,
                responseCode=200,
                responseHeaders=[{"name": "Content-Type", "value": kind}],
                body=base64.b64encode(self.page.body).decode("ascii"),
            )
            return
        logged = ProxiedRequest(str(request["method"]), str(request["url"]))
        tunnelled = logged.target.startswith("https:")
        if tunnelled:
            self.proxy.log.append(logged)
            self.secure[str(event.get("networkId"))] = logged
        why_not = await self._why_refused(logged.target, is_document=is_document)
        if why_not is None:
            await self._send("Fetch.continueRequest", requestId=number)
            return
        logged.refused = why_not
        if not tunnelled:  # the proxy would have logged it
            self.proxy.log.append(logged)
        reason = "Aborted" if is_document else "BlockedByClient"  # of a document: the page stays where it is
        await self._send("Fetch.failRequest", requestId=number, errorReason=reason)

    async def _why_refused(self, url: str, *, is_document: bool) -> str | None:
        """Say why a request may not be made; None if it may."""
        self.requests += 1
        if is_document:
            self.documents += 1
            if self.documents > MOST_DOCUMENTS:
                return f"the page loads more than {MOST_DOCUMENTS} documents"
            if _origin(url) != _origin(self.page.url):
                return "a document of another origin"
        over = self.proxy.why_too_many(self.requests)
        if over is not None:
            return over
        rules = self.page.rules(url)
        if rules is None:
            rules = await self.robots.rules(url, self.page.user_agent, self.proxy.lookups)
        return rules.why_not(url, self.page.user_agent)

    # Loading and capturing

    async def _load(self) -> None:
        started = await self._send("Page.navigate", url=self.page.url)
        if started.get("errorText"):
            raise DevtoolsError(f"the browser could not load the page ({started['errorText']})")
        await self._settle()
        if self.settings.screens and await self._evaluate(_SCROLL, self.settings.screens):
            await self._settle()

    async def _settle(self) -> None:
        """Wait until the page is loaded, its requests have responses, and nothing happened for the quiet time.

        That time passes in beats, each of which ends with an answer of the page: on a busy machine, time in which the
        page could not run is not quiet.
        """
        beats = 0
        while beats < BEATS:
            self.activity.clear()
            may_end = self.is_loaded and not self.under_way
            try:
                async with asyncio.timeout(self.settings.quiet_seconds / BEATS if may_end else None):
                    await self.activity.wait()
            except TimeoutError:
                with suppress(DevtoolsError):  # the page goes to another document at this moment
                    await self._send("Runtime.evaluate", expression="0")
            beats = 0 if self.activity.is_set() else beats + 1
            if self.browser.gone is not None:
                raise BrowserGone(self.browser.gone)

    async def _evaluate(self, script: str, argument: Any) -> Any:
        """Call a function of ours on the page, in a world of its own."""
        made = await self._send("Page.createIsolatedWorld", frameId=self.frame, worldName="webwinnow")
        source = (files(__package__) / script).read_text(encoding="utf-8")
        call = f"({source})({json.dumps(argument)})"
        found = await self._send(
            "Runtime.evaluate",
            expression=call,
            contextId=made["executionContextId"],
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in found:
            thrown = found["exceptionDetails"].get("exception", {}).get("description", "an error")
            raise DevtoolsError(f"the page could not be read ({thrown.partition(chr(10))[0]})")
        return found["result"].get("value")

    async def _capture(self, settled: bool) -> RenderedPage:
        picture = await self._picture() if self.page.screenshot else b""
        limits = {"maxElements": self.settings.max_elements, "maxHtml": self.settings.max_html}
        samples = {"maxSamples": MOST_SAMPLES, "maxSteps": MOST_STEPS}
        found = await self._evaluate(_CAPTURE, limits | samples | {"text": {"url": self.page.url}})
        if "failed" in found:
            raise DevtoolsError(str(found["failed"]))
        layout = PageLayout.of_columns(found["columns"], found["viewport"], found["pageSize"], picture)
        html = str(found["html"]).encode("utf-8", "replace")
        return RenderedPage(self.page.url, html, layout, settled, self.proxy.log)

    async def _picture(self) -> bytes:
        """A screenshot of the page, as wide as the window and `MOST_PICTURED` high; nothing if it is too large."""
        size = (await self._send("Page.getLayoutMetrics"))["cssContentSize"]
        height = min(max(int(size["height"]), self.settings.height), MOST_PICTURED)
        clip = {"x": 0, "y": 0, "width": self.settings.width, "height": height, "scale": PICTURE_SCALE}
        wanted = {"format": "webp", "quality": PICTURE_QUALITY, "clip": clip, "captureBeyondViewport": True}
        taken = base64.b64decode((await self._send("Page.captureScreenshot", **wanted))["data"])
        return taken if len(taken) <= MOST_PICTURE else b""


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
