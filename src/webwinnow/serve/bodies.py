"""The bodies of requests: one memory budget for all of them, and JSON, decoded in a thread and by its types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

RETRY_SECONDS = 1
"""When to try again where bodies fill the memory for them."""
LONGEST_JSON = 64_000_000
"""Bytes of JSON, which is read into memory; a file is not."""
SHOWN_ERRORS = 5
SHOWN_CHARACTERS = 200
"""Characters of a message about JSON, which may repeat what was sent."""
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)\\u(?:[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u)[dD][c-fC-F][0-9a-fA-F]{2})"
)
"""Half of a character, which scripts may send and msgspec refuses."""

Model = TypeVar("Model", bound=BaseModel)


class BodyMemory:
    """The bytes of bodies that all requests together hold in memory. Used from one event loop."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0

    @contextmanager
    def share(self) -> Iterator[Callable[[int], None]]:
        """A function that takes bytes for a request, which gives them back when it is over, however it ends.

        It raises `HTTPException` if others hold too many. A request that is alone has only the limit of its route.
        """
        own = 0

        def take(size: int) -> None:
            nonlocal own
            if self.held > own and self.held + size > self.most:
                full = f"the requests of others fill the {self.most:,} bytes for bodies; try again in a moment"
                raise HTTPException(429, full, {"Retry-After": str(RETRY_SECONDS)})
            own += size
            self.held += size

        try:
            yield take
        finally:
            self.held -= own


async def read_json(request: Request, model: type[Model]) -> Model:
    """The body of a request as a model. Raises `HTTPException` if it is too long, no JSON, or not like the model."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_JSON:
            raise HTTPException(413, f"JSON may have {LONGEST_JSON:,} bytes; send more pages as a file, such as JSONL")
    return await run_in_threadpool(_decoded, body, model)


def _decoded(body: bytearray, model: type[Model]) -> Model:
    try:
        try:
            typed = _decoder(model).decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            typed = _decoder(model).decode(_LONE_SURROGATE.sub(rb"\1\\ufffd", body))
        return model.model_validate(typed, from_attributes=True)
    except msgspec.ValidationError as error:
        raise HTTPException(422, str(error)[:SHOWN_CHARACTERS]) from None
    except ValidationError as error:
        raise HTTPException(422, shown_errors(error.errors(include_url=False, include_input=False))) from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is no JSON") from None


@cache
def _decoder(model: type[BaseModel]) -> msgspec.json.Decoder[msgspec.Struct]:
    return msgspec.json.Decoder(_struct(model))


def _struct(model: type[BaseModel]) -> type[msgspec.Struct]:
    """The types of a model's fields. msgspec refuses another type before it makes objects of it; the model has the
    limits of values.
    """
    fields: list[Any] = []
    for name, field in model.model_fields.items():
        default = msgspec.field(default_factory=partial(field.get_default, call_default_factory=True))
        fields.append((name, _types(field.annotation)) + (() if field.is_required() else (default,)))
    return msgspec.defstruct(model.__name__, fields, forbid_unknown_fields=True)


def _types(annotation: Any) -> Any:
    """An annotation with structs in place of models."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _struct(annotation)
    origin, inner = get_origin(annotation), tuple(_types(part) for part in get_args(annotation))
    if origin in (Union, UnionType):
        return Union[inner]  # noqa: UP007 (of a tuple)
    return annotation if origin in (None, Literal) else origin[inner]


def shown_errors(errors: Sequence[Any]) -> str:
    """What is wrong with a request, in one line, without its content."""
    lines = [f"{'.'.join(str(part) for part in error['loc']) or 'body'}: {error['msg']}" for error in errors]
    return "; ".join(lines[:SHOWN_ERRORS]).encode("utf-8", "replace").decode()
