"""samples/kinds.warc.gz: a page of every kind is cleaned so that its content is kept and its menus are removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from warmcommand import run_command

from webwinnow import open_pages

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "samples" / "kinds.warc.gz"

PAGES = [(page.url, page.body) for page in open_pages([SAMPLE], on_problem=pytest.fail)]
KINDS = {
    "article": ("harbour-courier.example/seals.html", "counted 1,312 grey seals", "We use cookies"),
    "product": ("kiln-and-kettle.example/heron.html", "Capacity | 0.9 litres", "Free delivery"),
    "forum": ("allotment-forum.example/blight.html", "Cut the tops off today", "Who is online"),
    "listing": ("harbour-courier.example/news.html", "A rule on temperatures ends 140 years", "The morning letter"),
    "manual": ("tinbird.example/install.html", "3. Turn the arm with the vane", "Was this page helpful"),
    "table": ("harbour-courier.example/ferries.html", "Adult, return | 17.00 | 21.50", "Most read today"),
    "chinese": ("shancha.example/roast.html", "四斤鲜叶最后只剩一斤干茶", "扫码关注公众号"),
}


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("kinds") / "clean.jsonl"
    run_command("clean", SAMPLE, "-o", out, "--quiet", check=True)
    records = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return {record["url"]: record for record in records}


@pytest.mark.parametrize("kind", KINDS)
def test_content_of_each_kind_is_kept_and_menus_are_removed(kind: str, cleaned: dict[str, Any]) -> None:
    path, content, menu = KINDS[kind]
    record = cleaned[f"http://{path}"]
    assert menu in dict(PAGES)[record["url"]].decode()
    assert record["outcome"] == "kept"
    assert content in record["text"]
    assert menu not in record["text"]


def test_most_of_the_menus_of_the_whole_sample_are_removed(cleaned: dict[str, Any]) -> None:
    assert {record["outcome"] for record in cleaned.values()} == {"kept"}
    kept, words = (sum(record[name] for record in cleaned.values()) for name in ("kept_words", "all_words"))
    assert 0.55 < kept / words < 0.75


def test_the_sample_is_what_its_sources_say() -> None:
    from make_kinds import kinds  # after webwinnow, which silences a warning of fastwarc's import

    assert list(kinds()) == PAGES
