"""URLs: the canonical form, links resolved as in browsers, and the site of a page.

Invalid input never raises, since links are untrusted. References: RFC 3986 (sections 5.2 and 6.2.2) and the WHATWG URL
standard, which defines how browsers handle what RFC 3986 forbids.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args
from urllib.parse import unquote

from webwinnow.errors import SettingsError

if TYPE_CHECKING:
    from tldextract import TLDExtract

DEFAULT_PORTS: Final = {"http": "80", "https": "443", "ftp": "21"}
SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})

# Parameters that track visitors and do not change the page. Prefixes: the campaign parameters of Google Analytics,
# Matomo and Omeda. Names: the value of privacy.query_stripping.strip_list in hardened Firefox profiles, without `s_cid`
# and `__s`, which sites also use for content, plus click ids of Google, TikTok, LinkedIn, HubSpot and Mailchimp.
TRACKING_PREFIXES: Final = ("utm_", "mtm_", "pk_", "oft_")
TRACKING_NAMES: Final = frozenset(
    """
    __hsfp __hssc __hstc _ga _gl _hsenc _hsmi _openstat dclid fbclid gad_source gbraid gclid gclsrc hsctatracking
    igshid li_fat_id mc_cid mc_eid mkt_tok ml_subscriber ml_subscriber_hash msclkid oly_anon_id oly_enc_id rb_clickid
    srsltid ttclid twclid vero_conv vero_id wbraid wickedid yclid
    """.split()
)

MAX_HOST_CHARS: Final = 1000  # DNS allows 253; punycode takes quadratic time
MAX_BASE_CHARS: Final = 4096  # of a page's URL, as of a link: every relative link is as long, and a page has thousands
MAX_PORT: Final = 65535

_EDGES: Final = "".join(map(chr, range(0x21)))  # stripped from both ends (WHATWG URL 4.4, step 1)
_INSIDE: Final = str.maketrans("", "", "\t\n\r")  # removed everywhere (WHATWG URL 4.4, step 3)
_INVISIBLE: Final = dict.fromkeys([0xAD, 0x200B, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)])  # ignored in hosts (UTS 46)
_IDEOGRAPHIC_STOP: Final = "\u3002"  # a dot in hosts (UTS 46)

_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_WEB: Final = re.compile(r"(https?|ftp):[/\\]*([^/\\?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?", re.IGNORECASE | re.DOTALL)
_HOST_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?")
_FORBIDDEN_IN_HOST: Final = re.compile(r"[\x00-\x20\x7f#%/:<>?@\[\\\]^|\ufffd\ud800-\udfff]")
_BASE: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?")
_READY: Final = re.compile(r"https?://[a-z0-9][a-z0-9.\-]*/[^\x00-\x20\x7f\\]*")  # already resolved
_ROOTED: Final = re.compile(r"/(?:[^/\x00-\x20\x7f\\][^\x00-\x20\x7f\\]*)?")
_NEARBY: Final = re.compile(r"[A-Za-z0-9_][^\x00-\x20\x7f\\:]*")  # no colon, so no scheme
_CANONICAL: Final = re.compile(r"https?://[a-z0-9][a-z0-9.\-]*/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*")  # and no "/."
_ROUTE: Final = re.compile(r"[/!]+[^/!\s]")  # "#!" alone is a link that does nothing, "#/" the start page
_ODD: Final = re.compile(r"[\x00-\x20\x7f]")

_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")  # RFC 3986, 2.3
_NOT_IN_USER: Final = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:]")
_NOT_IN_PATH: Final = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]")
_NOT_IN_QUERY: Final = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")


class _WebUrl(NamedTuple):
    """The components of an http, https or ftp URL; `scheme` and `host` are normalised, the rest is as written."""

    scheme: str
    user: str
    host: str
    port: str
    path: str
    query: str | None
    fragment: str

    @property
    def site(self) -> str:
        """Host, with the port if it is not the default."""
        return f"{self.host}:{self.port}" if self.port else self.host

    @property
    def origin(self) -> str:
        user = f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{self.site}"


def canonical(url: str, *, drop_tracking: bool = True, routes: bool = False) -> str:
    """Return one spelling for URLs of the same page, safe to compare and to hash; ASCII for web URLs.

    Scheme and host are in lower case, the host in ASCII (IDNA). Default port, dot segments, fragment and tracking
    parameters are removed, escapes normalised; other parameters keep their order. Other URLs, and paths relative to a
    folder, are only stripped. With `routes` a fragment that is a page of its own in a client-rendered site is kept.
    """
    if "/." not in url and _CANONICAL.fullmatch(url):  # most are canonical already
        return url
    text = _clean(url)
    parts = _split(text)
    if parts is None:
        return text
    user = _normal_escapes(parts.user, _NOT_IN_USER)
    path = _without_dots(_normal_escapes(parts.path, _NOT_IN_PATH)) or "/"
    query = _normal_escapes(parts.query or "", _NOT_IN_QUERY)
    if drop_tracking and query:
        query = "&".join(pair for pair in query.split("&") if not _is_tracking(pair))
    fragment = parts.fragment.removeprefix("#")
    route = "#" + _normal_escapes(fragment, _NOT_IN_QUERY) if routes and is_route(fragment) else ""
    return parts._replace(user=user).origin + path + (f"?{query}" if query else "") + route


def is_route(fragment: str) -> bool:
    """Whether a fragment is a page of its own in a site that scripts draw: `/two`, `!two` or `!/two`."""
    return _ROUTE.match(fragment) is not None


def resolve(base: str, href: str) -> str | None:
    """Return the absolute URL of `href` on the page `base`, as in browsers; None if it is invalid.

    Spaces and control characters are escaped, other escapes unchanged (see `canonical`). A link with another scheme
    (`mailto:`, `javascript:`) is returned as it is: check with `is_web_link` or `is_safe_link`.
    """
    if "/." not in href:  # most links: nothing to clean, nothing to remove
        if _READY.fullmatch(href):
            return href
        parent = _base(base)
        if parent is not None:
            if _ROOTED.fullmatch(href):
                return parent.origin + href
            if _NEARBY.fullmatch(href):
                return parent.folder + href
    return _resolve_anything(base, href)


def resolve_web(base: str, href: str) -> str | None:
    """Resolve `href` on the page `base`; None if the result is not http or https."""
    url = resolve(base, href)
    return url if url is not None and is_web_link(url) else None


def resolve_all_web(base: str, hrefs: Iterable[str]) -> Iterator[str]:
    """Yield what `resolve_web` returns for each of some links of a page, without those that are no web links."""
    parent = _base(base)
    is_web = parent is not None and parent.scheme in ("http", "https")
    for href in hrefs:
        if "/." not in href:  # as in `resolve`
            if href[:1] == "h" and _READY.fullmatch(href):
                yield href
                continue
            if parent is not None and is_web:
                if href[:1] == "/":
                    if _ROOTED.fullmatch(href):
                        yield parent.origin + href
                        continue
                elif _NEARBY.fullmatch(href):
                    yield parent.folder + href
                    continue
        url = resolve_web(base, href)
        if url is not None:
            yield url


def _resolve_anything(base: str, href: str) -> str | None:
    href = _clean(href)
    scheme = _SCHEME.match(href)
    parent = _base(base)
    if scheme:
        name = scheme[1].lower()
        rest = href[scheme.end() :]
        if name not in DEFAULT_PORTS:
            return href
        if parent is None or parent.scheme != name or rest[:2].replace("\\", "/") == "//":
            return _absolute(href)
        href = rest  # "https:page.html" on an https page is relative, in browsers too
    return None if parent is None else _relative(parent, href)


def is_web_link(url: str) -> bool:
    """Whether browsers treat `url` as http or https."""
    return url.startswith(("https://", "http://")) or _scheme(url) in {"http", "https"}


def is_safe_link(url: str) -> bool:
    """Whether browsers treat `url` as http, https or mailto, which run no code when followed."""
    return url.startswith(("https://", "http://")) or _scheme(url) in SAFE_SCHEMES


SiteKeyKind = Literal["host", "domain", "prefix", "column", "all", "none"]
SITE_KEYS: Final = "host, domain, prefix:N (N from 1 to 999), column, all or none"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteKey:
    """Which pages form one site.

    - `host`: the host in lower case, "www." kept, with its port where that is not the default.
    - `domain`: the registered domain by the public suffix list, including private suffixes (github.io); the host itself
      if there is none (an IP address, localhost).
    - `prefix`: the host and the first `segments` folders of the path. The last segment of a path that does not end in
      "/" is a file and does not count: with one segment /a/b and /a/ are in "host/a", and /a is in "host".
    - `column`: the page's `site`; the host if it has none.
    - `all`: all pages are one site, "".
    - `none`: every page on its own. No site is learned; pages stay in input order, and the `site` of a record is the
      page's host.

    A page without a web URL has the host "", so all of them are one site. The URLs of pages in a folder are relative
    paths: by host they are one site, by prefix one site per subfolder.
    """

    by: SiteKeyKind = "host"
    segments: int = 0

    @classmethod
    def parse(cls, text: str) -> SiteKey:
        """Read the form of the command line: `host`, `domain`, `prefix:N`, `column`, `all` or `none`."""
        kind, colon, number = text.strip().lower().partition(":")
        if kind == "prefix" and number.isascii() and number.isdigit() and 1 <= len(number) <= 3 and int(number) > 0:
            return cls(by="prefix", segments=int(number))
        for known in get_args(SiteKeyKind):
            if kind == known != "prefix" and not colon:
                return cls(by=known)
        raise SettingsError(f"no site key {text!r}: expected {SITE_KEYS}, as in prefix:1")

    @property
    def has_sites(self) -> bool:
        """Whether pages form sites that can be learned: False for `none`."""
        return self.by != "none"

    def check_sites(self, purpose: str) -> None:
        """Raise `SettingsError` for `none`, where `purpose` (such as "learning") needs sites."""
        if not self.has_sites:
            raise SettingsError(f"--site-by none has no sites, which {purpose} needs; all makes one site of all pages")

    def name(self, site: str, url: str) -> str:
        """The `site` in the record of a page: its site, or with `none` its host."""
        return site if self.has_sites else SiteKey().of(url)

    def of(self, url: str, site: str | None = None) -> str:
        """The site of the page with this URL, and the `site` that its input gives; "" for `all` and `none`."""
        if self.by in ("all", "none"):
            return ""
        if self.by == "column" and site is not None:
            return site
        text = _clean(url)
        parts = _split(text)
        if self.by == "domain":
            return "" if parts is None else _registered_domain(parts.host)
        if self.by == "prefix":
            return self._prefix(parts, text)
        return "" if parts is None else parts.site

    def _prefix(self, parts: _WebUrl | None, text: str) -> str:
        if parts is not None:
            folders = _without_dots(_normal_escapes(parts.path, _NOT_IN_PATH)).split("/")[1:-1]
            return "/".join([parts.site, *folders[: self.segments]])
        if _SCHEME.match(text):
            return ""
        return "/".join(text.split("/")[:-1][: self.segments])


def _clean(text: str) -> str:
    return text.strip(_EDGES).translate(_INSIDE)


def _scheme(url: str) -> str:
    found = _SCHEME.match(_clean(url))
    return found[1].lower() if found else ""


def _split(text: str) -> _WebUrl | None:
    """Split a cleaned web URL; None if it is invalid in browsers."""
    found = _WEB.fullmatch(text)
    if found is None:
        return None
    user, _, host_port = found[2].rpartition("@")
    authority = _HOST_PORT.fullmatch(host_port)
    if authority is None:
        return None
    host = _ascii_host(authority[1])
    scheme = found[1].lower()
    port = (authority[2] or "").lstrip("0") or ("0" if authority[2] else "")
    if host is None or len(port) > len(str(MAX_PORT)) or int(port or 0) > MAX_PORT:
        return None
    port = "" if port == DEFAULT_PORTS[scheme] else port
    return _WebUrl(scheme, user, host, port, found[3].replace("\\", "/"), found[4], found[5] or "")


@lru_cache(maxsize=4096)
def _ascii_host(host: str) -> str | None:
    """Return the host in lower-case ASCII; None if it is invalid.

    UTS 46 without its tables: compatibility forms, lower case, labels in punycode. As in browsers, and unlike IDNA 2003
    in the standard library, "straße" does not become "strasse".
    """
    if not host or len(host) > MAX_HOST_CHARS:
        return None
    if host.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]"
        except ValueError:
            return None
    if "%" in host:
        host = unquote(host, errors="replace")
    if not host.isascii():
        host = unicodedata.normalize("NFKC", host.translate(_INVISIBLE)).replace(_IDEOGRAPHIC_STOP, ".")
        host = unicodedata.normalize("NFKC", host.lower())
    if not host.strip(".") or _FORBIDDEN_IN_HOST.search(host):
        return None
    return ".".join(map(_ascii_label, host.lower().split(".")))


def _ascii_label(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def _normal_escapes(text: str, not_allowed: re.Pattern[str]) -> str:
    """Normalise escapes: upper case, none for unreserved characters, one for each not allowed (RFC 3986, 6.2.2)."""
    return not_allowed.sub(_normal_escape, text)


def _normal_escape(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 1:
        return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))
    character = chr(int(text[1:], 16))
    return character if character in _UNRESERVED else text.upper()


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, 5.2.4) from a path that is empty or starts with "/"."""
    if "/." not in path:
        return path
    segments = path.split("/")[1:]
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _is_tracking(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES)


