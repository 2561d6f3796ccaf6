"""Thesis chapter 2: text model (2.1.1), taxonomy of noise (2.2, Figures 2-1 to 2-4); and Table 4-1."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest

from webwinnow.features.vectors import VectorBuilder, VectorSettings
from webwinnow.judge.kinds import KIND_CODE, KINDS, recognise
from webwinnow.judge.verdict import keep_visible
from webwinnow.methods.registry import method_named
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse

FIGURE_2_4 = {
    "fixed": ("decoration", "declaration", "page-description"),
    "service": ("page-service", "board", "interactive"),
    "navigation": (
        *("global-directory", "hierarchic-directory", "hybrid-directory"),
        *("advertisement", "site-recommendation", "page-recommendation"),
    ),
}
"""The twelve leaves of the taxonomy, by family."""


def test_figure_2_4_every_kind_of_noise_has_a_name_in_its_family():
    families = {kind.name: kind.family for kind in KINDS}
    assert {name: families.get(name) for names in FIGURE_2_4.values() for name in names} == {
        name: family for family, names in FIGURE_2_4.items() for name in names
    }


PAGE = """<!doctype html><title>Laser printers</title><body><main><h1>KEPT Laser printers</h1>
<p>KEPT This printer is fast, and its paper tray holds two hundred sheets of plain paper.</p></main>{}</body>"""
SHOWN = {
    "page-service": '<div class="tools"><a href="javascript:window.print()">Print This Page</a></div>',
    "interactive": '<form class="search" action="/search"><input type="text" name="q"><input type="submit" '
    'value="Google Search"><label>Search WWW</label><label>Search Our Site</label></form>',
    "declaration": "<div class=footer><p>Copyright &copy; 2004 Example Inc. All rights reserved. "
    '<a href="/privacy">Privacy statement</a> <a href="/terms">Terms and conditions</a></p></div>',
    "hierarchic-directory": '<div class="path"><a href="/">Home</a> &gt; <a href="/hardware/">Hardware</a> &gt; '
    '<a href="/hardware/printers/">Printers</a></div>',
}


@pytest.mark.parametrize("kind", SHOWN)
def test_figures_2_1_to_2_3_examples_are_recognised(kind):
    tree = parse(PAGE.format(SHOWN[kind]), url="https://www.shop.example/hardware/printers/laser.html")
    kept = np.array(["KEPT" in tree.run(run) for run in range(tree.run_count)], np.bool_)
    verdict = replace(keep_visible(tree), keep_runs=kept, keep=np.zeros(len(tree), np.bool_))
    found = recognise(Page(tree), verdict)
    assert [KINDS[code].name for code in found.kind] == [kind]
    assert KIND_CODE[kind] != 0


def test_2_1_1_tfidf_is_the_count_by_our_smoothed_rarity():
    """Ours is n(i, j) (log((1 + N) / (1 + N_j)) + 1): a word of all pages keeps weight 1, in the thesis it has none."""
    texts = ("rye rye barley", "barley oats", "barley")
    builder = VectorBuilder(VectorSettings(weighting="tfidf"))
    for number, text in enumerate(texts):
        builder.add(str(number), parse(f"<p>{text}"), None)
    found = builder.matrix()
    row = {found.vocabulary[c]: v for c, v in zip(found.indices[:2].tolist(), found.data[:2].tolist(), strict=True)}
    assert row == {"rye": pytest.approx(2 * (log(4 / 2) + 1)), "barley": pytest.approx(1.0)}


def test_table_4_1_which_methods_depend_on_a_site():
    """Classification: no; segmentation, SST and weighting: yes. `template` learns site by site, as 5.3 runs it."""
    found = {name: method_named(name).learns for name in ("items", "segments", "template", "sst", "cst")}
    assert found == {"items": False, "segments": True, "template": True, "sst": True, "cst": True}
    shown = {name: [setting.name for setting in method_named(name).listed()] for name in ("sst", "cst")}
    assert "sst.threshold" in shown["sst"]  # "interactive": a person may choose it
    assert not any("threshold" in name for name in shown["cst"])  # "automatic"
