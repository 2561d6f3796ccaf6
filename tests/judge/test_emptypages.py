"""Which pages have no main content, and why."""

from __future__ import annotations

import pytest
from emptycases import EMPTY, FULL

import webwinnow
from webwinnow.judge.emptypages import BOT, ERROR, LOGIN, SHELL, called
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import Cleaner

CASES = {"error": ERROR, "login": LOGIN, "bot": BOT, "shell": SHELL}


@pytest.mark.parametrize("method", ["page", "combined"])
@pytest.mark.parametrize("name", EMPTY)
def test_page_without_main_content_is_dropped_with_its_case(name: str, method: str) -> None:
    page, case = EMPTY[name]
    record = Cleaner.of(method).clean(parse(page)).record()
    assert (record["outcome"], record["reason"]) == ("dropped", f"no main content: {CASES[case]}")


@pytest.mark.parametrize("name", FULL)
def test_page_that_resembles_one_keeps_its_text(name: str) -> None:
    record = Cleaner.of("page").clean(parse(FULL[name])).record()
    assert record["outcome"] == "kept"


def test_site_evidence_does_not_hide_an_error_page() -> None:
    pages = [parse(page, f"http://a.example/{k}") for k, page in enumerate((*FULL.values(), EMPTY["404 of a site"][0]))]
    assert webwinnow.learn(pages).clean(pages[-1]).record()["reason"] == f"no main content: {ERROR}"


@pytest.mark.parametrize(
    ("part", "case"),
    [
        ("404", ERROR),
        ("Error 404", ERROR),
        ("404 Error – ", ERROR),
        ("HTTP Status 500", ERROR),
        ("The page you requested could not be found", ERROR),
        ("Sorry, this page isn't available.", ERROR),
        ("We can’t find that page", ERROR),
        ("Peugeot 404", None),
        ("404 ways to cook an egg", None),
        ("Error handling", None),
        ("The lost page", None),
        ("Sign In", LOGIN),
        ("Sign in sheets", None),
        ("Attention Required!", BOT),
        ("", None),
    ],
)
def test_title_is_the_name_of_a_case_only_as_a_whole(part: str, case: str | None) -> None:
    assert called(part) == case
