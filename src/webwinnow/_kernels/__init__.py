"""Hot loops: compiled where a compiler was there at install, else their plain twins. Same names, same results."""

from __future__ import annotations

from webwinnow._kernels.plain import INTERNAL, LEAF, OUTSIDE

__all__ = [
    "COMPILED",
    "INTERNAL",
    "LEAF",
    "OUTSIDE",
    "blank_runs",
    "block_features",
    "block_words",
    "context_features",
    "count_words",
    "element_keys",
    "forest_sums",
    "lay_out",
    "nearest",
    "node_marks",
    "node_tokens",
    "open_formatting",
    "outline",
    "shingle_map",
    "spread",
    "sums_above",
    "token_sums",
    "word_keys",
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
    from webwinnow._kernels.compiled_scoring import (
        block_features,
        block_words,
        context_features,
        forest_sums,
        node_marks,
        node_tokens,
        outline,
        shingle_map,
        sums_above,
        token_sums,
        word_keys,
    )

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
    from webwinnow._kernels.plain_scoring import (
        block_features,
        block_words,
        context_features,
        forest_sums,
        node_marks,
        node_tokens,
        outline,
        shingle_map,
        sums_above,
        token_sums,
        word_keys,
    )

    COMPILED = False
