"""The thesis's chapter 3: its printed examples of rival methods, and five nodes by hand where it prints none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from webwinnow import SiteCleaner, SiteModel, clean_page, learn, parse
from webwinnow.methods.method_items import ItemModel, ItemSettings, ItemTree
from webwinnow.methods.method_segments import SegmentSettings
from webwinnow.methods.method_template import TemplateSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.site.pagelets import PageletSettings, pagelets_of
from webwinnow.site.segmenttable import (
    block_entropies,
    feature_entropies,
    greedy_threshold,
    included_features,
    segments_of,
)

# Figure 3-2: two pages of five tables. F1 to F6 (logo, banner, panel, copyright) are on both, F7 and F8 on the first
# page only, F9 and F10 on the second.

SHARED = range(1, 7)
ON_PAGE = {0: [*SHARED, 7, 8], 1: [*SHARED, 9, 10]}


def figure_3_2() -> tuple[np.ndarray, np.ndarray]:
    feature = np.array([f for features in ON_PAGE.values() for f in features], np.uint64)
    page = np.repeat([0, 1], [len(features) for features in ON_PAGE.values()]).astype(np.int32)
    return feature, page


def test_figure_3_2_entropy_of_features():
    feature, page = figure_3_2()
    names, entropy = feature_entropies(feature, page, np.ones(len(feature), np.int32), pages=2)
    assert names.tolist() == list(range(1, 11))
    assert entropy.tolist() == [1.0] * 6 + [0.0] * 4


def test_equation_4_1_by_hand():
    """A word 3 times on one page and once on another, of four: -(3/4 log4 3/4 + 1/4 log4 1/4) = 0.405639."""
    _, entropy = feature_entropies(
        np.array([5, 5], np.uint64), np.array([0, 3], np.int32), np.array([3, 1], np.int32), pages=4
    )
    assert entropy.tolist() == [0.405639]


def test_equation_4_1_takes_the_blocks_of_a_page_together():
    feature, page = np.array([5, 5, 5], np.uint64), np.array([0, 0, 1], np.int32)
    _, entropy = feature_entropies(feature, page, np.array([1, 2, 3], np.int32), pages=2)
    assert entropy.tolist() == [1.0]


def test_equation_4_2_is_the_mean_over_a_block():
    block = np.array([0, 0, 1, 1, 1, 3])
    entropy = np.array([1.0, 1.0, 0.0, 0.0, 0.75, 0.0])
    assert block_entropies(block, entropy, 4).tolist() == [1.0, 0.25, 1.0, 0.0]


def test_figure_3_2_threshold_parts_the_informative_table_from_the_others():
    """Tables of entropy 0 and 1: the first threshold of the row already separates them."""
    site = SiteModel.learn(
        [
            parse(
                "<table><tr><td>f1</table><table><tr><td>f2 f3</table><table><tr><td>f4 f5</table>"
                f"<table><tr><td>{own}</table><table><tr><td>f6</table>"
            )
            for own in ("f7 f8 f11 f12 f13 f14", "f9 f10 f15 f16 f17 f18")
        ]
    )
    _, entropy = site.part("segments").block_entropy(parse("<table><tr><td>f1</table><table><tr><td>f7"), "tables")
    assert entropy[[2, 6]].tolist() == [1.0, 0.0]
    assert site.part("segments").threshold_of("tables") == 0.0


def test_greedy_threshold_by_hand():
    """Ten features, eight in by 0.3; from 0.3 to 0.4 none: the boundary is 0.3."""
    entropy = np.array([0.0, 0.05, 0.15, 0.15, 0.2, 0.25, 0.28, 0.3, 0.9, 0.95])
    assert greedy_threshold(included_features(np.arange(10), entropy)) == 0.3
    assert greedy_threshold(included_features(np.zeros(0, np.int64), np.zeros(0))) == 1.0


def test_figure_3_1_blocks_are_tables_without_their_child_tables():
    """CB1, the text outside tables, has S2 and S5; a nested table is a separate block."""
    page = (
        "<p>S2</p><table id=CB2><tr><td>S1<table id=CB3><tr><td>S3</table><table id=CB4><tr><td>S4</table>"
        "</table><p>S5</p><table id=CB5><tr><td>S6</table>"
    )
    tree = parse(page)
    block = segments_of(tree, "tables")
    said = {
        tree.run(r).strip(): tree.attribute(int(block[owner]), "id") if block[owner] else "CB1"
        for r, owner in enumerate(tree.run_owner.tolist())
    }
    assert said == {"S1": "CB2", "S2": "CB1", "S3": "CB3", "S4": "CB4", "S5": "CB1", "S6": "CB5"}


# The same through `SiteModel.clean`, as users call it: the score of a block is 1 - H(CB)


def table(words: str) -> str:
    return f"<table><tr><td>{words}</td></tr></table>"


def scores(site: SiteModel, page: str, **settings: object) -> dict[str, tuple[float, bool]]:
    """The score of each block of a page, and whether it is kept, by method `segments`."""
    clean = site.clean(page, "segments", CleaningSettings(segments=SegmentSettings(**settings)))
    tree, verdict = clean.tree, clean.verdict
    return {
        tree.run(r).strip(): (round(float(verdict.score[owner]), 6), bool(verdict.keep_runs[r]))
        for r, owner in enumerate(tree.run_owner.tolist())
    }


def test_figure_3_2_cleaned():
    """F1 to F6 have entropy 1 and are removed, F7 and F8 have entropy 0 and are kept."""
    layout = [table("F1"), table("F2 F3"), table("F4 F5"), "{own}", table("F6")]
    pages = ["".join(layout).format(own=table(own)) for own in ("F7 F8", "F9 F10")]
    site = SiteModel.learn(map(parse, pages))
    redundant = dict.fromkeys(("F1", "F2 F3", "F4 F5", "F6"), (0.0, False))
    assert scores(site, pages[0], min_pages=2, threshold=0.5) == redundant | {"F7 F8": (1.0, True)}


def test_equations_4_1_and_4_2_cleaned():
    """Four pages: `rare` 3 times on one and once on another, H = 0.405639; `solo` on one, H = 0; (4-2) is their mean.

    A word counts once in a block however often it is there, and all blocks of a page count together in (4-1).
    """
    pages = [table("rare rare") + table("rare solo solo"), table("rare"), table("fish"), table("bird")]
    site = SiteModel.learn(map(parse, pages))
    found = {text: score for text, (score, _) in scores(site, pages[0]).items()}
    assert found == {
        "rare rare": pytest.approx(1 - 0.405639, abs=1e-6),
        "rare solo solo": pytest.approx(1 - 0.405639 / 2, abs=1e-6),
    }


def test_informative_block_detection_keeps_up_to_the_threshold():
    pages = [table("rare rare") + table("rare solo solo"), table("rare"), table("fish"), table("bird")]
    site = SiteModel.learn(map(parse, pages))
    kept = {limit: [kept for _, kept in scores(site, pages[0], threshold=limit).values()] for limit in (0.2, 0.3, 0.5)}
    assert kept == {0.2: [False, False], 0.3: [False, True], 0.5: [True, True]}


def graded_site() -> tuple[SiteModel, str]:
    """Ten pages; nine words of page 0 are also on 0 to 8 others, one table each: entropies 0, 0.3, 0.48, ..., 0.95."""
    shared = [f"word{k}" for k in range(9)]
    pages = ["".join(table(word) for k, word in enumerate(shared) if n <= k) + table(f"own{n}") for n in range(10)]
    return SiteModel.learn(map(parse, pages)), pages[0]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"step": 0.1, "features": 0.5, "gain": 0.0}, 0.0),
        ({"step": 0.1, "features": 0.6, "gain": 0.0}, 0.5),
        ({"step": 0.05, "features": 0.6, "gain": 0.0}, 0.35),
        ({"step": 0.1, "features": 0.6, "gain": 0.1}, 0.4),
        ({"step": 0.1, "features": 0.95, "gain": 0.0}, 1.0),
    ],
)
def test_block_classification_increases_the_threshold_from_0(settings, expected):
    """The 19 words: 11 at 0 (own words and word0), then one each at log10(2), ..., log10(9); counted at 0, 0.1, ...:

    11 11 11 11 12 13 13 15 16 17 19. The first that has the share and after which a step adds no more than the gain.
    """
    site, page = graded_site()
    limits = [1 - score for score, kept in scores(site, page, **settings).values() if kept]
    known = [0.0, 0.30103, 0.477121, 0.60206, 0.69897, 0.778151, 0.845098, 0.90309, 0.954243]
    assert max(limits) == pytest.approx(max(h for h in known if h <= expected), abs=1e-6)


# Pagelets by hand


def names(page: str) -> list[str]:
    """The ids of a page's pagelets that have text."""
    tree = parse(page)
    return [tree.attribute(node, "id") or tree.tag_name(node) for node in pagelets_of(tree).node.tolist()]


