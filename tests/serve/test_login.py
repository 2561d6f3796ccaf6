"""The login page, its cookie, and what else depends on how clients reach the service."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn
from ownloop import awaited

from webwinnow.inspect.templating import render_page
from webwinnow.serve import accesscontrol
from webwinnow.serve.accesscontrol import COOKIE, WrongTokens, is_session, new_session
from webwinnow.serve.api import report_headers
from webwinnow.serve.app import create_app
from webwinnow.serve.server import ClockedProtocol
from webwinnow.serve.settings import ServiceSettings

TOKEN = "a-token-of-some-length"
BASE = "http://127.0.0.1"


class Visitor:
    """A client of the application, which is not started: these requests need no workers."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.app = create_app(ServiceSettings(folder=folder, token=TOKEN, **settings))
        self.wrong: WrongTokens = self.app.state.context.wrong_tokens
        self.client = self.at("127.0.0.1")

    def at(self, address: str) -> httpx.AsyncClient:
        """A client with an address."""
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app, client=(address, 1)), base_url=BASE)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return awaited(self.client.get(path, **given))

    def post(self, path: str, **given: Any) -> httpx.Response:
        return awaited(self.client.post(path, **given))


def test_the_cookie_is_signed_and_does_not_contain_the_token(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    assert visitor.get("/jobs").status_code == 401
    entered = visitor.post("/login", data={"token": TOKEN})
    assert entered.status_code == 303
    assert TOKEN not in entered.headers["set-cookie"]
    assert "Secure" not in entered.headers["set-cookie"]
    assert visitor.get("/jobs").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        lambda cookie: "",
        lambda cookie: TOKEN,
        lambda cookie: cookie[:-1],
        lambda cookie: "9" * 15 + cookie[cookie.index(".") :],
        lambda cookie: "9" * 5_000 + cookie[cookie.index(".") :],
        lambda cookie: "-1" + cookie[cookie.index(".") :],
        lambda cookie: cookie.replace(".", ""),
        lambda cookie: "\u0661" + cookie,
    ],
)
def test_a_changed_cookie_is_no_session(change: Callable[[str], str]) -> None:
    session = new_session(TOKEN)
    assert is_session(session, TOKEN)
    assert not is_session(change(session), TOKEN)
    assert not is_session(session, TOKEN + "x")


def test_a_session_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    session = new_session(TOKEN)
    now = accesscontrol.time.time() + accesscontrol.SESSION_SECONDS + 1
    monkeypatch.setattr(accesscontrol.time, "time", lambda: now)
    assert not is_session(session, TOKEN)


def test_behind_tls_the_cookie_is_secure_and_only_https_pages_may_send_forms(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path, tls=True)
    entered = visitor.post("/login", data={"token": TOKEN}, headers={"Origin": "https://127.0.0.1"})
    assert "Secure" in entered.headers["set-cookie"]
    assert visitor.post("/login", data={"token": TOKEN}, headers={"Origin": BASE}).status_code == 403


