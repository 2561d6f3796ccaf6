"""The clusters of a collection as one HTML page: a map, and each cluster with its terms and typical pages.

The page has no script and loads nothing. Only http and https URLs become links.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import numpy as np

from webwinnow.commands.cluster import NO_FEATURES, ClusteredCollection, ClusteredPage
from webwinnow.report.templating import asset, render_page, shortened
from webwinnow.storage import write_file
from webwinnow.urls import is_web_link

GOLDEN_ANGLE: Final = 137.508
"""Degrees between the hues of consecutive clusters: neighbours differ, whatever their number."""
FIRST_HUE: Final = 222.0
SIDE: Final = 1000
"""Width of the map in its own units; the height depends on the pages."""
LEAST_HEIGHT: Final = 500
MARGIN: Final = 30
LONGEST: Final = 160
"""Characters of a title or URL that are shown."""
LONGEST_LINK: Final = 2000
"""Longer URLs are not linked (our limit, against very large files)."""
TIP_CHARACTERS: Final = 60
UNCLUSTERED_SHOWN: Final = 20
"""Pages in no cluster that are listed."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Control characters, and those that change the direction of the text around them."""


def write_cluster_html(collection: ClusteredCollection, out: Path) -> None:
    """Write the page to a file, atomically."""
    write_file(out, cluster_html(collection).encode("utf-8", "replace"))


def cluster_html(collection: ClusteredCollection) -> str:
    """Return the page on a clustered collection."""
    found, pages = collection.found, collection.pages
    label = found.clustering.label.tolist()
    unclustered = [page for page, cluster in zip(pages, label, strict=True) if cluster < 0]
    clusters = [
        {
            "name": _shown(cluster.name),
            "size": cluster.size,
            "share": cluster.size / max(len(pages), 1),
            "cohesion": cluster.cohesion,
            "terms": [_shown(term) for term, _ in cluster.terms],
            "pages": [_listed(pages[page], f"{found.clustering.similarity[page]:.2f}") for page in cluster.typical],
        }
        for cluster in found.clusters
    ]
    return render_page(
        "clusters.html.j2",
        asset("clusters.css") + _colours(len(clusters)),
        title=f"{len(clusters)} clusters of {len(pages):,} pages · webwinnow cluster",
        facts=_facts(collection),
        map=_map(collection) if len(found.drawn) else None,
        clusters=clusters,
        unclustered=len(unclustered),
        listed=[_listed(page, page.error or NO_FEATURES) for page in unclustered[:UNCLUSTERED_SHOWN]],
    )


def _facts(collection: ClusteredCollection) -> str:
    found = collection.found
    facts = [f"{len(collection.pages):,} pages", f"{len(found.clusters):,} clusters"]
    if found.suggestion is not None:
        facts[1] += " (the number is a suggestion)"
    if collection.agreement is not None:
        facts.append(f"against {collection.labelled:,} labels: {collection.agreement}")
    return " · ".join(facts)


def _colours(clusters: int) -> str:
    """A colour for each cluster, and the rules that dim the others when it is selected."""
    rules = []
    for c in range(clusters):
        hue = (FIRST_HUE + c * GOLDEN_ANGLE) % 360
        rules.append(f".c{c} {{ --c: hsl({hue:.0f} var(--s) var(--l)); }}")
        rules.append(f"main:has(#pick{c}:checked) .map .p:not(.c{c}) circle {{ fill-opacity: .08; }}")
    return "\n".join(rules) + "\n"


def _map(collection: ClusteredCollection) -> dict[str, Any]:
    """Pages as dots, typical ones larger and on top; a cluster's number is on its most central page."""
    found = collection.found
    label = found.clustering.label[found.drawn]
    places = MARGIN + (found.points - found.points.min(axis=0)) * (SIDE - 2 * MARGIN)
    height = max(2 * MARGIN + (places[:, 1].max() - places[:, 1].min()), LEAST_HEIGHT)
    places[:, 1] += height / 2 - (places[:, 1].max() + places[:, 1].min()) / 2
    typical = {page for cluster in found.clusters for page in cluster.typical}
    radius = 3.2 if len(places) > 2000 else 4.2 if len(places) > 400 else 7
    dots = []
    for page, cluster, (x, y) in zip(found.drawn.tolist(), label.tolist(), places.tolist(), strict=True):
        name = _name(collection.pages[page])
        dots.append(
            {
                "x": x,
                "y": y,
                "radius": radius * (1.8 if page in typical else 1),
                "cluster": cluster,
                "is_typical": page in typical,
                "title": f"{_shown(name)} · {_shown(found.clusters[cluster].name)}",
                "tip": _shown(shortened(name, TIP_CHARACTERS)),
                "url": _link(collection.pages[page]),
            }
        )
    numbers = []
    for cluster in range(len(found.clusters)):
        own = places[label == cluster]
        if len(own):
            numbers.append((cluster + 1, *own[np.abs(own - np.median(own, axis=0)).sum(axis=1).argmin()].tolist()))
    total = len(collection.pages)
    return {
        "side": SIDE,
        "height": height,
        "dots": sorted(dots, key=lambda dot: bool(dot["is_typical"])),
        "numbers": numbers,
        "pages": f"all {total:,} pages" if len(places) == total else f"{len(places):,} of {total:,} pages",
    }


def _listed(page: ClusteredPage, remark: str) -> dict[str, str]:
    name, where = _name(page), page.url or page.page_id or ""
    below = _shown(where) if where != name else ""
    return {"name": _shown(name), "url": _link(page), "where": below, "remark": _shown(remark)}


def _name(page: ClusteredPage) -> str:
    return page.title or page.page_id or page.url or "a page without a name"


def _shown(text: str) -> str:
    """Text of a page without characters that control a terminal or the direction of text."""
    return shortened(_CONTROLS.sub(" ", text).strip(), LONGEST)


def _link(page: ClusteredPage) -> str:
    """The page's URL if it is a web URL of acceptable length, else an empty string."""
    url = _CONTROLS.sub("", page.url or "")
    return url if is_web_link(url) and len(url) <= LONGEST_LINK else ""
