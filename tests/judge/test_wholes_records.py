"""Repeated records keep their fields, and lists of siblings are one decision (`judge/wholes.py`)."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from webwinnow import clean_page, learn, parse
from webwinnow.judge.evidence import evidence_of
from webwinnow.judge.reading import GENRES
from webwinnow.judge.wholes import OF_GOODS, SURE, beside_goods, completed, in_records, pooled
from webwinnow.page.page import Page

PROSE = "The guard played three seasons for the team, and his numbers improved in each of them, as anyone can see. "
SECONDS = 5.0
"""Ten times what the slowest hostile page takes."""


def context(html: str) -> Page:
    return Page(parse(f"<!doctype html><title>A page</title><body>{html}</body>"))


def cards(*fields: str, count: int = 4) -> str:
    """Records with a paragraph for each field; `{}` is the number of the record."""
    inside = "".join(f"<p class=f{name}>{field}</p>" for name, field in zip("abc", fields, strict=False))
    return "".join(f"<div class=card>{inside.replace('{}', str(k))}</div>" for k in range(count))


def found(page: Page, own: dict[str, float], share: dict[str, float] | None = None) -> dict[str, float]:
    """The probability of each text after pooling, given its own and the share of the site's pages that have it."""
    texts = [page.blocks.texts()[b] for b in evidence_of(page).said]
    given = np.array([own.get(text, own.get(text.rstrip("0123456789"), 0.0)) for text in texts])
    of_site = None if share is None else np.array([share.get(text, 0.0) for text in texts])
    after = pooled(page, given) if of_site is None else in_records(page, given, of_site)
    return {text: round(float(p), 6) for text, p in zip(texts, after, strict=True)}


def test_all_fields_of_records_have_the_mean_probability_of_their_words() -> None:
    page = context(cards("Lamp {}", "${}", "dark {}"))
    after = found(page, {"Lamp ": 0.4, "$": 0.25, "$2": 0.05, "dark ": 0.45})
    words = 4 * 2 + 4 * 1 + 4 * 2
    mean = (4 * 2 * 0.4 + 3 * 0.25 + 0.05 + 4 * 2 * 0.45) / words
    assert {text: p for text, p in after.items() if p != round(mean, 6)} == {}


def test_a_button_that_is_the_same_in_all_records_keeps_its_probability_and_does_not_count() -> None:
    page = context(cards("Lamp {}", "${}", "Add to cart"))
    after = found(page, {"Lamp ": 0.45, "$": 0.45, "Add to cart": 0.3})
    assert after["Add to cart"] == 0.3
    assert {p for text, p in after.items() if text != "Add to cart"} == {0.45}


def test_a_foreign_field_goes_as_a_column_and_a_foreign_record_as_a_record() -> None:
    page = context(cards("Lamp {}", "${}", "by shop {}", count=9))
    own = {"Lamp ": 0.45, "$": 0.45, "by shop ": 0.02, "Lamp 8": 0.02, "$8": 0.005}
    after = found(page, own)
    assert len({after[f"by shop {k}"] for k in range(8)}) == 1
    assert after["by shop 3"] < 0.05
    assert after["Lamp 8"] == after["$8"] < 0.05
    assert {after[f"{name}{k}"] for k in range(8) for name in ("Lamp ", "$")} == {0.45}


def test_a_field_that_is_sure_to_be_content_stays_in_records_that_go() -> None:
    after = found(context(cards("Lamp {}", "${}")), {"Lamp ": 0.1, "$": 0.1, "Lamp 2": 0.8})
    assert after["Lamp 2"] == 0.8
    assert after["$2"] == after["$1"] < SURE


def test_a_price_that_other_pages_have_does_not_count_in_a_record_of_the_page() -> None:
    page = context(cards("A lamp with legs {}", "${}"))
    own = {"A lamp with legs ": 0.9, "$": 0.9, "$1": 0.02, "$2": 0.02}
    assert found(page, own, {"$1": 0.3, "$2": 0.2})["$1"] == 0.9


def with_goods(genre: str, fields: tuple[str, ...], before: float) -> set[float]:
    """The probabilities of records on a page of a genre."""
    page = context(f"<p>{PROSE}</p>{cards(*fields)}")
    page.give(evidence_of, replace(evidence_of(page), genre_probability=np.eye(len(GENRES))[GENRES.index(genre)]))
    after = beside_goods(page, np.full(len(evidence_of(page)), before))
    assert after[0] == before  # the prose
    return set(after[1:].round(6).tolist())


@pytest.mark.parametrize("price", ["${}.99", "{},49 €", "12.5{} zł", "\u00a3 {}"])
def test_goods_beside_a_product_are_less_probable_and_those_of_a_category_more(price: str) -> None:
    fields = ("<a href=/lamp{}>Lamp {}</a>", price)
    for genre, shift in zip(GENRES, OF_GOODS.tolist(), strict=True):
        odds = 0.25 * np.exp(shift)
        assert with_goods(genre, fields, 0.2) == {round(float(odds / (1 + odds)), 6)}, genre
    assert OF_GOODS[GENRES.index("product")] < 0 < OF_GOODS[GENRES.index("collection")]


