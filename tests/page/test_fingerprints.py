"""Fingerprints: equal for equal text, near for similar text, the same on every machine."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.page.fingerprints import BITS, distance, exact_fingerprint, fingerprint, simhash
from webwinnow.page.parsing import parse

FEW_BITS = 12
"""A changed word changes 4 of 297 shingles: near bits flip where the vote was close. Unrelated pages differ in 32."""
MANY_BITS = 18


def prose(seed: int, count: int = 300) -> list[str]:
    letters = random.Random(seed)
    return ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(count)]


def page_of(words: list[str]) -> str:
    return f"<p>{' '.join(words)}</p>"


@pytest.mark.parametrize(
    "page",
    [
        "<div><h1>The Cat</h1>sat on the mat.</div>",
        "<p>The   cat\n</p>\n\n<p>\tsat on the&nbsp;mat.</p>",
        "<p>THE CAT<br>SAT ON THE MAT.</p>",
        "<ul><li>the cat<li><a href=/x>sat</a> on the mat.</ul>",
        "<p>T<b>he</b> c<i>a</i>t</p><p>sat on the mat<span>.</span></p>",
        "<title>x</title><p>The cat</p><p>sat on the mat.</p><script>y()</script><p hidden>z</p>",
    ],
)
def test_exact_does_not_see_markup_white_space_or_case(page: str) -> None:
    assert fingerprint(parse(page)) == fingerprint(parse("<p>The cat</p><p>sat on the mat.</p>"))


@pytest.mark.parametrize(
    "other", ["The cat sat on the hat.", "The cat sat on mat.", "cat The sat on the mat.", "Thecat sat on the mat."]
)
def test_exact_sees_a_changed_word(other: str) -> None:
    assert fingerprint(parse(f"<p>{other}")).exact != fingerprint(parse("<p>The cat sat on the mat.")).exact


def test_exact_sees_that_blocks_part_words() -> None:
    assert fingerprint(parse("<p>over</p><p>due</p>")).exact != fingerprint(parse("<p>overdue</p>")).exact


def test_exact_alone_is_the_exact_part() -> None:
    tree = parse("<p>The cat</p>")
    assert exact_fingerprint(tree) == fingerprint(tree).exact


@given(data=st.data())
def test_exact_of_soup_does_not_depend_on_inline_elements_around_it(data, soup) -> None:
    tree = parse(data.draw(soup))
    texts = [tree.run(r) for r in range(tree.run_count) if tree.visible[tree.run_owner[r]]]
    plain = parse("<p>" + "</p><p>".join(text.replace("&", "&amp;").replace("<", "&lt;") for text in texts))
    marked = parse(
        "<p>" + "</p><p>".join(f"<b>{text.replace('&', '&amp;').replace('<', '&lt;')}</b>" for text in texts)
    )
    assert fingerprint(plain) == fingerprint(marked)


def test_a_mask_says_what_counts() -> None:
    tree = parse("<p>grain</p><div>chaff</div>")
    assert fingerprint(tree, tree.tagged("p")) == fingerprint(parse("grain"))


def test_hidden_text_does_not_count_by_default() -> None:
    assert fingerprint(parse("<p>a</p><p hidden>b</p>")) == fingerprint(parse("a"))


@pytest.mark.parametrize("seed", range(5))
def test_near_moves_little_when_one_word_of_300_changes(seed: int) -> None:
    words = prose(seed)
    edited = [*words[:150], "changed", *words[151:]]
    one, other = fingerprint(parse(page_of(words))), fingerprint(parse(page_of(edited)))
    assert one.exact != other.exact
    assert distance(one.near, other.near) <= FEW_BITS


@pytest.mark.parametrize("seed", range(5))
def test_near_moves_far_between_unrelated_pages(seed: int) -> None:
    one, other = fingerprint(parse(page_of(prose(seed)))), fingerprint(parse(page_of(prose(seed + 100))))
    assert distance(one.near, other.near) >= MANY_BITS


def test_fingerprints_are_the_same_in_every_process() -> None:
    script = "from webwinnow import fingerprint, parse; print(fingerprint(parse('<p>The cat sat on the mat</p>')))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }
    assert seen == {str(fingerprint(parse("<p>The cat sat on the mat</p>")))}


def test_fingerprints_have_not_changed_since_they_were_first_stored() -> None:
    found = fingerprint(parse("<p>The cat sat on the mat</p>"))
    assert (found.exact, f"{found.near:016x}") == ("178e81e20505b8fb9ec24c05474a2103", "3574d377bf6eb20d")


def test_an_empty_page_has_a_fingerprint() -> None:
    assert fingerprint(parse("")) == fingerprint(parse("<p> </p>"))
    assert fingerprint(parse("")).near == 0


def test_a_page_of_fewer_words_than_a_shingle_has_a_near_fingerprint() -> None:
    assert fingerprint(parse("cat")).near not in (0, fingerprint(parse("dog")).near)


def test_simhash_is_the_majority_of_each_bit() -> None:
    features = np.array([0b0111, 0b0110, 0b1100], np.uint64)
    assert simhash(features) == 0b0110


def test_simhash_leaves_a_bit_unset_that_half_of_the_features_have() -> None:
    assert simhash(np.array([1, 2], np.uint64)) == 0


def test_simhash_counts_a_feature_once() -> None:
    assert simhash(np.array([1, 1, 1, 2, 4], np.uint64)) == 0


def test_simhash_reaches_the_highest_bit() -> None:
    assert simhash(np.array([2**64 - 1], np.uint64)) == 2**BITS - 1


def test_distance_counts_differing_bits() -> None:
    assert distance(0b1010, 0b0011) == 2
