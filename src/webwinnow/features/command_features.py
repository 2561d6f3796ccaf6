"""`webwinnow features`: feature vectors of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.features.options import Kinds, Weighting, weight_settings
from webwinnow.features.run import write_features
from webwinnow.features.vectors import SITE_WEIGHTINGS, WEIGHTINGS, VectorSettings
from webwinnow.record.cleaner import Cleaner
from webwinnow.site.sums import LEARNED_PAGES

PANEL = "Mine"

_WEIGHTING = VectorSettings().weighting


def features(
    context: typer.Context,
    inputs: opt.Inputs,
    out: Annotated[Path, opt.out("an .npz file, or - for standard output", callback=opt.written(".npz"))],
    weighting: Weighting = _WEIGHTING,
    mapped: Annotated[bool, opt.setting("Weight as MapCST does (thesis 4.3.3) rather than exactly (5-10).")] = True,
    set_: opt.Settings = None,
    kinds: Kinds = "words",
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
        weights=weight_settings(set_ if method is None else None, weighting, mapped=mapped),
    )
    settings = opt.parsing_settings(site_by, jobs, css=css, learn_pages=learn_pages)
    with shown_progress(quiet=quiet) as progress:
        pages, columns, failed = write_features(inputs, out, settings, vectors, cleaner, tmp=tmp, **progress.callbacks)
    finish(
        [f"{counted(pages, 'page')}, {counted(columns, 'feature')}, {counted(failed, 'page')} failed"],
        quiet=quiet,
        failed=failed or progress.partial_inputs,
    )
