"""Rebuild `samples/`: a small crawl of three documentation sites, taken from Debian `-doc` packages.

Run `.venv/bin/python tools/make_sample.py` from the repository root on a Debian system, after `apt-get update`.
The same packages give the same bytes: record ids, dates and the order of the pages are fixed. The bodies of the
pages are the packages' unmodified files; host names and HTTP headers are made up.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import shutil
import subprocess
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
CRAWL_DATE = "2026-11-15T00:00:00Z"
HTTP_DATE = "Sun, 15 Nov 2026 00:00:00 GMT"
HTML_TYPE = "text/html; charset=utf-8"
MAX_PAGE_BYTES = 130_000  # excludes a few giant reference pages, which would be half of the file
GZIP_EVERY = 3  # every third page of a site served compressed, so that readers see both


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One documentation site: its package, the path of its files, and the selection of its pages."""

    name: str
    package: str
    version: str
    root: str
    page_count: int
    within: tuple[str, ...] = ("",)  # path prefixes that the crawl is limited to, besides the start page
    skipped: tuple[str, ...] = ()  # pages excluded by hand
    compressed: bool = False
    single_pages: tuple[str, ...] = ()  # also copied to samples/pages

    def url(self, path: str) -> str:
        """Return the URL that the crawl gives to the file `path`."""
        return f"http://{self.name}.docs.example/{path}"


SITES = (
    Site(
        name="python",
        package="python3.11-doc",
        version="3.11.2-6+deb12u8",
        root="usr/share/doc/python3.11/html",
        page_count=40,
        within=("tutorial/", "howto/", "reference/", "faq/"),
        # pages that redirect the reader to a package index
        skipped=(
            "tutorial/venv.html",
            "tutorial/whatnow.html",
            "howto/curses.html",
            "howto/pyporting.html",
            "faq/general.html",
            "faq/library.html",
        ),
        single_pages=("tutorial/interpreter.html", "howto/sockets.html"),
    ),
    Site(
        name="sqlite",
        package="sqlite3-doc",
        version="3.40.1-2+deb12u2",
        root="usr/share/doc/sqlite3",
        page_count=50,
        skipped=("fileformat.html",),  # byte for byte fileformat2.html
        compressed=True,
        single_pages=("whentouse.html",),
    ),
    Site(
        name="glfw",
        package="libglfw3-doc",
        version="3.3.8-1",
        root="usr/share/doc/libglfw3-dev/html",
        page_count=40,
        single_pages=("context_guide.html",),
    ),
)


class LinkParser(HTMLParser):
    """Collects the `href` of every `<a>`, in page order."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the target if the tag is a link."""
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.hrefs.append(href)


def fetch_package(site: Site, cache: Path) -> Path:
    """Download and unpack the site's package below `cache` if it is missing; return the unpacked folder."""
    unpacked = cache / f"{site.package}_{site.version}"
    if not unpacked.exists():
        subprocess.run(["apt-get", "download", f"{site.package}={site.version}"], cwd=cache, check=True)
        (archive,) = cache.glob(f"{site.package}_{site.version}_*.deb")
        subprocess.run(["dpkg", "-x", archive, unpacked], check=True)
    return unpacked


def linked_paths(site: Site, path: str, body: bytes) -> Iterator[str]:
    """Yield the paths within the site that the page at `path` links to."""
    parser = LinkParser()
    parser.feed(body.decode())
    for href in parser.hrefs:
        target = urldefrag(urljoin(site.url(path), href)).url
        if target.startswith(site.url("")) and target.endswith(".html"):
            yield target.removeprefix(site.url(""))


def crawl(site: Site, root: Path) -> dict[str, bytes]:
    """Return the first `page_count` pages, breadth first from index.html, as path -> bytes."""
    pages: dict[str, bytes] = {}
    queue, seen = deque(["index.html"]), {"index.html", *site.skipped}
    while queue and len(pages) < site.page_count:
        path = queue.popleft()
        if not (root / path).is_file() or (root / path).stat().st_size > MAX_PAGE_BYTES:
            continue
        pages[path] = (root / path).read_bytes()
        for target in linked_paths(site, path, pages[path]):
            if target not in seen and target.startswith(site.within):
                seen.add(target)
                queue.append(target)
    return pages


