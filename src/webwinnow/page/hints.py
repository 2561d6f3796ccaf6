"""`Hints`: where a page describes itself: JSON-LD, metas, headings, elements marked by class, property or relation."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.lazy import lazy_property
from webwinnow.page._finding import marked_attributes
from webwinnow.page.markup import ATTRIBUTE_CODE, BLOCK_TAGS, HIDDEN, TAG_CODE
from webwinnow.page.tree import Mask, PageTree, without_surrogates

# Spelling

LONGEST_LINE = 1_000
"""Characters of one title, name or date that are used."""
_NOT_WORD = re.compile(r"[\W_]+")
_SQUEEZED = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}
_ICONS = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Characters for private use: glyphs of icon fonts."""
_INVISIBLE = str.maketrans("", "", "\x00\xad\u200b\u2060\ufeff")


def line(value: object) -> str:
    """Return a text as one line; "" for any other value."""
    if not isinstance(value, str):
        return ""
    text = value[:LONGEST_LINE]
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = _ICONS.sub(" ", without_surrogates(text).translate(_INVISIBLE))
    elif "\x00" in text:
        text = text.replace("\x00", "")
    return " ".join(text.split())


def squeezed(text: str) -> str:
    """Return the letters and digits in lower case, to compare spellings of a name."""
    if text.isascii():
        return text.translate(_SQUEEZED)  # five times as fast
    return _NOT_WORD.sub("", text).casefold()


# Titles: headings and the head's titles, which agree except for the site's name beside a separator

MAX_CUTS = 10
"""Separators of one title at which it is split."""
SIMILAR = 0.5
"""Share of a heading's words that occur in a title of the head, to count as another wording of it."""
_SEPARATOR = re.compile(r"(?<!\s)\s+(?:[|·•»«›/–—~-]+|::+)\s+|(?:(?<!\s)\s+)?[|»]\s*|:\s+")
"""Separators between a page's title and its site's name."""
_SEPARATING = re.compile(r"[|·•»«›/–—~:-]")
"""The signs of separators, one of which each has."""
_WORD = re.compile(r"\w+")
_PLACEHOLDERS = frozenset(
    (
        "untitled untitleddocument untitledpage newpage newdocument notitle pagetitle yourtitle titlehere title "
        "document inserttitlehere documenttitle defaulttitle sanstitre documentsanstitre documentosintítulo "
        "documentosintitulo documentosemtítulo documentosemtitulo documentosenzatitolo unbenanntesdokument unbenannt "
        "naamloosdocument безымянныйдокумент новаястраница 无标题文档 無標題文件 无标题 新建网页 無題ドキュメント 無題 "
        "제목없음 reactapp viteapp vitereact vitevue vitevuets vitereactts createnextapp"
    ).split()
)
"""Default titles of editing tools, squeezed: "Untitled Document" of Dreamweaver, "New Page 1" of FrontPage and their
translations (DocView 6), and those of today's project starters."""
LONGEST_PLACEHOLDER = 40
_NUMBERED = re.compile(r"[\W\d_]+$")


def chosen_title(
    declared: Sequence[str],
    headings: Sequence[str],
    is_site: Callable[[str], bool],
    is_shared: Callable[[str], bool] | None = None,
    others: Iterable[str] = (),
) -> str | None:
    """Choose the title from those that the head declares, best source first, and the headings.

    `is_shared` says which names many pages of the site have. They do not distinguish the page: such headings do not
    count, titles are without such parts, and where nothing is left, the first of the `others`, lower headings, that is
    not shared is the title.

    In this order: a heading that is also a title of the head, whole or beside a separator; a heading that shares most
    of its words with one; the head's title without the site's name; any heading. Placeholders of tools do not count.
    """
    declared = [title for title in declared if not is_placeholder(title)]
    own = [heading for heading in headings if not is_site(heading)]
    if is_shared is not None:
        own = [heading for heading in own if not is_shared(heading)]
        if not own and not any(without_shared(title, is_shared) for title in declared):
            named = (name for name in others if not is_site(name) and not is_shared(name))
            return next(named, None) or chosen_title(declared, headings, is_site)
    plain = [squeezed(heading) for heading in own]
    for split in (lambda title: (title,), title_parts) if own else ():
        spans = {squeezed(span): span for title in reversed(declared) for span in split(title)}
        for heading, spelled in zip(own, plain, strict=True):
            span = spans.get(spelled)
            if span is not None:  # take the spelling with more blanks: line breaks of a heading may lack them
                return span if span.count(" ") > heading.count(" ") else heading
    for heading in own:
        if any(shared_words(heading, title) >= SIMILAR for title in declared):
            return heading
    for title in declared:
        distinct = title if is_shared is None else without_shared(title, is_shared)
        if distinct != title:
            if distinct and not is_site(distinct):
                return distinct
        elif not is_site(title):
            return _without_site(title, is_site)
    return next(iter((*own, *declared, *headings)), None)


