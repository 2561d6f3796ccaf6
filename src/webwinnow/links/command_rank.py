"""`webwinnow rank`: ranks of pages before and after cleaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted, printable
from webwinnow.errors import InputError
from webwinnow.links.command_links import link_settings
from webwinnow.links.edges import STRUCTURE
from webwinnow.links.ranking import RankSettings
from webwinnow.links.ranking import rank as rank_links
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.run.outputs import check_apart

PANEL = "Mine"


@opt.settings_options(RankSettings)
def rank(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("JSONL or Parquet that webwinnow links --all wrote")],
    out: Annotated[str, opt.out("a .jsonl, .csv or .parquet file, or - for standard output")],
    root: Annotated[
        Path | None,
        opt.reading("HITS: file of URLs, one per line, that answer a query; only their neighbourhood is weighed."),
    ] = None,
    top: Annotated[int, opt.writing("Pages in each list of the summary.", min=1)] = 5,
    format: Annotated[str | None, opt.format("jsonl, csv or parquet")] = None,
    method: opt.Method = DEFAULT_METHOD,
    task: opt.Task = STRUCTURE,
    models: opt.Models = None,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
    **_: Any,
) -> None:
    """Rank pages by PageRank and HITS, over all links and over the links that cleaning leaves.

    One line per page, highest first: url, site, links_in, pagerank, authority and hub, each _before and _after
    cleaning. The summary lists the first pages and those that rose or fell most. Exit code 1 if any page failed.

    Examples:

        webwinnow rank crawl.warc.gz -o ranks.jsonl
        webwinnow links crawl.warc.gz --all -o links.jsonl; webwinnow rank links.jsonl -o ranks.csv --algorithm hits
        webwinnow search index "apples" --json | jq -r .url > root.txt; webwinnow rank links.jsonl --root root.txt -o -
    """
    opt.check_learns(context, method)
    check_apart([] if root is None else [root], out)
    chosen = opt.Chosen(context, RankSettings)
    ranking = chosen.settings(RankSettings, root=() if root is None else tuple(_lines_of(root)))
    if ranking.algorithm == "pagerank":
        chosen.refuse("with --algorithm pagerank", "rank.near")
        opt.check_read(context, "--algorithm pagerank", "root")
    elif ranking.algorithm == "hits":
        chosen.refuse("with --algorithm hits", "rank.damping")
    settings = link_settings("all", method, set_, site_by, models, task, jobs)
    with shown_progress(quiet=quiet) as progress:
        ranked = rank_links(inputs, out, settings, ranking, format=format, tmp=tmp, **progress.callbacks)
    lines = map(printable, ranked.summary(top))
    failed = [f"{counted(ranked.failed, 'page')} failed"] if ranked.failed else []
    finish([*lines, *failed], quiet=quiet, failed=failed or progress.partial_inputs)


def _lines_of(path: Path) -> list[str]:
    """The lines of a file that are not blank."""
    try:
        found = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); expected a text file with one URL per line") from None
    if not found:
        raise InputError(f"{path}: is empty; expected one URL per line")
    return found
