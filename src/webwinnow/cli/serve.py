"""`webwinnow serve`: the service and its web page."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.errors import InputError, MissingExtra
from webwinnow.service.settings import ServiceSettings, is_loopback

__all__ = ["serve"]

TOKEN_VARIABLE = "WEBWINNOW_TOKEN"


def serve(
    folder: Annotated[Path, typer.Option(help="Where jobs, results and models live; made if it is not there.")] = Path(
        "webwinnow-data"
    ),
    host: Annotated[
        str, typer.Option(help="The address to listen on. Beyond this machine (0.0.0.0) a token is required.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on.")] = 8765,
    token_file: Annotated[
        Path | None,
        typer.Option(help=f"A file with the token; else ${TOKEN_VARIABLE}; else one is made up where one is required."),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option(help="A host name by which the server is called; may be given again.")
    ] = None,
    inputs: Annotated[
        list[Path] | None,
        typer.Option(help="A folder out of which jobs may name files on this machine; may be given again."),
    ] = None,
    fetch: Annotated[bool, typer.Option(help="Fetch pages by URL (through the crawler's guard).")] = True,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from private and loopback addresses too.")
    ] = False,
    page_bytes: Annotated[int, typer.Option(min=1, help="The longest page.")] = 10_000_000,
    upload_bytes: Annotated[int, typer.Option(min=1, help="The longest crawl file.")] = 4_000_000_000,
    disk_bytes: Annotated[int, typer.Option(min=1, help="What the folder may hold.")] = 50_000_000_000,
    page_seconds: Annotated[float, typer.Option(help="A page that takes longer fails.")] = 20.0,
    queue: Annotated[int, typer.Option(min=1, help="Jobs that may wait; more are refused.")] = 20,
    workers: Annotated[int, typer.Option(min=0, help="Worker processes; 0 for one a core.")] = 0,
) -> None:
    """Serve REST (/page, /sites, /jobs, /search, /inspect) and a web page to drop crawls on.

    Examples:

        webwinnow serve

        WEBWINNOW_TOKEN=$(openssl rand -hex 24) webwinnow serve --host 0.0.0.0 --name winnow.example.org
    """
    try:
        from webwinnow.service.server import serve as run_server  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("the service", "serve") from error

    token = _token(token_file)
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
        sys.stderr.write(f"webwinnow: {host} is reached from other machines: a token is required. It is: {token}\n")
    settings = ServiceSettings(
        folder=folder.absolute(),
        host=host,
        port=port,
        token=token,
        names=tuple(name or ()),
        inputs=tuple(path.absolute() for path in inputs or ()),
        fetch=fetch,
        allow_private=allow_private,
        page_bytes=page_bytes,
        upload_bytes=upload_bytes,
        disk_bytes=disk_bytes,
        page_seconds=page_seconds,
        queued_jobs=queue,
        workers=workers,
    )
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host

    def announce(port: int) -> None:
        sys.stderr.write(f"webwinnow: http://{shown}:{port}/ serves {folder}; Ctrl-C stops it\n")

    run_server(settings, announce)


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; expected a file with the token") from None