LINKS = "<a href=/1>one</a><a href=/2>two</a><a href=/3>three</a>"


def cleaned(pages: list[str], **settings: object) -> list[str]:
    """The text that method `template` keeps of the pages of a site, as `SiteCleaner` cleans them."""
    cleaner = SiteCleaner("template", CleaningSettings(template=TemplateSettings(**settings)))
    for page in pages:
        cleaner.add(page)
    return [" ".join(cleaner.add(page).text.split()) for page in pages]


MENU = f"<div id=menu>{LINKS}</div>"


def test_definition_of_a_template_cleaned():
    """C(p_i) = C(p_j): the menu is on two pages and is removed from both; the stories, and a menu of one page, stay."""
    own = "<div id=own><a href=/4>four</a><a href=/5>five</a><a href=/6>six</a></div>"
    pages = [f"{MENU}<p>first story</p>", f"{MENU}<p>second story</p>", f"{own}<p>third story</p>"]
    assert cleaned(pages) == ["first story", "second story", "fourfivesix third story"]


def test_definition_of_a_pagelet_cleaned():
    """(1) a child of k links splits its parent; (2) what is inside a pagelet is none: text that all pages share goes
    only if it is a pagelet by itself.
    """
    shared, few = "<p>shared words</p>", "<p><a href=/1>one</a><a href=/2>two</a></p>"
    assert cleaned([f"<div>{few}{shared}<p>story {n} of {n}</p></div>" for n in "ab"]) == [
        f"onetwo shared words story {n} of {n}" for n in "ab"
    ]
    assert cleaned([f"<div>{MENU}{shared}<p>story {n} of {n}</p></div>" for n in "ab"]) == [
        f"story {n} of {n}" for n in "ab"
    ]


