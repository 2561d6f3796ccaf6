"""Tasks: the kinds that are kept, and task files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from webwinnow.errors import SettingsError
from webwinnow.judge.kinds import KIND_CODE, POSSIBLE_ADVERTISEMENT, recognise
from webwinnow.judge.tasks import TASKS, Task, for_task, task_of
from webwinnow.judge.verdict import Reason, keep_visible
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.record.flow import to_text

PAGE = """<!doctype html><title>Sowing rye - The Mill</title><body>
<nav class="breadcrumbs"><a href="/">Home</a> &gt; <a href="/grain/">Grain</a> &gt; <a href="/grain/rye/">Rye</a></nav>
<main><h1>KEPT Sowing rye</h1><p>KEPT Rye is sown late, when the barley is in and the nights grow cold.</p></main>
<div class="cookie-banner" id="cookie-consent"><p>We use cookies to improve your experience on our website. By clicking
accept you agree to our use of cookies.</p><button>Accept cookies</button><button>Reject</button></div>"""


def judged(task: Task):
    tree = parse(PAGE, url="https://www.mill.example/grain/rye/sowing.html")
    keep = np.array(["KEPT" in tree.run(r) for r in range(tree.run_count)], np.bool_)
    gone = np.full(tree.run_count, Reason.UNLIKELY, np.uint8)
    verdict = replace(keep_visible(tree), keep_runs=keep, keep=np.zeros(len(tree), np.bool_), run_reason=gone)
    return tree, verdict, for_task(Page(tree), verdict, task)


def test_content_changes_nothing() -> None:
    _, verdict, adjusted = judged(TASKS["content"])
    assert adjusted is verdict


def test_a_kind_that_the_task_wants_comes_back_with_its_reason() -> None:
    tree, verdict, adjusted = judged(Task("paths", ("hierarchic-directory",)))
    text = to_text(tree, adjusted.keep, adjusted.keep_runs)
    assert "Grain" in text
    assert "cookies" not in text
    back = adjusted.keep_runs & ~verdict.keep_runs
    assert (adjusted.run_reason[back] == Reason.TASK).all()
    assert (adjusted.run_reason[~back] == verdict.run_reason[~back]).all()
    assert set(adjusted.kind[adjusted.kind_score > 0].tolist()) >= {KIND_CODE["hierarchic-directory"]}


@pytest.mark.parametrize(
    ("advertises", "keeps", "restored"),
    [
        (POSSIBLE_ADVERTISEMENT, ("hierarchic-directory",), False),
        (POSSIBLE_ADVERTISEMENT - 0.01, ("hierarchic-directory",), True),
        (POSSIBLE_ADVERTISEMENT, ("hierarchic-directory", "advertisement"), True),
    ],
)
def test_what_may_be_an_advertisement_is_kept_only_for_a_task_with_advertisements(
    advertises: float, keeps: tuple[str, ...], restored: bool
) -> None:
    tree, verdict, _ = judged(TASKS["content"])
    found = recognise(Page(tree), verdict)
    found = replace(found, advertises=np.full(len(found.kind), advertises, np.float32))
    adjusted = for_task(Page(tree), verdict, Task("paths", keeps), found=found)
    assert ("Grain" in to_text(tree, adjusted.keep, adjusted.keep_runs)) is restored


ADVERTISEMENTS = (
    '<aside class="sponsored ad-box"><p>Sponsored</p><p>Buy the GrindMaster 3000 today and save 40%! Order now with '
    'free shipping. <a href="https://shop.example.net/grindmaster?utm_source=mill">Shop now</a></p></aside>',
    '<div class="cta-banner"><p>Start your free trial of MillSoft today. No credit card required.</p>'
    '<a class="button" href="https://millsoft.example.net/trial">Try it for free</a></div>',
    '<div class="promo-bar">Spring sale: up to 50% off all flour mills <a href="/shop/sale">Shop the sale</a></div>',
)


@pytest.mark.parametrize("name", sorted(name for name, task in TASKS.items() if "advertisement" not in task.keeps))
def test_no_task_without_advertisements_restores_one(name: str) -> None:
    tree = parse(PAGE + "".join(ADVERTISEMENTS), url="https://www.mill.example/grain/rye/sowing.html")
    keep = np.array(["KEPT" in tree.run(r) for r in range(tree.run_count)], np.bool_)
    verdict = replace(keep_visible(tree), keep_runs=keep, keep=np.zeros(len(tree), np.bool_))
    page = Page(tree)
    found = recognise(page, verdict)
    adjusted = for_task(page, verdict, TASKS[name], found=found)
    back = found.regions.of_run()[adjusted.keep_runs & ~verdict.keep_runs]
    assert (found.kind[back] != KIND_CODE["advertisement"]).all()
    assert (found.advertises[back] < POSSIBLE_ADVERTISEMENT).all()
    text = to_text(tree, adjusted.keep, adjusted.keep_runs)
    assert not [word for word in ("GrindMaster", "MillSoft", "Spring sale") if word in text]


def test_an_archive_has_no_consent_banner() -> None:
    tree, _, adjusted = judged(TASKS["archive"])
    assert "Grain" in to_text(tree, adjusted.keep, adjusted.keep_runs)
    assert "cookies" not in to_text(tree, adjusted.keep, adjusted.keep_runs)


def test_link_analysis_keeps_recommendations_and_no_directories() -> None:
    keeps = TASKS["structure"].keeps
    assert {"page-recommendation", "site-recommendation"} <= set(keeps)
    assert not {name for name in keeps if name.endswith("-directory")} | {"advertisement"} & set(keeps)


def test_every_task_says_why() -> None:
    assert all(task.about for task in TASKS.values())


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("my-task.toml", 'name = "reading"\nkeeps = ["posts", "contents", "posts"]\n'),
        ("my-task.json", '{"name": "reading", "keeps": ["posts", "contents"]}'),
    ],
)
def test_a_task_is_a_small_file(tmp_path: Path, name: str, written: str) -> None:
    path = tmp_path / name
    path.write_text(written, encoding="utf-8")
    assert task_of(str(path)) == Task("reading", ("posts", "contents"))


@pytest.mark.parametrize(
    ("name", "written", "message"),
    [
        ("a.toml", "keeps = 3", "list of kinds"),
        ("a.toml", 'keeps = ["menus"]', "the kinds are content, posts"),
        ("a.toml", 'keep = ["posts"]\nkeeps = []', "contains keep"),
        ("a.toml", "keeps = [", "cannot be read"),
        ("a.json", '{"keeps": [1]}', "to be text"),
        ("a.json", "\udcff", "cannot be read"),
        ("a.json", "[" * 100_000, "cannot be read"),
        ("a.json", "9" * 200_000, "longer than"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused_with_what_was_expected(
    tmp_path: Path, name: str, written: str, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(written.encode("utf-8", "surrogateescape"))
    with pytest.raises(SettingsError, match=message):
        task_of(str(path))


def test_an_unknown_task_names_those_that_there_are() -> None:
    with pytest.raises(SettingsError, match="there is no task 'cooking'; there are: content, classification"):
        task_of("cooking")
    with pytest.raises(SettingsError, match="No such file"):
        task_of("nowhere.toml")
