"""Hot loops: compiled where a compiler was there at install, else their plain twins. Same names, same results."""

from __future__ import annotations

from webwinnow._kernels.plain import INTERNAL, LEAF, OUTSIDE

__all__ = [
    "COMPILED",
    "INTERNAL",
    "LEAF",
    "OUTSIDE",
    "align",
    "blank_runs",
    "count_words",
    "element_keys",
    "lay_out",
    "nearest",
    "open_formatting",
    "spread",
    "topmost",
    "word_spans",
]

try:
    from webwinnow._kernels.compiled import (
        blank_runs,
        count_words,
        element_keys,
        lay_out,
        nearest,
        open_formatting,
        spread,
        word_spans,
    )
    from webwinnow._kernels.compiled_mapping import align, topmost

    COMPILED = True
except ImportError:  # pragma: no cover - a machine without a compiler
    from webwinnow._kernels.plain import (
        blank_runs,
        count_words,
        element_keys,
        lay_out,
        nearest,
        open_formatting,
        spread,
        word_spans,
    )
    from webwinnow._kernels.plain_mapping import align, topmost

    COMPILED = False
