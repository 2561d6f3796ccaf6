"""`Frontier`: which page is read next. Knows limits, manners and strategies; speaks to no network.

`next` hands out a `Visit`; each must come back by `settle` or `again` (a page) or `rule` (a robots.txt), then `leave`.
A host that has a visit out gets no other, and none before its delay has passed.
"""

from __future__ import annotations

import heapq
import random
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from webwinnow.crawl.robots import MOST_REDIRECTS, Rules
from webwinnow.crawl.scope import Scope, host_of, origin_of, page_address
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore, Fate, KnownPage, KnownSite, Link

__all__ = ["Frontier", "Visit"]

GIVE_UP_AFTER: Final = 10
"""Failures of a host, one after the other, after which it is taken for dead. Ours."""
REQUESTS_PER_PAGE: Final = 10
"""Requests that a site may cost for each page wanted: one that has no pages, but addresses without end, ends. Ours."""
LEAST_REQUESTS: Final = 100
MOST_WAITING: Final = 200_000
"""Addresses of one site that may wait: a trap does not fill the disk. Ours: 400 for each of 500 pages."""
LONGEST_BACKOFF: Final = 120.0
"""Seconds that a host is left alone at most, whatever it or our doubling asks for. Ours."""
PAGE_REDIRECTS: Final = 10
"""Redirects in a row that are followed. Ours; browsers stop at 20."""


class Visit(NamedTuple):
    """A request to make, not before `ready_at`. `page` is None for the robots.txt of `origin`."""

    url: str
    host: str
    ready_at: float
    page: KnownPage | None
    origin: str


class _Queue(Protocol):
    """Ids of pages that wait, of one site on one host."""

    def __len__(self) -> int: ...

    def put(self, number: int, depth: int) -> None: ...

    def first(self) -> tuple[int, int]: ...

    def take(self, draw: random.Random) -> int: ...


class _Urn:
    """Draws at random; in order of ids, so that what is drawn depends on what is in it and on nothing else."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def __len__(self) -> int:
        return len(self.numbers)

    def put(self, number: int, depth: int) -> None:  # noqa: ARG002
        insort(self.numbers, number)

    def first(self) -> tuple[int, int]:
        return (0, self.numbers[0])

    def take(self, draw: random.Random) -> int:
        return self.numbers.pop(draw.randrange(len(self.numbers)))


class _Levels:
    """Gives the page nearest to the start, of those the one found first."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.heap)

    def put(self, number: int, depth: int) -> None:
        heapq.heappush(self.heap, (depth, number))

    def first(self) -> tuple[int, int]:
        return self.heap[0]

    def take(self, draw: random.Random) -> int:  # noqa: ARG002
        return heapq.heappop(self.heap)[1]


