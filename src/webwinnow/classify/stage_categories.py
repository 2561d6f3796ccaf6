"""The stage that fills the field `category` of the records with the categories of DocView."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from webwinnow.classify.category import CategoryModel
from webwinnow.record.fields import Field
from webwinnow.run.stages import Stage


class CategoryStage(Stage):
    """Predicts categories from the features that keywords are chosen by. Its setting is the file of a model."""

    fields = (Field("category", about="the content category, if a model of categories was given", after="genre"),)

    @cached_property
    def categories(self) -> CategoryModel:
        """The model."""
        return CategoryModel.load(Path(self.settings))

    @property
    def cleaning(self) -> dict[str, Any]:
        """How its pages were cleaned."""
        return self.categories.cleaning

    def check(self, *, is_cluster: bool) -> None:
        """Raise `SettingsError` if the model was trained with pages that were cleaned in another way."""
        del is_cluster
        self.categories.check_cleaning(self.run.cleaned_by())


STAGE = CategoryStage
