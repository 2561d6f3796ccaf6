"""The report in a real browser: hostile pages, dials, keyboard, phone."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from drawnpages import drawn_page

from webwinnow import plugins
from webwinnow.inspect.inspector import MOST_BYTES, ReportSettings, report_html, write_report
from webwinnow.inspect.sitereport import SiteReport
from webwinnow.judge.kinds import KIND_CODE
from webwinnow.methods.method_sst import SstSettings
from webwinnow.methods.registry import CleaningSettings, Method, method_named
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import learn

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")

KEPT = "document.querySelector('[data-pane=\"{}\"] .counts strong').textContent"
FRAME = "document.querySelectorAll('.pane iframe')[{}].contentDocument"
MARKED = "[...{}.querySelectorAll('.r{}')].map(span => span.textContent)"
GONE = ":not([data-k=kept]):not([data-k=hidden])"
"""Removed, whatever the kind."""
POLLS = 6_000
"""Looks at something that a busy machine may do late, 20 ms apart."""


def marked(tab, pane, state):
    which = GONE if state == "removed" else f'[data-k="{state}"]'
    return tab.evaluate(MARKED.format(FRAME.format(pane), which))


def kept_words(tab, pane):
    return int(tab.evaluate(KEPT.format(pane)).split(" of ")[0].replace(",", ""))


def turn(tab, dial, value):
    tab.evaluate(
        "([id, value]) => { const dial = document.getElementById(id); dial.value = value; "
        "dial.dispatchEvent(new Event('input', {bubbles: true})) }",
        [dial, value],
    )
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until(tab, expression):
    """Wait for a condition, polled from outside because the report's policy forbids evaluation inside."""
    for _ in range(POLLS):
        if tab.evaluate(expression):
            return
        tab.wait_for_timeout(20)
    raise AssertionError(f"never came true: {expression}")


def held(tab, pane):
    return tab.evaluate(f"[...{FRAME.format(pane)}.querySelectorAll('.r.held')].map(span => span.textContent)")


# Hostile pages


@pytest.fixture
def lure() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and the requested paths."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def hostile(lure: str, page: str) -> str:
    run = "window.ran=1;parent.ran=1;top.ran=1"
    return page.replace(
        "<div class=main>",
        f"""<div class=main><script>{run}</script><img src="{lure}/img" onerror="{run}"><img src=x onerror="{run}">
        <img srcset="{lure}/srcset 2x" src="{lure}/img2" alt='"><script>{run}</script>'>
        <svg onload="{run}"><script>{run}</script><image href="{lure}/svg"/></svg>
        <style>@import url({lure}/import); body {{ background: url({lure}/css) }}</style>
        <link rel=stylesheet href="{lure}/sheet"><link rel=preload as=image href="{lure}/preload">
        <meta http-equiv=refresh content="0;url={lure}/refresh"><base href="{lure}/base/">
        <iframe src="{lure}/frame" srcdoc="<script>{run}</script>"></iframe><object data="{lure}/object"></object>
        <embed src="{lure}/embed"><video src="{lure}/video" poster="{lure}/poster" autoplay></video>
        <form action="{lure}/form"><input autofocus onfocus="{run}"><button>send</button></form>
        <div style="background-image:url({lure}/style)" onmouseover="{run}" onclick="{run}" id=ran
        name=ran>hover me</div>
        <a href="javascript:{run}">a link that runs</a> <a href="{lure}/link" ping="{lure}/ping">a link that leaves</a>
        <p>&lt;script&gt;{run}&lt;/script&gt; &lt;/script&gt;&lt;img src={lure}/text onerror="{run}"&gt;
        \u2028 {{{{script}}}}</p>
        <x-evil onclick="{run}">custom</x-evil><template><script>{run}</script></template>
        <noscript><img src="{lure}/noscript"></noscript>
        <math><mtext><img src="{lure}/math" onerror="{run}"></mtext></math>""",
    ).replace(
        "<title>",
        f"<title>&lt;/title&gt;&lt;img src={lure}/title onerror='{run}'&gt;&lt;/script&gt;&lt;script&gt;{run}",
    )


