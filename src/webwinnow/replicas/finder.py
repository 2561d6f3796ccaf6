"""`ReplicaFinder`: pages in, one at a time; their replicas out."""

from __future__ import annotations

import numpy as np

from webwinnow.cleanpage import CleanPage
from webwinnow.pagemeta import metadata
from webwinnow.replicas.find import Replicas, find_replicas
from webwinnow.replicas.settings import ReplicaSettings
from webwinnow.replicas.sketch import Standing, page_sketch, sketch, sketch_type
from webwinnow.replicas.telling import telling_runs

__all__ = ["ReplicaFinder"]


class ReplicaFinder:
    """Gathers pages, some 340 bytes of each, and says which are replicas of which.

    >>> finder = ReplicaFinder()
    >>> story = "the mill by the river grinds grain for all the villages around it"
    >>> for url in ("http://b.example/long/story", "http://a.example/story"):
    ...     _ = finder.add(story, Standing(url=url))
    >>> finder.find().stays.tolist()
    [1, 1]
    """

    def __init__(self, settings: ReplicaSettings | None = None) -> None:
        self.settings = settings or ReplicaSettings()
        self._rows = bytearray()
        self._type = sketch_type(self.settings.method)

    def __len__(self) -> int:
        return len(self._rows) // self._type.itemsize

    def add(self, page: CleanPage | str, standing: Standing | None = None) -> int:
        """Add a page, cleaned, or its text; returns its number. A cleaned page tells itself where it stands."""
        if isinstance(page, CleanPage):
            runs = telling_runs(page.tree, page.verdict)
            row = page_sketch(page.tree, runs, standing or _standing(page), self.settings)
        else:
            row = sketch(page, standing or Standing(), self.settings)
        row["ordinal"] = len(self)
        self._rows += row.tobytes()
        return len(self) - 1

    def find(self) -> Replicas:
        """The replicas among the pages so far."""
        return find_replicas(np.frombuffer(bytes(self._rows), self._type), self.settings)


def _standing(page: CleanPage) -> Standing:
    about = metadata(page.tree)
    return Standing(url=page.tree.url, title=about.title, date=about.date, canonical=page.tree.head.canonical)
