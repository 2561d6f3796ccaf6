"""JSON by msgspec, and by the standard library what msgspec refuses: surrogates, line breaks in strings, NaN."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import msgspec


def to_json(value: Any, *, surrogates: Literal["replace", "keep"] = "replace") -> bytes:
    """Return compact JSON in UTF-8; equal values give equal bytes. Lone surrogates become `?` or stay, as escapes."""
    try:
        return _coders()[0].encode(value)
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=surrogates == "keep", allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def from_json(text: str | bytes) -> Any:
    """Read JSON; line breaks in strings and infinite numbers are allowed. Raises `ValueError`, `RecursionError`."""
    try:
        return _coders()[1].decode(text)
    except ValueError:  # a MsgspecError or a UnicodeError is one
        return json.loads(text, strict=False)


@cache
def _coders() -> tuple[msgspec.json.Encoder, msgspec.json.Decoder[Any]]:
    import msgspec  # noqa: PLC0415 (a page without JSON starts sooner)

    return msgspec.json.Encoder(), msgspec.json.Decoder()
