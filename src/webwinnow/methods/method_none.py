"""Method `none`: everything that is visible."""

from __future__ import annotations

from webwinnow.judge.verdict import keep_visible
from webwinnow.methods.registry import Method

METHOD = Method("none", "keep everything visible", lambda page, *_: keep_visible(page.tree))
