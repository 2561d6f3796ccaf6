"""The tree of a site's pages by their links, and the tree of a page's blocks."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import parse
from webwinnow.errors import InputError
from webwinnow.site.hmt.treemodel import Forest
from webwinnow.topics.trees import NOTHING, BlockTree, LinkTree, links_of

HOST = "http://a.example/"


def tree_of(links: dict[str, str], start: str | None = None) -> dict[str, str | None]:
    """Page names to the names of their parents; links are names separated by blanks, `*` is the virtual root."""
    names = list(links)
    found = LinkTree.of(
        [HOST + name for name in names],
        [[HOST + target for target in row.split()] for row in links.values()],
        None if start is None else HOST + start,
    )
    shown = ["*" if page == NOTHING else names[page] for page in found.page.tolist()]
    return {shown[u]: None if up < 0 else shown[up] for u, up in enumerate(found.parent.tolist())}


def test_pages_hang_from_the_first_page_that_leads_to_them_breadth_first():
    # c is two steps away by b, but one by the start page
    site = {"s": "b c", "b": "c d s", "c": "d e", "d": "s", "e": ""}
    assert tree_of(site, "s") == {"s": None, "b": "s", "c": "s", "d": "b", "e": "c"}


def test_pages_without_a_known_parent_hang_from_a_virtual_root():
    site = {"s": "a", "a": "s", "lost": "below", "below": "lost2", "lost2": ""}
    assert tree_of(site, "s") == {
        "*": None,
        "s": "*",
        "lost": "*",
        "a": "s",
        "below": "lost",
        "lost2": "below",
    }


def test_lost_pages_that_link_in_a_ring_are_all_there():
    found = tree_of({"s": "", "x": "y", "y": "x"}, "s")
    assert found == {"*": None, "s": "*", "x": "*", "y": "x"}


def test_a_site_without_links_is_a_star_below_the_virtual_root():
    found = LinkTree.of([f"{HOST}{k}" for k in range(5)], [[]] * 5)
    assert found.page.tolist() == [NOTHING, 0, 1, 2, 3, 4]
    assert found.parent.tolist() == [-1, 0, 0, 0, 0, 0]
    assert found.depth.tolist() == [0, 1, 1, 1, 1, 1]


def test_one_page_and_no_page():
    assert tree_of({"s": "s nowhere"}) == {"s": None}
    assert len(LinkTree.of([], [])) == 0


def test_the_start_page_is_near_the_top_and_linked_by_most():
    site = {"x/deep": "home x/deep2", "x/deep2": "home x/deep", "about": "home", "home": "about x/deep x/deep2"}
    assert next(iter(tree_of(site))) == "home"


def test_links_find_pages_however_they_are_spelled():
    found = LinkTree.of(["http://A.example:80/", "http://a.example/b%7e#top"], [["HTTP://a.example/b~"], []])
    assert found.parent.tolist() == [-1, 0]


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=10))
def test_every_page_is_in_the_tree_once_breadth_first_with_parents_first(rows: list[list[int]]):
    urls = [f"{HOST}{k}" for k in range(len(rows))]
    found = LinkTree.of(urls, [[f"{HOST}{k}" for k in row] for row in rows])
    assert sorted(page for page in found.page.tolist() if page != NOTHING) == list(range(len(rows)))
    forest = Forest(found.parent)
    assert len(forest.roots) == min(len(rows), 1)
    assert np.all(np.diff(found.depth) >= 0)
    for u, up in enumerate(found.parent.tolist()):
        page, above = found.page[u], NOTHING if up < 0 else found.page[up]
        assert above == NOTHING or page in rows[above]


def test_a_crawl_gives_the_tree_of_its_referrers():
    found = LinkTree.of_crawl([HOST, HOST + "a", HOST + "b", HOST + "c"], [None, HOST, HOST + "a", HOST])
    assert found.page.tolist() == [0, 1, 3, 2]
    assert found.parent.tolist() == [-1, 0, 0, 1]


def test_a_crawl_whose_referrer_was_not_read_hangs_from_the_virtual_root():
    found = LinkTree.of_crawl([HOST, HOST + "a"], [None, "http://b.example/"])
    assert found.page.tolist() == [NOTHING, 0, 1]


def test_a_start_page_that_is_not_there_is_refused():
    with pytest.raises(InputError):
        LinkTree.of([HOST], [[]], "http://b.example/")


# Blocks


def outline(page: BlockTree, u: int = 0) -> object:
    """Containers as lists, blocks as their texts."""
    if page.block[u] != NOTHING:
        return page.blocks.texts()[page.block[u]]
    return [outline(page, int(child)) for child in np.flatnonzero(page.parent == u)]


def test_blocks_hang_from_the_elements_that_part_them():
    page = parse("<div><div><ul><li>a<li>b</ul></div></div><div><p>c<p>d<p>e</div>")
    assert outline(BlockTree.of(page)) == [["a", "b"], ["c", "d", "e"]]


def test_elements_around_a_single_block_are_no_nodes():
    assert outline(BlockTree.of(parse("<div><div><section><p>a</p></section></div></div>"))) == ["a"]


def test_text_beside_elements_is_a_block_of_their_container():
    found = outline(BlockTree.of(parse("<p>x</p><div>a<p>b</p></div>")))
    assert "x" in found
    assert sorted(next(part for part in found if isinstance(part, list))) == ["a", "b"]


@pytest.mark.parametrize("html", ["", "<p> </p>", "<div hidden><p>a</div>"])
def test_a_page_that_shows_nothing_is_one_node(html: str):
    page = BlockTree.of(parse(html))
    assert page.parent.tolist() == [-1]
    assert page.block.tolist() == [NOTHING]


def test_deep_pages_do_not_recurse():
    page = parse("<div>x" * 400)
    forest = Forest(BlockTree.of(page).parent)
    assert len(forest.roots) == 1


# Both


def test_pages_of_sites_docs_have_the_depth_that_their_crawl_gave_them():
    found = os.environ.get("WEBWINNOW_DATA")
    if not found or not Path(found, "sites-docs.parquet").exists():
        pytest.skip("WEBWINNOW_DATA has no sites-docs.parquet")
    pq = pytest.importorskip("pyarrow.parquet")
    sites = defaultdict(list)
    table = pq.read_table(Path(found, "sites-docs.parquet"), filters=[("site", "in", ["gap-doc", "exim4-doc-html"])])
    for page in table.to_pylist():
        sites[page["site"]].append(page)
    assert len(sites) == 2
    for pages in sites.values():
        (start,) = [page["url"] for page in pages if page["depth"] == 0]
        trees = [parse(page["html"], url=page["url"]) for page in pages]
        site = LinkTree.of([tree.url for tree in trees], [links_of(tree) for tree in trees], start)
        assert site.depth.tolist() == [pages[k]["depth"] for k in site.page]
