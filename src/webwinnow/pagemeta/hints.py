"""Where a page's hints stand: its JSON-LD, its metas, its headings, elements marked by class, property or relation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np

from webwinnow.markup import ATTRIBUTE_CODE, HIDDEN, TAG_CODE
from webwinnow.pagemeta.spelling import LONGEST_LINE, line, squeezed
from webwinnow.pagemeta.title import chosen_title
from webwinnow.pagetree import PageTree

__all__ = ["Hints"]

MAX_HEADINGS = 8
MAX_TITLES = 8
AFTER_TITLE = 16
MAX_MARKED = 60
MAX_RUNS = 64
MAX_ATTRIBUTES = 60_000
"""Headings, titles, runs after the title, marked elements, runs of text and characters of attributes that are looked
at: the page's own come first, then those of its lists and comments."""
PERMALINK = " ¶"
"""What documentation puts at the end of a heading as a link to it (Sphinx, MkDocs)."""

_HOST = re.compile(r"\s*[a-z]+://(?:www\.)?([^/?#:]+)", re.IGNORECASE)
_MARKING = frozenset(ATTRIBUTE_CODE[name] for name in ("class", "id", "itemprop", "rel"))
_WORKS = tuple("Article Posting Report Review Recipe Product Course Book Event VideoObject HowTo Question".split())
_ABOUT_SITE = frozenset(("WebSite", "Organization", "Person", "BreadcrumbList", "ImageObject", "SiteNavigationElement"))


class Hints:
    """One page's hints, each found when it is first asked for."""

    def __init__(self, tree: PageTree) -> None:
        self.tree = tree
        self.head = tree.head

    @cached_property
    def title(self) -> str | None:
        """The page's title, which other fields stand near."""
        headings = [heading for _, heading in self.headings]
        return chosen_title(list(dict.fromkeys(islice(self._titles(), MAX_TITLES))), headings, self.is_site)

    def _titles(self) -> Iterator[str]:
        """What the head calls the page, the most telling first."""
        yield from self.metas("og:title", "twitter:title", "citation_title", "dc.title", "parsely-title")
        for thing in self.things:
            said = line(thing.get("headline"))
            if said:
                yield said
        if self.head.title:
            yield line(self.head.title)

    def metas(self, *names: str) -> Iterator[str]:
        """What the metas of these names say, in the order of the names."""
        found = self._metas
        for name in names:
            if name in found:
                for content in found[name]:
                    said = line(content)
                    if said:
                        yield said

    @cached_property
    def _metas(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, content in self.head.metas:
            found.setdefault(name, []).append(content)
        return found

    @cached_property
    def things(self) -> list[dict[str, Any]]:
        """JSON-LD things that may be what the page is about: works first, then pages; nothing about the site."""
        works: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        for thing in self.head.json_ld_things:
            entity = thing.get("mainEntity")
            for one in (entity, thing) if isinstance(entity, dict) else (thing,):
                types = _types(one)
                if "headline" in one or any(kind.endswith(_WORKS) for kind in types):
                    works.append(one)
                elif not types & _ABOUT_SITE:
                    others.append(one)
        return works + others

    def named(self, value: object) -> Iterator[str]:
        """The names of what a JSON-LD property points at: texts, things, or references to other things of the page."""
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                name = one.get("name") or self._by_id.get(str(one.get("@id")), {}).get("name")
                yield from map(line, name if isinstance(name, list) else [name])
            else:
                yield line(one)

    @cached_property
    def _by_id(self) -> dict[str, dict[str, Any]]:
        return {thing["@id"]: thing for thing in self.head.json_ld_things if isinstance(thing.get("@id"), str)}

    @cached_property
    def headings(self) -> list[tuple[int, str]]:
        """The first `<h1>` elements: node and text; hidden ones, and those without text, left out."""
        tree = self.tree
        found = []
        for node in np.flatnonzero(tree.tag == TAG_CODE["h1"])[:MAX_HEADINGS].tolist():
            text = "" if tree.flags[node] & HIDDEN else line(self.text(node)).rstrip(PERMALINK)
            if text:
                found.append((node, text))
        return found

    @cached_property
    def title_end(self) -> int:
        """Where in the page's text its title, or else its first heading, ends; 0 if the page shows neither."""
        at = self.tree.text.find(self.title) if self.title else -1
        if self.title and at >= 0:
            return at + len(self.title)
        return int(self.tree.text_end[self.headings[0][0]]) if self.headings else 0

    @cached_property
    def after_title(self) -> list[str]:
        """The runs of text after the title, where a byline stands."""
        return list(self.runs_from(self.title_end, AFTER_TITLE)) if self.title_end else []

    def text(self, node: int) -> str:
        """The text of an element, cut where it gets long."""
        tree = self.tree
        start = int(tree.text_start[node])
        return tree.text[start : min(int(tree.text_end[node]), start + LONGEST_LINE)]

    def runs_from(self, start: int, most: int, end: int | None = None) -> Iterator[str]:
        """Text runs, as lines, that begin in the page's text at `start` or after, and before `end`; `most` of them."""
        tree = self.tree
        text, end = tree.text, len(tree.text) if end is None else end
        first = int(tree.run_start.searchsorted(start))
        for a, b in pairwise(tree.run_start[first : first + MAX_RUNS].tolist()):
            if most == 0 or a >= end:
                return
            run = text[a:b]
            if not run.isspace():
                most -= 1
                yield " ".join(run[:LONGEST_LINE].split())

    def marked(self, *words: str) -> Iterator[tuple[int, int, str]]:
        """Elements whose class, id, itemprop or rel holds one of these words: node, attribute code, value.

        The attributes of a page are one text, so the words are looked for in that and not element by element.
        """
        tree = self.tree
        starts = tree.attr_start
        last = -1
        for place in sorted(self._places(words))[:MAX_MARKED]:
            k = int(starts.searchsorted(place, side="right")) - 1
            if k == last or int(tree.attr_name[k]) not in _MARKING:
                continue
            last = k
            yield int(tree.attr_node[k]), int(tree.attr_name[k]), tree.attr_text[starts[k] : starts[k + 1]]

    def _places(self, words: tuple[str, ...]) -> Iterator[int]:
        text = self.tree.attr_text
        for word in words:
            at, seen = text.find(word, 0, MAX_ATTRIBUTES), 0
            while at >= 0 and seen < MAX_MARKED:
                yield at
                seen += 1
                at = text.find(word, at + len(word), MAX_ATTRIBUTES)

    @cached_property
    def host(self) -> str:
        """The page's host, squeezed, `www.` left out."""
        found = _HOST.match(self.tree.url) or _HOST.match(self.head.canonical or "")
        return squeezed(found[1]) if found else ""

    @cached_property
    def site_name(self) -> str | None:
        """What the site calls itself."""
        for name in self.metas("og:site_name", "application-name", "apple-mobile-web-app-title"):
            return name
        for thing in self.head.json_ld_things:
            if "WebSite" in _types(thing) and line(thing.get("name")):
                return line(thing["name"])
        for thing in self.things:
            for name in self.named(thing.get("publisher")):
                if name:
                    return name
        return None

    def is_site(self, name: str) -> bool:
        """Whether a name is the site's own: what it calls itself, or its host spelled out."""
        plain = squeezed(name)
        return bool(plain) and (plain == self._plain_site or (len(plain) > 3 and plain in self.host))

    @cached_property
    def _plain_site(self) -> str:
        return squeezed(self.site_name or "")


def _types(thing: dict[str, Any]) -> set[str]:
    kinds = thing.get("@type")
    return {kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)}
