"""`webwinnow.page._words` in plain Python: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from plain_hashing import name_hash
from plain_nodes import nearest

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SPACED_OR_NOT = re.compile(rf"(?P<spaced>(?:(?![{_UNSPACED}])[^\W_])+)|(?:(?=[{_UNSPACED}])[^\W_])+")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"(?=[^\W_])[{_CJK}]|[^\W{_CJK}]+")


def run_words(text: str, starts: NDArray[np.int32], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    r"""How many words (`\w+`; each Han, kana or Hangul character) each counted run has; 0 for the others."""
    _check_runs(text, starts, len(counted))
    found = [len(_WORD.findall(text[a:b])) for a, b in pairwise(starts.tolist())]
    return np.where(counted, np.array(found, np.int64), 0)


def blank_runs(text: str, starts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which runs of a text are blank."""
    _check_runs(text, starts, len(starts) - 1)
    return np.array([not text[a:b].strip() for a, b in pairwise(starts.tolist())], np.bool_)


def _check_runs(text: str, starts: NDArray[np.int32], runs: int) -> None:
    if len(starts) != runs + 1:
        raise ValueError(f"{len(starts)} offsets for {runs} runs")
    for r, (a, b) in enumerate(pairwise(starts.tolist())):
        if not 0 <= a <= b <= len(text):
            raise ValueError(f"run {r} is outside the text")


def word_hash(word: str) -> int:
    """The hash of a word in lower case, letter by letter."""
    return name_hash("".join(character.lower()[0] for character in word))


def word_spans(
    text: str, starts: NDArray[np.int32], counted: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Words of the counted runs: hash, run, start and end of each.

    A word is a sequence of letters and digits; in scripts without blanks between words it is each pair of neighbours,
    or a single character.
    """
    _check_runs(text, starts, len(counted))
    bounds = starts.tolist()
    found: list[tuple[int, int, int, int]] = []
    for r in np.flatnonzero(counted).tolist():
        for match in _SPACED_OR_NOT.finditer(text, bounds[r], bounds[r + 1]):
            a, b = match.span()
            if match["spaced"] or b - a == 1:
                found.append((word_hash(text[a:b]), r, a, b))
            else:
                found.extend((word_hash(text[k : k + 2]), r, k, k + 2) for k in range(a, b - 1))
    runs, begins, ends = (np.array([word[k] for word in found], np.int32) for k in (1, 2, 3))
    return np.array([word[0] for word in found], np.uint64), runs, begins, ends


def link_hashes(
    text: str, starts: NDArray[np.int32], which: NDArray[np.int64], link_feature: Callable[[str], str]
) -> NDArray[np.uint64]:
    """The hashes of the link features of URLs, which are runs of a text; `words.link_feature` names them."""
    _check_runs(text, starts, len(starts) - 1)
    found = []
    for k in which.tolist():
        if not 0 <= k < len(starts) - 1:
            raise ValueError(f"no run {k} of {len(starts) - 1}")
        found.append(name_hash(link_feature(text[starts[k] : starts[k + 1]])))
    return np.array(found, np.uint64)


def image_hashes(
    text: str, starts: NDArray[np.int32], which: NDArray[np.int64], image_feature: Callable[[str], str]
) -> NDArray[np.uint64]:
    """As `link_hashes`, of images; `words.image_feature` names them."""
    return link_hashes(text, starts, which, image_feature)


def folded_text(
    text: str,
    starts: NDArray[np.int32],
    owner: NDArray[np.int32],
    before: NDArray[np.int32],
    wanted: NDArray[np.bool_],
    parent: NDArray[np.int32],
    parting: NDArray[np.bool_],
) -> bytes:
    """The wanted runs of a page as UTF-8, case and white space folded, with a blank where a splitting node separates
    two.

    Two runs are separated when the nearest splitting nodes around them differ or one opens between them.
    """
    _check_runs(text, starts, len(wanted))
    if len(owner) != len(wanted) or len(before) != len(wanted):
        raise ValueError("columns of different lengths")
    for r, (node, follower) in enumerate(zip(owner.tolist(), before.tolist(), strict=True)):
        if not 0 <= node < len(parent) or not 0 <= follower <= len(parent):
            raise ValueError(f"run {r} is outside the tree")
    around = nearest(parent, parting)
    said, last = "", None
    for r in np.flatnonzero(wanted).tolist():
        place = around[owner[r]], parting[: before[r]].sum()
        if last is not None and place != last:
            said += " "
        said += text[starts[r] : starts[r + 1]]
        last = place
    return " ".join(said.casefold().split()).encode("utf-8", "replace")
