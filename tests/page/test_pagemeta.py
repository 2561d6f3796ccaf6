"""Metadata of small pages."""

from __future__ import annotations

import datetime
import json
from dataclasses import FrozenInstanceError, astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import clean_page
from webwinnow.page.metadata import Metadata, metadata
from webwinnow.page.parsing import parse
from webwinnow.record.fields import ordered

URL = "https://www.grain.test/stories/winnowing"
TEXT = "The council met on Monday to discuss the budget for the coming year and the bridge. " * 6


def about(page: str, url: str = URL) -> Metadata:
    return metadata(parse(page, url=url))


def ld(*things: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things)


def article(**properties: object) -> str:
    return ld({"@context": "https://schema.org", "@type": "NewsArticle", **properties})


def test_metadata_never_changes():
    with pytest.raises(FrozenInstanceError):
        about("").title = "x"  # type: ignore[misc]


def test_page_that_says_nothing_has_no_metadata():
    assert about("<p>x") == Metadata()


# Title


@pytest.mark.parametrize(
    ("head", "headings", "title"),
    [
        ("<title>How to winnow | The Grain Post</title>", ["How to winnow"], "How to winnow"),
        ("<title>The Grain Post: How to winnow</title>", ["How to winnow"], "How to winnow"),
        ("<title>How to winnow</title>", ["The Grain Post", "How to winnow"], "How to winnow"),
        ("<title>How to winnow - grain</title>", [], "How to winnow"),
        ("<title>How to winnow - Home - grain</title>", ["Our best stories"], "How to winnow - Home"),
        ("<title>How to winnow in a storm - Farm News</title>", [], "How to winnow in a storm"),
        ("<title>Winnow: by hand</title>", [], "Winnow: by hand"),
        ("<title>Winnowing wheat by hand</title>", ["How to winnow wheat by hand"], "How to winnow wheat by hand"),
        ("<title>grain</title>", ["How to winnow"], "How to winnow"),
        ("<title>grain</title>", [], "grain"),
        ("", ["How to winnow"], "How to winnow"),
        ("<title>How to winnow | P</title>", ["How to<br>winnow"], "How to winnow"),
    ],
)
def test_title_is_what_head_and_heading_agree_on(head: str, headings: list[str], title: str):
    assert about(head + "<body>" + "".join(f"<h1>{heading}</h1><p>x" for heading in headings)).title == title


def test_link_of_a_heading_to_itself_is_no_part_of_the_title():
    page = "<title>How to winnow — Grain 1.0</title><h1>How to winnow<a class=headerlink href=#how>¶</a></h1>"
    assert about(page).title == "How to winnow"


def test_name_of_the_site_is_cut_off_the_title():
    page = '<meta property=og:site_name content="A Post"><title>A Post - Grain and chaff - parted</title>'
    assert about(page).title == "Grain and chaff - parted"


def test_open_graph_names_the_page_before_the_title_element():
    assert about("<meta property=og:title content=Wheat><title>Chaff</title>").title == "Wheat"


def test_headline_of_json_ld_confirms_a_heading():
    page = "<title>The Post</title>" + article(headline="How to winnow &amp; sift")
    assert about(page + "<body><h1>Today</h1><h1>How to winnow & sift</h1>").title == "How to winnow & sift"


def test_hidden_heading_is_no_title():
    assert about("<h1 hidden>Menu</h1><h1>Grain</h1>").title == "Grain"


@pytest.mark.parametrize(
    "left", ["Untitled Document", "New Page 1", "untitled-2", "无标题文档", "Document sans titre", "React App"]
)
def test_what_a_tool_left_in_the_head_is_no_title(left: str):
    assert about(f"<title>{left}</title><p>x").title is None
    assert about(f"<title>{left}</title><h1>How to winnow</h1>").title == "How to winnow"


@pytest.mark.parametrize("title", ["Untitled Goose Game", "New pages of 1999", "The title"])
def test_a_title_with_such_words_is_kept(title: str):
    assert about(f"<title>{title}</title><p>x").title == title


