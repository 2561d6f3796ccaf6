"""Single pages, cleaned in worker processes under watch: what hangs is killed, and the server goes on."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import asdict
from functools import partial

from webwinnow.collection.settings import CollectionSettings
from webwinnow.collection.workerjobs import CleanRequest, RequestCleaned, Shared
from webwinnow.collection.workerpool import Task, WorkerPool
from webwinnow.errors import WebwinnowError
from webwinnow.parsing import ParseLimits
from webwinnow.service.jobs import QueueFull
from webwinnow.service.requestmodels import CleanOptions
from webwinnow.service.settings import ServiceSettings

__all__ = ["PageCounter", "PageFailed", "WorkerFailed"]

log = logging.getLogger("webwinnow.service")


class PageFailed(WebwinnowError):
    """A page could not be read."""


class WorkerFailed(WebwinnowError):
    """No worker could be had for a page."""


class PageCounter:
    """Where pages are handed in and their records handed out. Used from one event loop."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        workers = CollectionSettings(
            limits=ParseLimits(max_bytes=settings.page_bytes),
            jobs=settings.processes,
            page_seconds=settings.page_seconds,
            worker_memory=settings.worker_memory,
        )
        self._pool = WorkerPool(workers)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._next = 0

    @property
    def waiting(self) -> int:
        """Pages handed in and not out."""
        return len(self._waiting)

    def open(self) -> None:
        """Start the workers."""
        self.settings.models_folder.mkdir(parents=True, exist_ok=True)
        self._pool.__enter__()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._hand_out, args=(loop,), daemon=True).start()

    def close(self) -> None:
        """Stop the workers; pages that still wait fail."""
        self._pool.close()
        for number in list(self._waiting):
            self._answer(number, None, "the server is being stopped")

    async def clean(
        self, url: str, body: bytes, content_type: str | None, options: CleanOptions, *, explain: bool
    ) -> bytes:
        """The record of a page as JSON. `PageFailed` for one that cannot be read, `QueueFull` for one too many.

        `WorkerFailed` where it is not the page's fault.
        """
        if self.waiting >= self.settings.waiting_pages:
            raise QueueFull(f"{self.waiting} pages wait already; try again in a moment")
        asked = options.model_dump(include=set(CleanOptions.model_fields))
        asked |= {"cleaning": asdict(options.cleaning()), "explain": explain}
        number, self._next = self._next, self._next + 1
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        job = CleanRequest(url, body, content_type, asked)
        self._pool.submit(Task(number, [job], Shared(str(self.settings.models_folder))))
        return await future

    def _hand_out(self, loop: asyncio.AbstractEventLoop) -> None:
        """A thread of its own waits for the answers."""
        while True:
            try:
                answer = self._pool.answer()
            except Exception as error:  # told in the loop; a worker that could not start is started with the next page
                if self._pool.is_closing:
                    return
                tell = partial(self._fail_all, error)
            else:
                tell = partial(self._answer, answer.task.about, answer.result, answer.error)
            try:
                loop.call_soon_threadsafe(tell)
            except RuntimeError:
                return  # the loop is closed, and nobody waits

    def _fail_all(self, error: Exception) -> None:
        """No page can be told from another by such an error: all fail that wait, and may be sent again."""
        log.error("pages that waited fail: %s", error)
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(
                    WorkerFailed("a worker process failed, the server's log says why; try again in a moment")
                )
        self._waiting.clear()

    def _answer(self, number: int, result: RequestCleaned | None, error: str | None) -> None:
        future = self._waiting.pop(number, None)
        if future is None or future.done():
            return
        if result is not None:
            future.set_result(result.json)
        else:
            future.set_exception(PageFailed(error or ""))
