"""Access control of every request: host, origin, token, size and speed of the body.

Answers get headers that let nothing of a cleaned page run or load. Requests are counted and logged by route, never by
content.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from webwinnow.serve.metrics import Metrics
from webwinnow.serve.requests import JSON, BodyMemory
from webwinnow.serve.settings import ServiceSettings

COOKIE = "webwinnow_session"
SESSION_SECONDS = 30 * 86_400
WRONG_LOGINS = 10
"""Wrong tokens of a client within `LOGIN_SECONDS`, at the login page or in a header, that are answered at once."""
LOGIN_SECONDS = 60.0
HELD_SECONDS = 1
"""How long the answer to each further wrong token is held back."""
MOST_HELD = 4
"""Answers held back for a client; meanwhile further tokens of this client are not compared."""
MOST_CLIENTS = 10_000
SMALL_BODY = 64_000
"""Bytes of a body where no long one is expected."""
WRITE_AT_ONCE = 1 << 20
"""Bytes of an uploaded file that are held in memory before they are written."""
GRACE_SECONDS = 10.0
"""Seconds that a body may take at any rate."""
OPEN_PATHS = frozenset({"/health", "/login", "/static/design.css", "/static/style.css"})
"""Paths that need no token."""
UPLOADS = frozenset({"/jobs", "/sites"})
"""Paths that take a file, which is written to disk as it comes, or JSON."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer that does not set them itself."""
log = logging.getLogger("webwinnow.serve")


class AccessControl:
    """ASGI middleware around the whole service."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings, metrics: Metrics, wrong: WrongTokens) -> None:
        self.app, self.settings, self.metrics, self.wrong = app, settings, metrics, wrong
        self.memory = BodyMemory(settings.body_memory)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with limits on its body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in HEADERS if pair[0] not in given)]
            await send(message)

        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            refused = await self._refused(scope, headers)
            if refused is None:
                with self.memory.share() as take:
                    await self.app(scope, self._limited(scope, headers, receive, take), answer)
            else:
                await _refuse(answer, *refused, scope, headers)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            seconds = time.perf_counter() - started
            self.metrics.request(_method(scope), route, status, seconds)
            log.info("%s %s %d %.0f ms", _method(scope), route, status, seconds * 1000)

    async def _refused(self, scope: Scope, headers: dict[bytes, str]) -> tuple[int, str] | None:
        """The status and reason of a request that is refused."""
        if _host_name(headers.get(b"host", "")) not in self.settings.host_names:
            return 403, "this server does not have that name; start it with --name NAME to allow it"
        if b"content-length" in headers and b"transfer-encoding" in headers:
            return 400, "a body has a length or is chunked, not both"
        if scope["method"] not in SAFE_METHODS and not _from_here(headers, "https" if self.settings.tls else "http"):
            return 403, "a page of another site may not ask this"
        token = self.settings.token
        if token is not None and scope["path"] not in OPEN_PATHS and not is_session(_shown_session(headers), token):
            shown = _shown_token(headers)
            if shown is None:
                return 401, "a token is required: send it as 'Authorization: Bearer TOKEN'"
            refusal = await self.wrong.refusal((scope.get("client") or ("",))[0], shown, token)
            if refusal == HTTPStatus.TOO_MANY_REQUESTS:
                return 429, "this token was not compared: too many wrong ones from this address; try again in a second"
            if refusal is not None:
                return 401, "the token is wrong"
        length = headers.get(b"content-length", "0")
        if not length.isascii() or not length.isdigit():
            return 400, "the content length is no number"
        if int(length) > self._most_bytes(scope):
            return 413, f"the body is longer than {self._most_bytes(scope):,} bytes"
        return None

    def _most_bytes(self, scope: Scope) -> int:
        path = scope["path"]
        if scope["method"] == "POST" and path in UPLOADS:
            return self.settings.upload_bytes
        if path in ("/page", "/inspect", "/view/page"):
            return 2 * self.settings.page_bytes + SMALL_BODY  # JSON and forms write a page longer than it is
        return SMALL_BODY

    def _limited(
        self, scope: Scope, headers: dict[bytes, str], receive: Receive, take: Callable[[int], None]
    ) -> Receive:
        """`receive` with limits on the size and speed of the body, and on the memory that all bodies have."""
        most, taken, started = self._most_bytes(scope), 0, time.monotonic()
        is_file = scope["path"] in UPLOADS and media_type(headers.get(b"content-type", "")) != JSON
        most_held = 2 * WRITE_AT_ONCE if is_file else most

        async def limited() -> Message:
            nonlocal taken
            passed = time.monotonic() - started
            if passed > GRACE_SECONDS and taken < (passed - GRACE_SECONDS) * self.settings.body_rate:
                raise HTTPException(408, "the body comes too slowly")
            try:
                async with asyncio.timeout(self.settings.idle_seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body stopped coming") from None
            before, taken = taken, taken + len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413, f"the body is longer than {most:,} bytes")
            take(min(taken, most_held) - min(before, most_held))
            return message

        has_body = b"content-length" in headers or b"transfer-encoding" in headers
        return limited if has_body else receive


def media_type(content_type: str) -> str:
    """The media type of a Content-Type header."""
    return content_type.partition(";")[0].strip().lower()


def is_token(shown: str, token: str) -> bool:
    """Compare a token in constant time."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode())


