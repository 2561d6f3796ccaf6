"""REST: pages, sites, jobs, search and inspection for programs."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from webwinnow._version import __version__
from webwinnow.errors import InputError, ModelError
from webwinnow.io.rows import PAGE_FIELDS, json_schema
from webwinnow.search import IndexFolder, SearchSettings, search
from webwinnow.search.query import Within
from webwinnow.service.context import Parts, parts_of, told_wrong
from webwinnow.service.jobs import ACTIVE, Job, JobKind, JobStatus, allowed_input, safe_name
from webwinnow.service.metrics import CONTENT_TYPE_LATEST
from webwinnow.service.requestmodels import JobRequest, PageRequest, UploadOptions
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import ModelFolder

__all__ = ["REPORT_HEADERS", "job_told", "router", "take_job"]

WRITE_AT_ONCE = 1 << 20
DISK_CHECKED_EVERY = 64_000_000
"""Bytes of an upload after which the room on the disk is looked at again."""
LONGEST_JSON = 64_000_000
"""Bytes of a job in JSON, which is held in memory as a whole; a file is not."""
MOST_RESULTS = 100
LONGEST_QUERY = 1_000
JSON = "application/json"
REPORT_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
}
"""A report can ask this server nothing and load nothing; its own policy allows no script but its own, by its hash."""
log = logging.getLogger("webwinnow.service")


class Problem(BaseModel):
    """Why a request was not granted."""

    error: str


class Health(BaseModel):
    """That the server lives, and what it has to do."""

    status: Literal["ok"]
    version: str
    jobs_waiting: int
    pages_waiting: int


class JobTold(BaseModel):
    """A job and how it stands. `steps` by name: null once done, else what is wrong with it."""

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: JobKind
    name: str
    status: JobStatus
    created: float
    started: float | None
    finished: float | None
    error: str | None
    step: str | None
    stage: str | None
    done: int
    total: int | None
    steps: dict[str, str | None]
    problems: list[str]
    summary: dict[str, Any]


class SiteTold(BaseModel):
    """The model of a site."""

    site: str
    pages: int = Field(description="Pages that it was learned from.")
    bytes: int
    written: float


class SnippetTold(BaseModel):
    """The stretch of a page that holds most words of the query; `marks` are where they stand in it."""

    text: str
    marks: list[tuple[int, int]]


class HitTold(BaseModel):
    """A page that was found."""

    key: str
    level: str
    score: float
    url: str | None
    title: str | None
    site: str | None
    type: str | None
    genre: str | None
    category: str | None
    lang: str | None
    date: str | None
    snippet: SnippetTold


class Found(BaseModel):
    """Pages that fit a query, the best first."""

    count: int
    hits: list[HitTold]


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem} for status in (400, 401, 403, *statuses)}


NO_MODEL = "there is no model of that site"
router = APIRouter()
PartsHere = Annotated[Parts, Depends(parts_of)]
_RECORD = {name: value for name, value in json_schema(PAGE_FIELDS).items() if name != "$schema"}
_DECISIONS = {
    "type": "object",
    "required": ["record", "decisions"],
    "properties": {"record": _RECORD, "decisions": {"type": "array", "items": {"type": "object"}}},
}


@router.get("/health", tags=["service"])
async def health(parts: PartsHere) -> Health:
    """Whether the server lives."""
    waiting = sum(parts.jobs.state(job).status in ACTIVE for job in parts.jobs)
    return Health(status="ok", version=__version__, jobs_waiting=waiting, pages_waiting=parts.counter.waiting)


@router.get(
    "/metrics",
    tags=["service"],
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **_problems()},
)
async def metrics(parts: PartsHere) -> Response:
    """What Prometheus reads."""
    counted = dict.fromkeys(("queued", "running", "done", "failed", "cancelled"), 0)
    for job in parts.jobs:
        counted[parts.jobs.state(job).status] += 1
    for status, count in counted.items():
        parts.metrics.jobs.labels(status).set(count)
    parts.metrics.waiting.set(parts.counter.waiting)
    return Response(parts.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.post(
    "/page",
    tags=["pages"],
    response_class=Response,
    responses={
        200: {"description": "The page's record.", "content": {JSON: {"schema": _RECORD}}},
        **_problems(408, 413, 422, 429, 503),
    },
)
async def page(asked: PageRequest, parts: PartsHere) -> Response:
    """Clean one page, given as HTML or fetched from its URL. Ask `/inspect` for the reasons."""
    asked = asked.model_copy(update={"explain": False})
    return Response(await parts.clean(asked), media_type=JSON)


@router.post(
    "/inspect",
    tags=["pages"],
    response_class=Response,
    responses={
        200: {
            "description": "The record, and block by block the decisions.",
            "content": {JSON: {"schema": _DECISIONS}},
        },
        **_problems(408, 413, 422, 429, 503),
    },
)
async def inspect_page(asked: PageRequest, parts: PartsHere) -> Response:
    """Clean one page and tell block by block what was kept, what went, and why."""
    return Response(await parts.clean(asked.model_copy(update={"explain": True})), media_type=JSON)


@router.get(
    "/inspect",
    tags=["jobs"],
    response_class=Response,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}, **_problems(404, 422)},
)
async def inspect_job(parts: PartsHere, job: Annotated[str, Query(max_length=40)]) -> Response:
    """The report on a job's sites: what stayed, what went, and why (as `webwinnow inspect` writes it)."""
    return FileResponse(parts.result(job, "inspect", "report.html"), media_type="text/html", headers=REPORT_HEADERS)


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with what it defines written where it is used."""
    parts = schema.pop("$defs", {})

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            named = value.get("$ref", "").removeprefix("#/$defs/")
            return put(parts[named]) if named in parts else {key: put(part) for key, part in value.items()}
        return [put(part) for part in value] if isinstance(value, list) else value

    inlined: dict[str, Any] = put(schema)
    return inlined


_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": _inlined(JobRequest.model_json_schema())},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary", "minLength": 1}},
        },
    }
}


_TAKEN = _problems(408, 413, 415, 422, 429, 507)


@router.post("/jobs", status_code=201, tags=["jobs"], responses=_TAKEN, openapi_extra=_UPLOAD)
async def new_job(request: Request, parts: PartsHere, options: Annotated[UploadOptions, Query()]) -> JobTold:
    """Clean a crawl: send the file (HTML, WARC, WACZ, JSONL, Parquet, packed or not), or JSON that lists pages."""
    return job_told(parts, await take_job(request, parts, "clean", options))


@router.get("/jobs", tags=["jobs"], responses=_problems())
async def jobs(parts: PartsHere) -> list[JobTold]:
    """All jobs, the newest first."""
    return [job_told(parts, job) for job in parts.jobs]


@router.get("/jobs/{job}", tags=["jobs"], responses=_problems(404))
async def one_job(job: str, parts: PartsHere) -> JobTold:
    """How a job stands and how far it is."""
    return job_told(parts, parts.job(job))


@router.delete("/jobs/{job}", tags=["jobs"], responses=_problems(404))
async def end_job(job: str, parts: PartsHere) -> JobTold:
    """Cancel a job that is not over; take one that is over away, with all its files."""
    found = parts.job(job)
    if parts.jobs.state(found).status in ACTIVE:
        parts.runner.cancel(found)
        return job_told(parts, found)
    told = job_told(parts, found)
    parts.jobs.forget(found.id)
    await run_in_threadpool(parts.jobs.clear, found.id)
    log.info("job %s removed", found.id)
    return told


RecordFormat = Literal["jsonl", "parquet"]
_MEDIA: dict[str, tuple[str, str, str]] = {
    "jsonl": ("clean", "records.jsonl", "application/x-ndjson"),
    "parquet": ("parquet", "records.parquet", "application/vnd.apache.parquet"),
}


@router.get(
    "/jobs/{job}/records",
    tags=["jobs"],
    response_class=Response,
    responses={
        200: {
            "content": {media: {"schema": {"type": "string", "format": "binary"}} for _, _, media in _MEDIA.values()}
        },
        **_problems(404, 422),
    },
)
async def records(job: str, parts: PartsHere, format: RecordFormat = "jsonl") -> Response:
    """The records of a job: one for each page, whole or not at all."""
    step, file, media = _MEDIA[format]
    return FileResponse(parts.result(job, step, file), media_type=media, filename=f"{job}-{file}")


@router.get(
    "/jobs/{job}/rejected",
    tags=["jobs"],
    response_class=Response,
    responses={
        200: {"content": {"application/x-ndjson": {"schema": {"type": "string", "format": "binary"}}}},
        **_problems(404),
    },
)
async def rejected(job: str, parts: PartsHere) -> Response:
    """What a job left out, block by block, with reasons."""
    path = parts.result(job, "clean", "rejected.jsonl")
    return FileResponse(path, media_type="application/x-ndjson", filename=f"{job}-rejected.jsonl")


@router.get(
    "/jobs/{job}/clusters",
    tags=["jobs"],
    response_class=Response,
    responses={
        200: {
            "content": {
                "application/x-ndjson": {"schema": {"type": "string", "format": "binary"}},
                "text/html": {"schema": {"type": "string"}},
            }
        },
        **_problems(404, 422),
    },
)
async def clusters(job: str, parts: PartsHere, format: Literal["jsonl", "html"] = "jsonl") -> Response:
    """The clusters of a job's pages: a line a page, or the page to browse them (as `webwinnow cluster` writes both)."""
    if format == "html":
        path = parts.result(job, "clusters", "clusters.html")
        return FileResponse(path, media_type="text/html", headers=REPORT_HEADERS)
    path = parts.result(job, "clusters", "clusters.jsonl")
    return FileResponse(path, media_type="application/x-ndjson", filename=f"{job}-clusters.jsonl")


