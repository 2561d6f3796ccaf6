"""The requests of a page: counted, checked against robots.txt and logged, also inside tunnels; when they are over."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event

import pytest
from certificates import certified
from webserver import Asked, Reply, WebServer

from webwinnow.crawl.browser.capture import PageToRender, RenderedPage, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.frontier import Rules
from webwinnow.crawl.guard import AddressGuard

PLAIN = (("Content-Type", "text/plain"),)
SCRIPT = (("Content-Type", "text/javascript"),)


def rendered(pool: Renderer, html: str, url: str = "http://a.test/page", **more: object) -> RenderedPage:
    return pool.render(PageToRender(url=url, body=html.encode(), content_type="text/html; charset=utf-8", **more))


@pytest.fixture(scope="module")
def trusting(
    chromium: str, tmp_path_factory: pytest.TempPathFactory, guard_for: Callable[[WebServer], AddressGuard]
) -> Iterator[tuple[Renderer, WebServer]]:
    """A server that speaks TLS, and browsers that accept its certificate."""
    folder = tmp_path_factory.mktemp("tls")
    program = folder / "chromium"
    program.write_text(f'#!/bin/sh\nexec {chromium} --ignore-certificate-errors "$@"\n')
    program.chmod(0o755)
    with WebServer({}, address="127.0.0.2", secure=certified(folder, "a.test")) as server:
        settings = RenderSettings(chromium=str(program), quiet_seconds=0.2, load_seconds=120.0, capture_seconds=60.0)
        with Renderer(settings, guard_for(server)) as pool:
            yield pool, server


@pytest.fixture
def secure(trusting: tuple[Renderer, WebServer]) -> tuple[Renderer, WebServer]:
    pool, server = trusting
    pool.settings = replace(pool.settings, max_requests=400, max_bytes=50 << 20)
    server.pages, server.log, server.answer = {}, [], None
    return pool, server


FETCHES = """<p id=out></p><script>(async () => { let done = 0;
for (let n = 0; n < 30; n++) await fetch('/' + n).then(() => done++, () => 0);
out.textContent = 'done ' + done })()</script>"""


def test_requests_inside_a_tunnel_are_counted_refused_and_logged(secure: tuple[Renderer, WebServer]) -> None:
    pool, server = secure
    server.answer = lambda asked: Reply(b"x", headers=PLAIN)
    pool.settings = replace(pool.settings, max_requests=9)
    page = rendered(pool, FETCHES, "https://a.test/page")
    assert len(server.log) <= 9
    by_url = {request.target: request for request in page.requests if request.method == "GET"}
    assert {f"https://a.test/{n}" for n in range(30)} <= by_url.keys()
    refused = [request.refused for request in by_url.values() if request.refused]
    assert len(refused) == len(by_url) - 9 and set(refused) == {"the page made more than 9 requests"}
    tunnels = [request for request in page.requests if request.method == "CONNECT"]
    assert {(tunnel.target, tunnel.address) for tunnel in tunnels} == {("a.test:443", "127.0.0.2")}


def test_a_request_inside_a_tunnel_that_fails_is_logged_as_failed(secure: tuple[Renderer, WebServer]) -> None:
    pool, _ = secure
    page = rendered(pool, "<p>Hello<img src=https://127.0.0.1:9443/image>", "https://a.test/page")
    (image,) = [request for request in page.requests if request.target.endswith("/image")]
    (tunnel,) = [request for request in page.requests if request.target == "127.0.0.1:9443"]
    assert "TUNNEL_CONNECTION_FAILED" in image.refused and "loopback" in tunnel.refused


def test_bytes_inside_a_tunnel_are_limited(secure: tuple[Renderer, WebServer]) -> None:
    pool, server = secure

    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65536

    server.answer = lambda asked: Reply(headers=PLAIN, pieces=endless, claims=1 << 30)
    pool.settings = replace(pool.settings, max_bytes=1_000_000)
    page = rendered(
        pool,
        "<p id=out></p><script>fetch('/endless').then(r => r.text()).catch(() => fetch('/more'))"
        ".catch(() => { out.textContent = 'cut off' })</script>",
        "https://a.test/page",
    )
    assert b"cut off" in page.html
    tunnels = [request for request in page.requests if request.method == "CONNECT"]
    assert sum(tunnel.received for tunnel in tunnels) < 1_500_000
    assert any("more than 1,000,000 bytes" in tunnel.refused for tunnel in tunnels)


def socket_reply(asked: Asked, pieces: Callable[[], Iterator[bytes]]) -> Reply:
    """Accept a WebSocket (RFC 6455, 4.2.2)."""
    key = asked.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    headers = (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accepted))
    return Reply(status=101, headers=headers, pieces=pieces)


def frame(text: bytes) -> bytes:
    return b"\x81" + (bytes([len(text)]) if len(text) < 126 else struct.pack(">BH", 126, len(text))) + text


def test_a_web_socket_is_tunnelled_logged_and_limited(site: WebServer, renderer: Renderer) -> None:
    def endless() -> Iterator[bytes]:
        yield frame(b"Said over a socket")
        while True:
            yield frame(b"x" * 60_000)

    site.pages = {"/socket": lambda asked: socket_reply(asked, endless)}
    renderer.settings = replace(renderer.settings, max_bytes=1_000_000)
    page = rendered(
        renderer,
        "<p id=out></p><p id=end></p><script>const socket = new WebSocket('ws://b.test/socket');"
        " socket.onmessage = event => { out.textContent ||= event.data };"
        " let open = true; socket.onclose = () => { open = false; end.textContent = 'Closed' };"
        # The page requests something until the socket is closed, so that it has not settled before.
        " const go = () => { if (open) fetch('/waiting').then(() => setTimeout(go, 20)) }; go()</script>",
    )
    assert b"Said over a socket" in page.html and b"Closed" in page.html
    (tunnel,) = [request for request in page.requests if request.method == "CONNECT"]
    assert (tunnel.target, tunnel.address) == ("b.test:80", site.address)
    assert "more than 1,000,000 bytes" in tunnel.refused and tunnel.received < 1_500_000


ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def test_robots_txt_applies_to_what_a_page_requests(site: WebServer, renderer: Renderer) -> None:
    worker_is_done = Event()

    def hold(asked: Asked) -> str:
        worker_is_done.wait(60)
        return ""

    def release(asked: Asked) -> str:
        worker_is_done.set()
        return ""

    site.pages = {
        "/hold": hold,
        "/release": release,
        "http://b.test/robots.txt": Reply(ROBOTS, headers=PLAIN, chunked=9),
        "/data.txt": Reply(b"Allowed", headers=(*PLAIN, ("Access-Control-Allow-Origin", "*"))),
        "http://c.test/robots.txt": Reply(b"", status=503),
        "http://d.test/robots.txt": Reply(status=302, headers=(("Location", "http://b.test/robots.txt"),)),
    }
    html = """<p id=out></p><script src=/private/a.js></script><link rel=stylesheet href=/private/a.css><script>
    for (const url of ['/private/a.txt', '/data.txt', 'http://b.test/private/b.txt', 'http://b.test/data.txt',
        'http://c.test/data.txt', 'http://d.test/private/d.txt', 'http://d.test/data.txt'])
      fetch(url).then(r => r.text()).then(text => out.append(url + ' ' + text + ';'), () => 0);
    // The page has not settled before its worker has an answer.
    fetch('/hold');
    new Worker(URL.createObjectURL(new Blob(
      ["fetch('http://a.test/private/worker.txt').catch(() => 0).then(() => postMessage(1))"]
    ))).onmessage = () => fetch('/release');
    </script>"""
    known = Rules.of(200, ROBOTS)
    page = rendered(
        renderer, html, user_agent="webwinnow", rules=lambda url: known if url.startswith("http://a.test/") else None
    )
    assert not [path for path in site.paths if path.startswith("/private/")]
    for url in ("/data.txt", "http://b.test/data.txt", "http://d.test/data.txt"):
        assert f"{url} Allowed;".encode() in page.html
    refused = {request.target: request.refused for request in page.requests if request.refused}
    assert refused == {
        **{
            f"http://a.test/private/{name}": "robots.txt forbids it"
            for name in ("a.js", "a.css", "a.txt", "worker.txt")
        },
        **{f"http://{host}.test/private/{host}.txt": "robots.txt forbids it" for host in "bd"},
        "http://c.test/data.txt": "robots.txt could not be read (status 503)",
    }
    fetched = [line.asked for line in site.log if line.asked.path == "/robots.txt"]
    assert sorted(asked.host for asked in fetched) == ["b.test", "b.test", "c.test", "d.test"]  # d leads to b
    assert {asked.headers["user-agent"] for asked in fetched} == {"webwinnow"}


def test_a_browser_requests_nothing_of_its_own(site: WebServer, renderer: Renderer) -> None:
    """Not its vendor's search page, accounts, updates or spelling, though the page has a form that invites it."""
    form = "<form action=/in><input name=q autofocus><input type=password><textarea lang=en>Speling</textarea></form>"
    for host, url in (("a.test", "http://a.test/page"), ("127.0.0.3", "https://127.0.0.3/page")):
        page = rendered(renderer, f"<title>Hello</title>{form}", url)
        assert [request.target for request in page.requests if host not in request.target] == []
    assert renderer.stray_requests == []


