"""The settings of the service."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from webwinnow.errors import SettingsError
from webwinnow.page.words import StopList
from webwinnow.platforms import MOST_JOBS, cpu_count
from webwinnow.settings import CRAWL, IN_AND_OUT, RUN, Settings, setting

LOOPBACK = "127.0.0.1"
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
class ServiceSettings(Settings):
    """How to serve: single pages by `workers` processes, collections as jobs.

    `folder` has jobs, results and models, and survives the server. Except on loopback, every request needs a `token`.
    Pages are fetched through the crawler's guard. A body that pauses for `idle_seconds`, or is slower than `body_rate`
    bytes per second, is refused. Beyond `disk_bytes` of jobs and models, new jobs are refused. The words of `stop_list`
    are left out of keywords, abstracts, clusters and indexes. All requests together hold `body_memory` bytes of bodies
    in memory; what an upload has written is not held.
    """

    GROUP: ClassVar[str] = "serve"
    PANEL = RUN

    folder: Path
    host: Annotated[str, setting("IP address to listen on; beyond this machine a token is required.", "--host")] = (
        LOOPBACK
    )
    port: Annotated[int, setting("Port to listen on.", "--port", least=0, most=65_535)] = 8765
    token: str | None = None
    names: Annotated[
        tuple[str, ...],
        setting("Host name by which clients call the server; repeatable.", "--name", read=lambda text: (text,)),
    ] = ()
    tls: Annotated[
        bool,
        setting(
            "Clients reach the server by https, through a reverse proxy: cookies are sent by https only.",
            "--tls/--no-tls",
        ),
    ] = False
    inputs: Annotated[
        tuple[Path, ...],
        setting(
            "Folder whose files jobs may name; repeatable.",
            "--inputs",
            panel=IN_AND_OUT,
            read=lambda text: (Path(text).absolute(),),
        ),
    ] = ()
    fetch: Annotated[bool, setting("Fetch pages by URL.", "--fetch/--no-fetch", panel=CRAWL)] = True
    render: bool = True
    allow_private: Annotated[
        bool,
        setting(
            "Allow private, loopback and link-local IP addresses: your own network.", "--allow-private", panel=CRAWL
        ),
    ] = False
    page_bytes: Annotated[
        int, setting("Refuse pages that are longer than this many bytes.", "--max-bytes", panel=IN_AND_OUT, above=0)
    ] = 10_000_000
    upload_bytes: Annotated[
        int,
        setting("Refuse uploads that are longer than this many bytes.", "--upload-bytes", panel=IN_AND_OUT, above=0),
    ] = 4_000_000_000
    body_memory: int = 256_000_000
    page_seconds: Annotated[
        float, setting("Seconds to clean a page; one that takes longer fails.", "--page-seconds", above=0)
    ] = 20.0
    worker_memory: int = 3 << 30
    waiting_pages: Annotated[int, setting("Pages that may wait.", above=0)] = 256
    queued_jobs: Annotated[int, setting("Jobs that may wait; more are refused.", "--queue", above=0)] = 20
    idle_seconds: Annotated[float, setting("Seconds that a body may pause.", above=0)] = 20.0
    body_rate: int = 4_000
    disk_bytes: Annotated[
        int, setting("Bytes that the folder may take.", "--disk-bytes", panel=IN_AND_OUT, least=1)
    ] = 50_000_000_000
    stop_list: StopList = field(default_factory=StopList)
    workers: Annotated[int, setting("Worker processes; 0 for one per core.", "--jobs", least=0, most=MOST_JOBS)] = 0

    def validate(self) -> None:
        """Raise `SettingsError` for a token that can be guessed, or none where other machines reach the service."""
        token = self.token
        if token is not None and (len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable())):
            raise SettingsError(f"the token is too short: expected {SHORTEST_TOKEN} or more printable ASCII characters")
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(f"{self.host} can be reached from other machines: a token is required")

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
