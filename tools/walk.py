"""Trace one page through the code: the modules it enters, in order, and how often each is entered.

    python tools/walk.py page|clean|learn|serve [--calls]

The command runs as a user would run it, with one worker, on a site of five small pages, then on a site of ten. Every
process is traced. The additional calls of the larger run are those of each page; the rest is done once per run:
start-up, settings, loading models. `page` cleans one page and is traced from the parse on. `--calls` also lists the
functions.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path

TRACER = '''
"""Started with every Python process of the run: writes one line for each call of a webwinnow function."""
import os, sys, threading, time

folder = os.environ.get("WEBWINNOW_WALK")
if folder:
    log = open(os.path.join(folder, f"{os.getpid()}.calls"), "w", buffering=1 << 16)
    state = threading.local()
    DEPTH = 1  # the module that was started; anything deeper is an import

    def trace(frame, event, _):
        code = frame.f_code
        if code.co_name == "<module>" and event in ("call", "return"):
            state.importing = getattr(state, "importing", 0) + (1 if event == "call" else -1)
        if event != "call" or getattr(state, "importing", 0) > DEPTH:
            return
        name = code.co_filename
        at = name.rfind("/webwinnow/")
        if at < 0 or code.co_name[0] == "<":
            return
        log.write(f"{time.monotonic_ns()} {threading.get_ident()} {name[at + 11:-3]} {code.co_qualname}\\n")
        log.flush()

    sys.setprofile(trace)
    threading.setprofile(trace)
'''
FEW, MORE = 5, 10
"""Pages of the two runs that are compared."""
POLL_SECONDS = 0.1
"""Seconds between two reads of a file that another process writes."""
STARTUP = ("cli/", "__init__", "_version", "__main__", "errors", "lazy")
"""The command line itself, module attributes and properties that are made on first use are no part of a page's walk."""


def site(folder: Path, pages: int) -> Path:
    """Write a small site: one menu, articles with paragraphs, a table and links."""
    lines = []
    for number in range(pages):
        body = "".join(
            f"<p>Paragraph {k} of article {number} says something new, in a sentence of its own, on topic {number * k}."
            for k in range(6)
        )
        html = (
            f"<html><head><title>Article {number}</title></head><body><ul class=menu><li><a href=/>Home</a>"
            f"<li><a href=/about>About us</a></ul><h1>Article {number}</h1>{body}"
            f"<table><tr><th>Height<td>{number} m</table><footer>Copyright of the example site</footer></body></html>"
        )
        lines.append(json.dumps({"url": f"http://site.example/{number}", "html": html}) + "\n")
    path = folder / "site.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    (folder / "page.html").write_text(json.loads(lines[0])["html"], encoding="utf-8")
    return path


def serve(program: list[str], folder: Path, crawl: Path, env: dict[str, str]) -> None:
    """Run one job of the service, from upload to completion."""
    log = folder / "server.log"
    with log.open("wb") as stderr:
        server = subprocess.Popen(
            [*program, "serve", "--port", "0", "--folder", str(folder / "data")], env=env, stderr=stderr
        )
    try:
        upload = urllib.request.Request(
            f"{_server_url(server, log)}/jobs?name=site.jsonl",
            data=crawl.read_bytes(),
            headers={"Content-Type": "application/octet-stream"},
        )
        with urllib.request.urlopen(upload) as answer:
            job = json.load(answer)["id"]
        state = next((folder / "data").rglob(f"{job}/state.json"))  # read from disk: a request would be traced too
        while (status := json.loads(state.read_bytes())["status"]) in ("queued", "running"):
            time.sleep(POLL_SECONDS)
        if status != "done":
            raise SystemExit(f"the job ended as {status}:\n{state.read_text()}\n{log.read_text()}")
    finally:
        server.terminate()
        server.wait()


def _server_url(server: subprocess.Popen[bytes], log: Path) -> str:
    """The URL that a server prints when it is ready."""
    while server.poll() is None:
        if found := re.search(r"http://[^/\s]+(?=/ serves)", log.read_text(encoding="utf-8")):
            return found[0]
        time.sleep(POLL_SECONDS)
    raise SystemExit(f"the server did not start:\n{log.read_text()}")


