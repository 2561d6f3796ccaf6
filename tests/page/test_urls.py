from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webwinnow.errors import SettingsError
from webwinnow.page.urls import (
    MAX_BASE_CHARS,
    SiteKey,
    _resolve_anything,
    canonical,
    is_safe_link,
    is_web_link,
    resolve,
    resolve_all_web,
    resolve_web,
)

URL_PIECES = st.sampled_from(
    [
        "http://",
        "HTTPS:",
        "//",
        "a.b",
        "Ü.de",
        "[::1]",
        "user@",
        ":80",
        ":8080",
        "/",
        "\\",
        "..",
        ".",
        "%2e",
        "%2F",
        "%",
        "%4",
        "%31",
        "%zz",
        "?",
        "&",
        "=",
        "utm_source",
        "#",
        " ",
        "\t",
        "\x01",
        "é",
        "𝐀",
        "\ud800",
        "x",
        "。",
    ]
)
URLISH = st.lists(URL_PIECES, max_size=12).map("".join) | st.text()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Www.Example.COM/Path", "http://www.example.com/Path"),
        ("http://a.com:80/", "http://a.com/"),
        ("https://a.com:0443/", "https://a.com/"),
        ("https://a.com:8443/", "https://a.com:8443/"),
        ("http://a.com", "http://a.com/"),
        ("http://a.com?q=1", "http://a.com/?q=1"),
        ("http://a.com/x?", "http://a.com/x"),
        ("http://a.com/b/../c/./d/..", "http://a.com/c/"),
        ("http://a.com/../../x", "http://a.com/x"),
        ("http://a.com/%2e%2E/x", "http://a.com/x"),
        ("http://a.com/x#part", "http://a.com/x"),
        ("http://a.com/%7euser/%2f%c3%a9", "http://a.com/~user/%2F%C3%A9"),
        ("http://a.com/é x|y", "http://a.com/%C3%A9%20x%7Cy"),
        ("http://a.com/100%", "http://a.com/100%25"),
        (" \n http://a.com/a\tb\n ", "http://a.com/ab"),
        ("http:\\\\a.com\\b", "http://a.com/b"),
        ("http://Bücher.de/", "http://xn--bcher-kva.de/"),
        ("http://straße.de/", "http://xn--strae-oqa.de/"),
        ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
        ("http://[2001:DB8:0:0::1]:80/", "http://[2001:db8::1]/"),
        ("ftp://a.com:21/f", "ftp://a.com/f"),
    ],
)
def test_canonical_has_one_spelling(url: str, expected: str) -> None:
    assert canonical(url) == expected


def test_canonical_drops_tracking_and_keeps_the_order_of_the_rest() -> None:
    url = "http://a.com/?z=1&utm_source=mail&FBCLID=x&a=2&utm%5Fmedium=y&gclid=3&z=0"
    assert canonical(url) == "http://a.com/?z=1&a=2&z=0"
    assert canonical("http://a.com/?utm_source=mail") == "http://a.com/"


@pytest.mark.parametrize(
    ("fragment", "kept"),
    [("#/two", "#/two"), ("#!/two ü", "#!/two%20%C3%BC"), ("#!two", "#!two"), ("#top", ""), ("#!", ""), ("#/", "")],
)
def test_canonical_keeps_the_routes_of_applications_when_asked(fragment: str, kept: str) -> None:
    assert canonical(f"http://A.test{fragment}", routes=True) == f"http://a.test/{kept}"
    assert canonical(f"http://A.test{fragment}") == "http://a.test/"


def test_canonical_keeps_tracking_when_asked() -> None:
    assert canonical("http://a.com/?b=1&utm_source=mail", drop_tracking=False) == "http://a.com/?b=1&utm_source=mail"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sub/page.html",
        "http://",
        "http://[bad/",
        "http://a b/",
        "http://a:99999/",
        "http://a:b/",
        "mailto:x@y.z",
        "http://\u2100.com/",
        "http://" + "é" * 5000 + "/",
        "http://\ud800é/",
        "javascript:x",
        "http://.../",
    ],
)
def test_canonical_returns_what_it_cannot_parse(url: str) -> None:
    assert canonical(f" {url}\n") == url


