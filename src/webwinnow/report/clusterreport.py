"""Clusters of a collection as one HTML page: a map, and each cluster by its terms and its typical pages.

The page is text, inline SVG and styles: it holds no script and asks for nothing; its policy allows its own styles by
their hash. What pages say is escaped, and only http and https addresses become links.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Final

import numpy as np

from webwinnow.commands.cluster import NO_FEATURES, ClusteredCollection, ClusteredPage
from webwinnow.io.outputs import whole_file
from webwinnow.mining import Cluster
from webwinnow.report.templating import hash_of, part
from webwinnow.urls import is_web_link

__all__ = ["cluster_html", "write_cluster_html"]

GOLDEN_ANGLE: Final = 137.508
"""Degrees between the hues of neighbouring clusters: however many there are, neighbours differ."""
FIRST_HUE: Final = 222.0
SIDE: Final = 1000
"""Width of the map, in its own units; its height is what the pages take."""
LEAST_HEIGHT: Final = 500
MARGIN: Final = 30
LONGEST: Final = 160
"""Characters of a title or an address that the page shows."""
LONGEST_ADDRESS: Final = 2000
"""Characters of an address that is linked (ours, against files without end)."""
TIP_CHARACTERS: Final = 60
APART_SHOWN: Final = 20
"""Pages in no cluster that are listed."""
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Control characters, and those that turn the direction of what stands around them."""


def write_cluster_html(collection: ClusteredCollection, out: Path) -> None:
    """Write the page to a file, whole or not at all."""
    with whole_file(out.resolve()) as file:
        file.write(cluster_html(collection).encode("utf-8", "replace"))


def cluster_html(collection: ClusteredCollection) -> str:
    """The page on a clustered collection."""
    found = collection.found
    style = part("clusters.css") + _colours(len(found.clusters))
    slots = {
        "title": f"{len(found.clusters)} clusters of {len(collection.pages):,} pages · webwinnow cluster",
        "policy": escape(f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {hash_of(style)}"),
        "style": style,
        "facts": escape(_facts(collection)),
        "map": _map(collection) if len(found.drawn) else "",
        "clusters": "\n".join(_card(collection, number, cluster) for number, cluster in enumerate(found.clusters)),
        "apart": _apart(collection),
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], part("clusters.html"))


def _facts(collection: ClusteredCollection) -> str:
    found = collection.found
    told = [f"{len(collection.pages):,} pages", f"{len(found.clusters):,} clusters"]
    if found.suggestion is not None:
        told[1] += " (the number is a suggestion)"
    if collection.agreement is not None:
        told.append(f"against {collection.labelled:,} labels: {collection.agreement}")
    return " · ".join(told)


def _colours(clusters: int) -> str:
    """A colour for each cluster, and the rules by which choosing one dims the others."""
    rules = []
    for c in range(clusters):
        hue = (FIRST_HUE + c * GOLDEN_ANGLE) % 360
        rules.append(f".c{c} {{ --c: hsl({hue:.0f} var(--s) var(--l)); }}")
        rules.append(f"main:has(#pick{c}:checked) .map .p:not(.c{c}) circle {{ fill-opacity: .08; }}")
    return "\n".join(rules) + "\n"


# The map


def _map(collection: ClusteredCollection) -> str:
    """The pages as dots, typical ones larger; the number of a cluster stands on the page in the middle of its own."""
    found = collection.found
    label = found.clustering.label[found.drawn]
    places = MARGIN + (found.points - found.points.min(axis=0)) * (SIDE - 2 * MARGIN)
    height = max(2 * MARGIN + (places[:, 1].max() - places[:, 1].min()), LEAST_HEIGHT)
    places[:, 1] += height / 2 - (places[:, 1].max() + places[:, 1].min()) / 2
    typical = {page for cluster in found.clusters for page in cluster.typical}
    radius = 3.2 if len(places) > 2000 else 4.2 if len(places) > 400 else 7
    plain: list[str] = []
    shown: list[str] = []
    for page, cluster, (x, y) in zip(found.drawn.tolist(), label.tolist(), places.tolist(), strict=True):
        is_typical = page in typical
        mark = _point(collection.pages[page], found.clusters[cluster], cluster, x, y, radius, is_typical=is_typical)
        (shown if is_typical else plain).append(mark)
    numbers = []
    for cluster in range(len(found.clusters)):
        own = places[label == cluster]
        if len(own):
            x, y = own[np.abs(own - np.median(own, axis=0)).sum(axis=1).argmin()]
            numbers.append(f'<text class="number" x="{x:.0f}" y="{y:.0f}">{cluster + 1}</text>')
    of = len(collection.pages)
    pages = f"all {of:,} pages" if len(places) == of else f"{len(places):,} of {of:,} pages"
    return (
        f'<figure class="map"><svg viewBox="0 0 {SIDE} {height:.0f}" role="group" '
        f'aria-label="Map of the pages; typical pages can be reached by Tab">\n'
        + "\n".join([*plain, *shown, *numbers])
        + f"\n</svg><figcaption>A dot is a page, {pages}; dots near one another are pages alike (t-SNE; between far "
        "groups distances mean little). Larger dots are typical pages. Point at a dot for its title.</figcaption>"
        "</figure>"
    )


