"""The body of an HTTP response as crawlers store it: chunked and packed, or already decoded despite its headers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from webwinnow.errors import PageRefused
from webwinnow.io.sniff import looks_like_html
from webwinnow.io.unpacking import CODINGS, ReadLimits, packing_of, unpack_body

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
MAX_CODINGS: Final = 4  # ours: two are an accident, more an attack
_ALIASES: Final = {"x-gzip": "gzip"}
_NO_CODING: Final = frozenset({"", "identity", "none", "chunked"})
_CHUNK_HEAD: Final = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_LINE_END: Final = re.compile(rb"\r?\n")


def media_type(content_type: str | None) -> str:
    """Return the type of a Content-Type header in lower case, without its parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


def decode_http_body(headers: Iterable[tuple[str, str]], body: bytes, limits: ReadLimits) -> bytes:
    """Undo the transfer and content codings that `headers` name; `PageRefused` if that fails or exceeds a limit.

    Crawlers often store a decoded body with the headers of the packed one. So a coding is skipped if its magic number
    is missing, or if the body is plainly HTML. A gzip or zstd body that no header names is unpacked.
    """
    headers = list(headers)
    content, transfer = _codings(headers, "content-encoding"), _codings(headers, "transfer-encoding")
    if "chunked" in transfer:
        body = _dechunked(body)
    codings = [coding for coding in content + transfer if coding not in _NO_CODING]
    if len(codings) > MAX_CODINGS:
        raise PageRefused(f"the body has {len(codings)} codings, more than {MAX_CODINGS}")
    for coding in reversed(codings):
        if not body or looks_like_html(body):
            return body
        if coding in {"gzip", "zstd"} and packing_of(body) != coding:
            continue
        if coding not in CODINGS:
            raise PageRefused(f"the body has the unknown coding {coding!r}")
        body = unpack_body(coding, body, limits)
    unnamed = packing_of(body)
    return unpack_body(unnamed, body, limits) if unnamed else body


def _codings(headers: list[tuple[str, str]], name: str) -> list[str]:
    """List the codings in the order in which they were applied."""
    values = ",".join(value for key, value in headers if key.lower() == name)
    codings = [coding.strip().lower() for coding in values.split(",")]
    return [_ALIASES.get(coding, coding) for coding in codings]


def _dechunked(body: bytes) -> bytes:
    """Join the chunks of RFC 9112, 7.1. A body that does not begin with a chunk was decoded before.

    A body that ends inside a chunk is used as far as it goes, as any truncated page is.
    """
    joined = bytearray()
    at = 0
    while at < len(body):
        head = _CHUNK_HEAD.match(body, at)
        if head is None:
            if at == 0:
                return body
            raise PageRefused("the chunked body is damaged")
        size = int(head[1], 16)
        if size == 0:
            break
        joined += body[head.end() : head.end() + size]
        at = head.end() + size
        end = _LINE_END.match(body, at)
        if end is None and at < len(body):
            raise PageRefused("the chunked body is damaged")
        at = end.end() if end else len(body)
    return bytes(joined)
