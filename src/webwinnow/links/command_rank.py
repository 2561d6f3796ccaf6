"""`webwinnow rank`: ranks of pages before and after cleaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted, printable
from webwinnow.errors import InputError
from webwinnow.links.command_links import link_settings
from webwinnow.links.edges import STRUCTURE
from webwinnow.links.ranking import Algorithm, Ranked, RankSettings
from webwinnow.links.ranking import rank as rank_links
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.run.outputs import check_apart

PANEL = "Mine"

_RANK = RankSettings()


def rank(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("JSONL or Parquet that webwinnow links --all wrote")],
    out: Annotated[str, opt.out("a .jsonl, .csv or .parquet file, or - for standard output")],
    algorithm: Annotated[
        Algorithm, opt.setting("Scores to compute: PageRank, HITS (authority and hub) or both.")
    ] = "both",
    damping: Annotated[
        float, opt.setting("PageRank: probability of following a link, at least 0 and less than 1.")
    ] = _RANK.damping,
    rounds: Annotated[int, opt.setting("Iterations at most.", min=1)] = _RANK.rounds,
    tolerance: Annotated[float, opt.setting("Change of the scores at which iterations end.", min=0)] = _RANK.tolerance,
    by: Annotated[Ranked, opt.setting("Rank pages, or sites by the links between them.")] = _RANK.by,
    between_sites: Annotated[
        bool, opt.setting("Leave out links within a site, as HITS was published.", "--between-sites")
    ] = False,
    root: Annotated[
        Path | None,
        opt.reading("HITS: file of URLs, one per line, that answer a query; only their neighbourhood is weighed."),
    ] = None,
    near: Annotated[
        int, opt.reading("HITS: pages that link to a root page and are weighed too, at most, for each.", min=0)
    ] = _RANK.near,
    targets: Annotated[bool, opt.reading("Rank linked URLs that are not pages of the input too.", "--targets")] = False,
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
) -> None:
    """Rank pages by PageRank and HITS, over all links and over the links that cleaning leaves.

    One line per page, highest first: url, site, links_in, pagerank, authority and hub, each _before and _after
    cleaning. The summary lists the first pages and those that rose or fell most. Exit code 1 if any page failed.

    Examples:

        webwinnow rank crawl.warc.gz -o ranks.jsonl
        webwinnow links crawl.warc.gz --all -o links.jsonl; webwinnow rank links.jsonl -o ranks.csv --algorithm hits
        webwinnow search index "apples" --json | jq -r .url > root.txt; webwinnow rank links.jsonl --root root.txt -o -
    """
    if algorithm == "pagerank":
        opt.check_read(context, "--algorithm pagerank", "root", "near")
    elif algorithm == "hits":
        opt.check_read(context, "--algorithm hits", "damping")
    opt.check_learns(context, method)
    check_apart([] if root is None else [root], out)
    ranking = RankSettings(
        **opt.fields_of(RankSettings, locals()) | {"root": () if root is None else tuple(_lines_of(root))}
    )
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
