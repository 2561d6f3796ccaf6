"""Sites 4.1: equations 9 to 13, computed by hand on a web of five sites, and the four steps of Figure 7."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow.topics.fusion import (
    LinkTopics,
    Neighbours,
    fuse,
    fuse_scales,
    log_likelihood,
    site_context,
)

EVEN = np.array([0.5, 0.5])

# Sites 0, 1 are of class 0, sites 2, 3 of class 1. Links: 0 -> 1, 1 -> 0, 2 -> 3, 0 -> 2.
SITES = [0, 0, 1, 1]
LINKS = [(0, 1), (1, 0), (2, 3), (0, 2)]


def test_equation_9_by_hand():
    # (0.6, 0.4) x (0.3, 0.7) / (0.5, 0.5) = (0.36, 0.56); alpha = 1 / 0.92
    np.testing.assert_allclose(fuse([0.6, 0.4], [0.3, 0.7], EVEN), [9 / 23, 14 / 23])
    # a prior of (0.75, 0.25): (0.6 0.3 / 0.75, 0.4 0.7 / 0.25) = (0.24, 1.12)
    np.testing.assert_allclose(fuse([0.6, 0.4], [0.3, 0.7], [0.75, 0.25]), [0.24 / 1.36, 1.12 / 1.36])


def test_a_context_that_is_the_prior_changes_nothing():
    np.testing.assert_allclose(fuse([0.6, 0.4], [0.75, 0.25], [0.75, 0.25]), [0.6, 0.4])


def test_of_a_node_without_observation_the_context_is_all_that_is_known():
    np.testing.assert_allclose(fuse([[np.nan, np.nan], [0.6, 0.4]], [0.3, 0.7], EVEN)[0], [0.3, 0.7])


def test_where_raw_and_context_exclude_each_other_the_context_wins():
    np.testing.assert_allclose(fuse([1.0, 0.0], [0.0, 1.0], EVEN), [0.0, 1.0])


def test_the_classes_that_link_to_each_other_by_hand():
    plain = LinkTopics.learn(SITES, LINKS, 2, smoothing=0.0)
    # from class 0: three links, two of them to class 0; from class 1: one, to class 1
    np.testing.assert_allclose(plain.linked, [[2 / 3, 1 / 3], [0.0, 1.0]])
    # into class 0: two links, both from class 0; into class 1: two, one from each
    np.testing.assert_allclose(plain.linking, [[1.0, 0.0], [0.5, 0.5]])
    # with one link more for each pair
    smooth = LinkTopics.learn(SITES, LINKS, 2)
    np.testing.assert_allclose(smooth.linked, [[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(smooth.linking, [[3 / 4, 1 / 4], [2 / 4, 2 / 4]])


def test_equation_11_by_hand():
    links = LinkTopics.learn(SITES, LINKS, 2)
    # a new site: sites 0 and 2 link to it, it links to site 1
    around = Neighbours(linking=(0, 1), linked=(0,), count=4)
    # class 0: 3/4 1/4 3/5 = 9/80; class 1: 1/2 1/2 1/3 = 1/12
    np.testing.assert_allclose(np.exp(log_likelihood(around, links)), [9 / 80, 1 / 12])


def test_equation_10_by_hand():
    links = LinkTopics.learn(SITES, LINKS, 2)
    around = Neighbours(linking=(0, 1), linked=(0,), count=4)
    assert around.known_share == 3 / 4
    # P(N | C) P(C) / P(N) with P(C) = (1/2, 1/2)
    np.testing.assert_allclose(site_context(around, links, EVEN), [9 / 160 / 0.75, 1 / 24 / 0.75])
    # in (9) alpha takes the place of P(N): 0.5 9/80 : 0.5 1/12 = 27 : 20
    np.testing.assert_allclose(fuse(EVEN, site_context(around, links, EVEN), EVEN), [27 / 47, 20 / 47])


def test_without_known_neighbours_nothing_is_induced():
    links = LinkTopics.learn(SITES, LINKS, 2)
    for around in (Neighbours(), Neighbours(count=7)):
        np.testing.assert_array_equal(site_context(around, links, [0.9, 0.1]), [0.9, 0.1])


def test_equations_12_and_13_coarse_to_fine_by_hand():
    # one site, two pages, three blocks: two on the first page, one on the second
    site, pages, blocks = [0.8, 0.2], [[0.4, 0.6], [0.5, 0.5]], [[0.3, 0.7], [0.5, 0.5], [0.1, 0.9]]
    fused = fuse_scales(site, pages, blocks, np.array([0, 0, 1]), EVEN, [EVEN, EVEN, EVEN])
    np.testing.assert_allclose(fused.site, [0.8, 0.2])
    # 0.4 0.8 : 0.6 0.2 = 8 : 3; 0.5 0.8 : 0.5 0.2 = 4 : 1
    np.testing.assert_allclose(fused.pages, [[8 / 11, 3 / 11], [0.8, 0.2]])
    # by their own pages: 3 8 : 7 3 = 24 : 21; 8 : 3; 1 4 : 9 1 = 4 : 9
    np.testing.assert_allclose(fused.blocks, [[24 / 45, 21 / 45], [8 / 11, 3 / 11], [4 / 13, 9 / 13]])
    assert fused.pages.argmax(axis=1).tolist() == [0, 0]  # the raw result of the first page was another
    assert fused.blocks.argmax(axis=1).tolist() == [0, 0, 1]


@pytest.mark.parametrize("many", [3, 400, 5_000])
def test_many_neighbours_add_evidence(many):
    links = LinkTopics.learn(SITES, LINKS, 2)
    likely = int(np.argmax(links.linking[:, 0]))
    found = fuse(EVEN, site_context(Neighbours(linking=(0,) * many, count=many), links, EVEN), EVEN)
    assert np.isfinite(found).all()
    assert found.argmax() == likely
    assert found.max() > (0.999 if many > 3 else 0.5)
