"""Records as CSV, as Dublin Core, and as folders with one Markdown or HTML file per page."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Final

from webwinnow.page.urls import is_safe_link
from webwinnow.record.fields import CONTENT_FIELDS, Fields, Record, ordered, page_fields

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_NOT_IN_URL: Final = re.compile(r"\s")

# CSV (RFC 4180)

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
"""Characters that make a spreadsheet treat a cell as a formula."""


def write_csv(records: Iterable[Record], out: SupportsWrite[bytes], fields: Fields | None = None) -> None:
    """Write a line of names, then one record per line; nulls are empty, lists are JSON.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, since pages are untrusted.
    """
    fields = fields or page_fields()
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([field.name for field in fields])
    for record in records:
        row = ordered(record, fields)
        writer.writerow([_cell(row.get(field.name)) for field in fields])
        _flush(buffer, out)
    _flush(buffer, out)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _flush(buffer: io.StringIO, out: SupportsWrite[bytes]) -> None:
    out.write(buffer.getvalue().encode("utf-8", "replace"))
    buffer.seek(0)
    buffer.truncate()


# Dublin Core: fifteen elements that libraries and archives exchange, in the XML of OAI-PMH (`oai_dc`)

DCMI_TYPES: Final = {"topic": "Text", "hub": "Collection", "image": "Image"}
"""The types of DocView in the DCMI Type Vocabulary."""
_NAMESPACES: Final = (
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 forbids, escaped or not (its production 2)."""


def dublin_core(record: Record) -> list[tuple[str, str]]:
    """Return a record as (element, value) pairs in the order of the elements; empty values are omitted."""
    return [(element, value) for element, value in _elements(record) if value]


def _elements(record: Record) -> Iterator[tuple[str, str]]:
    yield "title", record.get("title") or ""
    yield from (("creator", name.strip()) for name in (record.get("author") or "").split(";"))
    yield from (("subject", keyword) for keyword in record.get("keywords") or ())
    yield "subject", record.get("category") or ""
    yield "description", record.get("abstract") or record.get("description") or ""
    yield "publisher", record.get("site_name") or record.get("site") or ""
    yield "date", record.get("date") or ""
    yield "type", DCMI_TYPES.get(record.get("type") or "", "")
    yield "format", "text/html"
    yield "identifier", record.get("url") or ""
    yield "source", record.get("replica_of") or ""
    yield "language", record.get("lang") or ""
    yield from (("relation", link) for link in record.get("links") or ())


def write_dublin_core(records: Iterable[Record], out: SupportsWrite[bytes], _fields: Fields | None = None) -> None:
    """Write the kept pages as one XML document with one description per page; other pages are omitted."""
    out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<records {_NAMESPACES}>\n".encode())
    for record in records:
        if record.get("outcome") == "kept":
            lines = [f"  <dc:{name}>{_xml_text(value)}</dc:{name}>" for name, value in dublin_core(record)]
            out.write("\n".join([" <oai_dc:dc>", *lines, " </oai_dc:dc>\n"]).encode("utf-8", "replace"))
    out.write(b"</records>\n")


def _xml_text(value: str) -> str:
    return html.escape(_NOT_IN_XML.sub("\ufffd", value), quote=False)


# Links as graphs

_GRAPHML_KEYS: Final = (
    ("site", "node", "string"),
    ("anchor", "edge", "string"),
    ("kind", "edge", "string"),
    ("score", "edge", "double"),
    ("kept", "edge", "boolean"),
)
"""Data of nodes and edges in GraphML; the id of a node is its URL."""
EDGES_IN_MEMORY: Final = 1 << 24
EDGES_AT_ONCE: Final = 1 << 20
"""Bytes of edges that wait in memory rather than on disk, and that are copied at a time."""


