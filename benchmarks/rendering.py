"""Rendering: what it finds on client-rendered sites, what it changes on manuals, what a layout adds, its cost, and
what becomes of hostile pages.

Manuals come from Debian packages (`apt-get download`) and docsify from npm (`npm pack`), both kept in
`build/rendering`; what cannot be downloaded is reported as skipped. All sites are served on loopback.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

from hostilepages import hostile_pages
from renderedpages import FILE, rendered_pages
from seen import labelled_pages, means, word_f1
from webserver import Asked, Reply, WebServer

from webwinnow import open_pages
from webwinnow.crawl.browser.capture import PageToRender
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.judge.evidence import evidence_of
from webwinnow.judge.verdict import Reason
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import Cleaner

COLUMNS = ("what", "pages", "measured")
ADDRESS = "127.0.0.2"
DOCSIFY = "docsify@4.13.1"
CHAPTERS = 12
MANUALS = {"libglfw3-doc": "usr/share/doc/libglfw3-dev/html", "sqlite3-doc": "usr/share/doc/sqlite3"}
MANUAL_PAGES = 12
CACHE = FILE.parent
RENDER = {"never": (), "auto": ("--render=auto",), "all": ("--render",)}
_WORD = re.compile(r"\w+")
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".md": "text/markdown"}
_TYPES |= {".png": "image/png", ".svg": "image/svg+xml", ".gif": "image/gif", ".jpg": "image/jpeg"}
SUBJECTS = "rivers bridges mills harbours roads walls gates markets wells towers gardens fields".split()


def rendering(data: Path) -> list[tuple[str, ...]]:
    """All measurements."""
    parts: dict[str, Callable[[], list[tuple[str, ...]]]] = {
        "client-rendered site of our own": client_site,
        "site of docsify": docsify_site,
        "manuals": manuals,
        "cost of a crawl": crawl_cost,
        "rendering alone": browsers,
        "hostile pages": hostile_pages,
        "labelled pages": lambda: labelled_pages(data),
        "pages with truth": lambda: evidence(data),
    }
    rows: list[tuple[str, ...]] = []
    for name, part in parts.items():
        try:
            rows += part()
        except (subprocess.CalledProcessError, FileNotFoundError, ValueError) as problem:
            rows.append((name, "", f"skipped: {problem}"))
    return rows


# Client-rendered sites


def chapter(name: str) -> str:
    """A chapter in Markdown, of our own making."""
    places = "north south east west".split()
    sections = [
        f"## The {name} of the {place}\n\nIn the {place} of the country there were {number} {name} before the great "
        f"flood, and {number // 2} after it. People there say that the {name} of old were built by hand.\n"
        for number, place in enumerate(places, start=14)
    ]
    return f"# A history of {name}\n\n" + "\n".join(sections)


def _plain(markdown: str) -> str:
    return re.sub(r"[#*`]", "", markdown)


def _recalls(server: WebServer, starts: list[str], truth: dict[str, str], pages: int) -> list[tuple[str, str]]:
    """Recall of the known text, and seconds per page of the site, found or not, without and with --render=auto."""
    rows = []
    for how in ("never", "auto"):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.jsonl"
            began = time.perf_counter()
            asked = ("clean", *starts, "-o", str(out), "--delay", "0", *RENDER[how], "--pages", str(pages))
            _run(*asked, *_reach(server))
            seconds = time.perf_counter() - began
            with out.open(encoding="utf-8") as lines:
                records = [json.loads(line) for line in lines]
        texts = {record["url"]: record["text"] or "" for record in records}
        recalls = [word_f1(texts.get(url, ""), text)[2] for url, text in truth.items()]
        per_page = seconds / max(len(truth), len(records))
        rows.append((how, f"recall {statistics.mean(recalls):.3f}, {len(records)} records, {per_page:.2f} s a page"))
    return rows


def client_site() -> list[tuple[str, ...]]:
    """A site that a script of ours draws from Markdown."""
    script = """const heading = (_, signs, text) => `<h${signs.length}>${text}</h${signs.length}>`;
    const md = t => t.split(/\\n\\n+/).map(p => p.replace(/^(#+) (.*)/, heading))
      .map(p => p.startsWith('<h') ? p : `<p>${p}</p>`).join('');
    const wanted = [fetch('/md' + location.pathname).then(r => r.text()), fetch('/toc').then(r => r.json())];
    Promise.all(wanted).then(([text, toc]) => { document.getElementById('app').innerHTML = '<nav>'
        + toc.map(n => `<a href="/${n}">${n}</a>`).join(' ') + '</nav><main>'
        + md(text) + '</main><footer>Made by a script</footer>'; });"""
    shell = "<!doctype html><title>Histories</title><div id=app>Loading</div><script src=/app.js></script>"

    def answer(asked: Asked) -> str | Reply | None:
        path = asked.path
        if path == "/app.js":
            return Reply(script.encode(), headers=(("Content-Type", "text/javascript"),))
        if path == "/toc":
            return Reply(json.dumps(SUBJECTS).encode(), headers=(("Content-Type", "application/json"),))
        if path.startswith("/md/") and path[4:] in SUBJECTS:
            return Reply(chapter(path[4:]).encode(), headers=(("Content-Type", "text/markdown"),))
        return shell if path[1:] in SUBJECTS else None

    truth = {f"http://a.test/{name}": _plain(chapter(name)) for name in SUBJECTS}
    with WebServer({}, address=ADDRESS, answer=answer) as server:
        found = _recalls(server, [f"http://a.test/{SUBJECTS[0]}"], truth, 20)
    return [(f"client-rendered site of our own, --render={how}", str(len(truth)), says) for how, says in found]


def docsify_site() -> list[tuple[str, ...]]:
    """A site that docsify draws from Markdown. Each chapter is fetched from a host of its own.

    docsify links every heading as a URL with a query, so a crawl of one host would fetch each chapter five times.
    """
    package = CACHE / "package"
    if not package.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", DOCSIFY], cwd=CACHE, check=True, capture_output=True)
        (archive,) = CACHE.glob("docsify-*.tgz")
        subprocess.run(["tar", "xzf", archive.name], cwd=CACHE, check=True)
    shell = """<!doctype html><html><head><meta charset=utf-8><title>Histories</title>
    <link rel=stylesheet href=/vue.css></head><body><div id=app>Loading</div>
    <script>window.$docsify = {routerMode: 'history', loadSidebar: true, name: 'Histories'}</script>
    <script src=/docsify.js></script></body></html>"""
    files = {
        "/docsify.js": (package / "lib" / "docsify.min.js").read_bytes(),
        "/vue.css": (package / "lib" / "themes" / "vue.css").read_bytes(),
        "/_sidebar.md": "\n".join(f"* [{name}](/{name})" for name in SUBJECTS).encode(),
    } | {f"/{name}.md": chapter(name).encode() for name in SUBJECTS}

    def answer(asked: Asked) -> str | Reply | None:
        path = asked.path.partition("?")[0]
        if path in files:
            return Reply(files[path], headers=(("Content-Type", _TYPES[Path(path).suffix]),))
        return shell if path[1:] in SUBJECTS else None

    truth = {f"http://{name}.test/{name}": _plain(chapter(name)) for name in SUBJECTS}
    with WebServer({}, address=ADDRESS, answer=answer) as server:
        found = _recalls(server, [*truth], truth, 1)
    return [(f"site of {DOCSIFY}, --render={how}", str(len(truth)), says) for how, says in found]


# Manuals


def manuals() -> list[tuple[str, ...]]:
    """Manuals with their style sheets and scripts: word F1 of the text with rendering to that without, and the cost."""
    rows: list[tuple[str, ...]] = []
    for package, folder in MANUALS.items():
        root = CACHE / package / folder
        if not root.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            subprocess.run(["apt-get", "download", "-qq", package], cwd=CACHE, check=True, capture_output=True)
            (archive,) = CACHE.glob(f"{package}_*.deb")
            subprocess.run(["dpkg", "-x", archive.name, package], cwd=CACHE, check=True)

        def answer(asked: Asked, root: Path = root) -> Reply | None:
            file = root / asked.path.partition("?")[0].lstrip("/")
            if not file.is_file() or not file.resolve().is_relative_to(root.resolve()):
                return None
            return Reply(file.read_bytes(), headers=(("Content-Type", _TYPES.get(file.suffix, "text/plain")),))

        with WebServer({}, address=ADDRESS, answer=answer) as server, tempfile.TemporaryDirectory() as made:
            texts, seconds = {}, {}
            for how in ("never", "all"):
                crawl, out = Path(made) / f"{how}.warc.gz", Path(made) / f"{how}.jsonl"
                began = time.perf_counter()
                asked = ("crawl", "http://a.test/index.html", "-o", str(crawl), "--delay", "0", *RENDER[how])
                _run(*asked, "--pages", str(MANUAL_PAGES), "--strategy", "breadth", *_reach(server))
                seconds[how] = (time.perf_counter() - began) / MANUAL_PAGES
                _run("clean", str(crawl), "-o", str(out), "-q")
                with out.open(encoding="utf-8") as lines:
                    texts[how] = {record["url"]: record["text"] or "" for record in map(json.loads, lines)}
        both = texts["never"].keys() & texts["all"].keys()
        same = statistics.mean(word_f1(texts["all"][url], texts["never"][url])[0] for url in both)
        cost = f"{seconds['all']:.2f} s a page, {seconds['never']:.2f} s without rendering"
        rows.append(
            (f"{package}: text with rendering against text without", str(len(both)), f"word F1 {same:.3f}; {cost}")
        )
    return rows


def crawl_cost() -> list[tuple[str, ...]]:
    """Seconds a page of a crawl without rendering, with one and with two browsers.

    Pages with a style sheet and a script, on six hosts, so that two browsers have work. The time of a crawl of one page
    is subtracted: the command and its first browser start within it.
    """
    hosts = [f"{name}.test" for name in SUBJECTS[:6]]
    head = "<link rel=stylesheet href=/page.css><script src=/page.js defer></script>"
    files = {
        "/page.css": Reply(b"body { font: 16px serif; max-width: 50em }", headers=(("Content-Type", "text/css"),)),
        "/page.js": Reply(b"document.title += '!'", headers=(("Content-Type", "text/javascript"),)),
    }

    def answer(asked: Asked) -> str | Reply | None:
        name = asked.path[1:]
        if asked.path in files:
            return files[asked.path]
        menu = "".join(f"<a href=/{one}>{one}</a> " for one in SUBJECTS[:4])
        return f"{head}<nav>{menu}</nav><p>{_plain(chapter(name))}" if name in SUBJECTS else None

    rows: list[tuple[str, ...]] = []
    with WebServer({}, address=ADDRESS, answer=answer) as server, tempfile.TemporaryDirectory() as folder:

        def seconds(name: str, starts: list[str], *extra: str) -> tuple[float, int]:
            out = Path(folder) / f"{name}.warc.gz"
            began = time.perf_counter()
            _run("crawl", *starts, "-o", str(out), "--delay", "0", "--pages", "4", *extra, *_reach(server))
            took = time.perf_counter() - began
            return took, sum(1 for _ in open_pages([out], on_problem=lambda _: None))

        starts = [f"http://{host}/{SUBJECTS[0]}" for host in hosts]
        kinds = {"without rendering": (), "one browser": ("--render", "--browsers", "1")}
        kinds |= {"two browsers": ("--render", "--browsers", "2")}
        for number, (name, extra) in enumerate(kinds.items()):
            alone, _ = seconds(f"one-{number}", starts[:1], "--pages", "1", *extra)
            took, pages = seconds(f"all-{number}", starts, *extra)
            says = f"{(took - alone) / max(pages - 1, 1):.2f} s a page; {took:.1f} s in all, {alone:.1f} s for one page"
            rows.append((f"crawl of {len(hosts)} hosts, {name}", str(pages), says))
    load = f"{os.getloadavg()[0]:.1f}"
    return [*rows, ("load of the machine (two cores) after this", "", load)]


def browsers() -> list[tuple[str, ...]]:
    """Seconds a page with one and with two browsers, the chapters of the site of our own as plain HTML."""
    pages = [
        PageToRender(url="http://page.invalid/", body=f"<h1>{name}</h1><p>{_plain(chapter(name))}</p>".encode())
        for name in SUBJECTS
    ]
    rows: list[tuple[str, ...]] = []
    for count in (1, 2):
        with Renderer(RenderSettings(browsers=count)) as renderer, ThreadPoolExecutor(count) as threads:
            list(threads.map(renderer.render, pages[:count]))  # starts the browsers
            began = time.perf_counter()
            list(threads.map(renderer.render, pages))
            seconds = (time.perf_counter() - began) / len(pages)
        rows.append((f"rendering alone, browsers: {count}", str(len(pages)), f"{seconds:.2f} s a page"))
    return rows


# What a layout adds


def evidence(data: Path) -> list[tuple[str, ...]]:
    """Word F1 of methods on rendered pages with truth, and what overlays, unseen and covered text amount to."""
    pages = [page for page in rendered_pages(data) if page.rendered]
    off, strict = (CleaningSettings.from_pairs([pair]) for pair in ("page.layout=false", "page.unseen=false"))
    tried = {
        "`page` on the stored HTML": ("page", None),
        "`page` on the rendered page, without its layout": ("page", off),
        "`page` with the layout": ("page", None),
        "`page` with the layout, page.unseen=false": ("page", strict),
        "`visual`": ("visual", None),
        "`none` on the rendered page": ("none", None),
    }
    scores: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    words: Counter[str] = Counter()
    for page in pages:
        stored = Page(parse(page.html, page.url))
        drawn = Page(parse(page.rendered, page.url, content_type=page.content_type, layout=page.layout))
        group = "seen in training" if page.set == "wcxb" else "not seen"
        for name, (method, settings) in tried.items():
            clean = Cleaner.of(method, settings).clean_in(stored if "stored" in name else drawn)
            scores[group, name].append(word_f1(clean.text, page.text))
        _count_unseen(drawn, page.text, words)
    rows = [
        (f"{name}, pages {group}", str(len(found)), "F1 {:.3f}, precision {:.3f}, recall {:.3f}".format(*means(found)))
        for (group, name), found in sorted(scores.items())
    ]
    for kind in ("overlay", "unseen", "covered"):
        found, right = f"{words[kind]:,} words on {words[kind + ' pages']} pages", words[kind + " in truth"]
        says = f"{found}, {right:,} of them in the truth"
        rows.append((f"text found as {kind}", str(len(pages)), says))
    return rows


def _count_unseen(page: Page, truth: str, words: Counter[str]) -> None:
    """Count the words that the browser does not show as part of the page, and those in blocks that the truth has."""
    from webwinnow.judge.visualevidence import unseen_reason

    assert page.visual is not None
    reason = unseen_reason(page.visual)[page.tree.run_owner[page.blocks.first_run[evidence_of(page).said]]]
    wanted = " ".join(truth.split())
    seen = set()
    for block, code in zip(evidence_of(page).said.tolist(), reason.tolist(), strict=True):
        if code:
            kind, text = Reason(code).text.partition(":")[0], " ".join(page.blocks.text(block).split())
            count = len(_WORD.findall(text))
            words[kind] += count
            words[f"{kind} in truth"] += count if count >= 5 and text in wanted else 0
            seen.add(kind)
    words.update(f"{kind} pages" for kind in seen)


def _reach(server: WebServer) -> tuple[str, ...]:
    return ("--allow", f"{server.address}/32", "--resolve", server.route())


def _run(*arguments: str) -> None:
    command = [sys.executable, "-c", "from webwinnow.cli import main; main()", *arguments]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    for line in rendering(Path(os.environ["WEBWINNOW_DATA"])):
        print(" | ".join(line), flush=True)
