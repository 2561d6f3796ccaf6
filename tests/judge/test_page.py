"""`page`: one page alone; probable main content is kept, with its probability as the score."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

import webwinnow
from webwinnow import SettingsError, clean_page, parse
from webwinnow.judge.emptypages import NO_CONTENT_BELOW
from webwinnow.judge.evidence import PageEvidence, page_with
from webwinnow.judge.models import PageModel
from webwinnow.judge.page import PageSettings, headed
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.blocks import cut
from webwinnow.record.cleaner import Cleaner
from webwinnow.run.settings import RunSettings

SENTENCE = "The harvest was late this year, and the farmers waited for the rain to stop before they went out again. "
STORY = (
    "<!doctype html><html lang=en><head><title>Late harvest</title></head><body><header><nav><ul>"
    + "".join(f"<li><a href='/{k}'>Section {k}</a></li>" for k in range(12))
    + "</ul></nav></header><main><article class=post-content><h1>Late harvest</h1>"
    + f"<p>{SENTENCE * 3}</p>" * 6
    + "</article></main><footer class=footer><p>Copyright 2020 Farm News. <a href=/terms>Terms</a></p></footer></body>"
)
SECONDS = 20.0


def cleaned(page: str, **settings: str) -> webwinnow.CleanPage:
    return clean_page(parse(page), "page", settings=CleaningSettings(page=PageSettings(**settings)))


def test_prose_is_kept_and_navigation_is_removed():
    text = cleaned(STORY).text
    assert "waited for the rain" in text
    assert "Section 3" not in text
    assert "Copyright" not in text


def test_record_has_genre_and_confidence():
    record = cleaned(STORY).record()
    assert record["genre"] == "article"
    assert 0.5 < record["confidence"] <= 1.0
    assert record["method"] == "page"


def test_score_is_the_probability_of_the_blocks():
    clean = cleaned(STORY)
    kept = [decision for decision in clean.decisions() if decision.kept]
    gone = [decision for decision in clean.decisions() if not decision.kept]
    assert min(decision.score for decision in kept) > max(decision.score for decision in gone)
    assert clean.verdict.score[clean.verdict.keep].max() <= 1.0


def test_hidden_content_is_kept_and_rendered():
    hidden = STORY.replace("<main>", "<main hidden>")
    assert "waited for the rain" in cleaned(hidden).text
    assert "waited for the rain" in cleaned(hidden).markdown


def test_page_in_noscript_is_kept():
    inside = STORY.replace("<main>", "<noscript><main>").replace("</main>", "</main></noscript>")
    assert "waited for the rain" in cleaned(inside).text


LINKS = "".join(f"<li><a href='/{k}'>Menu {k}</a></li>" for k in range(40))
MENU = f"<nav class=menu><ul>{LINKS}</ul></nav>"


@pytest.mark.parametrize(
    ("page", "case"),
    [
        (f"<title>Menu</title>{MENU}", "links only"),
        (f"<title>Sign in</title>{MENU}<form><input name=u><input type=password name=p></form>", "a login page"),
        (f"<title>Page not found - Example</title>{MENU}", "an error page"),
        (f"<title>Example</title>{MENU}<div class=box>Checking your browser</div>", "a bot check"),
    ],
    ids=["links", "login", "error", "bot"],
)
def test_page_without_main_content_is_dropped_with_its_case(page: str, case: str):
    record = cleaned(page).record()
    assert record["outcome"] == "dropped"
    assert record["reason"] == f"no main content: {case}"
    assert record["confidence"] < NO_CONTENT_BELOW


def test_doubtful_page_keeps_its_best_part_with_low_confidence():
    doubtful = replace(PageModel.load(), confidence=np.array([[0.0, 1.0], [0.0, 0.1]]))
    clean = Cleaner.of("page").clean_in(page_with(parse(STORY), model=doubtful))
    assert "waited for the rain" in clean.text
    assert clean.record()["outcome"] == "kept"
    assert clean.record()["confidence"] <= 0.1


def test_doubtful_hidden_text_is_kept_where_there_is_no_other():
    model = PageModel.load()
    doubtful = replace(model, calibration=model.calibration * np.array([[1.0], [0.4]]))
    page = STORY[STORY.index("<main>") : STORY.index("<footer")].replace("<main>", "<main hidden>")
    assert "waited for the rain" in Cleaner.of("page").clean_in(page_with(parse(page), model=doubtful)).text


def test_long_text_is_no_login_or_error_page():
    doubtful = replace(PageModel.load(), confidence=np.array([[0.0, 1.0], [0.0, 0.1]]))
    page = STORY.replace("Late harvest", "Error 404: late harvest").replace("<main>", "<main><input type=password>")
    assert "waited for the rain" in Cleaner.of("page").clean_in(page_with(parse(page), model=doubtful)).text


CHINESE = "江苏多地发布通知，部署春季学期开学工作。"


def test_each_han_character_is_a_word_of_the_record():
    clean = cleaned(f"<title>通知</title><main><article>{f'<p>{CHINESE * 3}</p>' * 5}</article></main>")
    assert "部署" in clean.text
    assert clean.record()["all_words"] == clean.record()["kept_words"] == 18 * 15


def test_thai_content_is_kept_and_its_menu_removed():
    menu = "".join(
        f"<li><a href='/{k}'>{name}</a></li>"
        for k, name in enumerate("หน้าแรก ข่าว กีฬา เศรษฐกิจ วัฒนธรรม ท่องเที่ยว วิดีโอ ติดต่อเรา".split())
    )
    text = (
        "ชาวนาในหุบเขารอให้ฝนหยุดตกก่อนออกไปเกี่ยวข้าวอีกครั้ง เพราะปีนี้ฤดูเก็บเกี่ยวมาช้ากว่าทุกปี",
        "ผู้ใหญ่บ้านกล่าวว่าข้าวยังไม่เสียหาย และทุกคนจะช่วยกันเก็บเกี่ยวให้เสร็จภายในสองสัปดาห์",
        "ราคาข้าวในตลาดสูงขึ้นเล็กน้อย พ่อค้าจากเมืองหลวงเริ่มเดินทางมาซื้อข้าวถึงหมู่บ้าน",
    )
    page = (
        f"<html lang=th><title>ฤดูเก็บเกี่ยว</title><body><nav><ul>{menu}</ul></nav><main><article><h1>ฤดูเก็บเกี่ยว</h1>"
        f"{''.join(f'<p>{line}</p>' for line in text)}</article></main><footer>สงวนลิขสิทธิ์ <a href=/t>เงื่อนไข</a></footer>"
    )
    clean = cleaned(page)
    assert all(line in clean.text for line in text)
    assert not any(name in clean.text for name in ("กีฬา", "เศรษฐกิจ", "เงื่อนไข"))


def test_right_to_left_text_stays_in_reading_order():
    first, second = (
        "المدينة جميلة",
        "والبحر هادئ 12",
    )
    page = f"<html dir=rtl lang=ar><article><p>{first}. <b>{second}</b></p><table><tr><td>1<td>2</table></article>"
    text = cleaned(page).text
    assert f"{first}. {second}" in text


def test_recall_keeps_at_least_what_precision_keeps():
    keeps = [cleaned(STORY, favor=favor).verdict.keep_runs for favor in ("precision", "recall")]
    assert not (keeps[0] & ~keeps[1]).any()


def test_another_favor_is_refused():
    with pytest.raises(SettingsError, match="favor"):
        PageSettings(favor="both")  # type: ignore[arg-type]


def test_settings_survive_pickling_for_a_worker():
    settings = RunSettings(method="page", cleaning=CleaningSettings(page=PageSettings(favor="recall")))
    assert RunSettings.from_plain(json.loads(json.dumps(settings.to_plain()))) == settings


def test_extract_takes_the_method():
    assert "waited for the rain" in webwinnow.extract(STORY, method="page")


def test_same_page_same_verdict():
    mine, again = cleaned(STORY).verdict, cleaned(STORY).verdict
    assert np.array_equal(mine.keep, again.keep)
    assert np.array_equal(mine.score, again.score)


MANY = 200_000
HOSTILE = {
    "empty": "",
    "one block": "word",
    "siblings": "<p>a b c</p>" * MANY,
    "nested": "<div>x" * MANY,
    "inline": "<p>" + "<b>x</b> " * MANY,
    "same items": "<ul>" + "<li class=i><a href=x>item</a>" * (MANY // 2),
    "headings": "<h2>a</h2>" * MANY,
    "classes": "".join(f"<p class='a{k} b-{k}'>x</p>" for k in range(MANY // 4)),
    "one word": "<p>" + "x" * 2_000_000,
    "json-ld": '<script type="application/ld+json">' + '"description": "' * 15_000 + "</script><p>x",
}


@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_pages_are_cleaned_soon(page: str):
    tree = parse(page)
    started = time.process_time()
    clean_page(tree, "page")
    assert time.process_time() - started < SECONDS


def test_a_heading_has_the_probability_of_its_section_unless_half_of_the_site_has_it():
    tree = parse("<h2>Overview</h2><p>one two three</p><h3>Box</h3><p>four</p><p>five</p><h2>Last</h2>")
    evidence = PageEvidence.of(tree)
    given = np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.4])
    blocks = cut(tree)
    assert headed(blocks, evidence, given).tolist() == [0.9, 0.9, 0.8, 0.8, 0.3, 0.4]
    repeated = np.array([False, False, True, False, False, False])
    assert headed(blocks, evidence, given, repeated).tolist() == [0.9, 0.9, 0.2, 0.8, 0.3, 0.4]
