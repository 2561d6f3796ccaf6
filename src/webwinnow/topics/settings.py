"""The settings of `sites train` and `sites mine` in groups, as `--set` gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

from webwinnow.settings import Settings
from webwinnow.topics.denoising import DenoisingSettings
from webwinnow.topics.sitereading import ReadingSettings
from webwinnow.topics.topicmethod import TopicSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSettings(Settings):
    """How topics are learned, and how pages are denoised with a thesaurus."""

    topics: TopicSettings = field(default_factory=TopicSettings)
    denoising: DenoisingSettings = field(default_factory=DenoisingSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings(LearningSettings):
    """Also how a site is read."""

    reading: ReadingSettings = field(default_factory=ReadingSettings)
