"""Tables, lists and label-value pairs are kept or removed as wholes (`judge/wholes.py`)."""

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
from webwinnow.judge.wholes import completed, labels, pooled, with_code
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.page import Page
from webwinnow.site.blocktable import SiteEvidence

SECONDS = 5.0
"""Ten times what the slowest hostile page takes."""
PROSE = "The guard played three seasons for the team, and his numbers improved in each of them, as anyone can see. "


def context(html: str) -> Page:
    return Page(parse(f"<!doctype html><title>A page</title><body>{html}</body>"))


def asked_of(page: Page, repeated: set[str], values: set[str] = frozenset()) -> SiteEvidence:  # type: ignore[assignment]
    """The site has the texts of `repeated` on every page; those of `values` follow a label, and differ."""
    texts = texts_of(page)
    nothing = np.zeros(len(texts))
    return SiteEvidence(
        share=np.array([float(text in repeated) for text in texts]),
        supported=nothing,
        certain=nothing,
        known=nothing,
        mean=nothing,
        fixed=nothing,
        field=nothing,
        labelled=np.array([float(text in values) for text in texts]),
    )


def texts_of(page: Page) -> list[str]:
    return [page.blocks.texts()[b] for b in evidence_of(page).said]


def by_text(page: Page, probability: NDArray[np.float64]) -> dict[str, float]:
    return {text: round(float(p), 6) for text, p in zip(texts_of(page), probability, strict=True)}


def given_of(page: Page, given: dict[str, float]) -> NDArray[np.float64]:
    return np.array([given[text] for text in texts_of(page)])


STATISTICS = (
    "<table><tr><th>Year<th>Team<th>Games<tr><td>99-00<td>Den<td>81<tr><td>00-01<td>Bos<td>25.3"
    "<tr><td>01-02<td>N/A<td>9</table>"
)


def test_all_cells_of_a_table_have_the_probability_of_the_table() -> None:
    page = context(STATISTICS)
    own = {"Year": 0.1, "Team": 0.1, "Games": 0.1, "99-00": 0.6, "Den": 0.6, "81": 0.2, "00-01": 0.6, "Bos": 0.6}
    own |= {"25.3": 0.6, "01-02": 0.6, "N/A": 0.6, "9": 0.6}
    found = by_text(page, pooled(page, given_of(page, own)))
    assert set(found.values()) == {round((8 * 0.6 + 0.2) / 9, 6)}


def test_a_foreign_row_and_a_foreign_column_are_judged_alone_and_the_rest_stays_a_rectangle() -> None:
    page = context(
        "<table><tr><td>a1<td>b1<td>Buy<tr><td>a2<td>b2<td>Buy now<tr><td>a3<td>b3<td>Buy it"
        "<tr><td>See<td>our<td>shops</table>"
    )
    own = dict.fromkeys(texts_of(page), 0.9) | dict.fromkeys(("Buy", "Buy now", "Buy it"), 0.01)
    own |= dict.fromkeys(("See", "our", "shops"), 0.01)
    found = by_text(page, pooled(page, given_of(page, own)))
    assert {text for text, p in found.items() if p >= 0.5} == {"a1", "b1", "a2", "b2", "a3", "b3"}
    assert len({p for p in found.values() if p >= 0.5}) == 1


def test_what_the_site_repeats_in_a_table_of_the_page_is_no_evidence_against_it() -> None:
    page = context(STATISTICS)
    own = dict.fromkeys(texts_of(page), 0.9) | dict.fromkeys(("Year", "Team", "Games", "N/A"), 0.01)
    asked = asked_of(page, {"Year", "Team", "Games", "N/A"})
    assert set(by_text(page, pooled(page, given_of(page, own), asked)).values()) == {0.9}


def test_a_column_of_figures_that_all_pages_have_stays_and_one_with_a_single_text_goes() -> None:
    rows = "".join(f"<tr><td>Game {k}<td>{80 + k}.{k}<td>{k % 3}<td>No injury" for k in range(6))
    page = context(f"<table><tr><th>Date<th>Points<th>Fouls<th>Injury{rows}</table>")
    repeated = {"Date", "Points", "Fouls", "Injury", "0", "1", "2", "No injury"}
    own = dict.fromkeys(texts_of(page), 0.9) | dict.fromkeys(repeated, 0.01)
    found = by_text(page, pooled(page, given_of(page, own), asked_of(page, repeated)))
    assert {text for text, p in found.items() if p < 0.5} == {"Injury", "No injury"}


def test_a_table_that_the_site_repeats_is_removed_completely() -> None:
    page = context(STATISTICS)
    repeated = set(texts_of(page))
    own = dict.fromkeys(repeated, 0.01)
    assert set(by_text(page, pooled(page, given_of(page, own), asked_of(page, repeated))).values()) == {0.01}


