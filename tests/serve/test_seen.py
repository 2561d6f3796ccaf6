"""A rendered crawl with screenshots in the service: its inspector shows the pages as seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from warmcommand import run_command
from webserver import Reply, WebServer

PROSE = "The river rose by two metres in the night, and the lower town was under water by the morning of the third day."
STYLE = b"main { max-width: 700px; margin: 40px auto } #consent { position: fixed; bottom: 0; background: #ccc }"


def town_page(name: str) -> str:
    text = "".join(f"<p>{PROSE} This is what {name} saw on day {day}.</p>" for day in range(1, 6))
    table = "".join(f"<tr><td>Day {day}</td><td>{day}.2 m</td></tr>" for day in range(1, 5))
    return f"""<!doctype html><title>{name}</title><link rel=stylesheet href=/style.css>
    <main><h1>The flood as {name} saw it</h1>{text}<h2>Levels</h2><table>{table}</table>
    <a href=/oak>Oak</a> <a href=/ash>Ash</a></main><div id=consent>We store cookies on your device.</div>"""


@pytest.fixture
def town(chromium: str) -> Iterator[WebServer]:
    pages: dict[str, Any] = {f"/{name.lower()}": town_page(name) for name in ("Oak", "Ash")}
    pages["/style.css"] = Reply(STYLE, headers=(("Content-Type", "text/css"),))
    with WebServer(pages, address="127.0.0.2") as server:
        yield server


@pytest.fixture
def chromium(browser: Any) -> str:
    """That there is a Chromium; without one the test is skipped."""
    return str(browser.version)


def test_the_inspector_of_a_job_shows_pages_as_seen(server: Any, town: WebServer, browser: Any, tmp_path: Path) -> None:
    crawl = tmp_path / "seen.warc.gz"
    reach = ("--allow", f"{town.address}/32", "--resolve", town.route(), "--delay", "0")
    rendering = ("--render", "--screenshots", "-o", str(crawl))
    run_command("crawl", "http://a.test/oak", *rendering, *reach, check=True, capture_output=True)
    job = server.hand_in(crawl.read_bytes(), "seen.warc.gz")["id"]
    state = server.wait(job, lambda state: "inspect" in state["steps"] or state["status"] == "failed")
    assert state["steps"].get("inspect", "not yet") is None, state
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{server.base}/view/jobs/{state['id']}/inspect")
    frame = page.frame_locator("iframe.report")
    frame.locator("html[data-ready]").wait_for(state="attached")
    frame.get_by_role("button", name="As seen").click()
    picture = frame.locator("#seen img")
    picture.wait_for()
    width = picture.evaluate("one => one.decode().then(() => one.naturalWidth)")
    assert width == 640  # half of the window
    kept, removed = (frame.locator(f".seen-box[data-k={one}]") for one in ("kept", "removed"))
    assert kept.count() >= 6
    assert removed.count() >= 1
    box, shown = removed.last.bounding_box(), picture.bounding_box()
    assert box["y"] + box["height"] <= shown["y"] + shown["height"] + 1
    frame.get_by_role("button", name="Tables 1").click()
    assert frame.locator(".seen-part[data-part=table]").is_visible()
    page.close()