class _Base(NamedTuple):
    """The components of a page's URL for relative links: `folder` is the URL up to the last "/" of `path`."""

    scheme: str
    origin: str
    path: str
    query: str
    folder: str


@lru_cache(maxsize=256)
def _base(url: str) -> _Base | None:
    """Return the components of a URL that relative links are resolved against; None if it has none, or is too long."""
    text = _clean(url)
    if len(text) > MAX_BASE_CHARS:
        return None
    parts = _split(text)
    if parts is not None:
        return _base_of(parts.scheme, parts.origin, parts.path, "" if parts.query is None else f"?{parts.query}")
    found = _BASE.match(text)
    if found is None or found[1].lower() in DEFAULT_PORTS:
        return None
    return _base_of(found[1].lower(), f"{found[1].lower()}://{found[2]}", found[3], found[4] or "")


def _base_of(scheme: str, origin: str, path: str, query: str) -> _Base:
    path = _escape_odd(_without_dots(path) or "/")
    return _Base(scheme, origin, path, _escape_odd(query), origin + path[: path.rfind("/") + 1])


def _absolute(text: str) -> str | None:
    parts = _split(text)
    if parts is None:
        return None
    query = "" if parts.query is None else f"?{parts.query}"
    return parts.origin + _escape_odd((_without_dots(parts.path) or "/") + query + parts.fragment)


