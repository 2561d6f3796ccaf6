"""The settings of the service."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from webwinnow.errors import SettingsError
from webwinnow.page.words import StopList
from webwinnow.platforms import cpu_count

SHORTEST_TOKEN = 16
"""Characters of a token: shorter ones could be guessed."""


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """How to serve.

    - `folder`: the folder of jobs, results and models; it survives the server.
    - `host`, `port`: where to listen. Except on loopback, every request needs a `token`.
    - `names`: further host names of the service; requests for other hosts are refused.
    - `tls`: clients reach the service by https, through a reverse proxy.
    - `inputs`: folders on this machine from which jobs may read; none by default.
    - `fetch`: whether pages may be fetched by URL (through the crawler's guard); `allow_private` lifts the guard.
    - `render`: whether crawled pages may be rendered, where Chromium is installed.
    - `page_bytes`, `upload_bytes`: the longest page, and the longest crawl, uploaded or fetched.
    - `body_memory`: bytes of bodies that all requests together hold in memory; what an upload has written is not held.
    - `page_seconds`, `worker_memory`: the limits of one page.
    - `waiting_pages`, `queued_jobs`: the lengths of the queues.
    - `idle_seconds`, `body_rate`: a body that pauses longer, or is slower (bytes per second), is refused.
    - `disk_bytes`: size of jobs and models; beyond that new jobs are refused.
    - `stop_list`: the stop words of keywords, abstracts, clusters and indexes.
    - `workers`: processes for single pages; 0 for one per CPU.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    names: tuple[str, ...] = ()
    tls: bool = False
    inputs: tuple[Path, ...] = ()
    fetch: bool = True
    render: bool = True
    allow_private: bool = False
    page_bytes: int = 10_000_000
    upload_bytes: int = 4_000_000_000
    body_memory: int = 256_000_000
    page_seconds: float = 20.0
    worker_memory: int = 3 << 30
    waiting_pages: int = 256
    queued_jobs: int = 20
    idle_seconds: float = 20.0
    body_rate: int = 4_000
    disk_bytes: int = 50_000_000_000
    stop_list: StopList = field(default_factory=StopList)
    workers: int = 0

    def __post_init__(self) -> None:
        token = self.token
        if token is not None and (len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable())):
            raise SettingsError(f"the token is too short: expected {SHORTEST_TOKEN} or more printable ASCII characters")
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(f"{self.host} can be reached from other machines: a token is required")
        for name in ("page_bytes", "upload_bytes", "page_seconds", "waiting_pages", "queued_jobs", "idle_seconds"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected a number above 0")

    @property
    def jobs_folder(self) -> Path:
        """The folder of jobs."""
        return self.folder / "jobs"

    @property
    def models_folder(self) -> Path:
        """The folder of models."""
        return self.folder / "models"

    @property
    def processes(self) -> int:
        """The number of worker processes."""
        return self.workers or cpu_count()

    @property
    def host_names(self) -> frozenset[str]:
        """The host names of allowed requests."""
        own = {self.host.strip("[]").lower(), *(name.lower() for name in self.names)}
        return frozenset(own | {"localhost", "127.0.0.1", "::1"})
