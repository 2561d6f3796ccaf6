"""From a collection to a report: learn its sites as `clean` would, then ask the methods about a sample of the pages."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from webwinnow.collection.settings import RunSettings
from webwinnow.commands.learn import learn_sites
from webwinnow.errors import InputError, SettingsError
from webwinnow.io import check_apart, check_output
from webwinnow.methods import method_named
from webwinnow.pagetree import PageTree
from webwinnow.parsing import ParseLimits
from webwinnow.progress import Progress
from webwinnow.report.document import MOST_BYTES, report_html
from webwinnow.report.sitereport import DEFAULT_METHODS, SiteReport
from webwinnow.site.archive import write_whole
from webwinnow.site.modelstore import ModelFolder
from webwinnow.urls import SiteKey

__all__ = ["Inspected", "ReportSettings", "share_out", "write_report"]

SAMPLE_PAGES = 200
"""Pages of a report: on `sites-swde` they take 2.6 MB (docs/inspect.md)."""
VIEWER_ROOM = 1_000_000
"""Bytes kept free for the viewer itself and the index."""

NO_NAME = "(no name)"
"""What the site of pages without a web address is called in messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """How to inspect a collection.

    - `methods`: the cleaning methods to compare; the first two stand side by side at first.
    - `pages`: sample pages in all, shared out among the sites.
    - `sites`: the sites to show; all where none is named.
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
    """What a report shows: sites, sample pages, its size; pages that could not be read or for which was no room."""

    sites: int
    pages: int
    size: int
    failed: int
    left_out: int


def share_out(pages: dict[str, int], most: int) -> dict[str, int]:
    """How many pages of each site to show, `most` in all: equal shares, and what small sites leave goes to the others.

    Where there are more sites than pages, the largest get one each.
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
    *,
    tmp: Path | None = None,
    shown_inputs: Sequence[str] | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Inspected:
    """Inspect a collection and write the report, one HTML file. The same input gives the same report.

    `shown_inputs` are what the report's command lines call the inputs, where that is not what they are called here.
    """
    settings = settings or ReportSettings()
    check_output(out, "jsonl")
    check_apart(inputs, out)
    run = RunSettings(
        method="sst", site_by=settings.site_by, limits=settings.limits, jobs=settings.jobs, keep_trees=True
    )
    room = MOST_BYTES - VIEWER_ROOM
    found: dict[str, SiteReport] = {}

    def sample(pages: dict[str, int]) -> dict[str, int]:
        missing = [site for site in settings.sites if site not in pages]
        if missing:
            there = ", ".join(site or NO_NAME for site in list(pages)[:5]) + (", …" if len(pages) > 5 else "")
            hint = '; --site "" is the one without a name' if "" in pages else ""
            named = ", ".join(site or NO_NAME for site in missing)
            raise InputError(f"there is no page of {named}; the sites are: {there or 'none'}{hint}")
        return share_out({site: pages[site] for site in settings.sites or pages}, settings.pages)

    with tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as models:

        def show(site: str, trees: list[PageTree]) -> None:
            nonlocal room
            folder = ModelFolder(Path(models))
            model = folder.find(site)
            assert model is not None
            found[site] = SiteReport.of(model, trees, settings.methods, room=room)
            room -= found[site].size
            folder.model_path(site).unlink()

        learned = learn_sites(
            inputs,
            Path(models),
            run,
            sums=False,
            tmp=tmp,
            on_progress=on_progress,
            on_problem=on_problem,
            on_sample=show,
            sample=sample,
        )
    sites = [found[site] for site in sorted(found)]
    if not any(site.pages for site in sites):
        raise InputError("there is no page to show: none of the inputs could be read")
    command = shlex.join(["webwinnow", "clean", *(shown_inputs or map(str, inputs))])
    if settings.site_by != SiteKey():
        segments = f":{settings.site_by.segments}" if settings.site_by.segments else ""
        command += f" --site-by {settings.site_by.by}{segments}"
    written = report_html(sites, settings.methods, command=command).encode("utf-8", "replace")
    write_whole(out, written)
    return Inspected(
        sites=len(sites),
        pages=sum(len(site.pages) for site in sites),
        size=len(written),
        failed=learned.failed_pages,
        left_out=sum(site.about["left_out"] for site in sites),
    )
