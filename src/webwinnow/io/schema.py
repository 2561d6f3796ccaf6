"""What a record of the output holds: the one list of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

__all__ = ["CONTENT_FIELDS", "LINK_FIELDS", "PAGE_FIELDS", "Field", "FieldKind", "Fields", "Record", "ordered"]

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
    """One field. An `optional` one is left out of JSONL where a record has none: it is there when it was asked for."""

    name: str
    kind: FieldKind = FieldKind.TEXT
    optional: bool = False


Fields = tuple[Field, ...]

PAGE_FIELDS: Final[Fields] = (
    Field("url"),
    Field("page_id"),
    Field("site"),
    Field("outcome"),
    Field("reason"),
    Field("method"),
    Field("type"),
    Field("genre"),
    Field("category"),
    Field("title"),
    Field("author"),
    Field("date"),
    Field("keywords", FieldKind.TEXTS),
    Field("abstract"),
    Field("text"),
    Field("markdown", optional=True),
    Field("html", optional=True),
    Field("links", FieldKind.TEXTS),
    Field("lang"),
    Field("confidence", FieldKind.NUMBER),
    Field("replica_of"),
    Field("kept_words", FieldKind.INTEGER),
    Field("all_words", FieldKind.INTEGER),
    Field("site_name"),
    Field("description"),
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

CONTENT_FIELDS: Final = frozenset({"text", "markdown", "html"})
"""The fields that hold the page itself; the others say something about it."""


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
