"""The web interface in a real browser: upload a crawl, watch progress, inspect, search, download."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
PATIENCE = 240_000
OURS = ("http://127.0.0.1", "data:", "about:", "blob:")
HOSTILE = """<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><body><h1>"><img src=x onerror=alert(1)></h1>
<p>&lt;script&gt;document.title='owned'&lt;/script&gt; is what this page says in a sentence that is long enough to stay,
and it says more than that: <a href="javascript:alert(1)">a link</a> that nobody should follow.</p>"""


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens tabs; what the console says, except for information, and requests to other hosts fail the test."""
    opened: list[Any] = []
    complaints: list[str] = []

    def open_tab(address: str, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        opened.append(page)
        page.on("console", lambda said: said.type == "info" or complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("http://127.0.0.1", "data:", "about:", "blob:"))
                or complaints.append(request.url)
            ),
        )
        page.goto(address)
        return page

    yield open_tab
    for page in opened:
        page.close()
    assert complaints == []


def test_a_person_winnows_the_sample_crawl(server: Any, tab: Callable[..., Any], tmp_path: Path) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    page = tab(server.base)
    page.set_input_files("#file", str(SAMPLE))
    page.get_by_role("button", name="Start").first.click()
    page.wait_for_url("**/view/jobs/*")
    assert page.locator("h1").inner_text().startswith("docs.warc.gz")
    page.wait_for_selector(".badge.done", timeout=PATIENCE)
    assert "126" in page.locator(".figures").inner_text()

    page.get_by_role("link", name="Inspector").click()
    frame = page.frame_locator("iframe.report")
    frame.locator("html[data-ready]").wait_for(state="attached")
    kept = frame.locator("[data-pane], .pane, section").first
    kept.wait_for()
    slider = frame.locator("input[type=range]").first
    before = frame.locator("body").inner_text()
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(frame.locator("body")).not_to_have_text(
        before, use_inner_text=True, timeout=PATIENCE
    )  # drawn in a later frame
    frame.get_by_role("button", name="Site tree").click()

    page.go_back()
    page.get_by_role("link", name="Search").click()
    page.get_by_role("searchbox").fill("database index")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hits li")
    assert page.locator("mark").count() > 0

    page.goto(page.url.rsplit("/search", 1)[0])
    with page.expect_download() as waited:
        page.get_by_role("link", name="Records, JSONL").click()
    waited.value.save_as(tmp_path / "records.jsonl")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert len(records) == 126


def test_nothing_of_a_page_runs_or_loads(server: Any, tab: Callable[..., Any]) -> None:
    said = ("sentence of rivers and stones", "sentence of copper bridges", "sentence of winter letters")
    pages = [{"url": f"http://evil.example/{n}", "html": HOSTILE.replace("sentence", s)} for n, s in enumerate(said)]
    asked = {"pages": pages, "name": "<img src=x onerror=alert(1)>"}
    state = server.wait(server.client.post("/jobs", json=asked).json()["id"])
    where = f"{server.base}/view/jobs/{state['id']}"
    for path in ("", "/pages", "/record?at=0", "/replicas", "/search?q=%3Cscript%3E+sentence", "/inspect", "/clusters"):
        page = tab(where + path)
        page.wait_for_load_state("load")
        assert page.title() != "owned"
        assert page.locator("main img").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0
    page = tab(f"{server.base}/view/page")
    page.locator("textarea").fill(HOSTILE)
    page.get_by_role("button", name="Clean").click()
    page.wait_for_selector(".decisions li")
    assert page.title() != "owned"


def test_it_works_by_keyboard_alone(server: Any, done: dict[str, Any], tab: Callable[..., Any]) -> None:
    page = tab(server.base)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "news.jsonl":
            break
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/view/jobs/{done['id']}")
    assert page.evaluate("getComputedStyle(document.querySelector('a.tile')).outlineStyle") is not None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(server: Any, done: dict[str, Any], tab: Callable[..., Any], scheme: str) -> None:
    for path in ("/", f"/view/jobs/{done['id']}", f"/view/jobs/{done['id']}/pages", "/view/page", "/view/sites"):
        page = tab(server.base + path, width=360, height=700, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(17, 19, 22)") == (scheme == "dark")


def test_a_file_that_is_too_long_is_reported_before_it_is_sent(
    server: Any, tab: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "long.html").write_bytes(b"x" * 3_000_001)
    page = tab(server.base)
    page.set_input_files("#file", str(tmp_path / "long.html"))
    page.get_by_role("button", name="Start").first.click()
    page.wait_for_selector("#trouble:visible")
    assert "longer" in page.locator("#trouble").inner_text()
