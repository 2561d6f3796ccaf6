"""The stage that fills the field `category` of the records with the categories of DocView."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from webwinnow.classify.category import CategoryModel
from webwinnow.record.fields import Field
from webwinnow.run.stages import Stage

if TYPE_CHECKING:
    from webwinnow.run.settings import RunSettings


class CategoryStage(Stage):
    """Predicts categories from the features that keywords are chosen by. Its setting is the file of a model."""

    fields = (Field("category", about="the content category, if a model of categories was given", after="genre"),)

    def __init__(self, settings: str, run: RunSettings) -> None:
        super().__init__(settings, run)
        self.categories: CategoryModel = CategoryModel.load(Path(settings))
        self.cleaning = self.categories.cleaning

    def check(self, *, is_cluster: bool) -> None:
        """Raise `SettingsError` if the model was trained with pages that were cleaned in another way."""
        del is_cluster
        self.categories.check_cleaning(self.run.cleaned_by())


STAGE = CategoryStage
