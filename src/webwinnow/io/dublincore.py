"""Records as Dublin Core: fifteen elements that libraries and archives exchange, in the XML of OAI-PMH (`oai_dc`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from webwinnow.io.jsonl import Writable
from webwinnow.io.schema import Record

__all__ = ["dublin_core", "write_dublin_core"]

TYPES: Final = {"topic": "Text", "hub": "Collection", "image": "Image"}
"""The types of DocView in the DCMI Type Vocabulary."""
_NAMESPACES: Final = (
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 allows in no document, escaped or not (its production 2)."""


def dublin_core(record: Record) -> list[tuple[str, str]]:
    """A record as (element, value), in the order of the elements; what a record does not say is left out."""
    return [(element, value) for element, value in _elements(record) if value]


def _elements(record: Record) -> Iterator[tuple[str, str]]:
    yield "title", record.get("title") or ""
    yield from (("creator", name.strip()) for name in (record.get("author") or "").split(";"))
    yield from (("subject", keyword) for keyword in record.get("keywords") or ())
    yield "subject", record.get("category") or ""
    yield "description", record.get("abstract") or record.get("description") or ""
    yield "publisher", record.get("site_name") or record.get("site") or ""
    yield "date", record.get("date") or ""
    yield "type", TYPES.get(record.get("type") or "", "")
    yield "format", "text/html"
    yield "identifier", record.get("url") or ""
    yield "source", record.get("replica_of") or ""
    yield "language", record.get("lang") or ""
    yield from (("relation", link) for link in record.get("links") or ())


def write_dublin_core(records: Iterable[Record], out: Writable) -> None:
    """Write the kept pages as one XML document, a description a page; the others have nothing to describe."""
    out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<records {_NAMESPACES}>\n".encode())
    for record in records:
        if record.get("outcome") == "kept":
            lines = [f"  <dc:{name}>{_text(value)}</dc:{name}>" for name, value in dublin_core(record)]
            out.write("\n".join([" <oai_dc:dc>", *lines, " </oai_dc:dc>\n"]).encode("utf-8", "replace"))
    out.write(b"</records>\n")


def _text(value: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", value), quote=False)
