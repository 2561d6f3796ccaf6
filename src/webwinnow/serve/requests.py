"""Requests of clients: their fields and limits, JSON that is decoded in a thread, and one memory budget for bodies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from fastapi import Request
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from webwinnow.crawl.settings import RenderWhen
from webwinnow.errors import SettingsError
from webwinnow.judge.page import PageSettings
from webwinnow.judge.tasks import DEFAULT_TASK, TASKS
from webwinnow.methods.method_segments import SegmentSettings
from webwinnow.methods.registry import DEFAULT_METHOD, CleaningSettings, method_named, method_names
from webwinnow.methods.viewsettings import ViewSettings
from webwinnow.page.words import StopList

MOST_PAGES = 10_000
"""Pages that one request may list; for more, send a file."""
MOST_CRAWLED = 500
"""Pages that a job may crawl."""
SITE_BY = r"^(host|domain|column|all|none|prefix:[1-9][0-9]?)$"
"""The forms of `SiteKey.parse`."""
JSON = "application/json"
RETRY_SECONDS = 1
"""When to try again where bodies fill the memory for them."""
LONGEST_JSON = 64_000_000
"""Bytes of JSON, which is read into memory; a file is not."""
SHOWN_ERRORS = 5
SHOWN_CHARACTERS = 200
"""Characters of a message about JSON, which may repeat what was sent."""
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""Half of a character, which scripts may send and msgspec refuses."""

Method = Annotated[str, Meta(description="How to clean.", extra_json_schema={"enum": method_names()})]
Rendering = Literal["markdown", "html"]
Url = Annotated[str, Meta(max_length=8_000, description="Where the page is from.")]
Name = Annotated[str, Meta(max_length=1_000)]
Model = TypeVar("Model", bound=Struct)


class CleanOptions(Struct, kw_only=True, forbid_unknown_fields=True):
    """How pages are cleaned, in `/page` and in jobs."""

    method: Annotated[str, Meta(description="How to clean.", extra_json_schema={"enum": method_names()})] = (
        DEFAULT_METHOD
    )
    favor: Literal["precision", "recall"] | None = None
    comments: Annotated[bool | None, Meta(description="Keep readers' comments on every page, or on none.")] = None
    task: Annotated[
        str, Meta(description="Which kinds of boilerplate to keep.", extra_json_schema={"enum": list(TASKS)})
    ] = DEFAULT_TASK
    also: Annotated[list[Rendering], Meta(max_length=2, description="Further renderings in the record.")] = []
    site_by: Annotated[str, Meta(pattern=SITE_BY, description="host, domain, prefix:N, column, all or none.")] = "host"
    models: Annotated[bool, Meta(description="Clean with the server's model of the site, where it has one.")] = True

    def __post_init__(self) -> None:
        try:
            method_named(self.method)
        except SettingsError as error:
            raise ValueError(str(error)) from None
        if self.task not in TASKS:  # never `task_of`, which reads files
            raise ValueError(f"there is no task {self.task!r}; there are: {', '.join(TASKS)}")

    def cleaning(self, stop_list: StopList) -> CleaningSettings:
        """The settings of the methods."""
        page = PageSettings(favor=self.favor, comments=self.comments)
        docview, segments = ViewSettings(stop_words=stop_list.own), SegmentSettings(stop_words=stop_list.own)
        return CleaningSettings(page=page, docview=docview, segments=segments)


class PageRequest(CleanOptions, kw_only=True, forbid_unknown_fields=True):
    """One page to clean: its HTML, or a URL to fetch."""

    html: Annotated[str | None, Meta(description="The page; without it the URL is fetched.")] = None
    url: Url = ""
    explain: Annotated[bool, Meta(description="Explain the decision on each block.")] = False


class JobOptions(CleanOptions, kw_only=True, forbid_unknown_fields=True):
    """How the pages of a job are cleaned, or its sites learned."""

    models: bool = False
    update: Annotated[bool, Meta(description="/sites: the pages are a new epoch of known sites.")] = False
    crawl: Annotated[Url, Meta(description="Crawl the pages below this URL; they are the input.")] = ""
    crawl_pages: Annotated[int, Meta(ge=1, le=MOST_CRAWLED, description="Pages to crawl, at most.")] = 100
    crawl_render: Annotated[
        RenderWhen, Meta(description="Crawled pages to render in a browser: auto for those whose HTML shows little.")
    ] = "never"


