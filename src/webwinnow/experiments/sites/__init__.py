"""Sites, section 5, on any labelled sites: the topic of whole sites by every method, denoising and pruning.

file --stored--> sites with labels --trials, pruned, likelihood--> results --findings, page, tables--> report
"""

from __future__ import annotations

from webwinnow.experiments.sites.experiment import REPEATS, SitesSettings, sites_experiment
from webwinnow.experiments.sites.findings import findings
from webwinnow.experiments.sites.page import sites_html
from webwinnow.experiments.sites.results import SitesResults
from webwinnow.experiments.sites.tables import write_tables

__all__ = ["REPEATS", "SitesResults", "SitesSettings", "findings", "sites_experiment", "sites_html", "write_tables"]