# Author


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("Ann Miller", "Ann Miller"),
        ({"@type": "Person", "name": " Ann  Miller "}, "Ann Miller"),
        ([{"name": "Ann Miller"}, {"name": "Bo Li"}], "Ann Miller; Bo Li"),
        (["Ann Miller", "Ann Miller"], "Ann Miller"),
        ("By Ann Miller", "Ann Miller"),
        ("Ann Miller, Bo Li and Cy Young", "Ann Miller; Bo Li; Cy Young"),
        ("Ann and Bo", "Ann and Bo"),
        ("Ludwig von Mises", "Ludwig von Mises"),
        ("Maria di Angelo", "Maria di Angelo"),
        ("von Neumann", "von Neumann"),
        ("https://social.test/ann", None),
        ("ann@grain.test", None),
        ("@ann", None),
        ("Sep 16", None),
        ("x" * 200, None),
        ("", None),
        (7, None),
        (None, None),
        ([[["Ann"]]], None),
        ({"name": {"name": "Ann"}}, None),
    ],
)
def test_author_of_json_ld_is_a_name_or_nobody(author: object, name: str | None):
    assert about(article(author=author)).author == name


def test_author_that_json_ld_refers_to_is_looked_up():
    graph = [{"@type": "Article", "author": {"@id": "#ann"}}, {"@type": "Person", "@id": "#ann", "name": "Ann Miller"}]
    assert about(ld({"@graph": graph})).author == "Ann Miller"


@pytest.mark.parametrize(
    ("metas", "name"),
    [
        ('<meta name=author content="Ann Miller">', "Ann Miller"),
        ('<meta property=article:author content="https://s.test/a"><meta name=dc.creator content="Li, Bo">', "Bo Li"),
        ('<meta name=citation_author content="Li, Bo"><meta name=citation_author content="Ann Miller">', None),
        ('<meta name=twitter:label1 content="Written by"><meta name=twitter:data1 content="Ann Miller">', "Ann Miller"),
        ('<meta name=twitter:label1 content="Reading time"><meta name=twitter:data1 content="5 minutes">', None),
    ],
)
def test_author_is_read_from_metas(metas: str, name: str | None):
    assert about(metas).author == (name or ("Bo Li; Ann Miller" if "citation" in metas else None))


@pytest.mark.parametrize(
    "byline",
    [
        "<a rel=author href=/ann>Ann Miller</a>",
        "<span itemprop=author itemscope><b itemprop=name>Ann Miller</b><i>Farmer</i></span>",
        "<div class=post-author>Written by <a href=/ann>Ann Miller</a></div>",
        "<div class=Byline><span>By</span><span>Ann Miller</span><span>5 May 2020</span></div>",
        "<p>By Ann Miller</p>",
        "<p>By</p><p>Ann Miller</p>",
        "<p>Von Ann Miller</p>",
        "<p class=author>Por Ann Miller</p>",
        "<div class=author><b>About the author</b><i>Ann Miller</i></div>",
        "<p>作者：Ann Miller 2024年3月12日</p>",
    ],
)
def test_author_is_read_where_a_byline_stands(byline: str):
    assert about(f"<body><h1>Grain</h1>{byline}<p>Wheat is parted by wind.").author == "Ann Miller"


@pytest.mark.parametrize(
    "name", ["Ann Miller Jr.", "Ann M.", "Grain Tools Inc.", "Ludwig von Mises", "ann", "Will Page"]
)
def test_initials_companies_and_particles_are_parts_of_a_name(name: str):
    assert about(f"<body><h1>Grain</h1><p class=author>{name}</p><p>Wheat is parted by wind.").author == name


