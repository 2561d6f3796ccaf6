"""Scrapy download handler: connections go to checked addresses, every byte is recorded, all sizes are bounded."""

from __future__ import annotations

import time
from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any, Final

from OpenSSL import SSL
from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import maybe_deferred_to_future
from service_identity import VerificationError
from twisted.internet import error
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.interfaces import IProtocolFactory, IStreamClientEndpoint
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.python.failure import Failure
from twisted.web._newclient import HTTPClientParser
from twisted.web.client import URI, Agent, BrowserLikePolicyForHTTPS, HTTPConnectionPool, ResponseDone, ResponseFailed
from twisted.web.http import PotentialDataLoss, _DataLoss
from twisted.web.http_headers import Headers
from twisted.web.iweb import UNKNOWN_LENGTH, IAgentEndpointFactory
from zope.interface import implementer

from webwinnow.crawl.frontier import ROBOTS_BYTES, Visit
from webwinnow.crawl.guard import AddressRefused, Peer, why_refused
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.sitemaps import LIST_TYPES
from webwinnow.crawl.warcfile import Exchange, FetchFailed, claims_another_type, head_end, headers_of, status_of
from webwinnow.run.reader_warc import MOST_HEADER_BYTES
from webwinnow.run.unpacking import CHUNK_HEAD, LINE_END, media_type

VISIT, RESULT = "webwinnow_visit", "webwinnow_result"
"""Keys of a request's `meta` for the visit, and for its `Exchange` or `FetchFailed`."""
IDLE_CONNECTION: Final = 60
"""Seconds that a connection stays open for the next request."""
Key = tuple[bytes, bytes, int]