@given(URLISH)
@example("http://a/%4%31")
@example("http://𝐀.com/")
@example("http://a@b@c/?&utm_x=1&&")
def test_canonical_is_idempotent(url: str) -> None:
    once = canonical(url)
    assert canonical(once) == once


# RFC 3986, 5.4.1 and 5.4.2, with the answers of browsers: "/" after a bare host, and "http:g" relative.
RFC_BASE = "http://a/b/c/d;p?q"
RFC_EXAMPLES = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g/",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "..g": "http://a/b/c/..g",
    "./g/.": "http://a/b/c/g/",
    "g/../h": "http://a/b/c/h",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    "http:g": "http://a/b/c/g",
}


@pytest.mark.parametrize(("href", "expected"), RFC_EXAMPLES.items())
def test_resolve_follows_rfc_3986(href: str, expected: str) -> None:
    assert resolve(RFC_BASE, href) == expected


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("  x.html\n", "https://a.com/d/x.html"),
        ("x\n.ht\tml", "https://a.com/d/x.html"),
        ("\\\\b.com\\x", "https://b.com/x"),
        ("\\x?a\\b", "https://a.com/x?a\\b"),
        ("a b", "https://a.com/d/a%20b"),
        ("HTTP://B.com:80/X", "http://b.com/X"),
        ("http:b.com", "http://b.com/"),
        ("https:/x", "https://a.com/x"),
        ("https:\\\\b.com", "https://b.com/"),
        ("http:///b.com/x", "http://b.com/x"),
        ("//b.com", "https://b.com/"),
        ("http://b.com/x/../y", "http://b.com/y"),
        ("mailto:x@y.z", "mailto:x@y.z"),
        ("java\tscript:x", "javascript:x"),
    ],
)
def test_resolve_does_as_browsers_do(href: str, expected: str) -> None:
    assert resolve("https://a.com/d/p?q#f", href) == expected


@pytest.mark.parametrize(
    ("base", "href"),
    [("sub/page.html", "x"), ("", "/x"), ("mailto:a@b.c", "x"), ("http://a/", "//"), ("http://a/", "http://[x/y")],
)
def test_resolve_returns_none_where_there_is_no_url(base: str, href: str) -> None:
    assert resolve(base, href) is None


def test_resolve_takes_absolute_links_on_pages_without_a_url() -> None:
    assert resolve("sub/page.html", "http://a.com") == "http://a.com/"


def test_resolve_works_on_file_urls() -> None:
    assert resolve("file:///a/b/c.html", "../d.html") == "file:///a/d.html"


@given(URLISH, URLISH)
@example("http://a/b", "a/b?c:d")
@example("http://a/b\x01/c", "/x")
def test_resolve_gives_the_same_by_its_fast_paths(base: str, href: str) -> None:
    assert resolve(base, href) == _resolve_anything(base, href)


@given(st.sampled_from(["http://a.example/b/c?d", "ftp://a.example/b", "file:///b/c", "b/c", ""]), st.lists(URLISH))
@example(
    "https://a.example/b/c", ["/d", "d?e", "//b.example", "http://b.example/", "h", "/../d", "#d", "mailto:d", " /d"]
)
def test_links_are_resolved_together_as_one_by_one(base: str, hrefs: list[str]) -> None:
    assert list(resolve_all_web(base, hrefs)) == [url for href in hrefs if (url := resolve_web(base, href)) is not None]


@pytest.mark.parametrize("url", ["http://a", "HTTPS://a", " https://a", "ht\ntp://a", "\x01http://a"])
def test_web_links_are_http_and_https(url: str) -> None:
    assert is_web_link(url)
    assert is_safe_link(url)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:x",
        "JavaScript:x",
        "java\tscript:x",
        "\x01javascript:x",
        " \n javascript:x",
        "java\x00script:x",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "/x",
        "",
        "://",
        "\u00a0http://a",
        "blob:http://a",
    ],
)
def test_links_that_run_or_lead_nowhere_are_not_safe(url: str) -> None:
    assert not is_web_link(url)
    assert not is_safe_link(url)


def test_mail_is_safe_and_not_web() -> None:
    assert is_safe_link("MAILTO:x@y.z")
    assert not is_web_link("MAILTO:x@y.z")


