"""The crawler on loopback without delay, compared with bare Scrapy, on the sites of sites-docs."""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

from sitepages import pages_of
from webserver import WebServer

from webwinnow.crawl.crawling import crawl
from webwinnow.crawl.follow import Follow, FollowAll, FollowKept
from webwinnow.crawl.guard import AddressGuard
from webwinnow.crawl.settings import CrawlSettings

COLUMNS = ("what", "pages", "pages/s", "CPU ms per page")
PAGES = 100
ROUNDS = 2
BARE = Path(__file__).with_name("bare_scrapy.py")


def crawling(data: Path) -> list[tuple[str, ...]]:
    """Measure pages, pages/s (wall clock) and CPU milliseconds per page of all processes but the server; best round."""
    with tempfile.TemporaryDirectory() as folder:
        ready, sender = multiprocessing.Pipe()
        server = multiprocessing.Process(target=serve, args=(data, sender), daemon=True)
        server.start()
        starts = ready.recv()
        try:
            rows = [measured("webwinnow crawl, all links", starts, Path(folder), FollowAll)]
            rows.append(measured("webwinnow crawl --follow kept", starts, Path(folder), FollowKept))
            rows.append(measured("bare Scrapy, bodies to files", starts, Path(folder), None))
        finally:
            server.terminate()
            server.join()
    return rows


def serve(data: Path, sender: Connection) -> None:
    """Serve the pages from a separate process, each site on its own loopback address: 127.0.1.1, 127.0.1.2, ..."""
    sites = pages_of(data / "sites-docs.parquet")
    addresses = {urlsplit(start).netloc: f"127.0.1.{k}" for k, start in enumerate(sites.starts, start=1)}
    with ExitStack() as servers:
        starts = []
        for start in sites.starts:
            parts = urlsplit(start)
            own = {
                urlsplit(url).path: body for url, body in sites.pages.items() if urlsplit(url).netloc == parts.netloc
            }
            server = servers.enter_context(WebServer(own, address=addresses[parts.netloc]))
            starts.append(f"http://{addresses[parts.netloc]}:{server.port}{parts.path}")
        sender.send(starts)
        time.sleep(3600)


def measured(what: str, starts: list[str], folder: Path, follow: type[Follow] | None) -> tuple[str, ...]:
    """Return one row: the best of several rounds."""
    best = (0.0, 0.0, 0)
    for number in range(ROUNDS):
        place = Path(tempfile.mkdtemp(dir=folder))
        cpu, clock = cpu_seconds(), time.monotonic()
        stored = bare(starts, place) if follow is None else ours(starts, place, follow())
        clock, cpu = time.monotonic() - clock, cpu_seconds() - cpu
        if not number or stored / clock > best[0]:
            best = (stored / clock, 1000 * cpu / stored, stored)
    return what, f"{best[2]:,}", f"{best[0]:.0f}", f"{best[1]:.1f}"


def ours(starts: list[str], place: Path, follow: Follow) -> int:
    """Crawl and return the number of pages."""
    guard = AddressGuard(allow=("127.0.1.0/24",))
    settings = CrawlSettings(pages=PAGES, delay=0.0, scope="host", strategy="breadth", guard=guard)
    return crawl(starts, place / "crawl.warc.gz", settings, follow=follow).stored


def bare(starts: list[str], place: Path) -> int:
    """Crawl with Scrapy and return the number of files."""
    subprocess.run([sys.executable, str(BARE), str(place), str(PAGES), *starts], check=True)
    return sum(1 for _ in place.iterdir())


def cpu_seconds() -> float:
    """CPU of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    for row in crawling(Path(sys.argv[1])):
        print(*row, sep="  ")
