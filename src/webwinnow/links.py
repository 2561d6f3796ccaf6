"""`Edge`: one link of a page with the kind of the region that it stands in; the cleaned link graph of a collection.

Link analysis takes a link for somebody's word on another page. Menus, imprints and advertisements are nobody's word,
and make topics drift (thesis 2.3.2): a task (`structure`) says which links count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from webwinnow._words import blank_runs
from webwinnow.cleaning.kinds import KIND_CODE, KINDS, recognise
from webwinnow.cleaning.tasks import Task, for_task
from webwinnow.cleaning.verdict import Verdict
from webwinnow.pagemodel import PageContext
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.urls import canonical

STRUCTURE = "structure"
"""The task whose links count if no other is named."""
LONGEST_ANCHOR = 1000
"""Characters of an anchor's text that are kept."""


class Edge(NamedTuple):
    """A link: canonical addresses of the page and of where it leads, what it says, the kind of its region (None where
    that is not known: a picture by itself), how sure the kind is, and whether the task keeps it.
    """

    source: str
    target: str
    anchor: str
    kind: str | None
    score: float | None
    kept: bool


def page_edges(page: PageContext, verdict: Verdict, task: Task, site: LearnedSite | None = None) -> list[Edge]:
    """The links of a page that lead to other pages, in page order, each text to each address once."""
    tree = page.tree
    links = tree.links()
    nodes = links.node
    if not len(nodes):
        return []
    found = recognise(page, verdict, site)
    wanted = for_task(page, verdict, task, site, found=found)
    region, (node_kind, _) = found.regions.of_run(), found.on_nodes()
    speaks = ~blank_runs(tree.text, tree.run_start)
    said = np.flatnonzero(speaks)
    first_run = np.searchsorted(tree.run_start[:-1], tree.text_start[nodes])
    last_run = np.searchsorted(tree.run_start[:-1], tree.text_end[nodes])
    source = canonical(tree.url)
    edges: dict[tuple[str, str, str | None, bool], Edge] = {}
    for k, url in enumerate(links.targets()):
        target = source if url is None else canonical(url)
        if target == source:
            continue
        node = int(nodes[k])
        at = int(np.searchsorted(said, first_run[k]))
        run = int(said[at]) if at < len(said) and said[at] < last_run[k] else -1
        code, score = _kind(run, node, verdict, region, found.kind, found.score, node_kind)
        kept = bool(wanted.keep[node] and (run < 0 or wanted.keep_runs[run]))
        anchor = " ".join(tree[node].text.split())[:LONGEST_ANCHOR] or _described(tree, node)
        kind = None if code is None else KINDS[code].name
        edges.setdefault((target, anchor, kind, kept), Edge(source, target, anchor, kind, score, kept))
    return list(edges.values())


def _kind(
    run: int,
    node: int,
    verdict: Verdict,
    region: np.ndarray[tuple[int], np.dtype[np.int32]],
    kind: np.ndarray[tuple[int], np.dtype[np.uint8]],
    score: np.ndarray[tuple[int], np.dtype[np.float32]],
    node_kind: np.ndarray[tuple[int], np.dtype[np.uint8]],
) -> tuple[int | None, float | None]:
    """The kind of a link and its score: that of its text's region; of its element's where it says nothing."""
    if run >= 0 and region[run] >= 0:
        return int(kind[region[run]]), round(float(score[region[run]]), 6)
    if verdict.keep[node]:
        return KIND_CODE["content"], None
    return (int(node_kind[node]), None) if node_kind[node] else (None, None)


def _described(tree: PageTree, node: int) -> str:
    """What a link without text says: its label, or that of a picture in it."""
    for i in range(node, int(tree.end[node])):
        kept = tree.attributes(i)
        said = kept.get("aria-label") or kept.get("alt") or kept.get("title")
        if said and said.strip():
            return " ".join(said.split())[:LONGEST_ANCHOR]
    return ""
