"""The web interface in a real browser: upload a crawl, watch progress, inspect, search, download."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from accessibility import axe_source, violations
from webserver import Reply, WebServer

SAMPLE = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
PATIENCE = 240_000
OURS = ("http://127.0.0.1", "data:", "about:", "blob:")
HOSTILE = """<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><body><h1>"><img src=x onerror=alert(1)></h1>
<p>&lt;script&gt;document.title='owned'&lt;/script&gt; is what this page says in a sentence that is long enough to stay,
and it says more than that: <a href="javascript:alert(1)">a link</a> that nobody should follow.</p>"""


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens tabs; what the console says, except for information, and requests to other hosts fail the test."""
    opened: list[Any] = []
    complaints: list[str] = []

    def open_tab(address: str, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        opened.append(page)
        page.on("console", lambda said: said.type == "info" or complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("http://127.0.0.1", "data:", "about:", "blob:"))
                or complaints.append(request.url)
            ),
        )
        page.goto(address)
        return page

    yield open_tab
    for page in opened:
        page.close()
    assert complaints == []


def test_a_person_winnows_the_sample_crawl(server: Any, tab: Callable[..., Any], tmp_path: Path) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    page = tab(server.base)
    page.set_input_files("#file", str(SAMPLE))
    page.get_by_role("button", name="Start").first.click()
    page.wait_for_url("**/view/jobs/*")
    assert page.locator("h1").inner_text().startswith("docs.warc.gz")
    page.wait_for_selector(".badge.done", timeout=PATIENCE)
    assert "126" in page.locator(".figures").inner_text()

    page.get_by_role("link", name="Inspector").click()
    frame = page.frame_locator("iframe.report")
    frame.locator("html[data-ready]").wait_for(state="attached")
    kept = frame.locator("[data-pane], .pane, section").first
    kept.wait_for()
    slider = frame.locator("input[type=range]").first
    before = frame.locator("body").inner_text()
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(frame.locator("body")).not_to_have_text(
        before, use_inner_text=True, timeout=PATIENCE
    )  # drawn in a later frame
    frame.get_by_role("button", name="Site tree").click()

    page.go_back()
    page.get_by_role("link", name="Search").click()
    page.get_by_role("combobox", name="Words").fill("database index")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hits li")
    assert page.locator("mark").count() > 0

    page.goto(page.url.rsplit("/search", 1)[0])
    with page.expect_download() as waited:
        page.get_by_role("link", name="Records, JSONL").click()
    waited.value.save_as(tmp_path / "records.jsonl")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert len(records) == 126


def test_nothing_of_a_page_runs_or_loads(server: Any, tab: Callable[..., Any]) -> None:
    said = ("sentence of rivers and stones", "sentence of copper bridges", "sentence of winter letters")
    pages = [{"url": f"http://evil.example/{n}", "html": HOSTILE.replace("sentence", s)} for n, s in enumerate(said)]
    asked = {"pages": pages, "name": "<img src=x onerror=alert(1)>"}
    state = server.wait(server.client.post("/jobs", json=asked).json()["id"])
    where = f"{server.base}/view/jobs/{state['id']}"
    for path in ("", "/pages", "/record?at=0", "/replicas", "/search?q=%3Cscript%3E+sentence", "/inspect", "/clusters"):
        page = tab(where + path)
        page.wait_for_load_state("load")
        assert page.title() != "owned"
        assert page.locator("main img").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0
    page = tab(f"{server.base}/view/page")
    page.locator("textarea").fill(HOSTILE)
    page.get_by_role("button", name="Clean").click()
    page.wait_for_selector(".decisions li")
    assert page.title() != "owned"


def test_it_works_by_keyboard_alone(server: Any, done: dict[str, Any], tab: Callable[..., Any]) -> None:
    page = tab(server.base)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "news.jsonl":
            break
    assert page.evaluate("document.activeElement.textContent") == "news.jsonl"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/view/jobs/{done['id']}")
    tile = page.locator("a.tile").first
    assert outline(tile)[0] == "none"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.tile')"):
            break
    assert outline(tile) == ("solid", "2px")


