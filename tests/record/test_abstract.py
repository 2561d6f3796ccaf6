"""Sentence boundaries in several scripts."""

from __future__ import annotations

from collections import Counter

import pytest
from growth import growth
from hypothesis import given
from hypothesis import strategies as st
from sentencex import segment

from webwinnow.page.parsing import parse
from webwinnow.record import view
from webwinnow.record.cleaner import clean_page
from webwinnow.record.view import LONGEST_PIECE, is_sentence, sentences


def split(text: str, language: str = "en") -> list[str]:
    return [sentence for _, sentence in sentences([text], language)]


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ["Dr. Smith met J. R. Hale at 5 p.m. on Jan. 5.", "It cost $3.50, i.e. a lot.", "Really?"]),
        ("en", ["See Fig. 3 of the U.S. report.", "It is new!"]),
        ("de", ["Am 3. Oktober kam z.B. Herr Müller.", "Er ging."]),
        ("fr", ["M. Dupont est là.", "Il part."]),
        ("hi", ["यह गेहूँ है।", "वह भूसा है।"]),
    ],
)
def test_abbreviations_initials_and_numbers_do_not_end_a_sentence(language: str, parts: list[str]):
    assert split(" ".join(parts), language) == parts


@pytest.mark.parametrize(
    ("language", "parts"),
    [("zh", ["我们去田里。", "麦子熟了！", "好吗？"]), ("ja", ["これは麦です。", "風が吹いた。"])],
)
def test_scripts_without_blanks_end_sentences_too(language: str, parts: list[str]):
    assert split("".join(parts), language) == parts


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("km", ["រាជធានីភ្នំពេញគឺជារដ្ឋធានី។", "មានទន្លេ។ល។", "ទីក្រុងនេះស្ថិតនៅ៕"]),
        ("my", ["ရန်ကုန်မြို့သည် မြန်မာနိုင်ငံ၏ မြို့ဖြစ်သည်။", "မြို့၏လူဦးရေသည် ရှိသည်။"]),
        ("my", ["မြို့ဖြစ်သည်။", "\ue04f ရှိသည်။"]),
    ],
)
def test_khmer_stops_end_sentences_and_burmese_genitives_do_not(language: str, parts: list[str]):
    assert split(" ".join(parts), language) == parts


def test_each_sentence_knows_its_paragraph():
    found = list(sentences(["One is here. Two is here.", "", "Three\n  is here."]))
    assert found == [(0, "One is here."), (0, "Two is here."), (2, "Three is here.")]


def test_an_unknown_language_is_no_error():
    assert split("One is here. Two is here.", "tlh") == ["One is here.", "Two is here."]


@given(st.lists(st.text(max_size=60), max_size=6))
def test_nothing_is_lost_or_made_up(paragraphs: list[str]):
    found = ["" for _ in paragraphs]
    for k, sentence in sentences(paragraphs):
        found[k] += sentence
    assert ["".join(text.split()) for text in found] == ["".join(text.split()) for text in paragraphs]


@pytest.mark.parametrize("repeated", ["我们去。", ".", '"a. ', "x", "A. "])
def test_hostile_text_takes_time_in_proportion(repeated: str):
    def split_text(size: int):
        text = repeated * (size // len(repeated))
        return lambda: split(text)

    assert growth(split_text, 10_000, 100_000, 40) < 40  # 10 if linear, 100 if quadratic


@pytest.mark.parametrize("language", sorted(view.SLOW_LANGUAGES))
def test_a_slow_language_judges_a_bounded_number_of_full_stops(language: str, monkeypatch: pytest.MonkeyPatch):
    stops = judged_stops(monkeypatch)
    text = "Ja. Nej! " * 11_000
    assert "".join("".join(split(text, language)).split()) == "".join(text.split())
    assert view.MOST_SLOW_ENDS / 2 < stops[language] <= view.MOST_SLOW_ENDS
    assert stops["en"] == 22_000 - stops[language]


def test_a_danish_page_of_one_unit_of_short_sentences_is_cleaned_with_bounded_work(monkeypatch: pytest.MonkeyPatch):
    stops = judged_stops(monkeypatch)
    page = f"<html lang=da><title>Byen</title><p>{'Byen er stor og gammel. ' * 25_000}</p>"
    assert clean_page(parse(page), "none").record()["abstract"].startswith("Byen er stor")
    assert 0 < stops["da"] <= view.MOST_SLOW_ENDS
    assert stops.total() <= view.MOST_CHARACTERS / len("Byen er stor og gammel. ") + 1


def judged_stops(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the full stops that are passed to sentencex, by language."""
    stops: Counter[str] = Counter()
    segment = view.segment

    def counted(language: str, text: str) -> list[str]:
        stops[language] += text.count(".") + text.count("!")
        return segment(language, text)

    monkeypatch.setattr(view, "segment", counted)
    return stops


@pytest.mark.parametrize("language", sorted(view.SLOW_LANGUAGES))
def test_ordinary_text_of_a_slow_language_is_split_by_its_own_rules(language: str):
    text = "Det er fx. en by, jf. s. 3. Den er stor! " * 40
    assert split(text, language) == [
        part for piece in view._pieces(text.strip()) for part in segmented(piece, language)
    ]


def segmented(text: str, language: str) -> list[str]:
    return [part for found in segment(language, text) if (part := found.strip())]


def test_long_paragraphs_are_cut_at_a_sentence_where_one_ends():
    text = "The wind takes the chaff away. " * 100
    assert len(text) > LONGEST_PIECE
    assert set(split(text)) == {"The wind takes the chaff away."}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("The wind takes it away.", True),
        ("“The wind takes it away.”", True),
        ("风把谷壳从麦田里吹走了。", True),
        ("好的。", False),
        ("Read more.", False),
        ("The wind takes it away", False),
        ("", False),
        ("...", False),
    ],
)
def test_what_reads_like_a_sentence(text: str, is_one: bool):
    assert is_sentence(text) == is_one


def test_thai_sentences_end_at_blanks():
    first = "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย"
    second = "เมืองตั้งอยู่บนสามเหลี่ยมปากแม่น้ำเจ้าพระยา การศึกษา"
    assert sentences([f"{first} {second}"], "th") == [(0, first), (0, second)]
    assert is_sentence(first)
    assert not is_sentence("การศึกษา")
