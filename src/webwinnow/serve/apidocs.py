"""The description of REST (OpenAPI) as rows for the page `/docs`, which needs no script and no other host."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

METHODS = ("get", "post", "put", "delete")


class Field(NamedTuple):
    """A parameter of a request, or a field of its body."""

    name: str
    where: str
    type: str
    about: str
    required: bool


class Operation(NamedTuple):
    """A method of a path."""

    method: str
    path: str
    summary: str
    about: str
    fields: list[Field]
    bodies: list[str]
    answers: list[tuple[str, str]]

    @property
    def id(self) -> str:
        return f"{self.method}-{self.path.strip('/').replace('/', '-').translate(_NO_BRACES)}"


_NO_BRACES = str.maketrans("", "", "{}")


def documented(api: dict[str, Any]) -> dict[str, list[Operation]]:
    """The operations of an API by their first tag."""
    found: dict[str, list[Operation]] = defaultdict(list)
    for path, methods in api["paths"].items():
        for method in filter(methods.__contains__, METHODS):
            given = methods[method]
            found[given.get("tags", ["service"])[0]].append(_operation(method, path, given))
    return dict(found)


def _operation(method: str, path: str, given: dict[str, Any]) -> Operation:
    fields = [
        Field(one["name"], one["in"], _type(one["schema"]), _about(one), bool(one.get("required")))
        for one in given.get("parameters", ())
    ]
    bodies = given.get("requestBody", {}).get("content", {})
    for media, body in bodies.items():
        if "json" in media:
            fields += _body_fields(body["schema"])
    answers = [(status, answer.get("description", "")) for status, answer in given["responses"].items()]
    about = given.get("description", "")
    return Operation(method, path, given.get("summary", ""), about, fields, list(bodies), answers)


def _body_fields(schema: dict[str, Any]) -> list[Field]:
    wanted = schema.get("required", ())
    return [
        Field(name, "body", _type(one), _about(one), name in wanted)
        for name, one in schema.get("properties", {}).items()
    ]


def _about(schema: dict[str, Any]) -> str:
    about = schema.get("description") or schema.get("schema", {}).get("description", "")
    inner = schema.get("schema", schema)
    default = inner.get("default")
    return f"{about} Default: {default}.".strip() if default not in (None, "", [], False) else about


def _type(schema: dict[str, Any]) -> str:
    """The type of a value, in words."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"] if one.get("type") != "null"))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