def test_a_menu_is_one_pagelet_and_not_its_entries():
    """Its children have fewer than k links each: two menus that share two of three entries are different pagelets."""
    menus = [f"<div>{LINKS}</div>", f"<div>{LINKS.replace('/3>three', '/4>four')}</div>"]
    pages = [f"{menu}<p>story {n} of {n}</p>" for n, menu in zip("ab", menus, strict=True)]
    assert cleaned(pages) == ["onetwothree story a of a", "onetwofour story b of b"]


def test_k_decides_what_is_a_pagelet():
    pages = [f"<div><a href=/1>one</a><a href=/2>two</a></div><p>story {n} of {n}</p>" for n in "ab"]
    assert [cleaned(pages, links=k)[0] for k in (2, 3)] == ["story a of a", "onetwo story a of a"]


def test_a_shingle_is_a_sequence_of_so_many_features():
    """The same words in another order are the same single words, but not the same pairs."""
    pages = [f"{MENU}<p>{words}</p>" for words in ("fish bird goat wolf", "wolf goat bird fish")]
    assert [cleaned(pages, shingle=size)[0] for size in (1, 2)] == ["", "fish bird goat wolf"]


@pytest.mark.parametrize("hashes", [1, 2, 4])
def test_pagelets_of_resemblance_r_are_equal_with_probability_r_to_the_number_of_hashes(hashes):
    """Texts of 12 words that share the first 9: of 15 different words 9 are common, r = 0.6."""
    settings = PageletSettings(shingle=1, hashes=hashes)
    trials, equal = 400, 0
    for n in range(trials):
        common = [f"c{n}x{k}" for k in range(9)]
        one, other = (
            pagelets_of(parse(f"<p>{' '.join([*common, *(f'{side}{n}x{k}' for k in range(3))])}"), settings)
            for side in "ab"
        )
        equal += int(one.fingerprint[0] == other.fingerprint[0])
    assert equal / trials == pytest.approx(0.6**hashes, abs=0.07)


def test_a_page_whose_children_have_few_links_is_one_pagelet():
    assert names("<div id=a><a href=/1>one</a><a href=/2>two</a></div><p>text") == ["body"]


def test_an_element_with_a_full_child_is_none_and_its_children_are_tried():
    """BODY has a child with 3 links, so it is none; DIV has 3 links, but no child with 3: it is a pagelet."""
    assert names(f"<div id=menu>{LINKS}</div><p id=story>text</p>") == ["menu", "story"]


def test_pagelets_are_not_nested():
    assert names(f"<div id=menu><ul><li><a href=/1>one</a></ul></div><div id=b>{LINKS}</div>") == ["menu", "b"]


def test_the_cut_goes_down_only_where_links_are():
    page = f"<div id=a><ul id=b>{LINKS}</ul><p id=c>c</p></div><div id=d><p>d</p></div>"
    assert names(page) == ["b", "c", "d"]


