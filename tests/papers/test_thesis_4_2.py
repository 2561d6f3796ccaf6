"""The site style tree of thesis 4.2 on the code that users call: Figures 4-3 to 4-8, equations 5-1 to 5-5, 4.2.5.

Enhancement 2 makes parents of actual leaves the leaves of the tree, so the tags at the bottom of the figures have a B
inside. HTML moves text directly inside a TABLE out of it, so DIV replaces TABLE.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pytest
from typer.testing import CliRunner

from webwinnow import CleaningSettings, SiteModel, learn, parse
from webwinnow.cli.app import app
from webwinnow.methods.method_sst import SstSettings
from webwinnow.page.markup import style_hash
from webwinnow.site.description import describe_model
from webwinnow.site.importance import node_importance
from webwinnow.site.sitetree import SiteTree

SST = frozenset({"sst", "labels"})


def learned(pages: Iterable[str], **settings: float) -> SiteModel:
    return learn(list(pages), "a.example", SST, CleaningSettings(sst=SstSettings(**settings)))


def tree_of(pages: Iterable[str], **settings: float) -> SiteTree:
    return learned(pages, **settings).part("sst")


def elements(site: SiteTree, tag: str, *display: tuple[str, str]) -> list[int]:
    return np.flatnonzero(site.style == np.uint64(style_hash(tag, display))).tolist()


def element(site: SiteTree, tag: str, *display: tuple[str, str]) -> int:
    """The only element of a tag and display attributes."""
    (found,) = elements(site, tag, *display)
    return found


def style_counts(site: SiteTree, i: int) -> list[int]:
    return sorted(site.style_count[site.style_element == i].tolist())


def cleaned(model: SiteModel, page: str, **settings: float) -> str:
    own = {"min_pages": 1, **settings}
    return " ".join(model.clean(page, "sst", CleaningSettings(sst=SstSettings(**own))).text.split())


def reasons(model: SiteModel, page: str, **settings: float) -> dict[str, str]:
    own = CleaningSettings(sst=SstSettings(**{"min_pages": 1, **settings}))
    return {found.text: found.reason.partition(",")[0] for found in model.clean(page, "sst", own).decisions()}


# Figure 4-3

TOP = "<body bgcolor=white><div width=800><p><b>menu</b></p></div><img src=i.gif>"
D1 = f"{TOP}<div bgcolor=red><p><b>a</b></p><img><p><b>b</b></p><a><b>c</b></a></div>"
D2 = f"{TOP}<div bgcolor=red><p><b>d</b></p><br><p><b>e</b></p></div>"


def test_figure_4_3_two_pages_share_one_style_below_body_and_differ_below_the_last_table():
    site = tree_of([D1, D2])
    body, last = element(site, "body", ("bgcolor", "white")), element(site, "div", ("bgcolor", "red"))
    assert site.m[body] == 2
    assert style_counts(site, body) == [2]
    assert style_counts(site, last) == [1, 1]
    assert sorted(site.style[site.parent == last].tolist()) == sorted([style_hash("p", [])] * 4 + [style_hash("a", [])])


def test_figure_4_3_the_whole_sequence_of_children_is_the_style():
    # The image is no element, but part of the style.
    without_image = D1.replace("</p><img>", "</p>").replace("c</b>", "f</b>")
    site = tree_of([D1, D2, without_image])
    assert style_counts(site, element(site, "div", ("bgcolor", "red"))) == [1, 1, 1]


def test_children_with_other_attributes_at_the_same_place_are_other_elements():
    story = "<div class={}><p><b>{}</b></p></div>"
    pages = [f"<body><hr>{story.format(kind, f'words{n}')}" for n, kind in enumerate(["ad", "ad", "story", "story"])]
    site = tree_of(pages)
    for kind in ("ad", "story"):
        assert site.m[element(site, "div", ("class", kind))] == 2


# Figure 4-4 and equations 5-1 to 5-5


def figure_4_4() -> list[str]:
    """100 pages: BODY has one style; the double-lined table four, which 35, 25, 25 and 15 pages use."""
    inner = ["<p><b>x</b></p>" * k for k in range(1, 5)]
    pages = []
    for n in range(100):
        style = 0 if n < 35 else 1 if n < 60 else 2 if n < 85 else 3
        table = "<div width={}><p><b>{}</b></p></div>"
        pages.append(
            f"<body>{table.format(1, 'menu')}<img src=i.gif><div width=2><section>{inner[style]}</section></div>"
            f"{table.format(3, f'own{n}')}"
        )
    return pages


def test_figure_4_4_node_importance_of_the_double_lined_table_is_0_292():
    site = tree_of(figure_4_4())
    node = node_importance(site.style_count, site.style_element, site.m, alone=1.0)
    assert node[element(site, "section")] == pytest.approx(0.292, abs=5e-4)
    assert node[element(site, "body")] == 0


def test_equations_5_2_to_5_4_on_the_pages_of_figure_4_4():
    model = learned(figure_4_4())
    site, found = model.part("sst"), model.noise_map("sst").importance.composite
    menu, section = element(site, "div", ("width", "1")), element(site, "section")
    middle, own = element(site, "div", ("width", "2")), element(site, "div", ("width", "3"))
    four_styles = (1 - 0.9**4) * 0.292
    assert found[menu] == 0  # its word is on every page: H = 1
    assert found[own] == pytest.approx(0.9)  # one style, and a leaf whose words are each on one page: H = 0
    assert found[section] == pytest.approx(four_styles, abs=5e-4)  # the leaves below repeat one word: CompImp(S) = 0
    assert found[middle] == pytest.approx(0.9 * four_styles, abs=5e-4)
    body = element(site, "body")
    assert found[body] == pytest.approx(0.9 * (0 + 0.9 * four_styles + 0.9) / 3, abs=5e-4)  # 5-3: k = 3


def test_equation_5_2_uses_the_attenuation_that_is_set():
    model = learned(figure_4_4())
    noise = model.noise_map("sst", SstSettings(attenuation=0.5).noise)
    section = element(noise.site, "section")
    assert noise.importance.composite[section] == pytest.approx((1 - 0.5**4) * 0.292, abs=5e-4)


def test_equation_5_2_weighs_each_style_by_its_share_of_pages():
    # Three pages have a style whose leaf repeats a word (importance 0), one a style whose leaf is its own (m = 1: 1).
    same, own = "<p><b>same</b></p>", "<p><b>own</b></p><hr>"
    model = learned(
        [f"<body><section>{same}</section>{story(n)}" for n in range(3)] + [f"<body><section>{own}</section>{story(3)}"]
    )
    noise = model.noise_map("sst")
    node = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25)) / np.log(4)
    found = noise.importance.composite[element(noise.site, "section")]
    assert found == pytest.approx((1 - 0.9**2) * node + 0.9**2 * (0.75 * 0 + 0.25 * 1))


def test_equation_5_3_an_element_without_features_does_not_count_in_k():
    pages = [f"<body><section><p><b>own{n}</b></p><p class=empty><b></b></p></section>" for n in range(3)]
    noise = learned(pages).noise_map("sst")
    assert noise.importance.composite[element(noise.site, "section")] == pytest.approx(0.9)


def test_equation_5_1_an_element_of_one_page_has_importance_1():
    page = "<body><div><p><b>x</b></p></div>"
    site = tree_of([page])
    assert node_importance(site.style_count, site.style_element, site.m, alone=1.0).tolist()[:2] == [1.0, 1.0]
    assert learned([page]).noise_map("sst").importance.composite.min() == 1.0


def test_equation_5_5_by_hand():
    # In the leaf, "all" is on 4 of 4 pages (H = 1), "half" on 2 (H = log_4 2 = 1/2), "twice" has 1 and 3 occurrences
    # on 2 pages (p = 1/4 and 3/4), "own" words are on one page each (H = 0).
    said = ["all half twice", "all half twice twice twice", "all own1", "all own2"]
    model = learned(f"<body><p><b>{text}</b></p>" for text in said)
    twice = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75)) / np.log(4)
    leaf = element(model.part("sst"), "p")
    assert model.noise_map("sst").importance.composite[leaf] == pytest.approx(1 - (1 + 0.5 + twice) / 5)


def test_importances_are_compared_without_rounding_errors():
    # "ha" is three times on each page: H = 1 up to the rounding of the stored sums, so the importance is 0.
    pages = [f"<body><div><p><b>ha ha ha</b></p></div>{story(n)}" for n in range(3)]
    assert cleaned(learned(pages), pages[0], threshold=0.0) == words(0)


# Figures 4-5 to 4-7. A body with a menu, a story and a mixed part.

MENU = "<div class=menu><p><b>home about news</b></p></div>"


def story(n: int) -> str:
    return f"<div class=story><p><b>{' '.join(f'word{n}x{k}' for k in range(9))}</b></p></div>"


def page(n: int, *, menu: str = MENU, more: str = "") -> str:
    mixed = f"<div class=mixed>{story(n)}<div class=side><p><b>follow us</b></p></div></div>"
    return f"<body>{story(n + 50)}{menu}{mixed}{more}"


MODEL = learned(page(n) for n in range(6))
HALF = {"threshold": 0.5}


def words(n: int) -> str:
    return " ".join(f"word{n}x{k}" for k in range(9))


def test_figure_4_5_marking_goes_on_after_a_child_that_is_not_noisy():
    # The story is the first child; the figure as printed returns there, and the menu is never marked.
    assert cleaned(MODEL, page(2), **HALF) == f"{words(52)} {words(2)}"
    assert reasons(MODEL, page(2), **HALF)["home about news"].startswith("noisy")  # not only its words, as in 4.2.5


def test_figure_4_5_an_element_with_a_part_that_is_not_noisy_is_not_noisy():
    marks = MODEL.noise_map("sst").marked(0.5)
    site = MODEL.part("sst")
    mixed, menu = element(site, "div", ("class", "mixed")), element(site, "div", ("class", "menu"))
    assert not marks.noisy[mixed]
    assert not marks.meaningful[mixed]
    assert marks.noisy[menu]


def test_figure_4_6_the_simplified_tree_ends_at_maximal_noisy_and_meaningful_elements():
    lines = [line[25:].strip() for line in describe_model(MODEL.with_threshold(0.5)) if line[:5].strip().isdigit()]
    assert lines == [
        "~ body",
        "+ div.story  (1 element inside)",
        "- div.menu  (1 element inside)",
        "~ div.mixed",
        "+ div.story  (1 element inside)",
        "- div.side  (1 element inside)",
    ]


def test_figure_4_7_lines_1_to_4_what_is_under_a_noisy_element_is_deleted_even_if_it_is_new():
    changed = "<div class=menu><section><p><b>never seen</b></p></section></div>"
    found = reasons(MODEL, page(2, menu=changed), **HALF)
    assert found["never seen"].startswith("noisy")


def test_figure_4_7_lines_5_to_7_what_is_under_a_meaningful_element_is_kept_even_if_it_is_new():
    changed = page(2).replace("<div class=story><p>", "<div class=story><section><p><b>never seen</b></p></section><p>")
    found = reasons(MODEL, changed, **HALF)
    assert found["never seen"] == "kept: meaningful"


def test_figure_4_7_lines_10_to_16_children_are_mapped_pair_by_pair():
    # The same words as in the story of page 2, but at the place of the menu, are deleted, and the other way round.
    there = page(2, menu=MENU.replace("home about news", "storm today"))
    found = reasons(MODEL, there, **HALF)
    assert found["storm today"].startswith("noisy")
    assert found[words(2)] == "kept: meaningful"
    assert found["follow us"].startswith("noisy")


def test_figure_4_7_lines_17_and_18_a_sequence_that_the_element_does_not_have_is_kept_whole():
    # One more box below BODY: BODY itself is possibly meaningful, so the menu is kept as well; nothing is aligned.
    found = reasons(MODEL, page(2, more="<div class=new><p><b>breaking</b></p></div>loose words"), **HALF)
    assert set(found.values()) == {"kept: possibly meaningful"}
    assert {"home about news", "follow us", "breaking", "loose words"} <= found.keys()


def test_figure_4_7_lines_17_and_18_concern_the_node_with_the_unknown_sequence_only():
    changed = page(2).replace("<div class=side>", "<p>inserted</p><div class=side>")
    found = reasons(MODEL, changed, **HALF)
    assert found["follow us"] == "kept: possibly meaningful"
    assert found["home about news"].startswith("noisy")


def test_figure_4_7_text_directly_inside_a_node_with_an_unknown_sequence_is_kept():
    pages = [f"<body>{story(n)}<div class=box>our shop{MENU}{story(n + 9)}</div>" for n in range(5)]
    model = learned(pages)
    assert reasons(model, pages[0], **HALF)["our shop"].startswith("noisy")
    changed = pages[0].replace("our shop", "our shop<hr>")
    assert reasons(model, changed, **HALF)["our shop"] == "kept: possibly meaningful"


def test_figure_4_8_learn_then_map_new_pages_from_the_command_line(tmp_path):
    def write(name: str, pages: Iterable[str]) -> str:
        lines = [json.dumps({"url": f"http://a.example/{n}", "html": html}) for n, html in enumerate(pages)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        return str(tmp_path / name)

    known = write("known.jsonl", (page(n) for n in range(6)))
    new = write("new.jsonl", [page(7), page(8, more="<hr>")])
    models, out = str(tmp_path / "models"), tmp_path / "out.jsonl"
    run = CliRunner().invoke
    assert run(app, ["learn", known, "-o", models, "-q", "--jobs", "1"]).exit_code == 0
    options = ["--method", "sst", "--set", "sst.threshold=0.5", "--jobs", "1", "-q"]
    assert run(app, ["clean", new, "-o", str(out), "--models", models, *options]).exit_code == 0
    texts = [" ".join(json.loads(line)["text"].split()) for line in out.read_text(encoding="utf-8").splitlines()]
    assert texts == [f"{words(57)} {words(7)}", f"{words(58)} home about news {words(8)} follow us"]


# Enhancement 1


def in_two_styles(one: str, other: str, attr: str = "class=menu", other_attr: str = "class=menu") -> list[str]:
    """Pages with a menu before one story, and with a menu before two."""
    first, second = (f"<div {a}><p><b>{menu}</b></p></div>" for a, menu in ((attr, one), (other_attr, other)))
    pages = [f"<body>{first}{story(n)}" for n in range(3)]
    return pages + [f"<body>{second}{story(n)}{story(n + 20)}" for n in range(3, 6)]


SIX = "one two three four five six"


def test_enhancement_1_equal_menus_of_different_styles_become_one_element():
    site = tree_of(in_two_styles(SIX, SIX))
    assert site.m[element(site, "div", ("class", "menu"))] == 6


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        (f"{SIX} seven", True),  # 6 of 7 features: 0.857
        (f"{SIX} seven eight", False),  # 6 of 8: 0.75
        ("one red green blue white black", False),  # a single shared entry
    ],
)
def test_enhancement_1_joins_from_an_overlap_of_0_85(other, joined):
    site = tree_of(in_two_styles(SIX, other))
    assert len(elements(site, "div", ("class", "menu"))) == (1 if joined else 2)


def test_enhancement_1_lambda_is_the_setting_overlap():
    pages = in_two_styles(SIX, f"{SIX} seven eight")
    assert len(elements(tree_of(pages, overlap=0.75), "div", ("class", "menu"))) == 1
    pages = in_two_styles(SIX, f"{SIX} seven")
    assert len(elements(tree_of(pages, overlap=0.9), "div", ("class", "menu"))) == 2


def test_enhancement_1_gamma_is_the_share_of_pages_of_a_characteristic_feature():
    pages = in_two_styles(SIX, SIX)
    pages[0] = pages[0].replace("five six", "")  # 2 of 3 pages of the first style have them: below 0.85, above 0.6
    assert len(elements(tree_of(pages), "div", ("class", "menu"))) == 2
    assert len(elements(tree_of(pages, gamma=0.6), "div", ("class", "menu"))) == 1


def test_enhancement_1_elements_of_other_attributes_stay_apart():
    site = tree_of(in_two_styles(SIX, SIX, other_attr="class=ad"))
    assert site.m[element(site, "div", ("class", "menu"))] == 3
    assert site.m[element(site, "div", ("class", "ad"))] == 3


def test_enhancement_1_elements_without_characteristic_features_stay_apart():
    site = tree_of(in_two_styles("", ""))
    assert len(elements(site, "div", ("class", "menu"))) == 2


def test_enhancement_1_never_joins_two_tag_nodes_of_one_page():
    menu = f"<div class=menu><p><b>{SIX}</b></p></div>"
    site = tree_of([f"<body>{menu}{menu}a", f"<body>{menu}{menu}<hr>b"])
    assert site.m[elements(site, "div", ("class", "menu"))].tolist() == [2, 2]


def test_enhancement_1_menus_that_are_joined_are_recognised_as_noise_on_pages_of_rare_styles():
    # Each page has a style of its own, so a menu alone would be on one page and have importance 1.
    pages = [f"<body><div class=menu><p><b>{SIX}</b></p></div>{story(n) * (n + 1)}" for n in range(5)]
    assert cleaned(learned(pages), pages[1], **HALF) == f"{words(1)} {words(1)}"
    apart = [page.replace("class=menu", f"id=x width={n}") for n, page in enumerate(pages)]
    assert SIX in cleaned(learned(apart), apart[1], **HALF)


def test_enhancement_1_settings_are_read_by_clean_and_learn_from_the_command_line(tmp_path):
    pages = [f"<body><div class=menu><p><b>{SIX} own{n}</b></p></div>{story(n) * (n + 1)}" for n in range(5)]
    crawl = tmp_path / "crawl.jsonl"
    lines = [json.dumps({"url": f"http://a.example/{n}", "html": html}) for n, html in enumerate(pages)]
    crawl.write_text("\n".join(lines), encoding="utf-8")

    def texts(*options: str) -> str:
        out = tmp_path / "out.jsonl"
        done = CliRunner().invoke(
            app, ["clean", str(crawl), "-o", str(out), "--method", "sst", "--set", "sst.threshold=0.5", "-q", *options]
        )
        assert done.exit_code == 0, done.stderr
        return out.read_text(encoding="utf-8")

    # The menus share 6 of 8 features (0.75): apart by default, each on one page and kept.
    assert "one two three" in texts()
    assert "one two three" not in texts("--set", "sst.overlap=0.7")
    models = str(tmp_path / "models")
    learning = ["learn", str(crawl), "-o", models, "-q", "--set", "sst.overlap=0.7"]
    assert CliRunner().invoke(app, learning).exit_code == 0
    assert "one two three" not in texts("--models", models)


# Enhancement 2


def test_enhancement_2_parents_of_actual_leaves_are_the_leaves():
    site = tree_of(["<body><div><p><b>x</b><i>y</i></p></div>", "<body><div><p><b>z</b><i>w</i></p></div>"])
    leaf = element(site, "p")
    assert not (site.parent == leaf).any()
    assert not elements(site, "b")
    assert np.count_nonzero(site.feature_element == leaf) == 4


def test_enhancement_2_actual_leaves_beside_higher_nodes_are_part_of_their_parent():
    # The heading and the first paragraph are actual leaves; their words are in the own leaf of the DIV.
    pages = [f"<body><div><h1>title{n}</h1><p>text{n} here</p><section><b>menu</b></section></div>" for n in range(4)]
    site = tree_of(pages)
    assert not elements(site, "h1")
    assert not elements(site, "p")
    div = element(site, "div")
    (own,) = site.path_child[(site.path_element == div) & (site.path_position < 0)].tolist()
    assert np.count_nonzero(site.feature_element == own) == 9
    assert cleaned(learned(pages), pages[1], **HALF) == "title1 text1"


# Locally noisy features (4.2.5)

PRICES = [
    f"<body>{MENU}<div class=list><p><b>Price list of shop</b> <i>item{n} sold{n} new{n}</i></p></div>"
    for n in range(5)
]


def test_locally_noisy_words_are_removed_from_a_meaningful_element():
    pages = [text.replace("Price list", f"Price{n} list{n}") for n, text in enumerate(PRICES)]
    model = learned(pages)
    assert cleaned(model, pages[2], **HALF) == "Price2 list2 item2 sold2 new2"
    assert cleaned(model, pages[2], whole_runs=True, **HALF) == "Price2 list2 of shop item2 sold2 new2"


def test_locally_noisy_words_are_removed_in_every_output():
    pages = [text.replace("Price list", f"Price{n} list{n}") for n, text in enumerate(PRICES)]
    clean = learned(pages).clean(pages[2], "sst", CleaningSettings(sst=SstSettings(threshold=0.5)))
    for output in ("text", "markdown", "html"):
        assert "list2" in clean.render(output)
        assert "shop" not in clean.render(output)
    record = clean.record()
    assert "shop" not in record["text"]
    assert record["kept_words"] == 5


def test_runs_of_locally_noisy_words_only_are_removed_in_either_case():
    for whole in (False, True):
        assert cleaned(learned(PRICES), PRICES[2], whole_runs=whole, **HALF) == "item2 sold2 new2"


def test_a_word_is_locally_noisy_by_one_minus_its_entropy_and_epsilon():
    # "common" is once on each page; "often" twice on one page and once on the others: 1 - H = 0.03 with 5 pages.
    pages = [f"<body>{MENU}<div class=list><p><b>common own{n} often</b></p></div>" for n in range(5)]
    pages[0] = pages[0].replace("often", "often often")
    model = learned(pages)
    assert cleaned(model, pages[1], **HALF) == "own1 often"
    assert cleaned(model, pages[1], epsilon=0.05, **HALF) == "own1"
    assert cleaned(model, pages[1], epsilon=0.0, **HALF) == "common own1 often"


def test_words_are_locally_noisy_in_their_own_leaf_only():
    model = learned(page(n) for n in range(6))
    there = page(2).replace(words(2), f"{words(2)} home")
    assert "home" in cleaned(model, there, **HALF)


def test_what_is_possibly_meaningful_keeps_its_locally_noisy_words():
    pages = [text.replace("Price list", f"Price{n} list{n}") for n, text in enumerate(PRICES)]
    changed = f"{pages[2]}<hr>"
    assert "of shop" in cleaned(learned(pages), changed, **HALF)


def test_locally_noisy_images_are_removed_and_others_are_kept():
    pages = [
        f"<body>{MENU}<div class=list><p><b>item{n} sold{n}</b><img src=/logo.png><img src=/{n}.png></p></div>"
        for n in range(5)
    ]
    there = parse(pages[2], url="http://a.example/2.html")
    clean = learned(pages).clean(there, "sst", CleaningSettings(sst=SstSettings(threshold=0.4)))
    assert "/2.png" in clean.html
    assert "logo" not in clean.html
