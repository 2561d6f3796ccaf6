"""PageRank and HITS against dense linear algebra and graphs computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import SettingsError
from webwinnow.links.graph import LinkGraph, base_set, hits, pagerank

ATOL = 1e-9


def graph_of(links: list[tuple[int, int]], pages: int) -> LinkGraph:
    pairs = np.array(links, np.int64).reshape(-1, 2)
    return LinkGraph.of(pairs[:, 0], pairs[:, 1], pages)


def matrix_of(links: list[tuple[int, int]], pages: int) -> np.ndarray:
    """The adjacency matrix: row links to column."""
    found = np.zeros((pages, pages))
    for source, target in links:
        if source != target:
            found[source, target] = 1.0
    return found


def dense_pagerank(links: list[tuple[int, int]], pages: int, damping: float) -> np.ndarray:
    """Solve r = d P^T r + (1 - d) / n, where a row of P without links is 1 / n."""
    matrix = matrix_of(links, pages)
    out = matrix.sum(axis=1, keepdims=True)
    move = np.where(out > 0, matrix / np.maximum(out, 1), 1 / pages)
    return np.linalg.solve(np.eye(pages) - damping * move.T, np.full(pages, (1 - damping) / pages))


def dense_authority(links: list[tuple[int, int]], pages: int) -> np.ndarray:
    """Project the first round, A^T 1, on the eigenvectors of A^T A of the largest eigenvalue."""
    matrix = matrix_of(links, pages)
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    largest = vectors[:, values > values[-1] - 1e-9]
    found = largest @ (largest.T @ matrix.sum(axis=0))
    return found / np.linalg.norm(found)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], int]:
    pages = draw(st.integers(1, 8))
    ends = st.integers(0, pages - 1)
    return draw(st.lists(st.tuples(ends, ends), max_size=30)), pages


@given(graphs(), st.floats(0.0, 0.95))
def test_pagerank_solves_its_equation(graph, damping):
    links, pages = graph
    found = pagerank(graph_of(links, pages), damping)
    assert found.converged
    np.testing.assert_allclose(found.score, dense_pagerank(links, pages, damping), rtol=0, atol=ATOL)


@given(graphs())
def test_hits_finds_the_main_eigenvector(graph):
    links, pages = graph
    found = hits(graph_of(links, pages))
    if not matrix_of(links, pages).any():
        assert not found.authority.any()
        assert not found.hub.any()
        return
    np.testing.assert_allclose(np.linalg.norm(found.hub), 1.0, rtol=1e-12)
    if found.converged:  # it may not where two eigenvalues are nearly equal
        np.testing.assert_allclose(found.authority, dense_authority(links, pages), rtol=0, atol=1e-6)
        hub = matrix_of(links, pages) @ found.authority
        np.testing.assert_allclose(found.hub, hub / np.linalg.norm(hub), rtol=0, atol=1e-9)


def test_pagerank_of_a_dead_end_by_hand():
    """0 links to 1, which has no links: r0 = d r1 / 2 + (1 - d) / 2, r0 + r1 = 1, so r0 = 1 / (2 + d)."""
    assert pagerank(graph_of([(0, 1)], 2), 0.85).score.tolist() == pytest.approx([1 / 2.85, 1.85 / 2.85], abs=1e-12)


def test_a_page_votes_once_and_not_for_itself():
    repeated = graph_of([(0, 1), (0, 1), (0, 1), (0, 2), (0, 0)], 3)
    assert len(repeated) == 2
    assert repeated.links_in().tolist() == [0, 1, 1]
    once = pagerank(graph_of([(0, 1), (0, 2)], 3)).score
    assert pagerank(repeated).score.tolist() == once.tolist()
    assert once[1] == once[2]


def test_hits_of_two_hubs_by_hand():
    """Hubs 0 and 1, authorities 2 and 3; 0 links to both, 1 to 2 only: A^T A = [[2, 1], [1, 1]] on {2, 3}.

    Its main eigenvector is (golden ratio, 1), and the hubs have the same weights, for A A^T is the same matrix.
    """
    found = hits(graph_of([(0, 2), (0, 3), (1, 2)], 4))
    golden = (1 + 5**0.5) / 2
    size = (1 + golden**2) ** 0.5
    np.testing.assert_allclose(found.authority, [0, 0, golden / size, 1 / size], rtol=0, atol=ATOL)
    np.testing.assert_allclose(found.hub, [golden / size, 1 / size, 0, 0], rtol=0, atol=ATOL)


def test_base_set_has_what_root_pages_link_to_and_some_that_link_to_them():
    """Root 5 links to 6; 0 to 4 link to 5; 7 links to 6 only and 8 is linked by 0 only."""
    graph = graph_of([(5, 6), *((k, 5) for k in range(5)), (7, 6), (0, 8)], 9)
    root = np.arange(9) == 5
    assert np.flatnonzero(base_set(graph, root)).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert np.flatnonzero(base_set(graph, root, near=2)).tolist() == [0, 1, 5, 6]
    within = graph.between(base_set(graph, root))
    assert within.pages == 9
    assert len(within) == 6


@pytest.mark.parametrize("damping", [-0.1, 1.0, float("nan")])
def test_a_damping_without_a_limit_is_refused(damping):
    with pytest.raises(SettingsError, match="expected at least 0 and less than 1"):
        pagerank(graph_of([(0, 1)], 2), damping)


def test_a_graph_without_pages_or_links_does_no_harm():
    assert pagerank(graph_of([], 0)).score.tolist() == []
    assert pagerank(graph_of([], 4)).score.tolist() == [0.25] * 4
    assert hits(graph_of([], 0)).converged


def test_a_million_links_converge():
    """Sizes as on the web: some pages are linked from very many."""
    chance = np.random.default_rng(0)
    pages = 200_000
    source, target = chance.integers(0, pages, 1_000_000), (pages * chance.random(1_000_000) ** 3).astype(np.int64)
    graph = LinkGraph.of(source, target, pages)
    found = pagerank(graph)
    assert found.converged
    assert found.score.sum() == pytest.approx(1.0, abs=1e-9)
    out = np.maximum(graph.links_out(), 1)
    dead = found.score[graph.links_out() == 0].sum()
    again = 0.85 * (graph.forward(found.score / out) + dead / pages) + 0.15 / pages
    np.testing.assert_allclose(again, found.score, rtol=0, atol=1e-12)
    assert hits(graph).converged
