"""How much each group of features contributed to the page model's score of a block.

A group's features are set, on all blocks of the page, to those of a typical block of content, and then to those of a
typical block of noise. The contribution is the mean loss of score, for the block itself and through its neighbours.
This needs many scorings, so it is done only for explanations.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError
from webwinnow.judge.featureschema import CONTEXTS, FEATURES
from webwinnow.judge.models import PageModel, PageScores, sigmoid
from webwinnow.judge.reading import GENRES, context_features
from webwinnow.storage.modelfile import read_arrays

TYPICAL = Path(__file__).with_name("typical.npz")
"""The median features of blocks of content (first row) and of noise (second) in training; made by `make train`."""
WIDTH = len(FEATURES) + len(GENRES) + len(CONTEXTS)
_CONTEXT = len(FEATURES) + len(GENRES)
_OWN_CONTEXTS = ("given", "rank")
"""Contexts of the block itself."""


def _group(name: str) -> str:
    if "link_share" in name or name in ("above_pictures", "above_fields"):
        return "links"
    if name.startswith("linear_") or name in ("heading_score", "heading_linear"):
        return "names"
    if name.startswith(("title_", "summary_")) or "data" in name:
        return "title" if name not in ("title_up", "title_down", "title_side", "title_share") else "place"
    if name.startswith("page_"):
        return "page"
    if name.startswith(("copies", "earlier_", "copy_", "group_", "item_", "outer_")):
        return "repetition"
    if name.startswith("above"):
        return "containers"
    if name.startswith(("since_", "heading_", "until_")) or name == "level":
        return "headings"
    if name.startswith(("around", "before_", "after_")):
        return "neighbours"
    if name.startswith(("in_", "prose_", "liked_")) or name in ("place", "words_before", "depth", "from_title"):
        return "place"
    if name in ("hidden", "noscript"):
        return "hidden"
    return "text"


_GROUP_OF = [_group(name) for name in FEATURES]
GROUPS: dict[str, NDArray[np.int64]] = {
    name: np.array([k for k, group in enumerate(_GROUP_OF) if group == name]) for name in dict.fromkeys(_GROUP_OF)
} | {"genre": np.arange(len(FEATURES), _CONTEXT)}
"""Rows of `PageScores.features` by subject."""
_AROUND = np.array([_CONTEXT + k for k, name in enumerate(CONTEXTS) if name not in _OWN_CONTEXTS])


def pushes(model: PageModel, scores: PageScores) -> dict[str, NDArray[np.float64]]:
    """For each of `GROUPS` its contribution to each block's log odds of being main content."""
    if not len(scores.probability):
        return {name: np.zeros(0) for name in GROUPS}
    whole = model.second.logits(scores.features)
    found = {}
    for name, rows in GROUPS.items():
        without = [_without(model, scores, rows, values, around=name == "neighbours") for values in _typical()]
        found[name] = np.round(whole - (without[0] + without[1]) / 2.0, 3)
    return found


def _without(
    model: PageModel, scores: PageScores, rows: NDArray[np.int64], values: NDArray[np.float32], *, around: bool
) -> NDArray[np.float64]:
    """The second forest's score with some features set; `around` also sets the first scores of the blocks around."""
    wide = scores.features.copy()
    wide[rows] = values[rows, None]
    wide[_CONTEXT:] = context_features(scores.reading, sigmoid(model.first.logits(wide)))
    if around:
        wide[_AROUND] = values[_AROUND, None]
    return model.second.logits(wide)


@cache
def _typical() -> NDArray[np.float32]:
    try:
        found = read_arrays(TYPICAL, ["typical"])["typical"]
    except ValueError as error:
        raise ModelError(f"{TYPICAL} is not there or damaged ({error}); install again or `make train`") from None
    if found.shape != (2, WIDTH) or found.dtype != np.float32 or not np.isfinite(found).all():
        raise ModelError(f"{TYPICAL} was made for another version of webwinnow; run `make train`")
    return found
