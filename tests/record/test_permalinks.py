"""Links to headings inside them are in no output; signs that belong to a heading are."""

from __future__ import annotations

import re

import numpy as np
import pytest

from webwinnow.page.metadata import metadata
from webwinnow.page.parsing import parse
from webwinnow.record.flow import to_text
from webwinnow.record.html import to_html
from webwinnow.record.markdown import to_markdown


def shown(page: str) -> str:
    """The plain text of a page, which Markdown and HTML have too, but for marks and tags."""
    tree = parse(page, url="http://site.org/")
    keep = np.ones(len(tree), np.bool_)
    text = to_text(tree, keep)
    assert re.sub("^#+ ", "", to_markdown(tree, keep)).replace("\\", "") == text
    again = parse(to_html(tree, keep))
    assert to_text(again, np.ones(len(again), np.bool_)) == text
    return text


@pytest.mark.parametrize("sign", ["¶", "#", "§", "🔗", "\ue9cb", "\U000f0337", "\u200b", " # ", "##", "<i>¶</i>"])
def test_a_link_of_signs_in_a_heading_is_left_out(sign: str) -> None:
    assert shown(f'<h2>Usage<a href="#usage">{sign}</a></h2>') == "Usage\n"
    assert shown(f'<h2><a href="#usage">{sign}</a> Usage</h2>') == "Usage\n"


@pytest.mark.parametrize("title", ["C#", "F# and C#", "§ 12 Scope", "Track #1", "#hashtag", "The ¶ sign", "A # B"])
def test_signs_of_the_heading_itself_stay(title: str) -> None:
    assert shown(f"<h1>{title}</h1>") == f"{title}\n"
    assert shown(f"<h1><a name=x>{title}</a></h1>") == f"{title}\n"


def test_a_heading_that_is_only_a_sign_stays() -> None:
    assert shown('<h2><a href="#num">#</a></h2>') == "#\n"


@pytest.mark.parametrize("page", ["<h2>\ue001 Usage \uf8ff</h2>", "<h2><i>\ue001</i>Usage</h2>", "<h2>Usage ¶</h2>"])
def test_glyphs_of_icon_fonts_and_a_last_pilcrow_are_left_out_of_headings(page: str) -> None:
    assert shown(page) == "Usage\n"


def test_a_heading_of_glyphs_alone_is_left_out() -> None:
    assert shown("<h2>\ue001</h2><p>a</p>") == "a\n"


def test_terms_and_captions_lose_their_links_too() -> None:
    tree = parse('<dl><dt>sys.argv<a href="#sys.argv">¶</a></dt><dd>list</dd></dl>')
    assert to_text(tree, np.ones(len(tree), np.bool_)) == "sys.argv\nlist\n"


def test_a_link_of_a_sign_outside_of_headings_stays() -> None:
    assert shown('<p>see <a href="#n">#</a></p>') == "see #\n"


def test_the_link_itself_is_not_in_html() -> None:
    tree = parse('<h2>Usage<a class="anchor" href="http://x.org/#u"><img src="http://x.org/i.png">#</a></h2>')
    for render in (to_html, to_markdown):
        assert "x.org" not in render(tree, np.ones(len(tree), np.bool_))


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ('<title>Lists in C#</title><h1>Lists in C#<a href="#l">#</a></h1>', "Lists in C#"),
        ("<title>\ue001 Usage</title>", "Usage"),
        ("<title>Usage ¶</title>", "Usage"),
        ("<title>F#</title>", "F#"),
        ('<h1>Usage <a href="#u">§</a></h1>', "Usage"),
    ],
)
def test_titles_have_no_permalink(page: str, title: str) -> None:
    assert metadata(parse(page)).title == title