class UploadOptions(JobOptions, kw_only=True, forbid_unknown_fields=True):
    """The options of an uploaded file, as a query."""

    name: Annotated[str, Meta(max_length=200, description="The file's name; its extension may show the format.")] = ""


class GivenPage(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A page of a list."""

    url: Url
    html: str
    page_id: Name | None = None
    site: Name | None = None


class JobRequest(JobOptions, kw_only=True, forbid_unknown_fields=True):
    """The input of a job: listed pages, a file or folder on the server's machine, or a URL to crawl. An uploaded file
    is the body.
    """

    pages: Annotated[list[GivenPage], Meta(min_length=1, max_length=MOST_PAGES)] | None = None
    folder: Annotated[str, Meta(max_length=4_000, description="A file or folder that the server may read.")] | None = (
        None
    )
    name: Annotated[str, Meta(max_length=200)] = ""


def fields_of(options: CleanOptions, model: type[CleanOptions]) -> dict[str, Any]:
    """The fields of a model that these options, which are of a model derived from it, have."""
    return {name: getattr(options, name) for name in model.__struct_fields__}


def checked(values: dict[str, Any], model: type[Model], *, strict: bool = True) -> Model:
    """A request from the values of its fields, as text unless `strict`. Raises `HTTPException` if one is wrong."""
    try:
        return msgspec.convert(values, model, strict=strict)
    except msgspec.ValidationError as error:
        raise HTTPException(422, str(error)[:SHOWN_CHARACTERS]) from None


def upload_options(request: Request) -> UploadOptions:
    """The options of an upload, from the query."""
    given = request.query_params
    values = {name: given.getlist(name) if name == "also" else given[name] for name in given}
    return checked(values, UploadOptions, strict=False)


async def read_json(request: Request, model: type[Model]) -> Model:
    """The body of a request as a model. Raises `HTTPException` if it is too long, no JSON, or not like the model."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_JSON:
            raise HTTPException(413, f"JSON may have {LONGEST_JSON:,} bytes; send more pages as a file, such as JSONL")
    return await run_in_threadpool(_decoded, body, model)


def _decoded(body: bytearray, model: type[Model]) -> Model:
    try:
        try:
            return msgspec.json.decode(body, type=model)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            return msgspec.json.decode(_LONE_SURROGATE.sub(rb"\1\\ufffd", body), type=model)
    except msgspec.ValidationError as error:
        raise HTTPException(422, str(error)[:SHOWN_CHARACTERS]) from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is no JSON") from None


def schema_of(model: type[Struct]) -> dict[str, Any]:
    """The JSON schema of a model, without references: OpenAPI has its definitions elsewhere."""
    schema = msgspec.json.schema(model)

    def inlined(value: Any) -> Any:
        if isinstance(value, dict):
            named = value.get("$ref", "").removeprefix("#/$defs/")
            return inlined(schema["$defs"][named]) if named else {key: inlined(part) for key, part in value.items()}
        return [inlined(part) for part in value] if isinstance(value, list) else value

    found: dict[str, Any] = inlined({"$ref": schema["$ref"]})
    return found


def query_schema(model: type[Struct]) -> list[dict[str, Any]]:
    """The fields of a model as parameters of a query, as OpenAPI describes them."""
    fields = schema_of(model)["properties"]
    return [{"name": name, "in": "query", "required": False, "schema": field} for name, field in fields.items()]


def shown_errors(errors: Sequence[Any]) -> str:
    """What is wrong with the parameters of a request, in one line, without its content."""
    lines = [f"{'.'.join(str(part) for part in error['loc']) or 'body'}: {error['msg']}" for error in errors]
    return "; ".join(lines[:SHOWN_ERRORS]).encode("utf-8", "replace").decode()


class BodyMemory:
    """The bytes of bodies that all requests together hold in memory. Used from one event loop."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0

    @contextmanager
    def share(self) -> Iterator[Callable[[int], None]]:
        """A function that takes bytes for a request, which gives them back when it is over, however it ends.

        It raises `HTTPException` if others hold too many. A request that is alone has only the limit of its route.
        """
        held = 0

        def take(size: int) -> None:
            nonlocal held
            if self.held > held and self.held + size > self.most:
                full = f"the requests of others fill the {self.most:,} bytes for bodies; try again in a moment"
                raise HTTPException(429, full, {"Retry-After": str(RETRY_SECONDS)})
            held += size
            self.held += size

        try:
            yield take
        finally:
            self.held -= held
