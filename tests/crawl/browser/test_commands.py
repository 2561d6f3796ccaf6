"""`page`, `crawl` and `clean` with --render, on a site whose pages are drawn by a script."""

from __future__ import annotations

import json
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from warmcommand import command, run_command
from webserver import Asked, Reply, WebServer

from webwinnow import open_pages
from webwinnow.page.layout import PageLayout
from webwinnow.page.parsing import parse

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator

SHELL = """<!doctype html><html lang=en><head><title>App</title></head><body><div id=root>Loading</div>
<noscript>This page needs scripts.</noscript><script src=/app.js></script></body></html>"""
APP = """fetch('/forbidden').catch(() => {});
fetch('/texts' + location.pathname).then(found => found.json()).then(page => {
  document.title = page.title;
  document.getElementById('root').innerHTML = '<nav>' + page.links.map(to => `<a href="${to}">${to}</a>`).join(' ')
    + `</nav><main><h1>${page.title}</h1>` + page.texts.map(text => `<p>${text}</p>`).join('') + '</main>';
});"""
TEXTS = {
    f"/{name}": [
        f"The {name or 'start'} page says in its {place} paragraph what its HTML does not have, as a script writes it."
        for place in ("first", "second", "third")
    ]
    for name in ("", "oak", "ash", "elm")
}
STATIC = (
    "<!doctype html><title>Static</title><script></script><main>" + "<p>Plain HTML shows all of this text.</p>" * 20
)


def answer(asked: Asked) -> str | Reply:
    path = asked.path
    if path == "/app.js":
        return Reply(APP.encode(), headers=(("Content-Type", "text/javascript"),))
    if path.startswith("/texts/"):
        name = path.removeprefix("/texts")
        page = {"title": f"Page {name}", "texts": TEXTS[name], "links": [*TEXTS, "/static"]}
        return Reply(json.dumps(page).encode(), headers=(("Content-Type", "application/json"),))
    if path == "/robots.txt":
        return Reply(b"User-agent: *\nDisallow: /forbidden", headers=(("Content-Type", "text/plain"),))
    if path in TEXTS:
        return SHELL
    return STATIC if path == "/static" else Reply(b"", status=404)


@pytest.fixture
def app(site: WebServer) -> Iterator[WebServer]:
    site.answer = answer
    yield site
    site.answer = None


