"""Pages with real style sheets: consent banners, hidden and covered text, columns; from the browser to the output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from warmcommand import run_command
from webserver import Reply, WebServer

from webwinnow import open_pages
from webwinnow.crawl.browser.capture import PageToRender, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import tree_of

STYLE = """
body { margin: 0; font: 16px/1.5 serif }
.bar { background: #024; color: #fff; padding: 10px } .bar a { color: #fff; margin-right: 20px }
.page { display: flex; gap: 60px; max-width: 1100px; margin: 40px auto } .side { width: 220px; font-size: 13px }
main { flex: 1 } h1 { font-size: 34px }
#consent { position: fixed; bottom: 0; left: 0; right: 0; background: #fff; border-top: 2px solid #000; padding: 30px }
.for-readers { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.folded { height: 0; overflow: hidden } .away { position: absolute; left: -9999px } .off { opacity: 0 }
.stack { position: relative } .stack .lid { position: absolute; inset: 0; background: #ccc }
footer { background: #eee; margin-top: 60px; padding: 30px; font-size: 12px; color: #999 }
"""
SCRIPT = """addEventListener('load', () => { const box = document.createElement('div'); box.id = 'consent';
box.innerHTML = '<p>We and our 812 partners store cookies on your device to show and measure advertisements.</p>'
  + '<button>Accept all</button>'; document.body.append(box); });"""
PROSE = "The river rose by two metres in the night, and the lower town was under water by the morning of the third day."


def town_page(name: str) -> str:
    text = "".join(f"<p>{PROSE} This is what {name} saw on day {day}.</p>" for day in range(1, 9))
    return f"""<!doctype html><html lang=en><title>{name}</title><link rel=stylesheet href=/style.css></head><body>
<div class=bar><a href=/oak>Oak</a><a href=/ash>Ash</a><a href=/elm>Elm</a><a href=/map>Map</a></div>
<div class=page><div class=side><p><a href=/oak>What Oak saw of the flood</a></p>
<p><a href=/ash>What Ash saw of it</a></p><p><a href=/elm>What Elm saw of the flood</a></p></div>
<main><h1>The flood as {name} saw it</h1>{text}
<p class=for-readers>For screen readers: the flood chapter of {name} ends with a table of water levels.</p>
<p class=folded>Folded away: {PROSE}</p><p class=away>Away on the left: {PROSE}</p><p class=off>Faded out: {PROSE}</p>
<div class=stack><p>Under a lid: {PROSE}</p><div class=lid></div></div></main></div>
<footer>Copyright of the town of {name}. All rights reserved. Imprint and terms.</footer>
<script src=/consent.js></script></body></html>"""


UNSEEN = {"For screen": "unseen", "Folded away": "unseen", "Away on": "unseen", "Faded out": "unseen"}
OVER = {"We and our": "overlay", "Under a lid": "covered"}


@pytest.fixture
def town(site: WebServer) -> WebServer:
    site.pages = {f"/{name.lower()}": town_page(name) for name in ("Oak", "Ash", "Elm")}
    site.pages["/style.css"] = Reply(STYLE.encode(), headers=(("Content-Type", "text/css"),))
    site.pages["/consent.js"] = Reply(SCRIPT.encode(), headers=(("Content-Type", "text/javascript"),))
    return site


def test_each_kind_of_unseen_text_is_recognised(town: WebServer, renderer: Renderer) -> None:
    found = renderer.render(PageToRender(url="http://a.test/oak", body=town_page("Oak").encode()))
    tree = parse(found.html, "http://a.test/oak", layout=found.layout.to_bytes())
    for method in ("page", "visual"):
        clean = clean_page(tree, method, settings=CleaningSettings.from_pairs(["page.unseen=false"]))
        why = {decision.text: decision.reason.partition(":")[0] for decision in clean.decisions()}
        for begins, reason in (UNSEEN | OVER).items():
            assert {why[text] for text in why if text.startswith(begins)} == {reason}, (method, begins)
        assert clean.text.count(PROSE) == 8, method
        assert clean.text.startswith("The flood as Oak saw it"), method
        assert not any(word in clean.text for word in ("Elm saw", "Copyright", "Accept all")), method


def test_a_rendered_crawl_is_cleaned_with_its_layout(town: WebServer, tmp_path: Path) -> None:
    crawl, out, rejected = tmp_path / "crawl.warc.gz", tmp_path / "out.jsonl", tmp_path / "rejected.jsonl"
    reach = ("--allow", f"{town.address}/32", "--resolve", town.route(), "--delay", "0")
    done = run_command(
        "crawl", "http://a.test/oak", "-o", str(crawl), "--render", "--screenshots", *reach, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert all(page.layout is not None for page in open_pages([crawl], on_problem=pytest.fail))
    for method, setting in (("combined", ("--set", "page.unseen=false")), ("visual", ())):
        done = run_command(
            *("clean", str(crawl), "-o", str(out), "--rejected", str(rejected), "--method", method, "--jobs", "1"),
            *setting,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        records = [json.loads(line) for line in out.read_text().splitlines()]
        assert [record["text"].count(PROSE) for record in records] == [8, 8, 8]
        gone = [json.loads(line) for line in rejected.read_text().splitlines()]
        reasons = {line["reason"].partition(":")[0] for line in gone if line["text"].startswith("We and our")}
        assert reasons == {"overlay"}, method
    (first, *_) = open_pages([crawl], on_problem=pytest.fail)
    layout = tree_of(first).layout
    assert layout is not None and layout.picture.startswith(b"RIFF")
    report = tmp_path / "report.html"
    done = run_command("inspect", str(crawl), "-o", str(report), "--jobs", "1", capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "img-src blob:" in report.read_text()
    assert report.stat().st_size > 3 * len(layout.picture)


def test_a_huge_canvas_and_a_huge_page_are_rendered_or_fail_alone(renderer: Renderer) -> None:
    huge = """<canvas id=c width=30000 height=30000></canvas><div style="height:9000000px;width:9000000px">Tall</div>
    <script>for (let k = 0; k < 40; k++) { const c = document.createElement('canvas'); c.width = c.height = 16000;
    c.getContext('2d').fillRect(0, 0, 9, 9); document.body.append(c); }</script><p>Last</p>"""
    try:
        found = renderer.render(PageToRender(url="http://a.test/", body=huge.encode()))
        assert b"Last" in found.html
    except RenderFailed as failure:
        assert "memory" in str(failure) or "busy" in str(failure)
    assert b"Next" in renderer.render(PageToRender(url="http://a.test/", body=b"<p>Next")).html