@router.get("/search", tags=["search"], responses=_problems(404, 422))
async def search_job(
    parts: PartsHere,
    job: Annotated[str, Query(max_length=40)],
    q: Annotated[str, Query(max_length=LONGEST_QUERY, description='Words, "phrases", -words not to be there.')],
    within: Within = "two-level",
    limit: Annotated[int, Query(ge=1, le=MOST_RESULTS)] = 10,
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    site: Annotated[str | None, Query(max_length=1_000)] = None,
) -> Found:
    """Search the clean pages of a job."""
    index = IndexFolder(parts.result(job, "index", "index"))
    settings = SearchSettings(within=within, limit=limit, offset=offset, filters={"site": site} if site else {})
    result = await run_in_threadpool(search, index, q, settings)
    return Found(count=result.count, hits=[HitTold(**asdict(hit)) for hit in result.hits])


@router.get("/sites", tags=["sites"], responses=_problems())
async def sites(parts: PartsHere) -> list[SiteTold]:
    """The sites that this server knows."""
    return await run_in_threadpool(lambda: list(_sites_told(parts)))


@router.post("/sites", status_code=201, tags=["sites"], responses=_TAKEN, openapi_extra=_UPLOAD)
async def learn_sites(request: Request, parts: PartsHere, options: Annotated[UploadOptions, Query()]) -> JobTold:
    """Learn the sites of a crawl, sent as to `/jobs`: a job that leaves a model of each site."""
    return job_told(parts, await take_job(request, parts, "learn", options))


