"""The settings of a crawl."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Literal

from webwinnow import _version
from webwinnow.crawl.guard import AddressGuard
from webwinnow.errors import SettingsError
from webwinnow.settings import CRAWL, RUN, Setting, Settings, setting

Strategy = Literal["random", "breadth"]
ScopeKind = Literal["below", "host", "domain", "any"]
"""The pages of a site that are crawled."""
RenderWhen = Literal["never", "auto", "all"]
"""The pages that a browser renders."""

USER_AGENT: Final = f"webwinnow/{_version.__version__}"
MB: Final = 1 << 20


def _patterns(help: str, option: str) -> Setting:
    return setting(help, option, metavar="REGEX", read=lambda text: (text,))


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSettings(Settings):
    """How to crawl. A site is what is reached from one start page.

    From papers are `pages` (thesis 4.2.4: k pages; 500 are enough, 5.3), the strategy `breadth` and the scope `below`
    (Sites, Definition 1). A host never gets more than one request at a time. Start pages are always fetched, whatever
    the patterns of URLs. `render_set` has settings of rendering as in "load_seconds=40" (`RenderSettings`).
    """

    GROUP: ClassVar[str] = "crawl"
    PANEL = CRAWL

    pages: Annotated[int, setting("Pages of each site, at most.", "--pages", least=1)] = 500
    strategy: Annotated[
        Strategy, setting("Next page: a random known one, or the nearest to the start page.", "--strategy")
    ] = "random"
    seed: Annotated[int, setting("Seed of random choices.", "--seed", panel=RUN, least=0)] = 0
    scope: Annotated[
        ScopeKind,
        setting("Pages to crawl: below the start page's folder, of its host, of its domain, or any.", "--scope"),
    ] = "below"
    depth: Annotated[int | None, setting("Links away from the start page, at most.", "--depth", least=0)] = None
    delay: Annotated[
        float, setting("Seconds between requests to a host; robots.txt may ask for more.", "--delay", least=0)
    ] = 1.0
    hosts: Annotated[int, setting("Hosts to fetch from at the same time.", "--hosts", least=1)] = 16
    timeout: Annotated[float, setting("Seconds of silence after which a request fails.", "--timeout", above=0)] = 20.0
    page_seconds: Annotated[float, setting("Seconds to fetch a page, at most.", "--fetch-seconds", above=0)] = 120.0
    retries: Annotated[int, setting("Further attempts at a page that could not be fetched.", "--retries", least=0)] = 2
    backoff: Annotated[
        float, setting("Seconds to leave a host alone after a failure, doubled with each.", "--backoff", least=0)
    ] = 2.0
    max_size: Annotated[
        int, setting("Bytes of a fetched page, at most, as sent and decompressed.", "--max-size", least=1)
    ] = 10 * MB
    max_bytes: Annotated[int | None, setting("Stop after receiving this many bytes.", "--total-bytes", least=1)] = None
    seconds: Annotated[
        float | None, setting("Stop after this many seconds; the run can be continued.", "--time", panel=RUN, above=0)
    ] = None
    robots: Annotated[bool, setting("Obey robots.txt.", "--robots/--no-robots")] = True
    user_agent: Annotated[str, setting("User agent to send.", "--user-agent", expected="a line of ASCII")] = USER_AGENT
    allow_urls: Annotated[
        tuple[str, ...],
        _patterns("Follow only links whose URL this regular expression matches; repeatable.", "--allow-url"),
    ] = ()
    deny_urls: Annotated[
        tuple[str, ...],
        _patterns("Follow no link whose URL this regular expression matches; repeatable.", "--deny-url"),
    ] = ()
    sitemaps: Annotated[
        bool, setting("Also take the pages in the site's sitemaps and feeds.", "--sitemaps/--no-sitemaps")
    ] = False
    guard: AddressGuard = field(default_factory=AddressGuard)
    render: Annotated[
        RenderWhen,
        setting(
            "Render pages in a browser: all, or with =auto those whose HTML shows little. [default: never]",
            "--render",
            metavar="[=auto]",
        ),
    ] = "never"
    browsers: Annotated[int, setting("Browsers that render at the same time.", "--browsers", least=1)] = 1
    render_set: Annotated[
        tuple[str, ...],
        setting(
            "Limit of rendering, as in load_seconds=40; repeatable.",
            "--render-set",
            metavar="NAME=VALUE",
            read=lambda text: (text,),
        ),
    ] = ()
    screenshots: Annotated[
        bool, setting("Store a picture of each rendered page, for inspect.", "--screenshots/--no-screenshots")
    ] = False

    def validate(self) -> None:
        """Raise `SettingsError` for what is no regular expression or user agent."""
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
