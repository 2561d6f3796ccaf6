"""What follows an article: comments without any class name, link teasers, further articles; long texts stay whole.

The probabilities of blocks and genres are given, so that the tests hold for any weights of the page model.
"""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from warmcommand import run_command

import webwinnow
from webwinnow import parse
from webwinnow.judge.evidence import evidence_of, page_with
from webwinnow.judge.page import PageSettings
from webwinnow.judge.reading import GENRES
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.page import Page
from webwinnow.record.cleaner import Cleaner

SENTENCE = "The harvest was late this year, and the farmers waited for the rain to stop before they went out again. "
PROSE = "".join(f"<p>{SENTENCE * 2}In the valley they counted {k} wet days.</p>" for k in range(6))
NAV = "<nav><ul>" + "".join(f"<li><a href=/{k}>Section {k}</a></li>" for k in range(9)) + "</ul></nav>"
METHODS = ("page", "combined")
SAID = (
    "I remember that spring well, and my father still talks about the barley.",
    "That is not what happened at all where we live; the barley stood until the end of August, and the price of it was "
    "so low that nobody wanted to cut it. My neighbour left all of his barley to the birds, and so did we.",
    "Thank you for this, I had no idea that barley could wait for so long.",
    "Our barley was cut in time because we bought a second machine two years ago, which everybody had laughed at.",
)
NAMES = ("Anna Berg", "farmer77", "J. Miller", "Old Tom")
POSTS = "posts: readers wrote it; --comments keeps it"
TEASER = "tail: links to other pages behind the article or between its paragraphs"
FURTHER = "tail: another article behind the first"


def story(tail: str, *, prose: str = PROSE, end: str = "") -> str:
    head = "<!doctype html><html lang=en><head><title>Late harvest</title></head>"
    return f"{head}<body>{NAV}<div id=x><div><h1>Late harvest</h1>{prose}{end}</div>{tail}</div></body></html>"


def comments(stamp: str = "May {k}, 2020 at 3:{k}2 pm", said: tuple[str, ...] = SAID) -> str:
    return (
        "<section>"
        + "".join(
            f"<div><b>{name}</b><div><i>{stamp.format(k=k + 3)}</i></div><blockquote><p>{text}</p></blockquote></div>"
            for k, (name, text) in enumerate(zip(NAMES, said, strict=False))
        )
        + "</section>"
    )


def cleaned(
    page: str, method: str = "page", genre: str = "article", probability: float = 0.55, **settings: bool | None
) -> webwinnow.CleanPage:
    """The page as cleaned by a page model that is sure of paragraphs, not of links, and knows no posts."""
    tree = parse(page)
    evidence = evidence_of(Page(tree))
    owner, said = evidence.owner[evidence.said], evidence.said
    link = np.array([tree.tag_name(int(tree.run_owner[evidence.first_run[b]])) == "a" for b in said])
    text = np.array([tree.tag_name(int(node)) in ("p", "blockquote", "h1", "h2") for node in owner])
    given = dataclasses.replace(
        evidence,
        probability=np.where(link, probability, np.where(text, 0.9, 0.6)),
        post=np.zeros(len(said)),
        genre_probability=np.array([0.94 if name == genre else 0.01 for name in GENRES]),
    )
    cleaner = Cleaner.of(method, settings=CleaningSettings(page=PageSettings(**settings)))
    return cleaner.clean_in(page_with(tree, given), None)


def reasons(clean: webwinnow.CleanPage, word: str) -> set[str]:
    return {one.reason for one in clean.decisions() if word in one.text}