def test_the_one_row_of_the_page_is_kept_in_a_table_of_the_site() -> None:
    page = context(
        "<table>" + "".join(f"<tr><td>Line {k}<td>Same {k}" for k in range(9)) + "<tr><td>Name<td>Ann</table>"
    )
    repeated = set(texts_of(page)) - {"Ann"}
    own = dict.fromkeys(repeated, 0.01) | {"Ann": 0.9}
    found = by_text(page, pooled(page, given_of(page, own), asked_of(page, repeated)))
    assert {text for text, p in found.items() if p >= 0.5} == {"Name", "Ann"}


def test_a_button_that_the_site_repeats_may_leave_a_cell_of_several_blocks() -> None:
    page = context(
        "<table><tr><td>Ann<td>4<p>Reply</p><tr><td>Bob<td>5<p>Reply</p><tr><td>Eve<td>6<p>Reply</p></table>"
    )
    own = dict.fromkeys(texts_of(page), 0.9) | {"Reply": 0.01}
    found = by_text(page, pooled(page, given_of(page, own), asked_of(page, {"Reply"})))
    assert found["Reply"] == 0.01
    assert {found[text] for text in ("Ann", "4", "Bob", "5", "Eve", "6")} == {0.9}


def test_labels_in_several_columns_go_with_the_values_to_their_right() -> None:
    page = context("<table><tr><td>Team:<td>Den<td>Pay:<td>12<tr><td>City:<td>Rome<td>Age:<td>30</table>")
    own = {"Den": 0.9, "Rome": 0.9, "12": 0.9, "30": 0.9} | dict.fromkeys(("Team:", "Pay:", "City:", "Age:"), 0.01)
    asked = asked_of(page, {"Team:", "Pay:", "City:", "Age:"})
    assert set(by_text(page, pooled(page, given_of(page, own), asked)).values()) == {0.9}


def test_terms_of_a_dl_stay_with_their_values() -> None:
    page = context("<dl><dt>Height<dd>6-9<dt>Warranty<dd>1 year<dt>Weight<dd>250</dl>")
    own = {"6-9": 0.9, "250": 0.9, "1 year": 0.01, "Height": 0.01, "Weight": 0.01, "Warranty": 0.01}
    asked = asked_of(page, {"Height", "Weight", "Warranty", "1 year"})
    found = by_text(page, pooled(page, given_of(page, own), asked))
    assert {text for text, p in found.items() if p >= 0.5} == {"Height", "6-9", "Weight", "250"}


def test_a_list_is_one_decision_except_for_a_foreign_item() -> None:
    page = context(
        "<ul><li><a href=1>one</a><li><a href=2>two</a><li><a href=3>three</a><li><a href=4>Advertisement</a></ul>"
    )
    own = {"one": 0.6, "two": 0.4, "three": 0.5, "Advertisement": 0.01}
    found = by_text(page, pooled(page, given_of(page, own)))
    assert found["Advertisement"] == 0.01
    assert len({found["one"], found["two"], found["three"]}) == 1


@pytest.mark.parametrize(("item", "kept"), [("{}", True), ("<a href=x>{}</a>", False)])
def test_a_list_inside_the_text_stays_with_it_unless_it_is_links(item: str, kept: bool) -> None:
    items = "".join("<li>" + item.format(f"{k} eggs") for k in range(5))
    page = context(f"<p>{PROSE}</p><h2>Ingredients</h2><ul>{items}</ul><h2>Steps</h2><p>Now {PROSE}</p>")
    own = [0.9 if "guard" in text else 0.1 for text in texts_of(page)]
    found = by_text(page, pooled(page, np.array(own)))
    assert (found["3 eggs"] >= 0.5) == kept


def test_a_list_that_the_site_repeats_is_not_raised_by_the_text_around_it() -> None:
    page = context(f"<p>{PROSE}</p><ul><li>No comments yet<li>Be the first</ul><p>Now {PROSE}</p>")
    repeated = {"No comments yet", "Be the first"}
    own = [0.9 if "guard" in text else 0.05 for text in texts_of(page)]
    found = by_text(page, pooled(page, np.array(own), asked_of(page, repeated)))
    assert found["Be the first"] == 0.05


def test_the_site_takes_no_item_out_of_a_list_of_the_page_unless_it_is_links() -> None:
    ingredients = ["two cups of spelt flour", "one tsp. of salt", "a handful of dried figs"]
    for item, kept in (("{}", True), ("<a href=x>{}</a>", False)):
        page = context("<ul>" + "".join("<li>" + item.format(text) for text in ingredients) + "</ul>")
        page.give(evidence_of, replace(evidence_of(page), probability=np.array([0.7, 0.7, 0.7])))
        given = np.array([0.7, 0.05, 0.7])  # the other recipe has salt
        found = by_text(page, pooled(page, given, asked_of(page, {ingredients[1]})))
        assert (found[ingredients[1]] == found[ingredients[0]]) == kept


