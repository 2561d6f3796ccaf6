"""Reader `farmlines`: a file that begins with `#pages` and has one page on each line, as URL, tab and HTML."""

from __future__ import annotations

from collections.abc import Iterator

from webwinnow.page.records import PageRecord
from webwinnow.run.readers import Reader, Source


class LineReader(Reader):
    """One page per line."""

    kind, suffixes, is_text = "lines of pages", (".pages",), True

    def begins(self, text: bytes) -> bool:
        return text.startswith(b"#pages\n")

    def pages(self, source: Source) -> Iterator[PageRecord]:
        for line in source.stream.read(source.limits.max_page_bytes).splitlines()[1:]:
            url, _, body = line.partition(b"\t")
            yield PageRecord(url=url.decode("utf-8", "replace"), body=body)


READER = LineReader()
