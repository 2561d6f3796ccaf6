"""`webwinnow inspect`: learn the sites of a collection as `clean` does, clean a sample of pages, write the inspector.

The inspector is one HTML file with viewer, styles and data. Page content is packed (`sitereport.packed`), so none of it
is parsed as HTML: the viewer unpacks it and writes it as plain text. The policy of the file allows the viewer's script
and styles by hash and nothing else, in its frames too.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from markupsafe import Markup

from webwinnow._version import __version__
from webwinnow.errors import InputError, SettingsError
from webwinnow.inspect.dials import DIALS
from webwinnow.inspect.shownpage import SHOWN_TAGS
from webwinnow.inspect.sitereport import CURVE_STEPS, DEFAULT_METHODS, SiteReport, packed
from webwinnow.inspect.templating import asset, render_page
from webwinnow.judge.kinds import FAMILIES, KINDS
from webwinnow.judge.verdict import Reason
from webwinnow.methods.registry import method_named
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey
from webwinnow.run.learning import SHOWN_ERRORS
from webwinnow.run.outputs import check_apart, check_output, write_bytes
from webwinnow.run.parsedcollection import ModelOrder, OpenOptions, ParsedCollection, build_models
from webwinnow.run.settings import CollectionSettings
from webwinnow.site.learned import LearnedSite

SAMPLE_PAGES = 200
"""Pages of a report: on `sites-swde` they take 2.6 MB (docs/inspect.md)."""
MOST_BYTES = 20_000_000
"""Largest report; pages that do not fit are left out, and the report says so."""
VIEWER_ROOM = 1_000_000
"""Bytes reserved for the viewer and the index."""
SCRIPTS = ("state.js", "frames.js", "seen.js", "block.js", "dials.js", "pages.js", "tree.js", "start.js")
"""The files of the viewer's script, in order."""
NO_NAME = "(no name)"
"""Shown for the site of pages without a web URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """How to inspect a collection.

    - `methods`: the cleaning methods to compare; the first two are shown side by side at first.
    - `pages`: sample pages in all, shared among the sites.
    - `sites`: the sites to show; all if empty.
    - `site_by`, `limits`, `jobs`: as in a cleaning run.
    """

    methods: tuple[str, ...] = DEFAULT_METHODS
    pages: int = SAMPLE_PAGES
    sites: tuple[str, ...] = ()
    site_by: SiteKey = field(default_factory=SiteKey)
    limits: ParseLimits = field(default_factory=ParseLimits)
    jobs: int = 0

    def __post_init__(self) -> None:
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise SettingsError(f"methods are {', '.join(self.methods) or 'none'}: expected one or more, each once")
        for name in self.methods:
            method_named(name)
        if self.pages < 1:
            raise SettingsError(f"pages is {self.pages}: expected 1 or more")


@dataclass(frozen=True, slots=True)
class Inspected:
    """Sites and sample pages of a report, its size in bytes, pages that failed and pages that did not fit."""

    sites: int
    pages: int
    size: int
    failed: int
    left_out: int


def share_out(pages: dict[str, int], most: int) -> dict[str, int]:
    """Return how many pages of each site to show, `most` in all: equal shares, unused ones go to larger sites.

    With more sites than pages, the largest sites get one page each.
    """
    shares: dict[str, int] = {}
    left = most
    sites = sorted(pages, key=lambda site: (-pages[site], site))[:most]
    for k, site in enumerate(reversed(sites)):  # the smallest first
        shares[site] = min(pages[site], left // (len(sites) - k))
        left -= shares[site]
    return shares


def write_report(
    inputs: Sequence[str | Path],
    out: Path,
    settings: ReportSettings | None = None,
    **options: Unpack[OpenOptions],
) -> Inspected:
    """Inspect the pages of files and folders and write the report, one HTML file, the same for the same input."""
    settings = settings or ReportSettings()
    check_output(out, "jsonl")
    check_apart(inputs, out)
    settings.site_by.check_sites("learning")
    collecting = CollectionSettings(site_by=settings.site_by, limits=settings.limits, jobs=settings.jobs)
    with ParsedCollection.open(inputs, collecting, **options) as collection:
        return report_collection(collection, out, settings, list(map(str, inputs)))


def report_collection(
    collection: ParsedCollection, out: Path, settings: ReportSettings, shown_inputs: Sequence[str]
) -> Inspected:
    """Inspect a parsed collection. `shown_inputs` are the inputs in the command lines that the report shows."""
    settings.site_by.check_sites("learning")
    collection.report_errors(SHOWN_ERRORS)
    sizes = dict(collection.sites())
    sample = _sample(sizes, settings)
    order = ModelOrder("", collection.settings.learn_pages, with_sums=False)
    room, done = MOST_BYTES - VIEWER_ROOM, 0
    found: dict[str, SiteReport] = {}
    for built in build_models(collection.store, collection.pool, order, sample):
        done += sizes[built.site]
        collection.progress("learn", done, collection.page_count)
        if built.model is None:
            collection.on_problem(f"{built.site} could not be learned: {built.error}")
            continue
        trees = list(collection.chosen_trees(built.site, sample[built.site]))
        report = SiteReport.of(LearnedSite.from_bytes(built.model), trees, settings.methods, room=room)
        found[built.site] = report
        room -= report.size
    sites = [found[site] for site in sorted(found)]
    if not any(site.pages for site in sites):
        raise InputError("there is no page to show: none of the inputs could be read")
    command = shlex.join(["webwinnow", "clean", *shown_inputs])
    if settings.site_by != SiteKey():
        segments = f":{settings.site_by.segments}" if settings.site_by.segments else ""
        command += f" --site-by {settings.site_by.by}{segments}"
    written = report_html(sites, settings.methods, command=command).encode("utf-8", "replace")
    write_bytes(out, written)
    return Inspected(
        sites=len(sites),
        pages=sum(len(site.pages) for site in sites),
        size=len(written),
        failed=collection.failed_count,
        left_out=sum(site.about["left_out"] for site in sites),
    )


def report_html(
    sites: Sequence[SiteReport], methods: Sequence[str] = DEFAULT_METHODS, *, command: str = "webwinnow clean INPUT"
) -> str:
    """Return the report on some sites. The command lines that it shows begin with `command`."""
    index = {
        "version": __version__,
        "command": command,
        "tags": SHOWN_TAGS,
        "reasons": [reason.text for reason in Reason],
        "steps": CURVE_STEPS,
        "families": FAMILIES,
        "kinds": [
            {"name": kind.name, "family": kind.family, "about": kind.about, "sign": sign}
            for kind, sign in zip(KINDS, _signs([kind.name for kind in KINDS]), strict=True)
        ],
        "methods": [_method(name) for name in methods],
        "sites": [site.about for site in sites],
    }
    blobs = [("index", packed(index))]
    for s, site in enumerate(sites):
        blobs.append((f"tree-{s}", site.tree))
        blobs += [(f"page-{s}-{p}", page) for p, page in enumerate(site.pages)]
    names = ", ".join(site.about["name"] for site in sites[:3]) + (", …" if len(sites) > 3 else "")
    frame = asset("frame.css")
    return render_page(
        "inspector.html.j2",
        asset("viewer.css"),
        frame,
        script='"use strict";\n(() => {\n' + "\n".join(map(asset, SCRIPTS)) + "})();\n",
        pictures=any(site.pictures for site in sites),
        title=f"{names} · webwinnow inspect",
        frame=Markup(frame),
        blobs=blobs,
    )


def _method(name: str) -> dict[str, Any]:
    dial = DIALS.get(name)
    shown = None
    if dial is not None:
        shown = {key: getattr(dial, key) for key in ("name", "about", "own", "option")}
        shown |= {"more": dial.keeps_more, "favors": dial.favors}
    return {"name": name, "about": method_named(name).about, "dial": shown}


def _signs(names: Sequence[str]) -> list[str]:
    """Two letters for each kind, so that kinds differ not by colour alone: the first, and the next unused one."""
    signs: list[str] = []
    for name in names:
        letters = name.replace("-", "")
        initials = "".join(word[0] for word in name.split("-")[1:2]) + letters[1:]
        signs.append(next(sign for c in initials if (sign := letters[0].upper() + c) not in signs))
    return signs


def _sample(pages: dict[str, int], settings: ReportSettings) -> dict[str, int]:
    """The sites of the report, with the number of sample pages of each."""
    missing = [site for site in settings.sites if site not in pages]
    if missing:
        there = ", ".join(site or NO_NAME for site in list(pages)[:5]) + (", …" if len(pages) > 5 else "")
        hint = '; --site "" is the one without a name' if "" in pages else ""
        named = ", ".join(site or NO_NAME for site in missing)
        raise InputError(f"there is no page of {named}; the sites are: {there or 'none'}{hint}")
    return share_out({site: pages[site] for site in settings.sites or pages}, settings.pages)
