"""What stays and what goes: one module a method, each giving a `Verdict` and changing nothing."""

from __future__ import annotations

from webwinnow.cleaning.registry import DEFAULT_METHOD, METHODS, CleaningSettings, Method, method
from webwinnow.cleaning.verdict import REASONS, Verdict

__all__ = ["DEFAULT_METHOD", "METHODS", "REASONS", "CleaningSettings", "Method", "Verdict", "method"]
