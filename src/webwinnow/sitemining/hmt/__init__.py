"""Hidden Markov trees over forests (Sites, section 3): inference, EM and incremental EM, nothing of web pages.

`Forest` has trees and observations, `TreeParameters` is the model lambda, `HiddenMarkovTree` learns it (docs/hmt.md).
"""

from __future__ import annotations

from webwinnow.sitemining.hmt.em import Convergence
from webwinnow.sitemining.hmt.hiddenmarkovtree import HiddenMarkovTree, HiddenMarkovTreeClassifier
from webwinnow.sitemining.hmt.treemodel import HIDDEN, UNSEEN, Forest, TreeParameters, soft_evidence

__all__ = [
    "HIDDEN",
    "UNSEEN",
    "Convergence",
    "Forest",
    "HiddenMarkovTree",
    "HiddenMarkovTreeClassifier",
    "TreeParameters",
    "soft_evidence",
]
