"""The jobs of worker processes and their answers: one type each.

Between processes they are plain tuples in `storage.encoding`, never pickled. A task is jobs of one type for one worker,
with what they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

READY, HEARTBEAT, DONE, FAILED, LEARNS = range(5)
"""What a worker says: it has started; it is still working on a long job; the answer to a job; why a job failed; the
name of the site that it learns before it cleans the first page of it, and None when it has."""

Ref = tuple[int, int]
"""Where the spool has a page: offset and length."""


class SiteToClean(NamedTuple):
    """A site of a cleaning task: with a model in a file, or with the pages to learn it from, or with neither."""

    name: str
    chosen: list[Ref] | None
    model: str | None


class Shared(NamedTuple):
    """What the jobs of a task share: the path of the spool, or of a folder of models; the sites of a cleaning task."""

    path: str = ""
    sites: tuple[SiteToClean, ...] = ()

    def without_model_of(self, name: str) -> Shared:
        """The same, but the pages of a site are cleaned without learning it."""
        sites = (site._replace(chosen=None, model=None) if site.name == name else site for site in self.sites)
        return self._replace(sites=tuple(sites))


class ParsePage(NamedTuple):
    """Parse a page; where the method does not learn from the site, also clean it."""

    url: str
    body: bytes
    content_type: str | None = None
    site: str | None = None
    page_id: str | None = None
    layout: bytes | None = None
    fetched_at: str | None = None


class ParsedPage(NamedTuple):
    """A page's site, sampling key and exact fingerprint, and a packed `StoredPage` for the spool."""

    site: str
    key: int
    content: str
    packed: bytes


class LearnSite(NamedTuple):
    """Learn a site as far as the cleaning method needs."""

    chosen: list[Ref]


class SiteLearned(NamedTuple):
    """A packed model and the most repeated blocks of the site as (pages, text)."""

    model: bytes
    repeats: list[tuple[int, str]]


class BuildModel(NamedTuple):
    """Learn everything about a site, for a model file; `cleaning` as in `CleaningSettings.from_plain`."""

    site: str
    chosen: list[Ref]
    cleaning: dict[str, dict[str, Any]]
    with_sums: bool


class UpdateModel(NamedTuple):
    """Add a new epoch to the model of a site; `earlier` are the files with the sums of the earlier ones."""

    site: str
    chosen: list[Ref]
    cleaning: dict[str, dict[str, Any]]
    earlier: list[str]
    epochs: int


class ModelBuilt(NamedTuple):
    """A packed model and its sums; an update has no model where no page is new."""

    model: bytes | None
    sums: bytes | None
    familiar: float = 1.0
    redesigned: bool = False


class CleanStored(NamedTuple):
    """Clean a page of the spool. `site` is a position in `Shared.sites`; a failed page has an error and no ref."""

    site: int
    url: str
    page_id: str | None
    ref: Ref | None
    error: str | None
    fetched_at: str | None = None


class PageCleaned(NamedTuple):
    """The lines of a page in the output; for the first page of a site that was learned, also the site's repeats.

    The reason of a page that is kept is a remark. `rows` and `tallies` are those of the stages.
    """

    line: bytes
    rejected: list[bytes]
    outcome: str
    reason: str | None
    kept_words: int = 0
    all_words: int = 0
    rows: list[bytes] = []  # noqa: RUF012 (never changed)
    repeats: list[tuple[int, str]] = []  # noqa: RUF012
    tallies: list[tuple[str, str, int]] = []  # noqa: RUF012


class CleanRequest(NamedTuple):
    """Clean one page of a client of the service, with its own options."""

    url: str
    body: bytes
    content_type: str | None
    options: dict[str, Any]


class RequestCleaned(NamedTuple):
    """The record of the page as JSON."""

    json: bytes


Job = ParsePage | LearnSite | BuildModel | UpdateModel | CleanStored | CleanRequest
Result = ParsedPage | SiteLearned | ModelBuilt | PageCleaned | RequestCleaned

RESULT_OF: dict[Callable[..., Job], Callable[..., Result]] = {
    ParsePage: ParsedPage,
    LearnSite: SiteLearned,
    BuildModel: ModelBuilt,
    UpdateModel: ModelBuilt,
    CleanStored: PageCleaned,
    CleanRequest: RequestCleaned,
}
"""Job types with the types of their answers. In messages the position of a job type here stands for it."""
_JOBS = list(RESULT_OF)


def encode_task(jobs: list[Any], shared: Shared) -> Any:
    """Jobs of one type and what they share as plain values."""
    return _JOBS.index(type(jobs[0])), (shared.path, tuple(map(tuple, shared.sites))), [tuple(job) for job in jobs]


def decode_task(message: Any) -> tuple[list[Job], Shared]:
    """Read the values of `encode_task`."""
    code, (path, sites), jobs = message
    return [_JOBS[code](*fields) for fields in jobs], Shared(path, tuple(SiteToClean(*site) for site in sites))
