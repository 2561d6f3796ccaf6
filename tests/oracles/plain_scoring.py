"""Plain Python twins of the page model's kernels: slow and obvious; tests compare the compiled versions with them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from math import log1p

import numpy as np
from numpy.typing import NDArray
from plain_hashing import mixed

from webwinnow.judge.featureschema import (
    CONTEXTS,
    COUNTS,
    FEATURES,
    HEARD_WORDS,
    ITEM_FEATURES,
    ITEMS,
    MARK,
    MOST_LEVELS,
    MOST_TOKENS,
    OWN_MARKS,
    PROSE_CHARACTERS,
    SHINGLE_BITS,
    SHOWN_MARKS,
    TAG_MARKS,
    TOKEN_BITS,
    WORD_BITS,
)

_COLUMN = {name: k for k, name in enumerate(COUNTS)}
_ALL_BITS = (1 << 64) - 1
_FNV_START, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_GOLDEN = 0x9E3779B97F4A7C15
_LETTER, _UPPER, _DIGIT, _SPACE, _END, _COMMA, _COLON, _MONEY, _QUIET, _SIGN, _UNDERSCORE = range(1, 12)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARK = re.compile("[\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e30-\u0e4e\u0eb0-\u0ecd\u102b-\u103e\u17b4-\u17d3]")
_CJK_WIDTH, _CJK_LENGTH = 3, 5
_IN_WORD = frozenset((_LETTER, _UPPER, _DIGIT, _UNDERSCORE))
_COUNTED = {_END: "ends", _COMMA: "commas", _MONEY: "money", _SIGN: "signs"}


def character_class(c: str) -> int:
    """The class of a character of any script."""
    if c == "_":
        return _UNDERSCORE
    if c.isalpha():
        return _UPPER if c.isupper() else _LETTER
    if c.isalnum():
        return _DIGIT
    if c.isspace():
        return _SPACE
    if c in ".!?。！？…।؟":
        return _END
    if c in ",;、，،":
        return _COMMA
    if c in ":：":
        return _COLON
    if c in "$£¥" or "\u20a0" <= c <= "\u20bf":
        return _MONEY
    if c in "'\"()-«" or "\u2010" <= c <= "\u201f" or _MARK.match(c):
        return _QUIET
    return _SIGN


def _lower(c: str) -> int:
    """Simple lower case of one character."""
    lower = c.lower()
    return ord(lower[0])


def word_keys(text: str) -> NDArray[np.uint64]:
    """The distinct words of a text as sorted 64-bit keys."""
    whole, no = np.array([0, len(text)], np.int32), np.zeros(1, np.bool_)
    words = _words_of_block(text, whole, range(1), no, no, dict.fromkeys(COUNTS, 0))
    return np.array(sorted({mixed(word) for word, _ in words}), np.uint64)


def _cjk_word(before: str, c: str) -> int:
    """The unmixed key of a Han, kana or Hangul character with the one before, if there is one."""
    key = _FNV_START
    for character in before + c:
        key = (key ^ ord(character)) * _FNV_PRIME & _ALL_BITS
    return key


def _shingle(first: int, second: int, third: int) -> int:
    """The bit of a sequence of three words, given by their unmixed keys."""
    return mixed(((first * _GOLDEN + second) * _GOLDEN + third) & _ALL_BITS) >> (64 - SHINGLE_BITS)


def shingle_map(text: str) -> NDArray[np.uint8]:
    """A map with one bit for each sequence of three words of a text."""
    whole = np.array([0, len(text)], np.int32)
    no = np.zeros(1, np.bool_)
    keys = [word for word, _ in _words_of_block(text, whole, range(1), no, no, dict.fromkeys(COUNTS, 0))]
    found = np.zeros(1 << (SHINGLE_BITS - 3), np.uint8)
    for three in zip(keys, keys[1:], keys[2:], strict=False):
        place = _shingle(*three)
        found[place >> 3] |= 1 << (place & 7)
    return found


def node_marks(tag: NDArray[np.uint16], parent: NDArray[np.int32]) -> NDArray[np.uint32]:
    """For each node the marks (`MARK`) of itself and its ancestors."""
    if len(tag) != len(parent):
        raise ValueError("columns of different lengths")
    found: list[int] = []
    for i, code in enumerate(tag.tolist()):
        own = TAG_MARKS[code] if code < len(TAG_MARKS) else 0
        if i:
            own |= found[_parent(parent, i)] & ~OWN_MARKS
        found.append(own)
    return np.array(found, np.uint32)


def heading_rows(
    tag: NDArray[np.uint16], parent: NDArray[np.int32], levels: NDArray[np.uint8], owner: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The level of the heading that each block is in, and the last block before it that is in one, -1 for none."""

    def level_at(node: int) -> int:
        own = int(levels[tag[node]]) if tag[node] < len(levels) else 0
        return own or (level_at(_parent(parent, node)) if node else 0)

    level = np.array([level_at(int(node)) for node in owner], np.uint8)
    before = [max((k for k in range(b) if level[k]), default=-1) for b in range(len(owner))]
    return level, np.array(before, np.int64)


