"""Regions: the removed text, in pieces that a reader would name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from growth import growth
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.judge.removedregions import RemovedRegions, removed_regions
from webwinnow.judge.verdict import keep_visible
from webwinnow.page.parsing import parse

PROSE = "<p>KEPT of the grain that was winnowed on the floor of the barn</p>"


def found_in(page: str) -> RemovedRegions:
    """The regions of a page of which only blocks with the word KEPT are kept."""
    tree = parse(page)
    keep = np.array(["KEPT" in tree.run(r) for r in range(tree.run_count)], np.bool_)
    return removed_regions(tree, replace(keep_visible(tree), keep_runs=keep))


def texts(page: str) -> list[str]:
    return found_in(page).texts()


def menu(*words: str, kind: str = "") -> str:
    return f"<ul {kind}>" + "".join(f"<li><a href=/{word}>{word} and more</a></li>" for word in words) + "</ul>"


@given(data=st.data())
def test_every_removed_run_that_says_something_is_in_exactly_one_region(data, soup) -> None:
    tree = parse(data.draw(soup))
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=tree.run_count, max_size=tree.run_count)), np.bool_)
    found = removed_regions(tree, replace(keep_visible(tree), keep_runs=keep))
    of_run = found.of_run()
    for r in range(tree.run_count):
        if tree.run(r).strip():
            assert (of_run[r] >= 0) == (not keep[r])
    assert (found.first_run[1:] >= found.last_run[:-1]).all()
    assert (found.first_node[1:] >= found.last_node[:-1]).all()
    assert (found.node <= found.first_node).all()
    assert all(found.texts())


def test_a_wrapper_around_header_menu_and_footer_comes_apart() -> None:
    page = f"""<div class=page>
      <header><div class=logo>The Mill and its Granary</div>{menu("wheat", "rye", "oats", "barley")}</header>
      <main>{PROSE}</main>
      <footer>{menu("imprint", "terms", "jobs", "press")}
        <p>© 2004 The Mill. All rights are reserved by us, and all wrongs too.</p></footer></div>"""
    assert [text.split()[0] for text in texts(page)] == ["The", "wheat", "imprint", "©"]


def test_a_page_that_is_all_removed_comes_apart_as_well() -> None:
    page = f"<body><div class=a>{menu('wheat', 'rye', 'oats', 'barley')}</div><div class=b><p>{'word ' * 90}</p></div>"
    assert [len(text.split()) for text in texts(page)] == [12, 90]


def test_a_list_is_one_region_with_the_title_before_it() -> None:
    page = f"<div>{PROSE}<h3>Most read</h3>{menu('wheat', 'rye', 'oats', 'barley')}</div>"
    assert [text.split()[:3] for text in texts(page)] == [["Most", "read", "wheat"]]


def test_a_short_line_before_links_is_a_title_whatever_its_tag() -> None:
    page = f"<div>{PROSE}<div class=t>RELATED STORIES:</div>{menu('wheat', 'rye', 'oats', 'barley')}</div>"
    assert len(texts(page)) == 1


def test_like_neighbours_are_one_region() -> None:
    card = "<div class=card><h4><a href=/x>A tale of the mill</a></h4><p>Told by those who were there</p></div>"
    page = f"<div>{PROSE}{card * 5}<div class=share><a href=/s>Share this</a></div></div>"
    assert [len(text.split()) for text in texts(page)] == [55, 2]


def test_sections_with_titles_of_their_own_stand_apart() -> None:
    side = "".join(f"<li class=widget><h2>{name}</h2>{menu('a', 'b', 'c', 'd')}</li>" for name in ("Latest", "Topics"))
    assert [text.split()[0] for text in texts(f"<div>{PROSE}<ul>{side}</ul></div>")] == ["Latest", "Topics"]


def test_a_message_with_its_buttons_is_one_region() -> None:
    page = f"""<div>{PROSE}</div><div class=banner><div class=text>We use cookies to make this mill run better for all
      of you, and for our partners.</div>
      <div class=buttons><button>Accept all</button><button>Refuse</button></div></div>"""
    assert len(texts(page)) == 1


def test_a_menu_stays_whole_where_its_current_entry_looks_different() -> None:
    lines = "".join(
        f"<div class={'here' if k == 3 else 'line'}><a href=/{k}>Entry number {k}</a></div>" for k in range(8)
    )
    assert len(texts(f"<table><tr><td>{lines}</td><td>{PROSE}</td></tr></table>")) == 1


def test_tables_that_lay_out_a_page_come_apart_and_plain_ones_do_not() -> None:
    plain = "<table>" + "<tr bgcolor=red><td>one</td><td align=right>two</td></tr>" * 8 + "</table>"
    layout = f"<table><tr><td width=9>{menu('a', 'b', 'c', 'd')}</td><td width=90>{plain}</td></tr></table>"
    assert [len(text.split()) for text in texts(PROSE + layout)] == [12, 16]


def test_text_between_line_breaks_is_a_region_beside_kept_text() -> None:
    found = found_in("<table><tr><td>Print this<br><a href=/m>Mail it</a><p>KEPT<p></td></tr></table>")
    assert found.texts() == ["Print this Mail it"]
    assert found.tree.tag_name(int(found.node[0])) == "td"


def test_the_node_is_the_largest_element_that_says_nothing_else() -> None:
    found = found_in(f"<div>{PROSE}<div id=outer><div><span>Log in</span></div></div></div>")
    assert found.tree.attribute(int(found.node[0]), "id") == "outer"


def test_a_page_without_text_has_no_regions() -> None:
    assert len(found_in("")) == 0
    assert found_in("<p>KEPT").texts() == []


def test_deep_wrappers_and_wide_lists_take_no_more_than_their_share_of_time() -> None:
    def made(rows: int) -> Callable[[], object]:
        tree = parse("<div>" * 400 + ("<p>some words of a row</p><ul><li>a</li></ul>" * rows))
        verdict = replace(keep_visible(tree), keep_runs=np.zeros(tree.run_count, np.bool_))
        return lambda: removed_regions(tree, verdict)

    assert growth(made, 1_000, 10_000, 40) < 40  # 10 if linear, 100 if quadratic