@router.get("/sites/{site:path}", tags=["sites"], responses=_problems(404))
async def one_site(site: str, parts: PartsHere) -> SiteTold:
    """What this server knows of a site."""
    path = _model_path(parts, site)
    try:
        return await run_in_threadpool(_site_told, path)
    except FileNotFoundError:  # forgotten meanwhile
        raise HTTPException(404, NO_MODEL) from None


@router.delete("/sites/{site:path}", status_code=204, tags=["sites"], responses=_problems(404))
async def forget_site(site: str, parts: PartsHere) -> None:
    """Forget a site."""
    path = _model_path(parts, site)
    ModelFolder(path.parent, make=True).remove(path)


# What the routes share


def job_told(parts: Parts, job: Job) -> JobTold:
    """A job, its state and its progress as one."""
    state, progress = parts.jobs.state(job), parts.jobs.progress(job)
    told = asdict(progress) | {name: getattr(state, name) for name in ("status", "error", "started", "finished")}
    return JobTold(id=job.id, kind=job.kind, name=job.name, created=job.created, **told)


async def take_job(request: Request, parts: Parts, kind: JobKind, options: UploadOptions) -> Job:
    """Take a job's input, from the body or from where it says, and queue it."""
    with parts.runner.taking():
        await run_in_threadpool(parts.check_disk)
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        number, folder = parts.jobs.new_folder()
        try:
            if media == JSON:
                asked, path = await run_in_threadpool(_read_listed, parts, await _short_body(request), folder)
                job_options, shown = asked.options(), asked.name or asked.folder or "listed pages"
            else:
                path = folder / "input" / safe_name(options.name)
                parts.metrics.uploaded.inc(await _store(request.stream(), path, parts.check_disk))
                job_options, shown = options.options(), options.name or path.name
            job = Job(
                id=number, kind=kind, name=shown[:200], created=time.time(), inputs=(str(path),), options=job_options
            )
            parts.runner.put(job)
        except BaseException:
            parts.jobs.give_up(number)
            raise
    return job


