"""The settings of a crawl."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

from webwinnow import _version
from webwinnow.crawl.guard import AddressGuard, Route
from webwinnow.errors import SettingsError, check_range

Strategy = Literal["random", "breadth"]
ScopeKind = Literal["below", "host", "domain", "any"]
"""The pages of a site that are crawled."""
RenderWhen = Literal["never", "auto", "all"]
"""The pages that a browser renders."""

USER_AGENT: Final = f"webwinnow/{_version.__version__}"
MB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSettings:
    """How to crawl. A site is what is reached from one start page.

    - `pages`: pages stored per site (thesis 4.2.4: k pages; 500 are enough, 5.3).
    - `strategy`: `random` takes a random sample of the known pages, with `seed`; `breadth` fetches pages in the order
      of their distance from the start page (Sites, Definition 1).
    - `scope`: `below` the folder of the start page (Definition 1), same `host`, same registered `domain`, or `any`.
    - `depth`: maximum number of links from the start page; None for no limit.
    - `delay`: seconds between the end of a response and the next request to that host; robots.txt may ask for more.
    - `hosts`: hosts contacted at the same time; one host never gets more than one request at a time.
    - `timeout`: seconds of silence after which a request fails; `page_seconds`: seconds for a whole response.
    - `retries`: further attempts after a temporary failure; `backoff`: seconds that a host is left alone after one,
      doubled with each.
    - `max_size`: bytes of a page as sent, and unpacked; `max_bytes`: bytes received in total; `seconds`: total time.
    - `robots`: whether robots.txt is obeyed.
    - `allow_urls`, `deny_urls`: regular expressions; only links whose URL matches one of the first, if there are any,
      and none of the second are followed. Start pages are always fetched.
    - `sitemaps`: also take the pages that the site lists in its sitemaps and feeds.
    - `guard`: which IP addresses connections may go to.
    - `render`: which pages a browser renders: none, `auto` those whose HTML shows little, or `all`; `browsers` is the
      number of browsers, `render_set` has other settings of rendering, as in "load_seconds=40" (`RenderSettings`). With
      `screenshots`, the layout of a rendered page has a picture of it.
    """

    pages: int = 500
    strategy: Strategy = "random"
    seed: int = 0
    scope: ScopeKind = "below"
    depth: int | None = None
    delay: float = 1.0
    hosts: int = 16
    timeout: float = 20.0
    page_seconds: float = 120.0
    retries: int = 2
    backoff: float = 2.0
    max_size: int = 10 * MB
    max_bytes: int | None = None
    seconds: float | None = None
    robots: bool = True
    user_agent: str = USER_AGENT
    allow_urls: tuple[str, ...] = ()
    deny_urls: tuple[str, ...] = ()
    sitemaps: bool = False
    guard: AddressGuard = field(default_factory=AddressGuard)
    render: RenderWhen = "never"
    browsers: int = 1
    render_set: tuple[str, ...] = ()
    screenshots: bool = False

    def __post_init__(self) -> None:
        for name in ("pages", "hosts", "browsers", "timeout", "page_seconds", "max_size", "max_bytes", "seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SettingsError(f"{name} is {value}: expected a number above 0")
        check_range(self, "depth", "delay", "retries", "backoff", least=0)
        for name, kind in (("strategy", Strategy), ("scope", ScopeKind), ("render", RenderWhen)):
            if getattr(self, name) not in get_args(kind):
                raise SettingsError(f"no {name} {getattr(self, name)!r}; expected {', '.join(get_args(kind))}")
        for pattern in (*self.allow_urls, *self.deny_urls):
            try:
                re.compile(pattern)
            except re.error as error:
                raise SettingsError(f"{pattern!r} is no regular expression ({error}); expected one for URLs") from None
        if not self.user_agent.isascii() or not self.user_agent.isprintable() or not self.user_agent.strip():
            raise SettingsError(f"user_agent is {self.user_agent!r}: expected a line of ASCII")

    def follows(self, url: str) -> bool:
        """Whether the patterns of URLs let a link be followed."""
        allowed = not self.allow_urls or any(re.search(pattern, url) for pattern in self.allow_urls)
        return allowed and not any(re.search(pattern, url) for pattern in self.deny_urls)

    def to_plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> CrawlSettings:
        """Read what `to_plain` returned, or its JSON."""
        guard = plain["guard"]
        routes = tuple(Route(*route) for route in guard["routes"])
        given = plain | {
            name: tuple(plain[name]) for name in ("allow_urls", "deny_urls", "render_set") if name in plain
        }
        return cls(**given | {"guard": AddressGuard(**guard | {"allow": tuple(guard["allow"]), "routes": routes})})