def webwinnow(app: WebServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    reach = ("--allow", f"{app.address}/32", "--resolve", app.route())
    return command(*arguments, *reach, code=0)


def text_of(path: Path) -> str:
    pages = open_pages([path], on_problem=pytest.fail)
    return " ".join(parse(page.body, page.url, content_type=page.content_type).text for page in pages)


def found_in(text: str) -> float:
    """The share of the site's paragraphs in a text."""
    paragraphs = [text for texts in TEXTS.values() for text in texts]
    return sum(paragraph in text for paragraph in paragraphs) / len(paragraphs)


def test_a_crawl_with_auto_finds_pages_and_texts_that_scripts_make(app: WebServer, tmp_path: Path) -> None:
    plain, full = tmp_path / "plain.warc.gz", tmp_path / "full.warc.gz"
    webwinnow(app, "crawl", "http://a.test/", "-o", str(plain), "--delay", "0")
    done = webwinnow(app, "crawl", "http://a.test/", "-o", str(full), "--delay", "0", "--render=auto")
    assert (found_in(text_of(plain)), found_in(text_of(full))) == (0.0, 1.0)
    assert "4 stored pages rendered" in done.stderr  # not the static one
    assert "/app.js" in app.paths and "/forbidden" not in app.paths

    with full.open("rb") as file:
        records = [
            (str(record.record_type).rpartition(".")[2], dict(record.headers)) for record in ArchiveIterator(file)
        ]
    kinds = Counter(kind for kind, _ in records)
    assert kinds == {"warcinfo": 1, "response": 5, "request": 5, "conversion": 4, "metadata": 4}
    numbers = {about["WARC-Record-ID"] for kind, about in records if kind == "response"}
    referred = Counter(about["WARC-Refers-To"] for kind, about in records if kind in {"conversion", "metadata"})
    assert set(referred) < numbers and set(referred.values()) == {2}

    pages = list(open_pages([full], on_problem=pytest.fail))
    assert Counter(page.url for page in pages).most_common(1)[0][1] == 1  # each page once
    for page in pages:
        assert (page.layout is None) == (page.url == "http://a.test/static")
        if page.layout is not None:
            tree = parse(page.body, page.url, content_type=page.content_type)
            at = PageLayout.from_bytes(page.layout).at(tree)
            heading = next(node.index for node in tree if node.tag == "h1")
            assert at.font_size[heading] == 128 and at.width[heading] > 1000


def test_a_resumed_crawl_renders_nothing_twice(app: WebServer, tmp_path: Path) -> None:
    out = tmp_path / "app.warc.gz"
    fetched = ("crawl", "-o", str(out), "--delay", "0", "--render=auto", "--strategy", "breadth", "--log")
    webwinnow(app, *fetched, str(tmp_path / "1"), "http://a.test/", "--state", str(tmp_path), "--pages", "2")
    before = Counter(app.paths)
    webwinnow(app, *fetched, str(tmp_path / "2"), "--state", str(tmp_path), "--pages", "9", "--resume")
    assert found_in(text_of(out)) == 1.0
    asked = Counter(app.paths)
    assert all(asked[path] == 1 for path in asked if path.startswith("/texts/"))
    assert sum(before[path] for path in before if path.startswith("/texts/")) == 2
    fates = [json.loads(line) for line in (tmp_path / "2").read_text().splitlines()]
    assert {line["reason"] for line in fates if line["url"] != "http://a.test/static"} == {"rendered"}


def test_clean_and_page_render_a_url(app: WebServer, tmp_path: Path) -> None:
    out = tmp_path / "clean.jsonl"
    webwinnow(
        app, "clean", "http://a.test/", "-o", str(out), "--delay", "0", "--render=auto", "--jobs", "1", "--screenshots"
    )
    (warc,) = tmp_path.glob("*.warc.gz")
    pictured = [page for page in open_pages([warc], on_problem=pytest.fail) if page.layout is not None]
    assert all(PageLayout.from_bytes(page.layout or b"").picture for page in pictured) and pictured
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert found_in(" ".join(record["text"] or "" for record in records)) == 1.0
    assert Counter(record["url"] for record in records).most_common(1)[0][1] == 1
    shown = webwinnow(app, "page", "http://a.test/oak", "--render").stdout
    assert all(text in shown for text in TEXTS["/oak"])
    assert "ww-box" not in webwinnow(app, "page", "http://a.test/oak", "--render", "--format", "html").stdout


ROUTED = """<!doctype html><title>App</title><div id=root></div><script>
root.innerHTML = '<main><p>' + `The route is [${location.hash}], and this text is long. `.repeat(9) + '</p>'
  + ['#/', '#/one', '#!/two', '#three', '#!'].map(to => `<a href="${to}">${to}</a>`).join(' ') + '</main>'</script>"""


def test_routes_of_a_client_rendered_site_are_pages(app: WebServer, tmp_path: Path) -> None:
    pages = {"/app": Reply(status=302, headers=(("Location", "/"),)), "/": ROUTED}
    app.answer = lambda asked: pages.get(asked.path, Reply(b"", status=404))
    out = tmp_path / "routes.warc.gz"
    webwinnow(app, "crawl", "http://a.test/", "-o", str(out), "--delay", "0", "--render=auto")
    found = {page.url: page.body for page in open_pages([out], on_problem=pytest.fail)}
    assert sorted(found) == ["http://a.test/", "http://a.test/#!/two", "http://a.test/#/one"]
    for url, body in found.items():
        assert f"The route is [{url.removeprefix('http://a.test/')}]".encode() in body
    assert "The route is [#/two]" in webwinnow(app, "page", "http://a.test/app#/two", "--render").stdout


def test_page_renders_a_file(app: WebServer, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(
        "<body><script>document.body.innerHTML = '<p>' + 'Written by a script, not by hand. '.repeat(9)</script>"
    )
    assert "Written by a script" in webwinnow(app, "page", str(file), "--render").stdout
    assert "Written by a script" in webwinnow(app, "page", "--render=auto", str(file)).stdout


def test_a_page_that_cannot_be_rendered_is_stored_as_fetched(app: WebServer, tmp_path: Path) -> None:
    out, log = tmp_path / "app.warc.gz", tmp_path / "log.jsonl"
    app.answer = lambda asked: "<p>Some text</p><script>document.body.remove()</script>"
    done = webwinnow(app, "crawl", "http://a.test/", "-o", str(out), "--no-robots", "--render", "--log", str(log))
    assert "1 stored pages not rendered: it has no body" in done.stderr
    (page,) = open_pages([out], on_problem=pytest.fail)
    assert b"Some text" in page.body and page.layout is None


def test_limits_of_rendering_are_options(app: WebServer, tmp_path: Path) -> None:
    out = tmp_path / "app.warc.gz"
    limited = ("--render-set", "max_requests=1", "--render-set", "width=640", "--pages", "1")
    webwinnow(app, "crawl", "http://a.test/oak", "-o", str(out), "--delay", "0", "--render", *limited)
    (page,) = open_pages([out], on_problem=pytest.fail)
    assert page.layout is not None and PageLayout.from_bytes(page.layout).viewport == (640, 900)
    assert not [path for path in app.paths if path.startswith("/texts/")]  # one request too many
    file = tmp_path / "page.html"
    file.write_text("<p>Some text")
    for given, problem in {
        ("--render-set", "width=9"): "has no effect without --render",
        ("--render", "--render-set", "width=wide"): "expected 1 or more",
        ("--render", "--render-set", "colour=red"): "there is no setting 'colour'; there are: load_seconds",
    }.items():
        done = run_command("page", str(file), *given, capture_output=True, text=True)
        assert done.returncode == 2 and problem in done.stderr


def test_render_without_a_url_is_an_error(tmp_path: Path) -> None:
    done = run_command("clean", "x.html", "-o", str(tmp_path / "o.jsonl"), "--render", capture_output=True, text=True)
    assert done.returncode == 2
    assert "--render has no effect without a URL to crawl" in done.stderr
