"""Search in clean records: an index of abstracts above one of full texts (DocView 7.3), on tantivy (extra `search`)."""

from webwinnow.search.index import IndexFolder, IndexSettings
from webwinnow.search.query import Hit, SearchResult, SearchSettings, Snippet, search, suggest

__all__ = ["Hit", "IndexFolder", "IndexSettings", "SearchResult", "SearchSettings", "Snippet", "search", "suggest"]