def test_robots_txt_is_fetched_through_the_guard(renderer: Renderer) -> None:
    with WebServer({"/robots.txt": ""}) as victim:
        url = f"http://127.0.0.1:{victim.port}/image"
        page = rendered(renderer, f"<img src={url}>", rules=lambda url: None)
    assert victim.log == []
    assert [line.refused for line in page.requests if line.target == url] == ["127.0.0.1 is a loopback address"]


@pytest.fixture
def silent_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Name servers that do not answer."""
    over = Event()

    def wait(host: str, port: int) -> list[str]:
        over.wait(60)
        raise OSError("no answer")

    monkeypatch.setattr("webwinnow.crawl.guard.resolved", wait)
    yield
    over.set()


@pytest.mark.usefixtures("silent_names")
def test_the_memory_limit_does_not_wait_for_names(renderer: Renderer) -> None:
    renderer.settings = replace(renderer.settings, memory=500 << 20)
    images = "".join(f"<img src=http://h{n}.example/>" for n in range(40))
    with pytest.raises(RenderFailed, match="more than 500 MB of memory"):
        rendered(
            renderer,
            f"{images}<script>const kept = [];"
            " setInterval(() => { if (kept.length < 30) kept.push(new Uint8Array(1 << 26).fill(1)) }, 20)</script>",
        )
    renderer.settings = replace(renderer.settings, memory=1500 << 20)
    assert b"Hello" in rendered(renderer, "<p>Hello").html


@pytest.mark.usefixtures("silent_names")
def test_a_name_that_is_not_resolved_in_time_is_a_refused_request(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webwinnow.crawl.browser.lookups.LOOKUP_SECONDS", 0.1)
    images = "".join(f"<img src=http://h{n}.example/>" for n in range(12))
    page = rendered(renderer, f"<p>Hello</p>{images}")
    assert page.settled
    assert [request.refused for request in page.requests if "example" in request.target] == [
        f"h{n}.example has no address after 0.1 s" for n in range(12)
    ]


def test_a_response_that_is_never_read_does_not_delay_the_page(site: WebServer, renderer: Renderer) -> None:
    site.pages = {"/unread": Reply(b"x" * 100, headers=(*PLAIN, ("Cache-Control", "no-store")))}
    page = rendered(renderer, "<p>Hello</p><script>fetch('/unread')</script>")
    assert page.settled and "/unread" in site.paths


def test_a_body_that_arrives_in_pieces_is_waited_for(site: WebServer, renderer: Renderer) -> None:
    """Each piece comes when the page has seen the one before, on a busy machine after a while."""
    renderer.settings = replace(renderer.settings, quiet_seconds=2.0)
    seen = [Event() for _ in range(4)]

    def note(asked: Asked) -> str:
        seen[int(asked.path.rpartition("/")[2])].set()
        return ""

    def pieces() -> Iterator[bytes]:
        for number, event in enumerate(seen):
            yield b"piece %d;" % number
            event.wait(20)
        yield b"the end"

    site.pages = {"/slow": Reply(headers=PLAIN, pieces=pieces)} | {f"/seen/{n}": note for n in range(4)}
    page = rendered(
        renderer,
        "<p id=out></p><script>(async () => { let n = 0;"
        " const reader = (await fetch('/slow')).body.pipeThrough(new TextDecoderStream()).getReader();"
        " for (let part; !(part = await reader.read()).done;) { out.append(part.value); fetch('/seen/' + n++) }"
        " })()</script>",
    )
    assert page.settled and b"piece 3;the end" in page.html


def test_shared_workers_and_icons_do_not_delay_the_page(site: WebServer, renderer: Renderer) -> None:
    over = Event()

    def wait(asked: Asked) -> Reply:
        over.wait(60)
        return Reply(b"", headers=SCRIPT)

    site.pages = {"/icon.png": wait, "/shared.js": Reply(b"onconnect = () => fetch('/shared')", headers=SCRIPT)}
    page = rendered(
        renderer,
        "<link rel=icon href=/icon.png><p id=out></p><script>"
        "out.textContent = 'shared: ' + typeof SharedWorker; new SharedWorker('/shared.js')</script>",
    )
    over.set()
    assert page.settled and b"shared: undefined" in page.html
    assert not {"/shared.js", "/shared"} & set(site.paths)