@pytest.mark.parametrize(
    "byline",
    [
        "<div>作者：张三 2024年3月12日</div>",
        "<div>2024-03-12 来源：新华网 作者：张三</div>",
        "<div>作者：<a href=/z>张三</a></div>",
        "<span class=author>作者：张三</span>",
        "<p>記者：张三</p>",
    ],
)
def test_chinese_label_names_the_author(byline: str):
    assert about(f"<h1>标题</h1>{byline}<p>记者昨天从市气象局了解到，本周末我市将迎来大风降温天气。").author == "张三"


def test_sentence_with_by_is_no_byline():
    assert about("<h1>Grain</h1><p>By far the best way is to wait for the wind.").author is None


def test_authors_of_comments_are_not_the_author():
    assert about("<h1>Grain</h1><p>x<div class=comment-author>Bo Li</div>").author is None


@pytest.mark.parametrize("weak", ["The Grain Post", "grain", "admin", "Staff"])
def test_name_of_site_or_account_gives_way_to_a_better_one(weak: str):
    head = f"<meta property=og:site_name content='The Grain Post'><meta name=author content='{weak}'>"
    assert about(head + "<body><h1>Grain</h1><a rel=author>Ann Miller</a>").author == "Ann Miller"


@pytest.mark.parametrize("evidence", ["<meta property=og:type content=article>", "<meta name=date content=2020-05-06>"])
def test_site_signs_articles_and_dated_pages_only(evidence: str):
    head = "<meta property=og:site_name content='The Grain Post'><meta name=author content='The Grain Post'>"
    assert about(head).author is None
    assert about(head + evidence).author == "The Grain Post"
    assert about(head.replace("author content='The Grain Post'", "author content=admin") + evidence).author is None


@pytest.mark.parametrize(
    "named",
    [
        "<p>Sort by</p><p>Best selling</p>",
        "<p>By March, the plan was over.</p>",
        "<p>By Category</p>",
        "<p>By Tools</p>",
        "<a rel=author href=/x>Tools</a>",
        "<span class=sort-author>Best selling</span>",
        "<div class=author>Follow us</div>",
        "<div class=author-name>Read More</div>",
        "<div class=author>About the author</div><p>Wheat and rye.</p>",
        "<p>作者：佚名</p>",
        "<p>Shop by Brand</p>",
        "<p>Trusted by Leading Farms</p>",
        "<a class=authorized-dealer>Authorized Dealer</a>",
        "<div class=review-card__author>Bo Li</div>",
        "<div class=testimonials><p><b class=author>Bo Li</b></div>",
        "<h2><a href=/flour>Flour</a></h2><p>All about it<p class=author>Bo Li",
        '<script type=application/ld+json>{"@type": "Product"}</script><p>By Grain Tools</p>',
    ],
)
def test_what_names_somebody_else_is_not_the_author(named: str):
    assert about(f"<body><h1>Grain</h1>{named}<p>Wheat is parted by wind.").author is None


def test_card_of_a_product_or_of_reading_time_names_no_author():
    card = '<meta name=twitter:label1 content="{}"><meta name=twitter:data1 content="Ann Lee">'
    assert about(card.format("Availability")).author is None
    assert about(card.format("Verfasst von")).author == "Ann Lee"


def test_home_page_has_neither_author_nor_date():
    page = article(author="Ann Miller", datePublished="2020-05-06")
    assert (about(page, "https://grain.test/a").author, about(page, "https://grain.test/a").date) == (
        "Ann Miller",
        "2020-05-06",
    )
    assert (about(page, "https://grain.test/").author, about(page, "https://grain.test").date) == (None, None)


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("<h1>Grain</h1><p>" + "Wheat. <b>x</b>" * 99 + "<p>Written by Ann Miller", "Ann Miller"),
        ("<h1>Grain?</h1><dl><dt>Thread starter<dd>ann_m<dt>Start date<dd>May 6, 2020</dl>", "ann_m"),
        ("<h1>Grain</h1><h3><a href=#1>Grain</a></h3><p class=author>ann_m", "ann_m"),
    ],
)
def test_author_signs_an_article_or_starts_a_thread(page: str, name: str):
    assert about(page).author == name


