"""Search over clean records: an abstract index above a full-text index (DocView 7.3), on tantivy (extra `search`)."""

from webwinnow.search.index import IndexFolder, IndexSettings
from webwinnow.search.query import Hit, SearchResult, SearchSettings, search

__all__ = ["Hit", "IndexFolder", "IndexSettings", "SearchResult", "SearchSettings", "search"]
