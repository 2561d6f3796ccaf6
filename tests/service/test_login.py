"""The login page, its cookie, and what else depends on how clients reach the service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from ownloop import awaited

from webwinnow.report.templating import render_page
from webwinnow.service import accesscontrol
from webwinnow.service.accesscontrol import COOKIE, WrongTokens, is_session, new_session
from webwinnow.service.api import report_headers
from webwinnow.service.app import create_app
from webwinnow.service.settings import ServiceSettings

TOKEN = "a-token-of-some-length"
BASE = "http://127.0.0.1"


class Visitor:
    """A client of the application, which is not started: these requests need no workers."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        app = create_app(ServiceSettings(folder=folder, token=TOKEN, **settings))
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE)

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


def test_many_wrong_logins_are_refused_but_lock_nobody_out(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    statuses = [visitor.post("/login", data={"token": f"wrong {n}"}).status_code for n in range(12)]
    assert statuses == [401] * accesscontrol.WRONG_LOGINS + [429] * 2
    # Behind a proxy this is another person with the same address.
    assert visitor.post("/login", data={"token": TOKEN}).status_code == 303
    assert visitor.get("/jobs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert visitor.post("/login", data={"token": "wrong"}).status_code == 429


def test_wrong_tokens_in_headers_are_counted_with_wrong_logins(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    visitor, wrong = Visitor(tmp_path), {"Authorization": "Bearer of-another-token"}
    statuses = [visitor.get("/jobs", headers=wrong).status_code for _ in range(12)]
    assert statuses == [401] * accesscontrol.WRONG_LOGINS + [429] * 2
    assert visitor.post("/login", data={"token": "wrong"}).status_code == 429
    assert visitor.get("/jobs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
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
