"""The clusters of a collection as one HTML page: a map, and each cluster with its terms, pages and dates.

The page loads nothing, and its own script only moves the map and merges clusters; without scripts all else is there.
Only http and https URLs become links.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import numpy as np

from webwinnow.cluster.overtime import OverTime
from webwinnow.cluster.run import ClusteredCollection, ClusteredPage
from webwinnow.counted import counted
from webwinnow.inspect.templating import asset, render_page, shortened
from webwinnow.page.urls import is_web_link
from webwinnow.run.outputs import write_bytes

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
UNCLUSTERED_SHOWN: Final = 200
"""Pages in no cluster that are listed."""
LISTED: Final = 20_000
"""Pages of clusters that are listed, each cluster in proportion (our limit, against very large files)."""
LABEL_CHARACTERS: Final = 28
"""Characters of a name on the map."""
MOST_BRANCHES: Final = 200
"""A hierarchy of more clusters is not listed."""
BAR: Final = 38
"""Height of the highest bar of a chart."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Control characters, and those that change the direction of the text around them."""


def write_cluster_html(collection: ClusteredCollection, out: Path) -> None:
    """Write the page to a file, atomically."""
    write_bytes(out, cluster_html(collection).encode("utf-8", "replace"))


def cluster_html(collection: ClusteredCollection) -> str:
    """Return the page on a clustered collection."""
    found, pages = collection.found, collection.pages
    label = found.clustering.label.tolist()
    unclustered = [page for page, cluster in enumerate(label) if cluster < 0]
    time = collection.over_time()
    clusters = [_card(collection, number, time) for number in range(len(found.clusters))]
    return render_page(
        "clusters.html.j2",
        asset("clusters.css") + _colours(len(clusters), _radius(len(found.drawn))),
        script=asset("clusters.js"),
        title=f"{counted(len(clusters), 'cluster')} of {counted(len(pages), 'page')} · webwinnow cluster",
        facts=_facts(collection),
        map=_map(collection) if len(found.drawn) else None,
        merges=json.dumps([[merge.one, merge.other, _shown(merge.name)] for merge in found.tree.merges]),
        tree=_branch(collection, 2 * len(clusters) - 2) if 1 < len(clusters) <= MOST_BRANCHES else None,
        clusters=clusters,
        unclustered=len(unclustered),
        listed=[_listed(pages[page], collection.reason(page) or "") for page in unclustered[:UNCLUSTERED_SHOWN]],
    )


def _facts(collection: ClusteredCollection) -> str:
    found = collection.found
    facts = [counted(len(collection.pages), "page"), counted(len(found.clusters), "cluster")]
    if found.suggestion is not None:
        facts[1] += " (the number is a suggestion)"
    if collection.agreement is not None:
        facts.append(f"against {counted(collection.labelled, 'label')}: {collection.agreement}")
    return " · ".join(facts)


def _card(collection: ClusteredCollection, number: int, time: OverTime) -> dict[str, Any]:
    """A cluster as the template shows it: its terms, its pages from the centroid outwards, and its dates."""
    found, pages = collection.found, collection.pages
    cluster, similarity = found.clusters[number], found.clustering.similarity
    members = np.flatnonzero(found.clustering.label == number)
    members = members[np.lexsort((members, -similarity[members]))]
    most = max(len(cluster.typical), LISTED * cluster.size // max(len(pages), LISTED))
    listed = [_listed(pages[page], f"{similarity[page]:.2f}") for page in members[:most].tolist()]
    return {
        "name": _shown(cluster.name),
        "size": cluster.size,
        "share": cluster.size / max(len(pages), 1),
        "cohesion": cluster.cohesion,
        "terms": [_shown(term) for term, _ in cluster.terms],
        "pages": listed[: len(cluster.typical)],
        "rest": listed[len(cluster.typical) :],
        "unlisted": cluster.size - len(listed),
        "bars": _bars(time, number),
    }


def _bars(time: OverTime, number: int) -> list[dict[str, Any]]:
    """The pages of a cluster over time as bars; none unless dates differ."""
    counts = time.pages[:, number].tolist() if len(time.periods) > 1 else []
    highest = max(counts, default=0) or 1
    return [
        {"period": period, "pages": pages, "height": BAR * pages / highest}
        for period, pages in zip(time.periods, counts, strict=False)
    ]


def _branch(collection: ClusteredCollection, group: int) -> dict[str, Any]:
    """A group of the hierarchy with its parts."""
    found = collection.found
    inside = found.tree.clusters_of(group)
    merged = () if group < len(found.clusters) else found.tree.merges[group - len(found.clusters)][:2]
    return {
        "name": _shown(found.tree.name(group, found.names)),
        "size": sum(found.clusters[cluster].size for cluster in inside),
        "parts": [_branch(collection, part) for part in merged],
    }


def _radius(dots: int) -> float:
    return 3.2 if dots > 2000 else 4.2 if dots > 400 else 7


def _colours(clusters: int, radius: float) -> str:
    """A colour for each cluster, the rules that dim the others when it is selected, and the radius of a dot."""
    rules = [f".map svg {{ --dot: {radius}px; }}"]
    for c in range(clusters):
        hue = (FIRST_HUE + c * GOLDEN_ANGLE) % 360
        rules.append(f".c{c} {{ --c: hsl({hue:.0f} var(--s) var(--l)); }}")
        rules.append(f"main:has(#pick{c}:checked) .map .p:not(.c{c}) circle {{ fill-opacity: .08; }}")
    return "\n".join(rules) + "\n"


def _map(collection: ClusteredCollection) -> dict[str, Any]:
    """Pages as dots, typical ones larger and on top; a cluster's name is on its most central page. No outliers."""
    found = collection.found
    label = found.clustering.label[found.drawn]
    shown = label >= 0
    places = MARGIN + (found.points - found.points.min(axis=0)) * (SIDE - 2 * MARGIN)
    height = max(2 * MARGIN + (places[:, 1].max() - places[:, 1].min()), LEAST_HEIGHT)
    places[:, 1] += height / 2 - (places[:, 1].max() + places[:, 1].min()) / 2
    typical = {page for cluster in found.clusters for page in cluster.typical}
    radius = _radius(len(places))
    dots = []
    for page, cluster, (x, y) in zip(
        found.drawn[shown].tolist(), label[shown].tolist(), places[shown].tolist(), strict=True
    ):
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
    labels = []
    for number, cluster in enumerate(found.clusters):
        dotted = places[label == number]
        if len(dotted):
            x, y = dotted[np.abs(dotted - np.median(dotted, axis=0)).sum(axis=1).argmin()].tolist()
            labels.append((number + 1, shortened(_shown(cluster.name), LABEL_CHARACTERS), x, y))
    total = len(collection.pages)
    return {
        "side": SIDE,
        "height": height,
        "dots": sorted(dots, key=lambda dot: bool(dot["is_typical"])),
        "labels": labels,
        "pages": f"{'all' if len(dots) == total else f'{len(dots):,} of'} {counted(total, 'page')}",
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