def http_header(status: str, body: bytes, content_type: str, **more: str) -> bytes:
    """Return the header block of an HTTP response that carries `body`."""
    fields = {"Date": HTTP_DATE, "Content-Type": content_type, "Content-Length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


class CrawlWriter:
    """Writes records to a WARC 1.1 file, one gzip member each."""

    def __init__(self, path: Path) -> None:
        self.stream = path.open("wb")

    def __enter__(self) -> CrawlWriter:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stream.close()

    def info(self, fields: dict[str, str]) -> None:
        """Write the `warcinfo` record that opens the file."""
        text = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        headers = {"Content-Type": "application/warc-fields", "WARC-Filename": Path(self.stream.name).name}
        self._write(WarcRecordType.warcinfo, "warcinfo", headers, text.encode())

    def response(self, url: str, header: bytes, body: bytes) -> None:
        """Write one HTTP response, fetched from `url`."""
        digest = hashlib.sha1(body).digest()
        headers = {"WARC-Target-URI": url, "Content-Type": "application/http; msgtype=response"}
        self._write(WarcRecordType.response, url, headers, header + body, digest)

    def _write(
        self, kind: WarcRecordType, name: str, headers: dict[str, str], block: bytes, digest: bytes | None = None
    ) -> None:
        record = WarcRecord()
        record.init_headers(
            record_type=kind, record_urn=b"uuid:%s" % str(uuid.uuid5(uuid.NAMESPACE_URL, name)).encode()
        )
        for field, value in {"WARC-Date": CRAWL_DATE, **headers}.items():
            record.headers[field] = value
        record.set_bytes_content(block)
        member = GzipWriter(self.stream, compression_level=9)
        record.write(member, checksum_data=True, payload_digest=digest)
        member.finish()


def write_pages(warc: CrawlWriter, site: Site, pages: dict[str, bytes]) -> None:
    """Write the site's pages, some of them compressed if the site is served compressed."""
    for position, (path, page) in enumerate(pages.items()):
        if site.compressed and position % GZIP_EVERY == 0:
            body = gzip.compress(page, mtime=0)
            header = http_header("200 OK", body, HTML_TYPE, Content_Encoding="gzip", Vary="Accept-Encoding")
        else:
            body, header = page, http_header("200 OK", page, HTML_TYPE)
        warc.response(site.url(path), header, body)


def write_other_responses(warc: CrawlWriter, roots: dict[str, Path]) -> None:
    """Write records that are not pages and that readers skip: a style sheet, a missing page, a redirect."""
    python, sqlite, _ = SITES
    style = (roots["sqlite"] / "sqlite.css").read_bytes()
    warc.response(sqlite.url("sqlite.css"), http_header("200 OK", style, "text/css; charset=utf-8"), style)

    missing = b"<!DOCTYPE html>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>There is no such page here.</p>\n"
    warc.response(sqlite.url("no-such-page.html"), http_header("404 Not Found", missing, HTML_TYPE), missing)

    location = python.url("tutorial/index.html")
    moved = f'<!DOCTYPE html>\n<title>301 Moved Permanently</title>\n<p>Moved <a href="{location}">here</a>.</p>\n'
    header = http_header("301 Moved Permanently", moved.encode(), HTML_TYPE, Location=location)
    warc.response(python.url("tutorial"), header, moved.encode())


def main() -> None:
    """Write the WARC file, the single pages and the licence texts."""
    parser = argparse.ArgumentParser(description="Rebuild samples/ from Debian packages.")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/webwinnow-packages"), help="where packages are kept")
    cache = parser.parse_args().cache
    cache.mkdir(parents=True, exist_ok=True)
    for folder in (SAMPLES / "pages", SAMPLES / "licences"):
        folder.mkdir(parents=True, exist_ok=True)

    roots: dict[str, Path] = {}
    with CrawlWriter(SAMPLES / "docs.warc.gz") as warc:
        warc.info(
            {
                "software": "webwinnow tools/make_sample.py",
                "format": "WARC File Format 1.1",
                "description": "Pages of " + ", ".join(f"{site.package} {site.version}" for site in SITES),
            }
        )
        for site in SITES:
            unpacked = fetch_package(site, cache)
            root = roots[site.name] = unpacked / site.root
            pages = crawl(site, root)
            write_pages(warc, site, pages)
            print(f"{site.name}: {len(pages)} pages, {sum(map(len, pages.values())):,} bytes")
            for path in site.single_pages:
                shutil.copyfile(root / path, SAMPLES / "pages" / f"{site.name}-{Path(path).name}")
            notice = unpacked / "usr/share/doc" / site.package / "copyright"
            shutil.copyfile(notice, SAMPLES / "licences" / f"{site.package}.txt")
        write_other_responses(warc, roots)
    print(f"docs.warc.gz: {(SAMPLES / 'docs.warc.gz').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
