"""The site style tree of thesis 4.2 transcribed onto Python objects: Figures 4-3 to 4-8 and 4.2.5.

Nothing here is shared with the package; pages are built as `Tag` trees and written as HTML for it. The corrections are
those of the design: text directly inside an internal element is a leaf of its own outside of the style sequence,
marking visits all children, noisy wins, and a locally noisy feature has 1 - H below epsilon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log
from typing import Any

Style = tuple[tuple[str, str], ...]
"""A presentation style: the tag and the attributes of each child tag node."""


class AmbiguousJoin(Exception):
    """Two joins are equally good, and which is done first matters."""


@dataclass(eq=False)
class Tag:
    """A tag node of a page: its name, its class, and its children, which are texts and tag nodes."""

    name: str
    attr: str = ""
    inside: list[str | Tag] = field(default_factory=list)
    link: str = ""

    @property
    def children(self) -> list[Tag]:
        return [one for one in self.inside if isinstance(one, Tag)]

    @property
    def style(self) -> Style:
        return tuple((child.name, child.attr) for child in self.children)

    @property
    def height(self) -> int:
        return 1 + max((child.height for child in self.children), default=-1)

    def html(self) -> str:
        attributes = f' class="{self.attr}"' if self.attr else ""
        if self.name == "a":
            attributes += f' href="/{self.link}"'
        if self.name == "img":
            return f'<img src="/{self.link}.png"{attributes}>'
        inside = "".join(f" {one} " if isinstance(one, str) else one.html() for one in self.inside)
        return f"<{self.name}{attributes}>{inside}</{self.name}>"

    def words(self) -> list[str]:
        return [w for one in self.inside for w in (one.split() if isinstance(one, str) else one.words())]

    def features(self) -> list[str]:
        """The words, links and images under the node."""
        found = [f"{self.name} {self.link}"] if self.link else []
        for one in self.inside:
            found += one.split() if isinstance(one, str) else one.features()
        return found

    def own_features(self) -> list[str]:
        """The features of an internal node's own leaf: its text and its actual leaf children (enhancement 2)."""
        found = [f"{self.name} {self.link}"] if self.link else []
        for one in self.inside:
            if isinstance(one, str):
                found += one.split()
            elif one.height == 0:
                found += one.features()
        return found


@dataclass(eq=False)
class StyleNode:
    """(Es, n): how many pages have the style, and the element nodes at each position by kind."""

    n: int
    places: list[dict[str, Element]]


@dataclass(eq=False)
class Element:
    """An element node: its tag nodes, one for each page, the styles below, and its `places` in its parent's styles."""

    name: str
    attr: str
    kind: str
    tags: list[Tag]
    counts: list[Counter[str]]
    """The features of each tag node."""
    places: list[tuple[Style, int]] = field(default_factory=list)
    styles: dict[Style, StyleNode] = field(default_factory=dict)
    own: Element | None = None
    importance: float = 0.0
    noisy: bool = False
    meaningful: bool = False

    @property
    def m(self) -> int:
        return len(self.counts)

    def elements(self) -> list[Element]:
        """The distinct elements right below, with the own leaf."""
        found: list[Element] = [] if self.own is None else [self.own]
        for style in self.styles.values():
            for place in style.places:
                found += [one for one in place.values() if not any(one is known for known in found)]
        return found

    def speaks(self) -> bool:
        return any(self.counts)

    def entropy(self, feature: str) -> float:
        """Equation 5-5."""
        if self.m == 1:
            return 0.0
        counts = [count[feature] for count in self.counts if count[feature]]
        return -sum(f / sum(counts) * log(f / sum(counts), self.m) for f in counts)


def kind_of(tag: Tag) -> str:
    return "leaf" if tag.height == 1 else "internal"


