"""Reports for people as self-contained HTML pages: the inspector (`webwinnow inspect`), clusters, classes, sites."""

from __future__ import annotations

from webwinnow.report.inspector import Inspected, ReportSettings, report_html, write_report
from webwinnow.report.sitereport import SiteReport

__all__ = ["Inspected", "ReportSettings", "SiteReport", "report_html", "write_report"]
