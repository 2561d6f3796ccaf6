"""Bodies of requests share one memory budget; JSON is decoded by its types, in a thread."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
from ownloop import Answer, awaited

from webwinnow.serve import requests
from webwinnow.serve.app import create_app
from webwinnow.serve.requestworkers import RequestWorkers
from webwinnow.serve.settings import ServiceSettings

WAIT_SECONDS = 240.0
BUDGET = 100_000
PAGE = json.dumps({"html": "<p>" + "x" * 60_000}).encode()
PAGES = json.dumps({"pages": [{"url": "http://a.example/", "html": "x" * 60_000}]}).encode()
JSON = {"Content-Type": "application/json"}


def run(work: Callable[[httpx.AsyncClient], Coroutine[Any, Any, Answer]], app: Any) -> Answer:
    """What a coroutine with a client of an application returns, if that does not take forever."""

    async def with_client() -> Answer:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await asyncio.wait_for(work(client), WAIT_SECONDS)

    return awaited(with_client())


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A service with a small budget, whose workers answer at once."""

    async def clean(*_: Any, **__: Any) -> bytes:
        return b"{}"

    monkeypatch.setattr(RequestWorkers, "clean", clean)
    return create_app(ServiceSettings(folder=tmp_path, body_memory=BUDGET))


class Sender:
    """A body of which `first` is sent, and the rest when the test says so."""

    def __init__(self, first: bytes, rest: bytes = b"") -> None:
        self.first, self.rest = first, rest
        self.is_taken, self.goes_on = asyncio.Event(), asyncio.Event()

    async def stream(self) -> AsyncIterator[bytes]:
        yield self.first
        self.is_taken.set()  # the server asks for more
        await self.goes_on.wait()
        yield self.rest


@pytest.mark.parametrize(
    ("path", "body"), [("/page", PAGE), ("/inspect", PAGE), ("/jobs", PAGES), ("/view/page", PAGE)]
)
def test_bodies_that_do_not_fit_beside_others_are_refused_until_those_are_done(
    app: Any, path: str, body: bytes
) -> None:
    async def work(client: httpx.AsyncClient) -> list[int]:
        sender = Sender(body[:-10], body[-10:])
        slow = asyncio.create_task(client.post(path, content=sender.stream(), headers=JSON))
        await sender.is_taken.wait()
        refused = await client.post("/page", content=PAGE, headers=JSON)
        assert "try again" in refused.json()["error"]
        assert refused.headers["Retry-After"] == "1"
        small = await client.post("/page", json={"html": "<p>x"})
        sender.goes_on.set()
        done = (await slow).status_code
        again = await client.post("/page", content=PAGE, headers=JSON)
        return [refused.status_code, small.status_code, done, again.status_code]

    assert run(work, app) == [429, 200, {"/jobs": 201, "/view/page": 422}.get(path, 200), 200]


def test_an_uploaded_file_does_not_fill_the_memory(app: Any) -> None:
    async def work(client: httpx.AsyncClient) -> int:
        return (await client.post("/jobs", content=b"x" * 20 * BUDGET)).status_code

    assert run(work, app) == 201


@pytest.mark.parametrize("end", ["the client goes", "an error"])
def test_memory_is_given_back_however_a_request_ends(app: Any, end: str) -> None:
    async def work(client: httpx.AsyncClient) -> int:
        if end == "an error":
            broken = await client.post("/page", content=PAGE[:-1], headers=JSON)
            assert broken.status_code == 400
        else:
            messages = [{"type": "http.request", "body": PAGE, "more_body": True}, {"type": "http.disconnect"}]
            headers = [
                (b"host", b"localhost"),
                (b"content-type", b"application/json"),
                (b"transfer-encoding", b"chunked"),
            ]
            scope = {"type": "http", "method": "POST", "path": "/page", "headers": headers, "query_string": b""}
            scope |= {"http_version": "1.1", "scheme": "http", "root_path": "", "client": ("127.0.0.1", 1)}

            async def receive() -> Any:
                return messages.pop(0)

            async def send(_: Any) -> None:
                pass

            await app(scope, receive, send)
        sender = Sender(PAGE[:-10], PAGE[-10:])
        slow = asyncio.create_task(client.post("/page", content=sender.stream(), headers=JSON))
        await sender.is_taken.wait()
        fits = await client.post("/page", json={"html": "x" * 30_000})
        sender.goes_on.set()
        assert (await slow).status_code == 200
        return fits.status_code

    assert run(work, app) == 200


def test_a_body_that_is_alone_has_the_limit_of_its_route_only(app: Any) -> None:
    async def work(client: httpx.AsyncClient) -> int:
        return (await client.post("/page", json={"html": "x" * 3 * BUDGET})).status_code

    assert run(work, app) == 200


@pytest.mark.parametrize(("path", "body"), [("/page", PAGE), ("/jobs", PAGES)])
def test_json_is_decoded_in_a_thread(app: Any, path: str, body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    in_loop = []
    decode = requests.msgspec.json.decode

    def noting(*given: Any, **options: Any) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            in_loop.append(False)
        else:
            in_loop.append(True)
        return decode(*given, **options)

    monkeypatch.setattr(requests.msgspec.json, "decode", noting)

    async def work(client: httpx.AsyncClient) -> int:
        return (await client.post(path, content=body, headers=JSON)).status_code

    assert run(work, app) in (200, 201)
    assert in_loop == [False]


@pytest.mark.parametrize(
    ("path", "start"), [("/page", b'{"html": ['), ("/jobs", b'{"pages": ['), ("/jobs", b'{"more": [')]
)
def test_json_of_another_type_costs_no_memory(app: Any, path: str, start: bytes) -> None:
    body = start + b"[],[{}]," * 200_000 + b"0]}"

    async def work(client: httpx.AsyncClient) -> int:
        return (await client.post(path, content=body, headers=JSON)).status_code

    tracemalloc.start()
    try:
        assert run(work, app) == 422
        assert tracemalloc.get_traced_memory()[1] < 4 * len(body)
    finally:
        tracemalloc.stop()


def test_half_a_character_is_replaced(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    async def clean(_: Any, __: str, body: bytes, *___: Any, **____: Any) -> bytes:
        given.append(body.decode())
        return b"{}"

    monkeypatch.setattr(RequestWorkers, "clean", clean)
    for text in (r"\ud800 a", r"a \udc00", r"\\ud800", r"\\\ud800", r"\ud83d\ude00 \ud83d", r"\ud83d\ud83d\ude00"):

        async def work(client: httpx.AsyncClient, text: str = text) -> int:
            content = b'{"html": "' + text.encode() + b'"}'
            return (await client.post("/page", content=content, headers=JSON)).status_code

        assert run(work, app) == 200, text
    assert given == ["\ufffd a", "a \ufffd", "\\ud800", "\\\ufffd", "😀 \ufffd", "\ufffd😀"]
