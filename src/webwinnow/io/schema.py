"""The fields of output records: the one list of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

Record = Mapping[str, Any]


class FieldKind(Enum):
    """The type of a field. Every value may be null, except a list, which may be empty."""

    TEXT = "text"
    TEXTS = "list of texts"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "true or false"


@dataclass(frozen=True, slots=True)
class Field:
    """One field. An `optional` one is omitted from JSONL if a record has none: it is present only on request.

    `about` describes it; `values` lists the possible values if they are few.
    """

    name: str
    kind: FieldKind = FieldKind.TEXT
    optional: bool = False
    about: str = ""
    values: tuple[str, ...] = ()


Fields = tuple[Field, ...]

PAGE_FIELDS: Final[Fields] = (
    Field("url", about="the page's URL, its identifier"),
    Field("page_id", about="as the input had it"),
    Field("site", about="the site that the page was assigned to"),
    Field("outcome", about="what became of the page", values=("kept", "dropped", "failed")),
    Field("reason", about="why it was dropped, the error, or a remark on a kept page"),
    Field("method", about="the cleaning method"),
    Field("type", about="what the page is for a reader (DocView)", values=("topic", "hub", "image")),
    Field("genre", about="article, forum, product and so on, if the method predicts it"),
    Field("category", about="the content category, if a model of categories was given"),
    Field("title", about="the page's title; its first keywords if it has none"),
    Field("author", about="names joined by '; '"),
    Field("date", about="the day of publication, YYYY-MM-DD"),
    Field("keywords", FieldKind.TEXTS, about="the words with the highest weights, highest first"),
    Field("abstract", about="key sentences in page order, one per line"),
    Field("text", about="the kept content as plain text"),
    Field("markdown", optional=True, about="the kept content as Markdown"),
    Field("html", optional=True, about="the kept content as sanitised HTML"),
    Field("comments", optional=True, about="comments of readers beside the main content, on request"),
    Field(
        "links",
        FieldKind.TEXTS,
        about="relevant links: those in the kept content, and link lists on its topic",
    ),
    Field("lang", about="the language, two or three letters"),
    Field("confidence", FieldKind.NUMBER, about="expected quality of cleaning, 0 to 1, if the method predicts it"),
    Field("replica_of", about="the page that this one is a near-duplicate of"),
    Field("kept_words", FieldKind.INTEGER, about="words kept"),
    Field("all_words", FieldKind.INTEGER, about="visible words of the page"),
    Field("site_name", about="the name of the site as the page gives it"),
    Field("description", about="the page's own description"),
    Field("summary", about="the abstract in a few sentences, for display"),
)
"""The fields that `webwinnow clean` writes per page."""

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
"""The fields that `webwinnow links` writes per link."""

CONTENT_FIELDS: Final = frozenset({"text", "markdown", "html", "comments"})
"""The fields with the content of the page; the others are metadata."""


def json_schema(fields: Fields = PAGE_FIELDS) -> dict[str, Any]:
    """Return the JSON Schema of a record in JSONL; `docs/record.schema.json` is that of `PAGE_FIELDS`."""
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
    """Return a record in the order of its fields, null or [] for missing ones; `ValueError` for an unknown field."""
    known = {field.name for field in fields}
    unknown = [name for name in record if name not in known]
    if unknown:
        raise ValueError(f"no field {', '.join(unknown)}; the fields are {', '.join(field.name for field in fields)}")
    row = {}
    for field in fields:
        value = record.get(field.name)
        if value is None and field.kind is FieldKind.TEXTS:
            value = []
        if value is not None or not field.optional:
            row[field.name] = value
    return row
