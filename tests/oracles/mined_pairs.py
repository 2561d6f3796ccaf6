"""Thesis 5.4 and 5.5, slow and obvious: the three configurations over labelled rows, and F of a clustering.

Written from the text of the thesis with scikit-learn's own scores; `webwinnow.papers.mining` must agree.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import accuracy_score, f1_score
from sklearn.svm import LinearSVC


def configuration_scores(rows, labels, sites, configuration):
    """(F of the first class, accuracy) of every experiment of a configuration, by classes and sites."""
    found = {}
    for one, other in itertools.combinations(sorted(set(labels.tolist())), 2):
        both = (labels == one) | (labels == other)
        for i, j in itertools.product(sorted(set(sites[both].tolist())), repeat=2):
            if (configuration == 1) != (i == j):
                continue
            train = ((labels == one) & (sites == i)) | ((labels == other) & (sites == j))
            if configuration == 1:
                test = both & (sites != i)
            elif configuration == 2:
                test = both & (sites != i) & (sites != j)
            else:
                test = both & ~train
            if len(set(labels[train].tolist())) < 2 or not test.any():
                continue
            # C of SVMlight, 1 / mean(x.x), by scaling the rows instead: then the intercept is scaled too
            scaled = rows / np.sqrt(rows[train].multiply(rows[train]).sum(axis=1).mean())
            predicted = LinearSVC().fit(scaled[train], labels[train]).predict(scaled[test])
            score = f1_score(labels[test], predicted, pos_label=one, zero_division=0)
            found[one, other, i, j] = (score, accuracy_score(labels[test], predicted))
    return found


def clustering_f(labels, clusters):
    """The mean F over classes under the best assignment of classes to clusters, by trying all of them."""
    classes, numbers = sorted(set(labels.tolist())), range(len(set(labels.tolist())))
    best = 0.0
    for assigned in itertools.permutations(numbers):
        scores = []
        for name, cluster in zip(classes, assigned, strict=True):
            inside = ((labels == name) & (clusters == cluster)).sum()
            p, r = inside / max((clusters == cluster).sum(), 1), inside / (labels == name).sum()
            scores.append(2 * p * r / (p + r) if p + r else 0.0)
        best = max(best, float(np.mean(scores)))
    return best


def assignment_f(table):
    """The same from a table of counts, with scipy's assignment, as in the project's scorer."""
    precision, recall = table / np.maximum(table.sum(0), 1), table / table.sum(1, keepdims=True)
    f = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    rows, columns = linear_sum_assignment(-f)
    return float(f[rows, columns].mean())
