"""A collection of parsed pages: the store on disk, the workers, and the jobs between them."""

from __future__ import annotations

from webwinnow.collection.parsedcollection import ParsedCollection
from webwinnow.collection.settings import CollectionSettings, RunSettings

__all__ = ["CollectionSettings", "ParsedCollection", "RunSettings"]