# Date


@pytest.mark.parametrize(
    "page",
    [
        article(datePublished="2020-05-06T23:00:00Z", dateModified="2021-01-01"),
        "<meta property=article:published_time content=2020-05-06T23:00:00Z>",
        "<meta itemprop=datePublished content=2020-05-06>",
        "<meta name=w-published-date content='6 May 2020'>",
        "<meta property=article:published_time content=0001-01-01><time datetime=2020-05-06>x</time>",
        "<time datetime=2019-01-01>an older story</time><h1>Grain</h1><time datetime=2020-05-06T10:00>today</time>",
        "<h1>Grain</h1><time>May 6, 2020</time>",
        "<h1>Grain</h1><p>Ann Miller<b>May 6, 2020</b>5 min read",
        "<p>May 6, 2020</p><h1>Grain</h1>",
        "<h2>Grain</h2><div class=post-date>6 May 2020</div>",
        "<h1>Grain</h1><p>" + "Wheat. <b>x</b>" * 300 + "<p class=dateline>Posted on May 6, 2020",
    ],
)
def test_date_is_the_day_of_publication(page: str):
    assert about(page).date == "2020-05-06"


def test_url_says_the_day_before_all_others():
    page = article(datePublished="2020-05-07T01:00:00Z")
    assert about(page, "https://grain.test/2020/05/06/winnowing").date == "2020-05-06"


@pytest.mark.parametrize("day", ["1970-01-01", "2199-01-01", "yesterday", "", 20200506, None, ["2020-05-06"]])
def test_date_that_is_none_is_refused(day: object):
    assert about(article(datePublished=day)).date is None


@pytest.mark.parametrize(("language", "date"), [("en-US", "2020-05-06"), ("en-GB", "2020-06-05"), ("fr", "2020-06-05")])
def test_numbers_are_read_as_the_page_s_language_does(language: str, date: str):
    assert about(f"<html lang={language}><h1>Grain</h1><p>05/06/2020").date == date


@pytest.mark.parametrize(
    ("page", "url", "date"),
    [
        ("<html lang=en><h1>Grain</h1><p>05/06/2020", "https://grain.co.uk/x", "2020-06-05"),
        ("<html lang=en><h1>Grain</h1><p>05/06/2020", "https://grain.com/x", "2020-05-06"),
        ("<html lang=en-US><h1>Grain</h1><p>05/06/2020", "https://grain.co.uk/x", "2020-05-06"),
        ("<html lang=en><h1>Grain</h1><p>05/06/2020<p>since 31/01/2019", "https://grain.com/x", "2020-06-05"),
        ("<html lang=de><h1>Grain</h1><p>05/06/2020<p>since 01/31/2019", "https://grain.com/x", "2020-05-06"),
        ("<meta name=date content=05-06-2020><h1>Grain</h1><p>May 6, 2020", "https://grain.com/x", "2020-05-06"),
        ("<meta name=date content=05-06-2020><h1>Grain</h1><p>June 5, 2020", "https://grain.com/x", "2020-06-05"),
        ("<h1>Grain</h1><p>06/05/2020", "https://grain.com/2020/may/06/x", "2020-05-06"),
    ],
)
def test_day_and_month_are_in_the_order_of_the_page_s_other_dates_country_or_language(page: str, url: str, date: str):
    assert about(page, url).date == date


