"""The input and output of a run: one `PageRecord` in, exactly one `Outcome` out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LAYOUT_TYPE: Final = "application/vnd.webwinnow.layout"
"""Media type of a packed `PageLayout`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """One page as a source yields it, with its bytes as found.

    `ordinal` counts the pages of a run from 0 in input order; `--resume` and the order of the output depend on it.
    `site`, `page_id` and `label` come from columns of the input. `refused` says why there is no body (a decompression
    bomb, a broken encoding): such a page still gets an outcome. `layout` is the packed `PageLayout` of a rendered page,
    whose body is what a browser made of it.
    """

    url: str
    body: bytes
    content_type: str | None = None
    fetched_at: str | None = None
    site: str | None = None
    page_id: str | None = None
    ordinal: int = 0
    refused: str | None = None
    label: str | None = None
    layout: bytes | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """The page has a record with content."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The page was read and dropped for `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The page could not be read because of `error`."""

    error: str


Outcome = Kept | Dropped | Failed