def test_the_site_takes_items_out_of_a_list_that_is_mostly_its_own() -> None:
    page = context("<ul><li>Free returns within a month<li>Secure payment by card<li>Made of oak</ul>")
    page.give(evidence_of, replace(evidence_of(page), probability=np.array([0.7, 0.7, 0.7])))
    repeated = {"Free returns within a month", "Secure payment by card"}
    found = by_text(page, pooled(page, np.array([0.05, 0.05, 0.7]), asked_of(page, repeated)))
    assert found["Secure payment by card"] < 0.5


def test_what_the_site_repeats_in_an_item_of_several_blocks_may_go() -> None:
    page = context(
        "<ul><li><p>Rooms in Rome</p><p>Our rates are low</p><li><p>Flights to Rome</p><p>Fly with us</p></ul>"
    )
    repeated = {"Our rates are low", "Fly with us"}
    own = {"Rooms in Rome": 0.8, "Flights to Rome": 0.8} | dict.fromkeys(repeated, 0.01)
    found = by_text(page, pooled(page, given_of(page, own), asked_of(page, repeated)))
    assert {text for text, p in found.items() if p >= 0.5} == {"Rooms in Rome", "Flights to Rome"}


def test_a_heading_above_nothing_but_what_the_site_repeats_is_a_text_of_its_own() -> None:
    page = context(
        "<div><h3>$179.00</h3><p>Shipping is $2.99</p></div><div><h3>Delivery</h3><p>See our terms</p></div>"
    )
    repeated = {"Shipping is $2.99", "Delivery", "See our terms"}
    own = {"$179.00": 0.7} | dict.fromkeys(repeated, 0.01)
    found = by_text(page, completed(page, given_of(page, own), asked_of(page, repeated)))
    assert found == own
    assert by_text(page, completed(page, given_of(page, own)))["$179.00"] == 0.01


def test_a_heading_of_a_later_part_of_a_table_stays_with_that_part_only() -> None:
    page = context(
        "<table><tr><th>Year<th>Points<tr><td>1999<td>81<tr><td>2000<td>80<tr><th>Sponsor<th>Link"
        "<tr><td>Bank<td>Visit us<tr><td>Beer<td>Buy now<tr><th>Month<th>Fouls<tr><td>May<td>7<tr><td>June<td>8</table>"
    )
    low = ("Sponsor", "Link", "Bank", "Visit us", "Beer", "Buy now")
    own = dict.fromkeys(texts_of(page), 0.9) | dict.fromkeys(low, 0.001)
    own |= dict.fromkeys(("Year", "Points", "Month", "Fouls"), 0.01)
    found = by_text(page, pooled(page, given_of(page, own)))
    assert {text for text, p in found.items() if p < 0.5} == set(low)


def test_a_label_has_exactly_the_probability_of_its_value() -> None:
    page = context("<div><p>Price:</p><p>$658</p><p>Colour:</p><p>red</p></div><p>Phone</p><div><div>12345</div></div>")
    own = {"Price:": 0.1, "$658": 0.8, "Colour:": 0.9, "red": 0.2, "Phone": 0.1, "12345": 0.7}
    found = by_text(page, completed(page, given_of(page, own)))
    assert (found["Price:"], found["Colour:"], found["Phone"]) == (0.8, 0.2, 0.1)


def test_a_text_that_the_site_repeats_before_what_differs_is_a_label_unless_it_is_a_link() -> None:
    page = context("<div><p>Height</p><p>6-9</p><p><a href=x>More</a></p><p>250</p></div>")
    asked = asked_of(page, {"Height", "More"}, {"6-9", "250"})
    assert dict(zip(texts_of(page), labels(page, asked).tolist(), strict=True)) == {
        "Height": True,
        "6-9": False,
        "More": False,
        "250": False,
    }
    assert not labels(page).any()


def test_code_between_text_is_at_least_as_probable_as_the_text_on_both_sides() -> None:
    code = np.array([-1, -1, 7, 7, -1, -1, 9, -1], np.int32)
    given = np.array([0.9, 0.1, 0.3, 0.2, 0.1, 0.8, 0.4, 0.2])
    assert with_code(code, given).tolist() == [0.9, 0.1, 0.8, 0.8, 0.1, 0.8, 0.4, 0.2]
    assert with_code(code[:4], given[:4]).tolist() == given[:4].tolist()  # nothing follows it
    assert with_code(code[::-1].copy(), np.zeros(8)).tolist() == [0.0] * 8