class PublishedSst:
    """The site style tree of some pages, given as their BODY."""

    def __init__(
        self, pages: Sequence[Tag], *, gamma: float = 0.85, overlap: float = 0.85, attenuation: float = 0.9
    ) -> None:
        self.gamma, self.overlap, self.attenuation = gamma, overlap, attenuation
        roots = [Tag("#root", inside=[body]) for body in pages]
        self.root = Element("#root", "", "internal", roots, [Counter(root.features()) for root in roots])
        self._build(self.root)
        self._measure(self.root)

    # Figure 4-3 and enhancement 1

    def _build(self, element: Element) -> None:
        """The style nodes below an element; elements right below are merged if possible, then built in turn."""
        if element.kind != "internal":
            return
        own = [counts for tag in element.tags if (counts := Counter(tag.own_features()))]
        if own:
            element.own = Element("#text", "", "leaf", [], own)
        by_style: dict[Style, list[Tag]] = {}
        for tag in element.tags:
            by_style.setdefault(tag.style, []).append(tag)
        below: list[Element] = []
        for style, tags in by_style.items():
            for at in range(len(style)):
                by_kind: dict[str, list[Tag]] = {}
                for child in (tag.children[at] for tag in tags):
                    if child.height > 0:
                        by_kind.setdefault(kind_of(child), []).append(child)
                for kind, found in by_kind.items():
                    counts = [Counter(child.features()) for child in found]
                    below.append(Element(*style[at], kind, found, counts, [(style, at)]))
        below = self._merged(below)
        for style, tags in by_style.items():
            places: list[dict[str, Element]] = [{} for _ in style]
            for one in below:
                for where, at in one.places:
                    if where == style:
                        places[at][one.kind] = one
            element.styles[style] = StyleNode(len(tags), places)
        for one in below:
            self._build(one)

    def _merged(self, elements: list[Element]) -> list[Element]:
        while True:
            pairs = []
            for one, other in combinations(elements, 2):
                similar = self._similarity(one, other)
                if similar is not None and similar >= self.overlap:
                    pairs.append((similar, one, other))
            if not pairs:
                return elements
            best = max(similar for similar, _, _ in pairs)
            equal = [{id(one), id(other)} for similar, one, other in pairs if similar == best]
            if any(pair & another for pair, another in combinations(equal, 2)):
                raise AmbiguousJoin
            _, one, other = next(pair for pair in pairs if pair[0] == best)
            union = Element(
                one.name,
                one.attr,
                one.kind,
                one.tags + other.tags,
                one.counts + other.counts,
                one.places + other.places,
            )
            elements = [left for left in elements if left is not one and left is not other] + [union]

    def _similarity(self, one: Element, other: Element) -> float | None:
        """|I1 & I2| / |I1 | I2| of elements of different style nodes with equal tag and attributes, or None."""
        if (one.name, one.attr, one.kind) != (other.name, other.attr, other.kind):
            return None
        if {style for style, _ in one.places} & {style for style, _ in other.places}:
            return None
        mine, theirs = self._characteristic(one), self._characteristic(other)
        return len(mine & theirs) / len(mine | theirs) if mine and theirs else None

    def _characteristic(self, element: Element) -> set[str]:
        df = Counter(feature for counts in element.counts for feature in counts)
        return {feature for feature, pages in df.items() if pages >= self.gamma * element.m}

    # CalcCompImp: equations 5-1 to 5-5

    def _measure(self, element: Element) -> None:
        for below in element.elements():
            self._measure(below)
        if element.kind == "leaf":
            features = {feature for counts in element.counts for feature in counts}
            if features:
                element.importance = 1 - sum(map(element.entropy, features)) / len(features)
            return
        shares = [style.n / element.m for style in element.styles.values()]
        node = -sum(p * log(p, element.m) for p in shares) if element.m > 1 else 1.0
        composites = []
        for style in element.styles.values():
            counted = [one.importance for place in style.places for one in place.values() if one.speaks()]
            composites.append(sum(counted) / len(counted) if counted else 0.0)
        rest = self.attenuation ** len(shares)
        element.importance = (1 - rest) * node + rest * sum(p * c for p, c in zip(shares, composites, strict=True))

    # Figure 4-5

    def mark(self, threshold: float) -> None:
        """MarkNoise and MarkMeaningful."""
        self._mark(self.root, threshold)

    def _mark(self, element: Element, threshold: float) -> bool:
        """Whether nothing at or below the element is noisy."""
        below = [one for one in element.elements() if one.speaks()]
        clean = [self._mark(one, threshold) for one in below]
        element.noisy = element.speaks() and all(one.noisy for one in below) and element.importance <= threshold
        element.meaningful = element.speaks() and all(clean) and not element.noisy
        return all(clean) and not element.noisy

    # Figure 4-7

    def content(self, page: Tag, epsilon: float = 0.01) -> list[str]:
        """MapSST: the words of a page that are kept, in page order."""
        return list(self._map(self.root, Tag("#root", inside=[page]), epsilon))

    def _map(self, element: Element, tag: Tag, epsilon: float) -> Iterator[str]:
        if element.noisy:
            return
        if element.meaningful:
            yield from self._lively(element, tag, epsilon)
        elif element.kind == "leaf" or tag.style not in element.styles:
            yield from tag.words()
        else:
            for place, one in self._parts(element, tag):
                if isinstance(one, Tag) and one.height > 0:
                    known = place.get(kind_of(one))
                    yield from one.words() if known is None else self._map(known, one, epsilon)
                elif element.own is None or not element.own.noisy:
                    yield from _without(_words(one), element.own, epsilon)

    def _lively(self, element: Element, tag: Tag, epsilon: float) -> Iterator[str]:
        """The content under a meaningful element without its locally noisy features (4.2.5)."""
        if element.kind == "leaf":
            yield from _without(tag.words(), element, epsilon)
        elif tag.style not in element.styles:
            yield from tag.words()
        else:
            for place, one in self._parts(element, tag):
                if isinstance(one, Tag) and one.height > 0:
                    known = place.get(kind_of(one))
                    yield from one.words() if known is None else self._lively(known, one, epsilon)
                else:
                    yield from _without(_words(one), element.own, epsilon)

    def _parts(self, element: Element, tag: Tag) -> Iterator[tuple[dict[str, Element], str | Tag]]:
        """What is inside a tag node, each tag node with the elements at its position."""
        places = iter(element.styles[tag.style].places)
        for one in tag.inside:
            yield (next(places) if isinstance(one, Tag) else {}), one


def _words(one: str | Tag) -> list[str]:
    return one.split() if isinstance(one, str) else one.words()


def _without(words: list[str], leaf: Element | None, epsilon: float) -> Iterator[str]:
    for word in words:
        known: Any = leaf is not None and any(counts[word] for counts in leaf.counts)
        if not known or 1 - leaf.entropy(word) >= epsilon:  # type: ignore[union-attr]
            yield word
