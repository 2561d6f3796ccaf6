"""A collection of parsed pages: the store on disk, the workers, and the jobs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webwinnow.lazy import lazy_names

if TYPE_CHECKING:
    from webwinnow.collection.parsedcollection import ParsedCollection
    from webwinnow.collection.settings import CollectionSettings, RunSettings

__all__ = ["CollectionSettings", "ParsedCollection", "RunSettings"]

__getattr__ = lazy_names(
    __name__,
    {
        "parsedcollection": "ParsedCollection",
        "settings": "CollectionSettings RunSettings",
    },
)