def outline(element: Any) -> tuple[str, str]:
    """Style and width of the outline around an element, which shows that it has the focus."""
    style, width = element.evaluate("one => [getComputedStyle(one).outlineStyle, getComputedStyle(one).outlineWidth]")
    return style, width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(server: Any, done: dict[str, Any], tab: Callable[..., Any], scheme: str) -> None:
    for path in ("/", f"/view/jobs/{done['id']}", f"/view/jobs/{done['id']}/pages", "/view/page", "/view/sites"):
        page = tab(server.base + path, width=360, height=700, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(17, 19, 22)") == (scheme == "dark")


def test_a_file_that_is_too_long_is_reported_before_it_is_sent(
    server: Any, tab: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "long.html").write_bytes(b"x" * 3_000_001)
    page = tab(server.base)
    page.set_input_files("#file", str(tmp_path / "long.html"))
    page.get_by_role("button", name="Start").first.click()
    page.wait_for_selector("#trouble:visible")
    assert "longer" in page.locator("#trouble").inner_text()


def test_the_inspector_gets_most_of_the_window(server: Any, done: dict[str, Any], tab: Callable[..., Any]) -> None:
    page = tab(f"{server.base}/view/jobs/{done['id']}/inspect")
    frame = page.frame_locator("iframe.report")
    frame.locator("html[data-ready]").wait_for(state="attached")
    box = frame.locator("#view-a").bounding_box()
    assert box["height"] > 0.5 * 900
    assert page.evaluate("document.documentElement.scrollHeight") <= 900


def test_a_hit_is_followed_to_its_record_by_keyboard(
    server: Any, done: dict[str, Any], tab: Callable[..., Any]
) -> None:
    page = tab(f"{server.base}/view/jobs/{done['id']}/search?q=report")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.hits h2') !== null"):
            break
    title = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_url("**/record?key=*")
    assert page.locator("h1").inner_text() == title


def test_a_query_is_completed_by_keyboard(server: Any, done: dict[str, Any], tab: Callable[..., Any]) -> None:
    page = tab(f"{server.base}/view/jobs/{done['id']}/search")
    query, options = page.get_by_role("combobox", name="Words"), page.get_by_role("option")
    status, expect = page.get_by_role("status"), pytest.importorskip("playwright.sync_api").expect
    query.press_sequentially("<b>x</b> repo")
    expect(status).to_have_text("1 suggestion")
    assert query.get_attribute("aria-expanded") == "true"
    assert options.all_inner_texts() == ["<b>x</b> report"]
    page.keyboard.press("ArrowDown")
    assert query.input_value() == "<b>x</b> report"
    assert page.locator(f"#{query.get_attribute('aria-activedescendant')}[aria-selected=true]").count() == 1
    page.keyboard.press("Escape")
    assert query.input_value() == "<b>x</b> repo"
    assert options.count() == 0
    query.fill("")
    query.press_sequentially("repo")
    expect(status).to_have_text("1 suggestion")
    page.keyboard.press("ArrowUp")  # the last suggestion
    page.keyboard.press("ArrowDown")  # what was typed
    assert query.input_value() == "repo"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=report")
    assert page.locator(".hits li").count() > 0


def test_a_suggestion_is_clicked(server: Any, done: dict[str, Any], tab: Callable[..., Any]) -> None:
    page = tab(f"{server.base}/view/jobs/{done['id']}/search", width=390, scheme="dark")
    page.get_by_role("combobox", name="Words").press_sequentially("repo")
    page.get_by_role("option", name="report", exact=True).click()
    page.wait_for_url("**/search?q=report")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_server_that_suggests_nothing_does_not_stop_a_search(server: Any, done: dict[str, Any], browser: Any) -> None:
    page = browser.new_page()
    page.route("**/suggest?*", lambda route: route.fulfill(status=503, json={"error": "busy"}))
    page.goto(f"{server.base}/view/jobs/{done['id']}/search")
    with page.expect_response("**/suggest?*"):
        page.get_by_role("combobox", name="Words").press_sequentially("report")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hits li")
    page.close()


def test_searching_needs_no_script(server: Any, done: dict[str, Any], browser: Any) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server.base}/view/jobs/{done['id']}/search")
        assert not page.locator("#completions").is_visible()
        page.get_by_role("searchbox", name="Words").fill("report")
        page.keyboard.press("Enter")
        page.wait_for_selector(".hits li")


