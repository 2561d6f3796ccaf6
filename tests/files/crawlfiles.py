"""Small crawls that tests write: pages of generated sites, and JSONL files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def generated_page(site: str, number: int) -> dict[str, str]:
    """A page with its site's menu and footer around a unique text."""
    menu = "".join(f"<li><a href='/s{k}'>{site} section {k}</a>" for k in range(6))
    story = " ".join(f"word{number * 7 + k} of story {number}" for k in range(40))
    html = (
        f"<!doctype html><title>Page {number} of {site}</title><body><ul class=menu>{menu}</ul>"
        f"<main><h1>Story {number}</h1><p>{story}</p></main><footer>About {site}</footer>"
    )
    return {"url": f"http://{site}/p/{number}", "page_id": f"{site}/{number}", "html": html}


def generated_pages(site: str, count: int) -> list[dict[str, str]]:
    return [generated_page(site, number) for number in range(count)]


def jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write one object per line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
