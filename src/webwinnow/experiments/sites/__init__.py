"""Sites, section 5, on any labelled sites: the topic of whole sites by every method, denoising and pruning.

file --stored--> sites with labels --trials, pruned, likelihood--> results --findings, page, tables--> report
"""

from __future__ import annotations

from webwinnow.experiments.sites.sitesfindings import findings
from webwinnow.experiments.sites.sitespage import sites_html
from webwinnow.experiments.sites.sitesresults import SitesResults
from webwinnow.experiments.sites.sitesrun import REPEATS, SitesSettings, sites_experiment
from webwinnow.experiments.sites.sitestables import write_tables

__all__ = ["REPEATS", "SitesResults", "SitesSettings", "findings", "sites_experiment", "sites_html", "write_tables"]
