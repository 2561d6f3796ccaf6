"""The compiled passes over hidden Markov trees against their plain twins."""

from __future__ import annotations

import numpy as np
import plain_passes as plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.site.hmt import _passes as compiled

ROUNDING = 1e-12
"""Tolerance: the twins add in a different order."""


@settings(deadline=None)
@given(st.data())
def test_twins_agree(data: st.DataObject):
    n, states = data.draw(st.integers(0, 40)), data.draw(st.integers(1, 5))
    parent = np.array([data.draw(st.integers(-1, u - 1)) for u in range(n)], np.int32)
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    root, transition = chance.dirichlet(np.ones(states)), chance.dirichlet(np.full(states, 0.3), states)
    evidence = chance.normal(scale=data.draw(st.sampled_from([1.0, 50.0, 2000.0])), size=(n, states))
    evidence[chance.random((n, states)) < data.draw(st.sampled_from([0.0, 0.2, 0.6]))] = -np.inf
    transition[transition < data.draw(st.sampled_from([0.0, 0.1]))] = 0.0
    fast, slow = compiled.upward(parent, evidence, transition), plain.upward(parent, evidence, transition)
    possible = ~np.isneginf(slow[1])
    np.testing.assert_array_equal(possible, ~np.isneginf(fast[1]))
    np.testing.assert_allclose(fast[1], slow[1], rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(fast[0][possible], slow[0][possible], rtol=1e-9, atol=1e-9)
    beta = slow[0]
    posterior = plain.downward(parent, beta, root, transition)
    np.testing.assert_allclose(compiled.downward(parent, beta, root, transition), posterior, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(
        compiled.expected_counts(parent, beta, posterior, transition),
        plain.expected_counts(parent, beta, posterior, transition),
        rtol=0,
        atol=ROUNDING * max(n, 1),
    )
    fast_states, fast_reached = compiled.viterbi(parent, evidence, root, transition)
    states_found, reached = plain.viterbi(parent, evidence, root, transition)
    np.testing.assert_allclose(fast_reached, reached, rtol=ROUNDING, atol=ROUNDING)
    assert fast_states.dtype == states_found.dtype == np.int32


@pytest.mark.parametrize("kernels", [plain, compiled], ids=["plain", "compiled"])
def test_kernels_refuse_what_does_not_fit_together(kernels):
    ones, pair = np.ones((2, 2)), np.array([-1, 0], np.int32)
    with pytest.raises(ValueError, match="before its parent"):
        kernels.upward(np.array([-1, 5], np.int32), ones, ones)
    with pytest.raises(ValueError, match="differ in number"):
        kernels.upward(pair, np.ones((3, 2)), ones)
    with pytest.raises(ValueError, match="differ in number"):
        kernels.upward(pair, ones, np.ones((3, 2)))
    with pytest.raises(ValueError, match="differ in number"):
        kernels.downward(pair, ones, np.ones(3), ones)
    with pytest.raises(ValueError, match="differ in number"):
        kernels.viterbi(pair, ones, np.ones(3), ones)
    with pytest.raises(ValueError, match="differ in number"):
        kernels.expected_counts(pair, ones, np.ones((1, 2)), ones)
