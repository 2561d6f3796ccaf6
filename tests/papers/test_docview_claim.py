"""DocView 3.2, the claim after Algorithm 1: forces and final weights of blocks are in one-to-one correspondence."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.methods.method_docview import block_weights
from webwinnow.methods.viewsettings import ViewSettings

forces = st.sampled_from([1.0, 1.5, 2.0, 3.0, 6.0])


def weights(parent: list[int], force: list[float], passed_on: float = 0.5) -> np.ndarray:
    settings = ViewSettings(passed_on=passed_on, most=inf)
    return block_weights(np.array(parent, np.int32), np.array(force), np.ones(len(parent), np.bool_), settings)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=12), st.data())
def test_weights_of_leaves_determine_their_forces(drawn, data):
    """The logarithm of the weights is linear in that of the forces; among n leaves of one parent its matrix has the
    eigenvalues 1 - p and 1 + (n - 1) p, so it can be inverted for p = 1/2.
    """
    parent = [-1, *(place % (i + 1) for i, place in enumerate(drawn))]
    leaves = [i for i in range(len(parent)) if i not in parent]
    force = [data.draw(forces) if i in leaves else 1.0 for i in range(len(parent))]
    found = np.log(weights(parent, force))
    recovered = {}
    for above in {parent[i] for i in leaves}:
        together = [i for i in leaves if parent[i] == above]
        matrix = np.full((len(together), len(together)), 0.5)
        np.fill_diagonal(matrix, 1.0)
        recovered.update(zip(together, np.exp(np.linalg.solve(matrix, found[together])).tolist(), strict=True))
    assert recovered == {i: pytest.approx(force[i], rel=1e-9) for i in leaves}


def test_the_claim_needs_a_passed_on_force_that_differs_from_the_force():
    """With `pforce` equal to the force, the forces (2, 3) and (3, 2) give the same weights."""
    one, other = ([1, 2, 3], [1, 3, 2])
    assert weights([-1, 0, 0], one, 1.0) == pytest.approx(weights([-1, 0, 0], other, 1.0))
    assert weights([-1, 0, 0], one).tolist() != pytest.approx(weights([-1, 0, 0], other).tolist())