def is_placeholder(title: str) -> bool:
    """Whether a title was left by an editing tool, such as "Untitled Document" or "New Page 1"."""
    return len(title) <= LONGEST_PLACEHOLDER and squeezed(_NUMBERED.sub("", title)) in _PLACEHOLDERS


def title_parts(title: str) -> Iterator[str]:
    """Yield the parts before and after each separator."""
    for start, end in _cuts(title):
        yield title[:start]
        yield title[end:]


@lru_cache(maxsize=256)  # headline and metadata split the same titles
def _cuts(title: str) -> tuple[tuple[int, int], ...]:
    """Where the separators of a title start and end."""
    if _SEPARATING.search(title) is None:  # a tenth of the time of the pattern
        return ()
    return tuple(cut.span() for cut in islice(_SEPARATOR.finditer(title), MAX_CUTS))


def shared_words(heading: str, title: str) -> float:
    """The share of a heading's words that a title has."""
    found = set(_WORD.findall(heading.casefold()))
    return len(found & set(_WORD.findall(title.casefold()))) / len(found) if found else 0.0


def _without_site(title: str, is_site: Callable[[str], bool]) -> str:
    """Remove the name beside a separator: the site's, or the shorter last part if none is known."""
    cuts = _cuts(title)
    for start, end in cuts:
        if start and is_site(title[end:]):
            return title[:start]
    for start, end in reversed(cuts):
        if is_site(title[:start]) and end < len(title):
            return title[end:]
    if cuts and ":" not in title[slice(*cuts[-1])]:
        before, after = title[: cuts[-1][0]], title[cuts[-1][1] :]
        if before and after.count(" ") <= before.count(" "):
            return before
    return title


def without_shared(title: str, is_shared: Callable[[str], bool]) -> str:
    """Remove what is before or after a separator and shared by pages of the site; "" for a title that is shared."""
    if is_shared(title):
        return ""
    cuts = _cuts(title)
    first = max((end for start, end in cuts if is_shared(title[:start])), default=0)
    last = min((start for start, end in cuts if start >= first and is_shared(title[end:])), default=None)
    return title[first:last]


def name_key(name: str) -> int:
    """A 64-bit hash of a name, without case and punctuation."""
    return xxh3_64_intdigest(squeezed(name).encode("utf-8", "replace"))


def page_names(tree: PageTree, hints: Hints | None = None) -> NDArray[np.uint64]:
    """Keys of what a page might be called, ascending: its titles, their parts, and its first headings."""
    hints = hints or Hints(tree)
    names = [part for title in hints.declared for part in (title, *title_parts(title))]
    names += [heading for _, heading in hints.headings] + hints.lower_headings
    plain = {squeezed(name) for name in names} - {""}
    return np.array(sorted(xxh3_64_intdigest(name.encode("utf-8", "replace")) for name in plain), np.uint64)


# Hints

MAX_HEADINGS = 8
MAX_TITLES = 8
AFTER_TITLE = 16
MAX_MARKED = 60
MAX_RUNS = 64
MAX_ATTRIBUTES = 60_000
"""Headings, titles, runs after the title, marked elements, runs of text and characters of attributes that are used: the
page's own come first, then those of its lists and comments."""

