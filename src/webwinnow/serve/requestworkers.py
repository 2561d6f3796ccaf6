"""Single pages of clients, cleaned in supervised worker processes: one that hangs is killed."""

from __future__ import annotations

import asyncio
import logging
import threading
from functools import partial

from starlette.exceptions import HTTPException

from webwinnow.counted import counted
from webwinnow.errors import WebwinnowError
from webwinnow.page.parsing import ParseLimits
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.workerjobs import CleanRequest, RequestCleaned, Shared
from webwinnow.run.workerpool import Task, WorkerPool
from webwinnow.serve.requests import CleanOptions, fields_of
from webwinnow.serve.settings import ServiceSettings

PAGE_RETRY_SECONDS = 1
"""When to try again where too many pages are being cleaned or fetched."""
log = logging.getLogger("webwinnow.serve")


class RequestWorkers:
    """Worker processes for the pages of clients. Used from one event loop."""

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
        """Pages that wait for their answers."""
        return len(self._waiting)

    def open(self) -> None:
        """Start the workers."""
        self.settings.models_folder.mkdir(parents=True, exist_ok=True)
        self._pool.__enter__()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._collect_answers, args=(loop,), daemon=True).start()

    def close(self) -> None:
        """Stop the workers; pages that still wait fail."""
        self._pool.close()
        for number in list(self._waiting):
            self._answer(number, None, "the server is being stopped")

    async def clean(
        self, url: str, body: bytes, content_type: str | None, options: CleanOptions, *, explain: bool
    ) -> bytes:
        """The record of a page as JSON. Raises `HTTPException`: 422 if the page could not be read, 429 or 503."""
        if self.waiting >= self.settings.waiting_pages:
            full = f"{counted(self.waiting, 'page waits', 'pages wait')} already; try again in a moment"
            raise HTTPException(429, full, {"Retry-After": str(PAGE_RETRY_SECONDS)})
        cleaning = options.cleaning(self.settings.stop_list).to_plain()
        given = fields_of(options, CleanOptions) | {"cleaning": cleaning, "explain": explain}
        number, self._next = self._next, self._next + 1
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        job = CleanRequest(url, body, content_type, given)
        self._pool.submit(Task(number, [job], Shared(str(self.settings.models_folder))))
        return await future

    def _collect_answers(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for answers, in a thread of its own."""
        while True:
            try:
                answer = self._pool.answer()
            except WebwinnowError as error:  # a worker that could not start is started with the next page
                if self._pool.is_closing:
                    return
                call = partial(self._fail_all, error)
            else:
                call = partial(self._answer, answer.task.about, answer.result, answer.error)
            try:
                loop.call_soon_threadsafe(call)
            except RuntimeError:
                return  # the loop is closed, and nobody waits

    def _fail_all(self, error: Exception) -> None:
        """The error does not show which page it is of: all pages that wait fail, and may be sent again."""
        log.error("pages that waited fail: %s", error)
        for future in self._waiting.values():
            if not future.done():
                why = "a worker process failed, the server's log says why; try again in a moment"
                future.set_exception(HTTPException(503, why))
        self._waiting.clear()

    def _answer(self, number: int, result: RequestCleaned | None, error: str | None) -> None:
        future = self._waiting.pop(number, None)
        if future is None or future.done():
            return
        if result is not None:
            future.set_result(result.json)
        else:
            future.set_exception(HTTPException(422, f"the page could not be read: {error or ''}"))
