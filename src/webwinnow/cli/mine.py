"""`webwinnow features`, `links`, `rank` and `replicas`: what web mining takes from a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaner import Cleaner
from webwinnow.cleaning.tasks import task_of
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, printable, shown_progress
from webwinnow.commands import RunSettings, run
from webwinnow.commands.featurefile import write_features
from webwinnow.commands.rank import Algorithm, Ranked, RankSettings
from webwinnow.commands.rank import rank as rank_links
from webwinnow.commands.replicas import write_replicas
from webwinnow.counted import counted
from webwinnow.errors import InputError
from webwinnow.io import check_apart
from webwinnow.links import STRUCTURE
from webwinnow.methods import DEFAULT_METHOD
from webwinnow.replicas import REPLICA_METHODS, ReplicaSettings
from webwinnow.site.modelstore import open_models
from webwinnow.site.sums import LEARNED_PAGES
from webwinnow.urls import SiteKey
from webwinnow.vectors import SITE_WEIGHTINGS, WEIGHTINGS, VectorSettings

_RANK = RankSettings()
_REPLICAS = ReplicaSettings()
_WEIGHTING = VectorSettings().weighting


def features(
    context: typer.Context,
    inputs: opt.Inputs,
    out: Annotated[Path, opt.out("an .npz file, or - for standard output", callback=opt.written(".npz"))],
    weighting: opt.Weighting = _WEIGHTING,
    mapped: Annotated[bool, opt.setting("Weight as MapCST does (thesis 4.3.3) rather than exactly (5-10).")] = True,
    set_: opt.Settings = None,
    kinds: opt.Kinds = "words",
    stop_words: opt.StopWords = None,
    all_words: Annotated[bool, opt.setting("Keep stop words, numbers and single letters.", "--all-words")] = False,
    method: Annotated[
        str | None, opt.setting("Cleaning method: count only what it keeps; with --weighting tfidf or topic.")
    ] = None,
    learn_pages: opt.LearnPages = LEARNED_PAGES,
    site_by: opt.SiteBy = "host",
    css: opt.Css = False,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Write the features of a collection: a sparse matrix, one row per page, weighted by the page's site.

    The compressed structure tree of a site gives each word a weight in its place: words that the site repeats have
    weight 0. The file contains data, indices, indptr and shape (CSR), page_ids and vocabulary.

    Example:

        webwinnow features crawl.warc.gz -o features.npz
        webwinnow features crawl.warc.gz -o features.npz --weighting tfidf --method sst
    """
    if weighting in WEIGHTINGS and weighting not in SITE_WEIGHTINGS:
        opt.check_read(context, f"--weighting {weighting}", "mapped")
        if method is not None:
            opt.check_learns(context, method)
        elif weighting == "tfidf":
            opt.check_read(context, "--weighting tfidf", "learn_pages")
    cleaner = None if method is None else Cleaner.of(method, opt.cleaning_settings(set_, method=method))
    vectors = VectorSettings(
        kinds=opt.names_in(kinds),
        stop_words=not all_words,
        stop_list=opt.stop_list(stop_words),
        weighting=weighting,
        weights=opt.weight_settings(set_ if method is None else None, weighting, mapped=mapped),
    )
    settings = opt.parsing_settings(site_by, jobs, css=css, learn_pages=learn_pages)
    with shown_progress(quiet=quiet) as progress:
        pages, columns, failed = write_features(inputs, out, settings, vectors, cleaner, tmp=tmp, **progress.callbacks)
    finish(
        [f"{counted(pages, 'page')}, {counted(columns, 'feature')}, {counted(failed, 'page')} failed"],
        quiet=quiet,
        failed=failed or progress.partial_inputs,
    )