def _parent(parent: NDArray[np.int32], i: int) -> int:
    p = int(parent[i])
    if not 0 <= p < i:
        raise ValueError(f"node {i} has the parent {p}")
    return p


def block_words(
    text: str,
    run_start: NDArray[np.int32],
    first_run: NDArray[np.int64],
    run_owner: NDArray[np.int32],
    marks: NDArray[np.uint32],
    title: NDArray[np.uint64],
    summary: NDArray[np.uint64],
    data_map: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
    r"""Counts and word tokens of the blocks with text.

    Returns the blocks that are not blank; their counts (`COUNTS`; a word is `\w+`); a key of the text
    of each; and the hashed words of each, row k in `ids[offsets[k]:offsets[k + 1]]`. `marks` are those of nodes;
    `title` and `summary` are `word_keys`; `data_map` is the `shingle_map` of the head's data, or empty.
    """
    runs = len(run_start) - 1
    if len(data_map) not in (0, 1 << (SHINGLE_BITS - 3)):
        raise ValueError("a map of shingles of another size")
    if len(run_owner) != runs:
        raise ValueError("columns of different lengths")
    linked, strong = ((marks[run_owner] & MARK[name]) != 0 for name in ("link", "strong"))
    for r in range(runs):
        if not 0 <= run_start[r] <= run_start[r + 1] <= len(text):
            raise ValueError(f"run {r} is outside the text")
    in_title, in_summary = frozenset(title.tolist()), frozenset(summary.tolist())
    said, rows, keys, ids, offsets = [], [], [], [], [0]
    for b in range(len(first_run) - 1):
        if not 0 <= first_run[b] <= first_run[b + 1] <= runs:
            raise ValueError(f"block {b} is outside the runs")
        row = dict.fromkeys(COUNTS, 0)
        key, first, second = _FNV_START, 0, 0
        words = _words_of_block(text, run_start, range(first_run[b], first_run[b + 1]), linked, strong, row)
        for heard, (word, length) in enumerate(words):
            key = (key * _GOLDEN + word) & _ALL_BITS
            value = mixed(word)
            row["short"] += length <= 3
            row["long"] += length >= 8
            row["in_title"] += value in in_title
            row["in_summary"] += value in in_summary
            if heard >= 2 and len(data_map):
                place = _shingle(first, second, word)
                row["in_data"] += int(data_map[place >> 3]) >> (place & 7) & 1
            first, second = second, word
            if heard < HEARD_WORDS:
                ids.append(value >> (64 - WORD_BITS))
        if row["chars"]:
            said.append(b)
            rows.append(list(row.values()))
            keys.append(mixed(key))
            offsets.append(len(ids))
    return (
        np.array(said, np.int32),
        np.array(rows, np.int32).reshape(len(rows), len(COUNTS)),
        np.array(keys, np.uint64),
        np.array(ids, np.int32),
        np.array(offsets, np.int32),
    )


def _words_of_block(
    text: str,
    run_start: NDArray[np.int32],
    runs: range,
    linked: NDArray[np.bool_],
    strong: NDArray[np.bool_],
    row: dict[str, int],
) -> list[tuple[int, int]]:
    """Unmixed key and length of each word; counts of characters are added to `row`."""
    words: list[tuple[int, int]] = []
    word = length = 0
    before = ""
    for r in runs:
        for c in text[run_start[r] : run_start[r + 1]]:
            what = character_class(c)
            if what in _IN_WORD and _CJK.match(c):
                if word:
                    words.append((word, length))
                    word = 0
                words.append((_cjk_word(before, c), _CJK_LENGTH))
                before = c
                row["words"] += 1
                row["link_words"] += bool(linked[r])
                row["strong_words"] += bool(strong[r])
                row["letters"] += _CJK_WIDTH
                row["chars"] += _CJK_WIDTH
                row["last"] = what
                continue
            before = ""
            if what in _IN_WORD:
                if not word:
                    word, length = _FNV_START, 0
                    row["words"] += 1
                    row["link_words"] += bool(linked[r])
                    row["strong_words"] += bool(strong[r])
                    row["capitals"] += what == _UPPER
                    row["numbers"] += what == _DIGIT
                row["digits" if what == _DIGIT else "letters"] += 1
                word = (word ^ _lower(c)) * _FNV_PRIME & _ALL_BITS
                length += 1
            elif word:
                words.append((word, length))
                word = 0
            if what != _SPACE:
                row["chars"] += 1
                row["last"] = what
                if what in _COUNTED:
                    row[_COUNTED[what]] += 1
    if word:
        words.append((word, length))
    return words


def node_tokens(
    tag: NDArray[np.uint16],
    attr_node: NDArray[np.int32],
    attr_name: NDArray[np.uint8],
    naming: NDArray[np.bool_],
    attr_start: NDArray[np.int32],
    attr_text: str,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Tokens of each node: its tag, and the pieces of its attributes with the `naming` codes (class, id, role).

    A name is split at characters that are not ASCII letters and before a capital after a small letter; each piece of
    two letters or more is a token, and so is each pair of neighbours within one name.
    """
    named = naming[attr_name]
    if len(attr_start) != len(attr_node) + 1 or len(named) != len(attr_node):
        raise ValueError("columns of different lengths")
    for k in range(len(attr_node)):
        if not 0 <= attr_start[k] <= attr_start[k + 1] <= len(attr_text):
            raise ValueError(f"attribute {k} is outside the text")
    of_node: dict[int, list[str]] = {}
    for k in np.flatnonzero(named).tolist():
        of_node.setdefault(int(attr_node[k]), []).append(attr_text[attr_start[k] : attr_start[k + 1]])
    ids, offsets = [], [0]
    for i, code in enumerate(tag.tolist()):
        ids.append(mixed(code + 1) >> (64 - TOKEN_BITS))
        emitted = 0
        for value in of_node.get(i, ()):
            before = 0
            for piece in _pieces(value):
                if piece is None:
                    before = 0
                elif piece and emitted < MOST_TOKENS:
                    ids.append(mixed(piece) >> (64 - TOKEN_BITS))
                    emitted += 1
                    if before:
                        ids.append(mixed((before * _GOLDEN + piece) & _ALL_BITS) >> (64 - TOKEN_BITS))
                        emitted += 1
                    before = piece
        offsets.append(len(ids))
    return np.array(ids, np.int32), np.array(offsets, np.int32)


def _pieces(value: str) -> list[int | None]:
    """Keys of the pieces of a name, 0 for one that is too short; None at white space."""
    found: list[int | None] = []
    piece, was_lower = "", False
    for c in value + " ":
        letter = c.isascii() and c.isalpha()
        if piece and (not letter or (c.isupper() and was_lower)):
            found.append(_fnv(piece.lower()) if len(piece) > 1 else 0)
            piece = ""
        if letter:
            piece += c
        elif c == " " or "\t" <= c <= "\r":
            found.append(None)
        was_lower = letter and c.islower()
    return found


def _fnv(word: str) -> int:
    value = _FNV_START
    for c in word:
        value = (value ^ ord(c)) * _FNV_PRIME & _ALL_BITS
    return value


def _token_sums(ids: NDArray[np.int32], offsets: NDArray[np.int32], weights: NDArray[np.int16]) -> NDArray[np.int32]:
    """The sum of the weights of each row's tokens."""
    if len(offsets) and offsets[-1] > len(ids):
        raise ValueError("offsets outside the tokens")
    sums = []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        for token in ids[a:b].tolist():
            if not 0 <= token < len(weights):
                raise ValueError(f"there is no weight of token {token}")
        sums.append(int(weights[ids[a:b]].sum(dtype=np.int64)))
    return np.array(sums, np.int32)


def _sums_above(parent: NDArray[np.int32], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each node the sum over itself and all its ancestors."""
    if len(parent) != len(values):
        raise ValueError("columns of different lengths")
    found: list[int] = []
    for i, value in enumerate(values.tolist()):
        found.append(value + (found[_parent(parent, i)] if i else 0))
    return np.array(found, np.int32)


def name_scores(
    parent: NDArray[np.int32],
    owner: NDArray[np.int32],
    nearest: NDArray[np.int32],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int32],
    near: NDArray[np.int16],
    mid: NDArray[np.int16],
    far: NDArray[np.int16],
) -> NDArray[np.float64]:
    """Scores of a block's own elements, of the two around them, of those further out."""
    count = np.diff(offsets)
    near_sums, mid_sums, far_sums = (_token_sums(ids, offsets, table) for table in (near, mid, far))
    above = _sums_above(parent, count)
    near_above, far_above = _sums_above(parent, near_sums), _sums_above(parent, far_sums)
    scores = np.empty((3, len(owner)))
    for b, (own, first) in enumerate(zip(owner.tolist(), nearest.tolist(), strict=True)):
        up = max(int(parent[own]), 0)
        higher = max(int(parent[up]), 0)
        beyond = max(int(parent[higher]), 0)
        inside = (
            (near_above[first] - near_above[up], above[first] - above[up]) if own else (near_above[first], above[first])
        )
        scores[0, b] = inside[0] / np.sqrt(inside[1])
        scores[1, b] = (mid_sums[up] + mid_sums[higher]) / np.sqrt(count[up] + count[higher])
        scores[2, b] = far_above[beyond] / np.sqrt(above[beyond])
    return scores


def linear_scores(
    names: NDArray[np.float64],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int32],
    words: NDArray[np.int16],
    headings: NDArray[np.int16],
    shift: int,
    before: NDArray[np.int64],
    scale: float,
    bias: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The linear model's scores of each block, and its score as a heading."""
    root = np.sqrt(np.maximum(np.diff(offsets), 1))
    said, heading = _token_sums(ids, offsets, words) / root, _token_sums(ids >> shift, offsets, headings) / root
    scores = np.vstack((said + names[0] + names[1] + names[2], said, names))
    if len(heading):
        scores[0] += np.where(before >= 0, heading[before], 0.0)
    scores /= scale
    scores[0] += bias
    return scores, heading / scale


def outline(
    parent: NDArray[np.int32],
    style: NDArray[np.uint64],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    owner: NDArray[np.int32],
    block_start: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The position of the blocks in the tree.

    Seven rows over the nodes: first block and end of the blocks in the subtree; depth; nearest and outermost repeated
    item around (a node with text that has at least `ITEMS` siblings of its style, itself among them; -1 for none);
    number of siblings of its style; its index among them. And for each block the group of blocks
    whose owners have the same styles from the root down, numbered in page order.
    """
    size, n = len(parent), len(owner)
    if not len(style) == len(text_start) == len(text_end) == size or not size or len(block_start) != n:
        raise ValueError("columns of different lengths")
    for k, o in enumerate(owner.tolist()):
        if not 0 <= o < size:
            raise ValueError(f"block {k} has the owner {o}")
    starts = block_start.tolist()
    first = [bisect_left(starts, at) for at in text_start.tolist()]
    last = [bisect_left(starts, at, lo=f) for f, at in zip(first, text_end.tolist(), strict=True)]
    depth, path, place = [0] * size, [0] * size, [0] * size
    times: dict[int, int] = {}
    keys = [0] * size
    for i in range(1, size):
        p = _parent(parent, i)
        depth[i] = depth[p] + 1
        path[i] = mixed((path[p] * _GOLDEN + int(style[i])) & _ALL_BITS)
        keys[i] = mixed((int(style[i]) + (p + 1) * _GOLDEN) & _ALL_BITS) | 1
        place[i] = times.get(keys[i], 0)
        times[keys[i]] = place[i] + 1
    item, outer, same = [-1] * size, [-1] * size, [1] * size
    for i in range(1, size):
        p = int(parent[i])
        same[i] = times[keys[i]]
        item[i], outer[i] = item[p], outer[p]
        if same[i] >= ITEMS and last[i] > first[i]:
            item[i] = i
            outer[i] = i if outer[i] < 0 else outer[i]
    numbers: dict[int, int] = {}
    group = [numbers.setdefault(path[o] | 1, len(numbers)) for o in owner.tolist()]
    return np.array([first, last, depth, item, outer, same, place], np.int32), np.array(group, np.int32)


def _running(values: Sequence[float]) -> list[float]:
    """Sums of the values before each place."""
    return list(accumulate(values, initial=0.0))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0


def _mean(part: list[float], whole: list[float], first: int, last: int) -> float:
    """The ratio of two running sums between two places, which are clipped to the page."""
    first, last = max(first, 0), min(last, len(whole) - 1)
    return _share(part[last] - part[first], whole[last] - whole[first])


def _signed(distance: float) -> float:
    return log1p(distance) if distance >= 0.0 else -log1p(-distance)


def _side(b: int, first: int, last: int) -> float:
    """The distance of a block to a range of blocks: negative before it, 0 inside."""
    return float(b - first if b < first else b - last + 1 if b >= last else 0)


def _best(parent: list[int], value: list[float]) -> tuple[int, list[int]]:
    """The first node of the highest value, and for each node the nearest of its ancestors around that node."""
    best = max(range(len(value)), key=lambda i: (value[i], -i))
    meet = [-1] * len(parent)
    i = best
    while i >= 0:
        meet[i] = i
        i = parent[i]
    for i in range(1, len(parent)):
        if meet[i] < 0:
            meet[i] = meet[parent[i]]
    return best, meet


def _rows(tree: NDArray[np.int32]) -> list[list[int]]:
    rows: list[list[int]] = tree.tolist()
    return rows


def _check_places(parent: list[int], tree: NDArray[np.int32], owner: list[int], group: list[int], n: int) -> None:
    first, last, _, item, outer = _rows(tree)[:5]
    for i in range(1, len(parent)):
        fits = 0 <= parent[i] < i and 0 <= first[i] <= last[i] <= n and -1 <= item[i] <= i and -1 <= outer[i] <= i
        if not fits:
            raise ValueError(f"node {i} does not fit")
    for b in range(n):
        if not 0 <= owner[b] < len(parent) or not 0 <= group[b] < n:
            raise ValueError(f"block {b} does not fit")


def _copies(keys: list[int], value: list[float]) -> tuple[dict[int, list[float]], list[list[float]]]:
    """The values of the blocks of each text, highest first; for each block those of the earlier ones of its text."""
    found: dict[int, list[float]] = {}
    earlier = []
    for key, mine in zip(keys, value, strict=True):
        earlier.append(list(found.get(key, ())))
        found.setdefault(key, []).append(mine)
    return {key: sorted(values, reverse=True) for key, values in found.items()}, earlier


def _rival(values: list[float], mine: float) -> float:
    """The highest value of the others, given all, highest first; the block's own if there are no others."""
    return mine if len(values) < 2 else values[1] if mine >= values[0] else values[0]


def _next_heading(level: list[int]) -> list[int]:
    """For each place the first heading from it on."""
    after = [len(level)] * (len(level) + 1)
    for b in range(len(level) - 1, -1, -1):
        after[b] = b if level[b] else after[b + 1]
    return after


def block_features(
    parent: NDArray[np.int32],
    marks: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    tree: NDArray[np.int32],
    owner: NDArray[np.int32],
    group: NDArray[np.int32],
    counts: NDArray[np.int32],
    text_key: NDArray[np.uint64],
    level: NDArray[np.uint8],
    linear: NDArray[np.float64],
    heading_score: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    """The features of each block, one row for each of `FEATURES`.

    `tree` and `group` come from `outline`, `counts` from `block_words`, `level` is the level of headings and
    0 elsewhere, `linear` has five rows of the linear model's scores (all, words, near, mid, far).
    """
    n, size = len(owner), len(parent)
    if not len(marks) == len(flags) == tree.shape[1] == size or len(tree) != 7 or not size:
        raise ValueError("columns of different lengths")
    if not len(group) == len(counts) == len(text_key) == len(level) == len(heading_score) == n:
        raise ValueError("columns of different lengths")
    if linear.shape != (5, n) or counts.shape[1:] != (len(COUNTS),):
        raise ValueError("columns of different lengths")
    ups, owners, groups, levels = parent.tolist(), owner.tolist(), group.tolist(), level.tolist()
    _check_places(ups, tree, owners, groups, n)
    first, last, depth, item, outer, same, place = _rows(tree)
    count = {name: [float(value) for value in counts[:, k].tolist()] for name, k in _COLUMN.items()}
    line = linear.tolist()
    size_of = count["words"]
    words, links, ends = _running(size_of), _running(count["link_words"]), _running(count["ends"])
    lines = _running([w * s for w, s in zip(size_of, line[0], strict=True)])
    mark, flag = marks.tolist(), flags.tolist()
    heads = _running([w if mark[o] & MARK["heading"] else 0.0 for w, o in zip(size_of, owners, strict=True)])
    hidden = _running([w if flag[o] & 1 else 0.0 for w, o in zip(size_of, owners, strict=True)])
    liked = _running([w if s > 0.0 else 0.0 for w, s in zip(size_of, line[0], strict=True)])
    prose = _running([w if e > 0 else 0.0 for w, e in zip(size_of, count["ends"], strict=True)])
    in_data = _running(count["in_data"])
    page = words[n]
    pictures = _running([1.0 if m & MARK["picture"] else 0.0 for m in mark])
    fields = _running([1.0 if m & MARK["field"] else 0.0 for m in mark])
    end = [i + 1 for i in range(size)]
    for i in range(size - 1, 0, -1):
        end[ups[i]] = max(end[ups[i]], end[i])

    def above(i: int) -> int:
        return ups[i] if i else 0

    def held(i: int) -> float:
        return words[last[i]] - words[first[i]]

    score = [0.0] * size
    for b in range(n):
        if count["chars"][b] >= PROSE_CHARACTERS:
            length = count["chars"][b] / 100.0
            value = (1.0 + count["commas"][b] + (length if length < 3.0 else 3.0)) * (
                1.0 - _share(count["link_words"][b], size_of[b])
            )
            p = above(owners[b])
            score[p] += value
            score[above(p)] += value / 2.0
    score = [value * (1.0 - _mean(links, words, first[i], last[i])) for i, value in enumerate(score)]
    top = max(0.0, *score)
    liking = [lines[last[i]] - lines[first[i]] + depth[i] * 1e-6 for i in range(size)]
    title, best_title = -1, 0.0
    for b in range(n):
        factor = 2.0 if levels[b] == 1 else 1.5 if levels[b] else 1.0
        value = _share(count["in_title"][b], size_of[b]) * count["in_title"][b] * factor
        if value > best_title:
            title, best_title = b, value
    titled = [0.0] * size
    if title >= 0:
        titled[owners[title]] = 1.0
    bests = [_best(ups, score), _best(ups, liking), _best(ups, titled)]
    keys = [key | 1 for key in text_key.tolist()]
    copies, earlier = _copies(keys, line[0])
    grouped = [[0.0] * 4 for _ in range(n)]
    for b in range(n):
        for k, value in enumerate((1.0, size_of[b], count["link_words"][b], size_of[b] * line[0][b])):
            grouped[groups[b]][k] += value
    after = _next_heading(levels)
    whole = [
        log1p(n), log1p(page), _share(links[n], page), _share(ends[n], page), _share(lines[n], page),
        _share(heads[n], page), _share(hidden[n], page), _share(liked[n], page), _share(prose[n], page),
        log1p(pictures[size]), log1p(fields[size]), _share(in_data[n], page),
    ]  # fmt: skip
    heading = -1
    rows: list[list[float]] = []
    for b in range(n):
        o, w = owners[b], size_of[b]
        at = {name: values[b] for name, values in count.items()}
        row = [
            log1p(w), log1p(at["chars"]), _share(at["letters"], w), _share(at["link_words"], w),
            _share(at["strong_words"], w), _share(at["digits"], at["chars"]), _share(at["capitals"], w),
            _share(at["numbers"], w), _share(at["ends"], w), _share(at["commas"], w),
            _share(at["signs"], at["chars"]), at["money"], _share(at["short"], w), _share(at["long"], w),
            _share(at["in_title"], w), at["in_title"], _share(at["in_summary"], w), log1p(at["in_summary"]),
            _share(at["in_data"], w), at["last"], levels[b],
        ]  # fmt: skip
        row += [1.0 if flag[o] & (1 << k) else 0.0 for k in range(3)]
        row += [1.0 if mark[o] & MARK[name] else 0.0 for name in SHOWN_MARKS]
        row += [line[k][b] for k in range(5)]
        many, said, linked, leaning = grouped[groups[b]]
        alike = copies[keys[b]]
        row += [len(alike), len(earlier[b]), line[0][b] - _rival(alike, line[0][b])]
        row += [log1p(many), _share(said, page), log1p(_share(said, many))]
        row += [_share(linked, said), _share(leaning, said)]
        for i in (item[o], outer[o]):
            if i < 0:
                row += [0.0] * len(ITEM_FEATURES)
                continue
            p = ups[i]
            row += [
                log1p(same[i]), _share(place[i], same[i]), log1p(held(i)), log1p(last[i] - first[i]),
                _mean(links, words, first[i], last[i]), pictures[end[i]] - pictures[i], _share(held(p), page),
                _mean(links, words, first[p], last[p]), _mean(lines, words, first[p], last[p]),
            ]  # fmt: skip
        i = o
        for _ in range(5):
            row += [
                log1p(held(i)), _mean(links, words, first[i], last[i]), _share(held(i), page),
                log1p(last[i] - first[i]), _mean(lines, words, first[i], last[i]), _share(score[i], top),
                _mean(ends, words, first[i], last[i]), log1p(same[i]),
            ]  # fmt: skip
            i = above(i)
        row += [pictures[end[i]] - pictures[i], fields[end[i]] - fields[i]]
        for i, meet in bests:
            side = _side(b, first[i], last[i])
            row += [depth[i] - depth[meet[o]], depth[o] - depth[meet[o]], _signed(side), _share(held(i), page)]
        if heading >= 0:
            i = above(owners[heading])
            row += [
                log1p(b - heading), levels[heading], float(heading_score[heading]), line[0][heading],
                _share(count["link_words"][heading], size_of[heading]),
                2.0 if b < last[i] else 1.0 if b < last[above(i)] else 0.0,
                log1p(words[b] - words[heading + 1]),
            ]  # fmt: skip
        else:
            row += [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, log1p(words[b])]
        row += [log1p(after[b + 1] - b), log1p(words[after[b + 1]] - words[b + 1])]
        row += [_share(b, n), _share(words[b], page), depth[o], _signed(b - title if title >= 0 else 0)]
        for k in (2, 7, 20):
            row += [_mean(part, words, b - k, b + k + 1) for part in (links, lines, ends)]
            a, z = max(b - k, 0), min(b + k + 1, n)
            row.append(log1p(_share(words[z] - words[a], z - a)))
        i = above(o)
        row += [_mean(in_data, words, b - 7, b + 8), _mean(in_data, words, first[i], last[i])]
        for k in (b - 1, b + 1):
            if 0 <= k < n:
                row += [log1p(size_of[k]), _share(count["link_words"][k], size_of[k]), line[0][k]]
                row.append(1.0 if groups[k] == groups[b] else 0.0)
            else:
                row += [0.0] * 4
        rows.append(row + whole)
        if levels[b]:
            heading = b
    out[:] = np.array(rows, np.float64).reshape(n, len(FEATURES)).T.astype(np.float32)


def context_features(
    parent: NDArray[np.int32],
    tree: NDArray[np.int32],
    owner: NDArray[np.int32],
    group: NDArray[np.int32],
    text_key: NDArray[np.uint64],
    level: NDArray[np.uint8],
    weight: NDArray[np.int32],
    probability: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    """Features from the first forest's probabilities of the blocks around, one row for each of `CONTEXTS`.

    `weight` is the words of a block.
    """
    n, size = len(owner), len(parent)
    if len(tree) != 7 or tree.shape[1] != size or not size:
        raise ValueError("columns of different lengths")
    if not len(group) == len(text_key) == len(level) == len(weight) == len(probability) == n:
        raise ValueError("columns of different lengths")
    ups, owners, groups, levels = parent.tolist(), owner.tolist(), group.tolist(), level.tolist()
    _check_places(ups, tree, owners, groups, n)
    first, last, depth, item, outer = _rows(tree)[:5]
    given, weights = probability.tolist(), weight.astype(np.float64).tolist()
    order = np.argsort(-probability, kind="stable")  # ranks: the share of the page's words with a higher probability
    rank = np.empty(n)
    rank[order] = np.cumsum(weight[order]) / max(weight.sum(), 1)
    hoped = [w * p for w, p in zip(weights, given, strict=True)]
    words, likes = _running(weights), _running(hoped)
    sure = sum(w for w, p in zip(weights, given, strict=True) if p > 0.5)
    page, expected = words[n], likes[n]

    def mean(i: int) -> float:
        return _mean(likes, words, first[i], last[i])

    value = [
        (likes[last[i]] - likes[first[i]]) - 0.5 * (words[last[i]] - words[first[i]]) + depth[i] * 1e-6
        for i in range(size)
    ]
    best, meet = _best(ups, value)
    keys = [key | 1 for key in text_key.tolist()]
    copies, earlier = _copies(keys, given)
    grouped = [[0.0, 0.0, 0.0] for _ in range(n)]
    for b in range(n):
        mine = grouped[groups[b]]
        mine[0] += weights[b]
        mine[1] += hoped[b]
        mine[2] = max(mine[2], given[b])
    after = _next_heading(levels)
    heading = -1
    rows: list[list[float]] = []
    for b in range(n):
        o = owners[b]
        row = [given[b], *(given[k] if 0 <= k < n else 0.0 for k in (b - 2, b - 1, b + 1, b + 2))]
        row += [_mean(likes, words, b - k, b + k + 1) for k in (2, 5, 12, 30)]
        row += [_mean(likes, words, b - 8, b), _mean(likes, words, b + 1, b + 9)]
        i = o
        for _ in range(5):
            row.append(mean(i))
            i = ups[i] if i else 0
        for i in (item[o], outer[o]):
            row += [-1.0, -1.0] if i < 0 else [mean(i), mean(ups[i])]
        total, hope, most = grouped[groups[b]]
        row += [_share(hope, total), most, depth[best] - depth[meet[o]], depth[o] - depth[meet[o]]]
        row += [_signed(_side(b, first[best], last[best])), _share(likes[last[best]] - likes[first[best]], expected)]
        following = after[b + 1]
        row += [
            mean(best), given[heading] if heading >= 0 else -1.0, _mean(likes, words, heading + 1, following),
            given[following] if following < n else -1.0, _share(likes[b], expected), float(rank[b]),
            _share(expected, page), log1p(expected), _share(sure, page), log1p(sure),
        ]  # fmt: skip
        alike = copies[keys[b]]
        row += [max(earlier[b], default=-1.0), given[b] - _rival(alike, given[b]) if len(alike) > 1 else 1.0]
        rows.append(row)
        if levels[b]:
            heading = b
    out[:] = np.array(rows, np.float64).reshape(n, len(CONTEXTS)).T.astype(np.float32)


def forest_sums(
    columns: NDArray[np.float32], feature: NDArray[np.int16], border: NDArray[np.float32], leaves: NDArray[np.int16]
) -> NDArray[np.int32]:
    """The sum of the leaves that each block falls into, in fixed point.

    The trees are oblivious: all nodes of a level have the same test, `columns[feature[t, d]] > border[t, d]`, and
    the answers are the bits of the leaf's number.
    """
    trees, levels = feature.shape
    if border.shape != (trees, levels) or leaves.shape != (trees, 1 << levels):
        raise ValueError("parts of a forest that do not fit")
    if levels > MOST_LEVELS:
        raise ValueError("trees of more than eight levels")
    sums = np.zeros(columns.shape[1], np.int32)
    for t in range(trees):
        leaf = np.zeros(columns.shape[1], np.int32)
        for d in range(levels):
            if not 0 <= feature[t, d] < len(columns):
                raise ValueError(f"there is no feature {feature[t, d]}")
            leaf |= (columns[feature[t, d]] > border[t, d]).astype(np.int32) << d
        sums += leaves[t, leaf]
    return sums


def forest_row(
    row: NDArray[np.float32], feature: NDArray[np.int16], border: NDArray[np.float32], leaves: NDArray[np.int16]
) -> NDArray[np.int64]:
    """The sums of the leaves that one row of features falls into, for each output."""
    return np.array([forest_sums(row[:, None], feature, border, output)[0] for output in leaves], np.int64)


def distinct_sums(ids: NDArray[np.int32], table: NDArray[np.int16]) -> tuple[int, NDArray[np.int64]]:
    """The number of distinct ids, and the sum of their rows of a table."""
    distinct = np.unique(ids)
    if len(distinct) and not 0 <= distinct[0] <= distinct[-1] < len(table):
        raise ValueError(f"there is no row {distinct[-1] if distinct[0] >= 0 else distinct[0]}")
    return len(distinct), table[distinct].sum(axis=0, dtype=np.int64)


# The cut of a page


def best_cut(probability: NDArray[np.float64], words: NDArray[np.int32], square: float) -> tuple[float, float]:
    """The lowest probability that is kept, and the expected F of the page; `square` is beta squared.

    Only sets of all blocks above some probability are tried; ties go to the shorter text.
    """
    if len(words) != len(probability):
        raise ValueError(f"{len(words)} counts for {len(probability)} blocks")
    if not words.any():
        return np.inf, 0.0
    order = np.argsort(-probability, kind="stable")
    ranked = probability[order]
    hoped = np.cumsum(ranked * words[order])
    found = np.round((1.0 + square) * hoped / np.maximum(np.cumsum(words[order]) + square * hoped[-1], 1e-9), 6)
    found[:-1][ranked[1:] == ranked[:-1]] = -1.0  # equal probabilities are kept or removed together
    best = int(np.argmax(found))
    return float(ranked[best]), float(found[best])
