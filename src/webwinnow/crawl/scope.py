"""`Scope`: which URLs belong to the site of a start page."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urlsplit

from webwinnow.crawl.settings import ScopeKind
from webwinnow.errors import SettingsError
from webwinnow.page.urls import SiteKey, canonical, is_web_link

LONGEST_URL: Final = 2000
"""Maximum length of a URL. Ours: what servers and other crawlers accept."""
_HOST, _DOMAIN = SiteKey(by="host"), SiteKey(by="domain")


class Scope(NamedTuple):
    """The pages of a site: `below` its base, on the same host or domain, or any.

    The base of http://phys.example/en/index.php is phys.example/en/ (Sites, Definition 1), with http as with https.
    """

    kind: ScopeKind
    base: str

    @classmethod
    def of(cls, kind: ScopeKind, start: str) -> Scope:
        if kind == "below":
            return cls(kind, _key(start, _HOST) + urlsplit(start).path.rpartition("/")[0] + "/")
        return cls(kind, _key(start, _DOMAIN if kind == "domain" else _HOST))

    def contains(self, url: str) -> bool:
        if self.kind == "any":
            return True
        if self.kind == "below":
            return (_key(url, _HOST) + urlsplit(url).path).startswith(self.base)
        return _key(url, _DOMAIN if self.kind == "domain" else _HOST) == self.base


def page_url(url: str, *, routes: bool = False) -> str | None:
    """Return the canonical URL of a page that can be fetched, with its route if asked for; None if it cannot."""
    if len(url) > LONGEST_URL or not is_web_link(url):
        return None
    url = canonical(url, routes=routes)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc:
        return None
    return url if len(url) <= LONGEST_URL and url.isascii() else None


def start_url(url: str, *, routes: bool = False) -> str:
    """Return the canonical URL of a start page; `SettingsError` if it cannot be fetched."""
    found = page_url(url, routes=routes)
    if found is None:
        raise SettingsError(f"{url} is no web address; expected one such as https://example.org/docs/")
    return found


def host_of(url: str) -> str:
    """Return the host of a canonical URL, without the port: one host gets one request at a time."""
    return urlsplit(url).hostname or ""


def origin_of(url: str) -> str:
    """Return scheme, host and port of a canonical URL: what one robots.txt applies to (RFC 9309, 2.3)."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _key(url: str, by: SiteKey) -> str:
    return by.of(url)
