"""The report on clusters: its contents, and its rendering in a browser."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest
import scipy.sparse as sp

from webwinnow.commands.cluster import ClusteredCollection, ClusteredPage
from webwinnow.mining import Agreement, ClusterSettings, PageRows, cluster_pages
from webwinnow.report.clusterreport import LONGEST, cluster_html, write_cluster_html

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
    assert html.count('class="number"') == 2
    assert html.count('href="https://x.example/0"') >= 1
    assert "F 1.000" in html


def test_no_text_of_a_page_is_html_in_it():
    html = cluster_html(collection(title=EVIL, vocabulary=(EVIL, "a&b<c>", '"><svg onload=x>')))
    assert "<script" not in html
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
    assert "script" not in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_long_titles_are_cut_short():
    html = cluster_html(collection(title="long " * 1000))
    assert "long " * (LONGEST // 5 + 2) not in html


def test_more_clusters_than_dots_have_a_colour_each():
    assert len(set(re.findall(r"--c: hsl\((\d+)", cluster_html(collection(pages=60, k=15))))) == 15


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
    tab.wait_for_timeout(400)
    assert set(tab.evaluate(dimmed)) == {"0.08"}
    assert complaints == []
    assert requests == [path.as_uri()]
    tab.close()
