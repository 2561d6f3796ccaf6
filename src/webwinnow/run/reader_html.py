"""HTML: a file is one page."""

from __future__ import annotations

from collections.abc import Iterator

from webwinnow.page.records import PageRecord
from webwinnow.run.readers import Reader, Source, begins_as_html, has_html_inside


class HtmlReader(Reader):
    """A page; its URL is the path of its file."""

    kind, suffixes, is_text, may_be_empty = "HTML", (".html", ".htm", ".xhtml", ".xht"), True, True

    def begins(self, text: bytes) -> bool:
        """Whether it begins with a tag or a comment."""
        return begins_as_html(text)

    def inside(self, text: bytes) -> bool:
        """Whether a tag of a document follows."""
        return has_html_inside(text)

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """The page."""
        limits, stream = source.limits, source.stream
        body = stream.read(limits.max_page_bytes + 1)
        refused = stream.problem
        if not refused and len(body) > limits.max_page_bytes:
            refused = f"the page has more than {limits.max_page_bytes} bytes"
        elif not refused and stream.packing and limits.ratio_floor < len(body) > limits.max_ratio * stream.taken:
            refused = f"the page unpacks to more than {limits.max_ratio} times its {stream.packing} size"
        yield PageRecord(url=source.url, body=b"" if refused else body, refused=refused)


READER = HtmlReader()
