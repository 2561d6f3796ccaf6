"""Replicas: invariants for any pages, and the choice of the kept copy."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import webwinnow
from webwinnow.errors import SettingsError
from webwinnow.judge.models import PageModel
from webwinnow.page.page import Page
from webwinnow.replicas.finding import ReplicaFinder, find_replicas
from webwinnow.replicas.sketches import (
    SLOTS,
    PageOrigin,
    ReplicaSettings,
    distinctive_runs,
    near_address,
    seconds,
    sketch,
    sketch_type,
)

VOCABULARY = [f"word{k}" for k in range(4000)]


def story(seed: int, words: int = 200) -> str:
    return " ".join(random.Random(seed).choices(VOCABULARY, k=words))


def edited(text: str, every: int = 40) -> str:
    """The text with one word in `every` replaced."""
    return " ".join(f"new{k}" if k % every == 7 else word for k, word in enumerate(text.split()))


def found_in(pages: list[tuple[str, PageOrigin]], replica_settings: ReplicaSettings | None = None):
    finder = ReplicaFinder(replica_settings)
    for text, origin in pages:
        finder.add(text, origin)
    return finder.find()


def at(url: str, **more: str) -> PageOrigin:
    return PageOrigin(url=url, **more)


# Invariants

stories = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["", "edit", "longer"])), min_size=1, max_size=12)


def pages_of(drawn: list[tuple[int, str]]) -> list[tuple[str, PageOrigin]]:
    pages = []
    for number, (seed, change) in enumerate(drawn):
        text = story(seed)
        text = edited(text) if change == "edit" else f"{text} {story(100 + number, 30)}" if change == "longer" else text
        pages.append((text, at(f"http://s{number % 3}.example/{'x' * (number * 7 % 13 * 3)}{number}")))
    return pages


@given(stories)
@settings(deadline=None, max_examples=40)
def test_alterations_of_one_story_are_one_cluster_and_one_copy_is_kept(drawn):
    found = found_in(pages_of(drawn))
    seeds = [seed for seed, _ in drawn]
    for i in range(len(drawn)):
        for j in range(len(drawn)):
            assert (found.cluster[i] == found.cluster[j]) == (seeds[i] == seeds[j])
    assert found.count == len(drawn) - len(set(seeds))


@given(stories, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_the_order_of_pages_does_not_matter(drawn, chance):
    pages = pages_of(drawn)
    order = chance.sample(range(len(pages)), len(pages))
    found, shuffled = found_in(pages), found_in([pages[k] for k in order])
    for i, k in enumerate(order):
        for j, m in enumerate(order):
            assert (shuffled.cluster[i] == shuffled.cluster[j]) == (found.cluster[k] == found.cluster[m])
        assert order[shuffled.kept[i]] == found.kept[k]
        assert shuffled.relation[i] == found.relation[k]


@given(stories)
@settings(deadline=None, max_examples=40)
def test_a_kept_copy_is_kept_for_its_own_cluster(drawn):
    found = found_in(pages_of(drawn))
    np.testing.assert_array_equal(found.kept[found.kept], found.kept)
    np.testing.assert_array_equal(found.cluster[found.kept], found.cluster)
    np.testing.assert_array_equal(found.relation == 0, found.kept == np.arange(len(found)))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400))
@settings(deadline=None)
def test_a_page_is_a_replica_of_itself(text):
    found = found_in([(text, at("http://a.example/1")), (text, at("http://a.example/22"))])
    if found.fingerprinted[0]:
        assert found.kept.tolist() == [0, 0]
        assert found.similarity.tolist() == [1.0, 1.0]
    else:
        assert found.kept.tolist() == [0, 1]


@pytest.mark.parametrize("method", ["modern", "published"])
def test_no_pages_have_no_replicas(method):
    found = find_replicas(np.zeros(0, sketch_type(method)), ReplicaSettings(method=method))
    assert len(found) == 0
    assert found.count == 0


# Similarity


def test_shared_template_does_not_make_replicas():
    menu = story(1, 80)
    pages = [(f"{menu} {story(10 + k, 120)}", at(f"http://a.example/{k}")) for k in range(30)]
    assert found_in(pages).count == 0


def test_a_short_page_inside_a_much_longer_one_is_no_replica():
    part = story(1, 60)
    assert (
        found_in([(part, at("http://a.example/1")), (f"{part} {story(2, 400)}", at("http://a.example/2"))]).count == 0
    )


def test_two_pages_are_not_joined_by_what_both_contain():
    stub = story(1, 100)
    pages = [
        (stub, at("http://a.example/")),
        (f"{stub} {story(2, 130)}", at("http://a.example/long-one")),
        (f"{stub} {story(3, 130)}", at("http://a.example/long-two")),
    ]
    found = found_in(pages)
    assert found.kept[1] != found.kept[2] or found.kept[1] == 0


def test_under_different_titles_pages_of_one_site_must_be_closer():
    text = story(1)
    other = edited(text, every=12)
    titled = [
        (text, at("http://a.example/1", site="a", title="Camera, black")),
        (other, at("http://a.example/2", site="a", title="Camera, red")),
    ]
    assert found_in(titled).count == 0
    elsewhere = [titled[0], (other, at("http://b.example/2", site="b", title="Camera, red"))]
    assert found_in(elsewhere).count == 1


def test_too_few_words_are_not_compared():
    found = found_in([("Not found", at("http://a.example/1")), ("Not found", at("http://a.example/2"))])
    assert found.count == 0
    assert not found.fingerprinted.any()


def test_published_finds_equal_frequent_words_only():
    text = " ".join(word for k in range(30) for word in [f"w{k}"] * (40 - k))
    published = ReplicaSettings(method="published")
    pages = [(text, at("http://a.example/1")), (f"{text} tail", at("http://a.example/22"))]
    assert found_in(pages, published).kept.tolist() == [0, 0]
    other = text.replace("w0 ", "x0 ")
    assert found_in([pages[0], (other, at("http://a.example/22"))], published).count == 0


def test_many_pages_of_one_band_are_not_compared_with_each_other():
    """50,000 pages share half of their slots: each band of those slots contains all of them."""
    chance = np.random.default_rng(3)
    rows = np.zeros(50_000, sketch_type())
    rows["slots"] = chance.integers(0, 1 << 16, rows["slots"].shape, np.uint16)
    rows["slots"][:, : SLOTS // 2] = 5
    rows["exact"] = np.arange(1, 50_001)
    rows["shingles"] = 300
    assert find_replicas(rows, ReplicaSettings(threshold=0.95)).count == 0


# The kept copy


def test_the_canonical_url_is_preferred_to_the_shortest():
    text = story(1)
    pages = [
        (text, at("http://a.example/1")),
        (text, at("http://a.example/the/real/one", canonical="http://a.example/the/real/one")),
        (edited(text), at("http://b.example/copy", canonical="http://a.example/the/real/one")),
    ]
    assert found_in(pages).kept.tolist() == [1, 1, 1]


def test_the_shortest_url_is_preferred_to_the_earliest_date():
    text = story(1)
    pages = [
        (text, at("http://a.example/news/long", date="2001-01-01")),
        (text, at("http://b.example/n", date="2005-01-01")),
        (text, at("http://c.example/n", date="2003-01-01")),
        (text, at("http://d.example/n", date="2003-01-01")),
    ]
    assert found_in(pages).kept.tolist() == [2, 2, 2, 2]


def test_the_newest_version_is_kept():
    text = story(1)
    pages = [
        (text, at("http://a.example/report?v=1.0", date="2020-01-01")),
        (edited(text), at("http://a.example/report?v=1.1", date="2021-01-01")),
        (text, at("http://other.example/a/copy/of/it", date="2019-01-01")),
    ]
    found = found_in(pages)
    assert found.kept.tolist() == [1, 1, 1]
    assert found.counts() == {"copy": 1, "version": 1, "mirror": 0}
    assert found.relation.tolist() == [2, 0, 1]


def test_the_same_page_fetched_twice_is_a_version():
    text = story(1)
    pages = [
        (text, at("http://a.example/", fetched_at="2020-01-01T00:00:00Z")),
        (text, at("http://a.example/", fetched_at="2021-01-01T00:00:00Z")),
    ]
    assert found_in(pages).counts()["version"] == 1
    assert found_in(pages).kept.tolist() == [1, 1]


def test_a_mirror_of_a_whole_site_is_reported():
    pages = []
    for number in range(8):
        pages += [
            (story(number), at(f"http://a.example/{number}", site="a.example")),
            (story(number), at(f"http://mirror.of.a.example/{number}", site="mirror.of.a.example")),
        ]
    found = found_in(pages)
    (mirror,) = found.mirrors
    assert (mirror.pages, mirror.share, mirror.same_paths) == (8, 1.0, 1.0)
    assert found.counts() == {"copy": 0, "version": 0, "mirror": 8}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://www.a.example/x/2020/01/02/page", "https://a.example/x/2021/11/30/page"),
        ("http://a.example/web/20200101120000/page", "http://a.example/web/20210203040506/page"),
        ("http://a.example/docs/v1.2/intro", "http://a.example/docs/v2.0.1/intro/"),
    ],
)
def test_urls_of_versions_are_near(one, other):
    assert near_address(one) == near_address(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/item?id=12", "http://a.example/item?id=13"),
        ("http://a.example/a", "http://b.example/a"),
        ("http://a.example/route66", "http://a.example/route67"),
    ],
)
def test_other_urls_are_not_near(one, other):
    assert near_address(one) != near_address(other)


def test_time_stamps_in_any_form():
    assert seconds("2020-01-01T00:00:00Z") == seconds("2020-01-01T01:00:00+01:00") == 1577836800
    assert seconds("nonsense") == seconds(None) == 0


# Pages


def test_cleaned_pages_can_be_added_as_they_are():
    def html(number: int, menu: str) -> str:
        return f"<title>Tale</title><nav>{menu}</nav><main><h1>Tale {number}</h1><p>{story(number)}.</p></main>"

    finder = ReplicaFinder()
    for url, number, menu in (
        ("http://a.example/t", 1, "Home"),
        ("http://b.example/tt", 1, "Start"),
        ("http://a.example/u", 2, "Home"),
    ):
        finder.add(webwinnow.clean_page(webwinnow.parse(html(number, menu), url=url), "page"))
    assert finder.find().kept.tolist() == [0, 0, 2]


def test_a_doubtful_page_with_text_is_compared_by_its_best_part(monkeypatch):
    """As method `page` decides: low confidence alone does not mean that there is no main content."""
    model = PageModel.load()
    doubtful = dataclasses.replace(model, confidence=np.array([[0.0, 1.0], [0.0, 0.1]]))
    monkeypatch.setattr(PageModel, "load", lambda: doubtful)
    menu = "".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(20))
    text = "<p>The farmers waited for the rain to stop before they went out again.</p>" * 9
    page = "<title>{0}</title><nav><ul>{1}</ul></nav><main><article><h1>{0}</h1>{2}</article></main>"
    tree = webwinnow.parse(page.format("Late harvest", menu, text))
    everything = webwinnow.clean_page(tree, "none").verdict
    runs = distinctive_runs(tree, everything, Page(tree))
    assert 0 < runs.sum() < everything.keep_runs.sum()
    login = webwinnow.parse(page.format("Log in", menu, "<form><input type=password></form>"))
    everything = webwinnow.clean_page(login, "none").verdict
    assert (distinctive_runs(login, everything, Page(login)) == everything.keep_runs).all()


def test_lone_surrogates_and_other_junk_are_taken():
    row = sketch("\ud800 " * 50 + "word " * 20, at("http://a.example/\ud800"), ReplicaSettings())
    assert row["exact"]


@pytest.mark.parametrize(
    "settings", [{"method": "other"}, {"threshold": 0.0}, {"threshold": 1.5}, {"interval": 0}, {"percentage": 0.0}]
)
def test_settings_without_meaning_are_refused(settings):
    with pytest.raises(SettingsError):
        ReplicaSettings(**settings)
