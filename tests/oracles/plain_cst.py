"""The compressed structure tree and MapCST as published (thesis 4.3), over nested Python objects: slow and obvious.

Written from the text. Where it is silent, the rules are those of DESIGN.md: text directly inside an internal node is
a `#text` leaf; a tag node that is a leaf on one page and internal on another is two elements; the most similar pair is
merged first. A child of a page matches as `webwinnow.site.structuremap` says.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

GAMMA = LAMBDA = 0.85
INTERNAL, LEAF = "internal", "leaf"


class Undecided(Exception):
    """Two choices are equally good; the text does not say which is right, so there is nothing to compare."""


@dataclass(eq=False)
class TagNode:
    """A visible node of a page: its tag and attributes as one name, its children, and the features directly inside."""

    name: object
    children: list[TagNode] = field(default_factory=list)
    own: list[object] = field(default_factory=list)

    def height(self) -> int:
        return 1 + max((child.height() for child in self.children), default=-1)

    def features(self) -> list[object]:
        return self.own + [feature for child in self.children for feature in child.features()]

    def style(self) -> tuple[object, ...]:
        """The presentation style: the tags and attributes of the children, in order."""
        return tuple(child.name for child in self.children)


@dataclass(eq=False)
class Element:
    """An element node of the CST; `tags` is E.Ts, `children` E.Cs, `places` where each child was in a style of E."""

    name: object
    kind: str
    tags: list[TagNode]
    texts: Element | None = None
    """The `#text` leaf."""
    children: list[Element] = field(default_factory=list)
    places: dict[tuple[tuple[object, ...], int, str], Element] = field(default_factory=dict)

    @property
    def m(self) -> int:
        return len(self.tags)

    def characteristic(self) -> frozenset[object]:
        """I_j of step 3: the features of a share gamma of the tag nodes."""
        df = Counter(feature for tag in self.tags for feature in set(tag.features()))
        return frozenset(feature for feature, count in df.items() if count >= GAMMA * self.m)


def kind_of(node: TagNode, cut: int) -> str:
    return LEAF if node.height() <= cut else INTERNAL


def build(roots: list[TagNode], cut: int) -> Element:
    """Steps 1 to 4 of 4.3.1, with the grandparents of actual leaves as leaves for `cut` 2."""
    root = Element("#root", INTERNAL, roots)
    waiting = [root]
    while waiting:
        element = waiting.pop(0)
        if element.kind == INTERNAL:
            _add_children(element, cut)
            waiting += element.children
    return root


def _add_children(element: Element, cut: int) -> None:
    texts = [TagNode("#text", [], tag.own) for tag in element.tags if tag.own]
    if texts:
        element.texts = Element("#text", LEAF, texts)
    initial: dict[tuple[tuple[object, ...], int, str], Element] = {}
    for tag in element.tags:
        for position, child in enumerate(tag.children):
            place = (tag.style(), position, kind_of(child, cut))
            if place not in initial:
                initial[place] = Element(child.name, place[2], [])
            initial[place].tags.append(child)
    merged = dict(initial)
    names = defaultdict(list)
    for place, one in initial.items():
        names[one.name, one.kind].append(place)
    for places in names.values():
        _merge(merged, places)
    element.places = merged
    element.children = list(dict.fromkeys(merged.values()))


def _merge(of_place: dict[tuple[tuple[object, ...], int, str], Element], places: list[object]) -> None:
    """Merge the most similar pair, until no pair is similar."""
    while True:
        elements = list(dict.fromkeys(of_place[place] for place in places))
        pairs = []
        for i, one in enumerate(elements):
            for other in elements[i + 1 :]:
                mine, theirs = one.characteristic(), other.characteristic()
                if mine and theirs and (overlap := len(mine & theirs) / len(mine | theirs)) >= LAMBDA:
                    pairs.append((overlap, one, other))
        if not pairs:
            return
        best, one, other = max(pairs, key=lambda pair: pair[0])
        if best < 1 and sum(overlap == best for overlap, *_ in pairs) > 1:
            raise Undecided
        union = Element(one.name, one.kind, one.tags + other.tags)
        for place in places:
            if of_place[place] in (one, other):
                of_place[place] = union


def node_importance(element: Element, alone: float) -> float:
    """Equations 5-6 (internal) and 5-7 (leaf)."""
    if element.kind == LEAF:
        features = {feature for tag in element.tags for feature in tag.features()}
        if not features:
            return 0.0
        return 1 - sum(entropy(element, feature) for feature in features) / len(features)
    if element.m == 1:
        return alone
    styles = Counter(tag.style() for tag in element.tags if tag.children)
    return -sum(count / element.m * math.log(count / element.m, element.m) for count in styles.values())


def entropy(element: Element, feature: object) -> float:
    """H_E(a), equation 5-8."""
    if element.m == 1:
        return 0.0
    counts = [tag.features().count(feature) for tag in element.tags]
    return -sum(f / sum(counts) * math.log(f / sum(counts), element.m) for f in counts if f)


def path_importances(root: Element, alone: float) -> dict[Element, float]:
    """PathImp of every element (5-9)."""
    found: dict[Element, float] = {}

    def visit(element: Element, left: float) -> None:
        left *= 1 - node_importance(element, alone)
        found[element] = 1 - left
        for child in [*element.children, *([element.texts] if element.texts else [])]:
            visit(child, left)

    visit(root, 1.0)
    return found


def matching(element: Element, parent: TagNode, position: int, cut: int) -> Element | None:
    """The child of an element that a child of a page matches: by its path, else by its name at the nearest position.

    Of two positions at the same distance the lower, of two elements at one position that with more tag nodes.
    """
    child = parent.children[position]
    kind = kind_of(child, cut)
    known = element.places.get((parent.style(), position, kind))
    if known is not None:
        return known
    for wanted in (kind, LEAF if kind == INTERNAL else INTERNAL):
        candidates = {
            (abs(at - position), at, -found.m, found)
            for (_, at, of_kind), found in element.places.items()
            if found.name == child.name and of_kind == wanted
        }
        if candidates:
            best = min(candidate[:3] for candidate in candidates)
            nearest = [candidate[3] for candidate in candidates if candidate[:3] == best]
            if len(nearest) > 1:
                raise Undecided
            return nearest[0]
    return None


def map_cst(
    element: Element, node: TagNode, weight: dict[Element, float], cut: int, sets: tuple[float, float] | None
) -> Iterator[tuple[object, float]]:
    """Figure 4-10: the features of a page with their weights. `sets` are m and u, None for exact weights (5-10)."""

    def output(leaf: Element, feature: object) -> tuple[object, float]:
        if not any(feature in tag.features() for tag in leaf.tags):
            return feature, 1.0
        w = weight[leaf] * (1 - entropy(leaf, feature))
        if sets is None:
            return feature, w
        return feature, 0.0 if w < sets[0] else w if w < sets[1] else 1.0

    if element.kind == LEAF:
        yield from (output(element, feature) for feature in node.features())
        return
    for feature in node.own:
        yield output(element.texts, feature) if element.texts else (feature, 1.0)
    for position, child in enumerate(node.children):
        found = matching(element, node, position, cut)
        if found is not None:
            yield from map_cst(found, child, weight, cut, sets)
        else:
            yield from ((feature, 1.0) for feature in child.features())
