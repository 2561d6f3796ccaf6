"""The messages between `crawl` and its child process, and how they are sent.

to the child:    Begin, Go, then Answer (one per FetchedPage), Stop
from the child:  Ready, FetchedPage, Done, then Ended or Problem
"""

from __future__ import annotations

from typing import IO, Any, Final, NamedTuple

from webwinnow.storage.encoding import read_frame, write_frame


class Begin(NamedTuple):
    """Crawl what the state in a folder says, into a WARC file."""

    out: str
    state: str


class Go(NamedTuple):
    """Start fetching."""


class Stop(NamedTuple):
    """Finish the requests under way and end."""


class Answer(NamedTuple):
    """The links of a page to follow: see `follow.Next`."""

    number: int
    links: list[str]
    sites: list[str]
    leave_site: bool


class Ready(NamedTuple):
    """The child has opened its files."""


class FetchedPage(NamedTuple):
    """A page that was fetched; the child waits for an `Answer` with its number before it stores the page."""

    number: int
    url: str
    body: bytes
    content_type: str | None
    fetched_at: str
    site: int
    depth: int
    referrer: str | None


class Done(NamedTuple):
    """Progress: pages stored, and wanted at most."""

    stored: int
    wanted: int


class Ended(NamedTuple):
    """The crawl has ended: the fields of `CrawlSummary` except `seconds`."""

    summary: dict[str, Any]


class Problem(NamedTuple):
    """The crawl cannot continue."""

    text: str


Message = Begin | Go | Stop | Answer | Ready | FetchedPage | Done | Ended | Problem
_TYPES: Final = {kind.__name__: kind for kind in (Begin, Go, Stop, Answer, Ready, FetchedPage, Done, Ended, Problem)}


def write_message(stream: IO[bytes], message: Message) -> None:
    """Send a message."""
    write_frame(stream, (type(message).__name__, tuple(message)))


def read_message(stream: IO[bytes]) -> Message | None:
    """Receive a message; None if the other end has closed the pipe."""
    try:
        name, fields = read_frame(stream)
    except EOFError:
        return None
    message: Message = _TYPES[name](*fields)
    return message
