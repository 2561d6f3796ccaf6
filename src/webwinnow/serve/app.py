"""The ASGI application: REST and web pages behind access control, with the workers and the job queue."""

from __future__ import annotations

import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from webwinnow._version import __version__
from webwinnow.errors import WebwinnowError
from webwinnow.serve import api, web
from webwinnow.serve.accesscontrol import AccessControl
from webwinnow.serve.context import ServiceContext, context_of
from webwinnow.serve.jobs import JobRunner, JobStore, QueueFull
from webwinnow.serve.metrics import Metrics
from webwinnow.serve.requests import shown_errors
from webwinnow.serve.requestworkers import RequestWorkers
from webwinnow.serve.settings import ServiceSettings

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors of a disk that has no space left, or none for this user."""
log = logging.getLogger("webwinnow.serve")


def create_app(settings: ServiceSettings) -> FastAPI:
    """Create the application; jobs and workers start and end with it."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    jobs = JobStore(settings.jobs_folder)
    context = ServiceContext(settings, jobs, JobRunner(jobs, settings), RequestWorkers(settings), Metrics())

    @asynccontextmanager
    async def running(_app: FastAPI) -> AsyncIterator[None]:
        context.workers.open()
        context.runner.start()
        yield
        await context.runner.stop()
        context.workers.close()

    app = FastAPI(
        title="webwinnow",
        version=__version__,
        summary="Site-aware web page cleaning: pages and crawls in, clean records with reasons out.",
        lifespan=running,
        docs_url=None,  # the default pages load scripts from another host
        redoc_url=None,
    )
    app.state.context = context
    app.include_router(api.router)
    app.include_router(web.router, include_in_schema=False)
    app.mount("/static", web.static_files())
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(ClientDisconnect, _broken_off)
    app.add_exception_handler(WebwinnowError, _library_error)
    app.add_exception_handler(OSError, _full_disk)
    app.add_exception_handler(Exception, _unexpected)
    app.add_middleware(AccessControl, settings=settings, metrics=context.metrics, wrong=context.wrong_tokens)
    return app


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    broken = any(found["type"] == "json_invalid" for found in error.errors())
    return JSONResponse({"error": shown_errors(error.errors())}, 400 if broken else 422)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": context_of(request).public(str(error.detail))}, error.status_code, error.headers)


async def _broken_off(_request: Request, _error: Exception) -> JSONResponse:
    """The client is gone, so that only the log and the metrics have the answer."""
    return JSONResponse({"error": "the body broke off"}, 400)


async def _library_error(request: Request, error: Exception) -> JSONResponse:
    """Errors of webwinnow are caused by the request, except for a full queue."""
    found = {"error": context_of(request).public(str(error))}
    if isinstance(error, QueueFull):
        return JSONResponse(found, 429, {"Retry-After": str(error.retry_seconds)})
    return JSONResponse(found, 422)


async def _full_disk(_request: Request, error: Exception) -> JSONResponse:
    """A disk that is full before `disk_bytes` is reached; other errors of the system are unexpected."""
    if not isinstance(error, OSError) or error.errno not in FULL:
        raise error
    log.error("the disk of the server's folder is full")
    return JSONResponse({"error": "the disk of this server is full; remove jobs that are done"}, 507)


async def _unexpected(_request: Request, error: Exception) -> JSONResponse:
    log.error("unexpected error: %s", type(error).__name__)
    return JSONResponse({"error": "internal error; the server's log has more"}, 500)