def links(
    context: typer.Context,
    inputs: opt.Inputs,
    out: Annotated[str, opt.out("a .jsonl, .csv, .parquet, .graphml or .edges file, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl, csv, parquet, graphml or edges")] = None,
    every: Annotated[bool, opt.writing("Write removed links too; `kept` marks the others.", "--all")] = False,
    method: opt.Method = DEFAULT_METHOD,
    task: opt.Task = STRUCTURE,
    models: opt.Models = None,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Export the link graph without the links of menus, footers and advertisements; `webwinnow rank` ranks its pages.

    One line per link: source, target (canonical URLs), anchor, kind of the region it is in, score, kept, page_id,
    site; in the order (site, input, place on the page).

    Examples:

        webwinnow links crawl.warc.gz -o links.jsonl
        webwinnow links crawl.parquet -o links.parquet --all --site-by domain
        webwinnow links crawl.warc.gz -o links.graphml
        webwinnow links crawl.warc.gz -o - --format edges | sort | uniq -c

    GraphML is for Gephi, NetworkX and igraph; edges is an edge list, one source and target per line with a tab between.
    """
    opt.check_learns(context, method)
    settings = _link_settings("all" if every else "kept", method, set_, site_by, models, task, jobs)
    with shown_progress(quiet=quiet) as progress:
        summary = run(inputs, out, settings, format=format, resumable=False, tmp=tmp, **progress.callbacks)
    pages, failed = counted(summary.pages, "page"), counted(summary.failed, "page")
    lines = [f"links of {pages} of {counted(summary.sites, 'site')}; {failed} failed"]
    for what, found in (("kept", summary.counts.kept_links), ("removed", summary.counts.removed_links)):
        kinds = sorted(found.items(), key=lambda kind: (-kind[1], kind[0]))
        listed = ", ".join(f"{kind} {number:,}" for kind, number in kinds)
        lines.append(f"  {what}: {counted(sum(found.values()), 'link')}{f' ({listed})' if listed else ''}")
    finish(lines, quiet=quiet, failed=summary.failed or progress.partial_inputs)


def _link_settings(
    links: str, method: str, set_: list[str] | None, site_by: str, models: Path | None, task: str, jobs: int
) -> RunSettings:
    return RunSettings(
        method=method,
        cleaning=opt.cleaning_settings(set_, method=method),
        site_by=SiteKey.parse(site_by),
        models=None if models is None else str(open_models(models).path.absolute()),
        task=task_of(task),
        links=links,
        replicas=None,
        jobs=jobs,
    )


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
    settings = _link_settings("all", method, set_, site_by, models, task, jobs)
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


def replicas(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("JSONL that webwinnow clean wrote")],
    out: Annotated[str, opt.out("a file, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl or parquet")] = None,
    fingerprint: Annotated[
        str, opt.setting(f"Fingerprint: {' or '.join(REPLICA_METHODS)} (DocView 5).")
    ] = _REPLICAS.method,
    threshold: Annotated[
        float, opt.setting("modern: share of the shorter page's text that two near-duplicates have in common.")
    ] = _REPLICAS.threshold,
    titles_apart: Annotated[
        float, opt.setting("modern: the same share for pages of one site with different titles.")
    ] = _REPLICAS.titles_apart,
    percentage: Annotated[
        float, opt.setting("published: share of a page's words that is compared.")
    ] = _REPLICAS.percentage,
    interval: Annotated[
        int, opt.setting("published: the number of words hashed is a multiple of this.")
    ] = _REPLICAS.interval,
    stop_words: opt.StopWords = None,
    method: opt.Method = DEFAULT_METHOD,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Find near-duplicates: one line per page, with its cluster and, unless it is the copy to keep, `replica_of`.

    The copy to keep has the canonical URL, else the shortest URL, then the earliest date. `relation` distinguishes old
    versions of a page and pages of mirrors from other copies. Pages are cleaned first; with --method none all visible
    text is compared. Exit code 1 if any page failed.

    Examples:

        webwinnow replicas crawl.warc.gz -o replicas.jsonl
        webwinnow replicas clean.jsonl -o replicas.jsonl --threshold 0.8
        webwinnow replicas crawl.parquet -o - --fingerprint published --method docview
    """
    others = ("percentage", "interval") if fingerprint == "modern" else ("threshold", "titles_apart")
    opt.check_read(context, f"--fingerprint {fingerprint}", *others)
    cleaning = opt.cleaning_settings(set_, stop_words=stop_words, method=method)
    known = {"method": fingerprint, "stop_words": cleaning.docview.stop_words}
    settings = RunSettings(
        method=method,
        cleaning=cleaning,
        site_by=SiteKey.parse(site_by),
        jobs=jobs,
        replicas=ReplicaSettings(**opt.fields_of(ReplicaSettings, locals()) | known),
    )
    with shown_progress(quiet=quiet) as progress:
        summary = write_replicas(inputs, out, settings, format=format, tmp=tmp, **progress.callbacks)
    pages, sites = counted(summary.pages, "page"), counted(summary.sites, "site")
    head = f"{pages} of {sites} in {summary.seconds:.1f} s, {summary.failed:,} failed"
    found = [] if summary.found_replicas is None else summary.found_replicas.lines()
    finish([head, *found], quiet=quiet, failed=summary.failed or progress.partial_inputs)
