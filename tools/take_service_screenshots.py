"""Retake the screenshots of docs/serve.md: the service with the sample crawl, in the system's Chromium.

    python tools/take_service_screenshots.py [FOLDER]

Needs the extras `serve`, `render`, `search`, `mining`, `parquet`, the dependency groups `dev` and `pictures`, and
Debian's `chromium` (`make pictures` installs them); the screenshots are written to docs/ by default.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from take_screenshots import DESKTOP, FLAGS, PHONE, SAMPLE, _save

PATIENCE = 300_000


def main() -> None:
    """Start a server, upload the sample and take the screenshots."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        server = subprocess.Popen([sys.executable, "-m", "webwinnow", "serve", "--folder", data, "--port", str(port)])
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page(viewport=DESKTOP, color_scheme="light", reduced_motion="reduce")
        _open(tab, f"http://127.0.0.1:{port}/")
        _save(tab, folder / "serve.png")
        tab.set_input_files("#file", SAMPLE)
        tab.get_by_role("button", name="Start").first.click()
        tab.wait_for_selector(".badge.done", timeout=PATIENCE)
        job = tab.url
        _save(tab, folder / "serve-job.png")
        tab.goto(f"{job}/inspect")
        tab.frame_locator("iframe").locator("html[data-ready]").wait_for(state="attached", timeout=PATIENCE)
        tab.wait_for_timeout(500)
        _save(tab, folder / "serve-inspect.png")
        tab.goto(f"{job}/search?q=database+index")
        tab.get_by_role("combobox", name="Words").press("End")
        tab.get_by_role("combobox", name="Words").press_sequentially(" pag")
        tab.get_by_role("option").first.wait_for()
        _save(tab, folder / "serve-search.png")
        tab.goto(f"{job}/clusters")
        tab.wait_for_timeout(500)
        _save(tab, folder / "serve-clusters.png")
        tab.goto(f"http://127.0.0.1:{port}/docs")
        _save(tab, folder / "serve-docs.png")
        phone = browser.new_page(viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
        phone.goto(job)
        _save(phone, folder / "serve-phone.png")
        browser.close()
        server.terminate()
        server.wait()


def _open(tab: Page, url: str) -> None:
    """Open the first page, retrying until the server answers."""
    for _ in range(300):
        try:
            tab.goto(url)
            return
        except Exception:  # the server is still starting
            tab.wait_for_timeout(200)
    raise RuntimeError("the server did not start")


if __name__ == "__main__":
    main()
