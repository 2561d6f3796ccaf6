"""`webwinnow page`: one page to standard output."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning import METHODS
from webwinnow.cleanpage import CleanPage, clean_page
from webwinnow.errors import InputError
from webwinnow.io.schema import ordered
from webwinnow.parse import ParseLimits, parse

__all__ = ["page"]

STDIN = "-"
LONGEST_SHOWN = 70

PageFormat = StrEnum("PageFormat", ["text", "markdown", "html", "json"])


def page(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="An HTML file, or - for standard input.")],
    output: Annotated[PageFormat, typer.Option("--format", "-f", help="What to write.")] = PageFormat.text,
    method: Annotated[str, typer.Option(help=f"How to clean: {', '.join(METHODS)}.")] = "none",
    url: Annotated[str, typer.Option(help="Where the page is from: relative links are resolved by it.")] = "",
    content_type: Annotated[
        str | None, typer.Option(help="The Content-Type header that came with the page; it may name the charset.")
    ] = None,
    explain: Annotated[
        bool, typer.Option(help="Tell on stderr, block by block, what stayed, what went and why.")
    ] = False,
    max_bytes: Annotated[int, typer.Option(help="Refuse a page that is longer.")] = ParseLimits().max_bytes,
) -> None:
    """Turn one page into text, Markdown, sanitised HTML or its record.

    Examples:

        webwinnow page article.html

        curl -s https://example.org/ | webwinnow page - --url https://example.org/ --format markdown

        webwinnow page article.html --format json | jq .title
    """
    limits = ParseLimits(max_bytes=max_bytes)
    body = _read(file, max_bytes)
    clean = clean_page(parse(body, url=url, content_type=content_type, limits=limits), method)
    if output is PageFormat.json:
        sys.stdout.write(json.dumps(ordered(clean.record()), ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(clean.render(output.value))
    if clean.tree.reason is not None:
        sys.stderr.write(f"webwinnow: {file}: nothing to show: {clean.tree.reason}\n")
    if explain:
        _explain(clean)


def _read(file: str, max_bytes: int) -> bytes:
    if file == STDIN:
        return sys.stdin.buffer.read(max_bytes + 1)
    path = Path(file)
    if path.is_dir():
        raise InputError(f"{file} is a folder; expected one HTML file (webwinnow clean takes folders)")
    try:
        with path.open("rb") as opened:
            return opened.read(max_bytes + 1)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; expected an HTML file or - for standard input") from None


def _explain(clean: CleanPage) -> None:
    for decision in clean.decisions():
        text = decision.text if len(decision.text) <= LONGEST_SHOWN else decision.text[: LONGEST_SHOWN - 1] + "…"
        shown = "".join(character if character.isprintable() else " " for character in text)
        sys.stderr.write(f"{'+' if decision.kept else '-'} {decision.xpath}  {decision.reason}\n    {shown}\n")
