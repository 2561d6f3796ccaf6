"""Boosted oblivious trees (CatBoost; Prokhorenkova et al. 2018), converted to `BoostedTrees`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoostClassifier, Pool
from numpy.typing import NDArray

from webwinnow.judge.models import LEAF_SCALE, BoostedTrees

__all__ = ["fit_forest"]

NEVER = float(np.finfo(np.float32).max)
"""Above every feature: the border of a level that a shallow tree lacks."""
LEAST_BORDER = 1e-9
"""Borders nearer to 0 are moved away from it: a sum that should be 0 may be 1e-18, by the order of summation."""
SHARED: dict[str, Any] = {
    "border_count": 32,
    "bootstrap_type": "Bernoulli",
    "subsample": 0.7,
    "l2_leaf_reg": 5,
    "thread_count": 2,
    "verbose": 0,
    "allow_writing_files": False,
}


def fit_forest(
    columns: NDArray[np.float32], target: NDArray[Any], weight: NDArray[np.float64], *, seed: int, **settings: Any
) -> BoostedTrees:
    """Train on features in the kernel's layout, one row per feature."""
    model = CatBoostClassifier(random_seed=seed, **SHARED, **settings)
    model.fit(Pool(columns.T, target, weight=weight))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return _forest(json.loads(path.read_text(encoding="utf-8")), settings["depth"])


def _forest(model: dict[str, Any], depth: int) -> BoostedTrees:
    _, bias = model["scale_and_bias"]
    outputs, trees = len(bias), model["oblivious_trees"]
    feature = np.zeros((len(trees), depth), np.int16)
    border = np.full((len(trees), depth), NEVER, np.float32)
    leaves = np.zeros((outputs, len(trees), 1 << depth), np.int16)
    for t, tree in enumerate(trees):
        for d, split in enumerate(tree["splits"]):
            feature[t, d], border[t, d] = split["float_feature_index"], split["border"]
        values = np.array(tree["leaf_values"]).reshape(-1, outputs).T
        leaves[:, t, : values.shape[1]] = np.clip(np.round(values * LEAF_SCALE), -32_767, 32_767)
    border = away_from_0(border)
    return BoostedTrees(feature=feature, border=border, leaves=leaves, bias=np.round(np.array(bias, np.float64), 6))


def away_from_0(border: NDArray[np.float32]) -> NDArray[np.float32]:
    """Borders with an absolute value of at least `LEAST_BORDER`."""
    least = np.copysign(np.float32(LEAST_BORDER), border)
    return np.where(np.abs(border) < LEAST_BORDER, least, border).astype(np.float32)
