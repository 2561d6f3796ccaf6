"""The style tree against an oracle that keeps per-page counts, and its sums under merging."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import ModelError, parse
from webwinnow.page.fingerprints import exact_fingerprint
from webwinnow.page.markup import style_hash
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.site.alignedtree import AlignedFinisher, AlignedMap
from webwinnow.site.importance import feature_entropy
from webwinnow.site.mapping import NOWHERE, SiteMap
from webwinnow.site.sitetree import Finisher, finish
from webwinnow.site.styletree import (
    ALIGNED_CUT,
    CST_CUT,
    INTERNAL,
    L_SCALE,
    LEAF,
    LEAST_LEVELS,
    OUTSIDE,
    SST_CUT,
    Cut,
    Grower,
    StyleTree,
    elements_of_page,
    pair_key,
)

words = st.sampled_from("red green blue menu home about one two".split())
texts = st.lists(words, max_size=4).map(" ".join)


@st.composite
def pages(draw: st.DrawFn) -> str:
    def block(depth: int) -> str:
        tag = draw(st.sampled_from(["div", "p", "ul"])) if depth else "div"
        inside = "".join(block(depth - 1) for _ in range(draw(st.integers(0, 3)))) if depth else ""
        link = f"<a href=/{draw(words)}>{draw(words)}</a>" if draw(st.booleans()) else ""
        return f"<{tag} class={draw(st.sampled_from('ab'))}>{draw(texts)}{link}{inside}</{tag}>"

    return f"<body>{block(3)}{block(2)}<i>{draw(st.integers(0, 10**6))}</i>"


sites = st.lists(pages(), min_size=1, max_size=5, unique=True)


def grown_by_sorting(trees: list[PageTree], cut: Cut) -> StyleTree:
    """The slow and obvious version: all rows of all pages, sorted by key, equal ones added."""
    elements, styles, features = [], [], []
    for tree in trees:
        cutting = elements_of_page(tree, cut)
        key, way, parent = cutting.key.tolist(), cutting.sequence.tolist(), tree.parent.tolist()
        for i in np.flatnonzero(cutting.kind).tolist():
            above = (key[parent[i]], way[parent[i]]) if i else (0, 0)
            looks = (int(tree.style[i]), int(tree.shape[i]))
            elements.append((key[i], *above, *looks, int(cutting.position[i]), int(cutting.kind[i]), 1))
            if cutting.kind[i] == INTERNAL:
                styles.append((key[i], way[i], 1))
        leaf_node = dict(zip(cutting.leaf_key.tolist(), cutting.leaf_node.tolist(), strict=True))
        elements += [
            (leaf, key[i], 0, 0, 0, -1, LEAF, 1) for leaf, i in leaf_node.items() if cutting.kind[i] == INTERNAL
        ]
        held = set()
        for (leaf, name), f in Counter(zip(cutting.leaf_key.tolist(), cutting.feature.tolist(), strict=True)).items():
            features.append((leaf, name, 1, f, round(L_SCALE * f * float(np.log2(f)))))
            i = leaf_node[leaf] if cutting.kind[leaf_node[leaf]] == INTERNAL else parent[leaf_node[leaf]]
            while i >= 0:
                held.add((key[i], name, 1, 0, 0))
                i = parent[i]
        features += held
    fingerprints = sorted(int(exact_fingerprint(tree)[:16], 16) for tree in trees)
    columns = [column for rows, keys in ((elements, 1), (styles, 2), (features, 2)) for column in summed(rows, keys)]
    names = [field.name for field in fields(StyleTree)][2:]
    return StyleTree(cut=cut, pages=np.array(fingerprints, np.uint64), **dict(zip(names, columns, strict=True)))


def summed(rows: list[tuple[int, ...]], keys: int) -> list[np.ndarray]:
    counts = {1: 1, 2: len(rows[0]) - 2}[keys] if rows else 0
    sums: dict[tuple[int, ...], list[int]] = {}
    for row in rows:
        known = sums.setdefault(row[: len(row) - counts], [0] * counts)
        known[:] = [a + b for a, b in zip(known, row[len(row) - counts :], strict=True)]
    one, other = (np.array([row[k] for row in sums], np.uint64) for k in (0, 1))
    order = np.argsort(one if keys == 1 else pair_key(one, other)).tolist()
    ordered = [(*row, *sums[row]) for row in (list(sums)[k] for k in order)]
    return [np.array(column) for column in zip(*ordered, strict=True)]


@given(sites, st.sampled_from([SST_CUT, ALIGNED_CUT, CST_CUT]))
def test_a_tree_is_what_sorting_all_rows_gives(site, cut):
    trees = [parse(page) for page in site]
    assert StyleTree.grow(trees, cut) == grown_by_sorting(trees, cut)


@given(sites)
def test_a_tree_that_was_read_in_between_grows_on(site):
    trees = [parse(page) for page in site]
    for cut in (SST_CUT, ALIGNED_CUT, CST_CUT):
        grower = Grower(cut)
        for tree in trees:
            grower.add(Page(tree))
            grower.tree()
        assert grower.tree() == StyleTree.grow(trees, cut)


@given(sites, pages(), st.sampled_from([SST_CUT, ALIGNED_CUT, CST_CUT]))
def test_a_page_is_mapped_along_the_paths_of_the_tree(site, page, cut):
    finisher = AlignedFinisher if cut == ALIGNED_CUT else Finisher
    finished = finisher(StyleTree.grow([parse(learned) for learned in site], cut)).finished()
    tree = parse(page)
    cutting = elements_of_page(tree, cut)
    places = zip(
        finished.path_element.tolist(),
        finished.path_sequence.tolist(),
        finished.path_position.tolist(),
        finished.kind[finished.path_child].tolist(),
        strict=True,
    )
    ways = dict(zip(places, finished.path_child.tolist(), strict=True))
    by_hand = [0] + [NOWHERE] * (len(tree) - 1)
    for i in np.flatnonzero(cutting.kind).tolist()[1:]:
        p = int(tree.parent[i])
        by_hand[i] = ways.get(
            (by_hand[p], int(cutting.sequence[p]), int(cutting.position[i]), int(cutting.kind[i])), NOWHERE
        )
    found = (AlignedMap if cut == ALIGNED_CUT else SiteMap)(finished).locate(tree, cutting).tolist()
    if cut != ALIGNED_CUT:
        assert found == by_hand
    else:  # an unseen row is aligned with the known ones: elements reached by a path do not move
        assert [found[i] for i, element in enumerate(by_hand) if element != NOWHERE] == [
            element for element in by_hand if element != NOWHERE
        ]


@given(sites, pages())
def test_elements_found_for_a_page_stand_below_one_another_and_once_only(site, page):
    finished = AlignedFinisher(StyleTree.grow([parse(learned) for learned in site], ALIGNED_CUT)).finished()
    tree = parse(page)
    found = AlignedMap(finished).locate(tree, elements_of_page(tree, ALIGNED_CUT))
    known = np.flatnonzero(found != NOWHERE)[1:]
    assert (finished.parent[found[known]] == found[tree.parent[known]]).all()
    assert len(set(found[known].tolist())) == len(known)


def test_one_more_box_does_not_part_a_page_from_its_site():
    pages = [f"<body><div class=menu><b>Home</b></div><div class=text><b>story {n}</b></div>" for n in range(4)]
    finished = AlignedFinisher(StyleTree.grow(map(parse, pages), ALIGNED_CUT)).finished()
    tree = parse(f"<body class=special><p><b>Breaking</b></p>{pages[0][6:]}")
    found = AlignedMap(finished).locate(tree, elements_of_page(tree, ALIGNED_CUT))
    assert found[tree.tagged("p")].tolist() == [NOWHERE]
    assert (found[tree.tagged("div")] != NOWHERE).all()


@given(sites, st.sampled_from([SST_CUT, ALIGNED_CUT, CST_CUT]))
def test_sums_agree_with_an_oracle_of_per_page_counts(site, cut):
    trees = [parse(page) for page in site]
    per_page: dict[tuple[int, int], list[int]] = defaultdict(list)
    pages_of: Counter[int] = Counter()
    for tree in trees:
        cutting = elements_of_page(tree, cut)
        counts = Counter(zip(cutting.leaf_key.tolist(), cutting.feature.tolist(), strict=True))
        for pair, f in counts.items():
            per_page[pair].append(f)
        leaves = {int(cutting.key[i]) for i in np.flatnonzero(cutting.kind == LEAF)} | set(cutting.leaf_key.tolist())
        pages_of.update(leaves)
    grown = StyleTree.grow(trees, cut)
    m_of = dict(zip(grown.key.tolist(), grown.m.tolist(), strict=True))
    kind_of = dict(zip(grown.key.tolist(), grown.kind.tolist(), strict=True))
    seen = 0
    for key, feature, df, total, scaled in zip(
        *(getattr(grown, name).tolist() for name in ("feature_element", "feature", "df", "total", "entropy_sum")),
        strict=True,
    ):
        if kind_of[key] != LEAF:
            continue
        f = np.array(per_page[key, feature])
        seen += 1
        assert (df, total) == (len(f), f.sum())
        assert m_of[key] == pages_of[key]
        if m_of[key] > 1:
            p = f / f.sum()
            by_hand = float(-(p * np.log(p)).sum() / np.log(m_of[key]))
            found = feature_entropy(np.array([total]), np.array([scaled]), np.array([m_of[key]]))
            assert found[0] == pytest.approx(by_hand, abs=1e-6)
    assert seen == len(per_page)


@given(sites, st.sampled_from([SST_CUT, ALIGNED_CUT, CST_CUT]), st.randoms(), st.data())
def test_merging_any_split_in_any_order_gives_the_same_tree(site, cut, chance, data):
    trees = [parse(page) for page in site]
    whole = StyleTree.grow(trees, cut)
    chance.shuffle(trees)
    at = data.draw(st.integers(0, len(trees)))
    parts = [StyleTree.grow(part, cut) for part in (trees[:at], trees[at:]) if part]
    chance.shuffle(parts)
    merged = StyleTree.merge(parts)
    assert merged == whole
    one, other = finish(merged), finish(whole)
    assert one.parent.tolist() == other.parent.tolist()
    assert one.path_child.tolist() == other.path_child.tolist()


def test_trees_that_share_a_page_are_not_merged():
    tree = StyleTree.grow([parse("<p>x")], SST_CUT)
    with pytest.raises(ModelError, match="share pages"):
        StyleTree.merge([tree, tree])


def test_no_pages_make_no_tree():
    with pytest.raises(ModelError, match="no pages"):
        StyleTree.grow([], SST_CUT)


def test_trees_of_different_cuts_are_not_merged():
    with pytest.raises(ModelError, match="cuts"):
        StyleTree.merge([StyleTree.grow([parse("<p>x")], SST_CUT), StyleTree.grow([parse("<p>y")], CST_CUT)])


def test_leaf_on_one_page_and_internal_on_another_are_two_elements():
    rest = "<ul><li><b>z</b></ul>"
    flat, deep = f"<body><div>x</div>{rest}", f"<body><div><p><i><b>y</b></i></p></div>{rest}"
    grown = StyleTree.grow([parse(flat), parse(deep)], ALIGNED_CUT)
    div = grown.style == np.uint64(style_hash("div", []))
    assert sorted(grown.kind[div].tolist()) == [INTERNAL, LEAF]
    assert grown.m[div].tolist() == [1, 1]


def nested(levels: int, text: str) -> PageTree:
    return parse("<div>" * levels + f"<p>{text}</p><p>the end</p>" + "</div>" * levels)


@pytest.mark.parametrize("cut", [SST_CUT, ALIGNED_CUT, CST_CUT])
def test_a_page_of_much_text_has_fewer_levels_of_elements(cut: Cut):
    # Each element above a word counts it: 1 MB of words 480 levels deep would be gigabytes.
    tree = nested(480, "x" * 1_000_000)
    elements = elements_of_page(tree, cut)
    assert np.count_nonzero(elements.kind) <= LEAST_LEVELS
    assert len(StyleTree.grow([tree], cut).feature) <= 3 * LEAST_LEVELS
    assert np.count_nonzero(elements_of_page(nested(480, "x" * 1_000), cut).kind) > 470


def test_a_page_is_mapped_to_the_levels_that_were_learned_of_it():
    trees = [nested(480, f"page{n} " + "x" * 1_000_000) for n in range(3)]
    cutting = elements_of_page(trees[0], SST_CUT)
    found = SiteMap(finish(StyleTree.grow(trees, SST_CUT))).locate(trees[0], cutting)
    assert (found[cutting.kind != OUTSIDE] != NOWHERE).all()
