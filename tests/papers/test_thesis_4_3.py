"""Thesis 4.3 and Yi and Liu 2003 on the code that `webwinnow features` runs: the CST, its weights, and MapCST."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import plain_cst as plain
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from webwinnow import PageTree, SiteModel, parse
from webwinnow.features.vectors import learn_weights
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.markup import style_hash
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.styletree import feature_names, page_features

EXACT, MAPPED = CstWeightSettings(), CstWeightSettings(mapped=True)


def leaf(text: str, **attributes: str) -> str:
    """A virtual leaf of the CST, the grandparent of an actual leaf."""
    given = "".join(f" {name}={value}" for name, value in attributes.items())
    return f"<div{given}><p><b>{text}</b></p></div>"


def learned(*pages: str, settings: CstWeightSettings = EXACT) -> FeatureWeights:
    return learn_weights(map(parse, pages), settings)


def weights_of(weights: FeatureWeights, page: str) -> dict[str, float]:
    """The features of a page with their weights."""
    tree = parse(page)
    names = feature_names(tree)
    return {names[feature]: weight for feature, weight in zip(*(c.tolist() for c in weights.weigh(tree)), strict=True)}


def place_of(weights: FeatureWeights, tag: str, **attributes: str) -> int:
    """The only element of a tag and attributes."""
    (found,) = np.flatnonzero(weights.site.style == np.uint64(style_hash(tag, attributes.items())))
    return int(found)


# Figure 4-9, Figure 2 of Yi and Liu, equations 5-6 and 1

D1 = f"<body bgcolor=white>{leaf('top', width='800')}<span><i><b>s</b></i></span>{leaf('red', bgcolor='red')}"
D2 = f"<body bgcolor=white>{leaf('top', width='800')}{leaf('red', bgcolor='red')}"


def test_figure_4_9_node_importance_of_root_is_0_and_of_body_1():
    weights = learned(D1, D2)
    body = place_of(weights, "body", bgcolor="white")
    assert weights.node[0] == 0
    assert weights.node[body] == pytest.approx(1)
    assert np.count_nonzero(weights.site.parent == body) == 3  # p1, p2, p3: all but SPAN are merged
    for attributes in ({"width": "800"}, {"bgcolor": "red"}):
        assert weights.site.m[place_of(weights, "div", **attributes)] == 2
    assert weights.site.m[place_of(weights, "span")] == 1


def test_equation_5_6_is_the_entropy_of_the_styles_to_the_base_of_the_tag_nodes():
    # three pages of style 1, one of style 2: -(0.75 log_4 0.75 + 0.25 log_4 0.25) = 0.4056
    one, other = leaf("x", width="800"), leaf("x", width="800") + leaf("y", width="100")
    weights = learned(*(f"<body>{page}<i>{k}</i>" for k, page in enumerate((one, one, one, other))))
    assert weights.node[place_of(weights, "body")] == pytest.approx(
        -(0.75 * math.log(0.75, 4) + 0.25 * math.log(0.25, 4))
    )


@pytest.mark.parametrize(("alone", "expected"), [(0.0, 0.0), (1.0, 1.0)])
def test_an_element_seen_once_has_importance_0_in_equation_5_6_and_1_in_equation_1_of_yi_and_liu(alone, expected):
    weights = learned(D2, settings=CstWeightSettings(alone=alone))
    assert weights.node[0] == expected
    assert weights.node[place_of(weights, "body", bgcolor="white")] == expected


# Step 3 of 4.3.1

SIX = "one two three four five six"


def test_step_3_merges_children_of_one_tag_and_attributes_with_similar_characteristic_features():
    menu, story = f"<ul class=menu><li><b>{SIX}</b></ul>", leaf("story")
    weights = learned(f"<body>{menu}{story}", f"<body>{story}{menu}")
    assert weights.site.m[place_of(weights, "ul", **{"class": "menu"})] == 2


@pytest.mark.parametrize(
    ("second", "elements"),
    [
        (f"<ul class=menu><li><b>{SIX} seven</b></ul>", 1),  # 6 / 7 = 0.857
        (f"<ul class=menu><li><b>{SIX} seven eight</b></ul>", 2),  # 6 / 8 = 0.75
        (f"<ul class=list><li><b>{SIX}</b></ul>", 2),  # other attributes
    ],
)
def test_step_3_compares_characteristic_features_by_lambda_0_85(second, elements):
    first = f"<ul class=menu><li><b>{SIX}</b></ul>"
    weights = learned(f"<body>{first}<hr>", f"<body><hr>{second}")
    lists = [np.uint64(style_hash("ul", [("class", name)])) for name in ("menu", "list")]
    assert np.isin(weights.site.style, lists).sum() == elements


# Equations 5-7 to 5-10, 2 to 5


def test_equations_5_7_to_5_10_by_hand():
    # Two pages, one style everywhere: NodeImp is 0 above the leaf. In the leaf, m = 2: "same" is on both pages once,
    # H = 1. "red" is on page 1 three times and on page 2 once: H = -(3/4 log 3/4 + 1/4 log 1/4) = 0.8113. "own" is on
    # page 1 only: H = 0. NodeImp = 1 - (1 + 0.8113 + 0) / 3 = PathImp; weights are PathImp (1 - H) f.
    h = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    pages = f"<body>{leaf('same red red red own own')}", f"<body>{leaf('same red')}"
    weights = learned(*pages)
    path = 1 - (1 + h) / 3
    assert weights.path[place_of(weights, "div")] == pytest.approx(path)
    assert weights_of(weights, pages[0]) == {
        "red": pytest.approx(path * (1 - h) * 3),
        "own": pytest.approx(path * 2),
    }
    assert weights_of(weights, pages[1]) == {"red": pytest.approx(path * (1 - h))}


def test_equation_5_9_multiplies_from_the_root_down():
    # BODY has two styles on two pages (NodeImp 1 would hide the rest), so four pages, two of each: NodeImp 0.5.
    one, other = leaf("menu word", id="m"), leaf("menu word", id="m") + leaf("x")
    pages = [f"<body>{page}" for page in (one, one, other, other)]
    weights = learned(*(page.replace("word", f"word{k}", 1) for k, page in enumerate(pages)))
    body = place_of(weights, "body")
    assert weights.node[body] == pytest.approx(0.5)
    below = np.flatnonzero(weights.site.parent == body)
    assert weights.path[below] == pytest.approx(1 - 0.5 * (1 - weights.node[below]))


def test_equation_5_8_is_to_the_base_of_the_tag_nodes():
    # m = 4: "red" on two pages has H = log_4 2 = 0.5, "own0" on one has 0, so NodeImp = 1 - (0.5 + 0 x 4) / 5 = 0.9.
    pages = [f"<body>{leaf(f'own{k}' + ' red' * (k < 2))}" for k in range(4)]
    weights = learned(*pages)
    assert weights_of(weights, pages[0]) == {"own0": pytest.approx(0.9), "red": pytest.approx(0.45)}


def test_equation_5_8_entropy_is_0_for_one_tag_node():
    weights = learned(f"<body>{leaf('red red blue')}")
    assert weights_of(weights, f"<body>{leaf('red red blue')}") == {"red": 2.0, "blue": 1.0}


def test_weights_of_one_feature_are_added_over_the_page():
    # red is in two leaves: a menu that every page has (weight 0) and a text of its own (path 1 - 1/3).
    pages = [f"<body>{leaf('red', width='1')}{leaf(f'menu {word}', width='2')}" for word in ("red", "blue")]
    weights = learned(*pages)
    (own,) = [weights.path[place_of(weights, "div", width="2")]]
    assert weights_of(weights, pages[0]) == {"red": pytest.approx(own)}


# 4.3.3


def test_virtual_leaves_are_the_grandparents_of_actual_leaves():
    weights = learned("<body><section><div><p><b>x</b></p></div></section>")
    assert [int(weights.site.kind[place_of(weights, tag)]) for tag in ("body", "section", "div")] == [1, 1, 2]


@pytest.mark.parametrize(("meaningless", "informative"), [(0.01, 0.2), (0.0, 0.0), (0.0, 1.0), (0.1, 0.3), (0.5, 0.6)])
def test_mapped_weights_are_in_three_classes_by_m_and_u(meaningless, informative):
    h = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    path = 1 - (1 + h) / 3  # 0.396, and 0.075 for red

    def mapped(weight: float) -> float:
        return 0.0 if weight < meaningless else weight if weight < informative else 1.0

    pages = f"<body>{leaf('same red red red own own')}", f"<body>{leaf('same red')}"
    chosen = CstWeightSettings(mapped=True, meaningless=meaningless, informative=informative)
    found = weights_of(learned(*pages, settings=chosen), pages[0])
    assert found.get("own", 0) == pytest.approx(2 * mapped(path))
    assert found.get("red", 0) == pytest.approx(3 * mapped(path * (1 - h)))
    assert found.get("same", 0) == mapped(0.0)


# Figure 4-10: MapCST on pages that were not learned

MENU = leaf("home about contact", **{"class": "menu"})
SITE = [f"<body>{MENU}{leaf(f'story{k} text{k}', **{'class': 'story'})}" for k in range(4)]
STORY = leaf("new words", **{"class": "story"})
ONES = {"new": 1.0, "words": 1.0}


def test_lines_2_to_11_a_leaf_omits_meaningless_features_and_gives_unknown_ones_weight_1():
    weights = learned(*SITE, settings=MAPPED)
    assert weights_of(weights, f"<body>{MENU}{STORY}") == ONES  # no home, about, contact
    assert weights_of(weights, f"<body>{MENU.replace('contact', 'jobs')}{STORY}") == ONES | {"jobs": 1.0}


@pytest.mark.parametrize(
    "page",
    [
        f"<body>{MENU}<hr>{STORY}",
        f"<body>{MENU}{STORY}{STORY.replace('new words', '')}",
        f"<body><hr>{MENU}{STORY}",
        f"<body>{STORY}{MENU}",
        f"<body><hr><hr>{STORY}{MENU}<hr>",
    ],
)
def test_line_14_a_child_matches_by_itself_whatever_the_other_children(page):
    assert weights_of(learned(*SITE, settings=MAPPED), page) == ONES


def test_lines_16_to_20_the_features_of_a_child_that_matches_none_have_weight_1():
    page = f"<body>{MENU}{leaf('home again', **{'class': 'extra'})}{STORY}"
    assert weights_of(learned(*SITE, settings=MAPPED), page) == ONES | {"home": 1.0, "again": 1.0}


def test_line_14_a_child_matches_only_with_equal_attributes():
    page = f"<body>{MENU.replace('class=menu', 'class=nav')}{STORY}"
    assert weights_of(learned(*SITE, settings=MAPPED), page) == ONES | {"home": 1.0, "about": 1.0, "contact": 1.0}


def test_line_14_of_several_children_of_one_style_the_nearest_matches():
    # two lists of one style, one at the top and one at the end, with words that are different
    top, end = leaf("home about", **{"class": "list"}), leaf("terms privacy", **{"class": "list"})
    site = [f"<body>{top}{leaf(f'story{k}', **{'class': 'story'})}<hr><hr><hr>{end}" for k in range(4)]
    weights = learned(*site, settings=MAPPED)
    assert weights_of(weights, f"<body>{top}{STORY}<hr><hr>{end}") == ONES
    swapped = weights_of(weights, f"<body>{end}{STORY}<hr><hr>{top}")
    assert swapped == ONES | dict.fromkeys("home about terms privacy".split(), 1.0)


def test_line_14_of_two_children_at_the_same_distance_the_one_at_the_lower_position_matches():
    top, end = leaf("home about", **{"class": "list"}), leaf("terms privacy", **{"class": "list"})
    weights = learned(*(f"<body>{top}<hr><hr><hr>{end}<i>{k}</i>" for k in range(4)), settings=MAPPED)
    assert weights_of(weights, f"<body><hr><hr>{top}") == {}
    assert weights_of(weights, f"<body><hr><hr>{end}") == {"terms": 1.0, "privacy": 1.0}


def test_line_14_of_two_children_at_one_position_the_one_with_more_tag_nodes_matches():
    rare, often = leaf("terms privacy", **{"class": "list"}), leaf("home about", **{"class": "list"})
    site = [f"<body>{rare}<p>{k}</p>" for k in range(2)] + [f"<body>{often}<div>{k}</div>" for k in range(3)]
    for pages in (site, site[::-1]):
        weights = learned(*pages, settings=MAPPED)
        assert weights_of(weights, f"<body>{often}<hr>") == {}
        assert weights_of(weights, f"<body>{rare}<hr>") == {"terms": 1.0, "privacy": 1.0}


def test_line_2_a_virtual_leaf_takes_all_features_however_deep_the_page_is():
    deeper = "<div class=menu><p><b>home <i>about</i></b></p><p>contact</p></div>"
    assert weights_of(learned(*SITE, settings=MAPPED), f"<body>{deeper}{STORY}") == ONES


def test_line_13_a_page_less_deep_than_the_tree_descends_all_the_same():
    site = [f"<body><main>{MENU}{leaf(f'story{k}', **{'class': 'story'})}</main>" for k in range(4)]
    flat = "<body><main><div class=menu>home about contact</div><div class=story>new words</div></main>"
    assert weights_of(learned(*site, settings=MAPPED), flat) == ONES


def test_text_directly_inside_an_element_is_weighted_by_its_text_leaf():
    site = [f"<body>welcome{leaf(f'story{k}', **{'class': 'story'})}" for k in range(4)]
    assert weights_of(learned(*site, settings=MAPPED), f"<body>welcome back<hr>{STORY}") == ONES | {"back": 1.0}


# Random sites against the oracle

words = st.sampled_from("red green blue menu home about one two".split())


texts = st.lists(words, max_size=3).map(" ".join)
Block = tuple[str, str, list["Block"]]
"""A class, a text and blocks inside."""


@st.composite
def sites(draw: st.DrawFn) -> list[str]:
    """Pages of one skeleton: on each, blocks may be missing or doubled and have other words or another class."""

    def block(depth: int) -> Block:
        inside = [block(depth - 1) for _ in range(draw(st.integers(1, 2)))] if depth else []
        return draw(st.sampled_from("abc")), draw(texts), inside

    def written(one: Block) -> str:
        name, text, inside = one
        change = draw(st.sampled_from(["", "", "", "", "text", "text", "class", "missing", "doubled"]))
        if change == "missing":
            return ""
        name = draw(st.sampled_from("abc")) if change == "class" else name
        text = draw(texts) if change == "text" else text
        return f"<div class={name}>{text}{''.join(map(written, inside))}</div>" * (2 if change == "doubled" else 1)

    skeleton = [block(2), block(4)]
    return [f"<body>{''.join(map(written, skeleton))}" for _ in range(draw(st.integers(2, 5)))]


def as_tag_nodes(tree: PageTree) -> plain.TagNode:
    """The visible part of a page as the oracle's nodes."""
    own = defaultdict(list)
    found = page_features(tree)
    for owner, feature in zip(found.owner.tolist(), found.feature.tolist(), strict=True):
        own[owner].append(feature)

    def node(i: int) -> plain.TagNode:
        below = [c for c in np.flatnonzero(tree.parent == i).tolist() if tree.visible[c]]
        return plain.TagNode(int(tree.style[i]), [node(c) for c in below], own[i])

    return node(0)


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(sites(), st.sampled_from([0.0, 1.0]), st.sampled_from([None, (0.01, 0.2)]))
def test_weights_of_learned_and_unseen_pages_are_those_of_the_published_algorithms(site, alone, sets):
    *trees, unseen = [parse(page) for page in site]
    weights = learn_weights(trees, CstWeightSettings(alone=alone, mapped=sets is not None))
    try:
        root = plain.build([as_tag_nodes(tree) for tree in trees], cut=2)
        path = plain.path_importances(root, alone)
        for tree in (*trees, unseen):
            expected: dict[int, float] = defaultdict(float)
            for feature, weight in plain.map_cst(root, as_tag_nodes(tree), path, 2, sets):
                expected[feature] += weight
            found = dict(zip(*(column.tolist() for column in weights.weigh(tree)), strict=True))
            for feature, weight in expected.items():
                assert found.get(feature, 0.0) == pytest.approx(weight, abs=1e-6)
            assert found.keys() <= expected.keys()
    except plain.Undecided:
        assume(False)


# Method cst on unseen pages


def test_cst_removes_the_menu_of_an_unseen_page_with_one_more_child():
    model = SiteModel.learn([parse(page) for page in SITE])
    page = f"<body>{MENU}<hr>{STORY}"
    assert model.clean(page, "cst").text.split() == ["new", "words"]
    everything = CleaningSettings(cst=CstSettings(weight=0.0))
    assert "home" in model.clean(page, "cst", everything).text
