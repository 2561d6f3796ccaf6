"""The style tree against an oracle that keeps per-page counts, and its sums under merging."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import ModelError, parse
from webwinnow._kernels import INTERNAL, LEAF
from webwinnow.markup import style_hash
from webwinnow.site.finish import finish
from webwinnow.site.importance import feature_entropy
from webwinnow.site.styletree import CST_CUT, SST_CUT, StyleTree, elements_of_page

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


@given(sites, st.sampled_from([SST_CUT, CST_CUT]))
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


@given(sites, st.sampled_from([SST_CUT, CST_CUT]), st.randoms(), st.data())
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
    assert one.way_child.tolist() == other.way_child.tolist()


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
    grown = StyleTree.grow([parse(flat), parse(deep)], SST_CUT)
    div = grown.style == np.uint64(style_hash("div", []))
    assert sorted(grown.kind[div].tolist()) == [INTERNAL, LEAF]
    assert grown.m[div].tolist() == [1, 1]
