"""The options of commands that make feature vectors."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

from webwinnow.cli import options as opt
from webwinnow.errors import SettingsError
from webwinnow.features.vectors import FEATURE_KINDS, VectorSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.site.featureweights import CstWeightSettings

_WEIGHTING = (
    "How features are weighted: by their site (cst), by their site and all sites (wplus), by counts (tfidf), or by "
    "counts in cleaned pages so that subjects count and sites do not (topic)"
)
Weighting = Annotated[str, opt.setting(f"{_WEIGHTING}.")]
WeightingUnlessGiven = Annotated[str | None, opt.setting(f"{_WEIGHTING}. [default: topic, or that of the .npz file]")]
Kinds = Annotated[str, opt.setting(f"Kinds of features, separated by commas: {', '.join(FEATURE_KINDS)}.")]
WeightSettings = Annotated[
    list[str] | None,
    opt.setting(
        "Setting of a method, as in cst.informative=0.2; repeatable. Only those of the weights apply.",
        "--set",
        metavar="NAME=VALUE",
    ),
]


def weight_settings(pairs: list[str] | None, weighting: str, *, mapped: bool = True) -> CstWeightSettings:
    """The settings of feature weights that --set and --mapped give to a weighting; `SettingsError` if it reads none."""
    if pairs and not VectorSettings(weighting=weighting).learns_sites:
        name = pairs[0].partition("=")[0].strip()
        raise SettingsError(f"{name} has no effect with --weighting {weighting}; leave it out")
    known = asdict(replace(VectorSettings().weights, mapped=mapped))
    for pair in pairs or ():
        if pair.partition("=")[0].strip().removeprefix("cst.") not in known:
            expected = ", ".join(f"cst.{name}=..." for name in known)
            raise SettingsError(f"there is no setting {pair!r} of the weights; expected one of {expected}")
    weights: CstWeightSettings = CleaningSettings.from_pairs(pairs or (), cst=known).cst.weights
    return weights
