"""The recogniser of kinds: obvious regions, arrays that fit, models that are checked."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.errors import ModelError
from webwinnow.judge.evidence import reading_of
from webwinnow.judge.kinds import (
    CONTEXTS,
    EVIDENCE,
    KIND_CODE,
    KINDS,
    SHIPPED,
    WEIGHT_SCALE,
    KindModel,
    in_context,
    in_groups,
    most_probable_kinds,
    recognise,
    token_weights,
    with_kinds,
)
from webwinnow.judge.models import SHIPPED as PAGE_MODEL
from webwinnow.judge.regionfeatures import PART_STARTS, PARTS, read_regions
from webwinnow.judge.removedregions import removed_regions
from webwinnow.judge.verdict import Verdict, keep_visible
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import Cleaner

URL = "https://www.mill.example/grain/rye/sowing.html"
LARGEST = 3_000_000
PAGE = """<!doctype html><title>Sowing rye - The Mill</title><body>
<nav class="breadcrumbs"><a href="/">Home</a> &gt; <a href="/grain/">Grain</a> &gt; <a href="/grain/rye/">Rye</a></nav>
<main><h1>KEPT Sowing rye</h1><p>KEPT Rye is sown late, when the barley is in and the nights grow cold.</p></main>
<div class="social-share"><a href="https://www.facebook.com/sharer.php?u=https%3A%2F%2Fwww.mill.example">Facebook</a>
<a href="https://twitter.com/intent/tweet?url=https%3A%2F%2Fwww.mill.example">Twitter</a></div>
<div id="cookie-consent" class="cookie-banner"><p>We use cookies to improve your experience on our website. By clicking
accept you agree to our use of cookies.</p><button>Accept cookies</button><button>Reject</button></div>
<footer><p>&copy; 2026 The Mill Ltd. All rights reserved. <a href="/terms">Terms of use</a>
<a href="/privacy">Privacy policy</a></p></footer>"""


def judged(page: str, url: str = URL) -> tuple[Page, Verdict]:
    """A page of which only blocks with the word KEPT are kept."""
    tree = parse(page, url=url)
    keep = np.array(["KEPT" in tree.run(r) for r in range(tree.run_count)], np.bool_)
    return Page(tree), replace(keep_visible(tree), keep_runs=keep, keep=np.zeros(len(tree), np.bool_))


def test_obvious_regions_get_their_kind() -> None:
    found = recognise(*judged(PAGE))
    kinds = {text.split()[0]: KINDS[kind].name for text, kind in zip(found.regions.texts(), found.kind, strict=True)}
    assert kinds["Home"] == "hierarchic-directory"
    assert kinds["Facebook"] == "share"
    assert kinds["We"] == "consent"
    assert kinds["©"] == "declaration"


def test_a_verdict_has_the_kind_of_every_removed_node_and_content_for_kept_ones() -> None:
    page, verdict = judged(PAGE)
    tree = page.tree
    verdict = replace(verdict, keep=tree.tagged("main", "h1", "p") & (np.arange(len(tree)) < 12))
    labelled = with_kinds(page, verdict)
    assert labelled.kind_score is not None
    assert not labelled.kind[verdict.keep].any()
    nav = int(np.flatnonzero(tree.tagged("nav"))[0])
    assert (labelled.kind[nav : int(tree.end[nav])] == KIND_CODE["hierarchic-directory"]).all()
    assert 0 < labelled.kind_score[nav] <= 1
    assert labelled.keep_runs is verdict.keep_runs


def test_what_has_no_text_is_a_region_outside_of_those_with_text() -> None:
    page, verdict = judged("""<body><div id="top-ad"><iframe src="/ad"></iframe></div><div></div><hr>
