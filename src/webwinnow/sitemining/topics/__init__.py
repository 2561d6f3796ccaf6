"""The topic of a whole site: six methods in one frame (Sites, sections 2 to 5). See docs/sites.md."""

from __future__ import annotations

from webwinnow.sitemining.topics.method import Told, TopicMethod
from webwinnow.sitemining.topics.model import SiteTopic, SiteTopics
from webwinnow.sitemining.topics.registry import DEFAULT_METHOD, METHODS, topic_method
from webwinnow.sitemining.topics.training import Training

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "SiteTopic",
    "SiteTopics",
    "Told",
    "TopicMethod",
    "Training",
    "topic_method",
]
