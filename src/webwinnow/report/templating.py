"""What reports are put together from: files of `viewer/`, how a content security policy names them, parts of a page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

__all__ = ["hash_of", "numbers", "part", "section", "table"]


def part(name: str) -> str:
    """A file of `viewer/`."""
    return (files("webwinnow.report") / "viewer" / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """A script or style sheet as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def numbers(found: Mapping[str, str]) -> str:
    """Numbers beside one another, each with its name."""
    told = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in found.items())
    return f"<dl class=numbers>{told}</dl>"


def section(title: str, about: str, content: str) -> str:
    """A section of a page; `content` is HTML already."""
    told = f"<p>{escape(about)}</p>" if about else ""
    return f"<section><h2>{escape(title)}</h2>{told}<div class=wide>{content}</div></section>"


def table(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    """A table of cells that are HTML already; the columns `right`, of numbers, stand to the right."""

    def row(cells: Sequence[str], tag: str) -> str:
        kinds = ["number" if n in right else "name" for n in range(len(cells))]
        return "<tr>" + "".join(f"<{tag} class={k}>{c}</{tag}>" for k, c in zip(kinds, cells, strict=True)) + "</tr>"

    return "<table>" + row(names, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"
