"""The objects that all routes of a running service share."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request

from webwinnow.crawl.crawling import check_can_crawl, fetch_page
from webwinnow.crawl.guard import AddressGuard
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import WebwinnowError
from webwinnow.serve.accesscontrol import WrongTokens
from webwinnow.serve.jobs import Job, JobRunner, JobStore
from webwinnow.serve.metrics import Metrics
from webwinnow.serve.requests import PageRequest
from webwinnow.serve.requestworkers import PAGE_RETRY_SECONDS, RequestWorkers
from webwinnow.serve.settings import ServiceSettings
from webwinnow.site.modelstore import ModelFolder

MOST_FETCHES = 4
"""Pages fetched at the same time; each is a process."""
FETCH_SECONDS = 30.0
PACKAGE = Path(__file__).parents[2]
_BELOW = re.compile(r"(?![\w.-])(?:/([^\s:;,'\"<>]*))?")
"""What follows the name of a folder in a message: nothing, or the path below it."""
"""Where this package is installed."""


@dataclass(frozen=True, slots=True, eq=False)
class ServiceContext:
    """Settings, jobs, workers and metrics of a running service."""

    settings: ServiceSettings
    jobs: JobStore
    runner: JobRunner
    workers: RequestWorkers
    metrics: Metrics
    wrong_tokens: WrongTokens = field(default_factory=WrongTokens)
    fetching: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_FETCHES))

    def job(self, name: str) -> Job:
        """The job with an id; 404 if there is none."""
        found = self.jobs.find(name)
        if found is None:
            raise HTTPException(404, "there is no such job")
        return found

    def result(self, name: str, step: str, file: str) -> Path:
        """A result file of a step of a job; 404 if it is not there."""
        path = self.jobs.result(self.job(name), step, file)
        if path is None:
            raise HTTPException(404, f"the job has no {file} yet, or it failed; /jobs/ID shows its state")
        return path

    def models(self) -> Iterator[Path]:
        """The files of all models."""
        folder = self.settings.models_folder
        return ModelFolder(folder, make=True).models() if folder.is_dir() else iter(())

    def check_disk(self) -> None:
        """507 if the folder has reached its limit."""
        held = bytes_in(self.settings.folder)
        if held >= self.settings.disk_bytes:
            raise HTTPException(507, f"the folder of this server has {held:,} bytes; remove jobs that are done")

    def public(self, message: str) -> str:
        """A message without the folders of this server: a path in them is shown from its input on, or as its name."""
        for root in self._roots:
            message = _without(root, message)
        return message

    @property
    def _roots(self) -> list[str]:
        """The folders that messages may name, the longest first."""
        known = [self.settings.folder, *self.settings.inputs, Path(tempfile.gettempdir()), PACKAGE]
        return sorted({str(one) for path in known for one in (path.absolute(), path.resolve())}, key=len, reverse=True)

    async def clean(self, order: PageRequest) -> bytes:
        """The record of a page, or its decisions, as JSON."""
        body, content_type, url = await self._page(order)
        if len(body) > self.settings.page_bytes:
            raise HTTPException(413, f"the page is longer than {self.settings.page_bytes:,} bytes")
        try:
            cleaned = await self.workers.clean(url, body, content_type, order, explain=order.explain)
        except HTTPException as error:
            if error.status_code == 422:
                self.metrics.pages.labels("failed").inc()
            raise
        self.metrics.pages.labels("cleaned").inc()
        return cleaned

    async def _page(self, order: PageRequest) -> tuple[bytes, str | None, str]:
        """The page of a request, or the page fetched from its URL: bytes, content type, URL."""
        if order.html is not None:
            return order.html.encode("utf-8", "replace"), "text/html; charset=utf-8", order.url
        if not order.url:
            raise HTTPException(422, "expected html, or url to fetch")
        if not self.settings.fetch:
            raise HTTPException(422, "this server fetches no pages; send html")
        if self.fetching.locked():
            retry = {"Retry-After": str(PAGE_RETRY_SECONDS)}
            raise HTTPException(429, "too many pages are being fetched; try again in a moment", retry)
        async with self.fetching:
            try:
                page = await run_in_threadpool(fetch_page, order.url, self.crawling)
            except WebwinnowError as error:
                raise HTTPException(422, str(error)) from None
        return page.body, page.content_type, page.url

    def render_problem(self) -> str | None:
        """Why crawled pages cannot be rendered here; None if they can."""
        if not self.settings.render:
            return "it was started with --no-render"
        try:
            check_can_crawl(CrawlSettings(render="all"))
        except WebwinnowError as error:
            return str(error)
        return None

    @property
    def crawling(self) -> CrawlSettings:
        """The settings to fetch a single page."""
        return CrawlSettings(
            page_seconds=FETCH_SECONDS,
            seconds=FETCH_SECONDS,  # however often it is redirected
            retries=0,
            max_size=self.settings.page_bytes,
            guard=AddressGuard(allow_private=self.settings.allow_private),
        )


def _without(root: str, message: str) -> str:
    """A message in which paths below a folder of the server are shown without it."""
    first, *parts = message.split(root)
    shown = [first]
    for part in parts:
        found = _BELOW.match(part)
        shown.append(root + part if found is None else _below(found) + part[found.end() :])
    return "".join(shown)


def _below(found: re.Match[str]) -> str:
    """What is shown of a path below a folder of the server."""
    parts = (found[1] or "").split("/")
    return "/".join(parts[parts.index("input") + 1 :]) if "input" in parts else parts[-1]


def bytes_in(folder: Path) -> int:
    """The size of the files in a folder; a file that is removed meanwhile does not count."""
    held = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                held += Path(place, name).lstat().st_size
    return held


def context_of(request: Request) -> ServiceContext:
    """The context of the service that a request is for."""
    context: ServiceContext = request.app.state.context
    return context
