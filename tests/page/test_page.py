"""`Page`: what is derived of a page is derived once, by threads that do not wait for each other."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import webwinnow
from webwinnow.judge import evidence
from webwinnow.judge.evidence import evidence_of, page_with
from webwinnow.judge.models import PageModel
from webwinnow.lazy import lazy_property
from webwinnow.page import page as page_module
from webwinnow.page.page import Page, derived
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.record import cleaner
from webwinnow.record.cleaner import Cleaner

SECONDS = 60
"""Long enough for a busy machine; a test that waits so long has failed."""
ARTICLE = "<title>Rain</title><h1>Rain</h1>" + "".join(
    f"<p>Paragraph {k} says that the rain came late this year, and that nobody had waited for it in vain.</p>"
    for k in range(6)
)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The number of calls of what must happen once for each record."""
    counted: Counter[str] = Counter()

    def count(module: Any, name: str) -> None:
        real = getattr(module, name)

        def call(*given: Any, **named: Any) -> Any:
            counted[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(module, name, call)

    for name in ("parse", "fields_of", "to_text", "language_of"):
        count(cleaner, name)
    count(page_module, "cut")
    count(evidence, "read")
    return counted


def test_what_a_record_needs_is_derived_once(calls: Counter[str]) -> None:
    clean = Cleaner.of("combined", kinds=True).clean(cleaner.parse(ARTICLE, "http://rain.example/"))
    record = clean.record(also=("text", "markdown"), fetched="2026-01-01T00:00:00")
    assert record["text"] == clean.text
    assert list(clean.decisions(explain=True))
    assert clean.language == record["lang"]
    assert len(clean.features.key)
    assert calls == {"parse": 1, "cut": 1, "read": 1, "fields_of": 1, "to_text": 1, "language_of": 1}


def test_a_derived_value_is_computed_once_for_each_page() -> None:
    seen: list[Page] = []

    @derived
    def number(page: Page) -> int:
        seen.append(page)
        return len(seen)

    one, other = Page(parse("a")), Page(parse("b"))
    assert [number(one), number(one), number(other), number(one)] == [1, 1, 2, 1]
    assert seen == [one, other]


def test_a_derived_value_that_is_given_is_not_computed() -> None:
    @derived
    def impossible(page: Page) -> int:
        raise AssertionError(page)

    page = Page(parse("a"))
    page.give(impossible, 7)
    assert impossible(page) == 7


def test_explanations_are_those_of_the_page_model_that_was_given() -> None:
    shipped, tree = PageModel.load(), parse(ARTICLE)

    class Doubtful(PageModel):
        def score(self, reading: Any) -> Any:
            seen.append(self)
            return super().score(reading)

    seen: list[PageModel] = []
    given = Doubtful(**{name: getattr(shipped, name) for name in (one.name for one in fields(PageModel))})
    clean = Cleaner.of("page").clean_in(page_with(tree, model=given))
    assert any(found.because for found in clean.decisions(explain=True))
    assert seen == [given]


# Threads and forks


def _held(monkeypatch: pytest.MonkeyPatch, held: PageTree) -> tuple[threading.Event, threading.Event]:
    """Make the cutting of one page wait; returns the events that it has begun and that it may go on."""
    begun, go_on, real = threading.Event(), threading.Event(), page_module.cut

    def cut(tree: PageTree) -> Any:
        if tree is held:
            begun.set()
            assert go_on.wait(SECONDS)
        return real(tree)

    monkeypatch.setattr(page_module, "cut", cut)
    return begun, go_on


def _in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_thread_does_not_wait_for_another_that_extracts(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick = Page(parse(ARTICLE)), Page(parse(ARTICLE))
    begun, go_on = _held(monkeypatch, slow.tree)
    thread = _in_thread(lambda: slow.blocks)
    assert begun.wait(SECONDS)
    other = _in_thread(lambda: Cleaner.of("combined").clean_in(quick).text)
    other.join(SECONDS)
    was_waiting = other.is_alive()
    go_on.set()
    thread.join(SECONDS)
    assert not was_waiting


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_is_forked_while_a_thread_extracts_can_extract(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Page(parse(ARTICLE))
    begun, go_on = _held(monkeypatch, slow.tree)
    thread = _in_thread(lambda: slow.blocks)
    assert begun.wait(SECONDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: that is what this test is about
        child = os.fork()
    if not child:
        signal.alarm(SECONDS)  # a child that hangs is killed
        os._exit(0 if "rain came late" in webwinnow.extract(ARTICLE) else 1)
    _, status = os.waitpid(child, 0)
    go_on.set()
    thread.join(SECONDS)
    assert status == 0


def test_a_race_gives_all_threads_the_same_value() -> None:
    both = threading.Barrier(2)

    class Slow:
        @lazy_property
        def value(self) -> object:
            both.wait(SECONDS)
            return object()

    slow, found = Slow(), list[object]()
    threads = [_in_thread(lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.join(SECONDS)
    assert len(found) == 2
    assert found[0] is found[1] is slow.value


def test_evidence_that_is_given_brings_its_blocks(calls: Counter[str]) -> None:
    tree = parse(ARTICLE)
    known = evidence_of(Page(tree))
    page = page_with(tree, known)
    assert len(page.blocks) == len(known.owner)
    assert evidence_of(page) is known
    assert calls == {"cut": 1, "read": 1}
