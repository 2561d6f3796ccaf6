"""`webwinnow page`: one page to standard output."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from webwinnow.cleaner import Cleaner
from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.tasks import DEFAULT_TASK, TASKS, task_of
from webwinnow.cleanpage import CleanPage
from webwinnow.cli.crawl import Allow, AllowPrivate, Resolve, guard_of, is_address, page_settings
from webwinnow.crawl.crawling import fetch_page
from webwinnow.errors import InputError, PageRefused, SettingsError
from webwinnow.io.rows import ordered
from webwinnow.io.sniff import HEAD_BYTES, surely_no_page
from webwinnow.io.unpacking import ReadLimits, UnpackedStream
from webwinnow.methods import DEFAULT_METHOD, METHODS, CleaningSettings
from webwinnow.parsing import ParseLimits, parse
from webwinnow.records import Dropped, PageRecord
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import open_models
from webwinnow.urls import SiteKey

__all__ = ["Comments", "Favor", "favored", "page"]

STDIN = "-"
LONGEST_SHOWN = 70
SHOWN_CAUSES = 3
"""Reasons for a block's score that are told."""

PageFormat = StrEnum("PageFormat", ["text", "markdown", "html", "json"])
Favor = StrEnum("Favor", ["precision", "recall"])
Comments = Annotated[
    bool | None,
    typer.Option(
        "--comments/--no-comments",
        help="Keep what readers wrote (comments, reviews, forum posts) on every page, or on none; "
        "if not given, where the page is for it.",
    ),
]


def page(
    file: Annotated[
        str, typer.Argument(metavar="FILE|URL|-", help="An HTML file, an address, or - for standard input.")
    ],
    output: Annotated[PageFormat, typer.Option("--format", "-f", help="What to write.")] = PageFormat.text,
    method: Annotated[str, typer.Option(help=f"How to clean: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    favor: Annotated[
        Favor | None, typer.Option(help="combined, page: lean to precision (less noise) or recall (less lost).")
    ] = None,
    comments: Comments = None,
    task: Annotated[
        str, typer.Option(help=f"Which kinds of noise stay, for which use: {', '.join(TASKS)}, or a file.")
    ] = DEFAULT_TASK,
    url: Annotated[
        str, typer.Option(help="Where the page is from: relative links are resolved by it, and its site is told.")
    ] = "",
    models: Annotated[
        Path | None,
        typer.Option(help="Clean with the model of the page's site in this folder (webwinnow learn); needs --url."),
    ] = None,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site, as models were learned: host, domain, prefix:N or all.")
    ] = "host",
    content_type: Annotated[
        str | None, typer.Option(help="The Content-Type header that came with the page; it may name the charset.")
    ] = None,
    explain: Annotated[
        bool, typer.Option(help="Tell on stderr, block by block, what stayed, what went, the score and what moved it.")
    ] = False,
    max_bytes: Annotated[int, typer.Option(min=0, help="Refuse a page that is longer.")] = ParseLimits().max_bytes,
    allow_private: AllowPrivate = False,
    allow: Allow = None,
    resolve: Resolve = None,
) -> None:
    """Turn one page into text, Markdown, sanitised HTML or its record.

    Examples:

        webwinnow page article.html

        webwinnow page https://example.org/a --format markdown

        curl -s https://example.org/ | webwinnow page - --url https://example.org/ --format markdown

        webwinnow page article.html --format json | jq .title

        webwinnow page article.html --url https://example.org/a --models models --explain
    """
    limits = ParseLimits(max_bytes=max_bytes)
    guard = guard_of(allow_private, allow, resolve)
    key = SiteKey.parse(site_by)
    if key.by == "column":
        raise SettingsError(
            "--site-by column: a page by itself has no columns; expected host, domain, prefix:N, all or none"
        )
    if is_address(file):
        fetched = fetch_page(file, page_settings(guard, max_bytes))
        body, url, content_type = fetched.body, url or fetched.url, content_type or fetched.content_type
    else:
        body = _read(file, max_bytes)
    settings = CleaningSettings(page=PageSettings(favor=favored(favor), comments=comments))
    tree = parse(body, url=url, content_type=content_type, limits=limits)
    wanted = task_of(task)
    if models is not None:
        key.check_sites("cleaning with models")
    model = None if models is None else _model(models, key, url)
    clean = Cleaner.of(method, settings, wanted, kinds=explain).clean(tree, model)
    if output is PageFormat.json:
        written = json.dumps(ordered(clean.record()), ensure_ascii=False) + "\n"
    else:
        written = clean.render(output.value)
    sys.stdout.buffer.write(written.encode("utf-8"))  # whatever the locale: stdout is for machines
    sys.stdout.buffer.flush()
    outcome = clean.outcome
    if output is not PageFormat.json and isinstance(outcome, Dropped) and not written.strip():
        sys.stderr.write(f"webwinnow: {file}: nothing to show: {outcome.reason}\n")
    if explain:
        _explain(clean)


def favored(favor: Favor | None) -> Literal["precision", "recall"] | None:
    """The option as the settings have it."""
    return None if favor is None else "precision" if favor is Favor.precision else "recall"


def _model(models: Path, site_by: SiteKey, url: str) -> LearnedSite | None:
    """The model of the page's site; says so if the folder has none."""
    site = site_by.of(PageRecord(url=url, body=b""))
    found = open_models(models).find(site)
    if found is None:
        named = f"the site {site!r}" if site else "pages without a web address; give the page's with --url"
        sys.stderr.write(f"webwinnow: {models} has no model of {named}; the page is cleaned without one\n")
    return found


def _read(file: str, max_bytes: int) -> bytes:
    if file == STDIN:
        body = _unpacked(sys.stdin.buffer, file, max_bytes)
    elif Path(file).is_dir():
        raise InputError(f"{file} is a folder; expected one HTML file (webwinnow clean takes folders)")
    else:
        try:
            with Path(file).open("rb") as opened:
                body = _unpacked(opened, file, max_bytes)
        except OSError as error:
            raise InputError(f"{file}: {error.strerror}; expected an HTML file or - for standard input") from None
    if len(body) > max_bytes:
        raise PageRefused(f"{file} is longer than {max_bytes:,} bytes; raise --max-bytes to read it")
    return body


def _unpacked(source: BinaryIO, file: str, max_bytes: int) -> bytes:
    """The bytes of a page, a gzip or zstd wrapping taken off; `InputError` for what is surely no page."""
    stream = UnpackedStream(source, ReadLimits())
    other = surely_no_page(stream.peek(HEAD_BYTES))
    if other is not None:
        raise InputError(f"{file} is {other}; expected one HTML page (webwinnow clean takes crawls)")
    body = stream.read(max_bytes + 1)
    if stream.problem:
        raise InputError(f"{file}: {stream.problem}; expected one HTML page")
    return body


def _explain(clean: CleanPage) -> None:
    for decision in clean.decisions(explain=True):
        text = decision.text if len(decision.text) <= LONGEST_SHOWN else decision.text[: LONGEST_SHOWN - 1] + "…"
        sign = "+" if decision.kept else "-"
        score = "" if decision.score is None else f" ({decision.score:.2f})"
        kind = "" if decision.kind is None else f"  [{decision.kind}]"
        sys.stderr.write(f"{sign} {_shown(decision.xpath)}  {decision.reason}{score}{kind}\n    {_shown(text)}\n")
        for push, says in decision.because[:SHOWN_CAUSES]:
            sys.stderr.write(f"    {push:+.1f} {_shown(says)}\n")


def _shown(text: str) -> str:
    """Text, or a page's own tag names, with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)
