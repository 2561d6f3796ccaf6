"""The public API of a learned site: `learn`, `model.clean`, `SiteCleaner`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import webwinnow
from webwinnow import ModelError, PageRecord, SettingsError, SiteCleaner, parse
from webwinnow.record import sitemodel
from webwinnow.site.sums import SiteSums


def page(site: str, n: int) -> PageRecord:
    story = " ".join(f"word{n}x{k}" for k in range(30))
    html = f"<body><div><ul><li>Home</li><li>News</li></ul></div><div><h1>Title {n}</h1><p>{story}</p></div>"
    return PageRecord(url=f"http://{site}/{n}", body=html.encode(), ordinal=n)


@pytest.mark.parametrize("form", ["record", "tree", "bytes", "text"])
def test_a_model_cleans_pages_in_any_form(form):
    model = webwinnow.learn([page("a.example", n) for n in range(5)])
    given = page("a.example", 7)
    forms = {"record": given, "tree": parse(given.body), "bytes": given.body, "text": given.body.decode()}
    clean = model.clean(forms[form])
    assert clean.text.startswith("Title 7")
    assert "Home" not in clean.text


def test_a_cleaner_improves_as_pages_arrive():
    cleaner = SiteCleaner("sst")
    cleaned = [cleaner.add(page("a.example", n)) for n in range(8)]
    assert "Home" in cleaned[0].text
    assert cleaned[0].record()["reason"].startswith("too few pages")
    assert all("Home" not in clean.text for clean in cleaned[3:])
    assert cleaned[7].record()["reason"] is None


def test_the_default_cleaner_says_while_it_knows_too_little():
    cleaner = SiteCleaner()
    notes = [cleaner.add(page("a.example", n)).record()["reason"] for n in range(3)]
    assert notes[0].startswith("too few pages")
    assert notes[1:] == [None, None]


def test_a_cleaner_knows_each_site_apart():
    cleaner = SiteCleaner("sst")
    for n in range(5):
        cleaner.add(page("a.example", n))
    assert "Home" in cleaner.add(page("b.example", 0)).text


def test_replicas_are_learned_once_and_no_more_pages_than_asked_for():
    cleaner = SiteCleaner(learn_pages=4)
    for n in [0, 0, 0, 1, 2, 3, 4, 5]:
        cleaner.add(page("a.example", n))
    model = cleaner.model("a.example")
    assert model is not None
    assert model.pages == 4


def test_a_cleaner_ends_where_learning_all_at_once_does():
    cleaner = SiteCleaner("repeated")
    for n in range(6):
        cleaner.add(page("a.example", n))
    model = cleaner.model("a.example")
    assert model is not None
    assert (
        model.to_bytes()
        == webwinnow.learn([page("a.example", n) for n in range(6)], "a.example", frozenset({"texts"})).to_bytes()
    )


def test_a_model_without_the_part_that_a_method_wants_says_so():
    model = webwinnow.learn([page("a.example", n) for n in range(5)], parts=frozenset({"texts"}))
    with pytest.raises(ModelError, match="no site style tree"):
        model.clean(page("a.example", 1), "sst")
    with pytest.raises(ModelError, match="no compressed structure tree"):
        model.clean(page("a.example", 1), "cst")


def test_a_part_that_there_is_not_is_refused():
    with pytest.raises(SettingsError, match="no part 'trees'"):
        webwinnow.learn(["<p>a"], parts=frozenset({"trees"}))


def test_a_threshold_chosen_by_hand_is_kept():
    model = webwinnow.learn([page("a.example", n) for n in range(5)]).with_threshold(0.25)
    assert webwinnow.SiteModel.from_bytes(model.to_bytes()).thresholds["sst"] == 0.25
    with pytest.raises(SettingsError, match="between 0 and 1"):
        model.with_threshold(1.5)


def test_no_pages_are_refused():
    with pytest.raises(SettingsError, match="no pages to learn from"):
        webwinnow.learn([])


def test_one_page_is_not_taken_for_a_list_of_pages():
    with pytest.raises(SettingsError, match="not one page"):
        webwinnow.learn("<p>one page")


def test_a_model_that_counted_no_texts_refuses_to_look_for_repeated_ones(tmp_path):
    model = webwinnow.learn(["<p>a</p>", "<p>b</p>", "<p>c</p>"], parts=frozenset({"sst"}))
    model.save(tmp_path / "m.npz")
    for found in (model, webwinnow.SiteModel.load(tmp_path / "m.npz")):
        with pytest.raises(ModelError, match="has no counts of texts"):
            found.clean("<p>a</p>", "repeated")


def test_models_are_saved_and_loaded_by_a_path_or_its_name(tmp_path):
    webwinnow.learn(["<p>a</p>"], "a.example").save(str(tmp_path / "m.npz"))
    assert webwinnow.SiteModel.load(str(tmp_path / "m.npz")).site == "a.example"
    assert [file.name for file in tmp_path.iterdir()] == ["m.npz"]


def test_a_cleaner_takes_the_site_key_of_the_command_line():
    cleaner = SiteCleaner(site_by="all")
    cleaner.add(PageRecord(url="http://a.example/", body=b"<p>a"))
    cleaner.add(PageRecord(url="http://b.example/", body=b"<p>b"))
    assert list(cleaner.sites) == [""]


def test_a_cleaner_without_sites_cleans_every_page_on_its_own():
    page = "<p>Some words of the page that are its content.</p>"
    cleaner = SiteCleaner(site_by="none")
    for number in range(3):
        clean = cleaner.add(PageRecord(url=f"http://a.example/{number}", body=page.encode()))
    assert cleaner.sites == {}
    assert clean.text == webwinnow.extract(page)


def test_a_cleaner_that_may_learn_nothing_is_refused():
    with pytest.raises(SettingsError, match="learn_pages is 0"):
        SiteCleaner(learn_pages=0)


class Meeting:
    """The first thread that reads or writes sums waits there until all others wait for it or are there as well."""

    def __init__(self, others: int) -> None:
        self.others, self.arrived, self.first = others, threading.Semaphore(0), threading.Lock()
        self.inside = self.most_inside = 0

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def met(*given: Any) -> Any:
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            if self.first.acquire(blocking=False):
                for _ in range(self.others):
                    assert self.arrived.acquire(timeout=240)
            else:
                self.arrived.release()
            try:
                return work(*given)
            finally:
                self.inside -= 1

        return met

    def lock(self) -> Any:
        """A lock that notes who waits for it."""
        lock, arrived = threading.Lock(), self.arrived

        class Noting:
            def __enter__(self) -> None:
                if not lock.acquire(blocking=False):
                    arrived.release()
                    lock.acquire()

            def __exit__(self, *_: object) -> None:
                lock.release()

        return Noting()


def test_threads_learn_one_at_a_time(monkeypatch):
    pages = [page("a.example", n) for n in range(6)]
    alone = SiteCleaner("sst")
    for one in pages:
        alone.add(one)
    expected = alone.model("a.example").to_bytes()
    meeting = Meeting(others=len(pages))
    monkeypatch.setattr(sitemodel, "Lock", meeting.lock, raising=False)
    cleaner = SiteCleaner("sst")
    with ThreadPoolExecutor(len(pages) + 1) as threads:
        cleaner.sites = {"a.example": sitemodel._Site(SiteSums("a.example", cleaner.cleaner.method.parts))}
        monkeypatch.setattr(SiteSums, "add", meeting.around(SiteSums.add))
        monkeypatch.setattr(sitemodel.SiteModel, "of", meeting.around(sitemodel.SiteModel.of))
        added = [threads.submit(cleaner.add, one) for one in pages]
        read = threads.submit(cleaner.model, "a.example")
        assert read.result().pages <= len(pages)
        assert all("word" in one.result().text for one in added)
    assert meeting.most_inside == 1
    assert cleaner.model("a.example").to_bytes() == expected
