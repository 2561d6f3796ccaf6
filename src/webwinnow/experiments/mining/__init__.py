"""Thesis chapter 5 and DocView's Figure 5 on any labelled pages of several sites: mining before and after cleaning.

    file --tasks--> labelled pages --parse, clean with every method--> rows --SVM, k-means, k-NN--> results --> report

It needs the extra `mining`.
"""

from __future__ import annotations

from webwinnow.experiments.mining.experiment import RUNS, MiningSettings, mining_experiment
from webwinnow.experiments.mining.methods import DEFAULT_METHODS, MINED
from webwinnow.experiments.mining.page import mining_html
from webwinnow.experiments.mining.results import MiningResults, TaskResults
from webwinnow.experiments.mining.tables import write_tables
from webwinnow.experiments.mining.tasks import TaskSettings

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
