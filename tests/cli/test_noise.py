"""Noise kinds where a user meets them: `page --explain`, `page --task search` and `links`."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

URL = "https://www.mill.example/grain/rye/sowing.html"
SHARE = "https://www.facebook.com/sharer.php?u=https%3A%2F%2Fwww.mill.example%2Fgrain%2Frye%2Fsowing.html"
BANNER = """<div class="ad-wrapper ad-leaderboard" id="div-gpt-ad-1"><a href="https://ads.example.net/click?id=7">
<img src="https://ads.example.net/banner/728x90.gif" width="728" height="90" alt="Advertisement"></a></div>"""
PAGE = f"""<!doctype html><title>Sowing rye - The Mill</title><body>
<header><a class="site-logo" href="/"><img class="logo" src="/img/logo.svg" alt="The Mill logo"></a></header>
{BANNER}
<div class="ad-slot" id="google_ads_iframe_2"><iframe src="https://googleads.g.doubleclick.net/pagead/ads" width="300"
height="250"></iframe></div>
<main><article><h1>Sowing rye</h1>
<p class="byline">By <a rel="author" href="/authors/ada">Ada Miller</a>, 3 May 2024</p>
<p>Rye is sown late, when the barley is in and the nights grow cold, and it asks for little: a plain bed, a light
harrow and a farmer who does not mind the rain. The seed goes in at the depth of a thumb.</p>
<p>The millers of the valley have sown it since there was a mill, and the <a href="https://seeds.example.org/rye">old
seed list</a> of the county still names eleven kinds. Ours is the tall one, which bends before the wind.
<a href="{SHARE}">Tell a friend</a> if you have another.</p>
<p>In a wet spring the field is left alone until the ground carries a horse again, and the headlands are drilled last.
What the crows take is sown again by hand in March, which is a children's task and paid in bread.</p></article></main>
<aside class="sponsored ad-box"><p class="ad-label">Sponsored</p><p>Buy the GrindMaster 3000 today and save 40%! Order
now with free shipping. <a href="https://shop.example.net/grindmaster?utm_source=mill">Shop now</a></p></aside>
<footer><p>&copy; 2024 The Mill Ltd. All rights reserved. <a href="/privacy">Privacy policy</a></p></footer>"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [sys.executable, "-m", "webwinnow", *arguments], capture_output=True, check=False, encoding="utf-8"
    )
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "sowing.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_explain_gives_banners_frames_and_logos_without_text_a_kind(page: Path) -> None:
    explained = run("page", page, "--url", URL, "--explain").stderr.splitlines()
    found = {
        text.strip(): about.rpartition("  [")[2].rstrip("]")
        for about, text in pairwise(explained)
        if text.startswith("    <") and about.startswith("- ")
    }
    assert found["<div> Advertisement"] == "advertisement"
    assert found["<div> https://googleads.g.doubleclick.net/pagead/ads"] == "advertisement"
    assert found["<header> The Mill logo"] == "decoration"


def test_search_restores_the_byline_and_no_advertisement(page: Path) -> None:
    plain, search = (run("page", page, "--url", URL, "--task", task).stdout for task in ("content", "search"))
    assert "GrindMaster" not in plain
    assert "Ada Miller" in search
    assert "GrindMaster" not in search


def test_share_buttons_and_banners_are_not_content_in_links(tmp_path: Path) -> None:
    given, out = tmp_path / "pages.jsonl", tmp_path / "links.jsonl"
    # the banner in the middle of the article too, where the cleaner keeps what has no text
    html = PAGE.replace("<p>In a wet spring", BANNER.replace("id=7", "id=8") + "<p>In a wet spring")
    given.write_text(json.dumps({"url": URL, "html": html}) + "\n", encoding="utf-8")
    run("links", given, "-o", out, "--all", "--quiet")
    links = {row["target"]: row for row in map(json.loads, out.read_text("utf-8").splitlines())}
    assert (links["https://seeds.example.org/rye"]["kind"], links["https://seeds.example.org/rye"]["kept"]) == (
        "content",
        True,
    )
    [shared] = [row for target, row in links.items() if "facebook" in target]
    assert (shared["kind"], shared["kept"]) == ("share", False)
    for number in (7, 8):
        banner = links[f"https://ads.example.net/click?id={number}"]
        assert (banner["kind"], banner["kept"]) == ("advertisement", False)