@pytest.fixture
def hostile_report(tmp_path, page, lure):
    trees = [
        parse(hostile(lure[0], page(number)), url=f"http://x.example/{number}?</script><img src={lure[0]}/url>")
        for number in range(4)
    ]
    path = tmp_path / "hostile.html"
    site = SiteReport.of(learn(trees, f"</title><img src={lure[0]}/site>"), trees)
    path.write_text(report_html([site]), encoding="utf-8")
    return path


def test_nothing_of_a_hostile_page_runs_and_nothing_is_asked_for(hostile_report, opened, lure):
    tab = opened(hostile_report)
    assert any("a link that runs" in text for text in marked(tab, 0, "kept") + marked(tab, 0, "removed"))
    box = tab.locator("#view-a").bounding_box()
    for y in range(20, 380, 12):  # over everything, and click it
        tab.mouse.move(box["x"] + 60, box["y"] + y)
        tab.mouse.click(box["x"] + 60, box["y"] + y)
    for key in "jjjjdrnpt":
        tab.keyboard.press(key)
    tab.wait_for_selector(".tree-item")
    tab.keyboard.press("t")
    tab.wait_for_timeout(300)
    windows = "[window, ...[...document.querySelectorAll('iframe')].map(frame => frame.contentWindow)]"
    assert tab.evaluate(f"{windows}.map(one => one.ran ?? null)") == [None, None, None]
    assert (
        tab.evaluate(f"{FRAME.format(0)}.querySelectorAll('script, img, iframe, a, form, input, style + style').length")
        == 0
    )
    assert opened.requests == [hostile_report.as_uri()]  # the report itself, and no other
    assert lure[1] == []
    assert tab.url == hostile_report.as_uri()


def test_even_what_got_into_the_frame_would_not_run_or_load(hostile_report, opened, lure):
    """The sandbox and the policy are effective: an injected script and image do nothing."""
    tab = opened(hostile_report)
    tab.evaluate(
        f"""(lure) => {{ const inside = {FRAME.format(0)};
        inside.body.insertAdjacentHTML("beforeend", `<img src="${{lure}}/put" onerror="parent.ran=1">
          <div style="background:url(${{lure}}/style)">x</div><svg onload="parent.ran=1"></svg>`);
        const script = inside.createElement("script"); script.textContent = "parent.ran = 1";
        inside.body.append(script);
        const image = new Image(); image.src = lure + "/outside"; document.body.append(image);
        const inline = document.createElement("script"); inline.textContent = "window.ran = 1";
        document.body.append(inline);
        }}""",
        lure[0],
    )
    tab.wait_for_timeout(500)
    for _ in range(POLLS):  # the browser says that it refused
        if opened.complaints:
            break
        tab.wait_for_timeout(20)
    assert opened.complaints
    assert tab.evaluate("window.ran === undefined")
    assert lure[1] == []
    assert all("Content Security Policy" in said or "sandboxed" in said for said in opened.complaints), (
        opened.complaints
    )
    opened.complaints.clear()


def test_the_frames_may_run_nothing(report, opened):
    tab = opened(report)
    assert (
        tab.eval_on_selector_all("iframe", "frames => frames.map(frame => frame.sandbox.value)")
        == ["allow-same-origin"] * 2
    )


# Views and dials


def test_the_slider_changes_what_is_marked_as_the_command_line_would(report, opened, model, trees):
    tab = opened(report)
    for step in (0, 700, 900, 1000):
        turn(tab, "dial-b", step)
        settings = CleaningSettings(sst=SstSettings(threshold=step / 1000))
        expected = clean_page(trees[0], "sst", model, settings)
        assert kept_words(tab, 1) == expected.kept_words
        said = " ".join("".join(marked(tab, 1, "kept")).split())
        assert len(said.split()) <= expected.kept_words + 20
        assert (expected.kept_words == 0) == (said == "")
        assert tab.text_content("[data-pane='1'] .line code").endswith(
            f"--method sst --set sst.threshold={step / 1000:g}"
        )
    assert kept_words(tab, 0) == clean_page(trees[0], "combined", model).kept_words  # the other side does not change