def _relative(base: _Base, href: str) -> str | None:
    """Resolve a cleaned link without a scheme (RFC 3986, 5.2.2)."""
    end = min((at for at in (href.find("?"), href.find("#")) if at >= 0), default=len(href))
    path, rest = href[:end].replace("\\", "/"), href[end:]
    if path.startswith("//"):
        if base.scheme in DEFAULT_PORTS:
            return _absolute(f"{base.scheme}:{path}{rest}")
        return f"{base.scheme}:{_escape_odd(path + rest)}"
    if not path:
        query = "" if rest.startswith("?") else base.query
        return base.origin + base.path + query + _escape_odd(rest)
    if not path.startswith("/"):
        path = base.path[: base.path.rfind("/") + 1] + path
    return base.origin + _escape_odd(_without_dots(path) + rest)


def _escape_odd(text: str) -> str:
    return _ODD.sub(lambda found: f"%{ord(found[0]):02X}", text) if _ODD.search(text) else text


@cache
def _suffixes() -> TLDExtract:
    """Load the public suffix list bundled with tldextract: never fetched, never cached on disk."""
    from tldextract import TLDExtract  # noqa: PLC0415 (0.15 s, and only `domain` needs it)

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=4096)
def _registered_domain(host: str) -> str:
    found = _suffixes()(host)
    return f"{found.domain}.{found.suffix}" if found.domain and found.suffix else host
