"""Noise kinds where a user meets them: `page --explain`, `page --task search` and `links`."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from warmcommand import command

URL = "https://www.mill.example/grain/rye/sowing.html"
SHARE = "https://www.facebook.com/sharer.php?u=https%3A%2F%2Fwww.mill.example%2Fgrain%2Frye%2Fsowing.html"
BANNER = """<div class="ad-banner banner-ads"><a href="https://ads.example.net/click?id=7"><img width="728" height="90"
src="https://ads.example.net/ads/banner-728x90.gif" alt="Advertisement"></a></div>"""
PAGE = f"""<!doctype html><title>Sowing rye - The Mill</title><body>
<header><a class="site-logo" href="/"><img class="logo" src="/img/logo.svg" alt="The Mill logo"></a></header>
{BANNER.replace("id=7", "id=8").replace('alt="Advertisement"', 'alt="Sponsored"')}
<main><article><h1>Sowing rye</h1>
<p class="byline">By <a rel="author" href="/authors/ada">Ada Miller</a>, 3 May 2024</p>
<p>Rye is sown late, when the barley is in and the nights grow cold, and it asks for little: a plain bed, a light
harrow and a farmer who does not mind the rain. The seed goes in at the depth of a thumb.</p>
<div class="advert ad-container"><ins class="adsbygoogle"></ins></div>
<p>The millers of the valley have sown it since there was a mill, and the <a href="https://seeds.example.org/rye">old
seed list</a> of the county still names eleven kinds. Ours is the tall one, which bends before the wind.
<a href="{SHARE}">Tell a friend</a> if you have another.</p>
{BANNER}
<p>In a wet spring the field is left alone until the ground carries a horse again, and the headlands are drilled last.
What the crows take is sown again by hand in March, which is a children's task and paid in bread.</p></article></main>
<aside class="sponsored ad-box"><p class="ad-label">Sponsored</p><p>Buy the GrindMaster 3000 today and save 40%! Order
now with free shipping. <a href="https://shop.example.net/grindmaster?utm_source=mill">Shop now</a></p></aside>
<footer><p>&copy; 2024 The Mill Ltd. All rights reserved. <a href="/privacy">Privacy policy</a></p></footer>"""


run = partial(command, code=0)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "sowing.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_explain_gives_banners_empty_boxes_and_logos_without_text_a_kind(page: Path) -> None:
    explained = run("page", page, "--url", URL, "--explain").stderr.splitlines()
    found = {
        text.strip(): about.rpartition("  [")[2].rstrip("]")
        for about, text in pairwise(explained)
        if text.startswith("    <")
    }
    assert found == {
        "<header> The Mill logo": "decoration",
        "<div> Sponsored": "advertisement",
        "<div> advert ad-container": "advertisement",
        "<div> Advertisement": "advertisement",
    }


def test_search_restores_the_byline_and_no_advertisement(page: Path) -> None:
    plain, search = (run("page", page, "--url", URL, "--task", task).stdout for task in ("content", "search"))
    assert "GrindMaster" not in plain
    assert "Ada Miller" in search
    assert "GrindMaster" not in search


@pytest.mark.parametrize("method", ["combined", "none"])  # `none` keeps the banners
def test_share_buttons_and_banners_are_not_content_in_links(tmp_path: Path, method: str) -> None:
    given, out = tmp_path / "pages.jsonl", tmp_path / "links.jsonl"
    given.write_text(json.dumps({"url": URL, "html": PAGE}) + "\n", encoding="utf-8")
    run("links", given, "-o", out, "--all", "--quiet", "--method", method)
    links = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    found = {row["target"].split("/")[2]: (row["kind"], row["kept"]) for row in links}
    assert found["seeds.example.org"] == ("content", True)
    assert found["www.facebook.com"] == ("share", False)
    assert found["ads.example.net"] == ("advertisement", False)
