"""The choice of training pages does not depend on their order, and parts combine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webwinnow.site.sums import choose_pages, page_key

pages = st.lists(
    st.tuples(st.integers(0, 2**64 - 1), st.sampled_from("abcdefgh")), unique_by=lambda page: page[0], max_size=40
)


@given(pages, st.integers(1, 10), st.randoms())
def test_order_of_pages_does_not_matter(found, k, chance):
    keyed = [(key, content, key) for key, content in found]
    shuffled = list(keyed)
    chance.shuffle(shuffled)
    assert choose_pages(keyed, k) == choose_pages(shuffled, k)


@given(pages, st.integers(1, 10), st.integers(0, 40))
def test_choice_from_parts_is_the_choice_from_the_whole(found, k, cut):
    keyed = [(key, content, (key, content)) for key, content in found]
    parts = [choose_pages(part, k) for part in (keyed[:cut], keyed[cut:])]
    again = choose_pages(((key, content, (key, content)) for part in parts for key, content in part), k)
    assert again == choose_pages(keyed, k)


def test_each_content_is_chosen_once_with_its_lowest_key():
    assert choose_pages([(5, "a", "late"), (2, "a", "early"), (3, "b", "other")]) == ["early", "other"]


def test_key_is_that_of_the_canonical_url_and_stable():
    assert page_key("http://A.example:80/x#top") == page_key("http://a.example/x")
    assert page_key("http://a.example/x") == 0x13764BD694BD5D70
    assert page_key("http://a.example/x", seed=1) != page_key("http://a.example/x")
