"""Sites 4.2, denoising, and the measures of section 5 (15, 16), computed by hand on a site of two pages."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow import parse
from webwinnow.papers.sites.denoising import (
    chi_square,
    cleaned_nodes,
    denoise,
    distinctive_terms,
    learned_thesaurus,
    page_shares,
    similarity,
)
from webwinnow.topics.denoising import SiteText, is_removed, pertinence
from webwinnow.topics.pages import SitePages
from webwinnow.topics.scores import class_accuracies, macro_accuracy, spotting_rate
from webwinnow.topics.thesaurus import SpelledText, Thesaurus
from webwinnow.topics.topicwords import TopicWords

PAGES = [
    parse(
        "<p>The magnetic field of a neutron star</p><p>Cookies help us</p><p>Nuclear physics</p>",
        url="http://a.example/",
    ),
    parse("<p>Sign in here</p><p>Shop now</p><p>Dark matter</p>", url="http://a.example/shop"),
]
PHYSICS = ["neutron star", "neutron", "magnetic field", "nuclear physics", "dark matter"]


@pytest.fixture
def physics() -> Thesaurus:
    pytest.importorskip("ahocorasick_rs")
    return Thesaurus(PHYSICS)


def test_the_pertinence_of_a_node_is_the_share_of_its_words_in_terms(physics):
    # "the magnetic field of a neutron star": 4 of 7 words, neutron star as one term; nodes: page, its 3 blocks
    found = pertinence(SiteText.of(PAGES[:1]), physics)
    np.testing.assert_allclose(found, [0, 4 / 7, 0, 1])


def test_terms_match_whole_words_and_never_run_from_one_text_into_the_next(physics):
    texts = SpelledText.of(["neutrons", "neutron", "star dark", "matter", "Neutron-star!"])
    assert physics.covered(texts).tolist() == [0, 1, 0, 0, 2]


def test_a_page_is_removed_if_a_majority_of_its_nodes_is_marked():
    assert not is_removed(marked=1, nodes=2)  # half is no majority
    assert is_removed(marked=2, nodes=3)
    assert is_removed(marked=0, nodes=0)


def test_both_stages_by_hand(physics):
    text = SiteText.of(PAGES)
    found = denoise(text, pertinence(text, physics), 0.05)
    # page 0: one node of three is marked and removed; page 1: two of three, so the page is removed, with dark matter
    assert found.pages.tolist() == [True, False]
    assert found.nodes.tolist() == [True, True, False, True, False, False, False, False]
    assert not found.whole


def test_a_site_of_which_nothing_would_be_left_stays_whole(physics):
    text = SiteText.of(PAGES[1:])
    found = denoise(text, pertinence(text, physics), 0.05)
    assert found.whole
    assert found.nodes.all() and found.pages.all()


def test_after_a_cleaner_only_what_it_left_is_judged_and_counted(physics):
    text = SiteText.of(PAGES)
    left = np.array([True, True, False, False, True, False, False, True])  # of page 1 only dark matter
    found = denoise(text, pertinence(text, physics), 0.05, among=left)
    assert found.pages.tolist() == [True, True]
    assert found.nodes.tolist() == left.tolist()


def test_a_cleaner_alone_takes_a_page_only_where_it_leaves_nothing():
    text = SiteText.of(PAGES)
    left = np.array([True, False, False, False, True, False, False, True])
    found = denoise(text, among=left)
    assert found.pages.tolist() == [False, True]
    assert cleaned_nodes(PAGES, "none").all()


def test_the_centroid_rival_is_the_cosine_with_the_nearest_topic():
    hashes = {word: int(SitePages.of([parse(word)]).words.key[0]) for word in ("dark", "matter", "shop", "sign")}
    key = np.sort(np.array(list(hashes.values()), np.uint64))
    place = {word: key.tolist().index(number) for word, number in hashes.items()}
    direction = np.zeros((4, 2))
    direction[[place["dark"], place["shop"]], [0, 1]] = 0.6, 0.8
    direction[[place["matter"], place["sign"]], [0, 1]] = 0.8, 0.6
    topics = TopicWords(key, np.ones(4), direction, np.zeros(2), np.ones((2, 1)), np.ones((2, 1)), 1.0, np.zeros(2))
    found = similarity(SitePages.of(PAGES[1:]), topics)
    # sign (here is a stop word): 0.6 with topic 1; shop: 0.8; dark matter: (0.6 + 0.8) / sqrt 2 with topic 0
    np.testing.assert_allclose(found[1:], [0.6, 0.8, 1.4 / 2**0.5])


def test_chi_square_by_hand():
    # 8 of 10 pages of the topic and 2 of 10 others: 20 (64 - 4)^2 / 10^4
    value = chi_square(*(np.array([count]) for count in (8.0, 2.0, 2.0, 8.0)))
    np.testing.assert_allclose(value, [7.2])
    assert chi_square(*(np.array([count]) for count in (2.0, 8.0, 8.0, 2.0))).tolist() == [0.0]


def test_the_distinctive_terms_of_a_topic_are_on_two_of_its_sites():
    shares = [{"quark": 0.9, "cern": 1.0}, {"quark": 0.5, "fermilab": 1.0}, {"gene": 0.5, "quark": 0.1}, {"gene": 1.0}]
    found = distinctive_terms(shares, ["physics", "physics", "biology", "biology"], 10)
    assert found == {"biology": ["gene"], "physics": ["quark"]}
    assert distinctive_terms(shares[1:3], ["physics", "biology"], 1) == {"biology": ["gene"], "physics": ["fermilab"]}


def test_a_thesaurus_is_learned_from_the_pages_of_training_sites():
    pytest.importorskip("ahocorasick_rs")
    sites = [SiteText.of([parse(f"<p>{said}</p>")]) for said in ("quark 12", "a quark", "a gene", "gene")]
    shares = [page_shares(site) for site in sites]
    assert shares[0] == {"quark": 1.0}
    assert learned_thesaurus(shares, ["p", "p", "b", "b"]).terms == ("gene", "quark")


def test_equation_15_the_paper_s_own_figure():
    assert spotting_rate(187, 100) == pytest.approx(1.87)
    assert spotting_rate(0, 2) == 0


def test_equation_16_counts_every_class_alike():
    labels = ["a"] * 8 + ["b"] * 2
    found = ["a"] * 8 + ["b", "a"]
    assert class_accuracies(labels, found) == {"a": 1.0, "b": 0.5}
    assert macro_accuracy(labels, found) == pytest.approx(0.75)  # not 0.9
