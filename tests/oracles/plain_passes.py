"""The passes over hidden Markov trees, level by level with numpy: the reference for the compiled versions.

A forest is `parent`: the parent of each node, -1 at a root, parents before their children. `evidence[u, k]` is
log P(W_u | C_u = k), up to a constant for each node; minus infinity where a state is ruled out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

TINY = 1e-200
"""A sum of probabilities above this has lost nothing to underflow; one below it is computed in logarithms."""

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]


def upward(parent: NDArray[np.int32], evidence: Floats, transition: Floats) -> tuple[Floats, Floats]:
    """The upward variable of each node: log beta_u(k) minus its maximum, and the sum of the maxima in u's subtree."""
    _check(parent, evidence, transition)
    beta = evidence.copy()
    scale = np.zeros(len(parent))
    for nodes in reversed(list(_levels(parent))):
        largest = _largest(beta[nodes])
        beta[nodes] -= np.where(np.isneginf(largest), 0.0, largest)[:, None]
        scale[nodes] += largest
        if parent[nodes[0]] < 0:
            continue
        message = _log_product(beta[nodes], transition)
        largest = _largest(message)
        np.add.at(beta, parent[nodes], message - np.where(np.isneginf(largest), 0.0, largest)[:, None])
        np.add.at(scale, parent[nodes], scale[nodes] + largest)
    return beta, scale


def downward(parent: NDArray[np.int32], beta: Floats, root: Floats, transition: Floats) -> Floats:
    """P(C_u = k | W) of each node, from the roots down; zeros in a tree that cannot occur."""
    _check(parent, beta, transition)
    if root.shape != (beta.shape[1],):
        raise ValueError("states of the roots and of the transitions differ in number")
    posterior = np.zeros_like(beta)
    for nodes in _levels(parent):
        if parent[nodes[0]] < 0:
            with np.errstate(divide="ignore"):
                odds = np.log(root) + beta[nodes]
            largest = _largest(odds)
            joint = np.exp(odds - np.where(np.isneginf(largest), 0.0, largest)[:, None])
            total = joint.sum(axis=1, keepdims=True)
            posterior[nodes] = joint / np.where(total > 0, total, 1.0)
        else:
            posterior[nodes] = np.einsum(
                "ur,urm->um", posterior[parent[nodes]], _given_parent(beta[nodes], posterior[parent[nodes]], transition)
            )
    return posterior


def expected_counts(parent: NDArray[np.int32], beta: Floats, posterior: Floats, transition: Floats) -> Floats:
    """How often a parent in state r is expected to have a child in state m: sum of P(C_parent = r, C_u = m | W)."""
    _check(parent, beta, transition)
    _check(parent, posterior, transition)
    counts = np.zeros_like(transition)
    for nodes in _levels(parent):
        if parent[nodes[0]] >= 0:
            above = posterior[parent[nodes]]
            counts += np.einsum("ur,urm->rm", above, _given_parent(beta[nodes], above, transition))
    return counts


def viterbi(
    parent: NDArray[np.int32], evidence: Floats, root: Floats, transition: Floats
) -> tuple[NDArray[np.int32], Floats]:
    """The most probable joint states of each tree, and at each root the logarithm of their joint probability with W.

    Of equally probable states the first is chosen, from the root down. The second array is 0 at other nodes.
    """
    _check(parent, evidence, transition)
    if root.shape != (evidence.shape[1],):
        raise ValueError("states of the roots and of the transitions differ in number")
    with np.errstate(divide="ignore"):
        log_root, log_transition = np.log(root), np.log(transition)
    best = evidence.copy()
    levels = list(_levels(parent))
    for nodes in reversed(levels[1:]):
        message = np.stack([(best[nodes] + row).max(axis=1) for row in log_transition], axis=1)
        np.add.at(best, parent[nodes], message)
    states, reached = np.zeros(len(parent), np.int32), np.zeros(len(parent))
    for nodes in levels:
        if parent[nodes[0]] < 0:
            joint = log_root + best[nodes]
            reached[nodes] = joint.max(axis=1)
        else:
            joint = log_transition[states[parent[nodes]]] + best[nodes]
        states[nodes] = joint.argmax(axis=1)
    return states, reached


def _check(parent: NDArray[np.int32], rows: Floats, transition: Floats) -> None:
    if len(rows) != len(parent) or transition.shape != (rows.shape[1], rows.shape[1]) or not rows.shape[1]:
        raise ValueError("nodes or states of the arrays differ in number")
    if len(parent) and (parent.min() < -1 or (parent >= np.arange(len(parent))).any()):
        raise ValueError("a node comes before its parent")


def _levels(parent: NDArray[np.int32]) -> Iterator[Nodes]:
    """The nodes of each level, from the roots down."""
    depth = np.zeros(len(parent), np.int64)
    for u, above in enumerate(parent.tolist()):
        if above >= 0:
            depth[u] = depth[above] + 1
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth)).tolist()
    yield from (order[start:end] for start, end in pairwise([0, *ends]))


def _largest(rows: Floats) -> Floats:
    largest: Floats = rows.max(axis=1)
    return largest


def _log_product(beta: Floats, transition: Floats) -> Floats:
    """Log of sum_m a_km beta_u(m) for each node u and state k; in logarithms if the sum may have lost terms."""
    total = np.exp(beta) @ transition.T
    with np.errstate(divide="ignore"):
        found: Floats = np.log(total)
        for u, k in np.argwhere(total < TINY):
            found[u, k] = np.logaddexp.reduce(np.log(transition[k]) + beta[u])
    return found


def _given_parent(beta: Floats, above: Floats, transition: Floats) -> Floats:
    """P(C_u = m | C_parent = r, the tree of u) at [u, r, m]; 0 for states r in which the parent cannot be."""
    message = _log_product(beta, transition)
    with np.errstate(divide="ignore"):
        joint = np.log(transition)[None] + beta[:, None, :]
    possible = (above > 0) & ~np.isneginf(message)
    return np.where(possible[:, :, None], np.exp(joint - np.where(possible, message, 0.0)[:, :, None]), 0.0)
