"""The application: REST and web pages behind the gate, with what runs as long as it does."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from webwinnow._version import __version__
from webwinnow.errors import WebwinnowError
from webwinnow.service import api, web
from webwinnow.service.accesscontrol import Gate
from webwinnow.service.context import Parts, told_wrong
from webwinnow.service.jobrunner import JobRunner
from webwinnow.service.jobs import JobStore, QueueFull
from webwinnow.service.metrics import Metrics
from webwinnow.service.requestworkers import PageCounter
from webwinnow.service.settings import ServiceSettings

__all__ = ["create_app"]

log = logging.getLogger("webwinnow.service")


def create_app(settings: ServiceSettings) -> FastAPI:
    """The service as an ASGI application; jobs and workers start and end with it."""
    settings.folder.mkdir(parents=True, exist_ok=True)
    jobs = JobStore(settings.jobs_folder)
    parts = Parts(settings, jobs, JobRunner(jobs, settings), PageCounter(settings), Metrics())

    @asynccontextmanager
    async def running(_app: FastAPI) -> AsyncIterator[None]:
        parts.counter.open()
        parts.runner.start()
        yield
        await parts.runner.stop()
        parts.counter.close()

    app = FastAPI(
        title="webwinnow",
        version=__version__,
        summary="Site-aware web page cleaning: pages and crawls in, clean records with reasons out.",
        lifespan=running,
        docs_url=None,  # the usual pages load their script from another host
        redoc_url=None,
    )
    app.state.parts = parts
    app.include_router(api.router)
    app.include_router(web.router, include_in_schema=False)
    app.mount("/static", web.static_files())
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(WebwinnowError, _told)
    app.add_exception_handler(Exception, _unforeseen)
    app.add_middleware(Gate, settings=settings, metrics=parts.metrics)
    return app


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    broken = any(found["type"] == "json_invalid" for found in error.errors())
    return JSONResponse({"error": told_wrong(error.errors())}, 400 if broken else 422)


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


async def _told(_request: Request, error: Exception) -> JSONResponse:
    """What webwinnow itself says is wrong is the client's to mend, but for a queue that is full."""
    return JSONResponse({"error": str(error)}, 429 if isinstance(error, QueueFull) else 422)


async def _unforeseen(_request: Request, error: Exception) -> JSONResponse:
    log.error("an error that nobody foresaw: %s", type(error).__name__)
    return JSONResponse({"error": "the server failed at this; its log says where"}, 500)
