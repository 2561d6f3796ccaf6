"""Nothing outside a mask appears; everything inside does, in page order, once. For all three outputs."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.record.flow import to_text
from webwinnow.record.html import to_html
from webwinnow.record.markdown import to_markdown

Read = Callable[..., str]
RENDERERS = (to_text, to_markdown, to_html)
LETTERS = re.compile(r"[^\W\d_]+")
"""Words without digits: list numbers, which renderers add, do not count."""

enough = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def numbered_words() -> st.SearchStrategy[str]:
    """Texts of a word or two; `distinct` makes all words different."""
    return st.sampled_from(["@", " @", "@ ", " @ ", "@ @", "@,", "(@)", "\n@\t"])


def distinct(page: str) -> str:
    """Each @ becomes a unique word: qaaaq, qaabq, ..."""
    parts = page.split("@")
    letters = "abcdefghij"
    names = ["q" + "".join(letters[int(digit)] for digit in f"{k:03}") + "q" for k in range(len(parts) - 1)]
    return "".join(part + name for part, name in zip(parts, [*names, ""], strict=True))


def words(text: str) -> list[str]:
    return LETTERS.findall(text.lower())


def masks(data: st.DataObject, tree: PageTree) -> tuple[np.ndarray, np.ndarray]:
    booleans = st.booleans() | st.just(True)
    keep = data.draw(st.lists(booleans, min_size=len(tree), max_size=len(tree)), label="nodes")
    runs = data.draw(st.lists(booleans, min_size=tree.run_count, max_size=tree.run_count), label="runs")
    return np.array(keep, np.bool_), np.array(runs, np.bool_)


def everything(tree: PageTree) -> np.ndarray:
    return np.ones(len(tree), np.bool_)


def nothing(tree: PageTree) -> np.ndarray:
    return np.zeros(len(tree), np.bool_)


@enough
@given(data=st.data())
def test_text_of_an_all_true_mask_has_the_words_of_the_page(data, soup, kept_text: Read) -> None:
    tree = parse(data.draw(soup))
    assert words(to_text(tree, everything(tree))) == words(kept_text(tree, everything(tree)))


@enough
@given(data=st.data())
def test_markdown_of_an_all_true_mask_has_the_words_of_the_page(data, soup, kept_text: Read, read_markdown) -> None:
    tree = parse(data.draw(soup))
    shown = read_markdown(to_markdown(tree, everything(tree)))
    assert words(shown.text) == words(kept_text(tree, everything(tree)))


@enough
@given(data=st.data())
def test_html_of_an_all_true_mask_has_the_words_of_the_page(data, soup, kept_text: Read, read_html: Read) -> None:
    tree = parse(data.draw(soup))
    assert words(read_html(to_html(tree, everything(tree)))) == words(kept_text(tree, everything(tree)))


@enough
@given(data=st.data())
def test_an_all_false_mask_shows_nothing(data, soup, read_html: Read) -> None:
    tree = parse("<title>a title</title>" + data.draw(soup))
    assert to_text(tree, nothing(tree)) == ""
    assert to_markdown(tree, nothing(tree)) == ""
    assert read_html(to_html(tree, nothing(tree))).strip() == ""
    assert "a title" not in to_html(tree, nothing(tree))


@enough
@given(data=st.data())
def test_text_shows_the_kept_words_in_order_and_once(data, pages, kept_text: Read) -> None:
    tree = parse(distinct(data.draw(pages(numbered_words()))))
    keep, runs = masks(data, tree)
    assert words(to_text(tree, keep, runs)) == words(kept_text(tree, keep, runs))


@enough
@given(data=st.data())
def test_markdown_shows_the_kept_words_in_order_and_once(data, pages, kept_text: Read, read_markdown) -> None:
    tree = parse(distinct(data.draw(pages(numbered_words()))))
    keep, runs = masks(data, tree)
    assert words(read_markdown(to_markdown(tree, keep, runs)).text) == words(kept_text(tree, keep, runs))


@enough
@given(data=st.data())
def test_html_shows_the_kept_words_in_order_and_once(data, pages, kept_text: Read, read_html: Read) -> None:
    tree = parse(distinct(data.draw(pages(numbered_words()))))
    keep, runs = masks(data, tree)
    assert words(read_html(to_html(tree, keep, runs))) == words(kept_text(tree, keep, runs))


@enough
@given(data=st.data())
def test_html_parsed_again_shows_the_same_words(data, pages, kept_text: Read) -> None:
    tree = parse(distinct(data.draw(pages(numbered_words()))))
    keep, runs = masks(data, tree)
    again = parse(to_html(tree, keep, runs))
    assert words(kept_text(again, everything(again))) == words(kept_text(tree, keep, runs))


@pytest.mark.parametrize("render", RENDERERS)
def test_words_are_shown_when_their_own_element_is_kept_although_those_around_are_not(render) -> None:
    tree = parse("<div>outer<p>inner</p></div>")
    shown = render(tree, tree.tagged("p"))
    assert "inner" in shown
    assert "outer" not in shown


@pytest.mark.parametrize("render", RENDERERS)
def test_words_are_not_shown_when_only_the_element_around_their_own_is_kept(render) -> None:
    tree = parse("<div>outer<p>inner</p></div>")
    shown = render(tree, tree.tagged("div"))
    assert "outer" in shown
    assert "inner" not in shown


@pytest.mark.parametrize("render", RENDERERS)
def test_a_run_mask_silences_one_line_of_a_kept_element(render) -> None:
    tree = parse("<p>first<br>second<br>third</p>")
    shown = render(tree, everything(tree), np.array([True, False, True]))
    assert "first" in shown
    assert "second" not in shown
    assert "third" in shown


@pytest.mark.parametrize("render", RENDERERS)
def test_a_run_mask_does_not_show_runs_of_elements_that_are_not_kept(render) -> None:
    tree = parse("<p>gone</p><p>stays</p>")
    keep = np.array([False, False, False, True])
    assert "gone" not in render(tree, keep, np.ones(tree.run_count, np.bool_))


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("between", ["<p>gone</p>", "<br>", "<hr>", "<ul><li>gone</li></ul>", "<iframe></iframe>"])
def test_words_stay_separate_when_the_block_between_them_is_removed(render, between: str) -> None:
    tree = parse(f"<div>before{between}after</div>")
    assert "beforeafter" not in render(tree, tree.tagged("div"))
    assert "beforeafter" not in render(tree, everything(tree))


@pytest.mark.parametrize("render", RENDERERS)
def test_a_word_stays_whole_when_an_inline_element_inside_it_is_removed(render) -> None:
    tree = parse("<p>with<sup>2</sup>out</p>")
    assert "without" in render(tree, tree.tagged("p"))


@pytest.mark.parametrize("tag", ["h2", "li", "a", "b", "img"])
def test_markdown_of_an_element_that_is_not_kept_says_nothing_of_it(tag: str) -> None:
    tree = parse(
        '<h2>rank<span>one</span></h2><ul><li><span>bullet</span></li></ul><a href="http://x.org/"><span>link</span></a>'
        '<b><span>bold</span></b><img src="http://x.org/i.png">'
    )
    sign = {"h2": "##", "li": "- ", "a": "](http://x.org/)", "b": "**", "img": "![]"}[tag]
    assert sign in to_markdown(tree, everything(tree))
    assert sign not in to_markdown(tree, everything(tree) & ~tree.tagged(tag))


def test_html_of_an_element_that_is_only_around_something_kept_has_no_url() -> None:
    tree = parse('<a href="http://x.org/"><span>link</span></a>')
    assert "x.org" in to_html(tree, everything(tree))
    assert "x.org" not in to_html(tree, tree.tagged("span"))


@pytest.mark.parametrize("render", RENDERERS)
def test_a_mask_for_another_number_of_nodes_is_an_error(render) -> None:
    tree = parse("<p>a")
    with pytest.raises(ValueError, match="a mask of 2 nodes for a tree of 3"):
        render(tree, np.ones(2, np.bool_))


@pytest.mark.parametrize("render", RENDERERS)
def test_a_mask_for_another_number_of_runs_is_an_error(render) -> None:
    tree = parse("<p>a")
    with pytest.raises(ValueError, match="a mask of 5 runs for a tree with 1"):
        render(tree, everything(tree), np.ones(5, np.bool_))


@pytest.mark.parametrize("render", [to_text, to_markdown])
def test_an_empty_page_gives_no_text(render) -> None:
    tree = parse("")
    assert render(tree, everything(tree)) == ""


def test_an_empty_page_gives_an_html_document_without_text(read_html: Read) -> None:
    tree = parse("")
    assert read_html(to_html(tree, everything(tree))).strip() == ""
