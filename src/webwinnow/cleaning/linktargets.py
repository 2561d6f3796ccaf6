"""Where the links of a page lead, by the structure of their addresses: up the page's own path, beside it, elsewhere.

The thesis tells kinds of navigation apart by this (6.1c): hub or sibling pages, inside or outside the site.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

__all__ = ["TARGETS", "Page", "Target"]

TARGETS: tuple[str, ...] = tuple(
    "here fragment script mail home up beside below section inside relative_site outside carrying numbered".split()
)
"""What a link may be; it is one of the first twelve, and the last two besides. `here`: this very page; `fragment`: a
place on it; `home`: the host's root; `up`: a folder that the page lies in; `beside`: of the same folder; `below`;
`section`: of the same first folder; `inside`: the same host; `relative_site`: another host of the same name;
`outside`; `carrying`: hands this page's address or name on to another host; `numbered`: differs from this page in
numbers only."""

LONGEST = 400
"""Characters of an address that are looked at."""
LONGEST_SUFFIX = 3
"""Characters of the label before the last in names such as `co.uk`, at most."""
MOST_WORDS = 12
"""Words of one part of an address that are heard."""
_WORDS = re.compile(r"[^\W\d_]{2,24}")
_NUMBERS = re.compile(r"\d+")
_WEB = ("http", "https", "")


class Target(NamedTuple):
    """One link: which of `TARGETS` it is, how deep its path goes, whether it hands the page on or differs from it in
    numbers only, and the words of its address, each with where it stands (`h` host, `p` path, `q` query).
    """

    what: str
    depth: int
    carrying: bool
    numbered: bool
    words: tuple[str, ...]


class Page:
    """The page that links stand on. Asked for the same `href` again, it answers from memory."""

    def __init__(self, url: str) -> None:
        parts = _split(url)
        self.scheme, self.host = parts.scheme, _host(parts.netloc)
        self.path = parts.path or "/"
        self.folder = self.path[: self.path.rfind("/") + 1]
        self.section = _first_folder(self.path)
        self.query = parts.query
        self.plain = _NUMBERS.sub("#", f"{self.path}?{self.query}")
        self.known: dict[str, Target] = {}

    def target(self, href: str, resolved: str | None) -> Target:
        """What a link of this page is; `resolved` is its absolute address, None where it has none."""
        found = self.known.get(href)
        if found is None:
            found = self.known[href] = self._target(href.strip()[:LONGEST], resolved)
        return found

    def _target(self, href: str, resolved: str | None) -> Target:
        if href.startswith("#"):
            return Target("fragment" if len(href) > 1 else "script", 0, False, False, _words("p", href[1:]))
        if resolved is None:
            return Target("script", 0, False, False, ())
        parts = _split(resolved[:LONGEST])
        if parts.scheme not in _WEB and parts.scheme != self.scheme:
            what = "mail" if parts.scheme in ("mailto", "tel", "sms") else "script"
            return Target(what, 0, False, False, _words("h", parts.scheme))
        host, path = _host(parts.netloc), parts.path or "/"
        words = _words("p", path) + _words("q", parts.query)
        depth = path.count("/") - path.endswith("/")
        if host != self.host:
            near = _same_name(host, self.host)
            carrying = not near and bool(self.host) and (self.host in resolved[len(parts.netloc) + 8 :])
            return Target("relative_site" if near else "outside", depth, carrying, False, words + _words("h", host))
        if path == self.path and parts.query == self.query:
            return Target("fragment" if parts.fragment else "here", depth, False, False, words)
        numbered = _NUMBERS.sub("#", f"{path}?{parts.query}") == self.plain
        return Target(self._place(path), depth, False, numbered, words)

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


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # a broken IPv6 host
        return SplitResult("", "", "", "", "")


def _host(netloc: str) -> str:
    return netloc.rpartition("@")[2].lower().removeprefix("www.")


def _same_name(one: str, other: str) -> bool:
    """Whether two hosts end in the same name: one inside the other, or the last two labels equal, no short ones."""
    if one.endswith("." + other) or other.endswith("." + one):
        return True
    last, same = one.split(".")[-2:], other.split(".")[-2:]
    return last == same and len(last[0]) > LONGEST_SUFFIX


def _first_folder(path: str) -> str:
    parts = path.split("/", 2)
    return parts[1] if len(parts) > 2 else ""


def _is_index_of(path: str, folder: str) -> bool:
    own, _, name = path.rpartition("/")
    return name.startswith(("index.", "default.")) and folder.startswith(own + "/") and own + "/" != folder


def _words(where: str, text: str) -> tuple[str, ...]:
    return tuple(f"{where}:{word.lower()}" for word in _WORDS.findall(unquote(text, errors="replace"))[:MOST_WORDS])
