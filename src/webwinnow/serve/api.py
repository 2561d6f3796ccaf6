"""REST: pages, sites, jobs, search and inspection for programs."""

from __future__ import annotations

import html
import logging
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import FileResponse, Response
from msgspec import Struct
from msgspec.structs import replace
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from webwinnow._version import __version__
from webwinnow.crawl.crawling import check_can_crawl
from webwinnow.crawl.scope import start_url
from webwinnow.errors import InputError, MissingExtra, ModelError, SettingsError
from webwinnow.record.fields import json_schema
from webwinnow.search.index import IndexFolder
from webwinnow.search.query import Hit, SearchSettings, Within, search, suggest
from webwinnow.serve.accesscontrol import WRITE_AT_ONCE, media_type
from webwinnow.serve.context import ServiceContext, context_of
from webwinnow.serve.jobs import ACTIVE, Job, JobKind, JobProgress, JobStatus, allowed_input, safe_name
from webwinnow.serve.requests import (
    JSON,
    JobOptions,
    JobRequest,
    PageRequest,
    UploadOptions,
    fields_of,
    query_schema,
    read_json,
    schema_of,
    upload_options,
)
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import ModelFolder

DISK_CHECKED_EVERY = 64_000_000
"""Bytes of an upload between two checks of the disk."""
MOST_RESULTS = 100
LONGEST_QUERY = 1_000
CRAWL_FILE = "crawl.warc.gz"
QUERY_WORDS = 'Words, "phrases", -words not to be there, title:words, site:, lang:, after: and before:2026-01-31.'
REPORT_HEAD_BYTES = 16_384
"""The beginning of a report, with its own policy."""
_OWN_POLICY = re.compile(r'<meta http-equiv="?Content-Security-Policy"? content="([^"]{0,4000})"')
_OWN_SCRIPTS = re.compile(r"script-src((?: 'sha256-[A-Za-z0-9+/=]{44}')+)")
log = logging.getLogger("webwinnow.serve")


def report_headers(path: Path) -> dict[str, str]:
    """The policy of a report: it can neither load anything nor send requests; only its own script runs, by its hash.

    A sandbox would add nothing: the frames that a report fills, without scripts, must be of its origin.
    """
    with path.open("rb") as file:
        policy_of_report = _OWN_POLICY.search(file.read(REPORT_HEAD_BYTES).decode("utf-8", "replace"))
    scripts = _OWN_SCRIPTS.search(html.unescape(policy_of_report[1])) if policy_of_report else None
    allowed = scripts[1].strip() if scripts else "'none'"
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src blob:; "
    return {"Content-Security-Policy": policy + "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"}


class Problem(BaseModel):
    """Why a request was refused."""

    error: str


class Health(BaseModel):
    """That the server is running, and its queues."""

    status: Literal["ok"]
    version: str
    jobs_waiting: int
    pages_waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo(JobProgress):
    """A job, its state and its progress: `steps` that are over by name, null for those that went well, else what is
    wrong; `rendered`, the number of crawled pages that a browser has rendered, null if none was to be.
    """

    id: str
    kind: JobKind
    name: str
    status: JobStatus
    created: float
    started: float | None
    finished: float | None
    error: str | None


class SiteInfo(BaseModel):
    """The model of a site."""

    site: str
    pages: int = Field(description="Pages that it was learned from.")
    bytes: int
    written: float


class Found(BaseModel):
    """Pages that match a query, the best first; words that were searched for instead; numbers of pages by value."""

    count: int
    hits: list[Hit]
    corrections: dict[str, str]
    facets: dict[str, dict[str, int]]
    unknown: tuple[str, ...] = Field(description="What is no field of a query and was searched for as a word.")


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem} for status in (400, 401, 403, *statuses)}


def _raw(content: dict[str, Any], *statuses: int, about: str = "Successful Response") -> dict[str, Any]:
    """Options of a route that answers with other content than a model: schemas by media type."""
    found = {"description": about, "content": {media: {"schema": schema} for media, schema in content.items()}}
    return {"response_class": Response, "responses": {200: found, **_problems(*statuses)}}


NO_MODEL = "there is no model of that site"
ALL_STATUSES: tuple[JobStatus, ...] = ("queued", "running", "done", "failed", "cancelled")
router = APIRouter()
Service = Annotated[ServiceContext, Depends(context_of)]
_TEXT, _BINARY = {"type": "string"}, {"type": "string", "format": "binary"}
_RECORD = {name: value for name, value in json_schema().items() if name != "$schema"}
_DECISIONS = {
    "type": "object",
    "required": ["record", "decisions"],
    "properties": {"record": _RECORD, "decisions": {"type": "array", "items": {"type": "object"}}},
}
_PAGE_PROBLEMS = (408, 413, 422, 429, 503)