@pytest.mark.parametrize(
    "page",
    [
        "<meta property=article:modified_time content=2020-05-06>",
        article(dateModified="2020-05-06"),
        ld({"@type": "WebPage", "datePublished": "2020-05-06"}),
        "<h1>Grain</h1><p>" + "Wheat. <b>x</b>" * 300 + "<p>Last updated <time>May 6, 2020</time>",
        "<h1>Grain</h1><p>" + "Wheat. <b>x</b>" * 300 + "<p class=release_date>May 6, 2020",
        f"<h1>Grain</h1><p>{TEXT}</p><footer>Last updated 6 May 2020</footer>",
        f"<h1>Grain</h1><p>{TEXT}</p><footer>Last updated <time>6 May 2020</time></footer>",
        f"<h1>Grain</h1><p>{TEXT}</p><footer class=date>Last updated 6 May 2020</footer>",
        f"<h1>Grain</h1><p>{TEXT}</p><p>© 6 May 2020 The Grain Post</p>",
        "<h1>Grain</h1><p>" + "Wheat. <b>x</b>" * 300 + "<h3><a href=/x>Flour</a></h3><time>May 6, 2020</time>",
    ],
)
def test_day_of_an_update_an_upload_or_another_page_is_no_day_of_publication(page: str):
    assert about(page).date is None


@pytest.mark.parametrize(
    "mention",
    [
        "The fair takes place on 6 May 2020 in Berlin.",
        "The fair takes place on <b>6 May 2020</b> in Berlin.",
        "Sale ends 05/06/2020. While supplies last.",
        "6 May 2020 – 9 May 2020",
        "展览将于2020年5月6日在北京举行。",
        "The code of the county " * 6 + "went into effect May 6, 2020",
    ],
)
def test_day_that_a_sentence_mentions_is_no_day_of_publication(mention: str):
    assert about(f"<h1>Grain</h1><p>{mention}</p><p>{TEXT}").date is None


@pytest.mark.parametrize(
    "dateline",
    [
        "BERLIN, May 6, 2020 (dpa) - " + "The harvest was better than ever. " * 9,
        "Published on May 6, 2020 by Ann Miller in the rooms of the museum, with pictures.",
        "Updated May 6, 2020",
        f"{'A short summary of the text. ' * 5}</p><p>Last updated: May 6, 2020",
        "发布时间：2020年5月6日 来源：新华网",
    ],
)
def test_dateline_has_the_day_of_publication(dateline: str):
    assert about(f"<h1>Grain</h1><p>{dateline}</p><p>{TEXT}").date == "2020-05-06"


def test_day_of_publication_wins_over_that_of_an_update():
    page = "<h1>Grain</h1><div class=date>Health<b>MAY 6, 2020</b>Updated: JANUARY 02, 2021</div>"
    assert about(page).date == "2020-05-06"
    assert about("<h1>Grain</h1>Updated <time>May 7, 2021</time> <time>May 6, 2020</time>").date == "2020-05-06"


def test_no_page_is_published_after_it_was_fetched():
    tree = parse("<h1>Grain</h1><p>May 6, 2020", URL)
    fetched = {day: metadata(tree, fetched=day).date for day in ("2020-05-04T23:00:00Z", "2020-05-05", "2030-01-01")}
    assert list(fetched.values()) == [None, "2020-05-06", "2020-05-06"]
    assert metadata(tree, fetched="Wed, 06 May 2020 10:00:00 GMT").date == "2020-05-06"
    assert clean_page(tree).record(fetched="2019-01-01")["date"] is None
    either = parse("<html lang=en-GB><h1>Grain</h1><p>03/12/2020", URL)
    assert [metadata(either, fetched=f"2020-{month}-09").date for month in (12, 11)] == ["2020-12-03", "2020-03-12"]


@pytest.mark.parametrize("fetched", [None, "", "soon", "2020-02-31"])
def test_without_a_day_of_fetching_no_page_is_published_after_today(fetched: str | None):
    ahead = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=40)
    page = "<h1>Grain</h1><p>{:%B %d, %Y}"
    assert metadata(parse(page.format(ahead), URL), fetched=fetched).date is None
    assert metadata(parse(page.format(ahead - datetime.timedelta(days=42)), URL), fetched=fetched).date is not None


# Language, site, description


@pytest.mark.parametrize(
    ("page", "language"),
    [
        ("<html lang=de-CH>", "de"),
        ("<html lang=EN>", "en"),
        ("<meta property=og:locale content=pt_BR>", "pt"),
        ("<html lang=x>", None),
        ("<html lang=english>", None),
    ],
)
def test_language_is_two_or_three_letters(page: str, language: str | None):
    assert about(page + "<p>x").language == language