def test_every_decision_of_a_whole_has_its_reason() -> None:
    rows = "".join(f"<tr><td>{1990 + k}<td>Den<td>{k}.{k}" for k in range(9))
    html = f"<h1>A page</h1><p>{PROSE * 3}</p><table><tr><th>Year<th>Team<th>Points{rows}</table><p>{PROSE * 3}</p>"
    clean = clean_page(parse(f"<!doctype html><title>A page</title><body>{html}"), "page")
    found = {one.text: one for one in clean.decisions(explain=True)}
    assert found["Team"].kept
    assert found["Team"].reason in ("kept: part of a table that is kept", "kept: likely main content")
    assert found["Team"].structure == "table 1, row 1, column 2, header of its columns"


def test_any_method_can_keep_wholes_and_does_not_unless_asked() -> None:
    rows = "".join(f"<tr><td>Season {k}<td>{k}.5<td>{k + 7}" for k in range(6))
    pages = []
    for k in range(6):
        own = rows.replace("Season 3", f"Autumn {k}").replace("3.5", f"{k}.25").replace(">10", f">{k}99")
        table = f"<table><tr><th>When<th>Points<th>Games{own}</table>"
        pages.append(
            parse(f"<!doctype html><body><p>{PROSE} {k}</p>{table}<p>Story {k}</p>", url=f"http://a.example/{k}")
        )
    model = learn(pages)
    plain = model.clean(pages[2], "repeated").text
    assert "Autumn 2" in plain
    assert "Points" not in plain
    whole = model.clean(pages[2], "repeated", CleaningSettings.from_pairs(["wholes.complete=true"])).text
    assert "When | Points | Games" in whole
    assert "Autumn 2 | 2.25 | 299" in whole


# Laws


@st.composite
def tables(draw: st.DrawFn) -> str:
    columns = draw(st.integers(2, 4))
    rows = [
        "<tr>" + "".join(f"<{draw(st.sampled_from(['td', 'td', 'th']))}>{r}x{c}" for c in range(columns))
        for r in range(draw(st.integers(2, 5)))
    ]
    return "<table>" + "".join(rows) + "</table>"


@given(tables(), st.data())
@settings(max_examples=60, deadline=None)
def test_kept_cells_of_a_table_are_a_rectangle_at_every_cut(html: str, data: st.DataObject) -> None:
    page = context(html)
    own = np.array([data.draw(st.sampled_from([0.01, 0.2, 0.5, 0.9, 0.99])) for _ in texts_of(page)])
    asked = None
    if data.draw(st.booleans()):
        asked = asked_of(page, {text for text in texts_of(page) if data.draw(st.booleans())})
    whole = completed(page, pooled(page, own, asked), asked)
    for cut in np.unique(whole):
        kept = {tuple(text.split("x")) for text, p in zip(texts_of(page), whole, strict=True) if p >= cut}
        assert kept == {(r, c) for r, _ in kept for _, c in kept}


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.01, 0.3, 0.6, 0.95])), min_size=1, max_size=12), st.data())
@settings(max_examples=60, deadline=None)
def test_more_is_kept_at_a_lower_cut_and_a_label_exactly_with_its_value(
    parts: list[tuple[bool, float]], data: st.DataObject
) -> None:
    html = "".join(
        f"<p>label {k}:</p><p>value {k}</p>" if pair else f"<p>text {k}</p>" for k, (pair, _) in enumerate(parts)
    )
    page = context(f"<div>{html}</div>")
    own = np.array([data.draw(st.sampled_from([0.01, 0.3, 0.6, 0.95])) for _ in texts_of(page)])
    whole = completed(page, pooled(page, own))
    found = by_text(page, whole)
    for k, (pair, _) in enumerate(parts):
        if pair:
            assert found[f"label {k}:"] == found[f"value {k}"]
    assert ((whole >= 0) & (whole <= 1)).all()


# Hostile pages


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li>" * 20_000 + "x",
        "<table><tr><td>" * 20_000 + "x",
        "<table>" + "<tr>" + "<td colspan=1000 rowspan=1000>x" * 20_000 + "</table>",
        "<table>" + "<tr><td>x<td>y" * 20_000 + "</table>",
        "<table><caption>" + "<p>x</p>" * 20_000 + "</caption>" + "<tr><td>x<td>y" * 20_000 + "</table>",
        "<dl>" + "<dt>x:<dd>y" * 20_000 + "</dl>",
        "<p>x:</p>" * 20_000,
    ],
    ids=["lists", "tables", "spans", "rows", "caption", "pairs", "labels"],
)
def test_a_hostile_page_takes_linear_time(html: str) -> None:
    page = context(html)
    own = evidence_of(page).probability
    began = time.process_time()
    whole = completed(page, pooled(page, own))
    assert time.process_time() - began < SECONDS
    assert len(whole) == len(own)
