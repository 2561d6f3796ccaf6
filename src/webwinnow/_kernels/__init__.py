"""Hot loops: compiled where a compiler was there at install, else their plain twins. Same names, same results."""

from __future__ import annotations

__all__ = ["COMPILED", "blank_runs", "count_words", "lay_out", "nearest", "open_formatting"]

try:
    from webwinnow._kernels.compiled import blank_runs, count_words, lay_out, nearest, open_formatting

    COMPILED = True
except ImportError:  # pragma: no cover - a machine without a compiler
    from webwinnow._kernels.plain import blank_runs, count_words, lay_out, nearest, open_formatting

    COMPILED = False