@router.get("/health", tags=["service"])
async def health(service: Service) -> Health:
    """Whether the server is running."""
    waiting = sum(service.jobs.state(job).status in ACTIVE for job in service.jobs)
    return Health(status="ok", version=__version__, jobs_waiting=waiting, pages_waiting=service.workers.waiting)


@router.get("/metrics", tags=["service"], **_raw({"text/plain": _TEXT}))
async def metrics(service: Service) -> Response:
    """Metrics for Prometheus."""
    counted = Counter(service.jobs.state(job).status for job in service.jobs)
    for status in ALL_STATUSES:
        service.metrics.jobs.labels(status).set(counted[status])
    service.metrics.waiting.set(service.workers.waiting)
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _json_body(model: type[Struct], **others: dict[str, Any]) -> dict[str, Any]:
    """What OpenAPI says of a body that `read_json` reads, or of one with another media type."""
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema_of(model)}} | others}}


_PAGE_BODY = _json_body(PageRequest)


@router.post(
    "/page",
    tags=["pages"],
    openapi_extra=_PAGE_BODY,
    **_raw({JSON: _RECORD}, *_PAGE_PROBLEMS, about="The page's record."),
)
async def page(request: Request, service: Service) -> Response:
    """Clean one page, given as HTML or fetched from its URL. `/inspect` gives the reasons too."""
    return Response(await service.clean(await _page_request(request, explain=False)), media_type=JSON)


@router.post(
    "/inspect",
    tags=["pages"],
    openapi_extra=_PAGE_BODY,
    **_raw({JSON: _DECISIONS}, *_PAGE_PROBLEMS, about="The record, and the decision on each block."),
)
async def inspect_page(request: Request, service: Service) -> Response:
    """Clean one page and explain for each block why it was kept or removed."""
    return Response(await service.clean(await _page_request(request, explain=True)), media_type=JSON)


@router.get("/inspect", tags=["jobs"], **_raw({"text/html": _TEXT}, 404, 422))
async def inspect_job(service: Service, job: Annotated[str, Query(max_length=40)]) -> Response:
    """The report on a job's sites: what was kept, what was removed, and why (as by `webwinnow inspect`)."""
    path = service.result(job, "inspect", "report.html")
    return FileResponse(path, media_type="text/html", headers=report_headers(path))


_UPLOAD: dict[str, Any] = {
    "status_code": 201,
    "responses": _problems(408, 413, 415, 422, 429, 507),
    "openapi_extra": _json_body(JobRequest, **{"application/octet-stream": {"schema": _BINARY | {"minLength": 1}}})
    | {"parameters": query_schema(UploadOptions)},
}
"""Options of the routes that take a crawl."""
Upload = Annotated[UploadOptions, Depends(upload_options)]


@router.post("/jobs", tags=["jobs"], **_UPLOAD)
async def new_job(request: Request, service: Service, options: Upload) -> JobInfo:
    """Clean a crawl: send the file (HTML, WARC, WACZ, JSONL, Parquet, compressed or not), or JSON that lists pages."""
    return job_info(service, await take_job(request, service, "clean", options))


@router.get("/jobs", tags=["jobs"], responses=_problems())
async def jobs(service: Service) -> list[JobInfo]:
    """All jobs, the newest first."""
    return [job_info(service, job) for job in service.jobs]


@router.get("/jobs/{job}", tags=["jobs"], responses=_problems(404))
async def one_job(job: str, service: Service) -> JobInfo:
    """The state and progress of a job."""
    return job_info(service, service.job(job))


@router.delete("/jobs/{job}", tags=["jobs"], responses=_problems(404))
async def end_job(job: str, service: Service) -> JobInfo:
    """Cancel a job that is not over; remove one that is over, with all its files."""
    found = service.job(job)
    if service.jobs.state(found).status in ACTIVE:
        service.runner.cancel(found)
        return job_info(service, found)
    info = job_info(service, found)
    service.jobs.forget(found.id)
    await run_in_threadpool(service.jobs.clear, found.id)
    log.info("job %s removed", found.id)
    return info


RecordFormat = Literal["jsonl", "parquet"]
LINES = "application/x-ndjson"
_MEDIA: dict[str, tuple[str, str, str]] = {
    "jsonl": ("clean", "records.jsonl", LINES),
    "parquet": ("parquet", "records.parquet", "application/vnd.apache.parquet"),
}


@router.get("/jobs/{job}/records", tags=["jobs"], **_raw({media: _BINARY for _, _, media in _MEDIA.values()}, 404, 422))
async def records(job: str, service: Service, format: RecordFormat = "jsonl") -> Response:
    """The records of a job, one for each page, complete or not at all."""
    step, file, media = _MEDIA[format]
    return FileResponse(service.result(job, step, file), media_type=media, filename=f"{job}-{file}")


