"""`repeated`: blocks that many pages of a site share are removed; the rest is kept."""

from __future__ import annotations

import pytest

from webwinnow import SettingsError, SiteModel, clean_page, parse
from webwinnow.judge.verdict import Reason
from webwinnow.methods.method_repeated import RepeatedSettings
from webwinnow.methods.registry import CleaningSettings


def site(*pages: str) -> SiteModel:
    return SiteModel.learn([parse(page) for page in pages])


def cleaned(page: str, model: SiteModel | None, **settings: float) -> str:
    return clean_page(parse(page), "repeated", model, CleaningSettings(repeated=RepeatedSettings(**settings))).text


PAGES = [f"<ul><li>Home<li>About</ul><p>story {n}</p><p>Price<br>{n} Euro<br>Tax</p>" for n in range(4)]


def test_blocks_of_every_page_are_removed():
    assert cleaned(PAGES[2], site(*PAGES)) == "story 2\n\n2 Euro\n"


def test_one_line_between_line_breaks_is_removed_alone():
    page = parse(PAGES[1])
    decisions = {d.text: d for d in clean_page(page, "repeated", site(*PAGES)).decisions()}
    assert not decisions["Price"].kept
    assert decisions["1 Euro"].kept
    assert decisions["Price"].reason == Reason.REPEATED.text


def test_case_and_punctuation_do_not_hide_a_repetition():
    assert cleaned("<p>HOME!</p><p>new</p>", site(*PAGES)) == "new\n"


def test_page_the_model_never_saw_is_cleaned_too():
    assert cleaned("<ul><li>Home<li>Contact</ul><p>story 9</p>", site(*PAGES)) == "- Contact\n\nstory 9\n"


def test_share_is_counted_over_the_learned_pages():
    model = site("<p>a<p>x", "<p>a<p>y", "<p>b<p>z", "<p>c<p>w")
    assert cleaned("<p>a<p>v", model, share=0.5) == "v\n"
    assert cleaned("<p>a<p>v", model, share=0.6) == "a\n\nv\n"


def test_images_are_removed_with_the_text_around_them():
    pages = [f"<div><img src=/l.png>Logo</div><div>story {n}<img src=/p{n}.png></div>" for n in range(3)]
    clean = clean_page(parse(pages[0], url="http://a.example/"), "repeated", site(*pages))
    assert clean.markdown == "story 0![](http://a.example/p0.png)\n"


@pytest.mark.parametrize(
    ("model", "note"),
    [(None, "nothing is known of this site"), (SiteModel.learn([parse("<p>a")] * 2), "too few pages")],
)
def test_unknown_site_and_too_few_pages_keep_all_and_say_so(model, note):
    clean = clean_page(parse("<p>a"), "repeated", model)
    assert clean.text == "a\n"
    assert clean.verdict.note.startswith(note)


def test_hidden_text_stays_hidden():
    assert cleaned("<p>story<p hidden>secret", site(*PAGES)) == "story\n"


@pytest.mark.parametrize("share", [0.0, -1.0, 1.1])
def test_senseless_share_is_refused(share):
    with pytest.raises(SettingsError, match="share"):
        RepeatedSettings(share=share)
