"""`webwinnow serve`: the service and its web page."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import stoppable
from webwinnow.crawl.guard import AddressGuard
from webwinnow.errors import InputError, MissingExtra
from webwinnow.serve.settings import ServiceSettings, is_loopback

PANEL = "Serve"

TOKEN_VARIABLE = "WEBWINNOW_TOKEN"


def serve(
    folder: Annotated[Path, opt.writing("Folder of jobs, results and models; made if it does not exist.")] = Path(
        "webwinnow-data"
    ),
    host: Annotated[
        str, opt.running("IP address to listen on; beyond this machine a token is required.")
    ] = "127.0.0.1",
    port: Annotated[int, opt.running("Port to listen on.", min=0, max=65_535)] = 8765,
    token_file: Annotated[
        Path | None, opt.running(f"File with the token; by default ${TOKEN_VARIABLE}, or a generated one.")
    ] = None,
    names: Annotated[
        list[str] | None, opt.running("Host name by which clients call the server; repeatable.", "--name")
    ] = None,
    tls: Annotated[
        bool, opt.running("Clients reach the server by https, through a reverse proxy: cookies are sent by https only.")
    ] = False,
    inputs: Annotated[list[Path] | None, opt.reading("Folder whose files jobs may name; repeatable.")] = None,
    upload_bytes: Annotated[
        int, opt.reading("Refuse uploads that are longer than this many bytes.", min=1)
    ] = 4_000_000_000,
    page_bytes: Annotated[
        int, opt.reading("Refuse pages that are longer than this many bytes.", "--max-bytes", min=0)
    ] = 10_000_000,
    stop_words: opt.StopWords = None,
    disk_bytes: Annotated[int, opt.writing("Bytes that the folder may take.", min=1)] = 50_000_000_000,
    page_seconds: Annotated[
        float, opt.running("Seconds to clean a page; one that takes longer fails.", "--page-seconds")
    ] = 20.0,
    queued_jobs: Annotated[int, opt.running("Jobs that may wait; more are refused.", "--queue", min=1)] = 20,
    workers: opt.Jobs = 0,
    fetch: Annotated[bool, opt.crawling("Fetch pages by URL.")] = True,
    no_render: Annotated[bool, opt.crawling("Render no crawled page in a browser.", "--no-render")] = False,
    allow_private: Annotated[bool, opt.of(AddressGuard, "allow_private")] = False,
) -> None:
    """Serve a REST API (/page, /sites, /jobs, /search, /inspect) and a web page to upload crawls to.

    Only this machine reaches it, unless --host is given; then a token is required.

    Examples:

        webwinnow serve
        WEBWINNOW_TOKEN=$(openssl rand -hex 24) webwinnow serve --host 0.0.0.0 --name winnow.example.org
    """
    try:
        from webwinnow.serve.server import serve as run_server  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("the service", "serve") from error

    token = _token(token_file)
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
        sys.stderr.write(f"webwinnow: {host} is reached from other machines: a token is required. It is: {token}\n")
    folders = tuple(path.absolute() for path in inputs or ())
    changed: dict[str, object] = {"folder": folder.absolute(), "inputs": folders, "names": tuple(names or ())}
    changed |= {"stop_list": opt.stop_list(stop_words), "render": not no_render}
    settings = ServiceSettings(**opt.fields_of(ServiceSettings, locals()) | changed)
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host

    def announce(port: int) -> None:
        sys.stderr.write(f"webwinnow: http://{shown}:{port}/ serves {folder}; Ctrl-C stops it\n")

    with stoppable(f"{folder} has jobs, results and models; the same command continues jobs that were not done"):
        run_server(settings, announce)


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read ({error}); expected a file with the token") from None
