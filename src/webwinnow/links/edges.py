"""`Edge`: one link of a page with the kind of its region; the cleaned link graph of a collection.

Link analysis takes a link as a recommendation of another page. Links of menus, imprints and advertisements are not, and
make topics drift (thesis 2.3.2): a task (`structure`) decides which links count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from webwinnow.judge.kinds import KINDS, recognise
from webwinnow.judge.tasks import Task, for_task
from webwinnow.judge.verdict import Verdict
from webwinnow.page.linktargets import LinkTargets
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.site.learned import LearnedSite

STRUCTURE = "structure"
"""The default task."""
LONGEST_ANCHOR = 1000
"""Characters of an anchor's text that are kept."""


_NEVER_CONTENT = ("advertisement", "share")


class Edge(NamedTuple):
    """A link: canonical URLs of the page and of its target, its text, the kind of its region (None where unknown), the
    probability of the kind (None for what is kept and for links that share the page), and whether the task keeps it.
    """

    source: str
    target: str
    anchor: str
    kind: str | None
    score: float | None
    kept: bool


def page_edges(page: Page, verdict: Verdict, task: Task, site: LearnedSite | None = None) -> list[Edge]:
    """The links of a page to other pages, in page order, each text to each URL once.

    The kind of a link is that of its text's region, or of its element where it has no text. A link that passes the
    page's URL on to another host is for sharing, wherever it is, and one without text in an advertisement is never
    content.
    """
    tree = page.tree
    links = tree.links()
    nodes = links.node
    if not len(nodes):
        return []
    found = recognise(page, verdict, site)
    wanted = for_task(page, verdict, task, site, found=found)
    region, (node_kind, node_score) = found.regions.of_run(), found.on_nodes()
    with_text = np.flatnonzero(tree.written_runs)
    first_run = np.searchsorted(tree.run_start[:-1], tree.text_start[nodes])
    last_run = np.searchsorted(tree.run_start[:-1], tree.text_end[nodes])
    source, lead = canonical(tree.url), LinkTargets(tree.url)
    edges: dict[tuple[str, str, str | None, bool], Edge] = {}
    for k, url in enumerate(links.targets()):
        target = source if url is None else canonical(url)
        if target == source:
            continue
        node = int(nodes[k])
        at = int(np.searchsorted(with_text, first_run[k]))
        run = int(with_text[at]) if at < len(with_text) and with_text[at] < last_run[k] else -1
        kind, score = KINDS[node_kind[node]].name, round(float(node_score[node]), 6) or None
        kept = bool(wanted.keep[node] and (run < 0 or wanted.keep_runs[run]))
        if lead.of(links.href[k], url).shares:
            kind, score, kept = "share", score if kind == "share" else None, "share" in task.keeps
        elif run >= 0 and region[run] >= 0:
            kind, score = KINDS[found.kind[region[run]]].name, round(float(found.score[region[run]]), 6)
        elif verdict.keep[node] and (run >= 0 or kind not in _NEVER_CONTENT):
            kind, score = "content", None
        elif score is None:
            kind = None
        elif run < 0:
            kept = kind in task.keeps and bool(tree.visible[node])
        anchor = " ".join(tree[node].text.split())[:LONGEST_ANCHOR] or _described(tree, node)
        edges.setdefault((target, anchor, kind, kept), Edge(source, target, anchor, kind, score, kept))
    return list(edges.values())


def _described(tree: PageTree, node: int) -> str:
    """The label of a link without text, or of an image in it."""
    for i in range(node, int(tree.end[node])):
        values = tree.attributes(i)
        label = values.get("aria-label") or values.get("alt") or values.get("title")
        if label and label.strip():
            return " ".join(label.split())[:LONGEST_ANCHOR]
    return ""
