"""`webwinnow serve`: the service and its web page."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import stoppable
from webwinnow.errors import InputError, MissingExtra
from webwinnow.serve.settings import LOOPBACK, ServiceSettings, is_loopback

PANEL = "Serve"

TOKEN_VARIABLE = "WEBWINNOW_TOKEN"


@opt.settings_options(ServiceSettings)
def serve(
    context: typer.Context,
    folder: Annotated[Path, opt.writing("Folder of jobs, results and models; made if it does not exist.")] = Path(
        "webwinnow-data"
    ),
    token_file: Annotated[
        Path | None, opt.running(f"File with the token; by default ${TOKEN_VARIABLE}, or a generated one.")
    ] = None,
    stop_words: opt.StopWords = None,
    no_render: Annotated[bool, opt.crawling("Render no crawled page in a browser.", "--no-render")] = False,
    **_: Any,
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

    chosen = opt.Chosen(context, ServiceSettings)
    host = chosen.values.get(ServiceSettings.GROUP, {}).get("host", LOOPBACK)
    token = _token(token_file)
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
        sys.stderr.write(f"webwinnow: {host} is reached from other machines: a token is required. It is: {token}\n")
    settings = chosen.settings(
        ServiceSettings,
        folder=folder.absolute(),
        token=token,
        render=not no_render,
        stop_list=opt.stop_list(stop_words),
    )
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
