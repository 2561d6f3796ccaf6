"""Readers' posts: kept on forum pages, elsewhere on request, in a separate field of the record."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import webwinnow
from webwinnow import PageRecord, SettingsError, clean_page, parse
from webwinnow.judge.evidence import PageEvidence
from webwinnow.judge.kinds import KIND_CODE
from webwinnow.judge.page import PageSettings, is_for_posts, posts_to_keep
from webwinnow.judge.reading import GENRES
from webwinnow.methods.registry import CleaningSettings
from webwinnow.record.fields import ordered
from webwinnow.run.cleaning import run
from webwinnow.run.settings import RunSettings

SENTENCE = "The harvest was late this year, and the farmers waited for the rain to stop before they went out again. "
THREAD = (
    "<section id=comments class=comments-area><ol class=comment-list>"
    + "".join(
        f"<li class=comment id=comment-{k}><article class=comment-body><footer class=comment-meta><b class=fn>Reader"
        f" {k}</b> <time>May {k}, 2020</time></footer><div class=comment-content><p>I remember year {k} well; we lost "
        "half of the barley to the rain and to the wind.</p></div></article></li>"
        for k in range(1, 6)
    )
    + "</ol></section>"
)
STORY = (
    "<!doctype html><html lang=en><head><title>Late harvest</title></head><body><nav><ul>"
    + "".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(12))
    + f"</ul></nav><main><article class=post-content><h1>Late harvest</h1>{f'<p>{SENTENCE * 3}</p>' * 6}</article>"
    + f"{THREAD}</main><footer class=footer><p>Copyright 2020 Farm News. <a href=/terms>Terms</a></p></footer></body>"
)
FORUM = (
    "<!doctype html><html lang=en><head><title>Barley and rain - Farm forum</title><script type=application/ld+json>"
    '{"@type": "DiscussionForumPosting"}</script></head><body class=forum><div class=p-body><ul class=p-breadcrumbs>'
    "<li><a href=/forums>Forums</a></li></ul><h1>Barley and rain</h1><div class=message-list>"
    + "".join(
        f"<article class='message message--post js-post' id=post_{k}><div class=message-user><a href=/u/{k}>farmer{k}"
        f"</a> posted on May {k}, 2020</div><div class='message-body js-selectToQuote bbWrapper'><p>What do you do "
        f"with wet barley in year {k}? {SENTENCE}</p></div></article>"
        for k in range(1, 9)
    )
    + "</div></div></body>"
)
METHODS = ("page", "combined")


def cleaned(page: str, comments: bool | None = None, method: str = "page") -> webwinnow.CleanPage:
    return clean_page(parse(page), method, settings=CleaningSettings(page=PageSettings(comments=comments)))


@pytest.mark.parametrize("method", METHODS)
def test_comments_below_an_article_are_removed_with_a_reason(method):
    clean = cleaned(STORY, method=method)
    assert "waited for the rain" in clean.text
    assert "barley" not in clean.text
    reasons = {decision.reason for decision in clean.decisions() if "barley" in decision.text}
    assert reasons == {"posts: readers wrote it; --comments keeps it"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("comments", [None, True, False])
def test_posts_have_their_kind_whether_kept_or_removed(method, comments):
    clean = cleaned(STORY, comments, method)
    kinds = {decision.text: decision.kind for decision in clean.decisions()}
    assert {kind for text, kind in kinds.items() if "barley" in text} == {"posts"}
    assert {kind for text, kind in kinds.items() if "farmers" in text} == {None}
    lists = np.flatnonzero(clean.tree.tagged("ol"))
    assert clean.verdict.kind[lists].tolist() == [KIND_CODE["posts"]]
    assert clean.verdict.kind[0] == KIND_CODE["content"]


@pytest.mark.parametrize("method", METHODS)
def test_requested_comments_are_a_separate_field_of_the_record(method):
    clean = cleaned(STORY, comments=True, method=method)
    assert "waited for the rain" in clean.text
    assert "barley" in clean.text
    record = clean.record(also=("markdown",))
    assert "barley" not in record["text"]
    assert "waited for the rain" in record["text"]
    assert record["comments"].count("barley") == 5
    assert "waited for the rain" not in record["comments"]
    assert "barley" in record["markdown"]
    assert list(ordered(record)).index("comments") > list(ordered(record)).index("text")


def test_the_record_has_no_comments_unless_they_were_asked_for():
    assert "comments" not in cleaned(STORY).record()
    assert "comments" not in cleaned(STORY, comments=False).record()


@pytest.mark.parametrize("method", METHODS)
def test_posts_of_a_forum_are_kept_unless_refused(method):
    assert cleaned(FORUM, method=method).record()["genre"] == "forum"
    assert cleaned(FORUM, method=method).text.count("wet barley") == 8
    kept = cleaned(FORUM, comments=True, method=method)
    assert kept.text.count("wet barley") == 8
    assert "comments" not in kept.record()
    assert cleaned(FORUM, comments=False, method=method).text.count("wet barley") < 8


def test_the_rule_by_itself():
    evidence = PageEvidence.of(parse("<p>a</p><p>b</p><p>c</p>"))
    evidence = dataclasses.replace(evidence, post=np.array([0.9, 0.9, 0.1]))
    probability, shown = np.array([0.5, 0.95, 0.5]), np.array([True, False, True])
    none = [False] * 3

    def flagged(*, for_posts: bool, comments: bool | None) -> list[list[bool]]:
        masks = posts_to_keep(evidence, probability, shown, np.array(none), for_posts=for_posts, comments=comments)
        return [mask.tolist() for mask in masks]

    assert flagged(for_posts=True, comments=None) == [none, none]
    assert flagged(for_posts=False, comments=None) == [none, [True, False, False]]
    assert flagged(for_posts=False, comments=True) == [[True, False, False], none]
    assert flagged(for_posts=True, comments=False) == [none, [True, True, False]]


@pytest.mark.parametrize(("genre", "expected"), [("forum", True), ("article", True), ("product", False)])
def test_a_page_of_mostly_reviews_exists_for_them_unless_it_is_a_product(genre, expected):
    evidence = PageEvidence.of(parse("<p>one two three</p><p>four five six</p><p>seven</p>"))
    known = np.eye(len(GENRES))[GENRES.index(genre)]
    evidence = dataclasses.replace(evidence, post=np.array([0.9, 0.9, 0.1]), genre_probability=known)
    assert is_for_posts(evidence, np.ones(3, np.bool_)) is expected


def test_another_value_is_refused():
    with pytest.raises(SettingsError, match="comments"):
        PageSettings(comments="all")  # type: ignore[arg-type]


def test_a_run_writes_comments_apart(tmp_path: Path):
    for k in range(3):
        (tmp_path / f"{k}.html").write_text(STORY.replace("Late harvest", f"Late harvest {k}"), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    settings = RunSettings(cleaning=CleaningSettings(page=PageSettings(comments=True)), jobs=1)
    run([str(tmp_path)], str(out), settings)
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 3
    assert all("comments" in record for record in records)


def test_a_model_of_the_site_leaves_posts_as_they_are():
    pages = [
        PageRecord(url=f"http://farm.example/{k}", body=STORY.replace("year", f"year {k}").encode()) for k in range(4)
    ]
    site = webwinnow.learn(pages, "farm.example")
    reasons = {decision.reason for decision in site.clean(pages[1]).decisions() if "barley" in decision.text}
    assert reasons == {"posts: readers wrote it; --comments keeps it"}