<div class="menu"><a href="/a">Removed</a><img src="/in-the-menu.png"></div>
<main><p>KEPT</p><img src="/kept.png"></main>""")
    tree = page.tree
    verdict = replace(verdict, keep=tree.tagged("main", "p") | (np.arange(len(tree)) == len(tree) - 1))
    found = recognise(page, verdict)
    regions = found.regions
    assert regions.texts() == ["Removed", "", ""]
    assert [tree.xpath(int(node)) for node in regions.node[1:]] == ["/html/body/div[1]", "/html/body/main[1]/img[1]"]
    labelled = with_kinds(page, verdict)
    assert labelled.kind_score is not None
    assert labelled.kind_score[regions.node[1]] == found.score[1] > 0
    assert labelled.kind[regions.node[2]] == KIND_CODE["content"]  # kept with the text beside it


def test_a_box_or_frame_that_shows_nothing_is_removed_with_its_kind() -> None:
    page = (
        "<article><h1>Quinces</h1>{}<p>"
        + "A quince is hard until it is cooked, for an hour or longer. " * 9
        + "</p></article>"
    )
    boxes = (
        "<div class=ad-slot id=div-gpt-ad-1></div><iframe src=https://googleads.g.doubleclick.net/ads?x=1></iframe>"
        "<img src=/quince.jpg width=600 height=400>"
    )
    clean = Cleaner.of("page", kinds=True).clean(parse(page.format(boxes), url=URL))
    shown = {
        decision.text.split()[0]: decision for decision in clean.decisions(explain=True) if decision.text[0] == "<"
    }
    assert [(shown[tag].kept, shown[tag].reason.partition(":")[0]) for tag in ("<div>", "<iframe>")] == [
        (False, "empty"),
        (False, "empty"),
    ]
    assert "<img>" not in shown
    plain = Cleaner.of("page").clean(parse(page.format(boxes), url=URL))
    assert clean.html == plain.html
    assert "ad-slot" not in plain.html and "quince.jpg" in plain.html


def test_kinds_are_computed_only_on_request() -> None:
    tree = parse(PAGE, url=URL)
    verdict = keep_visible(tree)
    assert verdict.kind_score is None
    assert not verdict.kind.any()


def test_a_page_without_removed_blocks_has_no_kinds() -> None:
    tree = parse("<p>All of it stays.")
    assert len(recognise(Page(tree), keep_visible(tree)).kind) == 0


@given(data=st.data())
def test_any_soup_has_one_kind_a_region(data, soup) -> None:
    tree = parse(data.draw(soup), url=URL)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=tree.run_count, max_size=tree.run_count)), np.bool_)
    found = recognise(Page(tree), replace(keep_visible(tree), keep_runs=keep))
    assert len(found.kind) == len(found.score) == len(found.regions)
    assert (found.kind < len(KINDS)).all()
    assert ((found.score > 0) & (found.score <= 1)).all()


def test_the_context_of_a_region_is_its_neighbours_and_the_means_of_both_sides() -> None:
    first = np.array([[0.2, 0.8], [0.6, 0.4], [1.0, 0.0]])
    rows = in_context(first).reshape(3, CONTEXTS, 2)[:, :, 0]
    own, before, after, all_before, all_after = rows.T.tolist()
    assert own == [0.2, 0.6, 1.0]
    assert before == [0.0, 0.2, 0.6]
    assert after == [0.6, 1.0, 0.0]
    assert all_before == [0.0, 0.2, 0.4]
    assert all_after == [0.8, 1.0, 0.0]


def test_every_part_of_a_region_is_evidence_of_one_group() -> None:
    assert sorted(part for group in EVIDENCE for part in group) == sorted(PARTS)
    found = in_groups(PART_STARTS[:-1].astype(np.int32))
    assert [[part for part, own in zip(PARTS, row, strict=True) if own] for row in found] == [
        [part for part in PARTS if part in group] for group in EVIDENCE
    ]


def test_the_scores_by_evidence_add_up_to_those_of_all_tokens_and_numbers() -> None:
    page, verdict = judged(PAGE)
    reading = read_regions(removed_regions(page.tree, verdict), reading_of(page), verdict, None)
    model = KindModel.load()
    scores = model.linear(reading)
    assert scores.shape == (len(reading.offsets) - 1, len(EVIDENCE) + 1, len(model.classes))
    weights = token_weights(reading, model.idf, by_part=True)
    for r, (a, b) in enumerate(pairwise(reading.offsets.tolist())):
        numbers = np.clip((reading.features[:, r] - model.middle) / model.spread, -3.0, 3.0) @ model.number_weight
        tokens = weights[a:b] @ model.token_weight[reading.ids[a:b]] / WEIGHT_SCALE
        np.testing.assert_allclose(scores[r].sum(axis=0), tokens + numbers + model.bias, rtol=1e-5, atol=1e-5)


def test_a_region_is_of_the_most_probable_family_and_of_its_most_probable_kind() -> None:
    probability = np.zeros((2, len(KINDS)))
    probability[0, [KIND_CODE["content"], KIND_CODE["declaration"], KIND_CODE["decoration"]]] = 0.4, 0.35, 0.25
    probability[1, [KIND_CODE["content"], KIND_CODE["declaration"], KIND_CODE["share"]]] = 0.4, 0.35, 0.25
    assert [KINDS[kind].name for kind in most_probable_kinds(probability)] == ["declaration", "content"]


def test_the_weights_ship_as_plain_arrays_and_stay_small() -> None:
    assert SHIPPED.stat().st_size + PAGE_MODEL.stat().st_size <= LARGEST
    model = KindModel.load()
    again = KindModel.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes() == SHIPPED.read_bytes()
    assert model.about["regions"] > 2000


def test_damaged_weights_are_refused() -> None:
    whole = SHIPPED.read_bytes()
    model = KindModel.load()
    for broken in (b"", b"no archive", whole[: len(whole) // 2], replace(model, bias=model.bias[:-1]).to_bytes()):
        with pytest.raises(ModelError, match="make train"):
            KindModel.from_bytes(broken)
