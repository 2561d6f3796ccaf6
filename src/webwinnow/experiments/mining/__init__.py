"""Thesis chapter 5 and DocView's Figure 5 on any labelled pages of several sites: mining before and after cleaning.

    file --tasks--> labelled pages --parse, clean with every method--> rows --SVM, k-means, k-NN--> results --> report

It needs the extra `mining`.
"""

from __future__ import annotations

from webwinnow.experiments.mining.cleanedwords import DEFAULT_METHODS, MINED_METHODS
from webwinnow.experiments.mining.minepage import mining_html
from webwinnow.experiments.mining.mineresults import MiningResults, TaskResults, write_tables
from webwinnow.experiments.mining.minetasks import TaskSettings
from webwinnow.experiments.mining.miningrun import RUNS, MiningSettings, mining_experiment

__all__ = ["DEFAULT_METHODS", "MINED_METHODS", "RUNS", "MiningResults", "MiningSettings", "TaskResults"]
__all__ += ["TaskSettings", "mining_experiment", "mining_html", "write_tables"]
