"""The commands `crawl`, `page` and `clean` with URLs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from sitepages import pages_of
from typer.testing import CliRunner
from webserver import Asked, Reply, WebServer, redirect

from webwinnow.cli.app import app
from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.run.inputs import open_pages

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")
TEXT = "The old harbour was built in the year {0} by merchants who came from town {0}, and ships still call there. " * 5


def site(asked: Asked) -> str | Reply:
    """A site of thirteen pages below /guide/, with a menu, and with more pages above."""
    name = asked.path.removeprefix("/guide/")
    if asked.path == "/":
        return redirect("/guide/")
    if not asked.path.startswith("/guide/") or not (name.isdigit() or not name):
        return Reply(b"", status=404)
    menu = "".join(f"<li><a href='/guide/{k}'>Part {k}</a>" for k in range(1, 13))
    return (
        f"<!doctype html><title>Part {name}</title><nav><ul>{menu}</ul></nav><main><h1>Part {name}</h1>"
        f"<p>{TEXT.format(name or 'one')}</p><a href='/above'>Up</a></main><footer>All rights reserved</footer>"
    )


def webwinnow(*arguments: str, server: WebServer | None = None) -> Result:
    """Run a command in this process; the crawl itself has its own process."""
    allowed = [] if server is None else ["--allow", "127.0.0.1", "--resolve", server.route()]
    return CliRunner().invoke(app, [*arguments, *allowed])


def test_page_takes_a_url_and_follows_its_redirects() -> None:
    with WebServer(answer=site) as server:
        done = webwinnow("page", "http://a.test/", "--format", "json", server=server)
    record = json.loads(done.stdout)
    assert record["url"] == "http://a.test/guide/"
    assert "old harbour" in record["text"]
    assert server.paths == ["/", "/guide/"]


def test_page_says_why_a_url_could_not_be_fetched() -> None:
    with WebServer(answer=site) as server:
        done = webwinnow("page", f"http://127.0.0.1:{server.port}/")
    assert isinstance(done.exception, InputError)
    assert str(done.exception).endswith("could not be fetched: 127.0.0.1 is a loopback address")
    assert server.log == []


def test_clean_takes_a_url_crawls_learns_and_cleans(tmp_path: Path) -> None:
    out = tmp_path / "guide.jsonl"
    command = ["clean", "http://a.test/guide/", "-o", str(out), "--delay", "0", "--jobs", "1"]
    with WebServer(answer=site) as server:
        done = webwinnow(*command, server=server)
        assert done.exit_code == 0, done.stderr
        asked = len(server.log)
        records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert len(records) == 13
        assert {record["site"] for record in records} == {"a.test"}
        assert all("old harbour" in record["text"] for record in records)
        assert not any("All rights reserved" in record["text"] for record in records)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["guide.jsonl", "guide.jsonl.warc.gz"]

        # Fetched pages are not fetched again.
        done = webwinnow(*command, server=server)
        assert isinstance(done.exception, SettingsError)
        assert "exists" in str(done.exception)
        done = webwinnow(*command, "--resume", server=server)
        assert done.exit_code == 0, done.stderr
        assert len(server.log) == asked


def test_a_crawl_that_stores_nothing_has_its_own_exit_code(tmp_path: Path) -> None:
    with WebServer() as server:
        done = webwinnow("crawl", "http://a.test/", "-o", str(tmp_path / "a.warc"), "--delay", "0", server=server)
    assert done.exit_code == 1
    assert "1 failed: status 404" in done.stderr


@pytest.mark.skipif(not (DATA / "sites-docs.parquet").exists(), reason="WEBWINNOW_DATA has no sites-docs.parquet")
@pytest.mark.parametrize("follow", ["all", pytest.param("kept", marks=pytest.mark.slow)])
def test_real_sites_by_host_name_are_crawled_learned_and_cleaned_by_one_command_each(
    tmp_path: Path, stored_pages: Callable[[Path], Counter[str]], follow: str
) -> None:
    sites = pages_of(DATA / "sites-docs.parquet")
    starts = sorted(sites.starts)[:2]
    warc, models, out = tmp_path / "docs.warc.gz", tmp_path / "models", tmp_path / "docs.jsonl"
    with WebServer(sites.pages) as server:
        wanted = ["--pages", "12", "--delay", "0", "--follow", follow]
        done = webwinnow("crawl", *starts, "-o", str(warc), *wanted, server=server)
        assert done.exit_code == 0, done.stderr
    pages = list(open_pages([warc], on_problem=pytest.fail))
    assert set(stored_pages(warc)) >= {page.url for page in pages}
    assert len(pages) == 24
    assert all(page.body == sites.pages[page.url] for page in pages)
    for command in (["learn", str(warc), "-o", str(models)], ["clean", str(warc), "-o", str(out)]):
        done = webwinnow(*command, "--jobs", "1")
        assert done.exit_code == 0, done.stderr
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 24
    assert len({record["site"] for record in records}) == 2


def test_without_scrapy_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    done = webwinnow("crawl", "http://a.test/", "-o", str(tmp_path / "a.warc"))
    assert isinstance(done.exception, MissingExtra)
    assert "webwinnow[crawl]" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_crawl_takes_listed_pages_and_patterns_of_urls(tmp_path: Path) -> None:
    def listing(asked: Asked) -> str | Reply:
        if asked.path == "/sitemap.xml":
            names = ("news/1", "news/2?print=1", "old/1")
            urls = "".join(f"<url><loc>http://a.test/{name}</loc></url>" for name in names)
            return Reply(f"<urlset>{urls}</urlset>".encode(), headers=(("Content-Type", "application/xml"),))
        return Reply(b"", status=404) if asked.path == "/robots.txt" else f"<!doctype html><title>x</title>{asked.path}"

    out = tmp_path / "listed.warc.gz"
    options = ("--sitemaps", "--allow-url", "/news/", "--deny-url", r"[?&]print=", "--delay", "0")
    with WebServer(answer=listing) as server:
        done = webwinnow("crawl", "http://a.test/", "-o", str(out), *options, server=server)
    assert done.exit_code == 0, done.output
    assert [page.url for page in open_pages([out], on_problem=pytest.fail)] == [
        "http://a.test/",
        "http://a.test/news/1",
    ]