def test_the_documentation_of_rest_is_served_without_other_hosts(server: Any, tab: Callable[..., Any]) -> None:
    page = tab(f"{server.base}/docs")
    described = server.client.get("/openapi.json").json()["paths"]
    shown = page.eval_on_selector_all("section h3", "found => found.map(one => one.textContent)")
    assert sorted(shown) == sorted(f"{verb.upper()} {path}" for path, verbs in described.items() for verb in verbs)
    page.get_by_role("link", name="POST /page", exact=True).click()
    assert page.url.endswith("#post-page")
    assert page.locator("#post-page").get_by_text("html", exact=True).count() > 0


PATHS = ("/", "/docs", "/view/page", "/view/sites", "/login")
OF_JOB = ("", "/pages", "/record?at=0", "/replicas", "/search?q=report", "/inspect", "/clusters")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_wrong(server: Any, done: dict[str, Any], browser: Any, width: int, scheme: str) -> None:
    wrong = {}
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
    page.add_init_script(axe_source())
    for path in (*PATHS, *(f"/view/jobs/{done['id']}{one}" for one in OF_JOB)):
        page.goto(server.base + path)
        wrong[path] = violations(page)
    page.goto(f"{server.base}/view/jobs/{done['id']}/search")
    page.get_by_role("combobox", name="Words").press_sequentially("r")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("ArrowDown")
    wrong["suggestions"] = violations(page)
    page.close()
    assert {where: found for where, found in wrong.items() if found} == {}


def test_the_form_crawls_a_url(make_server: Callable[..., Any], make_page: Callable[[int], str], tab: Any) -> None:
    with WebServer(answer=lambda asked: make_page(7) if asked.path == "/" else Reply(b"", status=404)) as site:
        page = tab(make_server("--allow-private").base)
        form = page.locator("form#crawl")
        form.locator("[name=crawl]").fill(f"http://127.0.0.1:{site.port}/")
        form.locator("[name=crawl_pages]").fill("1")
        form.locator("[type=submit]").click()
        page.wait_for_selector(".badge.done", timeout=PATIENCE)
    assert f"127.0.0.1:{site.port}" in page.locator("h1").inner_text()


def test_the_form_learns_the_site_of_a_url(
    make_server: Callable[..., Any], make_page: Callable[[int], str], tab: Any
) -> None:
    with WebServer(answer=lambda asked: make_page(7) if asked.path == "/" else Reply(b"", status=404)) as site:
        page = tab(make_server("--allow-private").base)
        page.get_by_label("only learn the sites").check()
        page.get_by_label("Or crawl what is below a URL").fill(f"http://127.0.0.1:{site.port}/")
        page.get_by_role("button", name="Crawl", exact=True).click()
        page.wait_for_selector(".badge.done", timeout=PATIENCE)
    page.get_by_role("link", name="See the sites").click()
    assert "127.0.0.1" in page.locator("main").inner_text()


def test_a_url_that_cannot_be_crawled_is_refused_in_words(server: Any, browser: Any) -> None:
    page = browser.new_page()
    page.goto(server.base)
    page.get_by_label("Or crawl what is below a URL").fill("ftp://example.org/")
    page.get_by_role("button", name="Crawl", exact=True).click()
    page.wait_for_selector("#trouble:visible")
    assert "ftp://example.org/" in page.locator("#trouble").inner_text()
    assert page.get_by_role("button", name="Crawl", exact=True).is_enabled()
    page.close()
