"""Pages that try to get out, what they must not reach, and processes that must not stay, for tests and benchmarks."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 240.0
"""Seconds that tests wait for an event before they fail."""


class Victim:
    """Sockets on 127.0.0.1 that note whatever reaches them, by TCP and by UDP."""

    def __enter__(self) -> Victim:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        for end in (self.tcp, self.udp):
            end.setblocking(False)
        return self

    def __exit__(self, *_: object) -> None:
        self.tcp.close()
        self.udp.close()

    def reached(self) -> list[str]:
        found = []
        for name, take in (("tcp", self.tcp.accept), ("udp", lambda: self.udp.recvfrom(1))):
            try:
                taken = take()
            except BlockingIOError:
                continue
            found.append(name)
            if name == "tcp":
                taken[0].close()
        return found


PLAIN = {
    "image": "new Image().src = 'http://127.0.0.1:PORT/image'",
    "name": "new Image().src = 'http://localhost:PORT/name'",
    "number": "new Image().src = 'http://0x7f.1:PORT/number'",
    "mapped": "new Image().src = 'http://[::ffff:127.0.0.1]:PORT/mapped'",
    "private": "new Image().src = 'http://10.0.0.1:PORT/private'",
    "metadata": "new Image().src = 'http://169.254.169.254/metadata'",
    "redirected": "new Image().src = 'http://b.test/redirect'",
    "fetched": "fetch('http://127.0.0.1:PORT/fetched', {mode: 'no-cors'})",
    "posted": "navigator.sendBeacon('http://127.0.0.1:PORT/posted', 'x')",
    "events": "new EventSource('http://127.0.0.1:PORT/events')",
    "script": "document.head.appendChild(document.createElement('script')).src = 'http://127.0.0.1:PORT/script'",
    "style": "document.head.insertAdjacentHTML('beforeend', '<link rel=stylesheet href=http://127.0.0.1:PORT/style>')",
    "prefetch": "document.head.insertAdjacentHTML('beforeend', '<link rel=prefetch href=http://127.0.0.1:PORT/prefetch>"
    "<link rel=preconnect href=http://127.0.0.1:PORT/><link rel=dns-prefetch href=//victim.test/>')",
    "worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('http://127.0.0.1:PORT/worker')\"])))",
    "frame": "document.body.appendChild(document.createElement('iframe')).src = 'http://127.0.0.1:PORT/frame'",
    "srcdoc": "document.body.appendChild(document.createElement('iframe')).srcdoc ="
    " '<img src=http://127.0.0.1:PORT/srcdoc>'",
    "sandbox": "const boxed = document.createElement('iframe'); boxed.sandbox = 'allow-scripts';"
    " boxed.src = 'data:text/html,<script>location=\"http://127.0.0.1:PORT/sandbox\"</' + 'script>';"
    " document.body.appendChild(boxed)",
    "form": "document.body.insertAdjacentHTML('beforeend', '<form method=post action=http://127.0.0.1:PORT/form>');"
    " document.forms[0].submit()",
    "location": "location = 'http://127.0.0.1:PORT/location'",
}
"""Attacks that are in the log under their names."""
LEAVING = ("form", "location")
"""Those that leave the page: the browser drops the first if the second comes too soon, so each has its own page."""
TUNNELLED = {
    "socket": "new WebSocket('ws://127.0.0.1:PORT/socket')",
    "secure": "fetch('https://127.0.0.1:PORT/secure', {mode: 'no-cors'})",
    "webrtc": "const c = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'},"
    " {urls: 'turn:127.0.0.1:PORT?transport=tcp', username: 'u', credential: 'p'}]});"
    " c.createDataChannel('x'); c.createOffer().then(offer => c.setLocalDescription(offer))",
    "webtransport": "new WebTransport('https://127.0.0.1:PORT/transport').ready.catch(() => 0)",
    "files": "document.body.appendChild(document.createElement('iframe')).src = 'file:///etc/passwd'",
}


def tried(attacks: dict[str, str], port: int) -> str:
    """A page that tries all of these."""
    tries = [f"try {{ {code.replace('PORT', str(port))} }} catch (error) {{ }}" for code in attacks.values()]
    return f"<body><p>Hello</p><script>{chr(10).join(tries)}</script></body>"


ATTACHED = (("Content-Type", "application/zip"), ("Content-Disposition", "attachment; filename=file.zip"))
"""Headers of a file to be saved, `/file` in `DOWNLOADS`."""
_CLICK = """{ const link = document.body.appendChild(document.createElement('a'));
  link.href = HREF; link.download = 'file.NAME'; link.click() }"""
_LINKS = {
    "data": "'data:application/octet-stream,data'",
    "blob": "URL.createObjectURL(new Blob(['data']))",
    "link": "'/file?link'",
}
DOWNLOADS = {
    **{name: _CLICK.replace("HREF", href).replace("NAME", name) for name, href in _LINKS.items()},
    "frame": "document.body.appendChild(document.createElement('iframe')).src = '/file?frame'",
    "location": "location = '/file?location'",
}
"""Downloads by name. On one page the browser drops one that it has not begun when the next comes."""


def processes_with(folder: Path) -> list[int]:
    """The processes whose environment names a folder: those started with it as the folder of temporary files."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(int(path.parent.name))
    return found


def until(done: Callable[[], bool]) -> None:
    """Wait for a condition that nothing reports, for minutes if the machine is busy."""
    limit = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.05)
