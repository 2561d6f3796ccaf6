"""The stage that writes the feature vectors of pages (`CleanPage.features`) instead of records, for training."""

from __future__ import annotations

from webwinnow.record.cleaner import CleanPage
from webwinnow.record.fields import Field
from webwinnow.run.stages import Stage, Tally
from webwinnow.storage.encoding import to_json


class VectorStage(Stage):
    """Writes the keys and weights of features."""

    lines = (Field("key"), Field("weight"))

    def page_lines(self, clean: CleanPage, about: dict[str, str | None]) -> tuple[bytes, list[Tally]]:
        """The features of a page."""
        del about
        features = clean.features
        return to_json({"key": features.key.tolist(), "weight": features.weight.tolist()}) + b"\n", []

    def failed_lines(self) -> bytes:
        """No features."""
        return b'{"key":null}\n'


STAGE = VectorStage
