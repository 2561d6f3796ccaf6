"""A site read page by page: followed links, settling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from webwinnow.errors import SettingsError
from webwinnow.page.parsing import parse
from webwinnow.topics.pages import PageWords, SitePages
from webwinnow.topics.reading import ReadingModel, ReadingSettings, SiteReading
from webwinnow.topics.training import Training

WORDS = {
    "sea": "harbour anchor sailor lighthouse tide wharf rudder keel mast rigging".split(),
    "field": "plough harvest orchard barley pasture shepherd furrow meadow thresher granary".split(),
}
STRANGE = "xylophone quartet sonata violin".split()


def page(url: str, words: Sequence[str], menu: str = "menu of everything") -> PageWords:
    text = "".join(f"<p>{word} {words[0]}</p>" for word in words)
    return PageWords.of(parse(f"<title>{url}</title><nav>{menu}</nav>{text}".encode(), url=url))


def site(name: str, words: Sequence[str], pages: int = 6) -> list[PageWords]:
    return [page(f"http://{name}.test/{n}", [words[n], words[n - 1], words[n - 2]]) for n in range(pages)]


@pytest.fixture(scope="module")
def model() -> ReadingModel:
    sites = [
        SitePages.of_pages(site(f"{topic}{n}", words[n:] + words[:n]), f"{topic}{n}")
        for topic, words in WORDS.items()
        for n in range(3)
    ]
    return ReadingModel.learn(Training(sites, [topic for topic in WORDS for _ in range(3)]))


def test_a_site_is_settled_when_pages_do_not_change_it_any_more(model: ReadingModel) -> None:
    reading = SiteReading(model, ReadingSettings(delta=1e-2, unchanged=3, least=4))
    readings = [
        reading.read(page(f"http://s.test/{n}", WORDS["sea"][n % 7 :][:3]), "http://s.test/0") for n in range(30)
    ]
    ends = next(n for n, read in enumerate(readings) if read.settled)
    assert 4 <= ends + 1 < 15
    assert readings[0].follow
    assert not readings[ends].follow
    assert reading.posterior is not None
    assert reading.posterior.argmax() == 1  # topics in order: field, sea


def test_the_first_pages_are_followed_whatever_the_rule_says(model: ReadingModel) -> None:
    reading = SiteReading(model, ReadingSettings(delta=1e9, unchanged=1, least=5))
    readings = [reading.read(page(f"http://s.test/{n}", WORDS["sea"][:3]), "http://s.test/0") for n in range(6)]
    assert [read.follow for read in readings] == [True] * 4 + [False] * 2
    assert [read.settled for read in readings] == [False] * 4 + [True] * 2
    assert reading.added == [True] * 4 + [False] * 2


def test_the_published_values_are_those_of_the_paper_and_ours_are_the_default(model: ReadingModel) -> None:
    """4.2: the rule decides about every page but the first, Delta is the convergence parameter of training, and
    reading ends when no link is left.
    """
    assert ReadingSettings().filled() == (1e-3, 10, 5)
    assert ReadingSettings(published=True).filled(tolerance=0.02) == (0.02, 1, 0)
    assert ReadingSettings(published=True, delta=0.5, unchanged=3).filled() == (0.5, 1, 3)
    reading = SiteReading(model, ReadingSettings(published=True), tolerance=1e9)
    readings = [reading.read(page(f"http://s.test/{n}", WORDS["sea"][:3]), "http://s.test/0") for n in range(20)]
    assert reading.added == [True] + [False] * 19
    assert not any(read.settled for read in readings)
    greedy = SiteReading(model, ReadingSettings(published=True), tolerance=0.0)
    assert all(greedy.read(page(f"http://s.test/{n}", WORDS["sea"][:3]), "http://s.test/0").follow for n in range(20))


def test_a_page_that_denoising_removes_changes_nothing_and_is_not_followed(model: ReadingModel) -> None:
    """Step 3.3 comes before 3.5 and 3.6: the words of removed nodes are no evidence."""
    first, second = page("http://s.test/", WORDS["sea"][:3]), page("http://s.test/1", WORDS["field"][:3])
    for left in (False, True):
        reading = SiteReading(model, ReadingSettings(least=1))
        reading.read(first)
        before = reading.posterior
        assert before is not None
        denoised = replace(second, counted=np.full(len(second), left))
        assert reading.read(denoised, first.url).follow == left
        assert np.array_equal(before, reading.posterior) != left


def test_without_a_model_everything_is_followed() -> None:
    reading = SiteReading()
    assert all(reading.read(one).follow for one in site("s", WORDS["sea"]))
    assert reading.posterior is None
    assert len(reading.site("s")) == 6


def test_what_a_site_repeats_says_nothing_of_its_pages(model: ReadingModel) -> None:
    """All pages have a menu about fields; the pages are about the sea."""
    menu = " ".join(WORDS["field"])
    reading = SiteReading(model, ReadingSettings(least=12))
    for n in range(12):
        reading.read(page(f"http://s.test/{n}", WORDS["sea"][n % 5 :][:4], menu), None if n == 0 else "http://s.test/0")
    assert reading.posterior is not None
    assert reading.posterior.argmax() == 1


def test_the_site_has_the_page_tree_of_the_crawl(model: ReadingModel) -> None:
    reading = SiteReading(model)
    for url, referrer in (("0", None), ("1", "0"), ("2", "0"), ("3", "2")):
        reading.read(page(f"http://s.test/{url}", WORDS["sea"]), referrer and f"http://s.test/{referrer}")
    assert reading.site("s").page_tree.parent.tolist() == [-1, 0, 0, 2]


def test_a_page_without_known_words_changes_nothing(model: ReadingModel) -> None:
    reading = SiteReading(model, ReadingSettings(least=1, unchanged=9))
    reading.read(page("http://s.test/", WORDS["sea"]))
    before = reading.posterior
    assert not reading.read(page("http://s.test/odd", STRANGE, "strange"), "http://s.test/").follow
    assert before is not None
    np.testing.assert_array_equal(before, reading.posterior)


def test_settings_without_a_meaning_are_refused() -> None:
    for wrong in ({"delta": -1.0}, {"unchanged": -1}, {"least": 0}):
        with pytest.raises(SettingsError):
            ReadingSettings(**wrong)
