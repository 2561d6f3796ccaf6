"""What a run of Algorithm 1 (Sites 4.3) decides: which sites are read next, by whom a site is judged, when to stop.

Nothing is fetched or stored here. A site is *on topic* where it has one of the topics of the seeds that are wanted
(Sites 1: "sites that have the same topics with a given seed site set"); others are met on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from webwinnow.errors import SettingsError
from webwinnow.records import PageRecord
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.urls import SiteKey, canonical

__all__ = [
    "Candidate",
    "DiscoveryProgress",
    "DiscoverySettings",
    "Judgement",
    "SiteGraph",
    "candidates",
    "neighbours_of",
    "why_stop",
]

MOST_TARGETS = 5000
"""Sites that one site may link to, by the order of their addresses; others are passed over. Ours: a link farm does not
fill the memory.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverySettings:
    """How a run decides.

    - `topics`: those that are wanted, of the seeds'; none for all of them.
    - `confidence`: P(topic | site) from which on a site is on topic.
    - `distinctness`: how much nearer to its topic than to the others a site must be (`ReadingModel.distinctness`); 2/3
      is twice as near (ours, as the paper has no word on sites of other topics; see docs/mine.md).
    - `taught`: P(topic | site) from which on a site that was found teaches the next round (ours: in the paper all do;
      a site told wrong would teach what is wrong).
    - `sites`: sites to read at most, seeds not counted; `fruitless`: sites in a row without one on topic after which
      the run ends; `batch`: sites of a round.
    """

    topics: tuple[str, ...] = ()
    confidence: float = 0.5
    distinctness: float = 2 / 3
    taught: float = 0.9
    sites: int = 500
    fruitless: int = 100
    batch: int = 16

    def __post_init__(self) -> None:
        for name in ("confidence", "distinctness", "taught"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected from 0 to 1")
        for name in ("sites", "fruitless", "batch"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected 1 or more")

    def wanted(self, names: Sequence[str]) -> frozenset[str]:
        """The topics that are wanted, of those that there are."""
        missing = [topic for topic in self.topics if topic not in names]
        if missing:
            raise SettingsError(f"no seed has the topic {', '.join(missing)}; the topics are {', '.join(names)}")
        return frozenset(self.topics or names)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is held of a site: its topic, P(topic | site), its distinctness; `seed` where it was given."""

    topic: str
    probability: float
    distinctness: float
    seed: bool = False

    def on_topic(self, settings: DiscoverySettings, wanted: Collection[str]) -> bool:
        """Whether the site is one of those that are looked for."""
        if self.topic not in wanted:
            return False
        return self.seed or (self.probability >= settings.confidence and self.distinctness >= settings.distinctness)

    def teaches(self, settings: DiscoverySettings, wanted: Collection[str]) -> bool:
        """Whether the next round learns from it: every seed, and what was found and is sure."""
        return self.seed or (self.on_topic(settings, wanted) and self.probability >= settings.taught)


class SiteGraph:
    """The hyperlink graph G of sites (Algorithm 1, step 2): who links to whom, and at which addresses."""

    def __init__(self, site_by: SiteKey | None = None) -> None:
        self.site_by = site_by or SiteKey()
        self._out: dict[str, set[str]] = {}
        self._in: dict[str, set[str]] = defaultdict(set)
        self._address: dict[str, str] = {}

    def add(self, site: str, links: Iterable[str]) -> None:
        """A site that was read, and the web addresses that its pages link to."""
        targets = self._out.setdefault(site, set())
        for address in sorted(set(map(canonical, links))):
            target = self.site_of(address)
            if not target or target == site or (len(targets) >= MOST_TARGETS and target not in targets):
                continue
            targets.add(target)
            self._in[target].add(site)
            known = self._address.get(target)
            if known is None or _nearness(address) < _nearness(known):
                self._address[target] = address

    def site_of(self, url: str) -> str:
        """The site that an address belongs to."""
        return self.site_by.of(PageRecord(url=url, body=b""))

    def linking(self, site: str) -> list[str]:
        """The sites read that link to a site."""
        return sorted(self._in.get(site, ()))

    def linked(self, site: str) -> list[str]:
        """The sites that a site read links to."""
        return sorted(self._out.get(site, ()))

    def address(self, site: str) -> str:
        """Where a site begins that others link to: of the linked addresses the nearest to the top, the shortest."""
        return self._address[site]

    @property
    def targets(self) -> list[str]:
        """All sites that are linked to."""
        return sorted(self._in)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A site to read: where it begins, how much speaks for it, and who links to it."""

    site: str
    start: str
    relevance: float
    linked_by: tuple[str, ...]


def candidates(graph: SiteGraph, relevance: Mapping[str, float], known: Collection[str]) -> list[Candidate]:
    """The sites to read next, best first: those that sites on topic link to (step 2, hyperlink-based focused crawling).

    `relevance` is P(topic) of the sites on topic. What counts is its sum over those that link to a site, so that one
    that many of them link to comes first; links from sites off topic count for nothing.
    """
    found = []
    for site in graph.targets:
        linking = graph.linking(site)
        total = sum(relevance.get(one, 0.0) for one in linking)
        if total > 0 and site not in known:
            found.append(Candidate(site, graph.address(site), total, tuple(linking)))
    found.sort(key=lambda one: (-round(one.relevance, 6), one.site))
    return found


def neighbours_of(graph: SiteGraph, site: str, topics: Mapping[str, int], linked: Iterable[str]) -> Neighbours:
    """N_i (Definition 2): of the sites that a site is linked with, those whose topics are known, for (10) and (11).

    `linked` are the sites that it links to; `topics` has the number of the topic of each site that is on topic.
    """
    linking, targets = graph.linking(site), sorted(set(linked) - {site})
    return Neighbours(
        tuple(topics[one] for one in linking if one in topics),
        tuple(topics[one] for one in targets if one in topics),
        len(linking) + len(targets),
    )


@dataclass(frozen=True, slots=True)
class DiscoveryProgress:
    """How far a run is: sites read, sites read since the last one on topic, candidates that wait."""

    read: int
    since_found: int
    waiting: int


def why_stop(progress: DiscoveryProgress, settings: DiscoverySettings) -> str | None:
    """The termination condition of Algorithm 1 (Gamma): why the run ends, or None where it goes on."""
    if not progress.waiting:
        return "no site on topic links to one that is not known"
    if progress.read >= settings.sites:
        return f"{progress.read:,} sites were read, as many as wanted"
    if progress.since_found >= settings.fruitless:
        return f"the last {progress.since_found:,} sites read were off topic"
    return None


def _nearness(address: str) -> tuple[int, int, str]:
    path = address.partition("?")[0]
    return (path.count("/"), len(address), address)
