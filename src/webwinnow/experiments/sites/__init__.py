"""Sites, section 5, on any labelled sites: the topic of whole sites by every method, denoising and pruning.

file --labelledsites--> labelled sites --sitetrials, likelihood--> results --sitesfindings, sitespage--> report
"""

from __future__ import annotations

from webwinnow.experiments.sites.sitesfindings import findings
from webwinnow.experiments.sites.sitespage import sites_html
from webwinnow.experiments.sites.sitesresults import SitesResults, write_tables
from webwinnow.experiments.sites.sitesrun import REPEATS, SitesSettings, sites_experiment

__all__ = ["REPEATS", "SitesResults", "SitesSettings", "findings", "sites_experiment", "sites_html", "write_tables"]
