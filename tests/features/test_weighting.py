"""W+: small collections computed by hand, and invariances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warmcommand import run_command

sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed: webwinnow[mining]")

from webwinnow import PageRecord, SettingsError, parse  # noqa: E402
from webwinnow.features.estimators import SiteFeatureWeighter  # noqa: E402
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings, learn_weights  # noqa: E402
from webwinnow.features.weighting import (  # noqa: E402
    LEAST_SPREAD,
    TOPIC_PREFIX,
    UNKNOWN_SITE,
    CollectionWeights,
    damped,
    kinship,
    site_profiles,
    site_shifts,
    spread,
    topics_of,
    weigh_by_topic,
    weigh_collection,
)


def rows_of(cells: list[list[float]]) -> object:
    return sparse.csr_array(np.array(cells, np.float64))


def matrix_of(rows, vocabulary: list[str]) -> FeatureMatrix:
    """Rows as the features of pages that are named by their numbers."""
    names = [str(n) for n in range(rows.shape[0])]
    return FeatureMatrix(rows.data, rows.indices, rows.indptr, names, vocabulary, np.arange(len(vocabulary)))


def test_the_eighth_of_a_mention_counts_nearly_as_it_is_and_a_hundred_mentions_far_less():
    assert damped(np.array([0.0, 8.0])) == pytest.approx([0.0, math.log(2)])
    one, hundred = damped(np.array([1.0, 100.0]))
    assert hundred / one == pytest.approx(math.log(13.5) / math.log(1.125))


def test_spread_is_the_chance_that_two_mentions_are_of_different_sites():
    # Site 0 has four pages, site 1 has one. Shares of pages: word 0: 1/2 and 1; word 1: 1 and 1; word 2: 1/4 and 0.
    rows = rows_of([[1, 1, 9], [2, 1, 0], [0, 1, 0], [0, 1, 0], [1, 5, 0]])
    found = spread(rows, np.array([0, 0, 0, 0, 1]), 2)
    assert found == pytest.approx([1 - (1 / 9 + 4 / 9), 1 / 2, LEAST_SPREAD])


def test_with_one_site_all_words_count_alike():
    assert spread(rows_of([[1, 0], [1, 1]]), np.array([0, 0]), 1).tolist() == [1, 1]


def test_profile_is_the_mean_row_of_a_site():
    found = site_profiles(rows_of([[1, 0], [0, 1], [4, 0]]), np.array([0, 0, 1]), 2)
    assert found.toarray().tolist() == [[0.5, 0.5], [4, 0]]


def test_kinship_is_the_fourth_power_of_the_cosine_in_shares():
    # Cosines of site 0 with 1 and 2: 1 / sqrt(2) and 1; to the fourth: 1/4 and 1.
    profiles = rows_of([[1, 0], [1, 1], [2, 0]])
    found = kinship(profiles, slice(0, 3), np.arange(3)).toarray()
    assert found[0] == pytest.approx([0, 0.2, 0.8])
    assert found.diagonal().tolist() == [0, 0, 0]
    assert found.sum(axis=1) == pytest.approx([1, 1, 1])


def test_site_is_moved_to_the_centre_of_its_kin_as_far_as_its_pages_can_say():
    shifts = site_shifts(rows_of([[1, 0, 1], [1, 1, 0]]), np.array([4, 1])).toarray()
    assert shifts[0] == pytest.approx([0, -0.75, 0.75])
    assert shifts[1].tolist() == [0, 0, 0]


def test_site_without_kin_is_moved_to_the_origin():
    shifts = site_shifts(rows_of([[2, 0], [0, 2]]), np.array([2, 2])).toarray()
    assert shifts.tolist() == [[1, 0], [0, 1]]


def test_topics_are_the_leading_singular_vectors_each_site_counting_as_one():
    # Site 0 has word 1 on each of its two pages, site 1 words 2 and 3 together on its one page.
    words, topics = topics_of(rows_of([[0, 2, 0, 0], [0, 2, 0, 0], [0, 0, 3, 3]]), np.array([0, 0, 1]))
    assert words.tolist() == [1, 2, 3]
    half = math.sqrt(0.5)
    assert pytest.approx(np.array([[0, half, half], [1, 0, 0]]), abs=1e-12) == topics.T


def test_pages_of_one_subject_come_nearer_over_sites_and_pages_of_one_site_part():
    # Words: cat, dog, and one that each site has on all of its pages.
    rows = rows_of([[1, 0, 2, 0], [0, 1, 2, 0], [1, 0, 0, 2], [0, 1, 0, 2]])
    sites = np.array([0, 0, 1, 1])
    found = CollectionWeights.learn(rows, sites, 2).weigh(rows, sites)
    alike = (found @ found.T).toarray()
    assert alike[0, 2] > alike[0, 1]
    plain = (rows @ rows.T).toarray()
    assert plain[0, 2] < plain[0, 1]


def test_page_of_an_unknown_site_is_weighed_without_being_moved():
    rows = rows_of([[1, 0, 2], [0, 1, 2], [1, 1, 0]])
    learned = CollectionWeights.learn(rows, np.array([0, 0, 1]), 2)
    found = learned.weigh(rows_of([[1, 0, 0]]), np.array([UNKNOWN_SITE])).toarray()[0]
    assert found[:3].tolist() == [1, 0, 0]


def test_empty_page_stays_empty_whatever_its_site_says():
    rows = rows_of([[1, 0], [0, 0], [0, 1]])
    sites = np.array([0, 0, 0])
    found = CollectionWeights.learn(rows, sites, 1).weigh(rows, sites)
    assert np.diff(found.indptr).tolist()[1] == 0


@pytest.mark.parametrize("cells", [[], [[0, 0]], [[3, 1]]], ids=["no pages", "no words", "one page"])
def test_the_smallest_collections_are_weighed(cells):
    rows = sparse.csr_array(np.array(cells, np.float64).reshape(len(cells), 2))
    found = weigh_collection(matrix_of(rows, ["a", "b"]), ["s"] * len(cells))
    assert len(found.indptr) == len(cells) + 1
    assert found.vocabulary[:2] == ["a", "b"]
    assert np.isfinite(found.data).all()


# Invariances

COLLECTIONS = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, 4), min_size=5, max_size=5)), min_size=1, max_size=9
)


def alike_of(pages: list[tuple[str, list[int]]]) -> object:
    """Pairwise similarity of pages, which does not depend on the signs and order of topics."""
    rows = rows_of([counts for _, counts in pages])
    found = weigh_collection(matrix_of(rows, list("vwxyz")), [site for site, _ in pages]).rows()
    return (found @ found.T).toarray()


@settings(max_examples=50, deadline=None)
@given(COLLECTIONS, st.randoms(use_true_random=False))
def test_the_order_of_pages_does_not_matter(pages, random):
    order = list(range(len(pages)))
    random.shuffle(order)
    assert alike_of([pages[i] for i in order]) == pytest.approx(alike_of(pages)[np.ix_(order, order)], abs=1e-4)


@settings(max_examples=50, deadline=None)
@given(COLLECTIONS)
def test_the_names_of_sites_do_not_matter(pages):
    renamed = [({"a": "z", "b": "y", "c": "x"}[site], counts) for site, counts in pages]
    assert alike_of(renamed) == pytest.approx(alike_of(pages), abs=1e-4)


# Public API

SUBJECTS = ("kittens purr", "engines roar", "violins sing")


def page_of(site: str, n: int) -> str:
    subject = SUBJECTS[n % 3]
    menu = f"<ul><li><b>Home {site}</b></ul>"
    return (
        f"<body><div>{menu}</div><div><p><i><b>{subject} {subject} {site}stuff story{'abcdefghi'[n]}x</b></i></p></div>"
    )


def built(**changes: object) -> FeatureMatrix:
    builder = VectorBuilder(VectorSettings(weighting="wplus", **changes))
    for site in ("left", "right"):
        trees = [parse(page_of(site, n), url=f"http://{site}.example/{n}") for n in range(9)]
        weights = learn_weights(trees, builder.settings.weights)
        for n, tree in enumerate(trees):
            builder.add(f"{site}{n}", tree, weights, site=site)
    return builder.matrix()


def test_rows_hold_words_and_then_topics_named_by_their_words():
    found = built()
    topics = [name for name in found.vocabulary if name.startswith(TOPIC_PREFIX)]
    assert topics == found.vocabulary[-len(topics) :]
    assert "kittens" in found.vocabulary
    assert any("kittens" in topic for topic in topics)
    assert found.indices.max() < len(found.vocabulary)


def test_the_same_pages_give_the_same_matrix():
    one, other = built(), built()
    assert np.array_equal(one.data, other.data)
    assert np.array_equal(one.indices, other.indices)


def test_words_of_the_title_weigh_more_if_the_page_says_them():
    def row(title: str) -> dict[str, float]:
        builder = VectorBuilder(VectorSettings(weighting="wplus"))
        builder.add("page", parse(f"<title>{title}</title><p>turnips grow"), None)
        found = builder.site_matrix()
        return dict(zip([found.vocabulary[i] for i in found.indices], found.data.tolist(), strict=True))

    assert row("Turnips and violins") == {"turnips": 3, "grow": 1}
    assert row("") == {"turnips": 1, "grow": 1}


def test_images_and_links_can_be_weighed_too():
    builder = VectorBuilder(VectorSettings(weighting="wplus", kinds=("images", "links")))
    for n in range(3):
        builder.add(str(n), parse(f"<p><img src=/{n}.png><a href=/{n}>x</a>"), None, site="s")
    found = builder.matrix()
    assert {"@img:0.png", "@href:/0"} <= set(found.vocabulary)
    assert len(found.data)


def test_weighter_weighs_pages_that_it_was_not_fitted_with():
    pages = [
        PageRecord(url=f"http://{site}.example/{n}", body=page_of(site, n).encode())
        for site in ("left", "right")
        for n in range(9)
    ]
    weighter = SiteFeatureWeighter(weighting="wplus").fit(pages)
    strange = PageRecord(url="http://strange.example/", body=page_of("strange", 1).encode())
    found = weighter.transform([*pages, strange])
    assert found.shape == (19, len(weighter.get_feature_names_out()))
    alike = np.asarray((found @ found.T).todense())
    assert alike[1, 10] > max(alike[1, 9], alike[1, 11])
    assert alike[18, 1] > alike[18, 0]


def test_weighter_refuses_a_weighting_that_there_is_not():
    with pytest.raises(SettingsError, match="there are: cst, wplus"):
        SiteFeatureWeighter(weighting="bm25").fit([b"<p>x"])


def test_command_writes_weighted_rows(tmp_path):
    for site in ("left", "right"):
        for n in range(9):
            path = tmp_path / "pages" / f"{site}.example" / f"{n}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page_of(site, n))
    out = tmp_path / "features.npz"
    run_command("features", tmp_path / "pages", "-o", out, "-q", "--weighting", "wplus", "--jobs", 1, check=True)
    with np.load(out, allow_pickle=False) as found:
        assert found["shape"].tolist() == [18, len(found["vocabulary"])]
        assert any(name.startswith(TOPIC_PREFIX) for name in found["vocabulary"].tolist())


@pytest.mark.parametrize("weigh", [weigh_by_topic, weigh_collection])
def test_one_long_name_of_a_site_takes_its_own_memory_only(weigh):
    pages = 10_000
    sites = ["a.example", "z" * 10_000_000] * (pages // 2)  # an array of such names would have 400 GB
    cells = np.ones(pages), np.arange(pages, dtype=np.int32) % 4, np.arange(pages + 1)
    rows = sparse.csr_array(cells, shape=(pages, 4))
    assert len(weigh(matrix_of(rows, ["cat", "dog", "fox", "owl"]), sites).indptr) == pages + 1