async def _short_body(request: Request) -> bytes:
    """The body of a job in JSON; `HTTPException` for one that is too long for that, or breaks off."""
    body = bytearray()
    async for chunk in _unbroken(request.stream()):
        body += chunk
        if len(body) > LONGEST_JSON:
            raise HTTPException(413, f"JSON may have {LONGEST_JSON:,} bytes; send more pages as a file, such as JSONL")
    return bytes(body)


def _read_listed(parts: Parts, body: bytes, folder: Path) -> tuple[JobRequest, Path]:
    """A job in JSON, and where its input is."""
    asked = _checked(body)
    return asked, _given_input(parts, asked, folder)


def _checked(body: bytes) -> JobRequest:
    """The JSON of a job; `HTTPException` says what is wrong with it."""
    try:
        return JobRequest.model_validate(json.loads(body))
    except ValidationError as error:
        raise HTTPException(422, told_wrong(error.errors(include_url=False, include_input=False))) from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is no JSON") from None


async def _unbroken(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """A body as it comes; `HTTPException` for one that breaks off."""
    try:
        async for chunk in stream:
            yield chunk
    except ClientDisconnect:
        raise HTTPException(400, "the body broke off") from None


async def _store(stream: AsyncIterator[bytes], path: Path, check_disk: Callable[[], None]) -> int:
    """Write a body to disk as it comes; `HTTPException` for none, one that breaks off, or one without room."""
    size, checked, held = 0, 0, bytearray()
    with path.open("wb") as out:
        async for chunk in _unbroken(stream):
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


def _given_input(parts: Parts, asked: JobRequest, folder: Path) -> Path:
    """Where the input of a job is: a file made of listed pages, or one that it names."""
    if (asked.pages is None) == (asked.folder is None):
        raise HTTPException(422, "expected either pages or folder")
    if asked.folder is not None:
        try:
            return allowed_input(asked.folder, parts.settings.inputs)
        except InputError as error:
            raise HTTPException(422, str(error)) from None
    path = folder / "input" / "pages.jsonl"
    lines = (json.dumps(page.model_dump(exclude_none=True)) + "\n" for page in asked.pages or ())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _model_path(parts: Parts, site: str) -> Path:
    parts.settings.models_folder.mkdir(parents=True, exist_ok=True)
    path = ModelFolder(parts.settings.models_folder, make=True).model_path(site)
    if not path.is_file():
        raise HTTPException(404, NO_MODEL)
    return path


def _sites_told(parts: Parts) -> Iterator[SiteTold]:
    """All models that can be read; one that was forgotten meanwhile, or is damaged, does not keep the others back."""
    for path in parts.models():
        with suppress(OSError, ModelError):
            yield _site_told(path)


def _site_told(path: Path) -> SiteTold:
    model = LearnedSite.load(path)
    about = path.stat()
    return SiteTold(site=model.site, pages=model.pages, bytes=about.st_size, written=about.st_mtime)
