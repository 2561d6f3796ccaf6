"""`PostModel`: which blocks readers wrote."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from webwinnow import ModelError, parse
from webwinnow.judge.evidence import PageEvidence
from webwinnow.judge.models import POOLED, POST_ABOVE, PostModel, pooled
from webwinnow.judge.reading import read

THREAD = "<ol class=comment-list>" + "".join(
    f"<li class=comment id=comment-{k}><div class=comment-body><b>Reader {k}</b><p>The same in year {k}.</p></div>"
    for k in range(4)
)
PAGE = f"<body><article class=entry-content><p>The mill stands by the river.</p></article>{THREAD}</ol><footer>Imprint"


def test_comments_are_found_and_the_article_is_not():
    reading = read(parse(PAGE))
    likely = PostModel.load().probability(reading) > POST_ABOVE
    texts = [reading.blocks.text(b) for b in reading.said.tolist()]
    assert [text for text, post in zip(texts, likely, strict=True) if post] == texts[1:-1]


@pytest.mark.parametrize("page", ["", "<p>Only this.</p>", "<ul><li>a<li>b<li>c</ul>"])
def test_pages_without_posts_have_none(page):
    assert not (PostModel.load().probability(read(parse(page))) > POST_ABOVE).any()


def test_names_decide_not_words():
    plain = PAGE.replace("comment", "paragraph")
    assert not (PostModel.load().probability(read(parse(plain))) > POST_ABOVE).any()


def test_what_is_pooled_of_four_blocks_is_as_computed_by_hand():
    reading = read(parse("<body><p>one two</p><ul><li>three<li>four five<li>six</ul>"))
    own = np.array([-2.0, 1.0, 2.0, -1.0])
    rows = dict(zip(POOLED, pooled(reading, own), strict=True))
    assert rows["own"].tolist() == own.tolist()
    assert rows["list"].tolist() == [0.0, 1.0, 1.0, 1.0]  # body: (-4 + 1 + 4 - 1) / 6; list: (1 + 4 - 1) / 4
    assert rows["near"].tolist() == [0.0] * 4
    assert rows["in_list"].tolist() == [0, 1, 1, 1]
    assert rows["siblings"].tolist() == pytest.approx([0.0, *[np.log(4.0)] * 3], rel=1e-12)


def test_weights_survive_bytes():
    model = PostModel.load()
    again = PostModel.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    assert again.bias == model.bias


@pytest.mark.parametrize(
    "change",
    [
        {"near": np.zeros(3, np.int16)},
        {"far": np.zeros(1 << 14, np.int32)},
        {"pooling": np.full(len(POOLED) + 1, np.nan)},
        {"bias": float("inf")},
    ],
)
def test_weights_that_do_not_fit_are_refused(change):
    damaged = dataclasses.replace(PostModel.load(), **change).to_bytes()
    with pytest.raises(ModelError):
        PostModel.from_bytes(damaged)


@pytest.mark.parametrize("data", [b"", b"PK", b"nothing of the kind"])
def test_what_is_no_archive_is_refused(data):
    with pytest.raises(ModelError):
        PostModel.from_bytes(data)


def test_evidence_keeps_the_probability_of_posts():
    evidence = PageEvidence.of(parse(PAGE))
    again = PageEvidence.from_bytes(evidence.to_bytes())
    assert again.post.tolist() == evidence.post.tolist()
    assert again.is_post.any()