# Comments


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "stamp",
    [
        "May {k}, 2020 at 3:{k}2 pm",
        "{k}rd of May 2020",
        "1{k}.05.2020",
        "2020-05-0{k}",
        "May {k} 10:32",
        "{k} de mayo de 2020",
        "{k} days ago",
        "vor {k} Tagen",
        "hace {k} horas",
        "il y a {k} jours",
        "2020年5月{k}日",
        "{k}小时前",
        "2{k}h",
        "{k}d",
        "Yesterday",
        "Yesterday at 1{k}:32",
        "昨天",
    ],
)
def test_comments_without_class_names_are_no_content(method, stamp):
    page = story(comments(stamp))
    assert cleaned(page, method, tails=False).text.count("barley") == 5
    clean = cleaned(page, method)
    assert clean.text.count("wet days") == 6
    assert "barley" not in clean.text
    assert reasons(clean, "barley") == {POSTS}
    assert {one.kind for one in clean.decisions() if "barley" in one.text} == {"posts"}


@pytest.mark.parametrize("method", METHODS)
def test_comments_without_class_names_are_a_field_on_request(method):
    record = cleaned(story(comments()), method, comments=True).record()
    assert "barley" not in record["text"]
    assert record["comments"].count("barley") == 5
    assert "wet days" not in record["comments"]


def test_posts_of_social_networks_that_an_article_quotes_stay():
    quoted = "".join(
        f"<blockquote><p>{text}</p><span>{name} <a href=/{k}>May {k + 3}, 2020</a></span></blockquote>"
        for k, (name, text) in enumerate(zip(NAMES, SAID, strict=True))
    )
    assert cleaned(story(quoted)).text.count("barley") == 5


def test_more_comments_than_text_do_not_make_an_article_a_page_of_posts():
    page = story(comments() * 6, prose=f"<p>{SENTENCE * 4}</p>")
    assert "barley" not in cleaned(page).text


def test_comments_beside_the_paragraphs_of_the_article_go_to_their_end():
    """Without an element around them, the last comment is as long as the longest."""
    flat = "".join(
        f"<h5>May {k}, 2020 {name}</h5>" + "".join(f"<blockquote>{one}.</blockquote>" for one in text.split("; "))
        for k, (name, text) in enumerate(zip(NAMES, SAID, strict=True), 3)
    )
    page = story("", end=f"{flat}<blockquote>And barley again.</blockquote><h1>Sources</h1><p>The Valley Post.</p>")
    text = cleaned(page, wholes=False).text
    assert "barley" not in text
    assert "The Valley Post." in text


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(story(comments("Chapter {k}")), id="no dates"),
        pytest.param(story(comments(said=SAID[:2])), id="two only"),
        pytest.param(story(comments(said=("Barley.", "Rye.", "Barley.", "Oats."))), id="no text"),
        pytest.param(story(comments(said=(SAID[1] * 12,) * 4)), id="articles"),
        pytest.param(story(comments(), prose="<p>Barley?</p>"), id="no article"),
        pytest.param(
            story("", prose="".join(f"<div><i>May {k}, 2020</i><p>{SENTENCE * 2}</p></div>" for k in range(2, 9))),
            id="diary",
        ),
        pytest.param(
            story("", prose="".join(f"<div><p>{SENTENCE * 3}</p><i>May {k}, 2020</i></div>" for k in range(2, 9))),
            id="diary with dates below",
        ),
    ],
)
def test_other_dated_texts_are_no_comments(page):
    assert cleaned(page).text == cleaned(page, tails=False).text


@pytest.mark.parametrize("genre", ["forum", "listing", "product", "documentation"])
def test_other_genres_have_no_tail(genre):
    page = story(comments() + TEASERS)
    assert cleaned(page, genre=genre).text == cleaned(page, genre=genre, tails=False).text


def test_the_first_post_of_a_thread_is_no_article():
    tree = parse(story(comments()))
    evidence = evidence_of(Page(tree))
    posts = dataclasses.replace(
        evidence,
        probability=np.full(len(evidence), 0.9),
        post=np.full(len(evidence), 0.5),
        genre_probability=np.array([0.94 if name == "article" else 0.01 for name in GENRES]),
    )
    assert Cleaner.of("page").clean_in(page_with(tree, posts), None).text.count("barley") == 5


# Link teasers

