"""What a run of Algorithm 1 decides, on webs small enough to count by hand."""

from __future__ import annotations

import pytest

from webwinnow.errors import SettingsError
from webwinnow.page.urls import SiteKey
from webwinnow.topics.discovery import MOST_TARGETS, DiscoverySettings, Judgement, SiteGraph, candidates, neighbours_of


def graph_of(**links: list[str]) -> SiteGraph:
    graph = SiteGraph()
    for site, targets in links.items():
        graph.add(f"{site}.test", [f"http://{target}.test/" for target in targets])
    return graph


def test_sites_that_many_sites_on_topic_link_to_are_read_first() -> None:
    graph = graph_of(a=["x", "y", "b"], b=["y"], off=["z", "x", "y"])
    relevance = {"a.test": 0.9, "b.test": 0.6}
    found = candidates(graph, relevance, known={"a.test", "b.test", "off.test"})
    assert [(one.site, round(one.relevance, 6), one.linked_by) for one in found] == [
        ("y.test", 1.5, ("a.test", "b.test", "off.test")),
        ("x.test", 0.9, ("a.test", "off.test")),
    ]  # z.test: only a site off topic links to it
    assert [one.site for one in candidates(graph, relevance, known=())] == ["y.test", "b.test", "x.test"]


def test_a_site_begins_at_the_linked_url_nearest_to_the_top() -> None:
    graph = SiteGraph()
    graph.add(
        "a.test", ["http://x.test/docs/deep/page.html", "http://x.test/docs/", "http://x.test/docs/?utm_source=1"]
    )
    assert graph.start_url("x.test") == "http://x.test/docs/"
    graph.add("b.test", ["https://x.test/"])
    assert graph.start_url("x.test") == "https://x.test/"


def test_links_within_a_site_and_to_nowhere_make_no_neighbours() -> None:
    graph = SiteGraph(SiteKey.parse("domain"))
    graph.add("a.org", ["http://www.a.org/", "mailto:somebody@x.org", "http://b.org/1", "http://www.b.org/2"])
    assert graph.linked("a.org") == ["b.org"]
    assert graph.linking("b.org") == ["a.org"]


def test_a_link_farm_has_a_limit() -> None:
    graph = SiteGraph()
    graph.add("farm.test", [f"http://s{number}.test/" for number in range(MOST_TARGETS + 500)])
    assert len(graph.linked("farm.test")) == len(graph.targets) == MOST_TARGETS


def test_neighbours_are_the_linked_sites_whose_topics_are_known() -> None:
    graph = graph_of(a=["s"], b=["s"], unknown=["s"])
    found = neighbours_of(graph, "s.test", {"a.test": 0, "b.test": 1, "c.test": 2}, ["c.test", "d.test", "s.test"])
    assert (found.linking, found.linked) == ((0, 1), (2,))
    assert found.count == 5  # a, b and one unknown link to it; it links to c and d


def test_a_run_ends_where_nothing_is_left_or_enough_was_read_or_nothing_is_found() -> None:
    settings = DiscoverySettings(sites=10, fruitless=4)
    assert settings.why_stop(read=3, since_found=3, waiting=1) is None
    assert "links to" in str(settings.why_stop(read=3, since_found=0, waiting=0))
    assert "10 sites were read" in str(settings.why_stop(read=10, since_found=0, waiting=5))
    ended = settings.why_stop(read=5, since_found=4, waiting=5, unread=3)
    assert ended == "none of the last 4 sites is on topic: 1 off topic, 3 could not be read"


def test_a_site_is_on_topic_if_it_has_a_wanted_topic_with_certainty() -> None:
    settings = DiscoverySettings(confidence=0.5, taught=0.9, none=0.7)
    wanted = frozenset({"maps"})
    sure, unsure = Judgement("maps", 0.95, 0.3), Judgement("maps", 0.7, 0.3)
    assert sure.on_topic(settings, wanted) and sure.teaches(settings, wanted)
    assert unsure.on_topic(settings, wanted) and not unsure.teaches(settings, wanted)
    strange = Judgement("maps", 0.95, 0.4)  # none of these is too probable to learn from it
    assert strange.on_topic(settings, wanted) and not strange.teaches(settings, wanted)
    assert not Judgement("maps", 0.4, 0.3).on_topic(settings, wanted)
    assert not Judgement(None, 0.0, 0.8).on_topic(settings, wanted)  # none of these topics
    assert not Judgement("mail", 0.95, 0.1).on_topic(settings, wanted)
    seed = Judgement("mail", 1.0, 0.0, seed=True)
    assert seed.teaches(settings, wanted)
    assert not seed.on_topic(settings, wanted)


def test_topics_that_no_seed_has_are_refused() -> None:
    assert DiscoverySettings().wanted(["a", "b"]) == {"a", "b"}
    assert DiscoverySettings(topics=("a",)).wanted(["a", "b"]) == {"a"}
    with pytest.raises(SettingsError, match="no seed has the topic c"):
        DiscoverySettings(topics=("a", "c")).wanted(["a", "b"])
    with pytest.raises(SettingsError, match="confidence"):
        DiscoverySettings(confidence=1.5)
