"""The stage that fills the field `category` of records with classes, as `webwinnow classify apply` predicts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webwinnow.errors import SettingsError
from webwinnow.features.vectors import learn_weights
from webwinnow.record.cleaner import CleanPage
from webwinnow.run.stages import Stage
from webwinnow.site.featureweights import FeatureWeights

if TYPE_CHECKING:
    from webwinnow.classify.classmodel import ClassModel
    from webwinnow.page.tree import PageTree


class ClassStage(Stage):
    """Predicts classes. Its setting is the file of a model."""

    weights: FeatureWeights | None = None
    """Those of the words of the current site."""

    @cached_property
    def model(self) -> ClassModel:
        """The model."""
        from webwinnow.classify.classmodel import ClassModel  # noqa: PLC0415 (an optional extra)

        return ClassModel.load(Path(self.settings))

    def check(self, *, is_cluster: bool) -> None:
        """Raise `SettingsError` where pages could not be classified as `classify apply` does."""
        run = self.run
        if run.categories is not None:
            raise SettingsError("classes and categories both fill the category of a record: expected one of them")
        if is_cluster:
            raise SettingsError(
                "classes are predicted by the local engine; run `webwinnow classify apply` on its output"
            )
        if self.model.vectors.learns_sites and not run.learns:
            raise SettingsError(
                f"{run.classes} weighs words by their site, which method {run.method} does not learn here; "
                "expected a method that learns sites, no --models, or a model trained with --weighting tfidf"
            )

    def learn(self, trees: Callable[[], Iterable[PageTree]] | None) -> None:
        """Learn the weights of a site's words."""
        wanted = trees is not None and self.model.vectors.learns_sites
        self.weights = learn_weights(trees(), self.model.vectors.weights) if trees is not None and wanted else None

    def fill(self, clean: CleanPage, record: dict[str, Any]) -> None:
        """Fill `category` with a class that is certain enough."""
        found = self.model.classify(clean, self.weights)
        record["category"] = found.label if found.is_certain(self.run.class_none, self.run.class_least) else None


STAGE = ClassStage