TEASERS = (
    "<div>"
    + "".join(
        f"<div><a href=/other/{k}>Farmers of district {k} wait for a better price of wheat</a></div>" for k in range(4)
    )
    + "</div>"
)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("heading", ["", "<h2>Related articles</h2>", "<h2>推荐阅读</h2>"])
def test_link_teasers_behind_the_article_go_with_their_heading(method, heading):
    page = story(f"<div>{heading}{TEASERS}</div>")
    assert cleaned(page, method, tails=False).text.count("district") == 4
    clean = cleaned(page, method)
    assert clean.text.count("wet days") == 6
    assert "district" not in clean.text
    assert "elated" not in clean.text
    assert "推荐阅读" not in clean.text
    assert reasons(clean, "district") == {TEASER}


def test_teasers_inside_the_article_go_if_they_are_a_list():
    linked = "".join(f"<li><a href=/o/{k}>District {k} waits for the wheat</a></li>" for k in range(4))
    assert "District" not in cleaned(story("", end=f"<h2>More</h2><ul>{linked}</ul>")).text
    linked = "".join(f"<p><a href=/o/{k}>District {k} waits for the wheat</a></p>" for k in range(2))
    assert cleaned(story("", end=linked)).text.count("District") == 2


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(story(TEASERS.replace("district", "valley") + f"<div><p>{SENTENCE * 2}</p></div>"), id="before"),
        pytest.param(story(TEASERS, prose=f"<p>{SENTENCE}</p>"), id="no article"),
        pytest.param(
            story("", end=f"<p>We wrote about all of these before, and we will do so again:</p><ul>{TEASERS}</ul>"),
            id="introduced",
        ),
    ],
)
def test_other_links_stay(page):
    assert cleaned(page).text == cleaned(page, tails=False).text


def test_links_that_the_page_model_is_sure_of_stay():
    page = story(TEASERS)
    assert cleaned(page, probability=0.8).text.count("district") == 4


# Further articles


def article(title: str, prose: str, date: str = "May 5, 2020", name: str = "article") -> str:
    return f"<{name}><h1>{title}</h1><div>By Anna Berg, {date}</div>{prose}</{name}>"


NEXT = PROSE.replace("wet", "cold")


def appended(*articles: str, title: str = "Late harvest") -> str:
    return f"<!doctype html><title>{title}</title><body>{NAV}<div>{''.join(articles)}</div>"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["article", "div"])
def test_only_the_first_of_appended_articles_is_kept(method, name):
    titles = ("Late harvest", "Frost in spring", "A new bridge")
    page = appended(
        *(article(title, prose, name=name) for title, prose in zip(titles, (PROSE, NEXT, NEXT), strict=True))
    )
    assert cleaned(page, method, tails=False).text.count("cold days") == 12
    clean = cleaned(page, method)
    assert clean.text.count("wet days") == 6
    assert "cold days" not in clean.text
    assert "Frost" not in clean.text
    assert reasons(clean, "cold days") == {FURTHER}


@pytest.mark.parametrize("method", METHODS)
def test_a_further_article_element_needs_no_date(method):
    page = appended(article("Late harvest", PROSE, "Valley"), article("Frost in spring", NEXT, "Hills"))
    clean = cleaned(page, method)
    assert clean.text.count("wet days") == 6
    assert "cold days" not in clean.text
    assert reasons(clean, "cold days") == {FURTHER}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            appended(article("Late harvest", PROSE), article("Frost", NEXT), title="Farm blog"), id="no title confirms"
        ),
        pytest.param(
            appended(
                article("Late harvest", PROSE, "May 5, 2020", name="div"), article("Frost", NEXT, "Valley", name="div")
            ),
            id="no date",
        ),
        pytest.param(
            appended(article("Late harvest", PROSE), article("Frost", "<p>Four cold days.</p>", "Valley")),
            id="no date and little text",
        ),
        pytest.param(
            appended(
                article("Late harvest", PROSE),
                f"<article><p>{SENTENCE}</p>{article('Frost', NEXT, 'Valley')}</article>",
            ),
            id="no date and no heading at its beginning",
        ),
        pytest.param(
            appended(article("Late harvest", PROSE), article("Best late harvest", NEXT, "Valley")),
            id="no date and a heading like the headline",
        ),
        pytest.param(
            appended(article("Late harvest", f"{PROSE}<h1>Frost</h1><div>May 6, 2020</div>{NEXT}")), id="chapters"
        ),
        pytest.param(
            appended(article("Late harvest", PROSE), article("Frost", NEXT, name="section")), id="another element"
        ),
        pytest.param(
            appended(article("Late harvest", "<p>Soon.</p>"), article("Frost", NEXT)), id="the first has no text"
        ),
    ],
)
def test_other_texts_with_a_heading_of_their_own_stay(page):
    assert cleaned(page).text == cleaned(page, tails=False).text
    assert "cold days" in cleaned(page).text


