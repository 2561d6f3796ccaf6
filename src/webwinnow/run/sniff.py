"""The format of a file by its first bytes, or by its name if it is plain text of no known format."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath
from typing import Final

from webwinnow.errors import InputError

HEAD_BYTES: Final = 4096  # comments and an XML prologue may come before a page's markup
EXPECTED: Final = "expected HTML, WARC, WACZ, JSONL or Parquet"


class Content(Enum):
    """The formats of files that contain pages."""

    HTML = "HTML"
    WARC = "WARC"
    WACZ = "WACZ"
    JSONL = "JSONL"
    PARQUET = "Parquet"


_SUFFIXES: Final = {
    ".html": Content.HTML,
    ".htm": Content.HTML,
    ".xhtml": Content.HTML,
    ".xht": Content.HTML,
    ".warc": Content.WARC,
    ".wacz": Content.WACZ,
    ".jsonl": Content.JSONL,
    ".ndjson": Content.JSONL,
    ".parquet": Content.PARQUET,
    ".pq": Content.PARQUET,
}
_PACKED_SUFFIXES: Final = (".gz", ".zst")

_FOREIGN: Final = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (an image, sound or film)"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\xfd7zXZ\0", "an xz file: unpack it first"),
    (b"\x04\x22\x4d\x18", "an lz4 file: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"\x1f\x8b", "gzip inside a compressed file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd inside a compressed file: unpack it first"),
    (b"\xd0\xcf\x11\xe0", "an Office document"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"ARROW1", "an Arrow file: write it as Parquet"),
    (b"ORC", "an ORC file: write it as Parquet"),
)

# The tags by which the WHATWG MIME sniffing standard (7.1) recognises HTML, and the other elements of a head.
_TAG: Final = rb"(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|base)"
_STARTS_AS_HTML: Final = re.compile(rb"<" + _TAG + rb"[\s/>]|<!--", re.IGNORECASE)
_HTML_INSIDE: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE)
_HTML_DOCUMENT: Final = re.compile(
    rb"(?>\s+|<!--.*?-->|<\?xml[^>]*>)*+<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)  # atomic: a comment ends at its first -->, whatever follows, so nothing is tried twice
_JSON_OBJECT: Final = re.compile(rb'\{\s*["}]')
_JSON_ARRAY: Final = re.compile(rb"\[\s*[\[{\"\]]")
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # the binary data bytes of MIME sniffing (3), less ESC


def content_by_name(name: str) -> Content | None:
    """Return the format that a file name suggests, with or without .gz or .zst, or None."""
    path = PurePath(name.lower())
    if path.suffix in _PACKED_SUFFIXES:
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix)


def content_of(head: bytes, name: str) -> Content:
    """Return the format of the input called `name` whose first unpacked bytes are `head`; `InputError` if unknown.

    The bytes take precedence over the name. The name decides for other text (a fragment of HTML, a bad line of JSON)
    and for an empty file.
    """
    text = _as_ascii(head)
    named = content_by_name(name)
    if head.startswith(b"WARC/"):
        return Content.WARC
    if head.startswith(b"PAR1"):
        return Content.PARQUET
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Content.WACZ
    for magic, kind in _FOREIGN:
        if head.startswith(magic):
            raise InputError(f"{name}: is {kind}; {EXPECTED}")
    if _JSON_OBJECT.match(text):
        return Content.JSONL
    if _JSON_ARRAY.match(text):
        raise InputError(f"{name}: is a JSON array; expected JSONL, one object a line (jq -c '.[]' makes that of it)")
    if _STARTS_AS_HTML.match(text) or (text.startswith(b"<") and _HTML_INSIDE.search(text)):
        return Content.HTML
    if named is Content.HTML and _HTML_INSIDE.search(text):
        return Content.HTML
    if not text:
        if named in {Content.HTML, Content.JSONL, Content.WARC}:
            return named
        raise InputError(f"{name}: is empty; {EXPECTED}")
    if _BINARY.search(text):
        raise InputError(f"{name}: is a binary file of an unknown kind; {EXPECTED}")
    if named in {Content.HTML, Content.JSONL}:
        return named
    if not PurePath(name).suffix and _HTML_INSIDE.search(text):
        return Content.HTML
    raise InputError(f"{name}: is plain text; {EXPECTED}")


def surely_no_page(head: bytes) -> str | None:
    """Name the format of bytes that cannot be a page, whatever their name; None if they may be one, as any text may."""
    if head.startswith(b"PK\x03\x04"):
        return "WACZ or another zip archive"
    for magic, kind in ((b"WARC/", "WARC"), (b"PAR1", "Parquet"), *_FOREIGN):
        if head.startswith(magic):
            return kind
    text = _as_ascii(head)
    return "JSONL" if _JSON_OBJECT.match(text) else "a JSON array" if _JSON_ARRAY.match(text) else None


def looks_like_html(head: bytes) -> bool:
    """Whether bytes without a name or a type are a page, or the start of one."""
    text = _as_ascii(head[:HEAD_BYTES])
    return bool(_STARTS_AS_HTML.match(text) or _HTML_INSIDE.search(text)) and not _BINARY.search(text)


def is_html_document(head: bytes) -> bool:
    """Whether bytes are certainly a page: only comments come before its doctype or <html>."""
    return bool(_HTML_DOCUMENT.match(_as_ascii(head[:HEAD_BYTES])))


def _as_ascii(head: bytes) -> bytes:
    """Strip a byte order mark and leading white space; convert UTF-16 to ASCII for the patterns here."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(encoding, "ignore").encode("ascii", "replace").lstrip()
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()