@router.get("/jobs/{job}/rejected", tags=["jobs"], **_raw({LINES: _BINARY}, 404))
async def rejected(job: str, service: Service) -> Response:
    """The blocks that a job removed, with reasons."""
    path = service.result(job, "clean", "rejected.jsonl")
    return FileResponse(path, media_type=LINES, filename=f"{job}-rejected.jsonl")


@router.get("/jobs/{job}/clusters", tags=["jobs"], **_raw({LINES: _BINARY, "text/html": _TEXT}, 404, 422))
async def clusters(job: str, service: Service, format: Literal["jsonl", "html"] = "jsonl") -> Response:
    """The clusters of a job's pages: one line per page, or a page to browse them (as by `webwinnow cluster`)."""
    if format == "html":
        path = service.result(job, "clusters", "clusters.html")
        return FileResponse(path, media_type="text/html", headers=report_headers(path))
    path = service.result(job, "clusters", "clusters.jsonl")
    return FileResponse(path, media_type=LINES, filename=f"{job}-clusters.jsonl")


@router.get("/search", tags=["search"], responses=_problems(404, 422))
async def search_job(
    service: Service,
    job: Annotated[str, Query(max_length=40)],
    q: Annotated[str, Query(max_length=LONGEST_QUERY, description=QUERY_WORDS)],
    within: Within = "two-level",
    limit: Annotated[int, Query(ge=1, le=MOST_RESULTS)] = 10,
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    site: Annotated[str | None, Query(max_length=1_000)] = None,
    facets: Annotated[tuple[Literal["site", "type", "genre", "category", "lang"], ...], Query(max_length=5)] = (),
) -> Found:
    """Search the clean pages of a job; further filters and days are written in the query."""
    index = IndexFolder(service.result(job, "index", "index"))
    filters = {"site": site} if site else {}
    settings = SearchSettings(within=within, limit=limit, offset=offset, filters=filters, facets=facets)
    result = await run_in_threadpool(search, index, q, settings)
    counted = {name: dict(values) for name, values in result.facets.items()}
    return Found(
        count=result.count,
        hits=result.hits,
        corrections=result.corrections,
        facets=counted,
        unknown=result.unknown,
    )


@router.get("/suggest", tags=["search"], responses=_problems(404, 422))
async def suggest_queries(
    service: Service,
    job: Annotated[str, Query(max_length=40)],
    q: Annotated[str, Query(max_length=LONGEST_QUERY, description="The beginning of a query.")],
    limit: Annotated[int, Query(ge=1, le=MOST_RESULTS)] = 10,
) -> list[str]:
    """Completions of a query's last word, from the titles and texts of a job."""
    index = IndexFolder(service.result(job, "index", "index"))
    return await run_in_threadpool(suggest, index, q, limit)


@router.get("/sites", tags=["sites"], responses=_problems())
async def sites(service: Service) -> list[SiteInfo]:
    """The sites that this server has models of."""
    return await run_in_threadpool(lambda: list(_site_infos(service)))


@router.post("/sites", tags=["sites"], **_UPLOAD)
async def learn_sites(request: Request, service: Service, options: Upload) -> JobInfo:
    """Learn the sites of a crawl, sent as to `/jobs`: a job that writes a model of each site."""
    return job_info(service, await take_job(request, service, "learn", options))


@router.get("/sites/{site:path}", tags=["sites"], responses=_problems(404))
async def one_site(site: str, service: Service) -> SiteInfo:
    """The model of a site."""
    path = _model_path(service, site)
    try:
        return await run_in_threadpool(_site_info, path)
    except FileNotFoundError:  # removed meanwhile
        raise HTTPException(404, NO_MODEL) from None


@router.delete("/sites/{site:path}", status_code=204, tags=["sites"], responses=_problems(404))
async def forget_site(site: str, service: Service) -> None:
    """Remove the model of a site."""
    path = _model_path(service, site)
    ModelFolder(path.parent, make=True).remove(path)


# What the routes share


def job_info(service: ServiceContext, job: Job) -> JobInfo:
    """A job with its state and progress."""
    state, progress = service.jobs.state(job), service.jobs.progress(job)
    about = asdict(progress) | {name: getattr(state, name) for name in ("status", "started", "finished")}
    about |= {name: getattr(job, name) for name in ("id", "kind", "name", "created")}
    about["error"] = None if state.error is None else service.public(state.error)
    about["steps"] = {name: error and service.public(error) for name, error in progress.steps.items()}
    about["problems"] = [service.public(problem) for problem in progress.problems]
    return JobInfo(**about)