def test_text_directly_inside_a_full_element_is_in_no_pagelet():
    tree = parse(f"<p id=p>p</p>loose<div id=a>{LINKS}</div>")
    around = pagelets_of(tree).around
    assert [int(around[owner]) for owner in tree.run_owner[:2]] == [2, -1]


@pytest.mark.parametrize("links", [2, 3, 4])
def test_k_links_are_too_many(links):
    tree = parse(f"<div><div>{LINKS}</div></div>")
    assert (pagelets_of(tree, PageletSettings(links=links)).node[0] > 2) == (links <= 3)


def test_a_model_is_applied_with_the_k_that_it_was_learned_with():
    pages = [f"<div><a href=/1>one</a><a href=/2>two</a></div><p>story {n} of {n}</p>" for n in "ab"]
    for links, text in ((2, "story a of a"), (3, "onetwo story a of a")):
        learned = learn(pages, settings=CleaningSettings(template=TemplateSettings(links=links)))
        again = SiteModel.from_bytes(learned.to_bytes())
        assert " ".join(again.clean(pages[0], "template").text.split()) == text


# 3.1: the two rules of AdEater that the thesis prints, as trees


def chain(names: list[str], borders: list[float], noisy_above: list[bool]) -> ItemTree:
    """A tree that asks one question after another; other answers than the rule's lead to a leaf that is not noisy."""
    count = len(names)
    inner = np.arange(count)
    after, leaf = np.where(inner == count - 1, 2 * count, inner + 1), inner + count
    above = np.array(noisy_above)
    none = np.full(count + 1, -1)
    return ItemTree(
        kind="image",
        names=tuple(names),
        trait=np.concatenate((inner, none)).astype(np.int16),
        border=np.array([*borders, *[0.0] * (count + 1)], np.float32),
        low=np.concatenate((np.where(above, leaf, after), none)).astype(np.int32),
        high=np.concatenate((np.where(above, after, leaf), none)).astype(np.int32),
        noisy=np.array([0.0] * 2 * count + [1.0], np.float32),
        items=np.ones(2 * count + 1, np.int32),
    )


RULE_1 = chain(
    ["aspect ratio", "alt:to", "alt:click+here", "dest:http+www"], [4.5833, 0.5, 0.5, 0.5], [True, False, True, False]
)
RULE_2 = chain(["base:messier", "dest:redirect+cgi"], [0.5, 0.5], [False, True])


def shows_image(
    rule: ItemTree, tmp_path: Path, img: str, href: str, url: str = "http://www.example.org/a.html"
) -> bool:
    """Whether method `items` keeps the image of a page if its tree is this rule."""
    trees = tmp_path / "rule.npz"
    trees.write_bytes(ItemModel(trees={"image": rule}, about={}).to_bytes())
    tree = parse(f"<p>Words of a page.</p><a href='{href}'><img src=i.gif {img}></a>", url=url)
    settings = CleaningSettings(items=ItemSettings(trees=str(trees)))
    return "i.gif" in clean_page(tree, "items", settings=settings).markdown


@pytest.mark.parametrize(
    ("width", "alt", "href", "advertisement"),
    [
        (468, "click here now", "/go", True),
        (275, "click here now", "/go", True),  # 275 / 60 = 4.58333
        (274, "click here now", "/go", False),
        (468, "click here to win", "/go", False),
        (468, "here you click", "/go", False),
        (468, "click here now", "http://www.shop.example/", False),
        (468, "click here now", "http://shop.example/www", True),
    ],
)
def test_the_first_printed_rule_of_adeater(tmp_path, width, alt, href, advertisement):
    """If aspect ratio > 4.5833, alt does not contain "to" but contains "click+here", and U_dest does not contain
    "http+www", then the image is an advertisement.
    """
    assert shows_image(RULE_1, tmp_path, f"width={width} height=60 alt='{alt}'", href) is not advertisement


@pytest.mark.parametrize(
    ("base", "href", "advertisement"),
    [
        ("http://www.example.org/a.html", "/bin/redirect.cgi?x", True),
        ("http://www.messier.example/a.html", "/bin/redirect.cgi?x", False),
        ("http://www.example.org/a.html", "/cgi/redirect?x", False),
    ],
)
def test_the_second_printed_rule_of_adeater(tmp_path, base, href, advertisement):
    """If U_base does not contain "messier" and U_dest contains "redirect+cgi", then it is an advertisement."""
    assert shows_image(RULE_2, tmp_path, "alt=x", href, base) is not advertisement
