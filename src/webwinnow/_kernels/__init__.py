"""Hot loops: compiled where a compiler was there at install, else their plain twins. Same names, same results."""

from __future__ import annotations

from webwinnow._kernels.plain_styles import INTERNAL, LEAF, OUTSIDE

__all__ = [
    "COMPILED",
    "INTERNAL",
    "LEAF",
    "OUTSIDE",
    "Pairs",
    "StyleSums",
    "Ways",
    "agreeing_slots",
    "align",
    "attached",
    "blank_runs",
    "block_features",
    "block_words",
    "blocks_around",
    "by_quota",
    "containers",
    "context_features",
    "count_words",
    "distinct_sums",
    "element_keys",
    "feature_sums",
    "flowing_text",
    "folded_text",
    "forest_sums",
    "grouped",
    "heaviest",
    "hrefs",
    "image_hashes",
    "kept_around",
    "keyword_sums",
    "lay_out",
    "leaves_around",
    "likely_runs",
    "likeness_sums",
    "link_hashes",
    "linked_headings",
    "lowest_shingles",
    "name_hash",
    "nearest",
    "node_marks",
    "node_tokens",
    "open_formatting",
    "outline",
    "paragraph_sizes",
    "shared_force",
    "shingle_map",
    "sized_images",
    "sums_above",
    "sums_by_key",
    "tag_forces",
    "telling_units",
    "text_units",
    "token_sums",
    "topmost",
    "unite",
    "way_keys",
    "word_keys",
    "word_spans",
]

try:
    from webwinnow._kernels.compiled import (
        blank_runs,
        count_words,
        folded_text,
        image_hashes,
        lay_out,
        link_hashes,
        name_hash,
        nearest,
        open_formatting,
        word_spans,
    )
    from webwinnow._kernels.compiled_mapping import align, grouped, kept_around, topmost, way_keys
    from webwinnow._kernels.compiled_replicas import agreeing_slots, lowest_shingles, unite
    from webwinnow._kernels.compiled_scoring import (
        block_features,
        block_words,
        context_features,
        distinct_sums,
        forest_sums,
        node_marks,
        node_tokens,
        outline,
        shingle_map,
        sums_above,
        token_sums,
        word_keys,
    )
    from webwinnow._kernels.compiled_styles import (
        Pairs,
        StyleSums,
        Ways,
        element_keys,
        leaves_around,
        sums_by_key,
    )
    from webwinnow._kernels.compiled_text import flowing_text
    from webwinnow._kernels.compiled_view import (
        attached,
        blocks_around,
        by_quota,
        containers,
        feature_sums,
        heaviest,
        hrefs,
        keyword_sums,
        likely_runs,
        likeness_sums,
        linked_headings,
        paragraph_sizes,
        shared_force,
        sized_images,
        tag_forces,
        telling_units,
        text_units,
    )

    COMPILED = True
except ImportError:  # pragma: no cover - a machine without a compiler
    from webwinnow._kernels.plain import (
        blank_runs,
        count_words,
        folded_text,
        image_hashes,
        lay_out,
        link_hashes,
        name_hash,
        nearest,
        open_formatting,
        word_spans,
    )
    from webwinnow._kernels.plain_mapping import align, grouped, kept_around, topmost, way_keys
    from webwinnow._kernels.plain_replicas import agreeing_slots, lowest_shingles, unite
    from webwinnow._kernels.plain_scoring import (
        block_features,
        block_words,
        context_features,
        distinct_sums,
        forest_sums,
        node_marks,
        node_tokens,
        outline,
        shingle_map,
        sums_above,
        token_sums,
        word_keys,
    )
    from webwinnow._kernels.plain_styles import (  # type: ignore[assignment]
        Pairs,
        StyleSums,
        Ways,
        element_keys,
        leaves_around,
        sums_by_key,
    )
    from webwinnow._kernels.plain_view import (
        attached,
        blocks_around,
        by_quota,
        containers,
        feature_sums,
        heaviest,
        hrefs,
        keyword_sums,
        likely_runs,
        likeness_sums,
        linked_headings,
        paragraph_sizes,
        shared_force,
        sized_images,
        tag_forces,
        telling_units,
        text_units,
    )

    flowing_text = None  # type: ignore[assignment] # its twin is render.text.text_of_passages, which needs a whole page

    COMPILED = False
