"""`webwinnow._sections` in plain Python: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def raised(level, heading, end, code, figure, shown, words, probability, hidden_above) -> NDArray[np.float64]:
    """The probabilities, those of parts that depend on others as high as the highest of these."""
    found, count = list(map(float, probability)), len(probability)

    def lift(k: int, least: float) -> None:
        if found[k] > 0:
            found[k] = max(found[k], least)

    for start, stop in _same(code):
        highest = max(found[start:stop])
        for k in range(start, stop):
            lift(k, highest)
    introduces = [k for k in range(count) if level[k] == 0 and end[k] > k]
    for k in introduces:
        for other in range(k + 1, end[k]):
            lift(other, found[k])
    for start, stop in _same(figure):
        around = min(found[start - 1] if start else 0.0, found[stop] if stop < count else 0.0)
        for k in range(start, stop):
            lift(k, around)
    counts = [level[k] == 0 and (shown[k] or found[k] >= hidden_above) for k in range(count)]
    for k in reversed(introduces):
        lift(k, max((found[other] for other in range(k + 1, end[k]) if counts[other]), default=0.0))
    own_text: dict[int, bool] = {}
    heads = [k for k in range(count) if level[k] and end[k]]
    lines = {k: [k, *(j for j in range(count) if level[j] and not end[j] and heading[j] == k)] for k in heads}
    for k in reversed(heads):
        own = max(found[j] for j in lines[k])
        below = [j for j in range(count) if heading[j] == k and (level[j] == 0 or end[j])]
        if below:
            best = max(found[j] if level[j] or shown[j] or found[j] >= hidden_above else 0.0 for j in below)
            own_words = sum(words[j] for j in lines[k])
            own_text[k] = own_words > _words_below(k, level, heading, end, words, lines)
            own = max(own, best) if own_text[k] else best
        for j in lines[k]:
            found[j] = own
    for j in range(count):
        if level[j] == 0 and heading[j] >= 0 and words[j] and own_text[heading[j]]:
            lift(j, found[heading[j]])
    return np.array(found)


def _words_below(k, level, heading, end, words, lines) -> int:
    total = 0
    for j in range(len(level)):
        if heading[j] == k and level[j] and end[j]:
            total += sum(words[i] for i in lines[j]) + _words_below(j, level, heading, end, words, lines)
        elif heading[j] == k and level[j] == 0:
            total += words[j]
    return int(total)


def _same(values) -> list[tuple[int, int]]:
    """Where a value other than -1 begins, and where another follows."""
    spans, start = [], 0
    for k in range(1, len(values) + 1):
        if k == len(values) or values[k] != values[start]:
            if values[start] >= 0:
                spans.append((start, k))
            start = k
    return spans


def beside(parent, text_start, text_end, start, nodes) -> NDArray[np.int32]:
    """The nearest block before and after each of `nodes` in the smallest element with one of them; -1 for none."""
    found = np.full((2, len(nodes)), -1, np.int32)
    for j, node in enumerate(nodes):
        before = max((k for k in range(len(start)) if start[k] < text_start[node]), default=None)
        after = min((k for k in range(len(start)) if start[k] >= text_start[node]), default=None)
        up = parent[node]
        while up >= 0 and (found[:, j] < 0).all():
            if before is not None and text_start[up] <= start[before]:
                found[0, j] = before
            if after is not None and start[after] < text_end[up]:
                found[1, j] = after
            up = parent[up]
    return found
