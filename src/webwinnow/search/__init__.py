"""Search in clean records: an index of abstracts above one of full texts (DocView 7.3), on tantivy (extra search)."""