async def take_job(request: Request, service: ServiceContext, kind: JobKind, options: UploadOptions) -> Job:
    """Store the input of a job, from the body or from a folder that it names, and queue the job."""
    with service.runner.taking():
        await run_in_threadpool(service.check_disk)
        number, folder = service.jobs.new_folder()
        try:
            if media_type(request.headers.get("content-type", "")) == JSON:
                order = await read_json(request, JobRequest)
                path = await run_in_threadpool(_given_input, service, order, folder)
                given: JobOptions = order
                shown = order.name or order.folder or order.crawl or "listed pages"
            elif options.crawl or options.crawl_render != "never":
                raise HTTPException(422, "a URL to crawl and crawl_render are sent as JSON, without a file")
            else:
                path = folder / "input" / safe_name(options.name)
                service.metrics.uploaded.inc(await _store(request.stream(), path, service.check_disk))
                given, shown = options, options.name or path.name
            job = Job(
                id=number,
                kind=kind,
                name=shown[:200],
                created=time.time(),
                inputs=(str(path),),
                options=fields_of(given, JobOptions),
                stop_words=service.settings.stop_list.own,
                private=service.settings.allow_private,
                page_bytes=service.settings.page_bytes,
                crawl_bytes=service.settings.upload_bytes,
            )
            service.runner.put(job)
        except BaseException:
            service.jobs.give_up(number)
            raise
    return job


async def _page_request(request: Request, *, explain: bool) -> PageRequest:
    if media_type(request.headers.get("content-type", "")) != JSON:
        raise HTTPException(422, f"expected JSON, with Content-Type: {JSON}")
    return replace(await read_json(request, PageRequest), explain=explain)


async def _store(stream: AsyncIterator[bytes], path: Path, check_disk: Callable[[], None]) -> int:
    """Write a body to disk as it comes, and return its size. Raises `HTTPException` if it is empty."""
    size, checked, held = 0, 0, bytearray()
    with path.open("wb") as out:
        async for chunk in stream:
            held += chunk
            size += len(chunk)
            if len(held) >= WRITE_AT_ONCE:
                await run_in_threadpool(out.write, bytes(held))
                held.clear()
            if size - checked >= DISK_CHECKED_EVERY:
                await run_in_threadpool(check_disk)
                checked = size
        out.write(held)
    if not size:
        raise HTTPException(422, "there is no body: send a crawl file, or JSON that lists pages")
    return size


def _given_input(service: ServiceContext, order: JobRequest, folder: Path) -> Path:
    """The input of a job: a file of the listed pages, the file or folder that it names, or the file of its crawl."""
    if sum((order.pages is not None, order.folder is not None, bool(order.crawl))) != 1:
        raise HTTPException(422, "expected one of pages, folder and crawl")
    if order.crawl:
        _check_crawl(service, order)
        return folder / "input" / CRAWL_FILE
    if order.crawl_render != "never":
        raise HTTPException(422, "crawl_render: only pages that are crawled can be rendered; expected crawl")
    if order.folder is not None:
        try:
            return allowed_input(order.folder, service.settings.inputs)
        except InputError as error:
            raise HTTPException(422, str(error)) from None
    path = folder / "input" / "pages.jsonl"
    path.write_bytes(msgspec.json.Encoder().encode_lines(order.pages or []))
    return path


def _check_crawl(service: ServiceContext, order: JobRequest) -> None:
    """Check that the pages below a URL can be crawled here. Raises `HTTPException`."""
    if not service.settings.fetch:
        raise HTTPException(403, "this server fetches no pages")
    if order.crawl_render != "never" and (problem := service.render_problem()):
        raise HTTPException(422, f"this server renders no pages: {problem}")
    try:
        check_can_crawl()
        start_url(order.crawl, routes=order.crawl_render != "never")
    except (SettingsError, MissingExtra) as error:
        raise HTTPException(422, str(error)) from None


def _model_path(service: ServiceContext, site: str) -> Path:
    service.settings.models_folder.mkdir(parents=True, exist_ok=True)
    path = ModelFolder(service.settings.models_folder, make=True).model_path(site)
    if not path.is_file():
        raise HTTPException(404, NO_MODEL)
    return path


def _site_infos(service: ServiceContext) -> Iterator[SiteInfo]:
    """All models that can be read; one that was removed meanwhile, or is damaged, is left out."""
    for path in service.models():
        with suppress(OSError, ModelError):
            yield _site_info(path)


def _site_info(path: Path) -> SiteInfo:
    model = LearnedSite.load(path)
    about = path.stat()
    return SiteInfo(site=model.site, pages=model.pages, bytes=about.st_size, written=about.st_mtime)