# Links between the paragraphs


@pytest.mark.parametrize(
    "line",
    [
        "<a href=/x>Read also: Frost in spring</a>",
        "<b>RELATED:</b> <a href=/x>Frost in spring and what the farmers did</a>",
        "[<a href=/x>Read more: Frost in spring</a>]",
        "Lesen Sie auch: <a href=/x>Frost in spring and what the farmers did</a>",
        "<a href=/x>延伸阅读：Frost 春天</a>",
    ],
)
def test_lines_that_refer_to_another_article_are_removed_between_paragraphs(line):
    page = story("", prose=f"{PROSE}<p>{line}</p>{PROSE}")
    assert "Frost" in cleaned(page, tails=False, probability=0.95).text
    clean = cleaned(page, probability=0.95)
    assert "Frost" not in clean.text
    assert clean.text.count("wet days") == 12
    assert reasons(clean, "Frost") == {TEASER}


@pytest.mark.parametrize(
    "line",
    [
        "<a href=/x>Frost in spring</a>",
        "Read also what <a href=/x>the neighbours</a> wrote: it is the story of the frost that came in the night.",
        "<a href=/x>Related work of others on frost in spring</a>",
    ],
)
def test_other_lines_with_links_stay_between_paragraphs(line):
    page = story("", prose=f"{PROSE}<p>{line}</p>{PROSE}")
    assert cleaned(page, probability=0.95).text == cleaned(page, tails=False, probability=0.95).text


def test_times_of_a_recipe_are_no_comments():
    steps = "".join(f"<li>Step {k}: 1{k} mins</li><li>{SAID[0]}</li>" for k in range(1, 6))
    page = story(f"<ul>{steps}</ul>")
    assert cleaned(page).text == cleaned(page, tails=False).text


def test_shops_and_reviews_that_name_today_are_no_comments():
    entries = "".join(f"<h3>Plough {k}</h3><p>Best prices today</p><p>{SENTENCE * 2}</p>" for k in range(5))
    page = story("", prose=PROSE + entries)
    assert cleaned(page).text.count("Plough") == 5


# Long texts


def test_a_long_text_is_kept_to_its_end():
    """Dated chapters, lists of links and boxes between do not end it."""
    chapters = "".join(
        f"<h2>Chapter {k}, May {k % 28 + 1}, 2020</h2>{PROSE}<ul><li><a href=/{k}>The map of chapter {k}</a></li>"
        f"<li><a href=/n/{k}>The notes</a></li></ul>"
        for k in range(60)
    )
    text = cleaned(story("", prose=chapters, end="<p>Here the long story of the valley ends, at last.</p>")).text
    assert text.count("wet days") == 360
    assert text.rstrip().endswith("at last.")


# The command line


def test_the_setting_switches_it_off_on_the_command_line(tmp_path):
    page = tmp_path / "page.html"
    many = "".join(comments().replace("<section>", "").replace("</section>", "") for _ in range(3))
    page.write_text(story(f"<section>{many}</section>"), encoding="utf-8")
    found = []
    for value in ("true", "false"):
        options = ("--method", "page", "--format", "json", "--set", f"page.tails={value}")
        ran = run_command("page", page, *options, capture_output=True, encoding="utf-8")
        assert ran.returncode == 0, ran.stderr
        found.append(json.loads(ran.stdout)["text"].count("barley"))
    assert found[0] == 0 < found[1]
