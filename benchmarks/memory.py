"""Peak memory of a run, all its processes together, on 50,000 generated pages."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import zstandard

PAGES = 50_000
VOCABULARY = 20_000


def _page(number: int, host: str, words: list[str]) -> dict[str, str]:
    """A distinct page of about 20 KB: its site's menu around unique paragraphs."""
    chance = random.Random(number)
    menu = "".join(f'<li class="item"><a href="/section/{k}">Section {k} of {host}</a></li>' for k in range(40))
    story = "".join(f"<p>{' '.join(chance.choices(words, k=80))}</p>" for _ in range(20))
    html = f"<!doctype html><title>Page {number}</title><body><nav><ul>{menu}</ul></nav><main>{story}</main></body>"
    return {"url": f"http://{host}/p/{number}", "page_id": str(number), "html": html}


def _crawl(path: Path, one_site: bool) -> None:
    words = [f"word{k}" for k in range(VOCABULARY)]
    with path.open("wb") as file, zstandard.ZstdCompressor(level=1).stream_writer(file) as out:
        for number in range(PAGES):
            host = "one.example" if one_site else f"s{number}.example"
            out.write(json.dumps(_page(number, host, words)).encode() + b"\n")


def _resident(pid: int) -> int:
    """Resident bytes of a process and its descendants (shared memory counts in each process: an upper bound)."""
    total = 0
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        total += int(status.split("VmRSS:")[1].split()[0]) * 1024
        for thread in Path(f"/proc/{pid}/task").iterdir():
            total += sum(_resident(int(child)) for child in (thread / "children").read_text().split())
    except (OSError, IndexError):
        return total
    return total


def peak(_: Path) -> list[tuple[str, str]]:
    """Clean both crawls with two workers and measure their memory."""
    rows = []
    for name, one_site in (("one site of 50,000 pages", True), ("50,000 sites of one page", False)):
        with tempfile.TemporaryDirectory() as folder:
            crawl, out = Path(folder) / "crawl.jsonl.zst", Path(folder) / "out.jsonl"
            _crawl(crawl, one_site)
            command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "clean", str(crawl)]
            started = time.perf_counter()
            most = 0
            with subprocess.Popen([*command, "-o", str(out), "--jobs", "2", "-q"]) as process:
                while process.poll() is None:
                    most = max(most, _resident(process.pid))
                    time.sleep(0.05)
            seconds = time.perf_counter() - started
            with out.open("rb") as lines:
                records = sum(1 for _ in lines)
            ok = process.returncode == 0 and records == PAGES
            rows.append(
                (
                    f"{name}, `repeated`, 2 workers",
                    f"peak **{most / 1e6:,.0f} MB** in {seconds:.0f} s, {records:,} records{'' if ok else ' (FAILED)'}",
                )
            )
    return rows
