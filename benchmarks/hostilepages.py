"""Hostile pages in the browser: what becomes of each, its time, memory and requests, and what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

from hostile import ATTACHED, DOWNLOADS, PLAIN, TUNNELLED, Victim, processes_with, tried, until
from webserver import Asked, Reply, WebServer, redirect

from webwinnow.crawl.browser.capture import PageToRender, RenderedPage, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.guard import AddressGuard, Route

ADDRESS = "127.0.0.2"
MB = 1 << 20
SETTINGS = RenderSettings(load_seconds=5.0, capture_seconds=10.0, memory=700 * MB)
LOOK_SECONDS = 0.05
"""Seconds between two looks at the memory of the browser."""
BUSY = "new Worker(URL.createObjectURL(new Blob(['while (true) {}'])))"
HOSTILE = {
    "endless script": "while (true) {}",
    "endless changes": "for (;;) document.body.append('x'), document.body.textContent = ''",
    "requests without end": "let n = 0; const go = () => fetch('/' + n++).finally(go); go()",
    "50 workers without end": f"for (let n = 0; n < 50; n++) {BUSY}",
    "300 windows": "for (let n = 0; n < 300; n++) window.open('/window?' + n, '_blank', 'noopener')",
    "dialogs without end": "for (;;) alert(1)",
    "redirect to 127.0.0.1": "location = '/jump'; new Image().src = '/jump'; fetch('/jump', {mode: 'no-cors'})",
    "huge canvases": "const kept = []; setInterval(() => { const canvas = document.createElement('canvas');"
    " canvas.width = canvas.height = 16384; canvas.getContext('2d').fillRect(0, 0, 16384, 16384);"
    " kept.push(canvas, canvas.toDataURL()) }, 1)",
    "arrays without end": "const kept = []; setInterval(() => kept.push(new Uint8Array(1 << 26).fill(1)), 1)",
    "five downloads": ";".join(DOWNLOADS.values()),
}


def hostile_pages() -> list[tuple[str, ...]]:
    """One row per page, and one per command that is killed."""
    rows: list[tuple[str, ...]] = []
    with Victim() as victim, WebServer({}, address=ADDRESS) as server:
        server.pages = {"/jump": redirect(f"http://127.0.0.1:{victim.port}/"), "/redirect": redirect("/jump")}
        server.answer = lambda asked: (
            Reply(b"data" * 1000, headers=ATTACHED) if asked.path.startswith("/file") else Reply(b"<p>Here")
        )
        pages = {name: f"<body><p>Hello</p><script>{code}</script>" for name, code in HOSTILE.items()}
        pages[f"{len(PLAIN | TUNNELLED)} ways to private addresses"] = tried(PLAIN | TUNNELLED, victim.port)
        guard = AddressGuard(allow=(f"{ADDRESS}/32",), routes=(Route.parse(server.route()),))
        with Renderer(SETTINGS, guard) as renderer:
            for name, html in pages.items():
                rows.append((f"hostile page: {name}", "1", _tried(renderer, html, server, victim)))
            strays = len(renderer.stray_requests)
        rows.append(("requests of the browser for no page, all refused", str(len(pages)), str(strays)))
        killed = ("page FILE", "crawl")
        rows += [(f"kill -9 of {command} --render", "1", _killed(command, server)) for command in killed]
    return [*rows, ("load of the machine (two cores) after this", "", f"{os.getloadavg()[0]:.1f}")]


def _tried(renderer: Renderer, html: str, server: WebServer, victim: Victim) -> str:
    """Render a page; what became of it."""
    server.log = []
    over, peak = Event(), [0]

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            peak[0] = max([peak[0], *(browser.memory() for browser in list(renderer._browsers))])

    watching = Thread(target=watch)
    watching.start()
    began = time.perf_counter()
    found: RenderedPage | RenderFailed
    try:
        found = renderer.render(PageToRender(url="http://a.test/page", body=html.encode()))
        settled = "settled" if found.settled else "captured at the limit"
        outcome = f"{settled}, its text is {'there' if b'Hello' in found.html else 'gone'}"
    except RenderFailed as problem:
        found, outcome = problem, f"failed: {problem}"
    seconds = time.perf_counter() - began
    over.set()
    watching.join()
    saved = [path for browser in renderer._browsers for path in browser.profile.rglob("file.*")]
    limit = SETTINGS.load_seconds + SETTINGS.capture_seconds
    refused = sum(bool(request.refused) for request in found.requests)
    memory = f"peak {peak[0] / MB:,.0f} MB (limit {SETTINGS.memory / MB:,.0f})"
    return (
        f"{outcome}; {seconds:.1f} s (limits {limit:g} s), {memory}; "
        f"requests: {len(server.log):,} answered, {refused:,} refused, {len(victim.reached())} past the guard; "
        f"files saved: {len(saved)}"
    )


def _killed(command: str, server: WebServer) -> str:
    """Kill a command while its browser is busy; how many processes were there, and how long they stayed."""
    arrived, over = Event(), Event()

    def wait(asked: Asked) -> str:  # noqa: ARG001
        arrived.set()
        over.wait(60)
        return ""

    html = f"<p>Hello</p><script>{BUSY}</script><script src=http://b.test/wait></script>"
    server.pages = {"/wait": wait, "http://a.test/": html}
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        (folder / "page.html").write_text(html)
        given = ["page", str(folder / "page.html"), "--url", "http://a.test/"]
        if command == "crawl":
            given = ["crawl", "http://a.test/", "-o", str(folder / "a.warc.gz"), "--no-robots"]
        reach = ["--render", "--allow", f"{ADDRESS}/32", "--resolve", server.route()]
        call = [sys.executable, "-c", "from webwinnow.cli import main; main()", *given, *reach]
        running = subprocess.Popen(call, env=os.environ | {"TMPDIR": made}, stderr=subprocess.DEVNULL)
        try:
            arrived.wait(60)
            before = len(processes_with(folder))
            began = time.perf_counter()
            os.kill(running.pid, signal.SIGKILL)
            running.wait()
            until(lambda: not processes_with(folder))
            return f"{before} processes before, 0 after {time.perf_counter() - began:.1f} s"
        except AssertionError:
            return f"{before} processes before, {len(processes_with(folder))} after a minute"
        finally:
            over.set()


if __name__ == "__main__":
    for line in hostile_pages():
        print(" | ".join(line), flush=True)
