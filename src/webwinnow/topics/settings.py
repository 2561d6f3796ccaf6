"""The settings of `sites train` and `sites mine`: in groups, as `--set` gives them, and how sites are mined."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from webwinnow.crawl.settings import ScopeKind
from webwinnow.errors import SettingsError
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.settings import Settings
from webwinnow.topics.denoising import DenoisingSettings, TermDenoiser, WordCounter
from webwinnow.topics.discovery import DiscoverySettings
from webwinnow.topics.reading import ReadingSettings
from webwinnow.topics.sitetopics import DEFAULT_METHOD, topic_method
from webwinnow.topics.training import TopicSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSettings(Settings):
    """How topics are learned, and how pages are denoised with a thesaurus."""

    topics: TopicSettings = field(default_factory=TopicSettings)
    denoising: DenoisingSettings = field(default_factory=DenoisingSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings(LearningSettings):
    """Also how a site is read."""

    reading: ReadingSettings = field(default_factory=ReadingSettings)


SITE_PAGES = 50
"""Pages of a site that are read at most, unless its topic is settled before (ours)."""
SCOPES: tuple[ScopeKind, ...] = ("below", "host", "domain")


@dataclass(frozen=True, slots=True, kw_only=True)
class MineSettings:
    """How topics are predicted, which sites are read, and how far.

    `scope` is what belongs to a site: the pages `below` its start page (Definition 1), its `host` or its `domain`.
    `pages` limits the pages of a site, `seconds` the time of this run. With `search`, when no candidate is left, sites
    on topic that were pruned are read further, for links to other sites.
    """

    method: str = DEFAULT_METHOD
    label: str = "label"
    site_by: str = "host"
    scope: ScopeKind = "below"
    mining: DiscoverySettings = field(default_factory=DiscoverySettings)
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    learning: TopicSettings = field(default_factory=TopicSettings)
    pages: int = SITE_PAGES
    seconds: float | None = None
    search: bool = True
    stop_list: StopList = field(default_factory=StopList)
    denoiser: TermDenoiser | None = None

    def __post_init__(self) -> None:
        topic_method(self.method)
        if SiteKey.parse(self.site_by).by not in ("host", "domain"):
            raise SettingsError(f"site_by is {self.site_by}: expected host or domain: sites are found by links")
        if self.scope not in SCOPES:
            raise SettingsError(f"scope is {self.scope}: expected {', '.join(SCOPES)}")
        if self.pages < 1 or (self.seconds is not None and not self.seconds > 0):
            raise SettingsError(f"{self.pages} pages in {self.seconds} seconds: expected more than 0")

    @property
    def counter(self) -> WordCounter:
        """How the words of pages are counted."""
        return WordCounter(self.stop_list, self.denoiser)

    @property
    def lasting(self) -> dict[str, Any]:
        """The settings that must be the same to continue a run: all but its limits."""
        mining = asdict(self.mining)
        kept = {name: mining[name] for name in ("topics", "confidence", "none", "taught")}
        lasting = {
            "scope": self.scope,
            "method": self.method,
            "label": self.label,
            "site_by": self.site_by,
            "reading": asdict(self.reading),
        }
        if self.stop_list.own is not None:
            lasting |= {"stop words": self.stop_list.own}
        if self.denoiser is not None:
            lasting |= {"thesaurus": self.denoiser.to_plain()}
        if self.learning != TopicSettings():
            lasting |= {"learning": asdict(self.learning)}
        found: dict[str, Any] = json.loads(json.dumps(lasting | kept))
        return found
