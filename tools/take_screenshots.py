"""Retake the screenshots of docs/inspect.md and docs/cluster.md: reports on the sample crawls in the system's Chromium.

    python tools/take_screenshots.py [FOLDER]

Needs the extras `render` and `mining`, the dependency groups `dev` and `pictures`, and Debian's `chromium` (`make
pictures` installs them); the screenshots are written to docs/ by default.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from webwinnow import open_pages
from webwinnow.cluster.report import write_cluster_html
from webwinnow.cluster.run import cluster_collection
from webwinnow.cluster.settings import ClusterSettings
from webwinnow.crawl.browser.capture import PageToRender
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.features.vectors import VectorSettings
from webwinnow.inspect.inspector import ReportSettings, report_html, write_report
from webwinnow.inspect.sitereport import SiteReport
from webwinnow.page.parsing import parse
from webwinnow.record.sitemodel import learn
from webwinnow.run.settings import CollectionSettings

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
SAMPLE, KINDS = "samples/docs.warc.gz", "samples/kinds.warc.gz"
PAGE = "/locrsf.html"
SEEN_PAGES = 8
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
COLOURS = 128
"""Size of the palette: the screenshots have few colours, and a small palette makes small files."""


def main() -> None:
    """Write the report, open it and take the screenshots."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        report = Path(scratch) / "report.html"
        write_report([SAMPLE], report, ReportSettings(methods=("combined", "sst", "cst", "repeated")))
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, size, scheme in (
            ("inspect", DESKTOP, "light"),
            ("inspect-dark", DESKTOP, "dark"),
            ("inspect-phone", PHONE, "light"),
        ):
            tab = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
            _open_page(tab, report)
            _save(tab, folder / f"{name}.png")
            tab.close()
        tab = browser.new_page(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
        _open_page(tab, report)
        tab.click("#show-tree")
        tab.wait_for_selector(".tree-item")
        _save(tab, folder / "inspect-tree.png")
        _seen_report(report)
        tab = browser.new_page(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
        _open_page(tab, report)
        tab.click("#show-seen")
        tab.wait_for_function("document.querySelector('#seen img').complete")
        for part in ("section", "list"):
            button = tab.locator(f"#seen-parts [data-part={part}]")
            if button.count():
                button.click()
        _save(tab, folder / "inspect-seen.png")
        take_clusters(browser, Path(scratch), folder / "cluster.png")
        browser.close()


def take_clusters(browser: Browser, scratch: Path, path: Path) -> None:
    """Take the report of the command in docs/guides/cluster.md."""
    clusters = CollectionSettings(), VectorSettings(weighting="cst"), ClusterSettings(k=5)
    write_cluster_html(cluster_collection([KINDS], *clusters), scratch / "clusters.html")
    tab = browser.new_page(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
    tab.goto((scratch / "clusters.html").as_uri())
    _save(tab, path)


def _seen_report(path: Path) -> None:
    """Write a report on rendered pages of the sample, with screenshots. Nothing is requested: the style sheet of the
    pages, which the sample has, is put into them.
    """
    css = next(body for url, body in _responses() if url.endswith("/sqlite.css"))
    trees = []
    pages = [page for page in open_pages([SAMPLE], on_problem=print) if "sqlite" in page.url][:SEEN_PAGES]
    wanted = [page for page in open_pages([SAMPLE], on_problem=print) if page.url.endswith(PAGE)]
    with Renderer(RenderSettings(max_requests=0)) as renderer:
        for page in {page.url: page for page in wanted + pages}.values():
            body = page.body.replace(b"</head>", b"<style>" + css + b"</style></head>")
            seen = renderer.render(PageToRender(url=page.url, body=body, screenshot=True))
            trees.append(parse(seen.html, page.url, layout=seen.layout.to_bytes()))
    methods = ("combined", "visual")
    report = SiteReport.of(learn(trees, "sqlite.docs.example"), trees, methods)
    path.write_text(report_html([report], methods), encoding="utf-8")


def _responses() -> Iterator[tuple[str, bytes]]:
    with Path(SAMPLE).open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            yield record.headers["WARC-Target-URI"], record.reader.read()


def _open_page(tab: Page, report: Path) -> None:
    """A page of the sample on which the two methods differ, with a block selected."""
    tab.goto(report.as_uri())
    tab.wait_for_selector("html[data-ready]")
    tab.select_option(
        "#site", label=next(text for text in tab.locator("#site option").all_text_contents() if "sqlite" in text)
    )
    tab.locator(".entry", has_text=PAGE).first.dispatch_event("click")
    tab.locator("#page-url", has_text=PAGE).wait_for(state="attached")  # not shown on a phone
    tab.locator("h1").first.click()
    tab.keyboard.press("d")
    tab.wait_for_timeout(200)


def _save(tab: Page, path: Path) -> None:
    tab.screenshot(path=path)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
