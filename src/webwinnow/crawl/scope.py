"""`Scope`: which addresses belong to the site of a start page."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from webwinnow.crawl.settings import ScopeKind
from webwinnow.errors import SettingsError
from webwinnow.records import PageRecord
from webwinnow.urls import SiteKey, canonical, is_web_link

__all__ = ["Scope", "host_of", "origin_of", "page_address", "start_address"]

LONGEST_URL: Final = 2000
"""Characters of an address that is followed. Ours: what servers and other crawlers take."""
_HOST, _DOMAIN = SiteKey(by="host"), SiteKey(by="domain")


class Scope(NamedTuple):
    """The pages of a site: `below` its base, on the same host or domain, or any.

    The base of http://phys.example/en/index.php is phys.example/en/ (Sites, Definition 1). Whether a page is fetched by
    http or https makes no difference.
    """

    kind: ScopeKind
    base: str

    @classmethod
    def of(cls, kind: ScopeKind, start: str) -> Scope:
        """The scope of a start page."""
        if kind == "below":
            return cls(kind, _key(start, _HOST) + urlsplit(start).path.rpartition("/")[0] + "/")
        return cls(kind, _key(start, _DOMAIN if kind == "domain" else _HOST))

    def holds(self, url: str) -> bool:
        """Whether a canonical address is in it."""
        if self.kind == "any":
            return True
        if self.kind == "below":
            return (_key(url, _HOST) + urlsplit(url).path).startswith(self.base)
        return _key(url, _DOMAIN if self.kind == "domain" else _HOST) == self.base


def page_address(url: str) -> str | None:
    """The canonical address of a page that can be fetched; None for what cannot."""
    if len(url) > LONGEST_URL or not is_web_link(url):
        return None
    address = canonical(url)
    parts = _parts(address)
    if parts is None or not parts.hostname or "@" in parts.netloc:
        return None
    return address if len(address) <= LONGEST_URL and address.isascii() else None


def start_address(url: str) -> str:
    """The canonical address of a start page; `SettingsError` for what is none."""
    address = page_address(url)
    if address is None:
        raise SettingsError(f"{url} is no web address; expected one such as https://example.org/docs/")
    return address


def host_of(url: str) -> str:
    """The host of a canonical address, without the port: to one host there is one request at a time."""
    return urlsplit(url).hostname or ""


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical address: what one robots.txt speaks for (RFC 9309, 2.3)."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _key(url: str, by: SiteKey) -> str:
    return by.of(PageRecord(url=url, body=b""))
