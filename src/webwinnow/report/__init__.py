"""What was kept and what went, for people to see and steer: `webwinnow inspect`, one self-contained HTML page."""

from __future__ import annotations

from webwinnow.report.document import report_html
from webwinnow.report.inspector import Inspected, ReportSettings, write_report
from webwinnow.report.sitereport import SiteReport

__all__ = ["Inspected", "ReportSettings", "SiteReport", "report_html", "write_report"]