def key(text: str, url: str, site: str | None = None) -> str:
    return SiteKey.parse(text).of(url, site)


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("host", "https://WWW.Example.com:443/x", "www.example.com"),
        ("host", "http://u:p@example.com:8080/x", "example.com:8080"),
        ("host", "sub/page.html", ""),
        ("host", "", ""),
        ("host", "http://[bad/", ""),
        ("domain", "https://news.example.co.uk/x", "example.co.uk"),
        ("domain", "https://ann.github.io/x", "ann.github.io"),
        ("domain", "http://127.0.0.1:8000/x", "127.0.0.1"),
        ("domain", "http://[::1]/x", "[::1]"),
        ("domain", "http://localhost/x", "localhost"),
        ("domain", "http://a.b.docs.test/x", "a.b.docs.test"),
        ("domain", "http://co.uk/", "co.uk"),
        ("domain", "sub/page.html", ""),
        ("prefix:1", "http://a.com/x/y", "a.com/x"),
        ("prefix:1", "http://a.com/x/", "a.com/x"),
        ("prefix:1", "http://a.com/x", "a.com"),
        ("prefix:2", "http://a.com/x/y/z/p.html", "a.com/x/y"),
        ("prefix:2", "http://a.com/%7eann/./y/p.html", "a.com/~ann/y"),
        ("prefix:1", "one/deep/page.html", "one"),
        ("prefix:1", "page.html", ""),
        ("prefix:1", "mailto:a/b", ""),
        ("all", "http://a.com/", ""),
        ("none", "http://a.com/", ""),
    ],
)
def test_site_key(text: str, url: str, expected: str) -> None:
    assert key(text, url) == expected


def test_site_key_by_column_falls_back_to_the_host() -> None:
    assert key("column", "http://a.com/", site="Shop") == "Shop"
    assert key("column", "http://a.com/", site="") == ""
    assert key("column", "http://a.com/") == "a.com"


def test_without_sites_a_record_names_the_host() -> None:
    assert SiteKey.parse("none").name("", "http://a.com/b") == "a.com"
    assert SiteKey.parse("all").name("", "http://a.com/b") == ""
    assert SiteKey.parse("prefix:1").name("a.com/x", "http://a.com/x/b") == "a.com/x"


def test_without_sites_nothing_can_be_learned() -> None:
    assert not SiteKey.parse("none").has_sites
    with pytest.raises(SettingsError, match=r"--site-by none has no sites, which learning needs; all makes one site"):
        SiteKey.parse("none").check_sites("learning")
    SiteKey.parse("all").check_sites("learning")


@pytest.mark.parametrize("text", ["", "hosts", "prefix", "prefix:", "prefix:0", "prefix:-1", "prefix:x", "host:1"])
def test_unknown_site_keys_are_refused_with_the_forms_expected(text: str) -> None:
    with pytest.raises(SettingsError, match=r"host, domain, prefix:N .* column, all or none"):
        SiteKey.parse(text)


@given(URLISH)
def test_site_keys_never_raise(url: str) -> None:
    for text in ("host", "domain", "prefix:2", "column"):
        assert isinstance(key(text, url), str)


@given(st.from_regex(r"https?://[a-z0-9]{1,2}(\.[a-z0-9]{1,2})?/[a-zA-Z0-9~%:@/.]{0,8}", fullmatch=True))
def test_the_fast_path_to_the_canonical_form_changes_nothing(url: str) -> None:
    assert canonical(url) == canonical(url + "#")


def test_relative_links_are_not_resolved_against_a_base_of_more_characters_than_a_link_may_have() -> None:
    # 160 KB with a base of 80 KB and 2,000 links became 160 MB of links.
    folder = f"http://a.example/{'a/' * 2000}"
    assert len(folder) < MAX_BASE_CHARS
    for longer in (folder + "a" * 200 + "/", "http://a.example/?" + "a" * MAX_BASE_CHARS):
        assert [resolve(longer, href) for href in ("b", "?b", "/b", "//b.example/", "#b")] == [None] * 5
        assert list(resolve_all_web(longer, ["b", "http://b.example/"])) == ["http://b.example/"]
    assert resolve(folder, "b") == folder + "b"
