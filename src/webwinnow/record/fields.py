"""The fields of a record: those of every page, those that stages add, and their JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Final

from webwinnow import plugins
from webwinnow.record.textquality import SIGNALS
from webwinnow.storage.encoding import to_json

Record = Mapping[str, Any]


class FieldKind(Enum):
    """The type of a field. Every value may be null, except a list, which may be empty."""

    TEXT = "text"
    TEXTS = "list of texts"
    INTEGER = "integer"
    NUMBER = "number"
    NUMBERS = "numbers by name"
    FLAG = "true or false"


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: `_rules` hashes all fields for each record
class Field:
    """One field. An `optional` one is omitted from JSONL if a record has none: it is present only on request.

    `about` describes it; `values` lists the possible values if they are few, or the names of numbers by name. A field
    that a stage adds to the records of pages comes `after` another.
    """

    name: str
    kind: FieldKind = FieldKind.TEXT
    optional: bool = False
    about: str = ""
    values: tuple[str, ...] = ()
    after: str | None = None


Fields = tuple[Field, ...]

_PAGE_FIELDS: Final[Fields] = (
    Field("url", about="the page's URL, its identifier"),
    Field("page_id", about="as the input had it"),
    Field("site", about="the site that the page was assigned to"),
    Field("outcome", about="what became of the page", values=("kept", "dropped", "failed")),
    Field("reason", about="why it was dropped, the error, or a remark on a kept page"),
    Field("method", about="the cleaning method"),
    Field("type", about="what the page is for a reader (DocView)", values=("topic", "hub", "image")),
    Field("genre", about="article, forum, product and so on, if the method predicts it"),
    Field("title", about="the page's title; its first keywords if it has none"),
    Field("author", about="names joined by '; '"),
    Field("date", about="the day of publication, YYYY-MM-DD"),
    Field("keywords", FieldKind.TEXTS, about="the words with the highest weights, highest first"),
    Field("abstract", about="key sentences in page order, one per line"),
    Field("text", about="the kept content as plain text"),
    Field("markdown", optional=True, about="the kept content as Markdown"),
    Field("html", optional=True, about="the kept content as sanitised HTML"),
    Field("comments", optional=True, about="comments of readers beside the main content, on request"),
    Field("links", FieldKind.TEXTS, about="links in the kept content and `relevant_links`, in page order"),
    Field("lang", about="the language, two or three letters"),
    Field("confidence", FieldKind.NUMBER, about="expected quality of cleaning, 0 to 1, if the method predicts it"),
    Field("kept_words", FieldKind.INTEGER, about="words kept"),
    Field("all_words", FieldKind.INTEGER, about="visible words of the page"),
    Field("site_name", about="the name of the site as the page gives it"),
    Field("description", about="the page's own description"),
    Field("summary", about="the abstract in a few sentences, for display"),
    Field("relevant_links", FieldKind.TEXTS, about="links of link lists about the topic of a topic page (DocView)"),
    Field("signals", FieldKind.NUMBERS, optional=True, about="quality signals of the text, on request", values=SIGNALS),
)
"""The fields of the core; `page_fields` has all."""

CONTENT_FIELDS: Final = frozenset({"text", "markdown", "html", "comments"})
"""The fields with the content of the page; the others are metadata."""


@cache
def page_fields(stages: tuple[str, ...] = ()) -> Fields:
    """The fields that `webwinnow clean` writes per page: with those of all our stages, and of other `stages` of a run.

    A field of a stage that is not part of the run is null.
    """
    found = list(_PAGE_FIELDS)
    for name in dict.fromkeys((*plugins.built_in("stage"), *stages)):
        for field in plugins.load("stage", name).STAGE.fields:
            names = [known.name for known in found]
            found.insert(names.index(field.after) + 1 if field.after in names else len(found), field)
    return tuple(found)


def json_schema(fields: Fields | None = None) -> dict[str, Any]:
    """Return the JSON Schema of a record in JSONL; `docs/record.schema.json` is that of `page_fields`."""
    fields = fields or page_fields()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A page cleaned by webwinnow",
        "type": "object",
        "properties": {field.name: _described(field) for field in fields},
        "required": [field.name for field in fields if not field.optional],
        "additionalProperties": False,
    }


def _described(field: Field) -> dict[str, Any]:
    described: dict[str, Any]
    if field.kind is FieldKind.TEXTS:
        return {"description": field.about, "type": "array", "items": {"type": "string"}}
    if field.kind is FieldKind.NUMBERS:
        numbers = {name: {"type": "number"} for name in field.values}
        described = {"description": field.about, "type": ["object", "null"], "properties": numbers}
        return described | {"required": list(field.values), "additionalProperties": False}
    named = {FieldKind.TEXT: "string", FieldKind.INTEGER: "integer", FieldKind.NUMBER: "number"}[field.kind]
    described = {"description": field.about, "type": [named, "null"]}
    if field.values:
        described["enum"] = [*field.values, None]
    return described


def ordered(record: Record, fields: Fields | None = None) -> dict[str, Any]:
    """Return a record in the order of its fields, null or [] for missing ones; `ValueError` for an unknown field."""
    rules = _rules(fields or page_fields())
    if not record.keys() <= rules.keys():
        unknown = [name for name in record if name not in rules]
        raise ValueError(f"no field {', '.join(unknown)}; the fields are {', '.join(rules)}")
    row = {}
    for name, (is_list, is_optional) in rules.items():
        value = record.get(name)
        if value is not None:
            row[name] = value
        elif is_list:
            row[name] = []
        elif not is_optional:
            row[name] = None
    return row


def record_line(record: Record, fields: Fields | None = None) -> bytes:
    """Return a record as one line of JSON; equal records give equal bytes."""
    return to_json(ordered(record, fields)) + b"\n"


@cache
def _rules(fields: Fields) -> dict[str, tuple[bool, bool]]:
    """Whether each field is a list of texts, and whether it is optional."""
    return {field.name: (field.kind is FieldKind.TEXTS, field.optional) for field in fields}
