"""Inference about the hidden states: likelihood, posteriors (8), MAP states (7), Viterbi states.

Symbols of the paper: `evidence[u, k]` is log P(W_u | C_u = k); beta_u(k) = P(T_u | C_u = k) the upward variable, T_u
the tree below u; alpha_u(k) = P(C_u = k, T_1 without T_u) the downward variable; rho(u) the parent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.site.hmt import _passes
from webwinnow.site.hmt.treemodel import HIDDEN, UNSEEN, Forest, Known, TreeParameters
from webwinnow.storage.arrays import Held

KNOWN = Held(("nodes",), np.int64, low=HIDDEN, high="states")

Floats = NDArray[np.float64]


class Beliefs(NamedTuple):
    """Results of the upward and downward passes: `posterior[u, k]` is P(C_u = k | W, lambda), `likelihood` is
    log P(W | lambda) of each tree, `beta` the logarithm of the upward variable, less the largest of each node.
    """

    posterior: Floats
    likelihood: Floats
    beta: Floats


def evidence_of(forest: Forest, known: Known, parameters: TreeParameters) -> Floats:
    """Log P(W_u | C_u = k) of each node (5): given its state, an observation depends on nothing else.

    A node without observation has zeros. A known state clamps: the others get minus infinity.
    """
    states = parameters.states
    check_fits(forest, states, parameters.symbols)
    found = np.zeros((len(forest), states))
    if forest.evidence is not None:
        found += forest.evidence
    if forest.symbols is not None:
        seen = np.flatnonzero(forest.symbols != UNSEEN)
        with np.errstate(divide="ignore"):
            found[seen] += np.log(parameters.emission.T)[forest.symbols[seen]]
    clamped = known_states(forest, known, states)
    where = np.flatnonzero(clamped != HIDDEN)
    kept = found[where, clamped[where]]
    found[where] = -np.inf
    found[where, clamped[where]] = kept
    return found


def check_fits(forest: Forest, states: int, symbols: int) -> None:
    """Raise `InputError` for evidence of other states, or for symbols that the model does not have."""
    if forest.evidence is not None and forest.evidence.shape[1] != states:
        raise InputError(f"evidence of {forest.evidence.shape[1]} states for a model of {states}")
    if forest.symbols is not None and len(forest) and forest.symbols.max() >= symbols:
        raise InputError(f"symbol {forest.symbols.max()} for a model of {symbols} symbols, numbered from 0")


def known_states(forest: Forest, known: Known, states: int) -> NDArray[np.int64]:
    """The known state of each node, HIDDEN where it is not known."""
    if known is None:
        return np.full(len(forest), HIDDEN, np.int64)
    try:
        return KNOWN.checked("known states", known, {"nodes": len(forest), "states": states})
    except ValueError as error:
        raise InputError(str(error)) from None


def likelihoods(forest: Forest, evidence: Floats, parameters: TreeParameters) -> tuple[Floats, Floats]:
    """Log P(W | lambda) of each tree = log of sum_k pi_k beta_1(k), by the upward pass; and the upward variables.

    Upward (Crouse et al. [6]): beta_u(k) = b_k(W_u) times the product over the children c of sum_m a^km beta_c(m).
    Minus infinity for a tree that cannot occur.
    """
    beta, scale = _passes.upward(forest.parent, evidence, parameters.transition)
    roots = forest.roots
    with np.errstate(divide="ignore"):
        at_roots = np.log(parameters.root) + beta[roots]
    return np.logaddexp.reduce(at_roots, axis=1) + scale[roots], beta


def beliefs(forest: Forest, evidence: Floats, parameters: TreeParameters) -> Beliefs:
    """The posteriors of the states (8): P(C_u = m | W) = beta_u(m) alpha_u(m) / sum_k beta_u(k) alpha_u(k).

    alpha_u(m) = sum_r a^rm alpha_rho(r) beta_rho(r) / sum_j a^rj beta_u(j) underflows in large trees. So the quotient
    itself is passed down: P(C_u = m | W) = sum_r P(C_rho = r | W) a^rm beta_u(m) / sum_j a^rj beta_u(j), which follows
    from both (Durand, Goncalves and Guedon, 2004). Raises `InputError` for a tree that cannot occur.
    """
    found, beta = likelihoods(forest, evidence, parameters)
    check_possible(forest, found)
    return Beliefs(_passes.downward(forest.parent, beta, parameters.root, parameters.transition), found, beta)


def viterbi_states(forest: Forest, evidence: Floats, parameters: TreeParameters) -> tuple[NDArray[np.int32], Floats]:
    """The most probable joint states of each tree (3.1), and the logarithm of their joint probability with W.

    By (5) and (6) that probability is a product over the nodes. Raises `InputError` for a tree that cannot occur.
    """
    states, reached = _passes.viterbi(forest.parent, evidence, parameters.root, parameters.transition)
    check_possible(forest, reached[forest.roots])
    return states, reached[forest.roots]


def check_possible(forest: Forest, likelihood: Floats) -> None:
    """Raise `InputError` for trees whose log-likelihood is minus infinity."""
    impossible = np.flatnonzero(np.isneginf(likelihood))
    if len(impossible):
        raise InputError(
            f"{len(impossible)} trees cannot occur, the first with its root at node {forest.roots[impossible[0]]}: an "
            "observation or known state has probability 0; learn with smoothing"
        )
