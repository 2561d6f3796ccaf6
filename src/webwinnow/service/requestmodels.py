"""What a client may ask for, as the models that requests are checked against."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.tasks import DEFAULT_TASK, TASKS
from webwinnow.methods import DEFAULT_METHOD, METHODS, CleaningSettings

__all__ = ["CleanOptions", "GivenPage", "JobOptions", "JobRequest", "PageRequest", "UploadOptions"]

MOST_PAGES = 10_000
"""Pages that one request may list; more come as a file."""
SITE_BY = r"^(host|domain|column|all|none|prefix:[1-9][0-9]?)$"
"""What `SiteKey.parse` reads."""


Method = Annotated[str, Field(description="How to clean.", json_schema_extra={"enum": list(METHODS)})]
Rendering = Literal["markdown", "html"]
Url = Annotated[str, Field(max_length=8_000, description="Where the page is from.")]


def _known_method(value: str) -> str:
    if value not in METHODS:
        raise ValueError(f"there is no method {value!r}; there are: {', '.join(METHODS)}")
    return value


def _known_task(value: str) -> str:
    if value not in TASKS:
        raise ValueError(f"there is no task {value!r}; there are: {', '.join(TASKS)}")
    return value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class CleanOptions(_Strict):
    """How pages are cleaned, by `/page` and by a job alike."""

    method: Annotated[Method, AfterValidator(_known_method)] = DEFAULT_METHOD
    favor: Literal["precision", "recall"] | None = None
    comments: bool | None = Field(default=None, description="Keep what readers wrote on every page, or on none.")
    task: Annotated[
        str,
        AfterValidator(_known_task),
        Field(description="Which kinds of noise stay.", json_schema_extra={"enum": list(TASKS)}),
    ] = DEFAULT_TASK
    also: list[Rendering] = Field(default_factory=list, max_length=2, description="More renderings in the record.")
    site_by: Annotated[str, Field(pattern=SITE_BY, description="host, domain, prefix:N, column, all or none.")] = "host"
    models: bool = Field(
        default=True, description="Clean with the models that the server has, where it knows the site."
    )

    def cleaning(self) -> CleaningSettings:
        """The settings of the methods."""
        return CleaningSettings(page=PageSettings(favor=self.favor, comments=self.comments))


class PageRequest(CleanOptions):
    """One page to clean: its HTML, or its URL to fetch it from."""

    html: str | None = Field(default=None, description="The page; without it the URL is fetched.")
    url: Url = ""
    explain: bool = Field(default=False, description="Tell block by block what was decided, and why.")


class JobOptions(CleanOptions):
    """How the pages of a job are cleaned, or its sites learned."""

    models: bool = False
    update: bool = Field(default=False, description="/sites: the pages are a further epoch of sites known already.")

    def options(self) -> dict[str, Any]:
        """What the job's process is told."""
        return self.model_dump(include=set(JobOptions.model_fields))


class UploadOptions(JobOptions):
    """How the pages of an uploaded file are treated: options as a query writes them."""

    model_config = ConfigDict(extra="forbid", strict=False)

    name: str = Field(default="", max_length=200, description="The file's name, which may tell its format.")


class GivenPage(_Strict):
    """A page of a list."""

    url: Url
    html: str
    page_id: str | None = Field(default=None, max_length=1_000)
    site: str | None = Field(default=None, max_length=1_000)


class JobRequest(JobOptions):
    """What a job works on: pages listed here, or a file or folder on the server's machine. A file is sent as body."""

    pages: list[GivenPage] | None = Field(default=None, max_length=MOST_PAGES, min_length=1)
    folder: str | None = Field(default=None, max_length=4_000, description="A file or folder that the server may read.")
    name: str = Field(default="", max_length=200)
