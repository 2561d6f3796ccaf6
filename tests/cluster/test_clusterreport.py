"""The report on clusters: its contents, and its rendering in a browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from accessibility import axe_source, violations

from webwinnow.cluster.clustering import Agreement
from webwinnow.cluster.pages import cluster_pages
from webwinnow.cluster.report import LONGEST, cluster_html, write_cluster_html
from webwinnow.cluster.rows import PageRows
from webwinnow.cluster.run import ClusteredCollection, ClusteredPage
from webwinnow.cluster.settings import ClusterSettings

EVIL = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{style}}"


def collection(pages=24, k=2, vocabulary=("cat", "dog", "both"), **named):
    rng = np.random.default_rng(0)
    group = np.arange(pages) % 2
    matrix = np.column_stack([group == 0, group == 1, np.ones(pages)]) * rng.random((pages, 3)) + 0.01
    rows = PageRows(sp.csr_matrix(matrix), [str(p) for p in range(pages)], list(vocabulary))
    found = cluster_pages(rows, ClusterSettings(k=k))
    known = [
        ClusteredPage(str(p), named.get("url", f"https://x.example/{p}"), named.get("title", f"Page {p}"))
        for p in range(pages)
    ]
    return ClusteredCollection(known, found, Agreement(1.0, 1.0, 1.0), pages)


def test_every_page_is_a_dot_and_every_cluster_a_card():
    html = cluster_html(collection())
    assert html.count("<circle") == 24
    assert html.count('class="cluster c') == 2
    assert html.count('class="name"') == 2
    assert html.count('class="near"') >= 24  # every page is listed
    assert all(f"Page {number}<" in html for number in range(24))
    assert html.count('href="https://x.example/0"') >= 1
    assert "F 1.000" in html


def test_no_text_of_a_page_is_html_in_it():
    html = cluster_html(collection(title=EVIL, vocabulary=(EVIL, "a&b<c>", '"><svg onload=x>')))
    assert html.count("<script") == 1
    assert "alert(1)</script>" not in html
    assert "<img" not in html
    assert "<svg onload" not in html
    assert "\u202e" not in html
    assert html.count("<style>") == 1
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,<b>", "file:///etc/passwd", "page.html", " jAvAsCrIpT:x", ""]
)
def test_only_web_urls_become_links(url):
    html = cluster_html(collection(url=url))
    assert re.findall(r'href="(?!#)[^"]*"', html) == []


def test_a_url_cannot_leave_its_attribute():
    html = cluster_html(collection(url='https://x.example/" onmouseover="alert(1)'))
    (address,) = set(re.findall(r'<a [^>]*href="(http[^"]*)"', html))
    assert unescape(address) == 'https://x.example/" onmouseover="alert(1)'
    assert not re.search(r"<[^>]*\sonmouseover=", re.sub(r'"[^"]*"', '""', html))


def test_an_overlong_url_is_not_a_link():
    html = cluster_html(collection(url="https://x.example/" + "a" * 100_000))
    assert "<a href" not in html
    assert len(html) < 100_000


def test_the_policy_allows_its_own_styles_and_nothing_else():
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', cluster_html(collection()))[1])
    assert policy.startswith("default-src 'none';")
    assert re.search(r"script-src 'sha256-[^ ;]+';", policy)
    assert "unsafe" not in policy
    assert "http" not in policy


def test_dated_pages_are_shown_over_time():
    found = collection()
    dated = [page._replace(date=f"20{10 + n % 3}-01-01") for n, page in enumerate(found.pages)]
    html = cluster_html(replace(found, pages=dated))
    assert html.count('class="time"') == 2
    assert "2011-01-01: 4 pages" in html
    assert 'class="time"' not in cluster_html(found)


def test_the_hierarchy_is_listed_and_can_be_cut_by_a_slider():
    html = cluster_html(collection(pages=60, k=4))
    assert 'type="range" id="groups" min="1" max="4"' in html
    assert html.count('class="tree"') == 7
    assert len(json.loads(unescape(re.search(r'data-merges="([^"]*)"', html)[1]))) == 3


def test_long_titles_are_cut_short():
    html = cluster_html(collection(title="long " * 1000))
    assert "long " * (LONGEST // 5 + 2) not in html


def test_more_clusters_than_dots_have_a_colour_each():
    assert len(set(re.findall(r"--c: hsl\((\d+)", cluster_html(collection(pages=60, k=15))))) == 15


def test_names_on_the_map_cover_no_other_and_are_inside_it(browser, tmp_path):
    path = tmp_path / "clusters.html"
    words = ("a long word of cats", "a long word of dogs", "a long word of both")
    write_cluster_html(collection(pages=60, k=15, vocabulary=words), path)
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(path.as_uri())
    boxes = tab.evaluate(
        "[...document.querySelectorAll('.map .name')].filter(one => one.textContent).map(one => one.getBBox())"
        ".map(({x, y, width, height}) => [x, y, x + width, y + height])"
    )
    side = tab.evaluate("document.querySelector('.map svg').viewBox.baseVal.width")
    tab.close()
    assert len(boxes) > 5
    assert all(left >= 0 and right <= side for left, _, right, _ in boxes)
    assert [
        (a, b) for a, b in combinations(boxes, 2) if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ] == []


def test_the_brand_is_not_shown_inside_the_service(browser, tmp_path):
    write_cluster_html(collection(), tmp_path / "clusters.html")
    (tmp_path / "frame.html").write_text("<iframe src=clusters.html>", encoding="utf-8")
    tab = browser.new_page()
    tab.goto((tmp_path / "clusters.html").as_uri())
    assert tab.locator(".brand").is_visible()
    tab.goto((tmp_path / "frame.html").as_uri())
    inside = tab.frame_locator("iframe")
    inside.locator(".facts").first.wait_for()
    assert not inside.locator(".brand").is_visible()
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light")])
def test_a_browser_shows_it_fits_it_and_asks_for_nothing(browser, tmp_path, width, scheme):
    path = tmp_path / "clusters.html"
    write_cluster_html(collection(pages=60, k=4, title="A title that is quite long and has no end " * 3), path)
    tab = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    complaints, requests = [], []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(path.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    dimmed = "[...document.querySelectorAll('.map .p:not(.c1) circle')].map(c => getComputedStyle(c).fillOpacity)"
    assert "0.08" not in tab.evaluate(dimmed)
    tab.check("#pick1")
    tab.evaluate("() => Promise.all(document.getAnimations().map(one => one.finished))")  # they fade
    assert set(tab.evaluate(dimmed)) == {"0.08"}
    before = tab.get_attribute(".map svg", "viewBox")
    tab.click("#nearer")
    assert tab.get_attribute(".map svg", "viewBox") != before
    tab.click("#whole")
    assert tab.evaluate("document.querySelector('.map svg').viewBox.baseVal.width") == 1000
    tab.fill("#groups", "2")
    swatches = "[...document.querySelectorAll('.cluster[data-cluster] .swatch')]"
    colours = f"new Set({swatches}.map(s => getComputedStyle(s).backgroundColor)).size"
    assert tab.evaluate(colours) == 2
    assert tab.inner_text("#count") == "2 groups"
    assert complaints == []
    assert requests == [path.as_uri()]
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(tmp_path, browser, scheme):
    path = tmp_path / "clusters.html"
    path.write_text(cluster_html(collection()), encoding="utf-8")
    source = axe_source()
    for width in (1280, 390):
        tab = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce")
        tab.add_init_script(source)
        tab.goto(path.as_uri())
        assert violations(tab) == []
        tab.close()