def _point(
    page: ClusteredPage, cluster: Cluster, number: int, x: float, y: float, radius: float, *, is_typical: bool
) -> str:
    name = _name(page)
    size = radius * (1.8 if is_typical else 1)
    dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/><title>{_shown(name)} · {_shown(cluster.name)}</title>'
    kind = f"p c{number} typical" if is_typical else f"p c{number}"
    if is_typical:
        short = name if len(name) <= TIP_CHARACTERS else name[: TIP_CHARACTERS - 1] + "…"
        side, end = (-12, " end") if x > SIDE / 2 else (12, "")
        dot += f'<text class="tip{end}" x="{x + side:.1f}" y="{y + 5:.1f}">{_shown(short)}</text>'
    address = _address(page)
    if address:
        focus = "" if is_typical else ' tabindex="-1"'
        return f'<a class="{kind}" href="{address}"{focus}>{dot}</a>'
    return f'<g class="{kind}">{dot}</g>'


# The list


def _card(collection: ClusteredCollection, number: int, cluster: Cluster) -> str:
    share = cluster.size / max(len(collection.pages), 1)
    terms = "".join(f"<li>{_shown(term)}</li>" for term, _ in cluster.terms)
    pages = "".join(
        _listed(collection.pages[page], f"{collection.found.clustering.similarity[page]:.2f}")
        for page in cluster.typical
    )
    return (
        f'<article class="cluster c{number}" id="cluster{number + 1}">'
        f'<div class="choice"><label><input type="radio" name="shown" id="pick{number}" '
        f'aria-label="Show only cluster {number + 1} on the map">'
        f'<span class="swatch">{number + 1}</span><h2>{_shown(cluster.name)}</h2></label></div>'
        f'<div class="meter" aria-hidden="true"><svg viewBox="0 0 1000 5" preserveAspectRatio="none">'
        f'<rect width="{1000 * share:.0f}" height="5"/></svg></div>'
        f'<p class="facts">{cluster.size:,} pages, {share:.1%} · mean similarity {cluster.cohesion:.2f}</p>'
        f'<ul class="terms" aria-label="Strongest terms">{terms}</ul>'
        f'<ol class="pages" aria-label="Typical pages, with their similarity to the centroid">{pages}</ol></article>'
    )


def _apart(collection: ClusteredCollection) -> str:
    apart = [
        page
        for page, label in zip(collection.pages, collection.found.clustering.label.tolist(), strict=True)
        if label < 0
    ]
    if not apart:
        return ""
    listed = "".join(_listed(page, page.error or NO_FEATURES) for page in apart[:APART_SHOWN])
    more = f"<p class=facts>and {len(apart) - APART_SHOWN:,} more</p>" if len(apart) > APART_SHOWN else ""
    return (
        f'<article class="cluster"><details><summary>{len(apart):,} pages in no cluster</summary>'
        f'<ol class="pages">{listed}</ol>{more}</details></article>'
    )


def _listed(page: ClusteredPage, remark: str) -> str:
    name, address = _shown(_name(page)), _address(page)
    if address:
        name = f'<a href="{address}">{name}</a>'
    where = page.url or page.page_id or ""
    below = f'<span class="where">{_shown(where)}</span>' if where and where != _name(page) else ""
    return f'<li><div><b>{name}</b>{below}</div><span class="near">{_shown(remark)}</span></li>'


def _name(page: ClusteredPage) -> str:
    return page.title or page.page_id or page.url or "a page without a name"


def _shown(text: str) -> str:
    """Text of a page as text: nothing in it is read as HTML, nothing turns the line around."""
    plain = _CONTROLS.sub(" ", text).strip()
    return escape(plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…")


def _address(page: ClusteredPage) -> str:
    """The page's address for an attribute; nothing where it is none of the web, or is too long to be one."""
    url = _CONTROLS.sub("", page.url or "")
    return escape(url) if is_web_link(url) and len(url) <= LONGEST_ADDRESS else ""