def write_graphml(records: Iterable[Record], out: SupportsWrite[bytes], _fields: Fields | None = None) -> None:
    """Write links as a directed graph in GraphML (Gephi, NetworkX, igraph): a node per URL, an edge per link.

    Nodes come first, because the site of a page that earlier links lead to is known when its own links are; edges are
    kept in a temporary file meanwhile.
    """
    out.write(b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for name, whose, kind in _GRAPHML_KEYS:
        out.write(f'<key id="{name}" for="{whose}" attr.name="{name}" attr.type="{kind}"/>\n'.encode())
    out.write(b'<graph edgedefault="directed">\n')
    sites: dict[str, object] = {}
    with SpooledTemporaryFile(EDGES_IN_MEMORY) as edges:
        for record in records:
            source, target = (_xml_attribute(str(record.get(name) or "")) for name in ("source", "target"))
            sites[source] = record.get("site") if sites.get(source) is None else sites[source]
            sites.setdefault(target, None)
            edge = {name: record.get(name) for name, whose, _ in _GRAPHML_KEYS if whose == "edge"}
            line = f'<edge source="{source}" target="{target}">{_graph_data(edge)}</edge>\n'
            edges.write(line.encode("utf-8", "replace"))
        for url, site in sites.items():
            out.write(_node(url, site).encode("utf-8", "replace"))
        edges.seek(0)
        while some := edges.read(EDGES_AT_ONCE):
            out.write(some)
    out.write(b"</graph>\n</graphml>\n")


def _node(url: str, site: object) -> str:
    return f'<node id="{url}">{_graph_data({"site": site})}</node>\n'


def _graph_data(values: dict[str, object]) -> str:
    written = {name: str(value) for name, value in values.items() if value is not None}
    written |= {name: value.lower() for name, value in written.items() if isinstance(values[name], bool)}
    return "".join(f'<data key="{name}">{_xml_text(value)}</data>' for name, value in written.items())


def _xml_attribute(value: str) -> str:
    return html.escape(_NOT_IN_XML.sub("\ufffd", value))


def write_edges(records: Iterable[Record], out: SupportsWrite[bytes], _fields: Fields | None = None) -> None:
    """Write links as an edge list, one per line: source, tab, target. URLs are canonical and have no white space."""
    for record in records:
        pair = (_NOT_IN_URL.sub("", str(record.get(name) or "")) for name in ("source", "target"))
        out.write("\t".join(pair).encode("utf-8", "replace") + b"\n")


# One file per page. Its name is a slug and a hash that makes it unique; a URL's path is untrusted and never used.

MAX_SLUG: Final = 60
HASH_BYTES: Final = 10  # of BLAKE2b: among a billion files two share a name with a probability below one in a million
NO_SLUG: Final = "page"

_NOT_IN_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SCHEME_AND_QUERY: Final = re.compile(r"^[a-z][a-z0-9+.\-]*:/*|[?#].*$", re.IGNORECASE | re.DOTALL)
# JSON is YAML except for characters that JSON leaves unescaped and YAML does not print (YAML 1.2.2, 5.1) or takes for
# the end of a line (YAML 1.1, 4.2).
_NOT_IN_YAML: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_IS_DOCUMENT: Final = re.compile(r"\s*<(?:!doctype|html)[\s>]", re.IGNORECASE)


def write_markdown_files(records: Iterable[Record], folder: Path, fields: Fields | None = None) -> None:
    """Write one Markdown file per record, also for failed pages: their front matter says what happened."""
    _write_files(records, folder, ".md", lambda record: markdown_file(record, fields))


def write_html_files(records: Iterable[Record], folder: Path, fields: Fields | None = None) -> None:
    """Write one HTML file per record, also for failed pages: their head says what happened."""
    _write_files(records, folder, ".html", lambda record: html_file(record, fields))


def _write_files(records: Iterable[Record], folder: Path, suffix: str, render: Callable[[Record], str]) -> None:
    for ordinal, record in enumerate(records):
        with (folder / file_name(record, ordinal, suffix)).open("xb") as file:
            file.write(render(record).encode("utf-8", "replace"))


def file_name(record: Record, ordinal: int, suffix: str) -> str:
    """Return the file name of a record: a slug of its title or URL, and a hash of its URL and output position."""
    url = str(record.get("url") or "")
    key = f"{ordinal}\n{url}".encode("utf-8", "replace")
    slug = _slug(str(record.get("title") or "")) or _slug(_SCHEME_AND_QUERY.sub("", url)) or NO_SLUG
    return f"{slug}-{hashlib.blake2b(key, digest_size=HASH_BYTES).hexdigest()}{suffix}"


def _slug(text: str) -> str:
    """Return a text as ASCII letters, digits and hyphens, without accents."""
    plain = unicodedata.normalize("NFKD", text[: MAX_SLUG * 10]).encode("ascii", "ignore").decode("ascii").lower()
    return _NOT_IN_SLUG.sub("-", plain).strip("-")[:MAX_SLUG].rstrip("-")


def markdown_file(record: Record, fields: Fields | None = None) -> str:
    """Return a record as Markdown: metadata as front matter with JSON quoting, then the content."""
    lines = [f"{name}: {_yaml_value(value)}" for name, value in _metadata(record, fields).items()]
    content = record.get("markdown") or record.get("text") or ""
    return "\n".join(["---", *lines, "---", "", content.strip("\n"), ""])


def _yaml_value(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def html_file(record: Record, fields: Fields | None = None) -> str:
    """Return a record as an HTML document: metadata as meta elements, then the content.

    Content that is already a document is unchanged; a record without HTML shows its text, escaped.
    """
    content = record.get("html") or ""
    if _IS_DOCUMENT.match(content):
        return str(content)
    if not content and record.get("text"):
        content = f"<pre>{html.escape(record['text'])}</pre>"
    metadata = _metadata(record, fields)
    lang = f' lang="{html.escape(str(metadata["lang"]))}"' if metadata.get("lang") else ""
    head = [f"<title>{html.escape(str(metadata.get('title', '')))}</title>"]
    if is_safe_link(str(metadata.get("url", ""))):
        head.append(f'<link rel="canonical" href="{html.escape(str(metadata["url"]))}">')
    for name, value in metadata.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        head.append(f'<meta name="webwinnow:{name}" content="{html.escape(text)}">')
    opening = f'<!doctype html>\n<html{lang}>\n<head>\n<meta charset="utf-8">'
    return "\n".join([opening, *head, "</head>\n<body>", content.strip("\n"), "</body>\n</html>\n"])


def _metadata(record: Record, fields: Fields | None) -> dict[str, object]:
    row = ordered(record, fields)
    return {name: value for name, value in row.items() if name not in CONTENT_FIELDS and value not in (None, [])}
