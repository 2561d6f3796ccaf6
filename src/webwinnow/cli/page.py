"""`webwinnow page`: one page to standard output."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from webwinnow.cleaning import DEFAULT_METHOD, METHODS, CleaningSettings
from webwinnow.cleaning.kinds import with_kinds
from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.tasks import DEFAULT_TASK, TASKS, for_task, task_of
from webwinnow.cleanpage import CleanPage, clean_page
from webwinnow.errors import InputError, PageRefused
from webwinnow.io.schema import ordered
from webwinnow.parse import ParseLimits, parse

__all__ = ["Favor", "favored", "page"]

STDIN = "-"
LONGEST_SHOWN = 70

PageFormat = StrEnum("PageFormat", ["text", "markdown", "html", "json"])
Favor = StrEnum("Favor", ["precision", "recall"])


def page(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="An HTML file, or - for standard input.")],
    output: Annotated[PageFormat, typer.Option("--format", "-f", help="What to write.")] = PageFormat.text,
    method: Annotated[str, typer.Option(help=f"How to clean: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    favor: Annotated[
        Favor | None, typer.Option(help="page: lean to precision (less noise) or recall (less lost).")
    ] = None,
    task: Annotated[
        str, typer.Option(help=f"Which kinds of noise stay, for which use: {', '.join(TASKS)}, or a file.")
    ] = DEFAULT_TASK,
    url: Annotated[str, typer.Option(help="Where the page is from: relative links are resolved by it.")] = "",
    content_type: Annotated[
        str | None, typer.Option(help="The Content-Type header that came with the page; it may name the charset.")
    ] = None,
    explain: Annotated[
        bool, typer.Option(help="Tell on stderr, block by block, what stayed, what went and why.")
    ] = False,
    max_bytes: Annotated[int, typer.Option(min=0, help="Refuse a page that is longer.")] = ParseLimits().max_bytes,
) -> None:
    """Turn one page into text, Markdown, sanitised HTML or its record.

    Examples:

        webwinnow page article.html

        curl -s https://example.org/ | webwinnow page - --url https://example.org/ --format markdown

        webwinnow page article.html --format json | jq .title
    """
    limits = ParseLimits(max_bytes=max_bytes)
    body = _read(file, max_bytes)
    settings = CleaningSettings(page=PageSettings(favor=favored(favor)))
    tree = parse(body, url=url, content_type=content_type, limits=limits)
    wanted = task_of(task)
    clean = clean_page(tree, method, settings=settings)
    clean = CleanPage(tree, for_task(tree, clean.verdict, wanted))
    if output is PageFormat.json:
        written = json.dumps(ordered(clean.record()), ensure_ascii=False) + "\n"
    else:
        written = clean.render(output.value)
    sys.stdout.buffer.write(written.encode("utf-8"))  # whatever the locale: stdout is for machines
    sys.stdout.buffer.flush()
    if clean.tree.reason is not None:
        sys.stderr.write(f"webwinnow: {file}: nothing to show: {clean.tree.reason}\n")
    if explain:
        _explain(CleanPage(tree, with_kinds(tree, clean.verdict)) if clean.verdict.kind_score is None else clean)


def favored(favor: Favor | None) -> Literal["precision", "recall"] | None:
    """The option as the settings have it."""
    return None if favor is None else "precision" if favor is Favor.precision else "recall"


def _read(file: str, max_bytes: int) -> bytes:
    if file == STDIN:
        body = sys.stdin.buffer.read(max_bytes + 1)
    elif Path(file).is_dir():
        raise InputError(f"{file} is a folder; expected one HTML file (webwinnow clean takes folders)")
    else:
        try:
            with Path(file).open("rb") as opened:
                body = opened.read(max_bytes + 1)
        except OSError as error:
            raise InputError(f"{file}: {error.strerror}; expected an HTML file or - for standard input") from None
    if len(body) > max_bytes:
        raise PageRefused(f"{file} is longer than {max_bytes:,} bytes; raise --max-bytes to read it")
    return body


def _explain(clean: CleanPage) -> None:
    for decision in clean.decisions():
        text = decision.text if len(decision.text) <= LONGEST_SHOWN else decision.text[: LONGEST_SHOWN - 1] + "…"
        sign = "+" if decision.kept else "-"
        score = "" if decision.score is None else f" ({decision.score:.2f})"
        kind = "" if decision.kind is None else f"  [{decision.kind}]"
        sys.stderr.write(f"{sign} {_shown(decision.xpath)}  {decision.reason}{score}{kind}\n    {_shown(text)}\n")


def _shown(text: str) -> str:
    """Text, or a page's own tag names, with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)
