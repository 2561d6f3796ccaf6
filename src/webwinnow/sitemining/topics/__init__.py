"""The topic of a whole site: six methods in one frame (Sites, sections 2 to 5). See docs/sites.md."""

from __future__ import annotations

from webwinnow.sitemining.topics.leftout import LeftOutScore
from webwinnow.sitemining.topics.sitetopics import DEFAULT_METHOD, METHODS, SiteTopic, SiteTopics, topic_method
from webwinnow.sitemining.topics.topicmethod import TopicMethod, TopicPrediction, Training

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "LeftOutScore",
    "SiteTopic",
    "SiteTopics",
    "TopicMethod",
    "TopicPrediction",
    "Training",
    "topic_method",
]
