"""Where the links of a page lead, by the structure of their URLs: up the page's own path, beside it, elsewhere.

The thesis distinguishes kinds of navigation by this (6.1c): hub or sibling pages, inside or outside the site.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

TARGETS: tuple[str, ...] = tuple(
    "here fragment script mail home up beside below section inside relative_site outside carrying numbered".split()
)
"""What a link may be: one of the first twelve, and possibly the last two. `here`: this very page; `fragment`: a place
on it; `home`: the host's root; `up`: a folder that contains the page; `beside`: in the same folder; `below`; `section`:
in the same first folder; `inside`: on the same host; `relative_site`: another host of the same name; `outside`;
`carrying`: passes this page's URL or name on to another host; `numbered`: differs from this page only in numbers."""

LONGEST = 400
"""Characters of a URL that are read."""
LONGEST_SHARED = 2000
"""Characters of a query in which the page's URL is looked for."""
LONGEST_SUFFIX = 3
"""Longest label before the last in names such as `co.uk`, in characters."""
MOST_WORDS = 12
"""Words read from one part of a URL."""
_WORDS = re.compile(r"[^\W\d_]{2,24}")
_NUMBERS = re.compile(r"\d+")
_WEB = ("http", "https", "")


class Target(NamedTuple):
    """One link: which of `TARGETS` it is, the depth of its path, whether it is `carrying` or `numbered`, the words of
    its URL, each with the part that it is in (`h` host, `p` path, `q` query), its host and folder, and whether it
    `shares` the page: its query passes the page's whole URL on to another host.
    """

    what: str
    depth: int = 0
    carrying: bool = False
    numbered: bool = False
    words: tuple[str, ...] = ()
    host: str = ""
    folder: str = ""
    shares: bool = False


class LinkTargets:
    """The targets of the links of one page; each `href` is resolved once."""

    def __init__(self, url: str) -> None:
        parts = _split(url)
        self.scheme, self.host = parts.scheme, _host(parts.netloc)
        self.path = parts.path or "/"
        self.folder = self.path[: self.path.rfind("/") + 1]
        self.section = _first_folder(self.path)
        self.query = parts.query
        self.depth = _depth(self.path)
        self.own = f"/{self.host}{self.path.rstrip('/')}", f"/www.{self.host}{self.path.rstrip('/')}"
        self.plain = _NUMBERS.sub("#", f"{self.path}?{self.query}")
        self.known: dict[str, Target] = {}

    def of(self, href: str, resolved: str | None) -> Target:
        """The target of a link; `resolved` is its absolute URL, None where it has none."""
        found = self.known.get(href)
        if found is None:
            found = self.known[href] = self._target(href.strip()[:LONGEST], resolved)
        return found

    def _target(self, href: str, resolved: str | None) -> Target:
        if href.startswith("#"):
            return Target("fragment" if len(href) > 1 else "script", words=_words("p", href[1:]))
        if resolved is None:
            return Target("script")
        parts = _split(resolved[:LONGEST])
        if parts.scheme not in _WEB and parts.scheme != self.scheme:
            what = "mail" if parts.scheme in ("mailto", "tel", "sms") else "script"
            return Target(what, words=_words("h", parts.scheme))
        host, path = _host(parts.netloc), parts.path or "/"
        words = _words("p", path) + _words("q", parts.query)
        depth, folder = _depth(path), path[: path.rfind("/") + 1]
        if host != self.host:
            near = _same_name(host, self.host)
            carrying = not near and bool(self.host) and (self.host in resolved[len(parts.netloc) + 8 :])
            passed = unquote(resolved.partition("?")[2][:LONGEST_SHARED], errors="replace") if carrying else ""
            shares = any(own in passed for own in self.own)
            what = "relative_site" if near else "outside"
            return Target(what, depth, carrying, False, words + _words("h", host), host, folder, shares)
        if path == self.path and parts.query == self.query:
            return Target("fragment" if parts.fragment else "here", depth, False, False, words, host, folder)
        numbered = _NUMBERS.sub("#", f"{path}?{parts.query}") == self.plain
        return Target(self._place(path), depth, False, numbered, words, host, folder)

    def _place(self, path: str) -> str:
        if path == "/" or path.startswith("/index."):
            return "home"
        folder = path[: path.rfind("/") + 1]
        if path != self.path and (self.path.startswith(path.rstrip("/") + "/") or _is_index_of(path, self.folder)):
            return "up"
        if path.startswith(self.path.rstrip("/") + "/"):
            return "below"
        if folder == self.folder:
            return "beside"
        return "section" if self.section and _first_folder(path) == self.section else "inside"


def without_sharing(url: str, targets: list[str]) -> list[str]:
    """Those of a page's absolute link `targets` that do not pass the page's URL on to another host."""
    host = _host(_split(url).netloc)
    # most links have no such query: to split every URL took a third of a run's time
    passing = {t for t in targets if "?" in t and host in t.partition("?")[2]} if host else ()
    if not passing:
        return targets
    lead = LinkTargets(url)
    return [t for t in targets if not (t in passing and lead.of(t, t).shares)]


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # a broken IPv6 host
        return SplitResult("", "", "", "", "")


def _host(netloc: str) -> str:
    return netloc.rpartition("@")[2].lower().removeprefix("www.")


def _same_name(one: str, other: str) -> bool:
    """Whether two hosts share a name: one contains the other, or their last two labels are equal and not short."""
    if one.endswith("." + other) or other.endswith("." + one):
        return True
    last, same = one.split(".")[-2:], other.split(".")[-2:]
    return last == same and len(last[0]) > LONGEST_SUFFIX


def _depth(path: str) -> int:
    return path.count("/") - path.endswith("/")


def _first_folder(path: str) -> str:
    parts = path.split("/", 2)
    return parts[1] if len(parts) > 2 else ""


def _is_index_of(path: str, folder: str) -> bool:
    own, _, name = path.rpartition("/")
    return name.startswith(("index.", "default.")) and folder.startswith(own + "/") and own + "/" != folder


def _words(where: str, text: str) -> tuple[str, ...]:
    return tuple(f"{where}:{word.lower()}" for word in _WORDS.findall(unquote(text, errors="replace"))[:MOST_WORDS])
