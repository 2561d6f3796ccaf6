"""Thesis chapter 5 and DocView's Figure 5 on any labelled pages of several sites: mining before and after cleaning.

    file --tasks--> labelled pages --parse, clean with every method--> rows --SVM, k-means, k-NN--> results --> report

It needs the extra `mining`.
"""

from __future__ import annotations

from webwinnow.experiments.mining.minedmethods import DEFAULT_METHODS, MINED
from webwinnow.experiments.mining.minepage import mining_html
from webwinnow.experiments.mining.mineresults import MiningResults, TaskResults
from webwinnow.experiments.mining.minetables import write_tables
from webwinnow.experiments.mining.minetasks import TaskSettings
from webwinnow.experiments.mining.miningrun import RUNS, MiningSettings, mining_experiment

__all__ = [
    "DEFAULT_METHODS",
    "MINED",
    "RUNS",
    "MiningResults",
    "MiningSettings",
    "TaskResults",
    "TaskSettings",
    "mining_experiment",
    "mining_html",
    "write_tables",
]
