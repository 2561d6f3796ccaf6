"""Retake the screenshots of docs/inspect.md: a report on the sample crawl in the system's Chromium.

    python tools/take_screenshots.py [FOLDER]

Needs the extra `render` and Debian's `chromium`; the screenshots are written to docs/ by default.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from webwinnow.report import ReportSettings, write_report

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
SAMPLE = "samples/docs.warc.gz"
PAGE = "/locrsf.html"
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
            if size is PHONE:
                tab.evaluate("scrollTo(0, document.querySelector('.sides').offsetTop - 70)")
            _save(tab, folder / f"{name}.png")
            tab.close()
        tab = browser.new_page(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
        _open_page(tab, report)
        tab.click("#show-tree")
        tab.wait_for_selector(".tree-item")
        _save(tab, folder / "inspect-tree.png")
        browser.close()


def _open_page(tab: Page, report: Path) -> None:
    """A page of the sample on which the two methods differ, with a block selected."""
    tab.goto(report.as_uri())
    tab.wait_for_selector("html[data-ready]")
    tab.select_option(
        "#site", label=next(text for text in tab.locator("#site option").all_text_contents() if "sqlite" in text)
    )
    tab.locator(".entry", has_text=PAGE).first.dispatch_event("click")
    tab.locator("#page-url", has_text=PAGE).wait_for()
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
