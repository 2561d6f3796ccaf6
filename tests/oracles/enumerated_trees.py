"""Hidden Markov trees by enumeration: every assignment of states to the nodes, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import log


@dataclass
class Enumerated:
    """Results of enumeration. `likelihood` and `best` have one entry per tree, in the order of the roots."""

    likelihood: list[float]
    posterior: list[list[float]]
    pairs: list[list[float]]
    best: list[float]
    paths: list[list[tuple[int, ...]]]
    nodes: list[list[int]]


def joint_probability(parent, states, likelihood, root, transition, number):
    """P(C, W) of one tree: the product over its nodes of (6) and (5)."""
    found = 1.0
    for u, state in zip(number, states, strict=True):
        above = parent[u]
        found *= root[state] if above < 0 else transition[states[number.index(above)]][state]
        found *= likelihood[u][state]
    return found


def enumerate_states(parent, likelihood, root, transition) -> Enumerated:
    """`likelihood[u][k]` is P(W_u | C_u = k), 0 for a state that is ruled out. Lists of floats throughout."""
    states = range(len(root))
    tree_of: list[int] = []
    trees: list[list[int]] = []
    for u, above in enumerate(parent):
        if above < 0:
            trees.append([])
        tree_of.append(len(trees) - 1 if above < 0 else tree_of[above])
        trees[tree_of[u]].append(u)
    posterior = [[0.0 for _ in states] for _ in parent]
    pairs = [[0.0 for _ in states] for _ in states]
    found = Enumerated([], posterior, pairs, [], [], trees)
    for nodes in trees:
        assignments = list(product(states, repeat=len(nodes)))
        joints = [joint_probability(parent, chosen, likelihood, root, transition, nodes) for chosen in assignments]
        total = sum(joints)
        found.likelihood.append(log(total) if total > 0 else float("-inf"))
        largest = max(joints)
        found.best.append(log(largest) if largest > 0 else float("-inf"))
        found.paths.append([c for c, joint in zip(assignments, joints, strict=True) if joint >= largest * (1 - 1e-12)])
        for chosen, joint in zip(assignments, joints, strict=True):
            if joint == 0:
                continue
            for u, state in zip(nodes, chosen, strict=True):
                posterior[u][state] += joint / total
                if parent[u] >= 0:
                    pairs[chosen[nodes.index(parent[u])]][state] += joint / total
    return found