_HOST = re.compile(r"\s*[a-z]+://(?:www\.)?([^/?#:]+)", re.IGNORECASE)
_MARKING = frozenset(ATTRIBUTE_CODE[name] for name in ("class", "id", "itemprop", "rel"))
_WORKS = tuple("Article Posting Report Review Recipe Product Course Book Event VideoObject HowTo Question".split())
_ARTICLES = tuple("Article Posting Report Review Recipe HowTo".split())
_ARTICLE_KINDS = frozenset(("article", "blog", "news", "post"))
COUNTRY = 2
"""Letters of a country's top-level domain."""
_HOME = re.compile(r"[a-z]+://[^/?#]+/?", re.IGNORECASE)
_SECTION_HEADINGS = np.array([TAG_CODE[tag] for tag in ("h2", "h3", "h4")])
_LINK = TAG_CODE["a"]
_BLOCK_CODES = frozenset(TAG_CODE[tag] for tag in BLOCK_TAGS)
_ABOUT_SITE = frozenset(("WebSite", "Organization", "Person", "BreadcrumbList", "ImageObject", "SiteNavigationElement"))


_BY_SITE = frozenset(("is_shared", "fetched", "title", "title_end", "after_title", "lines_after_title"))
"""The attributes of `Hints` that other pages of the site, or the time of fetching, may change."""


class Line(NamedTuple):
    """A line of the page's text: where it starts, and its words."""

    start: int
    text: str


