"""Contributions to the page model's scores."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow import parse
from webwinnow.judge.contributions import GROUPS, pushes
from webwinnow.judge.featureschema import FEATURES
from webwinnow.judge.models import PageModel
from webwinnow.judge.reading import GENRES

SENTENCE = "The harvest was late this year, and the farmers waited for the rain to stop before they went out again. "
PAGE = (
    "<title>Late harvest</title><nav class=menu><ul>"
    + "".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(12))
    + f"</ul></nav><article class=post-content><h1>Late harvest</h1>{f'<p>{SENTENCE * 3}</p>' * 5}</article>"
)


def test_every_feature_and_genre_belongs_to_one_group():
    assert sorted(np.concatenate(list(GROUPS.values())).tolist()) == list(range(len(FEATURES) + len(GENRES)))


def test_links_speak_against_a_menu_and_not_against_prose():
    model = PageModel.load()
    scores = model.score(parse(PAGE))
    moved = pushes(model, scores)
    menu, prose = slice(0, 12), slice(13, None)
    assert moved["links"][menu].mean() < moved["links"][prose].mean()
    assert moved["names"][menu].mean() < moved["names"][prose].mean()


def test_scores_are_left_as_they_were():
    model = PageModel.load()
    scores = model.score(parse(PAGE))
    before = scores.features.copy()
    pushes(model, scores)
    assert (scores.features == before).all()


@pytest.mark.parametrize("page", ["", "<p>"])
def test_a_page_that_says_nothing_has_no_pushes(page):
    model = PageModel.load()
    assert all(len(moved) == 0 for moved in pushes(model, model.score(parse(page))).values())