def test_own_puts_the_dial_back(report, opened, model, trees):
    tab = opened(report)
    before = kept_words(tab, 1)
    turn(tab, "dial-b", 1000)
    assert kept_words(tab, 1) == 0
    tab.click("[data-pane='1'] .dial button:has-text('own')")
    until(tab, f"{KEPT.format(1)}.startsWith('{before} of')")
    assert "sst.threshold" not in tab.text_content("[data-pane='1'] .line code")


def test_a_cut_that_no_option_sets_names_the_nearest_option(report, opened):
    tab = opened(report)
    turn(tab, "dial-a", 1000)
    assert kept_words(tab, 0) == 0
    assert "--method combined" in tab.text_content("[data-pane='0'] .line code")
    assert "No option sets one cut" in tab.text_content("[data-pane='0'] .nearest")
    tab.click("[data-pane='0'] .dial button:has-text('recall')")
    until(tab, "document.querySelector('[data-pane=\"0\"] .line code').textContent.endsWith('--favor recall')")


def test_a_dial_turned_on_one_page_holds_on_the_next(report, opened, model, trees):
    tab = opened(report)
    turn(tab, "dial-b", 1000)
    tab.keyboard.press("n")
    until(tab, "document.querySelectorAll('.entry')[1].getAttribute('aria-current') === 'true'")
    assert kept_words(tab, 1) == 0


def test_two_methods_are_side_by_side_and_the_same_block_is_selected_in_both(report, opened):
    tab = opened(report)
    tab.select_option("[data-pane='1'] select", "none")
    assert marked(tab, 0, "removed")
    assert marked(tab, 1, "removed") == []
    assert "differ on" in tab.text_content("#differ")
    tab.click("#differ button")
    assert held(tab, 0) == held(tab, 1) != []
    judged = tab.eval_on_selector_all(".judged .swatch", "found => found.map(s => s.textContent)")
    assert "Kept" in judged
    assert len(set(judged)) == 2


def test_a_single_method_may_be_shown(report, opened):
    tab = opened(report)
    tab.select_option("[data-pane='1'] select", "")
    assert not tab.is_visible("[data-pane='1']")
    tab.keyboard.press("j")
    assert tab.locator(".judged").count() == 1


def test_pointing_at_a_block_shows_score_reason_share_and_xpath(report, opened):
    tab = opened(report)
    tab.evaluate("document.getElementById('view-a').scrollTop = 0")  # it opens at the content, below the menu
    where = tab.evaluate(
        f"(() => {{ const box = document.querySelector('#view-a iframe').getBoundingClientRect();"
        f"const span = [...{FRAME.format(0)}.querySelectorAll('.r')].find(s => s.textContent === 'About us');"
        "const at = span.getBoundingClientRect(); return [box.left + at.left + 5, box.top + at.top + 5] })()"
    )
    tab.mouse.move(*where)
    said = tab.text_content("#detail")
    for part in (
        "About us",
        "/html/body/div[1]/ul[1]/li[3]",
        "on 12 of 12 pages (100 %)",
        "repeated: ",
        "noisy: ",
        "score 0.0",
    ):
        assert part in said
    tab.mouse.move(2, 2)
    assert "About us" not in tab.text_content("#detail")


def test_a_page_opens_at_its_content(report, opened):
    tab = opened(report)
    place = "(span => span.getBoundingClientRect().top - document.getElementById('view-a').scrollTop)"
    menu, heading = (
        tab.evaluate(f"{place}({FRAME.format(0)}.querySelector('{one}'))") for one in (".menu .r", "h1 .r")
    )
    assert menu < 0 <= heading < 60
    tab.keyboard.press("n")
    until(tab, "document.querySelectorAll('.entry')[1].getAttribute('aria-current') === 'true'")
    assert tab.evaluate(f"{place}({FRAME.format(1)}.querySelector('.menu .r'))") < 0


