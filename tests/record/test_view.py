"""`DocView`: the eight fields of a page and their sources."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, asdict, replace
from math import inf

import pytest
from hypothesis import given

import webwinnow
from webwinnow import CleaningSettings, SettingsError, clean_page, parse
from webwinnow.methods.registry import method_names
from webwinnow.methods.viewsettings import ViewSettings
from webwinnow.record.fields import ordered
from webwinnow.record.view import DocView

URL = "https://grain.test/wheat/"
STORY = """<html lang=en><head><title>Untitled Document</title></head><body>
<nav><ul><li><a href=/>Home</a></li><li><a href=/login>Sign in</a></li></ul></nav>
<div><p>Winnowing parts the wheat from the chaff, as farmers have known for a very long time. The wind carries the
chaff away while the wheat falls down. See <a href=how>how it is done</a> in the barn.</p>
<p>Wheat that is clean keeps longer in the barn, as Dr. Miller told the farmers. A fan takes the place of the wind
in the barn of 1999. Nothing else matters much.</p></div>
<aside><ul><li><a href=/chaff>Wheat and chaff in the wind</a></li>
<li><a href=/barn>A barn for wheat</a></li></ul></aside>
"""


def view(page: str = STORY, method: str = "none", **settings: object) -> DocView:
    return clean_page(parse(page, url=URL), method).docview(ViewSettings(**settings))  # type: ignore[arg-type]


def test_identifier_is_the_url():
    assert view().identifier == URL


def test_keywords_are_the_heaviest_words_without_stop_words_and_numbers():
    found = view(method="docview", keywords=5).keywords
    assert len(found) == 5
    assert found[0] == "wheat"
    assert {"chaff", "barn", "wind"} <= set(found)
    assert set(view(keywords=50).keywords).isdisjoint({"the", "1999", "a"})


def test_a_placeholder_becomes_the_first_two_keywords():
    found = view(method="docview")
    assert found.title == " ".join(found.keywords[:2])
    assert found.provenance.title == "keywords"


def test_a_title_is_kept():
    found = view("<title>How to winnow</title><p>Wheat and chaff.")
    assert found.title == "How to winnow"
    assert found.provenance.title == "page"


def test_abstract_has_sentences_of_every_paragraph():
    found = view(method="docview", sentences=2).abstract.split("\n")
    assert len(found) == 2
    assert "chaff" in found[0]
    assert found[1] == "Wheat that is clean keeps longer in the barn, as Dr. Miller told the farmers."


def test_abstract_is_part_of_the_content():
    found = view(method="docview")
    assert found.abstract
    for sentence in found.abstract.split("\n"):
        assert sentence in found.content


def test_summary_is_a_short_abstract():
    found = view(method="docview", summary_sentences=1)
    assert found.summary in found.abstract.split("\n")


TREES = "alder ash beech birch cedar elm fir hazel larch lime maple oak pine plane rowan spruce willow yew".split()
LONG = "<div>" + "".join(
    f"<p>Field {name} of wheat was clean before the wind came. The wind took the chaff of {name} away.</p>"
    for name in TREES
)
LONG_SENTENCES = 36


def test_abstract_is_a_few_sentences_and_a_fifth_of_the_text():
    found = view(LONG)
    assert len(found.abstract.split("\n")) == 5
    assert len(found.abstract) <= 0.2 * len(found.content)
    shorter = view(LONG, abstract_share=0.1)
    assert len(shorter.abstract.split("\n")) == 3
    assert set(shorter.abstract.split("\n")) <= set(found.abstract.split("\n"))


def test_published_length_of_the_abstract_can_be_chosen():
    for settings in ({"published": True}, {"sentences": 15}, {"method": "docview"}):
        assert len(view(LONG, **settings).abstract.split("\n")) == 15
    assert len(view(LONG, sentences=15, abstract_share=0.2).abstract.split("\n")) == 6
    assert len(view(LONG, sentences=99).abstract.split("\n")) == LONG_SENTENCES


def test_abstract_of_a_short_text_is_one_sentence_that_fits_if_there_is_one():
    wheat = "Wheat, wheat and wheat in the barn, more wheat in the field, and wheat that was wheat before, is clean."
    short = "The wind is here."
    assert view(f"<p>{wheat}</p><p>{short}</p>").abstract == short
    assert view(f"<p>{wheat}</p>").abstract == wheat


def test_relevant_links_are_those_in_the_text_and_lists_about_the_same():
    found = view(method="docview")
    assert found.type == "topic"
    assert found.links == (f"{URL}how", "https://grain.test/chaff", "https://grain.test/barn")


def test_the_requested_similarity_decides():
    assert view(method="docview", similarity=1.0).links == (f"{URL}how",)


def test_language_is_declared_or_found():
    assert view().provenance.language == "page"
    found = view(STORY.replace(" lang=en", ""))
    assert (found.language, found.provenance.language) == ("en", "text")


@pytest.mark.parametrize("method", method_names())
def test_every_method_gives_a_view(method: str):
    found = view(method=method)
    assert found.provenance.method == method
    assert found.type in ("topic", "hub", "image")


def test_a_page_with_nothing_on_it_has_an_empty_view():
    found = view("")
    assert (found.type, found.title, found.keywords, found.abstract, found.links) == (None, None, (), "", ())


def test_a_view_never_changes():
    with pytest.raises(FrozenInstanceError):
        view().type = "hub"  # type: ignore[misc]
    assert replace(view(), category="farming").category == "farming"


def test_chinese_has_keywords_and_an_abstract():
    text = "风把谷壳从麦田里吹走了。麦子落在地上。农民把麦子收进谷仓里去。" * 2
    found = view(f"<html lang=zh><body><div><p>{text}</p></div>")
    assert "麦子" in found.keywords
    assert "风把谷壳从麦田里吹走了。" in found.abstract


def test_record_is_the_view():
    clean = clean_page(parse(STORY, url=URL), "docview")
    record, found = ordered(clean.record()), clean.view
    assert record["type"] == found.type
    assert tuple(record["keywords"]) == found.keywords
    assert record["abstract"] == found.abstract
    assert record["summary"] == found.summary
    assert tuple(record["links"]) == found.links
    assert record["title"] == found.title
    assert record["text"] == found.content


def test_settings_come_back_from_plain_values():
    settings = CleaningSettings(docview=ViewSettings(keywords=3, passed_on=0.25, most=inf, force="h1=9"))
    assert CleaningSettings.from_plain(json.loads(json.dumps(asdict(settings)))) == settings


@pytest.mark.parametrize(
    "wrong",
    [
        *({"keywords": -1}, {"sentences": -1}, {"similarity": 1.5}, {"passed_on": 2.0}, {"most": 0.5}),
        *({"most": float("nan")}, {"first_test": "topic"}, {"force": "h1=-1"}, {"force": "grain=2"}, {"force": "h1"}),
    ],
)
def test_settings_without_meaning_are_refused(wrong: dict[str, float]):
    with pytest.raises(SettingsError):
        ViewSettings(**wrong)  # type: ignore[arg-type]


def test_soup_never_fails(soup):
    @given(soup)
    def never_fails(page: str) -> None:
        for method in ("docview", "none", "page"):
            found = clean_page(webwinnow.parse(page, url=URL), method).view
            found.abstract.encode("utf-8")
            assert found.type in (None, "topic", "hub", "image")

    never_fails()


def test_links_that_share_the_page_are_no_links_of_the_record():
    share = (
        "<a href='https://www.facebook.com/sharer.php?u={0}'>Facebook</a> or <a href='https://x.example/?url={0}'>X</a>"
    )
    text = "<p>The winds that closed the harbour for a week in spring came back on Monday night. " * 4
    links = (
        "<a href=/forecast>the next forecast</a> and <a href='https://x.example/?url=https://a.example/other'>that</a>"
    )
    for url in ("https://a.example/winds", "https%3A%2F%2Fa.example%2Fwinds"):
        page = f"<title>Winds</title><h1>Winds</h1>{text}<p>See {links}.<p>Share it on {share.format(url)}.{text}"
        clean = clean_page(parse(page, "https://a.example/winds"), "none")
        kept = ["https://a.example/forecast", "https://x.example/?url=https://a.example/other"]
        assert clean.links == clean.record()["links"] == clean.record(view=False)["links"] == kept
