"""Pages in a real browser: what scripts and style sheets make of them."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hostile import PATIENCE
from webserver import Asked, Reply, WebServer

from webwinnow.crawl.browser.capture import PageToRender, RenderedPage, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.frontier import Rules
from webwinnow.page.layout import BORDER, DISPLAYS, ITALIC, OWN_TEXT, POSITIONS, UNDERLINED, VISIBLE, PageLayout
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree

URL = "http://a.test/page"


def script(text: str) -> Reply:
    return Reply(text.encode(), headers=(("Content-Type", "text/javascript"),))


def rendered(pool: Renderer, html: str, **more: object) -> RenderedPage:
    return pool.render(PageToRender(url=URL, body=html.encode(), content_type="text/html; charset=utf-8", **more))


def laid_out(page: RenderedPage) -> tuple[PageTree, PageLayout]:
    tree = parse(page.html, page.url)
    return tree, page.layout.at(tree)


def node_of(tree: PageTree, name: str) -> int:
    return next(node.index for node in tree if node.attributes.get("id") == name)


def test_scripts_style_sheets_and_late_data_are_in_the_page(site: WebServer, renderer: Renderer) -> None:
    site.pages = {
        "/style.css": Reply(
            b"h1 { font-size: 30px; font-weight: 700; color: rgb(255, 0, 0); background: #00f8 }"
            b" .no { display: none } #fixed { position: fixed; top: 0; left: 0; width: 100%; height: 50px }"
            b" #low { margin-top: 3000px; border: 1px solid; font-style: italic; text-decoration: underline }",
            headers=(("Content-Type", "text/css"),),
        ),
        "/app.js": script(
            "fetch('/late.txt').then(r => r.text()).then(text => {"
            " document.body.innerHTML = `<h1 id=title>${text}</h1><p id=hidden class=no>Hidden</p>"
            "<p id=clear style='opacity: 0'>Clear</p><div id=fixed>Bar</div><p id=low>Below</p>`;"
            " const host = document.body.appendChild(document.createElement('x-box'));"
            " host.attachShadow({mode: 'open'}).innerHTML = '<p id=inside>In a shadow</p>'; })"
        ),
        "/late.txt": Reply("Grüße später".encode(), headers=(("Content-Type", "text/plain; charset=utf-8"),)),
    }
    # An application may name the fields of a form as it likes.
    page = rendered(
        renderer,
        "<!doctype html><html lang=de><head><link rel=stylesheet href=/style.css></head><body><form>"
        "<input name=setAttribute><input name=firstChild></form><noscript>Needs <b>scripts</b></noscript>"
        "<script src=/app.js></script></body></html>",
    )
    assert page.settled
    tree, at = laid_out(page)
    assert tree.head.language == "de"
    assert "Grüße später" in tree.text and "In a shadow" in tree.text and "Needs" not in tree.text
    title, low, bar = (node_of(tree, name) for name in ("title", "low", "fixed"))
    assert (at.font_size[title], at.font_weight[title]) == (120, 700)
    assert (at.colour[title], at.background[title]) == (0xFF0000FF, 0x0000FF88)
    assert DISPLAYS[at.display[title]] == "block"
    assert at.flags[title] & (VISIBLE | OWN_TEXT) == VISIBLE | OWN_TEXT
    for name in ("hidden", "clear"):
        assert not at.flags[node_of(tree, name)] & VISIBLE
    assert at.flags[low] & (BORDER | ITALIC | UNDERLINED) == BORDER | ITALIC | UNDERLINED
    assert at.top[low] > 3000 and at.height[low] > 0
    assert POSITIONS[at.position[bar]] == "fixed"
    assert (at.left[bar], at.top[bar], at.width[bar], at.height[bar]) == (0, 0, 1280, 50)
    assert at.width[node_of(tree, "inside")] > 0
    assert page.layout.viewport == (1280, 900)
    assert page.layout.page_size[1] > 3000
    assert set(site.paths[:2]) == {"/style.css", "/app.js"}  # the page itself was not requested again
    assert all(request.address == site.address for request in page.requests if not request.refused)


def test_text_below_an_overlay_is_covered(renderer: Renderer) -> None:
    text = "<p id=%s style='height: 40px'>Some text to read</p>"
    page = rendered(
        renderer,
        "<!doctype html><body style='margin: 0'>"
        + text % "under"
        + text % "beside"
        + "<div style='height: 2500px'></div>"
        + text % "far"
        + "<div id=box style='position: absolute; top: 0; width: 100%; height: 60px; background: #fff'>On top</div>",
    )
    tree, at = laid_out(page)
    covered = {name: int(at.covered[node_of(tree, name)]) for name in ("under", "beside", "far", "box")}
    assert covered == {"under": 100, "beside": 0, "far": 0, "box": 0}


def test_what_loads_when_scrolled_to_is_loaded(site: WebServer, renderer: Renderer) -> None:
    site.pages = {"/more": Reply(b"Late part", headers=(("Content-Type", "text/plain"),))}
    page = rendered(
        renderer,
        "<!doctype html><body><div style='height: 4000px'>Top</div><p id=end></p><script>"
        "new IntersectionObserver(async (seen, watch) => { if (seen[0].isIntersecting) { watch.disconnect();"
        " seen[0].target.textContent = await (await fetch('/more')).text(); } })"
        ".observe(document.getElementById('end'))"
        "</script></body>",
    )
    assert b"Late part" in page.html


def test_links_of_a_page_that_moved_by_script_resolve_where_it_is(renderer: Renderer) -> None:
    page = rendered(
        renderer, "<body><a href=next>Next</a><script>history.pushState({}, '', '/deep/er/')</script></body>"
    )
    (link,) = filter(None, parse(page.html, URL).links().targets())
    assert link == "http://a.test/deep/er/next"


def test_another_document_of_the_origin_is_loaded_if_robots_allow_it(site: WebServer, renderer: Renderer) -> None:
    site.pages = {"/there": "<p>Arrived</p>", "/forbidden": "<p>Secret</p>"}
    go = "<p>Start</p><script>location = '%s'</script>"

    def rules(url: str) -> Rules:
        return Rules.of(200, b"User-agent: *\nDisallow: /forbidden")

    assert b"Arrived" in rendered(renderer, go % "/there", rules=rules).html
    stayed = rendered(renderer, go % "/forbidden", rules=rules)
    assert b"Start" in stayed.html
    assert [request.refused for request in stayed.requests if "forbidden" in request.target] == [
        "robots.txt forbids it"
    ]
    away = rendered(renderer, go % "http://b.test/there")
    assert b"Start" in away.html
    assert [request.refused for request in away.requests] == ["a document of another origin"]
    assert "/forbidden" not in site.paths


def test_pages_share_nothing(renderer: Renderer) -> None:
    html = "<body><script>document.write('before: ' + localStorage.x + document.cookie);"
    html += " localStorage.x = 1; document.cookie = 'c=1'</script></body>"
    assert [b"before: undefined<" in rendered(renderer, html).html for _ in range(2)] == [True, True]


def test_a_browser_is_replaced_after_its_pages(site: WebServer, renderer: Renderer) -> None:
    seen: list[int] = []

    def note(asked: Asked) -> Reply:
        seen.extend(browser.process.pid for browser in renderer._browsers)
        return script("")

    site.pages = {"/note": note}
    renderer.settings = replace(renderer.settings, recycle=1)
    for _ in range(2):
        rendered(renderer, "<p>Hello</p><script src=/note></script>")
    assert len(seen) == len(set(seen)) == 2
    assert not any(Path(f"/proc/{process}").exists() for process in seen)


def test_a_browser_that_crashes_costs_only_its_page(site: WebServer, renderer: Renderer) -> None:
    def crash(asked: Asked) -> str:
        for browser in renderer._browsers:
            os.kill(browser.process.pid, 9)
        return "gone"

    site.pages = {"/crash": crash}
    with pytest.raises(RenderFailed, match="the browser has ended"):
        rendered(renderer, "<p>Hello</p><script src=/crash></script>")
    assert b"Hello again" in rendered(renderer, "<p>Hello again</p>").html


def test_several_browsers_render_at_the_same_time(site: WebServer, renderer: Renderer) -> None:
    """Each page waits for the other's request: one browser would never finish."""
    both = threading.Barrier(2, timeout=PATIENCE)

    def wait(asked: Asked) -> Reply:
        both.wait()
        return script("document.write('<p>Met</p>')")

    site.pages = {"/meet": wait}
    found: list[bytes] = []
    with Renderer(replace(renderer.settings, browsers=2), renderer.guard) as pool:
        html = "<body><script src=/meet></script></body>"
        threads = [threading.Thread(target=lambda: found.append(rendered(pool, html).html)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [b"Met" in html for html in found] == [True, True]


def test_every_element_of_the_body_has_a_row(renderer: Renderer) -> None:
    page = rendered(
        renderer,
        "<body><main><h2>One</h2><ul><li>a<li>b</ul><table><tr><td>c</table></main>"
        "<script>const p = document.body.appendChild(document.createElement('p')); p.innerHTML = 'outer';"
        " p.appendChild(document.createElement('p')).textContent = 'inner'</script></body>",
    )
    tree, _ = laid_out(page)
    rows = page.layout.rows(tree)
    assert (np.diff(rows[rows >= 0]) > 0).all()  # in page order
    assert [node.tag for node in tree if rows[node.index] < 0] == ["#root", "p"]  # the parser's, for the outer </p>
