"""The decisions of Algorithm 1 (Sites 4.3): which sites are read next, which are on topic, when the run ends.

Nothing is fetched or stored here. A site is *on topic* if it has one of the wanted topics of the seeds (Sites 1:
"sites that have the same topics with a given seed site set").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

from webwinnow.counted import counted
from webwinnow.errors import SettingsError
from webwinnow.page.urls import SiteKey, canonical
from webwinnow.settings import IN_AND_OUT, METHOD, RUN, Settings, setting, share
from webwinnow.topics.fusion import Neighbours
from webwinnow.topics.sitetopics import LEAST_NONE

MOST_TARGETS = 5000
"""Sites that one site may link to, in the order of their URLs; more are ignored. Ours: limits what a link farm can put
into memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoverySettings(Settings):
    """How a run decides.

    - `topics`: the wanted topics of the seeds; none for all of them.
    - `confidence`: the least P(topic | site) of a site on topic.
    - `none`: the least probability of none of the topics for that answer, as in `sites classify`; such a site is off
      topic.
    - `taught`: the least P(topic | site) of a found site that the next round learns from; its probability of none of
      the topics is at most 1 - `none` (ours: in the paper all are learned from; a wrongly classified site would teach
      what is wrong).
    - `sites`: the most sites to read, without seeds; `fruitless`: sites in a row without one on topic after which the
      run ends; `batch`: sites per round.
    """

    GROUP: ClassVar[str] = "mining"
    PANEL = RUN

    topics: Annotated[
        tuple[str, ...],
        setting(
            "Topic to look for; repeatable. [default: all]", "--topic", panel=IN_AND_OUT, read=lambda text: (text,)
        ),
    ] = ()
    confidence: Annotated[float, share("Least probability of a site's topic.", "--confidence")] = 0.5
    none: Annotated[
        float, setting("Least probability of none of the topics for that answer.", "--none", panel=METHOD, least=0)
    ] = LEAST_NONE
    taught: Annotated[float, share("Least probability of a found site that later rounds learn from.", "--taught")] = 0.9
    sites: Annotated[int, setting("Sites to read, at most, without the seeds.", "--sites", least=1)] = 500
    fruitless: Annotated[int, setting("Stop after this many sites off topic in a row.", "--fruitless", least=1)] = 100
    batch: Annotated[int, setting("Sites of a round.", least=1)] = 16

    def wanted(self, names: Sequence[str]) -> frozenset[str]:
        """The wanted topics, all of which must be among `names`."""
        missing = [topic for topic in self.topics if topic not in names]
        if missing:
            raise SettingsError(f"no seed has the topic {', '.join(missing)}; the topics are {', '.join(names)}")
        return frozenset(self.topics or names)

    def why_stop(self, *, read: int, since_found: int, waiting: int, unread: int = 0) -> str | None:
        """The termination condition of Algorithm 1 (Gamma): why the run ends, or None if it continues.

        `read` are the sites read, `since_found` those since the last one on topic, `unread` of these could not be read,
        `waiting` are the candidates left.
        """
        if not waiting:
            return "no site on topic links to one that is not known"
        if read >= self.sites:
            return f"{counted(read, 'site was', 'sites were')} read, as many as wanted"
        if since_found >= self.fruitless:
            return (
                f"none of the last {since_found:,} sites is on topic: {since_found - unread:,} off topic, "
                f"{unread:,} could not be read"
            )
        return None


class Judgement(NamedTuple):
    """The classification of a site: its topic (None: none of these), P(topic | site), P(none of these), and whether it
    is a seed.
    """

    topic: str | None
    probability: float
    none: float
    seed: bool = False

    def on_topic(self, settings: DiscoverySettings, wanted: Collection[str]) -> bool:
        """Whether the site has a wanted topic."""
        return self.topic in wanted and (self.seed or self.probability >= settings.confidence)

    def teaches(self, settings: DiscoverySettings, wanted: Collection[str]) -> bool:
        """Whether the next round learns from it: seeds, and found sites of high probability of which it is as certain
        that they have one of the topics as it must be that a site has none.
        """
        is_sure = self.probability >= settings.taught and self.none <= 1.0 - settings.none
        return self.seed or (is_sure and self.on_topic(settings, wanted))


class SiteGraph:
    """The hyperlink graph G of sites (Algorithm 1, step 2), and the URLs at which sites are linked."""

    def __init__(self, site_by: SiteKey | None = None) -> None:
        self.site_by = site_by or SiteKey()
        self._out: dict[str, set[str]] = {}
        self._in: dict[str, set[str]] = defaultdict(set)
        self._url: dict[str, str] = {}

    def add(self, site: str, links: Iterable[str]) -> None:
        """Add a site that was read, and the web URLs that its pages link to."""
        targets = self._out.setdefault(site, set())
        for url in sorted(set(map(canonical, links))):
            target = self.site_of(url)
            if not target or target == site or (len(targets) >= MOST_TARGETS and target not in targets):
                continue
            targets.add(target)
            self._in[target].add(site)
            self._url[target] = min(url, self._url.get(target, url), key=_distance_from_top)

    def site_of(self, url: str) -> str:
        return self.site_by.of(url)

    def linking(self, site: str) -> list[str]:
        """The sites read that link to a site."""
        return sorted(self._in.get(site, ()))

    def linked(self, site: str) -> list[str]:
        """The sites that a read site links to."""
        return sorted(self._out.get(site, ()))

    def start_url(self, site: str) -> str:
        """Where to start reading a linked site: of the linked URLs the one nearest to the top, then the shortest."""
        return self._url[site]

    @property
    def targets(self) -> list[str]:
        """All sites that are linked to."""
        return sorted(self._in)


class Candidate(NamedTuple):
    """A site to read: its start URL, its relevance, and the sites that link to it."""

    site: str
    start: str
    relevance: float
    linked_by: tuple[str, ...]


def candidates(graph: SiteGraph, relevance: Mapping[str, float], known: Collection[str]) -> list[Candidate]:
    """The sites to read next, best first: those that sites on topic link to (step 2, hyperlink-based focused crawling).

    `relevance` is P(topic) of the sites on topic. The relevance of a candidate is its sum over the sites that link to
    it; links from sites off topic do not count.
    """
    found = []
    for site in graph.targets:
        linking = graph.linking(site)
        total = sum(relevance.get(one, 0.0) for one in linking)
        if total > 0 and site not in known:
            found.append(Candidate(site, graph.start_url(site), total, tuple(linking)))
    found.sort(key=lambda one: (-round(one.relevance, 6), one.site))
    return found


def neighbours_of(graph: SiteGraph, site: str, topics: Mapping[str, int], linked: Iterable[str]) -> Neighbours:
    """N_i (Definition 2): the linked sites whose topics are known, for (10) and (11).

    `linked` are the sites that it links to; `topics` is the number of the topic of each site on topic.
    """
    linking, targets = graph.linking(site), sorted(set(linked) - {site})
    return Neighbours(
        tuple(topics[one] for one in linking if one in topics),
        tuple(topics[one] for one in targets if one in topics),
        len(linking) + len(targets),
    )


def _distance_from_top(url: str) -> tuple[int, int, str]:
    return (url.partition("?")[0].count("/"), len(url), url)
