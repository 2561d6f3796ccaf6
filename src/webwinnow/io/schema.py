"""What a record of the output holds: the one list of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

__all__ = [
    "CONTENT_FIELDS",
    "LINK_FIELDS",
    "PAGE_FIELDS",
    "Field",
    "FieldKind",
    "Fields",
    "Record",
    "json_schema",
    "ordered",
]

Record = Mapping[str, Any]


class FieldKind(Enum):
    """The types of value that a field may have; each may also be null, except a list, which may be empty."""

    TEXT = "text"
    TEXTS = "list of texts"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "true or false"


@dataclass(frozen=True, slots=True)
class Field:
    """One field. An `optional` one is left out of JSONL where a record has none: it is there when it was asked for.

    `about` says what it holds; `values` are all that it may have, where they are few.
    """

    name: str
    kind: FieldKind = FieldKind.TEXT
    optional: bool = False
    about: str = ""
    values: tuple[str, ...] = ()


Fields = tuple[Field, ...]

PAGE_FIELDS: Final[Fields] = (
    Field("url", about="the page's address, its identifier"),
    Field("page_id", about="as the input had it"),
    Field("site", about="the site that the page was taken to belong to"),
    Field("outcome", about="what became of the page", values=("kept", "dropped", "failed")),
    Field("reason", about="why it was dropped, the error, or a remark on a kept page"),
    Field("method", about="the cleaning method"),
    Field("type", about="what the page is for a reader (DocView)", values=("topic", "hub", "image")),
    Field("genre", about="article, forum, product and so on, where the method knows"),
    Field("category", about="the content category, where a model of categories was given"),
    Field("title", about="the page's title; its first keywords if it has none"),
    Field("author", about="names joined by '; '"),
    Field("date", about="the day of publication, YYYY-MM-DD"),
    Field("keywords", FieldKind.TEXTS, about="the words of the most weight, heaviest first"),
    Field("abstract", about="key sentences in page order, one a line"),
    Field("text", about="what was kept, as plain text"),
    Field("markdown", optional=True, about="what was kept, as Markdown"),
    Field("html", optional=True, about="what was kept, as sanitised HTML"),
    Field("comments", optional=True, about="what readers wrote beside the main content, where it was asked for"),
    Field("links", FieldKind.TEXTS, about="relevant links: those in what was kept, and lists of links like the topic"),
    Field("lang", about="the language, two or three letters"),
    Field("confidence", FieldKind.NUMBER, about="expected quality of cleaning, 0 to 1, where the method knows"),
    Field("replica_of", about="the page that this one is a copy of"),
    Field("kept_words", FieldKind.INTEGER, about="words that were kept"),
    Field("all_words", FieldKind.INTEGER, about="words that the page shows"),
    Field("site_name", about="what the page calls its site"),
    Field("description", about="how the page sums itself up"),
    Field("summary", about="the abstract in a few sentences, for display"),
)
"""What `webwinnow clean` writes for each page."""

LINK_FIELDS: Final[Fields] = (
    Field("source"),
    Field("target"),
    Field("anchor"),
    Field("kind"),
    Field("score", FieldKind.NUMBER),
    Field("kept", FieldKind.FLAG),
    Field("page_id"),
    Field("site"),
)
"""What `webwinnow links` writes for each link."""

CONTENT_FIELDS: Final = frozenset({"text", "markdown", "html", "comments"})
"""The fields that hold the page itself; the others say something about it."""


def json_schema(fields: Fields = PAGE_FIELDS) -> dict[str, Any]:
    """The JSON Schema of a record as a line of JSONL; `docs/record.schema.json` is this of `PAGE_FIELDS`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A page cleaned by webwinnow",
        "type": "object",
        "properties": {field.name: _described(field) for field in fields},
        "required": [field.name for field in fields if not field.optional],
        "additionalProperties": False,
    }


def _described(field: Field) -> dict[str, Any]:
    if field.kind is FieldKind.TEXTS:
        return {"description": field.about, "type": "array", "items": {"type": "string"}}
    named = {FieldKind.TEXT: "string", FieldKind.INTEGER: "integer", FieldKind.NUMBER: "number"}[field.kind]
    described: dict[str, Any] = {"description": field.about, "type": [named, "null"]}
    if field.values:
        described["enum"] = [*field.values, None]
    return described


def ordered(record: Record, fields: Fields = PAGE_FIELDS) -> dict[str, Any]:
    """Bring a record into the order of its fields, null or [] for what is missing; `ValueError` for a foreign field."""
    known = {field.name for field in fields}
    foreign = [name for name in record if name not in known]
    if foreign:
        raise ValueError(f"no field {', '.join(foreign)}; the fields are {', '.join(field.name for field in fields)}")
    whole = {}
    for field in fields:
        value = record.get(field.name)
        if value is None and field.kind is FieldKind.TEXTS:
            value = []
        if value is not None or not field.optional:
            whole[field.name] = value
    return whole