def test_words_are_whole_in_tables(tmp_path, opened):
    cells = "".join(f"<tr><td>article {k}<td>{'winnowing of pages ' * 6}" for k in range(4))
    tree = parse(
        f"<h1>Two columns</h1><p>{'Some text before the table. ' * 9}<table>{cells}</table>", "http://a.example/"
    )
    path = tmp_path / "report.html"
    path.write_text(report_html([SiteReport.of(learn([tree], "a.example"), [tree], ("none",))], ("none",)))
    tab = opened(path, width=390, height=844)
    lines = f"""(() => {{ const cell = {FRAME.format(0)}.querySelector("td .r");
      const range = cell.ownerDocument.createRange(), text = cell.firstChild;
      range.setStart(text, 0); range.setEnd(text, "article".length);
      return range.getClientRects().length; }})()"""
    assert tab.evaluate(lines) == 1  # the word is on one line


def test_most_of_the_window_is_the_page(report, opened):
    tab = opened(report, width=1280, height=900)
    assert tab.evaluate("document.getElementById('view-a').clientHeight") > 0.55 * 900
    assert not tab.is_visible(".chip")


def test_on_a_phone_the_page_comes_first(report, opened):
    tab = opened(report, width=390, height=844)
    top = "document.querySelector('{}').getBoundingClientRect().top"
    page, dial, legend, pages = (
        tab.evaluate(top.format(one)) for one in ("#view-a", "#dial-a", "#legend-sum", "#list-fold")
    )
    assert page < 844 / 3
    assert page < dial < legend < pages


def test_the_legend_hides_what_is_switched_off(report, opened):
    tab = opened(report)
    tab.click("#legend-sum")
    shown = f"{FRAME.format(1)}.body.innerText"
    assert "All rights reserved" in tab.evaluate(shown)
    assert "not shown" not in tab.evaluate(shown)  # hidden on the page, and switched off at first
    for name in tab.eval_on_selector_all(".chip", "found => found.map(chip => chip.textContent)"):
        if "Kept" not in name and "Hidden" not in name:
            tab.locator(".chip", has_text=name).first.click()
    assert "All rights reserved" not in tab.evaluate(shown)
    tab.click(".chip:has-text('Hidden')")
    assert "not shown" in tab.evaluate(shown)


def test_kinds_have_a_chip_a_sign_and_a_colour(tmp_path, opened, model, trees, monkeypatch):
    def with_kinds(page, known, settings):
        tree, verdict = page.tree, method_named("sst").clean(page, known, settings)
        kind = np.where(tree.tagged("a"), KIND_CODE["global-directory"], KIND_CODE["declaration"]).astype(np.uint8)
        kind[verdict.keep] = 0
        return type(verdict)(**{name: getattr(verdict, name) for name in verdict.__slots__} | {"kind": kind})

    made = Method("kinds", "for this test", with_kinds, method_named("sst").parts, group="sst")
    monkeypatch.setitem(plugins.built_in("method"), "kinds", "module_of_this_test")
    monkeypatch.setitem(sys.modules, "module_of_this_test", SimpleNamespace(METHOD=made))
    path = tmp_path / "kinds.html"
    path.write_text(report_html([SiteReport.of(model, trees, ["kinds"])], ["kinds"]), encoding="utf-8")
    tab = opened(path)
    tab.click("#legend-sum")
    assert tab.is_visible(".chip:has-text('global directory')")
    assert "Home" in marked(tab, 0, f"kind-{KIND_CODE['global-directory']}")
    signs = tab.evaluate(f"[...{FRAME.format(0)}.querySelectorAll('[data-s]')].map(s => s.dataset.s)")
    assert signs == ["Gd", "Dc"]
    tab.click(".chip:has-text('declaration')")
    assert "All rights" not in tab.evaluate(f"{FRAME.format(0)}.body.innerText")


# By keyboard


def test_keys_go_from_block_to_block_and_page_to_page(report, opened):
    tab = opened(report)
    tab.keyboard.press("j")
    first = held(tab, 0)
    tab.keyboard.press("j")
    second = held(tab, 0)
    tab.keyboard.press("k")
    assert first == held(tab, 0) == ["Home"]
    assert second == ["News"]
    assert "Home" in tab.text_content("#said")
    tab.focus("#view-a")
    tab.keyboard.press("ArrowDown")
    assert held(tab, 1) == second
    tab.keyboard.press("Escape")
    assert held(tab, 0) == []
    title = tab.text_content("#page-title")
    tab.keyboard.press("n")
    until(tab, f"document.getElementById('page-title').textContent !== {json.dumps(title)}")
    tab.keyboard.press("?")
    assert tab.is_visible("#help")
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#help")


