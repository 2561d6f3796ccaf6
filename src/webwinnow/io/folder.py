"""A folder tree of pages and crawl files, in an order that does not depend on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from webwinnow.errors import InputError
from webwinnow.io.sniff import HEAD_BYTES, content_named, is_html_document
from webwinnow.io.streams import ProblemListener

__all__ = ["check_folder", "relative_url", "walk"]


def walk(folder: Path, on_problem: ProblemListener) -> Iterator[Path]:
    """Yield the files under `folder` that hold pages: by their names, or HTML documents under any name.

    Entries come sorted by name, folders among them. What begins with a dot is passed over. Links are followed, but
    each folder is entered once, so that a loop of links ends; a link to nothing is passed over.
    """
    entered: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            if path.is_dir():
                status = path.stat()
                if (status.st_dev, status.st_ino) not in entered:
                    entered.add((status.st_dev, status.st_ino))
                    names = sorted(name for name in os.listdir(path) if not name.startswith("."))  # noqa: PTH208
                    waiting.extend(path / name for name in reversed(names))
            elif path.is_file() and _holds_pages(path):
                yield path
        except OSError as error:
            on_problem(f"{path}: cannot be read ({error.strerror})")


def check_folder(folder: Path) -> None:
    """Raise `InputError` where `walk` finds nothing in a folder."""
    if next(walk(folder, lambda _problem: None), None) is None:
        raise InputError(
            f"{folder}: no pages in this folder; expected .html, .warc(.gz), .wacz, .jsonl(.gz, .zst) or .parquet files"
        )


def relative_url(path: Path, folder: Path) -> str:
    """Give a page of a folder its URL: the path below the folder, the same wherever the folder lies."""
    return os.fsencode(path.relative_to(folder).as_posix()).decode("utf-8", "replace")


def _holds_pages(path: Path) -> bool:
    if content_named(path.name) is not None:
        return True
    with path.open("rb") as file:
        return is_html_document(file.read(HEAD_BYTES))
