# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The features of a page and the forest of its genre. tests/oracles/plain_scoring.py is the slow version."""

from libc.stdint cimport int16_t, int32_t, int64_t

import numpy as np

from webwinnow.page._memory cimport check_columns


def forest_row(const float[::1] row, const int16_t[:, ::1] feature, const float[:, ::1] border,
               const int16_t[:, :, ::1] leaves):
    """The sums over all trees of the leaf values of one row of features, for each output."""
    cdef Py_ssize_t t, d, k, trees = feature.shape[0], levels = feature.shape[1], outputs = leaves.shape[0], leaf
    check_columns(border.shape[0] == leaves.shape[1] == trees and border.shape[1] == levels)
    check_columns(levels <= 8 and leaves.shape[2] == 1 << levels)
    sums = np.zeros(outputs, np.int64)
    cdef int64_t[::1] total = sums
    for t in range(trees):
        leaf = 0
        for d in range(levels):
            if not 0 <= feature[t, d] < row.shape[0]:
                raise ValueError(f"there is no feature {feature[t, d]}")
            leaf |= <Py_ssize_t>(row[feature[t, d]] > border[t, d]) << d
        for k in range(outputs):
            total[k] += leaves[k, t, leaf]
    return sums


cdef enum:
    TOGETHER = 4  # features whose sums run side by side: each sum waits for its last addition


def page_features(const float[:, ::1] features, const int32_t[:] words):
    """The mean of each feature over the page's blocks, and then over its words."""
    cdef Py_ssize_t f, b, k, count = features.shape[0], blocks = features.shape[1]
    cdef double total[TOGETHER]
    cdef double by_words[TOGETHER]
    cdef double said = 0.0, weight, value
    check_columns(words.shape[0] == blocks)
    means = np.zeros(2 * count, np.float32)
    cdef float[::1] found = means
    if not blocks:
        return means
    for b in range(blocks):
        said += words[b]
    if said < 1.0:
        said = 1.0
    for f in range(0, count - TOGETHER + 1, TOGETHER):
        for k in range(TOGETHER):
            total[k] = by_words[k] = 0.0
        for b in range(blocks):
            weight = words[b]
            for k in range(TOGETHER):
                value = features[f + k, b]
                total[k] += value
                by_words[k] += value * weight
        for k in range(TOGETHER):
            found[f + k] = <float>(total[k] / blocks)
            found[count + f + k] = <float>(by_words[k] / said)
    for f in range(count - count % TOGETHER, count):
        total[0] = by_words[0] = 0.0
        for b in range(blocks):
            total[0] += features[f, b]
            by_words[0] += <double>features[f, b] * words[b]
        found[f] = <float>(total[0] / blocks)
        found[count + f] = <float>(by_words[0] / said)
    return means
