"""`webwinnow inspect` and `webwinnow methods`: see what methods keep and remove, and what can be set."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from webwinnow.cleaning.items import ItemModel
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.methods import DEFAULT_METHOD, METHODS, Method, method_named
from webwinnow.parsing import ParseLimits
from webwinnow.report import ReportSettings, write_report
from webwinnow.urls import SiteKey

_DEFAULTS = ReportSettings()
RuleKind = Literal["link", "image", "all"]


def inspect(
    inputs: opt.Inputs,
    out: Annotated[Path, opt.out("an .html file, or - for standard output", callback=opt.written(".html"))],
    methods: Annotated[str, opt.methods(f"{', '.join(METHODS)}; the first two are shown side by side")] = ",".join(
        _DEFAULTS.methods
    ),
    sample: Annotated[int, opt.reading("Sample pages in all, divided among the sites.", min=1)] = _DEFAULTS.pages,
    site: Annotated[list[str] | None, opt.site("; repeatable")] = None,
    site_by: opt.SiteBy = "host",
    max_bytes: opt.MaxBytes = opt.MAX_BYTES,
    jobs: opt.Jobs = _DEFAULTS.jobs,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Show the sites of a crawl and a sample of their pages, what is kept, what is removed and why, in one HTML page.

    The page needs no network and runs no script of the pages it shows. Move a method's slider to see what changes; the
    page shows the command line for it. Exit code 1 if any page failed.

    Examples:

        webwinnow inspect crawl.warc.gz -o report.html
        webwinnow inspect crawl.warc.gz -o report.html --methods combined,sst,repeated --site www.example.org
    """
    settings = ReportSettings(
        methods=opt.names_in(methods),
        pages=sample,
        sites=tuple(site or ()),
        site_by=SiteKey.parse(site_by),
        limits=ParseLimits(max_bytes=max_bytes),
        jobs=jobs,
    )
    with shown_progress(quiet=quiet) as progress:
        found = write_report(inputs, out, settings, tmp=tmp, **progress.callbacks)
    left_out = f"; {counted(found.left_out, 'page')} left out, the report is full" if found.left_out else ""
    failed = f"; {counted(found.failed, 'page')} failed" if found.failed else ""
    shown = f"{counted(found.pages, 'page')} of {counted(found.sites, 'site')}"
    lines = [f"{shown} in {out}, {found.size / 1e6:.1f} MB{left_out}{failed}"]
    finish(lines, quiet=quiet, failed=found.failed or progress.partial_inputs)


def methods(
    names: Annotated[list[str] | None, typer.Argument(metavar="[METHOD]...", help="Only these methods.")] = None,
    rules: Annotated[
        RuleKind | None, opt.writing("Print the rules of method items for links or images instead.")
    ] = None,
    set_: opt.Settings = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the cleaning methods, what each does, and its settings with default and meaning.

    Settings are given with --set, as in `--method sst --set sst.threshold=0.9`.

    Examples:

        webwinnow methods
        webwinnow methods sst --json
        webwinnow methods items --rules link
        webwinnow methods items --rules all --set items.trees=trees.npz
    """
    if rules is not None:
        own = opt.cleaning_settings(set_, method="items").items.trees
        model = ItemModel.load(None if own is None else Path(own))
        for kind, tree in model.trees.items():
            if rules in ("all", kind):
                sys.stdout.write("\n".join([f"# {model.summary(kind)}", *tree.rules()]) + "\n")
        return
    for method in map(method_named, names or METHODS):
        if as_json:
            settings = [setting._asdict() for setting in method.settings]
            described = {"name": method.name, "about": method.about, "learns": method.learns, "settings": settings}
            sys.stdout.write(json.dumps(described, ensure_ascii=False) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in _described(method))


def _described(method: Method) -> list[str]:
    default = " (the default)" if method.name == DEFAULT_METHOD else ""
    lines = [f"{method.name}{default}: {method.about}"]
    for setting in method.settings:
        value = "none" if setting.default is None else setting.default
        lines += [f"    {setting.name}={value}", f"        {setting.help} ({setting.expected})"]
    return lines
