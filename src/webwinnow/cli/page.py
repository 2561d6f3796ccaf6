"""`webwinnow page`: one page to standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from webwinnow.cleaner import Cleaner, CleanPage
from webwinnow.cleaning.tasks import DEFAULT_TASK, task_of
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import printable
from webwinnow.crawl import CrawlSettings
from webwinnow.crawl.crawling import fetch_page
from webwinnow.errors import InputError, PageRefused, SettingsError
from webwinnow.io.rows import ordered
from webwinnow.io.sniff import HEAD_BYTES, surely_no_page
from webwinnow.io.unpacking import ReadLimits, UnpackedStream
from webwinnow.methods import DEFAULT_METHOD
from webwinnow.parsing import ParseLimits, parse
from webwinnow.records import Dropped, PageRecord
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import open_models
from webwinnow.urls import SiteKey, is_web_link

PageFormat = Literal["text", "markdown", "html", "json"]
STDIN = "-"
LONGEST_SHOWN = 70
SHOWN_CAUSES = 3
"""Causes of a block's score that --explain shows."""


def page(
    file: Annotated[str, typer.Argument(metavar="FILE|URL|-", help="An HTML file, a URL, or - for standard input.")],
    format: Annotated[PageFormat, opt.writing("Output format: one of these.", "--format", "-f")] = "text",
    explain: Annotated[
        bool, opt.writing("Show on stderr, for each block, whether it is kept, its score and what caused it.")
    ] = False,
    method: opt.Method = DEFAULT_METHOD,
    favor: opt.Favoring = None,
    task: opt.Task = DEFAULT_TASK,
    comments: opt.Comments = None,
    models: opt.Models = None,
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    url: Annotated[str, opt.reading("URL of the page: resolves relative links and names the page's site.")] = "",
    site_by: opt.SiteBy = "host",
    content_type: Annotated[
        str | None, opt.reading("Content-Type header of the page; it may name the charset.")
    ] = None,
    max_bytes: opt.MaxBytes = opt.MAX_BYTES,
    allow_private: opt.AllowPrivate = False,
    allow: opt.Allow = None,
    resolve: opt.Resolve = None,
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
    guard = opt.guard_of(allow_private, allow, resolve)
    key = SiteKey.parse(site_by)
    if key.by == "column":
        raise SettingsError(
            "--site-by column: a single page has no columns; expected host, domain, prefix:N, all or none"
        )
    if models is not None:
        key.check_sites("cleaning with models")
    settings = opt.cleaning_settings(set_, favor, comments, stop_words)
    cleaner = Cleaner.of(method, settings, task_of(task), kinds=explain)
    if is_web_link(file):
        fetched = fetch_page(file, CrawlSettings(guard=guard, max_size=max(1, max_bytes), retries=1))
        body, url, content_type = fetched.body, url or fetched.url, content_type or fetched.content_type
    else:
        body = _read(file, max_bytes)
    tree = parse(body, url, content_type=content_type, limits=limits)
    model = None if models is None else _model(models, key, url)
    clean = cleaner.clean(tree, model)
    if format == "json":
        written = json.dumps(ordered(clean.record()), ensure_ascii=False) + "\n"
    else:
        written = clean.render(format)
    sys.stdout.buffer.write(written.encode("utf-8"))  # whatever the locale: stdout is for machines
    sys.stdout.buffer.flush()
    outcome = clean.outcome
    if format != "json" and isinstance(outcome, Dropped) and not written.strip():
        sys.stderr.write(f"webwinnow: {file}: nothing to show: {outcome.reason}\n")
    if explain:
        _explain(clean)


def _model(models: Path, site_by: SiteKey, url: str) -> LearnedSite | None:
    """The model of the page's site; a message on stderr if there is none."""
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
    """The bytes of a page, decompressed if it is gzip or zstd; `InputError` for what is surely no page."""
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
        place = f"  in {decision.structure}" if decision.structure else ""
        reason = f"{decision.reason}{score}{kind}{place}"
        sys.stderr.write(f"{sign} {printable(decision.xpath)}  {reason}\n    {printable(text)}\n")
        for push, cause in decision.because[:SHOWN_CAUSES]:
            sys.stderr.write(f"    {push:+.1f} {printable(cause)}\n")
