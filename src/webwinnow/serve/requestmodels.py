"""Requests of clients, as models that validate them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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


Method = Annotated[str, Field(description="How to clean.", json_schema_extra={"enum": method_names()})]
Rendering = Literal["markdown", "html"]
Url = Annotated[str, Field(max_length=8_000, description="Where the page is from.")]


def _known_method(value: str) -> str:
    try:
        return method_named(value).name
    except SettingsError as error:
        raise ValueError(str(error)) from None


def _known_task(value: str) -> str:
    if value not in TASKS:
        raise ValueError(f"there is no task {value!r}; there are: {', '.join(TASKS)}")
    return value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CleanOptions(_Strict):
    """How pages are cleaned, in `/page` and in jobs."""

    method: Annotated[Method, AfterValidator(_known_method)] = DEFAULT_METHOD
    favor: Literal["precision", "recall"] | None = None
    comments: bool | None = Field(default=None, description="Keep readers' comments on every page, or on none.")
    task: Annotated[
        str,
        AfterValidator(_known_task),
        Field(description="Which kinds of boilerplate to keep.", json_schema_extra={"enum": list(TASKS)}),
    ] = DEFAULT_TASK
    also: list[Rendering] = Field(default_factory=list, max_length=2, description="Further renderings in the record.")
    site_by: Annotated[str, Field(pattern=SITE_BY, description="host, domain, prefix:N, column, all or none.")] = "host"
    models: bool = Field(default=True, description="Clean with the server's model of the site, where it has one.")

    def cleaning(self, stop_list: StopList) -> CleaningSettings:
        """The settings of the methods."""
        page = PageSettings(favor=self.favor, comments=self.comments)
        own = stop_list.own
        docview, segments = ViewSettings(stop_words=own), SegmentSettings(stop_words=own)
        return CleaningSettings(page=page, docview=docview, segments=segments)


class PageRequest(CleanOptions):
    """One page to clean: its HTML, or a URL to fetch."""

    html: str | None = Field(default=None, description="The page; without it the URL is fetched.")
    url: Url = ""
    explain: bool = Field(default=False, description="Explain the decision on each block.")


class JobOptions(CleanOptions):
    """How the pages of a job are cleaned, or its sites learned."""

    models: bool = False
    update: bool = Field(default=False, description="/sites: the pages are a new epoch of known sites.")
    crawl: Url = Field(default="", description="Crawl the pages below this URL; they are the input.")
    crawl_pages: int = Field(default=100, ge=1, le=MOST_CRAWLED, description="Pages to crawl, at most.")
    crawl_render: RenderWhen = Field(
        default="never", description="Crawled pages to render in a browser: auto for those whose HTML shows little."
    )

    def options(self) -> dict[str, Any]:
        """The options for the job's process."""
        return self.model_dump(include=set(JobOptions.model_fields))


class UploadOptions(JobOptions):
    """The options of an uploaded file, as a query."""

    model_config = ConfigDict(extra="forbid", strict=False)

    name: str = Field(default="", max_length=200, description="The file's name; its extension may show the format.")


class GivenPage(_Strict):
    """A page of a list."""

    url: Url
    html: str
    page_id: str | None = Field(default=None, max_length=1_000)
    site: str | None = Field(default=None, max_length=1_000)


class JobRequest(JobOptions):
    """The input of a job: listed pages, a file or folder on the server's machine, or a URL to crawl. An uploaded file
    is the body.
    """

    pages: list[GivenPage] | None = Field(default=None, max_length=MOST_PAGES, min_length=1)
    folder: str | None = Field(default=None, max_length=4_000, description="A file or folder that the server may read.")
    name: str = Field(default="", max_length=200)
