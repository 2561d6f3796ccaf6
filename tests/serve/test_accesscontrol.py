"""Access control and hostile requests: foreign origins, wrong tokens, paths, long and slow bodies, archive bombs."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from ownloop import awaited
from starlette.exceptions import HTTPException
from webserver import Reply, WebServer

from webwinnow.crawl.crawling import fetch_page
from webwinnow.errors import InputError, SettingsError
from webwinnow.serve import context as context_module
from webwinnow.serve import server as server_module
from webwinnow.serve.accesscontrol import COOKIE, AccessControl, WrongTokens, new_session
from webwinnow.serve.app import create_app
from webwinnow.serve.jobs import allowed_input, safe_name
from webwinnow.serve.metrics import Metrics
from webwinnow.serve.settings import ServiceSettings, is_loopback

TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::2]", "localhost@evil.example:80"])
def test_a_request_for_another_host_is_refused(server: Any, host: str) -> None:
    """DNS rebinding: a page of another site cannot reach the server by its own host name."""
    answer = server.client.get("/jobs", headers={"Host": host})
    assert answer.status_code in (400, 403)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "https://127.0.0.1"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:1"},
    ],
)
def test_a_page_of_another_site_may_not_change_anything(server: Any, headers: dict[str, str]) -> None:
    assert server.client.post("/page", json={"html": "x"}, headers=headers).status_code == 403
    assert server.client.delete("/jobs/0000000000000000", headers=headers).status_code == 403


def test_every_answer_says_what_a_browser_may_do_with_it(server: Any) -> None:
    for path in ("/", "/jobs", "/no", "/static/app.js"):
        headers = server.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_beyond_loopback_a_token_is_required() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    with pytest.raises(SettingsError, match="token"):
        ServiceSettings(folder=Path("x"), host="0.0.0.0")
    with pytest.raises(SettingsError, match="short"):
        ServiceSettings(folder=Path("x"), token="short")


def test_missing_and_wrong_tokens_are_refused(make_server: Callable[..., Any]) -> None:
    server = make_server("--host", "127.0.0.1", token=TOKEN)
    bare: dict[str, str] = {"Authorization": ""}
    assert server.client.get("/jobs").status_code == 200
    for shown in ("", "Bearer", "Bearer wrong-token-of-length", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \u00e4"):
        for method, path in (("GET", "/jobs"), ("POST", "/page"), ("GET", "/"), ("GET", "/openapi.json")):
            answer = server.client.request(method, path, headers={"Authorization": shown.encode()})
            assert answer.status_code == 401, (shown, path)  # after ten wrong tokens a second later
    assert server.client.get("/health", headers=bare).status_code == 200
    led = server.client.get("/", headers={"Accept": "text/html", **bare})
    assert (led.status_code, led.headers["location"]) == (303, "/login")
    assert server.client.post("/login", data={"token": "wrong"}, headers=bare).status_code == 401
    entered = server.client.post("/login", data={"token": TOKEN}, headers=bare)
    assert entered.status_code == 303
    assert {"HttpOnly", "SameSite=strict"} <= set(entered.headers["set-cookie"].split("; "))
    assert server.client.get("/jobs", headers=bare).status_code == 200  # by the cookie
    assert TOKEN not in entered.headers["set-cookie"]
    cookies = {"Cookie": f"bro(ken=\u00e4; {COOKIE}={new_session(TOKEN)}".encode("latin-1"), "Authorization": b""}
    with httpx.Client(base_url=server.base) as other:
        assert other.get("/jobs", headers=cookies).status_code == 200  # whatever cookies others set for this host
    assert TOKEN not in server.log.read_text()


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd", "..\\..\\x", "/etc/passwd", ".hidden", "a\0b", "..", "", "é/ü"]
)
def test_an_upload_never_leaves_its_folder(server: Any, make_crawl: Callable[..., bytes], name: str) -> None:
    state = server.hand_in(make_crawl(1), name)
    files = list((server.folder / "jobs" / state["id"] / "input").iterdir())
    assert [path.name for path in files] == [safe_name(name)]
    assert server.client.delete(f"/jobs/{state['id']}").status_code == 200


@pytest.mark.parametrize(
    "named",
    ["../..", "/etc/passwd", "out/passwd", "out", "nothing", "a\0b", "~", "./../x", "x" * 3_000, "loop", "loop/x", "."],
)
def test_a_folder_outside_of_those_allowed_is_refused(server: Any, named: str) -> None:
    answer = server.client.post("/jobs", json={"folder": named})
    assert answer.status_code == 422
    assert "root" not in answer.text


def test_a_file_of_an_allowed_folder_is_cleaned(server: Any) -> None:
    answer = server.client.post("/jobs", json={"folder": "crawl.jsonl"})
    assert server.wait_for_records(answer.json()["id"])["summary"]["pages"] == 3


def test_no_folder_is_read_unless_one_was_allowed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--inputs"):
        allowed_input("x", ())


def test_a_folder_with_a_link_out_of_it_is_refused_however_far_away(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a" / "deep").mkdir(parents=True)
    (root / "b").mkdir()
    (root / "a" / "deep" / "again").symlink_to(root / "a")
    (root / "a" / "deep" / "b").symlink_to(root / "b")
    assert allowed_input("a", (root,)) == root / "a"  # links inside the folder are harmless, and so is a loop of them
    (root / "b" / "out").symlink_to(tmp_path)
    with pytest.raises(InputError, match="b/out is a link"):
        allowed_input("a", (root,))


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/jobs/../jobs/x"]
)
def test_a_path_cannot_climb(server: Any, path: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=240) as wire:
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while chunk := wire.recv(65_536):
            answer += chunk
    assert answer.split()[1] in (b"404", b"405")
    assert b"create_app" not in answer


def test_long_bodies_are_refused_whether_or_not_they_say_how_long(server: Any) -> None:
    assert server.client.post("/login", content=b"x" * 100_000).status_code == 413
    assert server.client.post("/jobs", content=b"x" * 3_000_001).status_code == 413

    def endless() -> Any:
        for _ in range(40):
            yield b"x" * 100_000

    answer = server.client.post("/jobs", content=endless(), headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == 413
    assert not [job for job in server.client.get("/jobs").json() if job["status"] == "queued"]


def test_an_empty_upload_is_refused(server: Any) -> None:
    answer = server.client.post("/jobs", content=b"", headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == 422


def test_bombs_do_not_stop_the_server(server: Any) -> None:
    page = json.dumps({"url": "http://bomb.example/", "html": "x" * 1_000}).encode()
    packed = gzip.compress(page + b"\n" + b" " * 300_000_000)
    assert len(packed) < 3_000_000
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("archive/data.warc", b"\0" * 200_000_000)
    for body, name in ((packed, "bomb.jsonl.gz"), (archive.getvalue(), "bomb.wacz")):
        state = server.wait(server.hand_in(body, name)["id"])
        assert state["status"] in ("done", "failed")
        assert (
            state["status"] == "failed"
            or state["problems"]
            or state["summary"]["failed"]
            or state["summary"]["pages"] == 1
        )
    assert server.client.get("/health").status_code == 200


def test_a_slow_body_is_cut_off(tmp_path: Path) -> None:
    """In-process, with a short timeout: a body that stops is answered 408 and the connection is free again."""
    settings = ServiceSettings(folder=tmp_path, idle_seconds=0.05)
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await receive()
        except HTTPException as error:
            await send({"type": "http.response.start", "status": error.status_code, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    async def never() -> Any:
        await asyncio.Event().wait()

    async def keep(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/page",
        "headers": [(b"host", b"localhost"), (b"content-length", b"10")],
    }
    control = AccessControl(app, settings, Metrics(), WrongTokens())
    awaited(control(scope, never, keep))
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("path", ["/login", "/view/page", "/page", "/jobs"])
def test_a_body_that_breaks_off_is_the_fault_of_its_client(tmp_path: Path, path: str) -> None:
    """No traceback, with which anyone could fill the log: `/login` needs no token."""
    sent: list[dict[str, Any]] = []

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    async def keep(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-length", b"9"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    app = create_app(ServiceSettings(folder=tmp_path))
    awaited(app(scope, gone, keep))
    assert sent[0]["status"] == 400
    assert not list((tmp_path / "jobs").iterdir())


def test_a_page_that_hangs_fails_and_the_next_one_is_cleaned(make_server: Callable[..., Any]) -> None:
    server = make_server("--page-seconds", "0.001")
    answer = server.client.post("/page", json={"html": "<div>" * 20_000})
    assert answer.status_code == 422
    assert "longer than" in answer.json()["error"]
    assert server.client.get("/health").status_code == 200


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/health",
        "http://localhost:{port}/health",
        "http://[::ffff:127.0.0.1]:{port}/health",
        "http://0x7f000001:{port}/health",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://",
    ],
)
def test_a_private_address_is_not_fetched(server: Any, url: str) -> None:
    answer = server.client.post("/page", json={"url": url.format(port=server.port)})
    assert answer.status_code == 422
    assert "jobs_waiting" not in answer.text


def test_a_page_is_fetched_where_that_is_allowed(
    make_server: Callable[..., Any], make_page: Callable[[int], str]
) -> None:
    server = make_server("--allow-private")
    with WebServer({"http://a.test/": make_page(3)}, answer=lambda _: make_page(3)) as site:
        answer = server.client.post("/page", json={"url": f"http://127.0.0.1:{site.port}/"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["title"].startswith("Report 3")
    closed = make_server("--no-fetch")
    assert closed.client.post("/page", json={"url": "http://example.org/"}).status_code == 422


def test_redirects_do_not_hold_a_place_for_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "FETCH_SECONDS", 0.5)
    context = create_app(ServiceSettings(folder=tmp_path, allow_private=True)).state.context

    def onward(asked: Any) -> Reply:
        return Reply(status=302, headers=(("Location", f"{asked.path}x"),), wait=0.3)

    with WebServer(answer=onward) as site:
        with pytest.raises(InputError):
            fetch_page(f"http://127.0.0.1:{site.port}/", context.crawling)
        assert len(site.log) <= 3


def test_a_second_head_that_stops_halfway_is_closed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "HEAD_SECONDS", 480.0)  # of the first head, longer than the socket waits

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, http=server_module.ClockedProtocol, lifespan="off", log_level="warning")
    running = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=lambda: running.run(sockets=[listening]))
    thread.start()
    try:
        with socket.create_connection(listening.getsockname(), timeout=240) as wire:
            wire.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b"ok"):
                answer += (received := wire.recv(1_000))
                assert received, answer
            monkeypatch.setattr(server_module, "HEAD_SECONDS", 0.1)
            wire.sendall(b"GET / HTT")  # while the clock of the first head runs
            assert wire.recv(1_000) == b""  # closed; else this waits for longer than the socket does
    finally:
        running.should_exit = True
        thread.join()
