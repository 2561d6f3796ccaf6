"""Pages that try to get out: nothing passes the guard, nothing hangs, nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest
from hostile import ATTACHED, DOWNLOADS, LEAVING, PATIENCE, PLAIN, TUNNELLED, Victim, processes_with, tried, until
from webserver import Asked, Reply, WebServer, redirect

from webwinnow.crawl.browser.capture import PageToRender, RenderedPage, RenderFailed
from webwinnow.crawl.browser.proxy import GuardProxy
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.guard import AddressGuard

URL = "http://a.test/page"
SECURE = "https://127.0.0.3/page"
"""A secure context, where more is allowed, on a host that may not be reached: the page itself is not requested."""


def rendered(pool: Renderer, html: str, url: str = URL) -> RenderedPage:
    return pool.render(PageToRender(url=url, body=html.encode(), content_type="text/html; charset=utf-8"))


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[GuardProxy]:
    """The proxies of the pages, whose logs can be read while a page is being rendered."""
    made: list[GuardProxy] = []

    class NotedProxy(GuardProxy):
        def __init__(self, *given: Any, **limits: Any) -> None:
            super().__init__(*given, **limits)
            made.append(self)

    monkeypatch.setattr("webwinnow.crawl.browser.capture.GuardProxy", NotedProxy)
    return made


@pytest.fixture
def victim() -> Iterator[Victim]:
    with Victim() as found:
        yield found


def test_no_request_gets_past_the_guard(
    site: WebServer, renderer: Renderer, victim: Victim, logged: list[GuardProxy]
) -> None:
    def is_refused(name: str) -> bool:
        """Whether the log of the page that is being rendered has an attack."""
        requests = [request for request in list(logged[-1].log) if request.refused]
        return any(request.target.endswith(f"/{name}") for request in requests)

    def hold(asked: Asked) -> str:
        """Keep the page from settling until its attacks, which are requests of other processes, are in the log."""
        names = urlsplit(asked.url).query.split(",")
        until(lambda: all(map(is_refused, names)))
        return ""

    def attacked(attacks: dict[str, str], url: str = URL) -> RenderedPage:
        names = ",".join(name for name in attacks if name in PLAIN)
        held = {"hold": f"fetch('/hold?{names}')"} if names else {}
        return rendered(renderer, tried(held | attacks, victim.port), url)

    site.pages = {"/redirect": redirect(f"http://127.0.0.1:{victim.port}/redirected")}
    site.answer = hold
    leaving = {name: PLAIN[name] for name in LEAVING}
    staying = {name: code for name, code in PLAIN.items() if name not in LEAVING}
    pages = [attacked(staying | TUNNELLED)]
    pages += [attacked({name: code}) for name, code in leaving.items()]
    pages += [attacked(TUNNELLED, SECURE)]
    site.answer = None
    assert victim.reached() == []
    assert all(b"Hello" in page.html for page in pages)  # it is still there
    requests = [request for page in pages for request in page.requests]
    allowed = {request.target for request in requests if not request.refused}
    assert {url for url in allowed if "/hold?" not in url} <= {"http://b.test/redirect", "http://a.test/favicon.ico"}
    refused = [request.target for request in requests if request.refused]
    assert [name for name in PLAIN if not any(target.endswith(f"/{name}") for target in refused)] == []
    assert f"127.0.0.1:{victim.port}" in refused  # the tunnels
    assert renderer.stray_requests == []


class LoadLimit:
    """The time for loading a page, which ends half a second after a moment of the test, however long that takes."""

    seconds = 481.0

    def __init__(self) -> None:
        self.real, self.begun = asyncio.timeout, list[tuple[asyncio.AbstractEventLoop, asyncio.Timeout]]()

    def timeout(self, delay: float | None) -> asyncio.Timeout:
        made = self.real(delay)
        if delay == self.seconds:
            self.begun.append((asyncio.get_running_loop(), made))
        return made

    def end_soon(self) -> None:
        loop, limit = self.begun[-1]
        loop.call_soon_threadsafe(lambda: limit.reschedule(loop.time() + 0.5))


@pytest.fixture
def load_limit(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> LoadLimit:
    limit = LoadLimit()
    monkeypatch.setattr("webwinnow.crawl.browser.capture.asyncio.timeout", limit.timeout)
    renderer.settings = replace(renderer.settings, load_seconds=limit.seconds)
    return limit


@pytest.mark.parametrize(
    "body", ["while (true) {}", "for (;;) document.body.append('x'), document.body.textContent = ''"]
)
def test_an_endless_script_costs_no_more_than_the_limit(
    site: WebServer, renderer: Renderer, load_limit: LoadLimit, body: str
) -> None:
    def runs(_: Asked) -> str:
        load_limit.end_soon()
        return ""

    site.pages = {"/runs": runs}
    report = "const ask = new XMLHttpRequest(); ask.open('GET', '/runs', false); ask.send();"
    page = rendered(renderer, f"<body><p>Before</p><script>{report} {body}</script><p>After</p></body>")
    assert not page.settled
    assert b"ww-box" in page.html
    assert [asked.asked.path for asked in site.log].count("/runs") == 1


def test_a_page_that_never_comes_to_rest_is_captured_at_the_limit(
    site: WebServer, renderer: Renderer, load_limit: LoadLimit
) -> None:
    ended: list[Asked] = []

    def answer(asked: Asked) -> Reply:
        if asked.host == "b.test" and not ended:
            ended.append(asked)
            load_limit.end_soon()
        return Reply(b"", headers=(("Content-Type", "text/plain"),))

    site.answer = answer
    renderer.settings = replace(renderer.settings, max_requests=20)
    page = rendered(
        renderer,
        "<body><p>Text</p><script>let n = 0; const go = () => fetch('http://b.test/' + n++, {mode: 'no-cors'})"
        ".finally(go); go(); setInterval(() => { location.hash = n++ }, 1)</script></body>",
    )
    site.answer = None
    assert not page.settled
    assert b"Text" in page.html
    assert len([path for path in site.paths if path != "/favicon.ico"]) <= 20  # that may be of the page before


@pytest.mark.parametrize("name", DOWNLOADS)
def test_downloads_are_denied(site: WebServer, renderer: Renderer, name: str) -> None:
    wanted, hold = f"/file?{name}", name not in {"data", "blob"}

    def answer(asked: Asked) -> Reply:
        if asked.path == "/hold":  # the page has not settled before the browser's other processes asked for the file
            until(lambda: wanted in site.paths)
            return Reply()
        return Reply(b"data" * 1000, headers=ATTACHED)

    site.answer = answer
    begin = "fetch('/hold');" if hold else ""
    page = rendered(renderer, f"<body><p>Hello</p><script>{begin}{DOWNLOADS[name]}</script></body>")
    site.answer = None
    assert b"Hello" in page.html
    assert (wanted in site.paths) == hold
    profiles = [browser.profile for browser in renderer._browsers]
    assert profiles
    assert not [path for profile in profiles for path in profile.rglob("*") if path.match("file.*")]
    assert not [path for profile in profiles for path in profile.rglob("*.crdownload")]


def test_dialogs_windows_workers_and_permissions_are_denied(site: WebServer, renderer: Renderer) -> None:
    site.pages = {"/window": "<p>Opened"}
    page = rendered(
        renderer,
        """<body><p id=out></p><script>
        const out = document.getElementById('out'), say = text => { out.append(text + ';') };
        alert('hello'); say('confirm ' + confirm('ok?')); say('prompt ' + prompt('what?', 'secret'));
        say('window ' + window.open('http://b.test/window'));
        const asked = {
          worker: navigator.serviceWorker.register('/sw.js'),
          place: new Promise((yes, no) => navigator.geolocation.getCurrentPosition(yes, no)),
          sound: navigator.mediaDevices.getUserMedia({audio: true}),
        };
        // The page requests something until all answers are here, so that it has not settled before.
        let waiting = true;
        const request = () => { if (waiting) fetch('/waiting').catch(() => {}).then(request); };
        request();
        Promise.all(Object.entries(asked).map(([what, answer]) =>
          answer.then(() => say(what), () => say('no ' + what)))).then(() => { waiting = false });
        addEventListener('beforeunload', event => event.preventDefault());
        </script></body>""",
        SECURE,
    )
    for said in (b"confirm false;", b"prompt null;", b"no worker;", b"no place;", b"no sound;", b"window null;"):
        assert said in page.html, said
    assert "/window" not in site.paths
    assert b"Hello" in rendered(renderer, "<p>Hello").html


def test_a_page_that_eats_memory_fails_alone(renderer: Renderer) -> None:
    renderer.settings = replace(renderer.settings, memory=700 << 20)
    with pytest.raises(RenderFailed, match=r"more than 700 MB of memory|the page crashed"):
        rendered(
            renderer,
            "<body><script>const kept = []; setInterval(() => { const canvas = document.createElement('canvas');"
            " canvas.width = canvas.height = 4096; canvas.getContext('2d').fillRect(0, 0, 4096, 4096);"
            " kept.push(canvas, new Uint8Array(1 << 26).fill(1)); }, 1); fetch('http://b.test/never')</script></body>",
        )
    assert b"Hello" in rendered(renderer, "<p>Hello").html


def test_memory_taken_just_before_the_page_is_captured_counts(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webwinnow.crawl.browser.capture.MEMORY_SECONDS", 60.0)
    renderer.settings = replace(renderer.settings, memory=600 << 20)
    with pytest.raises(RenderFailed, match="more than 600 MB of memory"):
        rendered(
            renderer,
            "<p>Hello<script>const kept = []; for (let n = 0; n < 7; n++) kept.push(new Uint8Array(1 << 26).fill(1))"
            "</script>",
        )


def test_a_page_with_too_many_elements_is_refused(renderer: Renderer) -> None:
    renderer.settings = replace(renderer.settings, max_elements=1000)
    with pytest.raises(RenderFailed, match="more than 1000 elements"):
        rendered(renderer, "<body><script>document.body.innerHTML = '<i></i>'.repeat(2000)</script></body>")


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder with a path that is short enough for Chromium's sockets."""
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.parametrize("command", ["page", "crawl"])
def test_nothing_is_left_when_the_parent_is_killed(
    site: WebServer, short_path: Path, chromium: str, command: str
) -> None:
    """The page keeps the browser busy and waits for a request that is not answered; then the command is killed."""
    arrived, over = Event(), Event()

    def wait(asked: Asked) -> str:
        arrived.set()
        over.wait(PATIENCE)
        return ""

    html = "<p>Hello</p><script>new Worker(URL.createObjectURL(new Blob(['while (true) {}'])))</script>"
    html += "<script src=http://b.test/wait></script>"
    site.pages = {"/wait": wait, "http://a.test/": html}
    file = short_path / "page.html"
    file.write_text(html)
    given = {
        "page": [str(file), "--url", "http://a.test/"],
        "crawl": ["http://a.test/", "-o", str(short_path / "a.warc.gz"), "--no-robots"],
    }
    options = ["--render", "--allow", f"{site.address}/32", "--resolve", site.route()]
    temporary = os.environ | {"TMPDIR": str(short_path)}
    running = subprocess.Popen([sys.executable, "-m", "webwinnow", command, *given[command], *options], env=temporary)
    try:
        assert arrived.wait(PATIENCE)
        assert len(processes_with(short_path)) > 3  # a browser has several
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        until(lambda: not processes_with(short_path))
    finally:
        over.set()
        running.kill()
        running.wait()
    assert list(short_path.glob("webwinnow-browser-*"))  # removed by the next renderer


def test_profiles_of_killed_processes_are_removed(
    site: WebServer, short_path: Path, monkeypatch: pytest.MonkeyPatch, guard_for: Callable[[WebServer], AddressGuard]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(short_path))
    (short_path / "webwinnow-browser-old").mkdir()
    (short_path / "webwinnow-browser-old" / "lock").touch()
    (short_path / "other").mkdir()
    with Renderer(guard=guard_for(site)) as pool:
        assert not (short_path / "webwinnow-browser-old").exists()
        rendered(pool, "<p>Hello")
        (profile,) = short_path.glob("webwinnow-browser-*")
        with Renderer(guard=guard_for(site)):
            assert profile.exists()  # it is in use
    assert [path.name for path in short_path.iterdir()] == ["other"]
