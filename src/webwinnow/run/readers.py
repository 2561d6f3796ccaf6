"""Readers: the formats of inputs, each in a module `reader_NAME.py` that is found by its name.

The format of a file is decided by its first bytes, or by its name if it is plain text of no known format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final

from webwinnow import plugins
from webwinnow.errors import InputError

if TYPE_CHECKING:
    from webwinnow.page.records import PageRecord
    from webwinnow.run.rows import ColumnNames
    from webwinnow.run.unpacking import ProblemListener, ReadLimits, UnpackedStream

HEAD_BYTES: Final = 4096  # comments and an XML prologue may come before a page's markup
EXPECTED: Final = "expected HTML, WARC, WACZ, JSONL or Parquet"


@dataclass(frozen=True, slots=True)
class Source:
    """An open input: its bytes, unpacked in `stream`, and how to read it.

    `name` is for messages; `url` is that of the page if the input is a page; `label` names the column of the labels.
    """

    file: IO[bytes]
    stream: UnpackedStream
    name: str
    url: str
    limits: ReadLimits
    on_problem: ProblemListener
    columns: ColumnNames
    label: str | None = None


class Reader:
    """A format of inputs, or another origin of pages. A subclass says how it is recognised and read."""

    kind: ClassVar[str] = ""
    """What it is called."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Ends of file names, before .gz or .zst."""
    magic: ClassVar[tuple[bytes, ...]] = ()
    """First bytes of such a file, if it is no plain text."""
    is_text: ClassVar[bool] = False
    """Whether text that no reader recognises is read if its name has a suffix of this one."""
    may_be_empty: ClassVar[bool] = False
    settings: ClassVar[Any] = None
    """The class of the settings of `fetched`."""
    seeks: ClassVar[bool] = False
    """Whether it reads `Source.file` at any place; a pipe is copied to disk first."""

    def begins(self, text: bytes) -> bool:
        """Whether text certainly begins such a file."""
        del text
        return False

    def inside(self, text: bytes) -> bool:
        """Whether text with a suffix of this reader, or none, is such a file by what it contains."""
        del text
        return False

    def check(self, source: Source) -> None:
        """Raise `InputError` if an input is damaged or can have no pages."""

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """Read the pages of an input; damage is reported to `source.on_problem`."""
        raise NotImplementedError

    def count(self, path: Path) -> int | None:
        """The number of pages of a file, if it says so."""
        del path
        return None

    def takes(self, given: str) -> bool:
        """Whether an input is not a file but something that `fetched` makes files of, such as a URL."""
        del given
        return False

    def kept_file(self, out: str) -> Path:
        """The file beside the output `out` that `fetched` makes and keeps."""
        raise NotImplementedError

    def fetched(
        self, inputs: Sequence[str], out: str, settings: Any, *, resume: bool, **callbacks: Any
    ) -> AbstractContextManager[list[str]]:
        """The inputs with files in place of those that it `takes`; `out` is the output of the run."""
        raise NotImplementedError

    def page(self, given: str, settings: Any) -> PageRecord:
        """Fetch the page that an input names, which the reader `takes`."""
        raise NotImplementedError

    def rendered(self, page: PageRecord, settings: Any) -> PageRecord:
        """Render a page of a file. Its other files are requested if it has a URL."""
        raise NotImplementedError

    def after_stop(self, out: str) -> str | None:
        """What is kept of inputs that were being fetched when the user stopped the run, and how to go on."""
        raise NotImplementedError


@cache
def _built_in() -> tuple[Reader, ...]:
    return tuple(plugins.load("reader", name).READER for name in plugins.built_in("reader"))


@cache
def _installed() -> tuple[Reader, ...]:
    return tuple(plugins.load("reader", name).READER for name in plugins.installed("reader"))


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
JSON_OBJECT: Final = re.compile(rb'\{\s*["}]')
_JSON_ARRAY: Final = re.compile(rb"\[\s*[\[{\"\]]")
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # the binary data bytes of MIME sniffing (3), less ESC


