"""Crawls by URL whose pages a browser renders: the form, the API, and what a server without Chromium says."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from accessibility import axe_source, violations
from webserver import Asked, Reply, WebServer

from webwinnow.serve.jobprocess import JobSteps

PATIENCE = 240_000
DRAWN = "The lighthouse was lit for the first time in the autumn of that year, and ships have passed it safely since. "
SHELL = "<!doctype html><title>Lighthouse</title><div id=root></div><script src=/draw.js></script>"
SCRIPT = f"document.getElementById('root').innerHTML = '<h1>The lighthouse</h1><p>' + {DRAWN * 5!r} + '</p>'"


@pytest.fixture
def drawn_site(browser: Any) -> Iterator[WebServer]:
    """A site that a script draws. Without a Chromium the test is skipped."""
    script = Reply(SCRIPT.encode(), headers=(("Content-Type", "text/javascript"),))
    with WebServer({"/": SHELL, "/draw.js": script}) as site:
        yield site


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder with a path that is short enough for Chromium's sockets."""
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def test_the_form_crawls_a_site_that_scripts_draw(
    make_server: Callable[..., Any], drawn_site: WebServer, browser: Any
) -> None:
    server = make_server("--allow-private")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(axe_source())
    page.goto(server.base)
    assert violations(page) == []
    form = page.locator("form#crawl")
    form.get_by_label("Or crawl what is below a URL").fill(f"http://127.0.0.1:{drawn_site.port}/")
    form.get_by_label("Render in a browser").select_option("pages that scripts draw")
    form.get_by_role("button", name="Crawl").click()
    page.wait_for_selector(".badge.done", timeout=PATIENCE)
    assert "1 rendered" in " ".join(page.locator(".figures").inner_text().split())
    job = page.url.rpartition("/")[2]
    (line,) = server.client.get(f"/jobs/{job}/records").text.splitlines()
    assert DRAWN.strip() in json.loads(line)["text"]
    page.get_by_role("link", name="Inspector").click()
    frame = page.frame_locator("iframe.report")
    frame.locator("html[data-ready]").wait_for(state="attached")
    frame.get_by_role("button", name="As seen").click()
    frame.locator("#seen img").wait_for()
    page.close()


@pytest.mark.parametrize(("render", "rendered"), [("never", None), ("all", 1)])
def test_a_job_in_json_says_which_pages_are_rendered(
    make_server: Callable[..., Any], drawn_site: WebServer, render: str, rendered: int | None
) -> None:
    server = make_server("--allow-private")
    asked = {"crawl": f"http://127.0.0.1:{drawn_site.port}/", "crawl_pages": 1, "crawl_render": render}
    answer = server.client.post("/jobs", json=asked)
    assert answer.status_code == 201, answer.text
    state = server.wait_for_records(answer.json()["id"])
    assert state["rendered"] == rendered
    (line,) = server.client.get(f"/jobs/{state['id']}/records").text.splitlines()
    assert (DRAWN.strip() in json.loads(line)["text"]) == (rendered == 1)


def test_a_page_that_is_too_long_once_rendered_is_kept_as_fetched_and_named(
    make_server: Callable[..., Any], drawn_site: WebServer
) -> None:
    drawn_site.pages = {"/": "<title>Long</title><script>document.write('<p>word '.repeat(90000))</script>"}
    server = make_server("--allow-private", "--max-bytes", "100000")
    asked = {"crawl": f"http://127.0.0.1:{drawn_site.port}/", "crawl_pages": 1, "crawl_render": "all"}
    state = server.wait_for_records(server.client.post("/jobs", json=asked).json()["id"])
    assert state["rendered"] == 0
    assert any(problem.startswith("1 page not rendered: ") for problem in state["problems"]), state["problems"]


def test_the_guard_of_the_server_applies_to_a_rendered_crawl(server: Any, drawn_site: WebServer) -> None:
    asked = {"crawl": f"http://127.0.0.1:{drawn_site.port}/", "crawl_render": "all"}
    state = server.wait(server.client.post("/jobs", json=asked).json()["id"])
    assert state["status"] == "failed"
    assert "no page could be fetched" in state["error"]
    assert drawn_site.log == []


def test_the_limits_of_the_server_apply_to_a_crawl(tmp_path: Path) -> None:
    order = {"id": "0" * 16, "kind": "clean", "name": "a", "created": 0.0, "inputs": []}
    limits = {"private": False, "page_bytes": 1_000, "crawl_bytes": 5_000}
    options = {"crawl": "http://a.example/", "crawl_render": "auto"}
    (tmp_path / "job.json").write_text(json.dumps(order | limits | {"options": options}))
    with JobSteps(tmp_path, tmp_path / "models") as job:
        settings = job.crawling
    assert not settings.guard.allow_private
    assert (settings.max_size, settings.max_bytes, settings.render_set) == (1_000, 5_000, ("max_html=1000",))


def test_a_server_without_chromium_offers_no_rendering_and_says_why(
    make_server: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    server = make_server()
    home = server.client.get("/").text
    assert "crawl_pages" in home
    assert "crawl_render" not in home
    answer = server.client.post("/jobs", json={"crawl": "https://example.org/", "crawl_render": "auto"})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("this server renders no pages: rendering needs Chromium")


def test_rendering_can_be_turned_off(make_server: Callable[..., Any]) -> None:
    server = make_server("--no-render")
    assert "crawl_render" not in server.client.get("/").text
    answer = server.client.post("/jobs", json={"crawl": "https://example.org/", "crawl_render": "all"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "this server renders no pages: it was started with --no-render"


def test_only_crawled_pages_are_rendered(server: Any) -> None:
    for wrong in (
        {"folder": "crawl.jsonl", "crawl_render": "all"},
        {"crawl": "https://example.org/", "crawl_render": "always"},
    ):
        answer = server.client.post("/jobs", json=wrong)
        assert answer.status_code == 422
        assert "crawl_render" in answer.json()["error"]
    content = {"Content-Type": "application/octet-stream"}
    answer = server.client.post("/jobs", params={"crawl_render": "all"}, content=b"<p>Page", headers=content)
    assert answer.status_code == 422


def test_no_browser_is_left_when_a_job_is_cancelled(
    make_server: Callable[..., Any], drawn_site: WebServer, monkeypatch: pytest.MonkeyPatch, short_path: Path
) -> None:
    """The page waits for a request that is not answered; then the job is cancelled."""
    arrived, over = Event(), Event()

    def wait(_: Asked) -> str:
        arrived.set()
        over.wait(PATIENCE / 1000)
        return ""

    drawn_site.pages = {"/": "<p>Hello</p><script src=/wait></script>", "/wait": wait}
    monkeypatch.setenv("TMPDIR", str(short_path))
    server = make_server("--allow-private")
    asked = {"crawl": f"http://127.0.0.1:{drawn_site.port}/", "crawl_render": "all"}
    job = server.client.post("/jobs", json=asked).json()["id"]
    assert arrived.wait(PATIENCE / 1000)
    assert browser_processes(short_path) > 1
    assert server.client.delete(f"/jobs/{job}").json()["status"] == "cancelled"
    try:
        server.wait(job, lambda _: not browser_processes(short_path))
    finally:
        over.set()


def browser_processes(folder: Path) -> int:
    """The number of browser processes with their profile in a folder."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found += f"{folder}/webwinnow-browser-".encode() in (process / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended
    return found
