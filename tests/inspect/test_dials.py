"""A dial in the viewer has the same effect as the option of the command line, on every run of text."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow.inspect.dials import MILLION, read_dial
from webwinnow.inspect.sitereport import _Page
from webwinnow.judge.page import PageSettings
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.method_repeated import RepeatedSettings
from webwinnow.methods.method_sst import AlignedSettings, SstSettings
from webwinnow.methods.registry import CleaningSettings, method_names
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import learn
from webwinnow.site.learned import NOISE_TREES

TURNS = (0.001, 0.2, 0.5, 0.7, 0.85, 0.9, 0.95, 0.999, 1.0)


def turned_settings(name: str, turn: float) -> CleaningSettings:
    return {
        "sst": lambda: CleaningSettings(sst=SstSettings(threshold=turn)),
        "aligned": lambda: CleaningSettings(aligned=AlignedSettings(threshold=turn)),
        "cst": lambda: CleaningSettings(cst=CstSettings(weight=turn)),
        "repeated": lambda: CleaningSettings(repeated=RepeatedSettings(share=turn)),
    }[name]()


@pytest.mark.parametrize("name", method_names())
def test_an_untouched_dial_keeps_what_the_method_keeps(name, model, trees):
    for tree in trees:
        reading = read_dial(name, Page(tree), model)
        np.testing.assert_array_equal(reading.keeps(reading.own), reading.verdict.keep_runs)


@pytest.mark.parametrize("name", ["sst", "aligned", "cst", "repeated"])
def test_a_turned_dial_keeps_what_its_option_keeps(name, model, trees, page):
    unseen = parse(page(99).replace("class=main", "class=other"), url="http://news.example/99.html")
    for tree in [*trees, unseen]:
        reading = read_dial(name, Page(tree), model)
        for turn in TURNS:
            clean = clean_page(tree, name, model, turned_settings(name, turn))
            kept = reading.keeps(round(turn * MILLION))
            np.testing.assert_array_equal(kept, clean.verdict.keep_runs, err_msg=f"{name} at {turn}")
            sample = _Page(tree, model, [name], None)
            assert sample.kept(sample.readings[name], round(turn * MILLION)) == clean.kept_words


@pytest.mark.parametrize("name", ["combined", "page"])
@pytest.mark.parametrize("favor", ["precision", "recall"])
def test_a_favoured_cut_keeps_what_its_option_keeps(name, favor, model, trees):
    for tree in trees:
        reading = read_dial(name, Page(tree), model)
        kept = clean_page(tree, name, model, CleaningSettings(page=PageSettings(favor=favor))).verdict.keep_runs
        np.testing.assert_array_equal(reading.keeps(reading.favored[favor]), kept)


@pytest.mark.parametrize("name", method_names())
def test_reasons_on_the_side_that_was_taken_are_those_of_the_verdict(name, model, trees):
    reading = read_dial(name, Page(trees[0]), model)
    kept = reading.verdict.keep_runs
    np.testing.assert_array_equal(reading.kept_reason[kept], reading.verdict.run_reason[kept])
    np.testing.assert_array_equal(reading.gone_reason[~kept], reading.verdict.run_reason[~kept])


@pytest.mark.parametrize("name", method_names())
def test_the_curve_counts_the_words_kept_at_each_step(name, model, trees):
    sample = _Page(trees[0], model, [name], None)
    reading = sample.readings[name]
    curve = sample.curve(reading)
    for step in (0, 1, 250, 611, 883, 999, 1000):
        assert curve[step] == sample.kept(reading, step * 1000)


@pytest.mark.parametrize("name", method_names())
def test_one_page_alone_is_read_like_any_other(name, trees):
    alone = learn(trees[:1], "news.example")
    reading = read_dial(name, Page(trees[0]), alone)
    np.testing.assert_array_equal(reading.keeps(reading.own), reading.verdict.keep_runs)


@pytest.mark.parametrize("name", NOISE_TREES)
def test_a_trace_says_what_laying_a_page_over_the_tree_says_at_every_threshold(name, model, trees):
    noise = model.noise_map(name)
    for tree in trees:
        traced = noise.trace(tree)
        for threshold in (0.0, *TURNS, model.thresholds[name]):
            noisy = noise.lay(tree, threshold).noisy[tree.run_owner]
            np.testing.assert_array_equal(traced.noisy_from <= threshold, noisy)


@pytest.mark.parametrize("name", NOISE_TREES)
def test_an_element_is_noisy_from_its_threshold_on(name, model):
    noise = model.noise_map(name)
    for threshold in (0.0, *TURNS):
        np.testing.assert_array_equal(noise.noisy_from <= threshold, noise.marked(threshold).noisy)
