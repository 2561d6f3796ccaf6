"""Cleaning: one module per method, each returning a `Verdict` and changing nothing. `webwinnow.methods` lists them."""

from __future__ import annotations

from webwinnow.cleaning.verdict import REASONS, Verdict

__all__ = ["REASONS", "Verdict"]
