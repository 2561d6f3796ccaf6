"""What a whole site is about: hidden Markov trees over its pages and their parts."""

from __future__ import annotations

__all__: list[str] = []
