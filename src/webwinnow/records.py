"""What goes into a run and what comes out: one `PageRecord` in, exactly one `Outcome` out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Dropped", "Failed", "Kept", "Outcome", "PageRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRecord:
    """One page as a source yields it: bytes exactly as found, nothing decoded yet.

    `ordinal` counts the pages of a run from 0 in input order; it is what `--resume` and the order of the
    output are keyed by. `site` and `page_id` are set where the source knows them (a column), else None;
    `label` where it was asked for a column of labels.
    `refused` says why the source could not hand over the body (a decompression bomb, a broken
    encoding): such a page still gets an outcome.
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


@dataclass(frozen=True, slots=True)
class Kept:
    """The page gave a record with content."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The page was read and left out, for `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The page could not be read, for `error`."""

    error: str


Outcome = Kept | Dropped | Failed
