"""Method `combined`, the default: evidence from the page joined with evidence from its site (`judge.combined`)."""

from __future__ import annotations

from webwinnow.judge import combined
from webwinnow.judge.explanations import of_combined
from webwinnow.judge.page import PageSettings
from webwinnow.methods.registry import Method

METHOD = Method(
    "combined",
    "combine evidence from the page with evidence from its site",
    combined.clean,
    parts=frozenset({"blocks"}),
    settings=PageSettings,
    group="page",
    explain=of_combined,
)
