"""Texts as one line, and what two spellings of a name share."""

from __future__ import annotations

import html
import re

from webwinnow.pagetree import without_surrogates

__all__ = ["LONGEST_LINE", "line", "squeezed"]

LONGEST_LINE = 1_000
"""Characters of one title, name or date that are looked at."""
_NOT_WORD = re.compile(r"[\W_]+")
_SQUEEZED = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}
_UNSEEN = str.maketrans("", "", "\x00\xad\u200b\u2060\ufeff")


def line(value: object) -> str:
    """A text as one line; empty for anything else."""
    if not isinstance(value, str):
        return ""
    text = value[:LONGEST_LINE]
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = without_surrogates(text).translate(_UNSEEN)
    elif "\x00" in text:
        text = text.replace("\x00", "")
    return " ".join(text.split())


def squeezed(text: str) -> str:
    """Letters and digits only, lower-case: what two spellings of a name share."""
    if text.isascii():
        return text.translate(_SQUEEZED)  # a fifth of the time
    return _NOT_WORD.sub("", text).casefold()
