# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The passes over hidden Markov trees, node by node. tests/oracles/plain_passes.py is the slow version.

A forest is `parent`: the parent of each node, -1 at a root, parents before their children. `evidence[u, k]` is
log P(W_u | C_u = k) up to a constant for each node; minus infinity where a state is ruled out.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t

import numpy as np

cdef double TINY = 1e-200  # smaller sums may have lost terms to underflow, and are computed from logarithms


cdef int check(const int32_t[::1] parent, const double[:, ::1] rows, const double[:, ::1] transition) except -1:
    cdef Py_ssize_t n = parent.shape[0], states = rows.shape[1], u
    if rows.shape[0] != n or states == 0 or transition.shape[0] != states or transition.shape[1] != states:
        raise ValueError("nodes or states of the arrays differ in number")
    for u in range(n):
        if parent[u] < -1 or parent[u] >= u:
            raise ValueError("a node comes before its parent")
    return 0


cdef int check_root(const double[::1] root, const double[:, ::1] transition) except -1:
    if root.shape[0] != transition.shape[0]:
        raise ValueError("states of the roots and of the transitions differ in number")
    return 0


cdef object logarithms(const double[:, ::1] transition):
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(transition))


cdef inline double log_sum(const double* beta, const double* log_transition, Py_ssize_t states) noexcept nogil:
    """log of sum_m a_m beta(m), from logarithms."""
    cdef double largest = -INFINITY, total = 0.0
    cdef Py_ssize_t m
    for m in range(states):
        if beta[m] + log_transition[m] > largest:
            largest = beta[m] + log_transition[m]
    if largest == -INFINITY:
        return -INFINITY
    for m in range(states):
        total += exp(beta[m] + log_transition[m] - largest)
    return largest + log(total)


cdef inline void add_child(double above, const double* beta, const double* linear, const double* transition,
                           const double* log_transition, Py_ssize_t states, double* target) noexcept nogil:
    """Add P(C_parent = r) P(C_u = m | C_parent = r, W) to target[m], given the row r of the transitions."""
    cdef double total = 0.0
    cdef Py_ssize_t m
    for m in range(states):
        total += transition[m] * linear[m]
    if total >= TINY:
        above /= total
        for m in range(states):
            target[m] += above * transition[m] * linear[m]
        return
    total = log_sum(beta, log_transition, states)
    if total == -INFINITY:
        return
    for m in range(states):
        target[m] += above * exp(log_transition[m] + beta[m] - total)


def upward(const int32_t[::1] parent, const double[:, ::1] evidence, const double[:, ::1] transition):
    """log beta_u(k) minus its maximum, and the sum of what was subtracted in the subtree of u."""
    check(parent, evidence, transition)
    cdef Py_ssize_t n = parent.shape[0], states = evidence.shape[1], u, k, m
    cdef int32_t above
    cdef double largest, total
    found, taken = np.array(evidence, np.float64, order="C"), np.zeros(n)
    linears, messages = np.empty(states), np.empty(states)
    cdef double[:, ::1] beta = found
    cdef double[::1] scale = taken, linear = linears, message = messages
    cdef const double[:, ::1] log_transition = logarithms(transition)
    with nogil:
        for u in range(n - 1, -1, -1):
            largest = -INFINITY
            for k in range(states):
                if beta[u, k] > largest:
                    largest = beta[u, k]
            scale[u] += largest
            above = parent[u]
            if largest == -INFINITY:
                if above >= 0:
                    scale[above] = -INFINITY
                    for k in range(states):
                        beta[above, k] = -INFINITY
                continue
            for k in range(states):
                beta[u, k] -= largest
                linear[k] = exp(beta[u, k])
            if above < 0:
                continue
            largest = -INFINITY
            for k in range(states):
                total = 0.0
                for m in range(states):
                    total += transition[k, m] * linear[m]
                message[k] = log(total) if total >= TINY else log_sum(&beta[u, 0], &log_transition[k, 0], states)
                if message[k] > largest:
                    largest = message[k]
            scale[above] += scale[u] + largest
            for k in range(states):
                beta[above, k] += message[k] - (0.0 if largest == -INFINITY else largest)
    return found, taken


