"""The recogniser of kinds: obvious regions, arrays that fit, models that are checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.cleaning.kinds import KIND_CODE, KINDS, SHIPPED, KindModel, recognise, with_kinds
from webwinnow.cleaning.verdict import Verdict, keep_visible
from webwinnow.errors import ModelError
from webwinnow.pagemodel import PageContext
from webwinnow.pagemodel.models import SHIPPED as PAGE_MODEL
from webwinnow.parsing import parse

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


def judged(page: str, url: str = URL) -> tuple[PageContext, Verdict]:
    """A page of which only blocks with the word KEPT are kept."""
    tree = parse(page, url=url)
    keep = np.array(["KEPT" in tree.run(r) for r in range(tree.run_count)], np.bool_)
    return PageContext(tree), replace(keep_visible(tree), keep_runs=keep, keep=np.zeros(len(tree), np.bool_))


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
    assert labelled.kind[regions.node[2]] == found.kind[2]
    assert (labelled.kind_score[regions.node[2]] > 0) == (found.kind[2] != KIND_CODE["content"])


def test_kinds_are_computed_only_on_request() -> None:
    tree = parse(PAGE, url=URL)
    verdict = keep_visible(tree)
    assert verdict.kind_score is None
    assert not verdict.kind.any()


def test_a_page_without_removed_blocks_has_no_kinds() -> None:
    tree = parse("<p>All of it stays.")
    assert len(recognise(PageContext(tree), keep_visible(tree)).kind) == 0


@given(data=st.data())
def test_any_soup_has_one_kind_a_region(data, soup) -> None:
    tree = parse(data.draw(soup), url=URL)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=tree.run_count, max_size=tree.run_count)), np.bool_)
    found = recognise(PageContext(tree), replace(keep_visible(tree), keep_runs=keep))
    assert len(found.kind) == len(found.score) == len(found.regions)
    assert (found.kind < len(KINDS)).all()
    assert ((found.score > 0) & (found.score <= 1)).all()
    assert len(found.of_runs()) == tree.run_count


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
