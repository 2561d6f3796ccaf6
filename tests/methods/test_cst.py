"""`cst`: blocks whose words distinguish the page from others of its site are kept."""

from __future__ import annotations

import pytest

from webwinnow import SettingsError, SiteModel, clean_page, parse
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.registry import CleaningSettings


def page(n: int) -> str:
    story = " ".join(f"word{n}x{k}" for k in range(20))
    menu = "<div><div><ul><li>Home</li><li>News</li></ul></div></div>"
    text = f"<div><div><h1>Title {n}</h1><p>{story}</p><p>***</p></div></div>"
    return f"<body>{menu}{text}<div><p>All rights reserved</p></div>"


SITE = SiteModel.learn([parse(page(n)) for n in range(6)], "a.example")


def test_weighty_blocks_are_kept_and_repeated_ones_are_removed():
    clean = SITE.clean(page(1), "cst")
    assert "word1x0" in clean.text
    assert "Home" not in clean.text
    assert "rights" not in clean.text


def test_blocks_without_words_go_with_the_block_before():
    assert "***" in SITE.clean(page(1), "cst").text


def test_each_decision_has_its_reason_and_weight():
    clean = SITE.clean(page(1), "cst")
    found = {decision.text: decision.reason for decision in clean.decisions()}
    assert found["Home"].startswith("of little weight")
    assert clean.verdict.score.min() >= 0
    assert clean.verdict.score.max() <= 1


def test_weight_0_keeps_all_that_is_visible():
    assert "Home" in SITE.clean(page(1), "cst", CleaningSettings(cst=CstSettings(weight=0.0))).text


def test_unknown_site_says_so():
    assert clean_page(parse(page(0)), "cst").record()["reason"].startswith("nothing is known")


def test_senseless_weight_is_refused():
    with pytest.raises(SettingsError, match="weight"):
        CstSettings(weight=2)
