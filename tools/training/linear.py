"""The linear models over hashed tokens: of blocks (content or not) and of pages (their genre)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from webwinnow.judge.featureschema import TOKEN_BITS, WORD_BITS
from webwinnow.judge.reading import HEAD_BITS, HEADING_BITS, LINEAR_SCALE, Linear, Reading

__all__ = ["PARTS", "fit_blocks", "fit_genres", "genre_rows", "integers", "rows_of"]

PARTS = {
    "words": 1 << WORD_BITS,
    "near": 1 << TOKEN_BITS,
    "mid": 1 << TOKEN_BITS,
    "far": 1 << TOKEN_BITS,
    "heading": 1 << HEADING_BITS,
}
BLOCK_STRENGTH = 0.02
"""Inverse regularisation of the block model: log loss of held-out domains was lowest of 0.004 to 0.3."""
GENRE_STRENGTH = 10.0
"""Inverse regularisation of the genre model: accuracy on held-out domains was 0.67 with 1, 0.72 with 10."""
LARGEST = 32_767


def rows_of(reading: Reading) -> sparse.csr_matrix:
    """One row per block; the tokens of each part weigh 1 / sqrt(how many there are), as in `linear_scores`."""
    up = reading.blocks.tree.parent.tolist()
    node_at, word_at = reading.node_offsets.tolist(), reading.word_offsets.tolist()
    node_ids, word_ids = reading.node_ids.astype(np.int32), reading.word_ids.astype(np.int32)
    nothing = np.zeros(0, np.int32)
    tokens_above: dict[int, NDArray[np.int32]] = {}

    def tokens(nodes: list[int]) -> NDArray[np.int32]:
        return np.concatenate([node_ids[node_at[i] : node_at[i + 1]] for i in nodes])

    def above(i: int) -> NDArray[np.int32]:
        if i not in tokens_above:
            path = [i]
            while up[path[-1]] >= 0:
                path.append(up[path[-1]])
            tokens_above[i] = tokens(path)
        return tokens_above[i]

    indices, values, ends = [nothing], [np.zeros(0, np.float32)], [0]
    blocks = zip(reading.owner.tolist(), reading.near.tolist(), reading.heading.tolist(), strict=True)
    for b, (owner, inner, heading) in enumerate(blocks):
        near = [inner]
        while near[-1] != owner:
            near.append(up[near[-1]])
        higher = max(up[owner], 0), max(up[max(up[owner], 0)], 0)
        headed = word_ids[word_at[heading] : word_at[heading + 1]] if heading >= 0 else nothing
        found = (
            word_ids[word_at[b] : word_at[b + 1]],
            tokens(near),
            tokens(list(higher)),
            above(max(up[higher[1]], 0)),
            headed >> (WORD_BITS - HEADING_BITS),
        )
        offset = 0
        for part, size in zip(found, PARTS.values(), strict=True):
            indices.append(part + np.int32(offset))
            values.append(np.full(len(part), 1.0 / np.sqrt(max(len(part), 1)), np.float32))
            offset += size
        ends.append(ends[-1] + sum(map(len, found)))
    rows = sparse.csr_matrix(
        (np.concatenate(values), np.concatenate(indices), np.array(ends, np.int64)),
        shape=(len(reading.said), sum(PARTS.values())),
    )
    rows.sum_duplicates()
    return rows


def fit_blocks(rows: sparse.csr_matrix, content: NDArray[np.bool_], weight: NDArray[np.float64]) -> Linear:
    """Logistic regression over the blocks' rows, as tables of integers."""
    model = LogisticRegression(C=BLOCK_STRENGTH, max_iter=60, tol=1e-3).fit(rows, content, sample_weight=weight)
    cuts = np.cumsum([0, *PARTS.values()])
    tables = {name: integers(model.coef_[0, a:b]) for name, a, b in zip(PARTS, cuts[:-1], cuts[1:], strict=True)}
    return Linear(bias=round(float(model.intercept_[0]), 6), **tables)


def genre_rows(tokens: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> sparse.csr_matrix:
    """One row per page: tokens of the head, then of the names of elements."""
    rows = []
    for head, names in tokens:
        row = np.zeros((1, (1 << HEAD_BITS) + (1 << TOKEN_BITS)), np.float32)
        row[0, head] = 1.0 / np.sqrt(max(len(head), 1))
        row[0, names + (1 << HEAD_BITS)] = 1.0 / np.sqrt(max(len(names), 1))
        rows.append(sparse.csr_matrix(row))
    return sparse.vstack(rows).tocsr()


def fit_genres(
    rows: sparse.csr_matrix, genre: NDArray[np.int64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Multinomial regression over the pages' rows: tables of the head's tokens and of the names of elements."""
    model = LogisticRegression(C=GENRE_STRENGTH, max_iter=200).fit(rows, genre, sample_weight=weight)
    table = integers(model.coef_.T)
    return table[: 1 << HEAD_BITS].copy(), table[1 << HEAD_BITS :].copy()


def integers(weights: NDArray[np.float64]) -> NDArray[np.int16]:
    """Weights in fixed point."""
    return np.clip(np.round(weights * LINEAR_SCALE), -LARGEST, LARGEST).astype(np.int16)
