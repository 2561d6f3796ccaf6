"""Hidden Markov trees over forests (Sites, section 3): inference, EM and incremental EM, nothing of web pages.

`Forest` is what is seen, `TreeParameters` the model lambda; `HiddenMarkovTree` learns and predicts. See docs/hmt.md.
"""

from __future__ import annotations

from webwinnow.sitemining.hmt.classifier import HiddenMarkovTreeClassifier
from webwinnow.sitemining.hmt.convergence import Convergence
from webwinnow.sitemining.hmt.forest import HIDDEN, UNSEEN, Forest, soft_evidence
from webwinnow.sitemining.hmt.model import HiddenMarkovTree
from webwinnow.sitemining.hmt.parameters import TreeParameters

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