def reader_by_name(name: str) -> Reader | None:
    """Return the reader of the format that a file name suggests, with or without .gz or .zst, or None."""
    path = PurePath(name.lower())
    if path.suffix in _PACKED_SUFFIXES:
        path = path.with_suffix("")
    suffix = path.suffix
    if not suffix:
        return None
    found = next((reader for reader in _built_in() if suffix in reader.suffixes), None)
    return found or next((reader for reader in _installed() if suffix in reader.suffixes), None)


def reader_of(head: bytes, name: str) -> Reader:
    """Return the reader of the input called `name` whose first unpacked bytes are `head`; `InputError` if unknown.

    The bytes take precedence over the name. The name decides for other text (a fragment of HTML, a bad line of JSON)
    and for an empty file. Readers of other packages are asked if none of ours knows the bytes.
    """
    text, named = _as_ascii(head), reader_by_name(name)
    foreign = next((kind for magic, kind in _FOREIGN if head.startswith(magic)), None)
    found = reader_by_magic(head) or _beginning(_built_in(), text)
    if found is None and (foreign is not None or named is None):
        found = reader_by_magic(head, _installed()) or _beginning(_installed(), text)
    if found is not None:
        return found
    if foreign is not None:
        raise InputError(f"{name}: is {foreign}; {EXPECTED}")
    if _JSON_ARRAY.match(text):
        raise InputError(f"{name}: is a JSON array; expected JSONL, one object a line (jq -c '.[]' makes that of it)")
    if named is not None and named.inside(text):
        return named
    if not text:
        if named is not None and named.may_be_empty:
            return named
        raise InputError(f"{name}: is empty; {EXPECTED}")
    if _BINARY.search(text):
        raise InputError(f"{name}: is a binary file of an unknown kind; {EXPECTED}")
    if named is not None and named.is_text:
        return named
    inside = None if PurePath(name).suffix else next((known for known in _built_in() if known.inside(text)), None)
    if inside is None:
        raise InputError(f"{name}: is plain text; {EXPECTED}")
    return inside


def reader_by_magic(head: bytes, readers: Iterable[Reader] | None = None) -> Reader | None:
    """Return the reader of a file that begins with these bytes, if they are no text."""
    known = _built_in() if readers is None else readers
    return next((reader for reader in known if reader.magic and head.startswith(reader.magic)), None)


def _beginning(readers: Iterable[Reader], text: bytes) -> Reader | None:
    return next((reader for reader in readers if reader.begins(text)), None)


def surely_no_page(head: bytes) -> str | None:
    """Name the format of bytes that cannot be a page, whatever their name; None if they may be one, as any text may."""
    if head.startswith(b"PK\x03\x04"):
        return "WACZ or another zip archive"
    for magic, kind in ((b"WARC/", "WARC"), (b"PAR1", "Parquet"), *_FOREIGN):
        if head.startswith(magic):
            return kind
    text = _as_ascii(head)
    return "JSONL" if JSON_OBJECT.match(text) else "a JSON array" if _JSON_ARRAY.match(text) else None


def looks_like_html(head: bytes) -> bool:
    """Whether bytes without a name or a type are a page, or the start of one."""
    text = _as_ascii(head[:HEAD_BYTES])
    return bool(_STARTS_AS_HTML.match(text) or _HTML_INSIDE.search(text)) and not _BINARY.search(text)


def begins_as_html(text: bytes) -> bool:
    """Whether text begins a page; a page may have other text before its first tag (`has_html_inside`)."""
    return bool(_STARTS_AS_HTML.match(text) or (text.startswith(b"<") and _HTML_INSIDE.search(text)))


def has_html_inside(text: bytes) -> bool:
    """Whether text contains a doctype, <html>, <head> or <body>."""
    return _HTML_INSIDE.search(text) is not None


def is_html_document(head: bytes) -> bool:
    """Whether bytes are certainly a page: only comments come before its doctype or <html>."""
    return bool(_HTML_DOCUMENT.match(_as_ascii(head[:HEAD_BYTES])))


def _as_ascii(head: bytes) -> bytes:
    """Strip a byte order mark and leading white space; convert UTF-16 to ASCII for the patterns here."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(encoding, "ignore").encode("ascii", "replace").lstrip()
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()