class Hints:
    """The hints of one page, each computed on first use."""

    def __init__(
        self, tree: PageTree, is_shared: Callable[[str], bool] | None = None, fetched: str | None = None
    ) -> None:
        self.tree = tree
        self.head = tree.head
        self.is_shared = is_shared
        """Whether many pages of the site have a name."""
        self.fetched = fetched
        """The time at which the page was fetched, if known."""

    def on_site(self, is_shared: Callable[[str], bool] | None, fetched: str | None = None) -> Hints:
        """The same hints where the site is known; what does not depend on it is not computed again."""
        hints = Hints(self.tree, is_shared, fetched)
        hints.__dict__ |= {name: found for name, found in self.__dict__.items() if name not in _BY_SITE}
        return hints

    @lazy_property
    def title(self) -> str | None:
        headings = [heading for _, heading in self.headings]
        return chosen_title(self.declared, headings, self.is_site, self.is_shared, self._lower_headings())

    @lazy_property
    def declared(self) -> list[str]:
        """The distinct titles that the head declares, best source first."""
        return list(dict.fromkeys(islice(self._titles(), MAX_TITLES)))

    def _titles(self) -> Iterator[str]:
        """Yield the titles that the head declares, best source first."""
        declared = self.metas("og:title", "twitter:title", "citation_title", "dc.title", "parsely-title")
        headlines = (line(thing.get("headline")) for thing in self.things)
        return filter(None, (title.rstrip(" ¶") for title in (*declared, *headlines, line(self.head.title))))

    def metas(self, *names: str) -> Iterator[str]:
        """Yield the contents of the metas with these names, in the order of the names."""
        found = self._metas
        return filter(None, (line(content) for name in names if name in found for content in found[name]))

    @lazy_property
    def _metas(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, content in self.head.metas:
            found.setdefault(name, []).append(content)
        return found

    @lazy_property
    def things(self) -> list[dict[str, Any]]:
        """JSON-LD objects that the page may be about: works first, then pages; nothing about the site."""
        return [*self._things[0], *self._things[1]]

    @property
    def works(self) -> list[dict[str, Any]]:
        """JSON-LD objects that are works: an article has a day, and a page of a shop has only that of its upload."""
        return self._things[0]

    @lazy_property
    def _things(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
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
        return works, others

    def named(self, value: object) -> Iterator[str]:
        """Yield the names in a JSON-LD property: texts, objects, or references to other objects of the page."""
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                name = one.get("name") or self._by_id.get(str(one.get("@id")), {}).get("name")
                yield from map(line, name if isinstance(name, list) else [name])
            else:
                yield line(one)

    @lazy_property
    def _by_id(self) -> dict[str, dict[str, Any]]:
        return {thing["@id"]: thing for thing in self.head.json_ld_things if isinstance(thing.get("@id"), str)}

    @lazy_property
    def headings(self) -> list[tuple[int, str]]:
        """Node and text of the first `<h1>` elements that are visible and have text."""
        return self._headings(self.tree.tag == TAG_CODE["h1"])

    @lazy_property
    def lower_headings(self) -> list[str]:
        """The texts of the first visible `<h2>` and `<h3>` elements."""
        tag = self.tree.tag
        return [heading for _, heading in self._headings((tag == TAG_CODE["h2"]) | (tag == TAG_CODE["h3"]))]

    def _lower_headings(self) -> Iterator[str]:
        """Yield the `lower_headings`, which hardly any page needs for its title."""
        yield from self.lower_headings

    def _headings(self, tagged: Mask) -> list[tuple[int, str]]:
        tree = self._unlinked
        nodes = tagged.nonzero()[0][:MAX_HEADINGS].tolist()
        found = [(node, line(text_of(tree, node))) for node in nodes if not tree.flags[node] & HIDDEN]
        return [(node, heading) for node, heading in found if heading]

    @lazy_property
    def _unlinked(self) -> PageTree:
        return self.tree.without_permalinks(self.tree.visible)[0]

    @lazy_property
    def title_end(self) -> int:
        """Where in the page's text its title, or else its first heading, ends; 0 if the page shows neither."""
        at = self.tree.text.find(self.title) if self.title else -1
        if self.title and at >= 0:
            return at + len(self.title)
        return int(self.tree.text_end[self.headings[0][0]]) if self.headings else 0

    @lazy_property
    def after_title(self) -> list[str]:
        """The runs of text after the title, where a byline is."""
        return list(self.runs_from(self.title_end, AFTER_TITLE)) if self.title_end else []

    @lazy_property
    def lines_after_title(self) -> list[Line]:
        """As `after_title`, in lines."""
        return list(self.lines_from(self.title_end, AFTER_TITLE)) if self.title_end else []

    def text(self, node: int) -> str:
        return text_of(self.tree, node)

    def runs_from(self, start: int, most: int, end: int | None = None) -> Iterator[str]:
        """Yield up to `most` text runs, as lines, that begin in the page's text from `start` and before `end`."""
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

    def lines_from(self, start: int, most: int, end: int | None = None) -> Iterator[Line]:
        """Yield the runs as `runs_from` does, those of a sentence with its links and emphasis as one line."""
        tree = self.tree
        first, end = int(tree.run_start.searchsorted(start)), len(tree.text) if end is None else end
        bounds = pairwise(tree.run_start[first : first + MAX_RUNS].tolist())
        found: Line | None = None
        before = -1
        for (a, b), owner in zip(bounds, tree.run_owner[first : first + MAX_RUNS].tolist(), strict=False):
            if most == 0 or a >= end:
                break
            run = tree.text[a:b]
            if not run.strip():
                continue
            text = " ".join(run[:LONGEST_LINE].split())
            if found is not None and self._are_one_line(before, owner):
                found = Line(found.start, f"{found.text} {text}"[:LONGEST_LINE])
            else:
                if found is not None:
                    yield found
                found = Line(a, text)
            before, most = owner, most - 1
        if found is not None:
            yield found

    def _are_one_line(self, owner: int, other: int) -> bool:
        """Whether the runs of two elements are text and an inline element in it, in either order."""
        tree = self.tree
        inner, outer = max(owner, other), min(owner, other)
        return int(tree.parent[inner]) == outer and int(tree.tag[inner]) not in _BLOCK_CODES

    def marked(self, word: str) -> Iterator[tuple[int, int, str]]:
        """Yield node, attribute code and value of elements whose class, id, itemprop or rel contains a word.

        The attributes of a page are one text, so that text is searched and not element by element.
        """
        tree = self.tree
        starts, name = tree.attr_start, tree.attr_name
        columns = starts, name, _MARKING
        for k in marked_attributes(tree.attr_text, word.encode(), MAX_ATTRIBUTES, MAX_MARKED, *columns):
            yield int(tree.attr_node[k]), int(name[k]), tree.attr_text[starts[k] : starts[k + 1]]

    @lazy_property
    def host(self) -> str:
        """The page's host, squeezed, without `www.`."""
        found = _HOST.match(self.tree.url) or _HOST.match(self.head.canonical or "")
        return squeezed(found[1]) if found else ""

    @lazy_property
    def country(self) -> str:
        """The top-level domain of a country that the page's host is in, or ""."""
        found = _HOST.match(self.tree.url) or _HOST.match(self.head.canonical or "")
        domain = found[1].rpartition(".")[2].lower() if found else ""
        return domain if len(domain) == COUNTRY and domain.isalpha() else ""

    @lazy_property
    def site_name(self) -> str | None:
        for name in self.metas("og:site_name", "application-name", "apple-mobile-web-app-title"):
            return name
        for thing in self.head.json_ld_things:
            if "WebSite" in _types(thing) and line(thing.get("name")):
                return line(thing["name"])
        return next((name for thing in self.things for name in self.named(thing.get("publisher")) if name), None)

    @lazy_property
    def is_home(self) -> bool:
        """Whether the URL is that of a site's home page: no work of anybody, and of no day."""
        return _HOME.fullmatch(self.tree.url) is not None

    @lazy_property
    def is_article(self) -> bool:
        """Whether the page declares itself to be an article."""
        if any(kind.lower() in _ARTICLE_KINDS for kind in self.metas("og:type")):
            return True
        return any(kind.endswith(_ARTICLES) for thing in self.things for kind in _types(thing))

    @lazy_property
    def is_product(self) -> bool:
        """Whether the page declares itself to be that of a product."""
        if any("product" in kind.lower() for kind in self.metas("og:type")):
            return True
        return not self.is_article and any(
            kind in ("Product", "ProductGroup") for thing in self.things for kind in _types(thing)
        )

    def in_teaser(self, node: int) -> bool:
        """Whether the last heading before an element, below the title, is a link: the element is about another page.

        A post of a thread may have the thread's title as a heading.
        """
        headings, linked = self._section_headings
        k = int(headings.searchsorted(node)) - 1
        if k < 0 or not linked[k] or int(self.tree.text_start[headings[k]]) < self.title_end:
            return False
        return squeezed(self.text(headings[k])) not in squeezed(self.title or "")

    @lazy_property
    def _section_headings(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The headings below the first rank that have text, and which contain a link or are in one."""
        tree = self.tree
        found = np.flatnonzero(np.isin(tree.tag, _SECTION_HEADINGS) & (tree.text_end > tree.text_start))
        links = np.flatnonzero(tree.tag == _LINK)
        inside = links.searchsorted(tree.end[found]) > links.searchsorted(found)
        return found, inside | (tree.tag[tree.parent[found]] == _LINK)

    def classes_around(self, node: int, most: int) -> Iterator[str]:
        """Yield class and id of the elements around one, nearest first."""
        tree = self.tree
        for _ in range(most):
            node = int(tree.parent[node])
            if node <= 0:
                return
            yield f"{tree.attribute(node, 'class') or ''} {tree.attribute(node, 'id') or ''}"

    def is_site(self, name: str) -> bool:
        """Whether a name is the site's: its own name, or its host spelled out."""
        return self.is_plain_site(squeezed(name))

    def is_plain_site(self, plain: str) -> bool:
        """As `is_site`, for a name that is squeezed."""
        return bool(plain) and (plain == self._plain_site or (len(plain) > 3 and plain in self.host))

    @lazy_property
    def _plain_site(self) -> str:
        return squeezed(self.site_name or "")


def text_of(tree: PageTree, node: int) -> str:
    """The beginning of the text of a node."""
    start = int(tree.text_start[node])
    return tree.text[start : min(int(tree.text_end[node]), start + LONGEST_LINE)]


def _types(thing: dict[str, Any]) -> set[str]:
    kinds = thing.get("@type")
    return {kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)}
