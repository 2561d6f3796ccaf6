"""The features of a typical block of content and of boilerplate: the baseline of `judge.contributions`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.pages import SINGLE, LabelledPage
from webwinnow.judge.featureschema import FEATURES
from webwinnow.judge.models import PageModel
from webwinnow.judge.reading import GENRES

__all__ = ["typical"]


def typical(pages: Sequence[LabelledPage], model: PageModel) -> NDArray[np.float32]:
    """Medians over the blocks of the single pages, those of content first; all genres have equal weight."""
    chosen = [page for page in pages if page.source == SINGLE]
    features = np.concatenate([model.score(page.tree).features for page in chosen], axis=1)
    content = np.concatenate([page.label for page in chosen]) >= 0.5
    found = np.stack([np.median(features[:, content], axis=1), np.median(features[:, ~content], axis=1)])
    found[:, len(FEATURES) : len(FEATURES) + len(GENRES)] = 1.0 / len(GENRES)
    return found.astype(np.float32)
