"""Web pages for people: jobs, records, reports and search."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from webwinnow._version import __version__
from webwinnow.counted import counted
from webwinnow.errors import WebwinnowError
from webwinnow.judge.tasks import TASKS
from webwinnow.methods.registry import all_methods
from webwinnow.page.urls import is_web_link
from webwinnow.search.index import IndexFolder
from webwinnow.search.level import FILTERS
from webwinnow.search.query import SearchResult, SearchSettings, Snippet, search
from webwinnow.serve.accesscontrol import COOKIE, HELD_SECONDS, POLICY, SESSION_SECONDS, new_session
from webwinnow.serve.api import LONGEST_QUERY, job_info, sites
from webwinnow.serve.apidocs import documented
from webwinnow.serve.context import ServiceContext, context_of
from webwinnow.serve.jobs import Job
from webwinnow.serve.requests import PageRequest, checked

PAGES_SHOWN = 50
FRAME_POLICY = POLICY + "; frame-src 'self'"
STEP_WORDS = {
    "crawl": "crawling",
    "clean": "cleaning",
    "learn": "learning the sites",
    "parquet": "writing Parquet",
    "inspect": "building the inspector",
    "index": "building the search index",
    "clusters": "finding clusters",
}
STAGE_WORDS = {
    "crawl": "fetching pages",
    "parse": "reading and parsing",
    "learn": "learning site by site",
    "clean": "cleaning site by site",
    "replicas": "finding replicas",
    "write": "writing",
    "index": "indexing",
}

router = APIRouter()
Service = Annotated[ServiceContext, Depends(context_of)]
_pages = Environment(
    loader=PackageLoader("webwinnow.serve"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def static_files() -> StaticFiles:
    """Styles and scripts; `design.css` is that of the reports."""
    return StaticFiles(packages=[("webwinnow.serve", "static"), ("webwinnow.inspect", "viewer")])


def _moment(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _marked(snippet: Snippet) -> Markup:
    """A snippet with the words of the query marked and its text escaped."""
    shown, at = Markup(), 0
    for start, end in snippet.marks:
        shown += escape(snippet.text[at:start]) + Markup("<mark>{}</mark>").format(snippet.text[start:end])
        at = end
    return shown + escape(snippet.text[at:])


def _coded(text: str) -> Markup:
    """A text with what is between backticks as code, escaped."""
    code = Markup("<code>{}</code>").format
    parts = [code(part) if k % 2 else escape(part) for k, part in enumerate(text.split("`"))]
    return Markup().join(parts)


_pages.filters["coded"] = _coded
_pages.filters["moment"] = _moment
_pages.filters["marked"] = _marked
_pages.filters["number"] = lambda value: f"{value:,}"
_pages.filters["counted"] = counted
_pages.tests["web_link"] = is_web_link
_pages.globals.update(version=__version__, step_words=STEP_WORDS, stage_words=STAGE_WORDS)


def _shown(name: str, status: int = 200, *, policy: str | None = None, **values: Any) -> HTMLResponse:
    headers = {} if policy is None else {"Content-Security-Policy": policy}
    return HTMLResponse(_pages.get_template(name).render(**values), status, headers)


def _of_job(name: str, service: ServiceContext, job: str, *, policy: str | None = None, **values: Any) -> HTMLResponse:
    return _shown(name, policy=policy, here="jobs", job=job_info(service, service.job(job)), **values)


@router.get("/")
async def home(service: Service) -> HTMLResponse:
    """The form for a new job, and the list of jobs."""
    return _shown(
        "home.html",
        here="jobs",
        jobs=[job_info(service, job) for job in service.jobs],
        inputs=[root.name for root in service.settings.inputs],
        methods=all_methods(),
        tasks=TASKS,
        most=service.settings.upload_bytes,
        fetches=service.settings.fetch,
        renders=service.render_problem() is None,
    )


@router.get("/view/jobs/{job}")
async def job_page(job: str, service: Service) -> HTMLResponse:
    """A job: its progress, then its results."""
    found = service.job(job)
    return _shown("job.html", here="jobs", job=job_info(service, found), left=_left(service, found))


@router.get("/view/jobs/{job}/pages")
async def pages_page(job: str, service: Service, start: Annotated[int, Query(ge=0, le=10**9)] = 0) -> HTMLResponse:
    """The records of a job, page by page."""
    path = service.result(job, "clean", "records.jsonl")
    rows = await run_in_threadpool(lambda: list(itertools.islice(_rows(path), start, start + PAGES_SHOWN + 1)))
    return _of_job(
        "pages.html",
        service,
        job,
        rows=rows[:PAGES_SHOWN],
        start=start,
        shown=PAGES_SHOWN,
        more=len(rows) > PAGES_SHOWN,
    )


@router.get("/view/jobs/{job}/record")
async def record_page(
    job: str,
    service: Service,
    at: Annotated[int, Query(ge=0, le=10**9)] = 0,
    key: Annotated[str, Query(max_length=LONGEST_QUERY)] = "",
) -> HTMLResponse:
    """One record: that of the page with this id or URL, or the one at this place."""
    path = service.result(job, "clean", "records.jsonl")

    def found() -> tuple[int, dict[str, Any]] | None:
        numbered = enumerate(_rows(path))
        if key:
            return next(((k, row) for k, row in numbered if key == (row.get("page_id") or row.get("url"))), None)
        return next(itertools.islice(numbered, at, None), None)

    row = await run_in_threadpool(found)
    if row is None:
        raise HTTPException(404, "there is no such record")
    return _of_job("record.html", service, job, record=row[1], at=row[0])


@router.get("/view/jobs/{job}/replicas")
async def replicas_page(job: str, service: Service) -> HTMLResponse:
    """Replicas, grouped by the page that is kept."""
    path = service.result(job, "clean", "records.jsonl")
    groups = await run_in_threadpool(_replicas, path)
    return _of_job("replicas.html", service, job, groups=groups)


@router.get("/view/jobs/{job}/inspect")
async def inspect_page(job: str, service: Service) -> HTMLResponse:
    """The inspector, in a frame that cannot send requests."""
    service.result(job, "inspect", "report.html")
    return _of_job("inspect.html", service, job, policy=FRAME_POLICY)


@router.get("/view/jobs/{job}/clusters")
async def clusters_page(job: str, service: Service) -> HTMLResponse:
    """The clusters of the pages, on a map."""
    service.result(job, "clusters", "clusters.html")
    return _of_job("clusters.html", service, job, policy=FRAME_POLICY)


@router.get("/view/jobs/{job}/search")
async def search_page(
    job: str,
    service: Service,
    q: Annotated[str, Query(max_length=LONGEST_QUERY)] = "",
    start: Annotated[int, Query(ge=0, le=10_000)] = 0,
) -> HTMLResponse:
    """Search the clean pages of a job."""
    index = IndexFolder(service.result(job, "index", "index"))
    found, trouble = SearchResult([], 0, 0.0), None
    if q.strip():
        try:
            found = await run_in_threadpool(search, index, q, SearchSettings(limit=20, offset=start, facets=FILTERS))
        except WebwinnowError as error:
            trouble = service.public(str(error))
    return _shown(
        "search.html",
        here="jobs",
        job=job_info(service, service.job(job)),
        q=q,
        found=found,
        trouble=trouble,
        start=start,
        shown=20,
    )


@router.get("/docs")
async def docs_page(request: Request) -> HTMLResponse:
    """The documentation of REST, from its description in `/openapi.json`."""
    return _shown(
        "docs.html", here="docs", about=request.app.openapi()["info"], groups=documented(request.app.openapi())
    )


@router.get("/view/sites")
async def sites_page(service: Service) -> HTMLResponse:
    """The sites that this server has models of."""
    return _shown("sites.html", here="sites", sites=await sites(service))


@router.get("/view/page")
async def one_page_form() -> HTMLResponse:
    """The form for one page."""
    return _shown("page.html", here="page", methods=all_methods(), tasks=TASKS, order=None, answer=None, trouble=None)


@router.post("/view/page")
async def one_page(request: Request, service: Service) -> HTMLResponse:
    """A pasted page, cleaned, with the decision on each block."""
    form = await run_in_threadpool(_form, await request.body())
    answer, trouble, order = None, None, None
    try:
        given = {name: form[name] for name in ("html", "url", "method", "task") if form.get(name)}
        order = checked(given, PageRequest)
        order.explain = True
        answer = json.loads(await service.clean(order))
    except HTTPException as error:
        trouble = service.public(str(error.detail))
    status = 200 if trouble is None else 422
    return _shown(
        "page.html",
        status,
        here="page",
        methods=all_methods(),
        tasks=TASKS,
        order=order,
        answer=answer,
        trouble=trouble,
    )


@router.get("/login")
async def login_form() -> HTMLResponse:
    """The form for the token."""
    return _shown("login.html", here="login", trouble=None)


@router.post("/login")
async def login(request: Request, service: Service) -> Response:
    """Exchange the token for a signed cookie that scripts cannot read."""
    client, token = request.client.host if request.client else "", service.settings.token
    shown = _form(await request.body()).get("token", "").strip()
    refusal = 401 if token is None else await service.wrong_tokens.refusal(client, shown, token)
    if refusal == 429:
        trouble = "Too many wrong tokens came from this address, so this one was not compared. Try again in a second."
        answer = _shown("login.html", 429, here="login", trouble=trouble)
        answer.headers["Retry-After"] = str(HELD_SECONDS)
        return answer
    if token is None or refusal is not None:
        return _shown("login.html", 401, here="login", trouble="The token is wrong.")
    entered = RedirectResponse("/", 303)
    session, secure = new_session(token), service.settings.tls
    entered.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure, max_age=SESSION_SECONDS)
    return entered


# Shared by the views


def _left(service: ServiceContext, job: Job) -> dict[str, bool]:
    files = {
        "records": ("clean", "records.jsonl"),
        "parquet": ("parquet", "records.parquet"),
        "inspect": ("inspect", "report.html"),
        "index": ("index", "index"),
        "clusters": ("clusters", "clusters.html"),
    }
    return {name: service.jobs.result(job, step, file) is not None for name, (step, file) in files.items()}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        yield from map(json.loads, lines)


def _replicas(path: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    """The replicas by the page that they are copies of, the largest group first."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(path):
        if row["replica_of"] is not None:
            groups[row["replica_of"]].append({name: row[name] for name in ("url", "page_id", "title", "site")})
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def _form(body: bytes) -> dict[str, str]:
    """The first value of each field of a form."""
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}