def test_the_dial_is_reached_and_turned_by_keyboard(report, opened):
    tab = opened(report)
    tab.keyboard.press("2")
    tab.keyboard.press("End")
    until(tab, f"{KEPT.format(1)}.startsWith('0 of')")
    tab.keyboard.press("/")
    tab.keyboard.type("Report 7")
    assert tab.locator(".entry").count() == 1


def test_the_page_shown_is_in_view_in_the_list_of_pages(report, opened):
    tab = opened(report, height=500)
    box = "[...document.querySelectorAll('.entry')].at(-1).getBoundingClientRect()"
    last_is_shown = f"(box => box.top + box.bottom < 2 * innerHeight)({box})"
    assert not tab.evaluate(last_is_shown)
    for number in range(1, 12):
        tab.keyboard.press("n")
        until(tab, f"document.querySelectorAll('.entry')[{number}].getAttribute('aria-current') === 'true'")
    assert tab.evaluate(last_is_shown)


def test_the_first_stops_of_the_tab_key_skip_to_what_matters(report, opened):
    tab = opened(report)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the page shown"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "view-a"


def test_the_tree_opens_by_keyboard_and_follows_the_threshold(report, opened):
    tab = opened(report)
    tab.keyboard.press("j")
    tab.keyboard.press("t")  # the position of the selected block: the first link of the menu
    tab.wait_for_selector(".tree-item.found")
    assert tab.evaluate("document.activeElement.querySelector('code').textContent") == "li"
    assert "Home" in tab.evaluate("document.activeElement.querySelector('.says').textContent")
    tab.keyboard.press("ArrowLeft")
    assert tab.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    tab.keyboard.press("ArrowLeft")
    assert tab.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"
    signs = "new Set([...document.querySelectorAll('#tree .sign')].map(sign => sign.textContent))"
    assert tab.evaluate(f"{signs}.size") > 1
    turn(tab, "tree-dial", 1000)
    assert tab.evaluate(f"[...{signs}]") == ["−"]
    tab.keyboard.press("t")
    assert kept_words(tab, 1) == 0  # one threshold, in both views


# On a phone, in light and dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(report, opened, scheme):
    tab = opened(report, width=390, height=844, scheme=scheme)
    width = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"
    assert tab.evaluate(width) <= 390
    assert tab.is_visible("[data-pane='0']")
    assert not tab.is_visible("[data-pane='1']")
    tab.click("[data-side='1']")
    assert tab.is_visible("[data-pane='1']")
    assert tab.evaluate(f"{FRAME.format(1)}.documentElement.scrollWidth") <= 390
    tab.keyboard.press("j")
    assert tab.evaluate(width) <= 390
    tab.click("#show-tree")
    tab.wait_for_selector(".tree-item")
    assert tab.evaluate(width) <= 390