@dataclass(slots=True)
class _Host:
    busy: bool = False
    ready_at: float = 0.0
    failures: int = 0
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
    """The pages of a crawl that wait, and the hosts that they are on."""

    def __init__(self, settings: CrawlSettings, store: CrawlStore, clock: Callable[[], float]) -> None:
        self.settings = settings
        self.store = store
        self.clock = clock
        self.stopped: str | None = None
        self.links_over = 0
        """Links that were in scope and got no place: too deep, or more than may wait."""
        self._hosts: dict[str, _Host] = {}
        self._rules: dict[str, Rules] = {}
        self._robots_files: dict[str, _RobotsFile] = {}
        self._sites = {known.id: self._site(known) for known in store.sites()}
        self._turns = deque(self._sites)
        self._queue: Callable[[], _Queue] = _Urn if settings.strategy == "random" else _Levels
        self._out = 0
        for page in store.waiting():
            self._put(page.id, page.url, page.site, page.depth)

    def _site(self, known: KnownSite) -> _Site:
        scope = Scope.of(self.settings.scope, known.base)
        return _Site(known.id, scope, known.closed, known.stored, known.settled, known.attempts)

    # What comes in

    def add_site(self, start: str) -> bool:
        """One more site, by the canonical address of its start page; False if that is known."""
        number = self.store.add_site(start)
        if number is None:
            return False
        self._sites[number] = self._site(KnownSite(number, start, start, None, 0, 0, 0))
        self._turns.append(number)
        self._add(self._sites[number], Link(start, 0, None))
        return True

    def add_links(self, page: KnownPage, urls: Iterable[str]) -> None:
        """The links to follow of a page that was read; those out of scope are passed over."""
        site = self._sites[page.site]
        depth = page.depth + 1
        waiting = site.waiting
        for url in urls:
            address = page_address(url)
            if address is None or not site.scope.holds(address):
                continue
            if (self.settings.depth is not None and depth > self.settings.depth) or waiting >= MOST_WAITING:
                self.links_over += 1
            elif self._add(site, Link(address, depth, page.id)):
                waiting += 1

    def redirect(self, page: KnownPage, target: str) -> str | None:
        """Follow a redirect; None, or why not. Where the start page was redirected, the site is what is below there."""
        site = self._sites[page.site]
        address = page_address(target)
        if address is None:
            return "redirects to what is no web address"
        if address == page.url:
            return "redirects to itself"
        if page.redirects >= PAGE_REDIRECTS:
            return f"redirects more than {PAGE_REDIRECTS} times"
        if page.depth == 0 and site.stored == 0:
            site.scope = Scope.of(self.settings.scope, address)
            self.store.move_site(site.number, address)
        elif not site.scope.holds(address):
            return "redirects out of scope"
        self._add(site, Link(address, page.depth, page.referrer, page.redirects + 1))
        return None

    def close_site(self, number: int, reason: str) -> None:
        """Read no more pages of a site."""
        self._sites[number].closed = reason
        self.store.close_site(number, reason)

    def stop(self, reason: str) -> None:
        """Read no more at all."""
        self.stopped = self.stopped or reason

    # What goes out

    @property
    def waiting(self) -> int:
        """Pages that wait and may be read."""
        return sum(site.waiting for site in self._sites.values() if self._why_closed(site) is None)

    @property
    def stored(self) -> int:
        """Pages stored, of all sites."""
        return sum(site.stored for site in self._sites.values())

    @property
    def wanted(self) -> int:
        """Pages that will be stored at most, of all sites."""
        return self.settings.pages * len(self._sites)

    @property
    def why_ended(self) -> str:
        """Why there is nothing left to do."""
        if self.stopped:
            return self.stopped
        reasons = {self._why_closed(site) for site in self._sites.values() if site.waiting} - {None}
        return ", ".join(sorted(map(str, reasons))) or "every page in scope was read"

    def has_work(self) -> bool:
        """Whether there is a visit to make, now or when one that is out comes back."""
        if self._out:
            return True
        return self.stopped is None and any(
            site.waiting and self._why_closed(site) is None for site in self._sites.values()
        )

    def next(self) -> Visit | None:
        """The next visit; None where all that could be made must wait for one that is out, or none is left."""
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
            visit = self._visit(site, page)
            if visit is not None:
                return visit
        return None

    def _free_host(self, site: _Site, draw: random.Random) -> str | None:
        """The host of the next page, of those that nobody speaks to: by chance or by level, as pages are drawn."""
        free = [host for host in site.queues if not self._host(host).busy]
        if len(free) < 2:
            return free[0] if free else None
        if self.settings.strategy == "random":
            return draw.choices(free, [len(site.queues[host]) for host in free])[0]
        return min(free, key=lambda host: site.queues[host].first())

    def _visit(self, site: _Site, page: KnownPage) -> Visit | None:
        """The visit to a page, or first to its robots.txt; None where the page is settled without one."""
        host, origin = host_of(page.url), origin_of(page.url)
        known = self._host(host)
        if known.dead is not None:
            self._refuse(site, page, Fate.FAILED, known.dead)
            return None
        if self.settings.robots:
            rules = self._rules.get(origin)
            if rules is None:
                self._put(page.id, page.url, page.site, page.depth)
                file = self._robots_files.setdefault(origin, _RobotsFile(f"{origin}/robots.txt"))
                there = self._host(host_of(file.url))
                return None if there.busy else Visit(file.url, host_of(file.url), there.ready_at, None, origin)
            forbidden = rules.why_not(page.url, self.settings.user_agent)
            if forbidden is not None:
                self._refuse(site, page, Fate.FAILED if rules.failed else Fate.REFUSED, forbidden)
                return None
        site.out += 1
        return Visit(page.url, host, known.ready_at, page, origin)

    def _refuse(self, site: _Site, page: KnownPage, fate: Fate, reason: str) -> None:
        self.store.settle(page.id, fate, reason)
        site.settled += 1

    # What comes back

    def settle(
        self,
        visit: Visit,
        fate: Fate,
        reason: str | None = None,
        *,
        size: int = 0,
        fetched_at: str | None = None,
        warc_end: int | None = None,
    ) -> None:
        """What became of a page that was visited."""
        assert visit.page is not None
        site = self._sites[visit.page.site]
        site.out -= 1
        site.settled += 1
        site.stored += fate is Fate.STORED
        self.store.settle(visit.page.id, fate, reason, size=size, fetched_at=fetched_at, warc_end=warc_end)

    def again(self, visit: Visit) -> bool:
        """Try a page that did not come once more, later; False if it was tried often enough."""
        assert visit.page is not None
        if visit.page.attempts >= self.settings.retries:
            return False
        site = self._sites[visit.page.site]
        site.out -= 1
        site.attempts += 1
        self.store.count_attempt(visit.page.id)
        self._put(visit.page.id, visit.page.url, visit.page.site, visit.page.depth)
        return True

    def rule(self, visit: Visit, rules: Rules) -> None:
        """What a robots.txt says."""
        self._rules[visit.origin] = rules

    def redirect_rules(self, visit: Visit, target: str) -> bool:
        """Look for the robots.txt elsewhere; False if it was redirected often enough."""
        file = self._robots_files[visit.origin]
        address = page_address(target)
        if address is None or file.redirects >= MOST_REDIRECTS:
            return False
        file.url, file.redirects = address, file.redirects + 1
        return True

    def rules_again(self, visit: Visit) -> bool:
        """Ask for a robots.txt once more, later; False if it was tried often enough."""
        file = self._robots_files[visit.origin]
        file.attempts += 1
        return file.attempts <= self.settings.retries

    def leave(self, visit: Visit, *, failed: bool = False, wait: float = 0.0) -> None:
        """The visit is over. `failed`: the host did not answer as it should, and is left alone for a while."""
        host = self._host(visit.host)
        host.busy = False
        self._out -= 1
        pause = self.settings.delay
        rules = self._rules.get(visit.origin)
        if rules is not None:
            pause = max(pause, rules.delay(self.settings.user_agent))
        if failed:
            host.failures += 1
            pause = max(pause, min(self.settings.backoff * 2.0 ** (host.failures - 1), LONGEST_BACKOFF))
            if host.failures >= GIVE_UP_AFTER:
                host.dead = f"the host failed {GIVE_UP_AFTER} times in a row"
        else:
            host.failures = 0
        host.ready_at = self.clock() + max(pause, min(wait, LONGEST_BACKOFF))

    def _host(self, name: str) -> _Host:
        return self._hosts.setdefault(name, _Host())

    def _add(self, site: _Site, link: Link) -> bool:
        number = self.store.add_page(site.number, link)
        if number is not None:
            self._put(number, link.url, site.number, link.depth)
        return number is not None

    def _put(self, number: int, url: str, site: int, depth: int) -> None:
        queues = self._sites[site].queues
        host = host_of(url)
        if host not in queues:
            queues[host] = self._queue()
        queues[host].put(number, depth)
