"""Templates of a whole collection: the global algorithm by hand, and its components against a slow and obvious walk."""

from __future__ import annotations

import json

import numpy as np
import pytest

from webwinnow import InputError, parse
from webwinnow.page.tree import PageTree
from webwinnow.site.pagelets import PageletSettings
from webwinnow.site.templates import Collection, TemplateList, _connected

BAR = "<div>" + "".join(f"<a href='http://shared.example/{k}'>item {k}</a> " for k in range(4)) + "</div>"


def page(host: str, links: list[str], bar: str = BAR) -> PageTree:
    said = "".join(f"<p>Page of {host}, seen <a href='http://{link}/'>from {host} at {link}</a></p>" for link in links)
    return parse(f"<body>{bar}<p>{host} alone says this and nobody else does</p>{said}", url=f"http://{host}/")


def collection(*trees: PageTree) -> Collection:
    found = Collection()
    for tree in trees:
        found.add(tree)
    return found


def test_linked_pages_that_share_a_pagelet_have_a_template():
    """a links to b, c has no links: the bar is a template of a and b only."""
    trees = page("a.example", ["b.example"]), page("b.example", []), page("c.example", [])
    assert [found.pages for found in collection(*trees).templates()] == [(0, 1)]
    assert [found.pages for found in collection(*trees).templates(linked=False)] == [(0, 1, 2)]


def test_one_pagelet_may_be_the_template_of_several_groups():
    trees = [
        page("a.example", ["b.example"]),
        page("b.example", []),
        page("c.example", []),
        page("d.example", ["c.example"]),
    ]
    assert [found.pages for found in collection(*trees).templates()] == [(0, 1), (2, 3)]


def test_links_through_pages_without_the_pagelet_do_not_count():
    """a and c are linked through b, which has another bar."""
    trees = page("a.example", ["b.example"]), page("b.example", ["c.example"], bar=""), page("c.example", [])
    assert collection(*trees).templates() == []


def test_a_link_to_a_page_without_the_pagelet_joins_no_group():
    """a and d are linked; c links to a page without the bar, not to the group."""
    trees = [
        page("a.example", ["d.example"]),
        page("x.example", [], bar=""),
        page("c.example", ["x.example"]),
        page("d.example", []),
    ]
    assert [found.pages for found in collection(*trees).templates()] == [(0, 3)]


def test_templates_of_fewer_pages_may_be_left_out():
    trees = [
        page("a.example", ["b.example", "c.example"]),
        page("b.example", []),
        page("c.example", []),
        page("d.example", ["e.example"]),
        page("e.example", []),
    ]
    found = collection(*trees)
    assert [[one.pages for one in found.templates(pages=least)] for least in (2, 3, 4)] == [
        [(0, 1, 2), (3, 4)],
        [(0, 1, 2)],
        [],
    ]


def test_copies_of_a_page_count_once():
    html = f"<body>{BAR}<p>the same <a href='http://b.example/'>story</a></p>"
    trees = parse(html, url="http://a.example/"), parse(html, url="http://b.example/")
    assert collection(*trees).templates(linked=False) == []


def test_a_collection_without_pages_or_links_has_no_templates():
    assert Collection().templates() == []
    assert collection(parse("")).templates() == []
    assert collection(parse("<p>x"), parse("<p>y")).templates() == []


def test_links_out_of_the_collection_are_not_kept_where_its_pages_are_known():
    tree = page("a.example", ["b.example", "elsewhere.example"])
    found = Collection(known=collection(page("b.example", [])).pages)
    found.add(tree)
    assert len(found.links[0]) == 1


def slowly_connected(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """The lowest node that can be reached from each, by walking."""
    near = {i: {i} for i in range(count)}
    for one, other in edges:
        near[one].add(other)
        near[other].add(one)
    lowest = []
    for i in range(count):
        seen, ahead = set(), [i]
        while ahead:
            at = ahead.pop()
            if at not in seen:
                seen.add(at)
                ahead.extend(near[at])
        lowest.append(min(seen))
    return lowest


@pytest.mark.parametrize("seed", range(30))
def test_components_are_those_that_walking_finds(seed):
    chance = np.random.default_rng(seed)
    count = int(chance.integers(1, 40))
    edges = chance.integers(count, size=(int(chance.integers(count + 5)), 2))
    both = np.concatenate((edges, edges[:, ::-1]))
    assert _connected(count, both[:, 0], both[:, 1]).tolist() == slowly_connected(count, edges.tolist())


def test_a_long_chain_of_links_is_one_component():
    order = np.random.default_rng(0).permutation(20_000)
    one, other = np.concatenate((order[1:], order[:-1])), np.concatenate((order[:-1], order[1:]))
    assert not _connected(len(order), one, other).any()


@pytest.mark.parametrize(
    "line",
    [
        '{"template": "ff", "members": [], "pagelets": {"links": 0}}',
        '{"template": "ff", "members": [], "pagelets": {"rings": 3}}',
        '{"template": "ff", "members": [], "pagelets": {"links": "3"}}',
        "{",
        "[]",
        '{"template": "x", "members": []}',
        '{"template": "ff", "members": 3}',
        "{}",
    ],
)
def test_a_list_that_is_none_is_refused_with_its_line(tmp_path, line):
    (tmp_path / "t.jsonl").write_text('{"template": "ff", "members": ["http://a.example/"]}\n' + line)
    with pytest.raises(InputError, match=r"line 2 of .* is not a template"):
        TemplateList.load(tmp_path / "t.jsonl")


def test_a_list_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        TemplateList.load(tmp_path / "nothing.jsonl")


def test_a_list_has_the_settings_that_its_pagelets_were_found_with(tmp_path):
    line = {"template": "ff", "members": ["http://a.example/"]}
    (tmp_path / "t.jsonl").write_text(json.dumps(line | {"pagelets": {"links": 5, "shingle": 2, "hashes": 1}}))
    assert TemplateList.load(tmp_path / "t.jsonl").settings == PageletSettings(links=5, shingle=2, hashes=1)
    (tmp_path / "t.jsonl").write_text(json.dumps(line))
    assert TemplateList.load(tmp_path / "t.jsonl").settings == PageletSettings()
    (tmp_path / "t.jsonl").write_text(json.dumps(line) + "\n" + json.dumps(line | {"pagelets": {"links": 5}}))
    with pytest.raises(InputError, match="different settings"):
        TemplateList.load(tmp_path / "t.jsonl")


def test_a_list_names_pagelets_by_page(tmp_path):
    (tmp_path / "t.jsonl").write_text(json.dumps({"template": "ff", "members": ["http://A.example:80/x"]}))
    known = TemplateList.load(tmp_path / "t.jsonl")
    assert known.marked("http://a.example/x", np.array([255, 7], np.uint64)).tolist() == [True, False]
    assert not known.marked("http://a.example/y", np.array([255], np.uint64)).any()
