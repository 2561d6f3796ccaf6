"""DocView 5, the fingerprint step by step, computed by hand."""

from __future__ import annotations

import hashlib

from webwinnow.replicas import published_fingerprint
from webwinnow.replicas.sketches import INTERVAL, PERCENTAGE, chosen_words

# Term frequencies: mill 3, river 2, grain 2, and ten words once: Sum1 is 13.
SAID = "mill river grain mill a b c d e f g h i j grain river mill".split()


def test_the_parameters_are_those_of_the_paper():
    assert (PERCENTAGE, INTERVAL) == (0.4, 5)


def test_steps_with_percentage_04_and_interval_5():
    # Step 2: mill, grain, river, a, b, c, ... Step 3: Sum2 = 13 * 0.4 = 5 (5.2): mill, grain, river, a, b.
    # Step 4: a, b, grain, mill, river. Step 5: Sum3 = 5 DIV 5 * 5 = 5.
    assert chosen_words(SAID, 0.4, 5) == ["a", "b", "grain", "mill", "river"]


def test_the_interval_cuts_the_end_of_the_alphabet():
    # Sum2 = 13 * 0.6 = 7: mill, grain, river, a, b, c, d; Sum3 = 7 DIV 5 * 5 = 5 of a, b, c, d, grain, mill, river.
    assert chosen_words(SAID, 0.6, 5) == ["a", "b", "c", "d", "grain"]
    # Interval 3: Sum3 = 6. Interval 1: all seven.
    assert chosen_words(SAID, 0.6, 3) == ["a", "b", "c", "d", "grain", "mill"]
    assert len(chosen_words(SAID, 0.6, 1)) == 7


def test_step_6_is_the_md5_of_the_chosen_words():
    assert published_fingerprint(SAID) == hashlib.md5(b"a b grain mill river").digest()
    assert len(published_fingerprint(SAID) or b"") == 16


def test_fewer_words_than_one_interval_have_no_fingerprint():
    twelve = [f"w{k}" for k in range(12)]  # Sum2 = 4.8 -> 4; Sum3 = 0
    assert published_fingerprint(twelve) is None
    assert published_fingerprint([*twelve, "w12"]) is not None  # Sum2 = 5.2 -> 5; Sum3 = 5
    assert published_fingerprint([]) is None


def test_order_and_rare_words_do_not_count():
    other = [*reversed(SAID), "z"]  # Sum1 = 14, Sum2 = 5.6 -> 5: the same five
    assert published_fingerprint(other) == published_fingerprint(SAID)


def test_a_frequent_word_more_changes_it():
    assert published_fingerprint([*SAID, "aaa", "aaa"]) != published_fingerprint(SAID)