class GuardedHandler(BaseDownloadHandler):
    """Download handler for http and https. It always returns a response: failures are in the request's `meta`."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor  # noqa: PLC0415 (does not exist before Scrapy has installed it)

        spider: Any = crawler.spider
        self.settings: CrawlSettings = spider.session.settings
        self.reactor: Any = reactor
        self.connections: dict[Key, Recorder] = {}
        HTTPClientParser.MAX_LENGTH = MOST_HEADER_BYTES  # of a line: Twisted cuts off those of more than 16 KB
        self.tls: Any = BrowserLikePolicyForHTTPS()
        self.pool: Any = HTTPConnectionPool(reactor, persistent=True)
        self.pool.maxPersistentPerHost = 1
        self.pool.cachedConnectionTimeout = IDLE_CONNECTION

    async def download_request(self, request: Request) -> Response:
        """Wait until the host may be contacted, then fetch."""
        visit: Visit = request.meta[VISIT]
        wait = visit.ready_at - time.monotonic()
        if wait > 0:
            await maybe_deferred_to_future(deferLater(self.reactor, wait))
        request.meta[RESULT] = await maybe_deferred_to_future(Fetch(self, visit).run())
        return Response(request.url, request=request)

    async def close(self) -> None:
        for connection in list(self.connections.values()):
            connection.abort()


@implementer(IAgentEndpointFactory)
class Fetch:
    """One request: its limits, timers and connection."""

    def __init__(self, handler: GuardedHandler, visit: Visit) -> None:
        self.handler = handler
        self.settings = handler.settings
        self.visit = visit
        self.limit = 4 * ROBOTS_BYTES if visit.page is None else self.settings.max_size
        uri = URI.fromBytes(visit.url.encode("ascii"))
        self.key: Key = (uri.scheme, uri.host, uri.port)
        self.cause: FetchFailed | None = None

    def run(self) -> Deferred[Exchange | FetchFailed]:
        """Fetch; a failure is returned, never raised."""
        open_already = self.handler.connections.get(self.key)
        if open_already is not None:
            open_already.begin(self)
        later, silence, whole = self.handler.reactor.callLater, self.settings.timeout, self.settings.page_seconds
        running: Deferred[Any] = self._exchange()
        self.idle: Any = later(silence, self._give_up, running, f"silent for {silence:g} s")
        late: Any = later(whole, self._give_up, running, f"took longer than {whole:g} s")

        def end(result: Any) -> Any:
            for timer in (self.idle, late):
                if timer.active():
                    timer.cancel()
            return self._failed(result) if isinstance(result, Failure) else result

        return running.addBoth(end)

    def endpointForURI(self, uri: URI) -> IStreamClientEndpoint:  # noqa: N802
        """Return the endpoint for a new connection to a host."""
        secure = self.handler.tls.creatorForNetloc(uri.host, uri.port) if uri.scheme == b"https" else None
        endpoint: Any = GuardedEndpoint(self, uri.host.decode("ascii"), uri.port, secure)
        found: IStreamClientEndpoint = endpoint
        return found

    def heard(self) -> None:
        """Reset the timer of silence: the server sent something."""
        if self.idle.active():
            self.idle.reset(self.settings.timeout)

    def refuse_more(self, recorder: Recorder) -> None:
        self.cause = FetchFailed(f"has more than {self.limit:,} bytes", refused=True)
        recorder.abort()

    def _give_up(self, running: Deferred[Any], reason: str) -> None:
        self.cause = FetchFailed(reason, may_pass=True)
        running.cancel()

    @inlineCallbacks
    def _exchange(self) -> Generator[Deferred[Any], Any, Exchange]:
        headers = Headers(
            {
                "User-Agent": [self.settings.user_agent],
                "Accept": ["text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"],
                "Accept-Encoding": ["gzip, deflate, br"],
            }
        )
        began = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        agent: Any = Agent.usingEndpointFactory(self.handler.reactor, self, self.handler.pool)
        response = yield agent.request(b"GET", self.visit.url.encode("ascii"), headers, None)
        recorder = self.handler.connections[self.key]
        unwanted = self._is_unwanted(response)
        if response.length is not UNKNOWN_LENGTH and response.length > self.limit and not unwanted:
            self.refuse_more(recorder)
            raise FetchOver
        if unwanted:
            recorder.abort()
        else:
            done: Deferred[None] = Deferred(lambda _: recorder.abort())
            response.deliverBody(_Body(done))
            yield done
            if self.cause is not None:
                raise FetchOver
        length = None if response.length is UNKNOWN_LENGTH else response.length
        return Exchange(
            request=bytes(recorder.sent),
            response=_final_response(bytes(recorder.received), length),
            address=recorder.peer,
            fetched_at=began,
        )

    def _is_unwanted(self, response: Any) -> bool:
        """Whether a response is not a page, so that its body, maybe a video, need not be received.

        What may be a sitemap or feed is received if it is a start page.
        """
        page = self.visit.page
        if page is None or response.code != 200:
            return False
        kind = response.headers.getRawHeaders(b"content-type", [b""])[0].decode("latin-1")
        return claims_another_type(kind) and not (page.depth == 0 and media_type(kind) in LIST_TYPES)

    def _failed(self, failure: Failure) -> FetchFailed:
        if self.cause is not None:
            return self.cause
        problem: BaseException | None = failure.value
        while isinstance(problem, ResponseFailed) and problem.reasons:
            problem = problem.reasons[0].value
        if isinstance(problem, AddressRefused):
            return FetchFailed(str(problem), refused=True)
        if isinstance(problem, SSL.Error | VerificationError):
            return FetchFailed("its certificate or encryption is not good")
        unknown = f"no HTTP ({type(problem).__name__})"
        return FetchFailed(
            next((why for kinds, why in _FAILURES if isinstance(problem, kinds)), unknown), may_pass=True
        )


class NameUnknown(Exception):
    """A host name without an address."""


class FetchOver(Exception):
    """A fetch that we aborted; its `cause` says why."""


_FAILURES: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    ((NameUnknown,), "the host name has no address"),
    ((error.TimeoutError, error.TCPTimedOutError), "no connection in time"),
    ((error.ConnectionRefusedError,), "the connection was refused"),
    ((error.ConnectError,), "no connection"),
    ((error.ConnectionDone, error.ConnectionLost, PotentialDataLoss, _DataLoss), "cut off"),
)


class _Body(Protocol):
    """Waits for the end of a body; the recorder keeps the bytes."""

    def __init__(self, done: Deferred[None]) -> None:
        self.done = done

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        """Do nothing: the recorder has the bytes."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802
        if self.done.called:
            return
        if reason.check(ResponseDone, PotentialDataLoss):  # the latter: no length was given, and the connection closed
            self.done.callback(None)
        else:
            self.done.errback(reason)