CONTRAST = """(root) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = (c) => { const [r, g, b] = c.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const view = root.defaultView ?? root.ownerDocument.defaultView;
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(view.getComputedStyle(e).backgroundColor);
    if (c[3] === 255) return c; } return rgb("white"); };
  const found = [];
  for (const e of (root.body ?? root).querySelectorAll("*")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length || ["SCRIPT", "OPTION", "STYLE"].includes(e.tagName)) continue;
    const a = light(rgb(view.getComputedStyle(e).color)) + .05, b = light(behind(e)) + .05;
    found.push([Math.max(a, b) / Math.min(a, b), e.className + ": " + e.textContent.slice(0, 30)]);
  }
  return found.sort((x, y) => x[0] - y[0]).slice(0, 3);
}"""
AA = 4.5
"""Contrast of text required by WCAG 2.2 at level AA (1.4.3)."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_enough(report, opened, scheme):
    tab = opened(report, scheme=scheme)
    tab.keyboard.press("j")
    tab.click("#legend-sum")
    tab.click(".chip:has-text('Hidden')")
    lowest = tab.evaluate(f"({CONTRAST})(document)")
    assert lowest[0][0] >= AA, lowest
    lowest = tab.evaluate(f"({CONTRAST})({FRAME.format(0)})")
    assert lowest[0][0] >= AA, lowest
    tab.click("#show-tree")
    tab.wait_for_selector(".tree-item")
    lowest = tab.evaluate(f"({CONTRAST})(document)")
    assert lowest[0][0] >= AA, lowest


def test_the_theme_switch_overrides_the_system(report, opened):
    tab = opened(report, scheme="dark")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = tab.evaluate(ground)
    tab.click("#theme")
    assert tab.evaluate(ground) != dark
    assert tab.evaluate(f"{FRAME.format(0)}.documentElement.dataset.theme") == "light"


# Many pages


@pytest.mark.slow
def test_a_report_of_200_long_pages_stays_small_and_opens(tmp_path, page, opened):
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number:03}.html").write_text(page(number, 120), encoding="utf-8")
    out = tmp_path / "report.html"
    shown = write_report([folder], out)
    assert (shown.pages, shown.left_out) == (200, 0)
    assert out.stat().st_size < MOST_BYTES
    tab = opened(out)
    assert tab.locator(".entry").count() == 200
    turn(tab, "dial-b", 1000)
    assert kept_words(tab, 1) == 0


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "sites-swde.parquet").exists(), reason="WEBWINNOW_DATA names no folder with pages")
def test_a_report_of_200_real_pages_stays_small_and_opens(tmp_path, opened):
    from webwinnow.page.urls import SiteKey

    out = tmp_path / "report.html"
    shown = write_report([DATA / "sites-swde.parquet"], out, ReportSettings(site_by=SiteKey.parse("column")))
    assert shown.pages == 200
    assert out.stat().st_size < MOST_BYTES
    tab = opened(out)
    for number in range(0, shown.sites, 8):
        tab.select_option("#site", str(number))
        until(tab, "document.querySelector('.entry').getAttribute('aria-current') === 'true'")
        assert tab.evaluate(f"{FRAME.format(0)}.querySelectorAll('.r').length") > 0


# The page as a browser shows it


PICTURE = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")  # WebP, one pixel


def test_a_screenshot_has_the_kept_and_removed_regions_over_it(tmp_path, opened):
    text = "The river rose by two metres in the night and the lower town was under water in the morning. " * 3
    body = "".join(f'<p drawn="0 {40 * k} 900 30">{text} Day {k}.</p>' for k in range(3))
    body += '<h2 drawn="0 150 900 30">Water levels</h2><table drawn="100 200 500 90">'
    body += "<tr><td>Monday</td><td>2.1 m</td></tr><tr><td>Tuesday</td><td>1.8 m</td></tr></table>"
    body += '<div drawn="0 900 1000 60 position=fixed"><p drawn="10 910 900 30">We store cookies.</p></div>'
    tree = drawn_page(body)
    tree = replace(tree, layout=replace(tree.layout, picture=PICTURE))
    path = tmp_path / "report.html"
    path.write_text(report_html([SiteReport.of(learn([tree], "a.example"), [tree], ("page",))], ("page",)))
    tab = opened(path)
    assert tab.is_hidden("#seen-pane")
    tab.click("#show-seen")
    tab.wait_for_function("document.querySelector('#seen img').naturalWidth === 1")
    boxes = "document.querySelectorAll('.seen-box[data-k=%s]').length"
    assert [tab.evaluate(boxes % state) for state in ("kept", "removed")] == [8, 1]  # the banner
    parts = tab.eval_on_selector_all("#seen-parts button", "found => found.map(one => one.textContent)")
    assert parts == ["Tables 1", "Sections 1"]
    assert tab.locator(".seen-part:visible").count() == 0
    tab.click("#seen-parts [data-part=table]")
    tab.click("#seen-parts [data-part=section]")
    shown = tab.eval_on_selector_all(".seen-part:not([hidden])", "found => found.map(one => one.dataset.name)")
    assert shown == ["Water levels", "table 1"]
    place = tab.eval_on_selector(".seen-part[data-part=table]", "one => [one.style.left, one.style.width]")
    assert place == ["10%", "50%"]
    tab.keyboard.press("s")
    assert tab.is_hidden("#seen-pane")


def test_a_report_without_screenshots_offers_none(report, opened):
    assert opened(report).is_hidden("#show-seen")
