"""The methods of classifying sites by name."""

from __future__ import annotations

from webwinnow.errors import SettingsError
from webwinnow.sitemining.topics.markovtree import MarkovTree
from webwinnow.sitemining.topics.method import TopicMethod
from webwinnow.sitemining.topics.multiscale import Multiscale
from webwinnow.sitemining.topics.pagetree import PageTreeHmt
from webwinnow.sitemining.topics.superpage import Superpage
from webwinnow.sitemining.topics.topicvector import TopicVector
from webwinnow.sitemining.topics.twophase import TwoPhase

__all__ = ["DEFAULT_METHOD", "METHODS", "topic_method"]

METHODS: dict[str, type[TopicMethod]] = {
    method.name: method for method in (Superpage, TopicVector, MarkovTree, PageTreeHmt, TwoPhase, Multiscale)
}
DEFAULT_METHOD = Multiscale.name


def topic_method(name: str) -> type[TopicMethod]:
    """A method by name; `SettingsError` where there is none."""
    if name not in METHODS:
        raise SettingsError(f"there is no method {name!r} of classifying sites; there are: {', '.join(METHODS)}")
    return METHODS[name]