class Recorder(ProtocolWrapper):
    """A connection that records the bytes of the current request, within limits."""

    def __init__(self, factory: Any, wrapped: Any) -> None:
        super().__init__(factory, wrapped)
        self.peer = ""
        self.begin(factory.fetch)

    def begin(self, fetch: Fetch) -> None:
        self.sent, self.received = bytearray(), bytearray()
        self.fetch = fetch
        self.in_body = False

    def makeConnection(self, transport: Any) -> None:  # noqa: N802
        self.peer = transport.getPeer().host
        if not self.fetch.settings.guard.permits(self.peer):  # checked before connecting; checked again here
            self.fetch.cause = FetchFailed(f"{self.peer} is {why_refused(self.peer)}", refused=True)
            transport.abortConnection()
        self.fetch.handler.connections[self.fetch.key] = self
        super().makeConnection(transport)

    def write(self, data: bytes) -> None:
        self.sent += data
        super().write(data)

    def writeSequence(self, data: list[bytes]) -> None:  # noqa: N802
        self.sent += b"".join(data)
        super().writeSequence(data)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        self.received += data
        self.fetch.heard()
        if not self.in_body and len(self.received) > MOST_HEADER_BYTES:
            self.in_body = head_end(bytes(self.received)) <= MOST_HEADER_BYTES
        allowed = self.fetch.limit + MOST_HEADER_BYTES if self.in_body else MOST_HEADER_BYTES
        if len(self.received) > allowed:
            self.received.clear()
            self.fetch.refuse_more(self)
            return
        super().dataReceived(data)

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802
        connections = self.fetch.handler.connections
        if connections.get(self.fetch.key) is self:
            del connections[self.fetch.key]
        super().connectionLost(reason)


class RecordingFactory(WrappingFactory):
    """Wraps the connections of the HTTP client in a `Recorder`."""

    protocol: Any = Recorder
    noisy = False

    def __init__(self, wrapped: Any, fetch: Fetch) -> None:
        super().__init__(wrapped)
        self.fetch = fetch


@implementer(IStreamClientEndpoint)
class GuardedEndpoint:
    """Resolves and checks a host, and connects to the checked addresses one after the other."""

    def __init__(self, fetch: Fetch, host: str, port: int, secure: Any) -> None:
        self.fetch = fetch
        self.host = host
        self.port = port
        self.secure = secure

    @inlineCallbacks
    def connect(self, protocol_factory: IProtocolFactory) -> Generator[Deferred[Any], Any, Any]:
        """Connect and return the HTTP client's own protocol."""
        guard = self.fetch.settings.guard
        try:
            peers: tuple[Peer, ...] = yield deferToThread(guard.peers, self.host, self.port)
        except OSError as problem:
            raise NameUnknown(str(problem)) from None
        for place, peer in enumerate(peers, start=1):
            try:
                recorder = yield self._endpoint(peer).connect(RecordingFactory(protocol_factory, self.fetch))
            except error.ConnectError:
                if place == len(peers):
                    raise
            else:
                return recorder.wrappedProtocol
        raise NameUnknown(self.host)

    def _endpoint(self, peer: Peer) -> Any:
        kind: Any = TCP6ClientEndpoint if ":" in peer.address else TCP4ClientEndpoint
        endpoint = kind(self.fetch.handler.reactor, peer.address, peer.port, self.fetch.settings.timeout)
        return endpoint if self.secure is None else wrapClientTLS(self.secure, endpoint)


def _final_response(received: bytes, length: int | None) -> bytes:
    """Return the response without interim ones (1xx) before it, and without bytes after its body."""
    start = 0
    while 100 <= status_of(received, start) < 200:
        start = head_end(received, start)
    body = head_end(received, start)
    if length is not None:
        return received[start : body + length]
    codings = (value.lower() for name, value in headers_of(received[start:body]) if name.lower() == "transfer-encoding")
    return received[start : _chunked_end(received, body) if any("chunked" in coding for coding in codings) else None]


def _chunked_end(received: bytes, start: int) -> int:
    """Where the chunked body that begins at `start` ends, with its trailers (RFC 9112, 7.1)."""
    at = start
    while head := CHUNK_HEAD.match(received, at):
        size = int(head[1], 16)
        if size == 0:
            return head_end(received, head.end() - 1)
        end = LINE_END.match(received, head.end() + size)
        if end is None:
            break
        at = end.end()
    return len(received)