@pytest.mark.parametrize("fields", [("<a href=/lamp{}>Lamp {}</a>", "{} votes"), ("Lamp {}", "${}.99")])
def test_records_without_links_or_prices_are_no_goods(fields: tuple[str, ...]) -> None:
    assert with_goods("product", fields, 0.2) == {0.2}


def test_records_that_the_site_repeats_as_a_whole_count_as_they_are() -> None:
    page = context(cards("Related story {}", "May {}"))
    own = {"Related story ": 0.02, "May ": 0.02}
    share = {f"{name} {k}": 0.3 for name in ("Related story", "May") for k in range(4)}
    assert set(found(page, own, share).values()) == {0.02}
    one_new = found(
        page, own | {"Related story 3": 0.4, "May 3": 0.4}, {k: v for k, v in share.items() if "3" not in k}
    )
    assert one_new["Related story 1"] == round((3 * 0.02 + 0.4) / 4, 6)


def test_cards_below_an_article_are_not_kept_for_it() -> None:
    page = context(f"<p>{PROSE}</p><p>Then {PROSE}</p>" + cards("<a href=x>Story {}</a>", "May {}"))
    own = {" ".join(PROSE.split()): 0.95, " ".join(f"Then {PROSE}".split()): 0.95, "Story ": 0.1, "May ": 0.1}
    after = found(page, own)
    assert max(p for text, p in after.items() if "guard" not in text) == 0.1


@pytest.mark.parametrize(("item", "kept"), [("{} eggs", True), ("<a href=x>{} eggs</a>", False)])
def test_siblings_of_one_style_are_kept_with_the_text_around_them_as_a_list(item: str, kept: bool) -> None:
    items = "".join(f"<div class=ingredient>{item.replace('{}', str(k))}</div>" for k in range(5))
    page = context(f"<p>{PROSE}</p><h2>Ingredients</h2>{items}<h2>Steps</h2><p>Now {PROSE}</p>")
    own = {" ".join(PROSE.split()): 0.9, " ".join(f"Now {PROSE}".split()): 0.9}
    own |= {f"{k} eggs": 0.1 for k in range(5)}
    assert (found(page, own)["3 eggs"] >= 0.5) == kept


def test_explanations_name_the_record_and_why_a_field_is_kept() -> None:
    html = "".join(
        f"<div class=dish><h3>Dish number {k}</h3><div class=what>{PROSE}</div><div class=pay>{k}.50</div></div>"
        for k in range(5)
    )
    clean = clean_page(parse(f"<!doctype html><title>Menu</title><body><h1>Menu</h1>{html}"), "page")
    said = {one.text: one for one in clean.decisions(explain=True)}
    assert said["3.50"].structure == "record 4 of 5, field 3"
    assert len({said[f"{k}.50"].kept for k in range(5)}) == 1
    assert said["3.50"].reason in ("kept: part of a record that is kept", "kept: likely main content")


def test_a_site_of_menus_keeps_the_same_price_in_every_record() -> None:
    pages = []
    for page in range(8):
        dishes = "".join(
            f"<div class=dish><h3>Dish {page}{k}</h3><div class=what>Part {page}{k}. {PROSE}</div>"
            f"<div class=pay>{'$658' if k < 3 else f'${page}{k}'}</div></div>"
            for k in range(6)
        )
        html = f"<!doctype html><title>Menu {page}</title><body><h1>Menu {page}</h1>{dishes}<footer>© Inn</footer>"
        pages.append(parse(html, url=f"http://a.example/{page}"))
    text = learn(pages).clean(pages[2], "combined").text
    assert text.count("$658") == 3
    assert text.count("$2") == 3


# Laws


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_kept_fields_of_records_are_a_rectangle_at_every_cut(data: st.DataObject) -> None:
    count = data.draw(st.integers(3, 6))
    page = context(cards("a {}", "b {}", "c {}", count=count))
    own = {f"{f} {r}": data.draw(st.sampled_from([0.01, 0.1, 0.3, 0.45])) for f in "abc" for r in range(count)}
    share = {text: data.draw(st.sampled_from([0.0, 0.2, 0.9])) for text in own} if data.draw(st.booleans()) else None
    after = found(page, own, share)
    for cut in set(after.values()):
        kept = {tuple(text.split()) for text, p in after.items() if p >= cut}
        assert kept == {(f, r) for f, _ in kept for _, r in kept}


@pytest.mark.parametrize(
    "html",
    [
        "<div><p>x</p><p>y</p>" * 20_000,
        "<div class=a><p>x</p><p>y</p></div>" * 20_000,
        "".join(f"<div><p class=c{k:x}z>x</p><p>y</p></div>" for k in range(20_000)),
        "<div>x</div>" * 20_000,
        ("<div><b>x</b></div>" * 3 + "<div>") * 10_000,
    ],
    ids=["nested", "records", "fields", "items", "nested items"],
)
def test_a_hostile_page_takes_linear_time(html: str) -> None:
    page = context(html)
    own: NDArray[np.float64] = evidence_of(page).probability
    began = time.process_time()
    whole = completed(page, pooled(page, own))
    assert time.process_time() - began < SECONDS
    assert len(whole) == len(own)