def test_without_tls_an_https_page_is_of_another_origin(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    assert visitor.post("/login", data={"token": TOKEN}, headers={"Origin": "https://127.0.0.1"}).status_code == 403
    assert visitor.post("/login", data={"token": TOKEN}, headers={"Origin": BASE}).status_code == 303


class Gate:
    """Holds answers until it is opened, instead of for a time."""

    def __init__(self, wrong: WrongTokens) -> None:
        self.held, self.opened = asyncio.Semaphore(0), asyncio.Event()
        wrong.hold = self.hold

    async def hold(self) -> None:
        self.held.release()
        await self.opened.wait()


class Compared(list[str]):
    """The tokens that were compared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        monkeypatch.setattr(accesscontrol, "is_token", self.is_token)

    def is_token(self, shown: str, token: str) -> bool:
        self.append(shown)
        return shown == token


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def guessed_until_four_are_held(client: httpx.AsyncClient, gate: Gate) -> list[asyncio.Task[httpx.Response]]:
    """Ten wrong tokens, and four whose answers are held: two at the login page, two in headers."""
    for _ in range(accesscontrol.WRONG_LOGINS):
        assert (await client.get("/jobs", headers=bearer("wrong"))).status_code == 401
    guesses = [client.get("/jobs", headers=bearer("wrong")) for _ in range(2)]
    guesses += [client.post("/login", data={"token": "wrong"}) for _ in range(2)]
    tasks = [asyncio.create_task(guess) for guess in guesses]
    for _ in tasks:
        await gate.held.acquire()
    return tasks


def test_while_four_wrong_answers_are_held_no_token_of_the_client_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, compared = Visitor(tmp_path), Compared(monkeypatch)

    async def attacked() -> None:
        client, gate = visitor.client, Gate(visitor.wrong)
        held = await guessed_until_four_are_held(client, gate)
        assert not any(task.done() for task in held)
        compared.clear()
        for token in ("wrong", TOKEN):
            refused = await client.get("/jobs", headers=bearer(token))
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert "not compared" in refused.json()["error"]
            refused = await client.post("/login", data={"token": token})
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert "not compared" in refused.text
            assert "set-cookie" not in refused.headers
        assert compared == []
        gate.opened.set()
        assert [task.status_code for task in await asyncio.gather(*held)] == [401] * 4
        assert (await client.get("/jobs", headers=bearer(TOKEN))).status_code == 200
        assert (await client.post("/login", data={"token": TOKEN})).status_code == 303

    awaited(attacked())


def test_wrong_tokens_of_a_client_refuse_nobody_with_a_cookie_or_another_address(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)

    async def attacked() -> None:
        gate = Gate(visitor.wrong)
        held = await guessed_until_four_are_held(visitor.client, gate)
        async with visitor.at("203.0.113.5") as other:
            assert (await other.get("/jobs", headers=bearer(TOKEN))).status_code == 200
            assert (await other.get("/jobs", headers=bearer("wrong"))).status_code == 401  # its own count
            assert (await other.post("/login", data={"token": TOKEN})).status_code == 303
        cookie = {"Cookie": f"{COOKIE}={new_session(TOKEN)}"}
        assert (await visitor.client.get("/jobs", headers=cookie)).status_code == 200
        assert (await visitor.client.get("/jobs", headers=cookie | bearer("wrong"))).status_code == 200
        gate.opened.set()
        await asyncio.gather(*held)

    awaited(attacked())


def test_a_right_token_passes_while_fewer_than_four_wrong_answers_are_held(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)

    async def attacked() -> None:
        gate = Gate(visitor.wrong)
        for _ in range(accesscontrol.WRONG_LOGINS):
            await visitor.client.get("/jobs", headers=bearer("wrong"))
        held = [asyncio.create_task(visitor.client.get("/jobs", headers=bearer("wrong"))) for _ in range(3)]
        for _ in held:
            await gate.held.acquire()
        # Behind a proxy this is another person with the same address.
        assert (await visitor.client.get("/jobs", headers=bearer(TOKEN))).status_code == 200
        assert (await visitor.client.post("/login", data={"token": TOKEN})).status_code == 303
        gate.opened.set()
        await asyncio.gather(*held)

    awaited(attacked())


def test_a_request_that_is_cancelled_is_held_to_the_end(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)

    async def attacked() -> None:
        gate = Gate(visitor.wrong)
        held = await guessed_until_four_are_held(visitor.client, gate)
        for task in held:
            task.cancel()
        await asyncio.wait(held)
        assert all(task.cancelled() for task in held)
        refused = await visitor.client.get("/jobs", headers=bearer(TOKEN))
        assert refused.status_code == 429  # closing the connection frees no place
        holds = [hold for held in visitor.wrong._held.values() for hold in held]
        gate.opened.set()
        await asyncio.wait(holds)
        assert (await visitor.client.get("/jobs", headers=bearer(TOKEN))).status_code == 200
        assert not visitor.wrong._held

    awaited(attacked())


def test_a_connection_that_is_closed_is_held_to_the_end(tmp_path: Path) -> None:
    """Through sockets: uvicorn keeps the task of a request whose client is gone."""
    app = create_app(ServiceSettings(folder=tmp_path, token=TOKEN))
    wrong: WrongTokens = app.state.context.wrong_tokens
    config = uvicorn.Config(app, http=ClockedProtocol, lifespan="off", log_level="critical", access_log=False)

    async def attacked() -> None:
        gate, gone = Gate(wrong), asyncio.Semaphore(0)

        class Protocol(ClockedProtocol):
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                gone.release()

        config.http = Protocol
        server = uvicorn.Server(config)
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        serving = asyncio.create_task(server.serve([listening]))
        for _ in range(accesscontrol.WRONG_LOGINS):
            wrong.add("127.0.0.1")
        for _ in range(accesscontrol.MOST_HELD):
            _, wire = await asyncio.open_connection("127.0.0.1", port)
            wire.write(b"GET /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer wrong\r\n\r\n")
            await gate.held.acquire()
            wire.close()
            await gone.acquire()
        async with httpx.AsyncClient(base_url=f"{BASE}:{port}", timeout=240) as client:
            assert (await client.get("/jobs", headers=bearer(TOKEN))).status_code == 429
            holds = [hold for held in wrong._held.values() for hold in held]
            gate.opened.set()
            await asyncio.wait(holds)
            assert (await client.get("/jobs", headers=bearer(TOKEN))).status_code == 200
        server.should_exit = True
        await serving

    awaited(attacked())


def test_an_answer_is_held_for_a_second_without_blocking_the_loop() -> None:
    hold = WrongTokens().hold
    assert isinstance(hold, partial)
    assert (hold.func, hold.args) == (asyncio.sleep, (accesscontrol.HELD_SECONDS,))


def test_wrong_tokens_in_headers_are_counted_with_wrong_logins(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    visitor, held = Visitor(tmp_path), []

    async def hold() -> None:
        held.append(None)

    visitor.wrong.hold = hold
    for _ in range(6):
        assert visitor.get("/jobs", headers=bearer("of-another-token")).status_code == 401
        assert visitor.post("/login", data={"token": "wrong"}).status_code == 401
    assert len(held) == 12 - accesscontrol.WRONG_LOGINS
    assert visitor.get("/jobs", headers=bearer(TOKEN)).status_code == 200
    assert [line for line in caplog.messages if "wrong tokens" in line] == [
        "more than 10 wrong tokens from 127.0.0.1 within a minute"
    ]


def test_wrong_tokens_are_forgotten_after_a_while_and_counted_by_client(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = WrongTokens()
    assert [wrong.add("a") for _ in range(12)] == [False] * accesscontrol.WRONG_LOGINS + [True] * 2
    assert not wrong.add("b")
    later = accesscontrol.time.monotonic() + accesscontrol.LOGIN_SECONDS + 1
    monkeypatch.setattr(accesscontrol.time, "monotonic", lambda: later)
    assert not wrong.add("a")


def test_a_bounded_number_of_clients_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accesscontrol, "MOST_CLIENTS", 100)
    wrong = WrongTokens()
    for number in range(1_000):
        wrong.add(str(number))
    assert len(wrong._wrong) == 100


def test_a_body_with_a_length_and_chunks_is_refused(tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Length": "2", "Transfer-Encoding": "chunked"}
    assert Visitor(tmp_path).post("/page", content=b"{}", headers=headers).status_code == 400


def test_only_the_own_script_of_a_report_runs(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    values = {"results": SimpleNamespace(data="<script>", seed=1, command="", machine=""), "version": "1"}
    report.write_text(render_page("experiment.html.j2", "p {}", script="let x = 1;", **values))
    [policy] = report_headers(report).values()
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert scripts.startswith("script-src 'sha256-")
    assert "unsafe-inline" not in scripts
    report.write_text("<p>no report")
    assert "script-src 'none'" in report_headers(report)["Content-Security-Policy"]


def test_a_second_server_on_one_folder_refuses_to_start(make_server: Callable[..., Any], make_crawl: Any) -> None:
    server = make_server()
    upload = server.folder / "jobs" / "0123456789abcdef" / "input"
    upload.mkdir(parents=True)  # one that comes in: it has no job.json yet, and a server that starts removes such
    command = [sys.executable, "-m", "webwinnow", "serve", "--folder", str(server.folder), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 2
    assert "another server uses" in done.stderr
    assert upload.is_dir()
    server.kill()
    assert server.start().process.poll() is None  # the lock of a killed server is gone
    assert COOKIE
