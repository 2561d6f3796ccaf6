"""`Frontier`: which page is fetched next. It knows limits, robots.txt and strategies, but not the network.

`next` returns a `Visit`. Each must be answered by `settle` or `retry` (a page) or `set_rules` (a robots.txt), and then
by `leave`. A host has at most one visit under way, and none before its delay has passed.
"""

from __future__ import annotations

import random
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from protego import Protego

from webwinnow.crawl.scope import Scope, host_of, origin_of, page_url
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore, Fate, KnownPage, KnownSite, Link

GIVE_UP_AFTER: Final = 15
"""Consecutive requests without a response after which a host counts as dead. Ours."""
REQUESTS_PER_PAGE: Final = 10
"""Requests allowed per wanted page, so that a site with endless URLs but no pages ends. Ours."""
LEAST_REQUESTS: Final = 100
MOST_WAITING: Final = 200_000
"""Waiting URLs of one site, so that a trap does not fill the disk. Ours: 400 for each of 500 pages."""
MOST_REMEMBERED: Final = 20_000
"""Links of a site that are remembered as written; the store knows all of them by their canonical URL."""
RULES_LAST: Final = 86_400.0
"""Seconds after which a robots.txt is fetched again (RFC 9309, 2.4)."""
LONGEST_BACKOFF: Final = 120.0
"""Maximum seconds that a host is left alone, whatever it or our doubling asks for. Ours."""
PAGE_REDIRECTS: Final = 10
"""Consecutive redirects that are followed. Ours; browsers stop at 20."""


