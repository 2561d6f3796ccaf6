"""The clean page: text, Markdown, HTML, the fields of a record, and the quality of its text."""