def walk(command: str, folder: Path, pages: int) -> list[list[str]]:
    """Run a command under the tracer; returns [process and thread, module, function] of each call in order."""
    calls = folder / "calls"
    calls.mkdir(parents=True)
    (folder / "start").mkdir()
    (folder / "start" / "sitecustomize.py").write_text(TRACER, encoding="utf-8")
    paths = [str(folder / "start"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"WEBWINNOW_WALK": str(calls), "PYTHONPATH": os.pathsep.join(paths)}
    crawl = site(folder, pages)
    program = [sys.executable, "-m", "webwinnow"]
    if command == "page":
        subprocess.run([*program, "page", str(folder / "page.html")], env=env, check=True, stdout=subprocess.DEVNULL)
    elif command == "clean":
        subprocess.run(
            [*program, "clean", str(crawl), "-o", str(folder / "o.jsonl"), "-q", "--jobs", "1"], env=env, check=True
        )
    elif command == "learn":
        subprocess.run(
            [*program, "learn", str(crawl), "-o", str(folder / "m"), "-q", "--jobs", "1"], env=env, check=True
        )
    else:
        serve(program, folder, crawl, env)
    found = []
    for file in calls.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            when, thread, module, function = line.split(" ", 3)
            if not module.startswith(STARTUP):
                found.append((int(when), f"{file.stem}/{thread}", module, function))
    return [call for _, *call in sorted(found, key=itemgetter(0))]


def entries(calls: list[list[str]]) -> tuple[Counter[str], Counter[str]]:
    """Count how often each module is entered from another one, and how often each function is called."""
    entered: Counter[str] = Counter()
    called: Counter[str] = Counter()
    last: dict[str, str] = {}
    for thread, module, function in calls:
        called[f"{module}.{function}"] += 1
        if last.get(thread) != module:
            entered[module] += 1
            last[thread] = module
    return entered, called


def per_page(few: Counter[str], more: Counter[str]) -> dict[str, float]:
    """The additional counts of the larger run, per additional page; fewer than one in two pages depend on timing."""
    found = {name: (more[name] - few[name]) / (MORE - FEW) for name in more}
    return {name: times for name, times in found.items() if times >= 0.5}


def report(command: str, folder: Path, *, with_calls: bool) -> str:
    """The walk as text: modules in the order in which a page first reaches them."""
    modules: Mapping[str, float]
    functions: Mapping[str, float]
    if command == "page":
        calls = walk(command, folder, 1)
        first = next(at for at, (_, module, _) in enumerate(calls) if module == "page/parsing")
        counted, called = entries(calls[first:])
        modules, functions, once = counted, called, 0
    else:
        short, calls = (walk(command, folder / str(pages), pages) for pages in (FEW, MORE))
        few, more = entries(short), entries(calls)
        entered, functions = per_page(few[0], more[0]), per_page(few[1], more[1])
        reached = dict.fromkeys(module for _, module, function in calls if f"{module}.{function}" in functions)
        modules = {module: entered[module] for module in [*reached, *entered] if module in entered}
        once = len(more[0]) - len(modules)
    lines = [f"{module:40} {times:.1f}" for module, times in modules.items()]
    lines.append(f"{len(modules)} modules for each page, {sum(times > 1 for times in modules.values())} more than once")
    if once:
        lines.append(f"{once} more modules once per run")
    lines += [
        f"{name} {functions.get(name, 0):.1f} times per page" for name in ("page/parsing.parse", "page/blocks.cut")
    ]
    if with_calls:
        lines += [f"{name} {times:.1f}" for name, times in functions.items()]
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("page", "clean", "learn", "serve"))
    parser.add_argument("--calls", action="store_true", help="list the functions too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="webwinnow-walk-") as folder:
        print(report(given.command, Path(folder), with_calls=given.calls))


if __name__ == "__main__":
    main()
