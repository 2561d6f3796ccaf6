"""`webwinnow.page._sections` in plain Python: slow and obvious; tests compare the compiled version with it."""

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


def outline_roles(tag, roles, attr_node, attr_name, attr_start, attr_text, code, level) -> NDArray[np.uint8]:
    """The roles of tags, and the level of a heading for elements whose attribute with this code is "heading"."""
    found = roles[np.minimum(tag, len(roles) - 1)]
    for k in np.flatnonzero(attr_name == code):
        node = attr_node[k]
        if attr_text[attr_start[k] : attr_start[k + 1]] == "heading" and not found[node] & 7:
            found[node] |= level
    return found


def pictures_beside(
    parent, tag, text_start, text_end, keep, is_picture, start, words, kept_blocks, few, codes
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_]]:
    """Images with a kept block beside them, pictures without, and others with one except an svg in a figure.

    Removed blocks of few words do not count.
    """
    img, svg, figure = codes
    known = np.minimum(tag, len(is_picture) - 1)
    nodes = np.flatnonzero(is_picture[known] & keep & (text_start == text_end)).astype(np.int32)
    counted = kept_blocks | (words > few)
    near = beside(parent, text_start, text_end, start[counted], nodes)
    stays = kept_blocks[counted]
    outside, others = (np.zeros(len(parent), np.bool_) for _ in range(2))
    images = []
    for node, pair in zip(nodes.tolist(), near.T, strict=True):
        if not any(stays[k] for k in pair if k >= 0):
            outside[node] = True
        elif tag[node] == img:
            images.append(node)
        elif not (tag[node] == svg and tag[parent[node]] == figure):
            others[node] = True
    return np.array(images, np.int32), outside, others


def add_wrappers(parent, end, tag, text_start, text_end, keep, is_picture, wraps, removed, others) -> None:
    """Add to two masks the elements around their pictures that have neither text nor another picture."""
    known = np.minimum(tag, len(is_picture) - 1)
    left = is_picture[known] & keep & ~(removed | others)
    for mask in (removed, others):
        for i in np.flatnonzero(mask):
            up = parent[i]
            while up > 1 and not mask[up] and wraps[known[up]] and text_start[up] == text_end[up]:
                if left[up : end[up]].any():
                    break
                mask[up] = True
                up = parent[up]


def headings_like(level, heading, end, shown, start, stop, text, openings, most) -> list[tuple[int, int, int]]:
    """The first shown headings that are of the first level or begin like a title, with the span of their lines."""
    pairs = {openings[k : k + 2].decode() for k in range(0, len(openings), 2)}
    found = []
    for k in np.flatnonzero((level > 0) & (end > 0) & shown)[:most]:
        after = k + 1
        while after < len(level) and level[after] and end[after] == 0 and heading[after] == k:
            after += 1
        line = text[start[k] : stop[after - 1]]
        letters = [c.lower() for c in line if c.isalnum() or ord(c) >= 128]
        is_open = any(ord(c) >= 128 for c in letters[:2])
        if level[k] == 1 or is_open or (letters and "".join(letters[:2]).ljust(2, "\0") in pairs):
            found.append((int(k), int(start[k]), int(stop[after - 1])))
    return found
