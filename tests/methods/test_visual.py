"""Method `visual`, and what a layout adds to `page` and `combined`; layouts are written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from drawnpages import column, drawn_html, drawn_page

from webwinnow.judge.evidence import evidence_of
from webwinnow.judge.visualevidence import BESIDE, with_layout
from webwinnow.methods.registry import CleaningSettings
from webwinnow.methods.visualsegments import segments
from webwinnow.page.blocks import cut
from webwinnow.page.page import Page
from webwinnow.page.parsing import ParseLimits, parse
from webwinnow.page.treebytes import tree_from_bytes, tree_to_bytes
from webwinnow.page.visualcues import VisualCues
from webwinnow.record.cleaner import clean_page

PROSE = "The river rose by two metres in the night and the lower town was under water by the morning of the third day. "
ARTICLE = f"""
<div drawn="0 0 1000 80 background=0x224466FF"><a href="/a">Home</a> <a href="/b">News</a> <a href="/c">Sport</a>
<a href="/d">Weather</a> <a href="/e">Contact</a></div>
<div drawn="0 140 200 1500"><p drawn="0 140 200 30"><a href="/1">Older story of the river</a></p>
<p drawn="0 180 200 30"><a href="/2">Another story of the town</a></p>
<p drawn="0 220 200 30"><a href="/3">A third one about the flood</a></p></div>
<div drawn="260 140 600 1500"><h1 drawn="260 140 600 60 font_size=128">The flood of the lower town</h1>
<p drawn="260 220 600 200">{PROSE * 4}</p><p drawn="260 440 600 200">{PROSE * 3}</p>
<p drawn="260 660 600 200">{PROSE * 5}</p></div>
<div drawn="0 1800 1000 100 background=0x333333FF"><p drawn="0 1800 1000 40 font_size=48">Copyright by the Daily
Bugle, all rights reserved</p></div>
"""
BANNER = """<div drawn="0 600 1000 200 position=fixed"><p drawn="10 610 980 100">We and our partners use cookies to
store information about your visit, to measure how our pages are used, and to show you advertisements.</p></div>"""


def cues_of(body: str) -> VisualCues:
    cues = VisualCues.of(cut(drawn_page(body)))
    assert cues is not None
    return cues


def test_places_and_fonts_are_relative_to_the_page() -> None:
    tree = drawn_page(ARTICLE)
    cues, heading, first = VisualCues.of(cut(tree)), column(tree, "h1"), column(tree, "p")
    assert cues is not None
    assert cues.column == (260, 860)
    assert (cues.left[heading], cues.width[heading]) == pytest.approx((0.26, 0.6))
    assert cues.off_centre[heading] == pytest.approx(0.12)  # its middle is at 560 of 1000
    assert cues.area[heading] == pytest.approx(600 * 60 / (1000 * 2000))
    assert cues.font[heading] == pytest.approx(2.0)
    assert (cues.in_column[heading], cues.in_column[first]) == (1.0, 0.0)
    assert bool(cues.above_fold[heading])
    assert cues.shown.all()


@pytest.mark.parametrize(
    ("text", "behind", "contrast"),
    [
        ("0x000000FF", "0xFFFFFFFF", 21.0),
        ("0x777777FF", "0xFFFFFFFF", 4.48),  # the example of WCAG: too little by a hair
        ("0x777777FF", "0x77777700", 4.48),  # transparent, so the page's white is behind it
    ],
)
def test_contrast_is_that_of_wcag(text: str, behind: str, contrast: float) -> None:
    tree = drawn_page(f'<div drawn="0 0 9 9 background={behind}"><p drawn="0 0 9 9 colour={text}">words</p></div>')
    cues = VisualCues.of(cut(tree))
    assert cues is not None
    assert cues.contrast[column(tree, "p")] == pytest.approx(contrast, abs=0.01)


@pytest.mark.parametrize(
    "drawn",
    [
        "260 900 600 30 unseen",
        "260 900 1 1 flags=129 position=absolute",
        "-900 900 600 30 position=absolute",
        "260 900 600 30 font_size=0",
        "260 900 600 30 colour=0",
    ],
    ids=["not visible", "clipped to one pixel", "left of the page", "font of size 0", "transparent"],
)
def test_text_that_nobody_sees_is_unseen(drawn: str) -> None:
    tree = drawn_page(f'{ARTICLE}<section drawn="{drawn}"><b drawn="{drawn}">secret</b></section>')
    cues = VisualCues.of(cut(tree))
    assert cues is not None
    assert cues.unseen[column(tree, "b")]
    assert not cues.unseen[column(tree, "h1")]


def test_a_page_that_is_not_drawn_yet_is_not_unseen() -> None:
    assert not cues_of(f'<p drawn="0 0 900 90 unseen">{PROSE}</p><p drawn="0 90 900 9">Loading</p>').unseen.any()


def test_a_fixed_box_is_an_overlay_unless_it_is_the_page() -> None:
    tree = drawn_page(ARTICLE + BANNER)
    cues = VisualCues.of(cut(tree))
    assert cues is not None
    assert "".join(tree[int(i)].own_text for i in np.flatnonzero(cues.overlay)).split()[:3] == ["We", "and", "our"]
    app = cues_of(f'<div drawn="0 0 1000 800 position=fixed"><p>{PROSE}</p></div><p drawn="0 0 9 9">Menu</p>')
    assert not app.overlay.any()


def test_covered_text_is_found_unless_a_dialog_covers_the_page() -> None:
    sentence = '<b drawn="260 900 600 30 covered=100">Under a picture</b>'
    tree = drawn_page(ARTICLE + sentence)
    cues = VisualCues.of(cut(tree))
    assert cues is not None
    assert cues.covered[column(tree, "b")]
    assert not cues_of(ARTICLE.replace("600 200", "600 200 covered=100")).covered.any()


def test_a_page_is_divided_into_header_columns_and_footer() -> None:
    tree = drawn_page(ARTICLE)
    cues = VisualCues.of(cut(tree))
    assert cues is not None and tree.layout is not None
    found = segments(tree, tree.layout, cues)
    links, heading = tree.tagged("a"), column(tree, "h1")
    menu, side = found.part_of[links][0], found.part_of[links][-1]
    paragraphs = found.part_of[tree.tagged("p")]
    footer, text = paragraphs[-1], paragraphs[3]
    assert len({int(part) for part in (menu, side, text, footer)}) == 4
    assert (paragraphs[3:6] == text).all()
    main = {int(found.part_of[heading]), int(text)}
    assert not main & {int(menu), int(side), int(footer)}
    assert (found.parent[1:] < np.arange(1, len(found))).all()


def test_visual_keeps_the_central_part_with_its_headline() -> None:
    clean = clean_page(drawn_page(ARTICLE + BANNER), "visual")
    assert clean.text.startswith("The flood of the lower town")
    assert clean.text.count("The river rose") == 12
    assert not any(word in clean.text for word in ("Weather", "Older story", "Copyright", "cookies"))
    why = {decision.text.split()[0]: decision.reason.partition(":")[0] for decision in clean.decisions()}
    assert why["We"] == "overlay"
    assert why["Older"] == "hub"
    assert why["Copyright"] == "marginal"


def test_visual_keeps_everything_of_a_page_that_was_not_rendered() -> None:
    clean = clean_page(parse("<p>One</p><p>Two</p>"), "visual")
    assert clean.text.split() == ["One", "Two"]
    assert "not rendered" in str(clean.verdict.note)


@pytest.mark.parametrize("method", ["page", "combined"])
def test_overlays_and_unseen_text_are_removed_with_their_reason(method: str) -> None:
    hidden = '<p drawn="260 900 600 30 unseen">Share</p><p drawn="260 900 600 30 covered=100">Print</p>'
    all_of_it = CleaningSettings.from_pairs(["page.unseen=false"])
    tree = drawn_page(ARTICLE.replace("</h1>", "</h1>" + hidden) + BANNER)
    clean = clean_page(tree, method, settings=all_of_it)
    why = {decision.text[:9]: decision.reason.partition(":")[0] for decision in clean.decisions()}
    assert (why["We and ou"], why["Share"], why["Print"]) == ("overlay", "unseen", "covered")
    assert clean.text.count("The river rose") == 12


def test_unseen_text_that_is_probably_content_is_kept_unless_asked_otherwise() -> None:
    secret = f'<p drawn="260 900 600 30 unseen">{PROSE.replace("river", "sea")}</p>'
    tree = drawn_page(ARTICLE.replace("</h1>", "</h1>" + secret))
    shown = [
        clean_page(tree, "page", settings=CleaningSettings.from_pairs(pairs)).text
        for pairs in ([], ["page.unseen=false"])
    ]
    assert ["The sea rose" in text for text in shown] == [True, False]
    off = CleaningSettings.from_pairs(["page.layout=false", "page.unseen=false"])
    assert "The sea rose" in clean_page(tree, "page", settings=off).text


def test_a_layout_moves_the_log_odds_of_what_is_beside_the_column() -> None:
    page = Page(drawn_page(ARTICLE))
    own = evidence_of(page).probability
    moved = with_layout(page, own)
    texts = [page.blocks.text(int(b)).strip() for b in evidence_of(page).said]
    side, main = texts.index("Older story of the river"), texts.index((PROSE * 4).strip())
    assert moved[main] == own[main]
    odds = [np.log(p / (1 - p)) for p in (own[side], moved[side])]
    assert odds[0] - odds[1] == pytest.approx(BESIDE, abs=0.05)


def test_without_a_layout_nothing_changes() -> None:
    page = Page(parse(f"<p>{PROSE}</p>"))
    assert with_layout(page, evidence_of(page).probability) is evidence_of(page).probability


@pytest.mark.parametrize("method", ["page", "combined"])
@pytest.mark.parametrize("used", [True, False])
def test_explanations_name_what_the_layout_adds_if_it_is_used(method: str, used: bool) -> None:
    settings = CleaningSettings.from_pairs([f"page.layout={'true' if used else 'false'}"])
    clean = clean_page(drawn_page(ARTICLE), method, settings=settings)
    causes = [cause.says for found in clean.decisions(explain=True) for cause in found.because if "Older" in found.text]
    assert ("its place: 100% of its width is beside the main column" in causes) == used


def test_a_stored_tree_has_its_layout() -> None:
    tree = drawn_page(ARTICLE)
    again = tree_from_bytes(tree_to_bytes(tree))
    assert tree.layout is not None and again.layout is not None
    assert again.layout.to_bytes() == tree.layout.to_bytes()
    assert clean_page(again, "visual").text == clean_page(tree, "visual").text


def test_many_overlapping_boxes_take_no_longer_than_many_others() -> None:
    crowd = "".join(f'<p drawn="{k % 7} {k % 11} 900 900">{k}</p>' for k in range(3_000))
    assert clean_page(drawn_page(crowd), "visual").text.split()[0] == "0"


def test_computed_styles_are_display_attributes_if_asked_for() -> None:
    pages = [drawn_html(f'<p class=x drawn="0 0 90 9 font_size={size}">Words</p>') for size in (64, 64, 96)]
    plain = [parse(html, layout=layout).style for html, layout in pages]
    computed = [parse(html, layout=layout, limits=ParseLimits(css=True)).style for html, layout in pages]
    assert (plain[0] == plain[2]).all()
    assert (computed[0] == computed[1]).all()
    assert computed[0][2] != computed[2][2]
    assert computed[0][1] == computed[2][1]  # the body looks the same
