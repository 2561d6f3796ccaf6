"""`Cleaner`: the method, then the task, then the kinds; a page is cut into blocks once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from webwinnow import Cleaner, SiteCleaner, learn, parse
from webwinnow.judge import reading
from webwinnow.judge.evidence import PageEvidence, page_with
from webwinnow.judge.models import PageModel
from webwinnow.methods.registry import method_names
from webwinnow.page import page as page_module
from webwinnow.page.page import Page

PAGES = [
    "<nav class=menu><a href=/>Home</a> <a href=/a>All articles</a></nav>"
    f"<h1>Quinces {n}</h1><p>A quince is hard until it is cooked, for an hour or longer, {n} times over.</p>"
    "<footer>&copy; 2026 The Orchard Ltd. All rights reserved. <a href=/privacy>Privacy policy</a></footer>"
    for n in range(6)
]


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """The trees that were cut into blocks."""
    seen: list[object] = []
    for module in (page_module, reading):
        real = module.cut
        monkeypatch.setattr(module, "cut", lambda tree, real=real: (seen.append(tree), real(tree))[1])
    yield seen


def test_a_page_is_cut_into_blocks_once(cuts: list[object]) -> None:
    clean = Cleaner.of("combined", task="archive", kinds=True).clean(parse(PAGES[0]))
    assert list(clean.decisions())
    assert clean.record()["text"]
    assert len(cuts) == 1


def test_learning_and_cleaning_share_the_blocks_of_a_page(cuts: list[object]) -> None:
    cleaner = SiteCleaner()
    for page in PAGES:
        list(cleaner.add(page).decisions())
    assert len(cuts) == len(PAGES)


def test_evidence_brings_the_blocks_through_bytes(cuts: list[object]) -> None:
    tree = parse(PAGES[0])
    stored = PageEvidence.from_bytes(PageEvidence.of(tree).to_bytes())
    blocks = page_with(tree, stored).blocks
    assert len(cuts) == 1
    assert blocks.texts() == Page(tree).blocks.texts()


@pytest.mark.parametrize("name", method_names())
def test_given_evidence_changes_no_verdict(name: str) -> None:
    model, tree = learn(PAGES), parse(PAGES[0])
    cleaner = Cleaner.of(name)
    alone, given = cleaner.clean(tree, model), cleaner.clean(tree, model, PageEvidence.of(tree))
    np.testing.assert_array_equal(alone.verdict.keep_runs, given.verdict.keep_runs)


def test_the_task_keeps_kinds_that_the_method_removes() -> None:
    model, tree = learn(PAGES), parse(PAGES[0])
    plain, archived = (Cleaner.of("combined", task=task).clean(tree, model) for task in ("content", "archive"))
    assert "All rights reserved" not in plain.text
    assert "All rights reserved" in archived.text


def test_kinds_are_recognised_only_on_request() -> None:
    tree = parse(PAGES[0])
    assert Cleaner.of("combined").clean(tree).verdict.kind_score is None
    assert Cleaner.of("combined", kinds=True).clean(tree).verdict.kind_score is not None


@pytest.mark.parametrize("method", ["page", "combined"])
def test_a_page_model_in_the_context_decides_instead_of_the_shipped_one(method):
    prose = "".join(f"<p>{'The river rose over the mill and the bridge in the night. ' * 3}{n}</p>" for n in range(5))
    tree = parse(f"<body><article><h1>Flood</h1>{prose}</article>")
    doubtful = replace(PageModel.load(), confidence=np.array([[0.0, 1.0], [0.0, 0.1]]))
    cleaner = Cleaner.of(method)
    assert cleaner.clean_in(Page(tree)).verdict.confidence > 0.5
    assert cleaner.clean_in(page_with(tree, model=doubtful)).verdict.confidence <= 0.1
