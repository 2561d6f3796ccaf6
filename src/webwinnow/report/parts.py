"""The files of `viewer/` that reports are put together from, and how a content security policy names them."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

__all__ = ["hash_of", "part"]


def part(name: str) -> str:
    """A file of `viewer/`."""
    return (files("webwinnow.report") / "viewer" / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """A script or style sheet as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
