"""One file a page: folders of Markdown or HTML.

A file is named by a slug, for people, and a hash, which makes it unique: never by a URL's path, which a stranger wrote.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from webwinnow.io.schema import CONTENT_FIELDS, PAGE_FIELDS, Fields, Record, ordered
from webwinnow.urls import is_safe_link

__all__ = ["file_name", "html_file", "markdown_file", "write_html_files", "write_markdown_files"]

MAX_SLUG: Final = 60
HASH_BYTES: Final = 10  # of BLAKE2b: among a billion files two share a name with a chance below one in a million
NO_SLUG: Final = "page"

_NOT_IN_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SCHEME_AND_QUERY: Final = re.compile(r"^[a-z][a-z0-9+.\-]*:/*|[?#].*$", re.IGNORECASE | re.DOTALL)
# JSON is YAML except for characters that JSON leaves as they are and YAML does not print (YAML 1.2.2, 5.1) or takes for
# the end of a line (YAML 1.1, 4.2).
_NOT_IN_YAML: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_IS_DOCUMENT: Final = re.compile(r"\s*<(?:!doctype|html)[\s>]", re.IGNORECASE)


def write_markdown_files(records: Iterable[Record], folder: Path, fields: Fields = PAGE_FIELDS) -> None:
    """Write one Markdown file a record, those of failed pages too: their front matter says what happened."""
    _write_files(records, folder, ".md", lambda record: markdown_file(record, fields))


def write_html_files(records: Iterable[Record], folder: Path, fields: Fields = PAGE_FIELDS) -> None:
    """Write one HTML file a record, those of failed pages too: their head says what happened."""
    _write_files(records, folder, ".html", lambda record: html_file(record, fields))


def file_name(record: Record, ordinal: int, suffix: str) -> str:
    """Name the file of a record: a slug of its title or URL, and a hash of its URL and place in the output."""
    url = str(record.get("url") or "")
    key = f"{ordinal}\n{url}".encode("utf-8", "replace")
    slug = _slug(str(record.get("title") or "")) or _slug(_SCHEME_AND_QUERY.sub("", url)) or NO_SLUG
    return f"{slug}-{hashlib.blake2b(key, digest_size=HASH_BYTES).hexdigest()}{suffix}"


def markdown_file(record: Record, fields: Fields = PAGE_FIELDS) -> str:
    """Write a record as Markdown: what is known about the page as front matter, in JSON's quotes, then its content."""
    lines = [f"{name}: {_scalar(value)}" for name, value in _about(record, fields).items()]
    content = record.get("markdown") or record.get("text") or ""
    return "\n".join(["---", *lines, "---", "", content.strip("\n"), ""])


def html_file(record: Record, fields: Fields = PAGE_FIELDS) -> str:
    """Write a record as an HTML document: what is known about the page as meta elements, then its content.

    Content that is a whole document already is left as it is; without HTML the text stands in its place, escaped.
    """
    content = record.get("html") or ""
    if _IS_DOCUMENT.match(content):
        return str(content)
    if not content and record.get("text"):
        content = f"<pre>{html.escape(record['text'])}</pre>"
    about = _about(record, fields)
    lang = f' lang="{html.escape(str(about["lang"]))}"' if about.get("lang") else ""
    head = [f"<title>{html.escape(str(about.get('title', '')))}</title>"]
    if is_safe_link(str(about.get("url", ""))):
        head.append(f'<link rel="canonical" href="{html.escape(str(about["url"]))}">')
    for name, value in about.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        head.append(f'<meta name="webwinnow:{name}" content="{html.escape(text)}">')
    opening = f'<!doctype html>\n<html{lang}>\n<head>\n<meta charset="utf-8">'
    return "\n".join([opening, *head, "</head>\n<body>", content.strip("\n"), "</body>\n</html>\n"])


def _write_files(records: Iterable[Record], folder: Path, suffix: str, written: Callable[[Record], str]) -> None:
    for ordinal, record in enumerate(records):
        with (folder / file_name(record, ordinal, suffix)).open("xb") as file:
            file.write(written(record).encode("utf-8", "replace"))


def _slug(text: str) -> str:
    """Write a text with ASCII letters, digits and hyphens alone, accents taken off."""
    plain = unicodedata.normalize("NFKD", text[: MAX_SLUG * 10]).encode("ascii", "ignore").decode("ascii").lower()
    return _NOT_IN_SLUG.sub("-", plain).strip("-")[:MAX_SLUG].rstrip("-")


def _about(record: Record, fields: Fields) -> dict[str, object]:
    whole = ordered(record, fields)
    return {name: value for name, value in whole.items() if name not in CONTENT_FIELDS and value not in (None, [])}


def _scalar(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