def new_session(token: str) -> str:
    """The value of the cookie of a client that has shown the token: until when it is valid, signed with the token."""
    until = str(int(time.time()) + SESSION_SECONDS)
    return f"{until}.{_signed(until, token)}"


def is_session(shown: str, token: str) -> bool:
    """Whether a cookie is one of `new_session` and still valid."""
    until, _, signature = shown.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 16):
        return False
    return int(until) > time.time() and hmac.compare_digest(
        signature.encode("utf-8", "replace"), _signed(until, token).encode()
    )


def _signed(until: str, token: str) -> str:
    return hmac.new(token.encode(), f"webwinnow session {until}".encode(), hashlib.sha256).hexdigest()


class WrongTokens:
    """Compares tokens; a client that has shown many wrong ones gets `MOST_HELD` compared per `HELD_SECONDS`.

    No address is locked out for a time: behind a proxy all clients have one. A cookie is not a token and always passes.
    `hold` waits until a wrong answer may be sent.
    """

    def __init__(self) -> None:
        self.hold: Callable[[], Coroutine[Any, Any, object]] = partial(asyncio.sleep, HELD_SECONDS)
        self._wrong: dict[str, tuple[float, int]] = {}
        self._held: defaultdict[str, set[asyncio.Task[object]]] = defaultdict(set)

    async def refusal(self, client: str, shown: str, token: str) -> int | None:
        """Compare a token: None if it is right, 401 if it is wrong, 429 if too many answers are held to compare it."""
        if len(self._held.get(client, ())) >= MOST_HELD:
            return 429
        if is_token(shown, token):
            return None
        if self.add(client):
            await asyncio.shield(self._holding(client))
        return 401

    def _holding(self, client: str) -> asyncio.Task[object]:
        """Hold an answer, in a task of its own: a cancelled request frees its place neither earlier nor later."""
        holding = asyncio.create_task(self.hold())
        self._held[client].add(holding)
        holding.add_done_callback(partial(self._release, client))
        return holding

    def _release(self, client: str, ended: asyncio.Task[object]) -> None:
        self._held[client].discard(ended)
        if not self._held[client]:
            del self._held[client]

    def add(self, client: str) -> bool:
        """Count a wrong token; return whether there are too many. The clients of long ago are forgotten."""
        began, count = self._wrong.pop(client, (0.0, 0))
        now = time.monotonic()
        if now - began >= LOGIN_SECONDS:
            began, count = now, 0
        self._wrong[client] = (began, count + 1)
        if len(self._wrong) > MOST_CLIENTS:
            del self._wrong[next(iter(self._wrong))]
        if count == WRONG_LOGINS:
            log.warning("more than %d wrong tokens from %s within a minute", WRONG_LOGINS, client)
        return count >= WRONG_LOGINS


def _shown_token(headers: dict[bytes, str]) -> str | None:
    kind, _, shown = headers.get(b"authorization", "").partition(" ")
    return shown.strip() or None if kind.lower() == "bearer" else None


def _shown_session(headers: dict[bytes, str]) -> str:
    return cookie_parser(headers.get(b"cookie", "")).get(COOKIE, "")


def _host_name(host: str) -> str:
    """The name of a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _from_here(headers: dict[bytes, str], scheme: str) -> bool:
    """Whether a request comes from one of our own pages or from a program, by the headers that browsers send."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get(b"origin")
    try:
        found = urlsplit(origin or "")
        ours = (found.scheme, found.netloc.lower()) == (scheme, headers.get(b"host", "").lower())
        return origin is None or ours
    except ValueError:
        return False


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in HTTP_METHODS else "(other)"


HTTP_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"})


async def _refuse(send: Send, status: int, reason: str, scope: Scope, headers: dict[bytes, str]) -> None:
    """Answer with the reason; a browser without a token is redirected to the login page."""
    wants_page = "text/html" in headers.get(b"accept", "") and scope["method"] == "GET"
    sent: list[tuple[bytes, bytes]] = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        sent.append((b"retry-after", str(HELD_SECONDS).encode()))
    if status == HTTPStatus.UNAUTHORIZED:
        sent.append((b"www-authenticate", b"Bearer"))
        if wants_page:
            status, sent = 303, [(b"location", b"/login")]
    body = json.dumps({"error": reason}).encode()
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
