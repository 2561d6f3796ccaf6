"""The service under load on loopback: 50 clients for a minute on `/page`, compared with the library's CPU time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

CLIENTS = 50
SECONDS = 60.0
PAGES = 300
LONGEST = 1_000_000


def load(data: Path) -> list[tuple[str, str]]:
    """Post pages of pages-wcxb repeatedly; compare with the same work in one process without a server."""
    table = pq.read_table(data / "pages-wcxb.parquet", columns=["url", "html"]).slice(0, PAGES).to_pylist()
    pages = [
        {"url": row["url"], "html": row["html"].decode("utf-8", "replace")}
        for row in table
        if len(row["html"]) < LONGEST
    ]
    own = _library(pages)
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        command = [sys.executable, "-m", "webwinnow", "serve", "--folder", folder, "--port", str(port)]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            base = f"http://127.0.0.1:{port}"
            asyncio.run(_ready(base, pages[0]))
            asyncio.run(_ask(base, pages, SECONDS / 6))
            before, started = _memory(server.pid), _cpu(server.pid)
            measured = asyncio.run(_ask(base, pages, SECONDS))
            after, spent = _memory(server.pid), _cpu(server.pid) - started
        finally:
            server.terminate()
            server.wait()
    times = sorted(measured["seconds"])
    speed = len(times) / SECONDS
    shares = ", ".join(f"{1000 * times[int(len(times) * share)]:.0f}" for share in (0.5, 0.95, 0.99))
    return [
        ("clients, seconds, answers, errors", f"{CLIENTS}, {SECONDS:.0f}, {len(times):,}, **{measured['errors']}**"),
        ("pages/s", f"{speed:.0f}"),
        (
            "CPU per page: server and workers, the library; times the library's",
            f"{1000 * spent / len(times):.1f} ms, {1000 * own:.1f} ms; **{spent / len(times) / own:.2f}**",
        ),
        ("latency, ms: median, 95 %, 99 %", shares),
        ("one client alone, ms: median", f"{1000 * measured['alone']:.1f}"),
        ("server and workers, MB: after 10 s, after 70 s", f"{before / 1e6:.0f}, **{after / 1e6:.0f}**"),
    ]


def _library(pages: list[dict[str, str]]) -> float:
    """CPU seconds per page of the same work in one process, without a server."""
    code = """
import json, sys, time
from pathlib import Path
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.parsing import ParseLimits
from webwinnow.run.pageworker import ModelCache, clean_request
from webwinnow.run.workerjobs import CleanRequest
from webwinnow.site.modelstore import ModelFolder
from dataclasses import asdict
import tempfile
pages = json.load(sys.stdin)
models = ModelCache(ModelFolder(Path(tempfile.mkdtemp()), make=True))
asked = {"site_by": "host", "models": True, "method": "combined", "task": "content", "also": [], "explain": False}
asked["cleaning"] = asdict(CleaningSettings())
def clean(page):
    body = page["html"].encode("utf-8", "replace")
    clean_request(CleanRequest(page["url"], body, "text/html; charset=utf-8", asked), ParseLimits(), models)
for page in pages[:20]:
    clean(page)
started = time.process_time()
for page in pages:
    clean(page)
print((time.process_time() - started) / len(pages))
"""

    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(pages), capture_output=True, text=True, check=True
    )
    return float(done.stdout)


async def _ready(base: str, page: dict[str, str]) -> None:
    import httpx

    async with httpx.AsyncClient(base_url=base, timeout=60) as client:
        for _ in range(600):
            try:
                if (await client.post("/page", json=page)).status_code == 200:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.1)
    raise RuntimeError("the server did not start")


async def _ask(base: str, pages: list[dict[str, str]], seconds: float) -> dict[str, Any]:
    """Run all clients concurrently, each sending one page after the other; then one client alone."""
    import httpx

    times: list[float] = []
    errors = 0
    until = time.monotonic() + seconds

    async def one(client: httpx.AsyncClient, first: int) -> None:
        nonlocal errors
        number = first
        while time.monotonic() < until:
            started = time.perf_counter()
            try:
                answer = await client.post("/page", json=pages[number % len(pages)])
                errors += answer.status_code != 200
            except httpx.HTTPError:
                errors += 1
            times.append(time.perf_counter() - started)
            number += 7

    limits = httpx.Limits(max_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=base, timeout=60, limits=limits) as client:
        await asyncio.gather(*(one(client, n * 11) for n in range(CLIENTS)))
        alone = []
        for page in pages[:30]:
            started = time.perf_counter()
            await client.post("/page", json=page)
            alone.append(time.perf_counter() - started)
    return {"seconds": times, "errors": errors, "alone": statistics.median(alone)}


def _memory(pid: int) -> int:
    """Resident bytes of a process and its children."""
    found = subprocess.run(["ps", "-o", "rss=", "--pid", str(pid), "--ppid", str(pid)], capture_output=True, text=True)  # noqa: PLW1510
    return 1024 * sum(map(int, found.stdout.split()))


def _cpu(pid: int) -> float:
    """CPU seconds of a process and its children so far."""
    found = subprocess.run(["ps", "-o", "pid=", "--pid", str(pid), "--ppid", str(pid)], capture_output=True, text=True)  # noqa: PLW1510
    spent = 0
    for one in found.stdout.split():
        fields = Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        spent += int(fields[11]) + int(fields[12])
    return spent / os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
