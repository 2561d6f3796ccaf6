"""Method `page`: the main content, judged by the page alone (`judge.page`)."""

from __future__ import annotations

from webwinnow.judge import page
from webwinnow.judge.explanations import of_page
from webwinnow.judge.page import PageSettings
from webwinnow.methods.registry import Method

METHOD = Method(
    "page",
    "keep the main content, judged by the page alone",
    page.clean,
    settings=PageSettings,
    explain=of_page,
)