def test_site_is_named_by_metas_then_by_json_ld():
    named = ld({"@type": "WebSite", "name": "The Grain Post"})
    assert about(named).site_name == "The Grain Post"
    assert about("<meta property=og:site_name content=Grain>" + named).site_name == "Grain"
    assert about(article(publisher={"name": "Post & Sons"})).site_name == "Post & Sons"


def test_description_is_the_page_s_own():
    assert about("<meta name=Description content=' Of  wind '>").description == "Of wind"
    assert about("<meta property=og:description content=Wind>").description == "Wind"
    assert about(article(description="Wind")).description == "Wind"


# The record


def test_record_holds_the_metadata():
    page = (
        "<html lang=en><meta name=description content=Wind><meta property=og:site_name content=Post>"
        + article(author="Ann Miller", datePublished="2020-05-06")
        + "<title>Grain | Post</title><h1>Grain</h1><p>x"
    )
    record = ordered(clean_page(parse(page, url=URL)).record())
    wanted = ("title", "author", "date", "lang", "site_name", "description")
    assert [record[field] for field in wanted] == ["Grain", "Ann Miller", "2020-05-06", "en", "Post", "Wind"]
    assert list(record)[-4:] == ["site_name", "description", "summary", "relevant_links"]


# Hostile pages


def writable(found: Metadata) -> bool:
    return all(value is None or (value and "\x00" not in value and value.encode()) for value in astuple(found))


@pytest.mark.parametrize(
    "page",
    [
        article(headline="a\x00b", author=["\x00", "Ann\x00"], description="\x00"),
        r'<script type="application/ld+json">{"headline": "a\ud800", "author": "B\udc00 C"}</script>',
        "<meta name=author content='&#xd800;&#0;x'><title>\ud800</title><h1>\udfff</h1>",
        '<script type="application/ld+json">' + '{"author":' * 50_000 + "</script>",
        '<script type="application/ld+json">' + '{"mainEntity":' * 900 + "1" + "}" * 900 + "</script>",
        ld({"@type": [{}], "author": {"@id": ["x"]}, "mainEntity": {"@type": 3}}),
    ],
)
def test_what_cannot_be_written_is_left_out(page: str):
    assert writable(about(page))


@pytest.mark.parametrize(
    "page",
    [
        article(author=[f"Ann {n}" for n in range(20_000)]),
        ld(*({"headline": "a | b - " * 200, "datePublished": "2000 " * 50} for _ in range(100))),
        "".join(f"<meta property=og:title content='{n} {'a | ' * 500}'>" for n in range(500)),
        "<meta name=publi content=x>" * 500,
        "<h1>" + "a - " * 100_000 + "</h1>" * 50,
        "<h1>t</h1>" + "<p class=author-date>By 2000 </p>" * 20_000,
        "<h1>t</h1><p>" + "by " * 200_000,
        "<h1>t</h1><p>" + "2000 " * 200_000,
    ],
)
def test_huge_hints_cost_little(page: str):
    tree = parse(page)
    found = metadata(tree)
    assert writable(found)
    assert len(found.author or "") < 10_000


KEYS = st.sampled_from("@type @id @graph author name headline datePublished mainEntity publisher".split())
SCALARS = st.none() | st.text(max_size=20) | st.integers()


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_any_json_ld_gives_metadata_that_can_be_written(thing: object):
    assert writable(about(ld(thing)))


PIECES = (
    *("<h1>", "</h1>", "<title>", "</title>", "<time datetime=", "2020-01-01", ">", " | ", "By ", "Ann Miller"),
    *("<p class=author>", "<a rel=author>", "<meta name=author content=", "\x00", "\ud800", "é", " - "),
)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_page_gives_metadata_that_can_be_written(page: str):
    assert writable(about(page))