def downward(const int32_t[::1] parent, const double[:, ::1] beta, const double[::1] root,
             const double[:, ::1] transition):
    """P(C_u = k | W) of each node, from the roots down; zeros in a tree that cannot occur."""
    check(parent, beta, transition)
    check_root(root, transition)
    cdef Py_ssize_t n = parent.shape[0], states = beta.shape[1], u, r, m
    cdef int32_t above
    cdef double largest, total
    found, likely = np.zeros((n, states)), np.empty(states)
    cdef double[:, ::1] posterior = found
    cdef double[::1] linear = likely
    cdef const double[:, ::1] log_transition = logarithms(transition)
    with nogil:
        for u in range(n):
            above = parent[u]
            if above < 0:
                largest = -INFINITY
                for r in range(states):
                    linear[r] = log(root[r]) + beta[u, r] if root[r] > 0 else -INFINITY
                    if linear[r] > largest:
                        largest = linear[r]
                if largest == -INFINITY:
                    continue
                total = 0.0
                for r in range(states):
                    posterior[u, r] = exp(linear[r] - largest)
                    total += posterior[u, r]
                for r in range(states):
                    posterior[u, r] /= total
                continue
            for m in range(states):
                linear[m] = exp(beta[u, m])
            for r in range(states):
                if posterior[above, r] > 0:
                    add_child(posterior[above, r], &beta[u, 0], &linear[0], &transition[r, 0], &log_transition[r, 0],
                              states, &posterior[u, 0])
    return found


def expected_counts(const int32_t[::1] parent, const double[:, ::1] beta, const double[:, ::1] posterior,
                    const double[:, ::1] transition):
    """The expected number of parents in state r with a child in state m: the sum of P(C_parent = r, C_u = m | W)."""
    check(parent, beta, transition)
    check(parent, posterior, transition)
    cdef Py_ssize_t n = parent.shape[0], states = beta.shape[1], u, r, m
    cdef int32_t above
    found, likely = np.zeros((states, states)), np.empty(states)
    cdef double[:, ::1] counts = found
    cdef double[::1] linear = likely
    cdef const double[:, ::1] log_transition = logarithms(transition)
    with nogil:
        for u in range(n):
            above = parent[u]
            if above < 0:
                continue
            for m in range(states):
                linear[m] = exp(beta[u, m])
            for r in range(states):
                if posterior[above, r] > 0:
                    add_child(posterior[above, r], &beta[u, 0], &linear[0], &transition[r, 0], &log_transition[r, 0],
                              states, &counts[r, 0])
    return found


def viterbi(const int32_t[::1] parent, const double[:, ::1] evidence, const double[::1] root,
            const double[:, ::1] transition):
    """The most probable states of each tree, and at each root the log of their joint probability with W.

    Of equally probable states the first is taken, from the root down. The second array is 0 at other nodes.
    """
    check(parent, evidence, transition)
    check_root(root, transition)
    cdef Py_ssize_t n = parent.shape[0], states = evidence.shape[1], u, k, m
    cdef int32_t above
    cdef double largest, joint
    reach, found, joints = np.array(evidence, np.float64, order="C"), np.zeros(n, np.int32), np.zeros(n)
    cdef double[:, ::1] best = reach
    cdef int32_t[::1] state = found
    cdef double[::1] reached = joints
    cdef const double[:, ::1] log_transition = logarithms(transition)
    with nogil:
        for u in range(n - 1, -1, -1):
            above = parent[u]
            if above < 0:
                continue
            for k in range(states):
                largest = -INFINITY
                for m in range(states):
                    joint = log_transition[k, m] + best[u, m]
                    if joint > largest:
                        largest = joint
                best[above, k] += largest
        for u in range(n):
            above = parent[u]
            largest = -INFINITY
            for m in range(states):
                if above >= 0:
                    joint = log_transition[state[above], m] + best[u, m]
                else:
                    joint = log(root[m]) + best[u, m] if root[m] > 0 else -INFINITY
                if joint > largest:
                    largest = joint
                    state[u] = <int32_t>m
            if above < 0:
                reached[u] = largest
    return found, joints