ROBOTS_BYTES: Final = 500 * 1024
"""Bytes of a robots.txt that are read (RFC 9309, 2.5)."""
MOST_RULES: Final = 2_000_000
"""Lines of a robots.txt times those that name a crawler: each rule is kept once for each crawler that it is for. Ours:
the lists of crawlers that sites block have a few hundred names, and two million rules are some 200 MB."""
MOST_REDIRECTS: Final = 5
"""Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2)."""
LONGEST_DELAY: Final = 60.0
"""Maximum Crawl-delay in seconds. Ours: with a longer one a site would never be finished."""
FORBIDDEN: Final = "robots.txt forbids it"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which URLs of an origin may be fetched, and how fast.

    `closed` is the reason if none may: RFC 9309 requires that if the server cannot deliver its robots.txt.
    """

    parsed: Protego | None = None
    closed: str | None = None
    failed: bool = False

    @classmethod
    def of(cls, status: int, body: bytes) -> Rules:
        """Return the rules of a response: a missing file allows everything, a failing server nothing."""
        if 200 <= status < 300:
            text = body[:ROBOTS_BYTES].decode("utf-8", "replace")
            if _may_have_rules(text) > MOST_RULES:
                return cls(closed=f"robots.txt could not be read (it may have more than {MOST_RULES:,} rules)")
            return cls(Protego.parse(text))
        if status >= 500 or status == 429:
            return cls(closed=f"robots.txt could not be read (status {status})", failed=True)
        return cls()

    def why_not(self, url: str, user_agent: str) -> str | None:
        if self.closed is not None:
            return self.closed
        if self.parsed is None or self.parsed.can_fetch(url, user_agent):
            return None
        return FORBIDDEN

    def delay(self, user_agent: str) -> float:
        """Return the seconds that the origin wants between requests."""
        seconds = None if self.parsed is None else self.parsed.crawl_delay(user_agent)
        return min(float(seconds or 0.0), LONGEST_DELAY)


def _may_have_rules(text: str) -> int:
    """Return how many rules a robots.txt may have at most, if every rule is for every crawler that it names."""
    lines = text.lower().splitlines()
    return len(lines) * sum(line.lstrip().startswith("user") for line in lines)


class Visit(NamedTuple):
    """A request to make, not before `ready_at`. `page` is None for the robots.txt of `origin`."""

    url: str
    host: str
    ready_at: float
    page: KnownPage | None
    origin: str


class _Queue:
    """The waiting pages of one site on one host, sorted so that a random draw depends on the contents alone."""

    def __init__(self, *, is_random: bool) -> None:
        self.is_random = is_random
        self.pages: list[tuple[int, int]] = []  # depth (0 if random), id

    def __len__(self) -> int:
        return len(self.pages)

    def put(self, number: int, depth: int) -> None:
        insort(self.pages, (0 if self.is_random else depth, number))

    def take(self, draw: random.Random) -> int:
        """Remove and return a random page, or the one nearest to the start page, of those the one found first."""
        return self.pages.pop(draw.randrange(len(self.pages)) if self.is_random else 0)[1]


@dataclass(slots=True)
class _Host:
    busy: bool = False
    ready_at: float = 0.0
    failures: int = 0
    silent: int = 0
    dead: str | None = None


@dataclass(slots=True)
class _Site:
    number: int
    scope: Scope
    closed: str | None
    stored: int
    settled: int
    attempts: int
    out: int = 0
    queues: dict[str, _Queue] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    """Links seen lately that need not be examined again, such as the menu of every page."""

    @property
    def requests(self) -> int:
        return self.settled + self.attempts + self.out

    @property
    def waiting(self) -> int:
        return sum(map(len, self.queues.values()))


@dataclass(slots=True)
class _RobotsFile:
    url: str
    redirects: int = 0
    attempts: int = 0


class Frontier:
    """The waiting pages of a crawl, and the hosts that they are on."""

    def __init__(self, settings: CrawlSettings, store: CrawlStore, clock: Callable[[], float]) -> None:
        self.settings = settings
        self.store = store
        self.clock = clock
        self.stopped: str | None = None
        self.links_over = 0
        """Links in scope that were not added: too deep, or too many waiting."""
        self._is_random = settings.strategy == "random"
        self._hosts: dict[str, _Host] = {}
        self._rules: dict[str, tuple[Rules, float]] = {}
        self._robots_files: dict[str, _RobotsFile] = {}
        self._sites = {known.id: self._site(known) for known in store.sites()}
        self._turns = deque(self._sites)
        self._out = 0
        for page in store.waiting():
            self._put(page)

    def _site(self, known: KnownSite) -> _Site:
        scope = Scope.of(self.settings.scope, known.base)
        return _Site(known.id, scope, known.closed, known.stored, known.settled, known.attempts)

    # Adding sites and pages

    def add_site(self, start: str) -> bool:
        """Add a site by the canonical URL of its start page; False if it is known."""
        number = self.store.add_site(start)
        if number is None:
            return False
        self._sites[number] = self._site(KnownSite(number, start, start, None, 0, 0, 0))
        self._turns.append(number)
        self._add(self._sites[number], Link(start, 0, None))
        return True

    def add_links(self, page: KnownPage, urls: Iterable[str], *, routes: bool = False) -> None:
        """Add the links of a stored page that are in scope; with `routes` those of a client-rendered site, too."""
        site = self._sites[page.site]
        depth = page.depth + 1
        waiting = site.waiting
        if len(site.links) > MOST_REMEMBERED:
            site.links.clear()
        for written in urls:
            if written in site.links:
                continue
            url = page_url(written, routes=routes)
            if url is not None and site.scope.contains(url):
                if (self.settings.depth is not None and depth > self.settings.depth) or waiting >= MOST_WAITING:
                    self.links_over += 1
                    continue
                waiting += self._add(site, Link(url, depth, page.id))
            site.links.add(written)

    def redirect(self, page: KnownPage, target: str) -> str | None:
        """Follow a redirect and return None, or return why not. A redirected start page moves the scope of its site."""
        site = self._sites[page.site]
        url = page_url(target, routes=self.settings.render != "never")
        if url is None:
            return "redirects to what is no web address"
        if url == page.url:
            return "redirects to itself"
        if page.redirects >= PAGE_REDIRECTS:
            return f"redirects more than {PAGE_REDIRECTS} times"
        if page.depth == 0 and site.stored == 0:
            site.scope = Scope.of(self.settings.scope, url)
            site.links.clear()
            self.store.move_site(site.number, url)
        elif not site.scope.contains(url):
            return "redirects out of scope"
        self._add(site, Link(url, page.depth, page.referrer, page.redirects + 1))
        return None

    def close_site(self, number: int, reason: str) -> None:
        self._sites[number].closed = reason
        self.store.close_site(number, reason)

    def stop(self, reason: str) -> None:
        self.stopped = self.stopped or reason

    def _add(self, site: _Site, link: Link) -> bool:
        number = self.store.add_page(site.number, link)
        if number is not None:
            self._put(KnownPage(number, link.url, site.number, link.depth, link.referrer, link.redirects, 0))
        return number is not None

    def _put(self, page: KnownPage) -> None:
        queues = self._sites[page.site].queues
        host = host_of(page.url)
        if host not in queues:
            queues[host] = _Queue(is_random=self._is_random)
        queues[host].put(page.id, page.depth)

    # Choosing visits

    @property
    def stored(self) -> int:
        return sum(site.stored for site in self._sites.values())

    @property
    def wanted(self) -> int:
        """Maximum number of pages to store, of all sites."""
        return self.settings.pages * len(self._sites)

    @property
    def why_ended(self) -> str:
        if self.stopped:
            return self.stopped
        reasons = {self._why_closed(site) for site in self._sites.values() if site.waiting} - {None}
        return ", ".join(sorted(map(str, reasons))) or "every page in scope was read"

    def has_work(self) -> bool:
        """Whether there is a visit to make, now or when one under way comes back."""
        if self._out:
            return True
        return self.stopped is None and any(
            site.waiting and self._why_closed(site) is None for site in self._sites.values()
        )

    def next(self) -> Visit | None:
        """Return the next visit; None if every possible one must wait for one under way, or none is left."""
        for _ in range(len(self._turns)):
            if self.stopped is not None:
                return None
            number = self._turns[0]
            self._turns.rotate(-1)
            visit = self._next_of(self._sites[number])
            if visit is not None:
                self._hosts[visit.host].busy = True
                self._out += 1
                return visit
        return None

    def _why_closed(self, site: _Site) -> str | None:
        if site.closed is not None:
            return site.closed
        if site.stored >= self.settings.pages:
            return "the limit of pages is reached"
        if site.requests >= REQUESTS_PER_PAGE * self.settings.pages + LEAST_REQUESTS:
            return "the limit of requests is reached"
        return None

    def _next_of(self, site: _Site) -> Visit | None:
        while self._why_closed(site) is None and site.stored + site.out < self.settings.pages:
            draw = random.Random(f"{self.settings.seed}/{site.number}/{site.requests}")
            host = self._free_host(site, draw)
            if host is None:
                return None
            page = self.store.page(site.queues[host].take(draw))
            if not site.queues[host]:
                del site.queues[host]
            rules = self._rules_for(page)
            if rules is None:
                self._put(page)
                return self._visit_robots(page)
            why_not = self._hosts[host].dead or rules.why_not(page.url, self.settings.user_agent)
            if why_not is None:
                site.out += 1
                return Visit(page.url, host, self._hosts[host].ready_at, page, origin_of(page.url))
            failed = rules.failed or self._hosts[host].dead is not None
            self.store.settle(page.id, Fate.FAILED if failed else Fate.REFUSED, why_not)
            site.settled += 1
        return None

    def _free_host(self, site: _Site, draw: random.Random) -> str | None:
        """Return the host of the next page, of those without a visit: at random or by depth, as pages are chosen."""
        free = [host for host in site.queues if not self._host(host).busy]
        if len(free) < 2:
            return free[0] if free else None
        if self._is_random:
            return draw.choices(free, [len(site.queues[host]) for host in free])[0]
        return min(free, key=lambda host: site.queues[host].pages[0])

    def _rules_for(self, page: KnownPage) -> Rules | None:
        """Return the robots.txt rules of a page's origin; None if they must be fetched, for the first time or again."""
        if not self.settings.robots or self._host(host_of(page.url)).dead is not None:
            return Rules()
        rules, fetched_at = self._rules.get(origin_of(page.url), (None, 0.0))
        return rules if self.clock() - fetched_at < RULES_LAST else None

    def known_rules(self, url: str) -> Rules | None:
        """Return the rules of a URL that is requested for another page; None if its origin has not been visited."""
        if not self.settings.robots:
            return Rules()
        return self._rules.get(origin_of(url), (None, 0.0))[0]

    def _visit_robots(self, page: KnownPage) -> Visit | None:
        """Return the visit to a page's robots.txt; None while the host that it was redirected to is busy."""
        origin = origin_of(page.url)
        file = self._robots_files.setdefault(origin, _RobotsFile(f"{origin}/robots.txt"))
        host = self._host(host_of(file.url))
        return None if host.busy else Visit(file.url, host_of(file.url), host.ready_at, None, origin)

    # Results of visits

    def settle(self, visit: Visit, fate: Fate, reason: str | None = None, **stored: Any) -> None:
        """Record the fate of a page that was visited; `stored` as in `CrawlStore.settle`."""
        assert visit.page is not None
        site = self._sites[visit.page.site]
        site.out -= 1
        site.settled += 1
        site.stored += fate is Fate.STORED
        self.store.settle(visit.page.id, fate, reason, **stored)

    def retry(self, visit: Visit) -> bool:
        """Try a failed page once more, later; False if it was tried often enough."""
        assert visit.page is not None
        if visit.page.attempts >= self.settings.retries:
            return False
        site = self._sites[visit.page.site]
        site.out -= 1
        site.attempts += 1
        self.store.count_attempt(visit.page.id)
        self._put(visit.page)
        return True

    def take_back(self, visit: Visit) -> None:
        """Cancel a visit; its page keeps waiting."""
        self._host(visit.host).busy = False
        self._out -= 1
        if visit.page is not None:
            self._sites[visit.page.site].out -= 1
            self._put(visit.page)

    def set_rules(self, visit: Visit, rules: Rules) -> None:
        self._rules[visit.origin] = (rules, self.clock())
        del self._robots_files[visit.origin]

    def redirect_rules(self, visit: Visit, target: str) -> bool:
        """Follow the redirect of a robots.txt; False if it was redirected often enough."""
        file = self._robots_files[visit.origin]
        url = page_url(target)
        if url is None or file.redirects >= MOST_REDIRECTS:
            return False
        file.url, file.redirects = url, file.redirects + 1
        return True

    def retry_rules(self, visit: Visit) -> bool:
        """Try a robots.txt once more, later; False if it was tried often enough."""
        file = self._robots_files[visit.origin]
        file.attempts += 1
        return file.attempts <= self.settings.retries

    def leave(self, visit: Visit, *, failed: bool = False, silent: bool = False, wait: float = 0.0) -> None:
        """End a visit. After a failure the host is left alone for a while, for `wait` seconds if it asked for that.

        `silent`: it gave no response at all.
        """
        host = self._host(visit.host)
        host.busy = False
        self._out -= 1
        pause = self.settings.delay
        if visit.origin in self._rules:
            pause = max(pause, self._rules[visit.origin][0].delay(self.settings.user_agent))
        host.failures = host.failures + 1 if failed else 0
        host.silent = host.silent + 1 if silent else 0
        if failed:
            pause = max(pause, min(self.settings.backoff * 2.0 ** min(host.failures - 1, 30), LONGEST_BACKOFF))
        if host.silent >= GIVE_UP_AFTER:
            host.dead = f"the host gave no response {GIVE_UP_AFTER} times in a row"
        host.ready_at = self.clock() + max(pause, min(wait, LONGEST_BACKOFF))

    def _host(self, name: str) -> _Host:
        return self._hosts.setdefault(name, _Host())
