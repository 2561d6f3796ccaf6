"""`webwinnow page`: one page to standard output."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import typer

from webwinnow import plugins
from webwinnow.cli import options as opt
from webwinnow.counted import printable
from webwinnow.errors import InputError, PageRefused, SettingsError
from webwinnow.page.parsing import parse
from webwinnow.page.records import Dropped, PageRecord
from webwinnow.page.urls import SiteKey
from webwinnow.record.cleaner import Cleaner, CleanPage
from webwinnow.run.readers import HEAD_BYTES, Reader, surely_no_page
from webwinnow.run.settings import RunSettings
from webwinnow.run.unpacking import ReadLimits, UnpackedStream
from webwinnow.settings import IN_AND_OUT
from webwinnow.site.learned import LearnedSite, limits_for

PANEL = "Clean"
URLS: Reader = plugins.load("reader", "url").READER

PageFormat = Literal["text", "markdown", "html", "json"]
STDIN = "-"
LONGEST_SHOWN = 70
SHOWN_CAUSES = 3
"""Causes of a block's score that --explain shows."""


@opt.settings_options(
    RunSettings,
    URLS.settings,
    shown={"limits.max_bytes": IN_AND_OUT},
    only="run.method page.favor run.task page.comments selection.keep selection.drop selection.tables run.site_by "
    "limits.max_bytes crawl.render crawl.render_set guard.allow_private guard.allow guard.routes",
)
def page(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE|URL|-", help="An HTML file, a URL, or - for standard input.")],
    format: Annotated[PageFormat, opt.writing("Output format: one of these.", "--format", "-f")] = "text",
    explain: Annotated[
        bool, opt.writing("Show on stderr, for each block, whether it is kept, its score and what caused it.")
    ] = False,
    models: opt.Models = None,
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    url: Annotated[str, opt.reading("URL of the page: resolves relative links and names the page's site.")] = "",
    content_type: Annotated[
        str | None, opt.reading("Content-Type header of the page; it may name the charset.")
    ] = None,
    **_: Any,
) -> None:
    """Turn one page into text, Markdown, sanitised HTML or its record.

    A page is cleaned by itself, or with what was learned of its site (--models).

    Examples:

        webwinnow page article.html
        webwinnow page https://example.org/a --format markdown
        curl -s https://example.org/ | webwinnow page - --url https://example.org/ --format markdown
        webwinnow page article.html --format json | jq .title
        webwinnow page https://example.org/app --render
        webwinnow page article.html --url https://example.org/a --models models --explain
    """
    chosen = opt.Chosen(context, RunSettings, URLS.settings, pairs=set_)
    if stop_words is not None:
        chosen.suppose_stop_words(stop_words)
    settings = chosen.settings(RunSettings)
    chosen.check_method(settings.method)
    opt.check_learns(context, settings.method)
    fetching = chosen.settings(URLS.settings, max_size=max(1, settings.limits.max_bytes), retries=1)
    is_rendered = fetching.render != "never"
    if not URLS.takes(file) and not is_rendered:
        chosen.refuse("without a URL to fetch or --render", "guard")
    if not is_rendered:
        chosen.refuse("without --render or --render=auto", "crawl.render_set")
    key = settings.site_by
    if key.by == "column":
        raise SettingsError(
            "--site-by column: a single page has no columns; expected host, domain, prefix:N, all or none"
        )
    if models is not None:
        key.check_sites("cleaning with models")
    cleaner = Cleaner.of(settings.method, settings.cleaning, settings.task, kinds=explain, selection=settings.selection)
    if URLS.takes(file):
        fetched = URLS.page(file, fetching)
        url = url or fetched.url
        if not fetched.layout:
            fetched = replace(fetched, content_type=content_type or fetched.content_type)
    else:
        fetched = PageRecord(url=url, body=_read(file, settings.limits.max_bytes), content_type=content_type)
        if is_rendered:
            fetched = URLS.rendered(fetched, fetching)
    model = None if models is None else _model(models, key, url)
    limits = limits_for(model, settings.limits)
    tree = parse(fetched.body, url, content_type=fetched.content_type, limits=limits, layout=fetched.layout)
    clean = cleaner.clean(tree, model)
    if format == "json":
        from webwinnow.record.fields import ordered  # noqa: PLC0415 (not for other formats)

        written = json.dumps(ordered(clean.record(fetched=fetched.fetched_at)), ensure_ascii=False) + "\n"
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
    site = site_by.of(url)
    from webwinnow.site.modelstore import open_models  # noqa: PLC0415 (only with --models)

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
