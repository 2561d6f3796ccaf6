"""`template`, `segments` and `items` on a small generated site: what is removed, what is kept, and why."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow import ModelError, SettingsError, SiteModel, clean_page, parse
from webwinnow.methods.itemfeatures import items_of
from webwinnow.methods.method_items import ItemModel, ItemSettings
from webwinnow.methods.method_segments import SegmentSettings
from webwinnow.methods.method_template import TemplateSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.site.pagelets import pagelets_of
from webwinnow.site.sums import SiteSums

MENU = "".join(f"<a href='/s{k}'>section {k}</a> " for k in range(5))


def story(n: int) -> str:
    return " ".join(f"word{n}x{k}" for k in range(20))


def page(n: int) -> str:
    """A page with a table layout: menu, story and footer."""
    return (
        f"<body><table id=menu><tr><td>{MENU}</td></tr></table>"
        f"<table id=story><tr><td><h1>Title {n}</h1><p>{story(n)}</p></td></tr></table>"
        "<table id=foot><tr><td>All rights reserved by the example company</td></tr></table>"
    )


SITE = SiteModel.learn([parse(page(n), url=f"http://a.example/{n}") for n in range(6)], "a.example")


@pytest.mark.parametrize("method", ["template", "segments"])
def test_repeated_blocks_are_removed_and_varying_ones_are_kept(method):
    clean = SITE.clean(page(1), method)
    assert "word1x0" in clean.text
    assert "section" not in clean.text
    assert "rights" not in clean.text


@pytest.mark.parametrize("method", ["template", "segments"])
def test_a_page_that_was_not_learned_is_cleaned_too(method):
    clean = SITE.clean(page(99), method)
    assert "word99x0" in clean.text
    assert "section" not in clean.text


@pytest.mark.parametrize(
    ("method", "reason"), [("template", "template: this pagelet"), ("segments", "redundant block")]
)
def test_each_decision_has_its_reason(method, reason):
    found = {decision.text: decision for decision in SITE.clean(page(1), method).decisions()}
    assert found["All rights reserved by the example company"].reason.startswith(reason)
    assert found["Title 1"].kept


@pytest.mark.parametrize("method", ["template", "segments"])
def test_an_unknown_site_says_so_and_keeps_all(method):
    clean = clean_page(parse(page(0)), method)
    assert clean.record()["reason"].startswith("nothing is known")
    assert "section" in clean.text


@pytest.mark.parametrize("method", ["template", "segments"])
def test_a_model_without_the_part_is_refused_with_the_advice_to_learn_again(method):
    known = SiteModel.learn([parse(page(n)) for n in range(4)], parts=frozenset({"texts"}))
    with pytest.raises(ModelError, match="learn it again"):
        known.clean(page(1), method)


@pytest.mark.parametrize("method", ["template", "segments", "items"])
@pytest.mark.parametrize("html", ["", "<frameset><frame src=x></frameset>", "<table>" * 60, "<a href>x</a>", "<img>"])
def test_odd_pages_do_no_harm(method, html):
    assert isinstance(SITE.clean(html, method).text, str)


# template


def test_a_pagelet_of_two_pages_is_a_template():
    """As published; the default setting requires more."""
    odd = "<p>Only two pages of the site say this sentence in full</p>"
    pages = [page(n).replace("<table id=story>", (odd if n < 2 else "") + "<table id=story>") for n in range(6)]
    known = SiteModel.learn([parse(one) for one in pages])
    assert "Only two" not in known.clean(pages[0], "template").text
    asked = CleaningSettings(template=TemplateSettings(pages=3))
    assert "Only two" in known.clean(pages[0], "template", asked).text


def test_fingerprints_outlive_markup_and_white_space_but_not_other_words():
    one, same, other = (
        pagelets_of(parse(html)).fingerprint.tolist()
        for html in ("<p>Some words here <b>to see</b>", "<div>some  WORDS here to see", "<p>Quite other words")
    )
    assert one == same
    assert one != other


def test_pagelets_without_anything_to_say_have_no_fingerprint():
    assert not len(pagelets_of(parse("<div><p> </p><hr></div>")).node)


def test_wordless_pagelets_are_known_by_their_links_and_pictures():
    pages = [f"<img src=logo.png alt=x><p>{story(n)}" for n in range(3)]
    counts = SiteModel.learn([parse(one) for one in pages]).part("pagelets")
    assert len(counts.key) == 0  # one pagelet with the story: the page has fewer than three links
    assert len(pagelets_of(parse("<img src=logo.png>")).fingerprint) == 1


# segments


def test_sections_part_pages_without_tables():
    pages = [
        f"<nav>Home News About Contact</nav><main><h1>Title {n}</h1><p>{story(n)}</p></main>"
        "<footer>Rights reserved</footer>"
        for n in range(5)
    ]
    known = SiteModel.learn([parse(one) for one in pages])
    assert "Contact" in known.clean(pages[0], "segments").text  # the page is one block
    clean = known.clean(pages[0], "segments", CleaningSettings(segments=SegmentSettings(by="sections")))
    assert "word0x0" in clean.text
    assert "Contact" not in clean.text
    assert "reserved" not in clean.text


def test_a_threshold_may_be_given():
    asked = CleaningSettings(segments=SegmentSettings(threshold=1.0))
    assert "section" in SITE.clean(page(1), "segments", asked).text


def test_stop_words_do_not_count():
    sums = SiteSums(parts=frozenset({"segments"}))
    sums.add(parse("<p>the fish and the bird"))
    assert sums.learned["segments"].rows[0].count.tolist() == [1, 1]


@pytest.mark.parametrize(
    "settings",
    [
        lambda: SegmentSettings(by="frames"),
        lambda: SegmentSettings(threshold=2),
        lambda: TemplateSettings(pages=1),
        lambda: ItemSettings(noisy=1.0),
    ],
)
def test_senseless_settings_are_refused(settings):
    with pytest.raises(SettingsError):
        settings()


# items


def test_links_are_classified_by_target_and_text():
    tree = parse(
        "<p>see <a href='/a/b/other.html'>the other page</a> "
        "<a href='http://ads.example.net/click?x=1'><img src=i.gif></a>"
        "<a href='#top'>top</a> <a name=x>no link</a> <a href='mailto:a@b'>mail</a>",
        url="http://www.example.org/a/c.html",
    )
    found = items_of(tree, "link")
    names = ("words", "to this host", "to this page", "shared folders", "has a query", "has a picture", "dest:click")
    assert found.columns(names, "link").tolist() == [
        [3, 1, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 1, 1],
        [1, 1, 1, 1, 0, 0, 0],
        [1, -1, 0, -1, 0, 0, 0],
    ]


def test_images_are_classified_by_size_words_and_link():
    tree = parse(
        "<a href='http://shop.example.net/buy+now'>"
        "<img src=/img/banner.gif width=468 height=60 alt='Click here now'></a>"
        "<img width='50%' src='http://cdn.example.com/x.png'>",
        url="http://www.example.org/a.html",
    )
    names = ("height", "width", "aspect ratio", "file on this site", "in a link", "link to this site", "alt:click+here")
    assert items_of(tree, "image").columns(names, "image").tolist() == [
        [60, 468, pytest.approx(7.8), 1, 1, 0, 1],
        [-1, -1, -1, 0, 0, -1, 0],
    ]


def test_words_around_an_image_are_its_caption_and_any_word_counts_anywhere():
    tree = parse(
        "<p>one two three four five</p><img src=/ads/x.gif alt=prize><p>six</p>", url="http://www.example.org/a.html"
    )
    names = (
        "caption:two",
        "caption:one",
        "caption:five+six",
        "any:ads",
        "any:prize",
        "any:six",
        "any:one",
        "src:prize",
    )
    assert items_of(tree, "image").columns(names, "image").tolist() == [[1, 0, 1, 1, 1, 1, 0, 0]]


def test_an_image_that_a_script_loads_has_the_url_of_its_file():
    tree = parse(
        "<img src='data:image/gif;base64,R0ads' data-src=/ads/b.gif><img src='data:image/gif;base64,R0ads'>",
        url="http://www.example.org/",
    )
    found = items_of(tree, "image")
    assert found.urls == ["/ads/b.gif", "data:image/gif;base64,R0ads"]
    assert found.columns(("src:ads", "src:image"), "image").tolist() == [[1, 0], [0, 0]]


def test_words_beside_a_link_are_those_of_its_block_and_in_no_link():
    tree = parse(
        "<ul><li><a href=/a>menu</a><li><a href=/b>more menu</a></ul>"
        "<p>See <a href=/c>this page</a> and <a href=/d>that one</a> for all of it.</p><a href=/e><img src=x></a>",
        url="http://www.example.org/",
    )
    found = items_of(tree, "link").columns(("words beside", "position"), "link")
    assert found[:, 0].tolist() == [0, 0, 6, 6, 0]
    assert found[0, 1] == 0
    assert (np.diff(found[:, 1]) > 0).all()
    assert found[-1, 1] == 1


@pytest.mark.parametrize("prefix", ["/web/20001110195651/", "http://web.archive.org/web/20001110195651/"])
def test_a_replayed_url_is_that_of_the_archived_page(prefix):
    """Without this every link of a page from a web archive leads to the archive."""
    html = f"<a href='{prefix}http://ads.example.net/x'>one</a><a href='{prefix}http://www.example.org/a/b'>two</a>"
    for url in ("http://www.example.org/a/c", "https://web.archive.org/web/2000/http://www.example.org/a/c"):
        found = items_of(parse(html, url=url), "link")
        names = ("to this domain", "shared folders", "dest:web")
        assert found.columns(names, "link").tolist() == [[0, 0, 0], [1, 1, 0]]
        assert found.urls[0].startswith(prefix)


def test_menus_and_banners_are_removed_and_text_with_its_links_is_kept():
    """The trees that ship: editorial links in running text keep their words."""
    told = (
        "The river rose for a third day after the rain, and the people of the lower town left their houses. As a "
        "<a href='http://paper.example.com/archive/2019/the-flood.html'>report on the last flood</a> said, the wall "
        "was never finished, and the council had asked for the money twice in the years before."
    )
    banner = "<a href='http://ad.doubleclick.net/jump/x'><img src=b.gif width=468 height=60 alt='Click here'></a>"
    menu = "<ul><li><a href=/s1>section one</a><li><a href=/s2>section two</a></ul>"
    html = menu + page(1).replace("<p>", f"<p>{told}</p>{banner}<img src=flood.jpg alt='The flood'><p>")
    clean = clean_page(parse(html, url="http://a.example/stories/1.html"), "items")
    assert "report on the last flood" in clean.text
    assert "word1x0" in clean.text
    assert "rights" in clean.text
    assert "section" not in clean.text
    assert "flood.jpg" in clean.markdown
    assert "b.gif" not in clean.markdown
    gone = {decision.text: decision.reason for decision in clean.decisions() if not decision.kept}
    assert gone == dict.fromkeys(["section one", "section two"], "noisy item: a nepotistic link or an advertisement")


def test_the_rules_can_be_read():
    for tree in ItemModel.load().trees.values():
        rules = list(tree.rules())
        assert len(rules) == int((tree.trait == -1).sum())
        assert any("is an advertisement" in rule or "is nepotistic" in rule for rule in rules)
        assert any("is no advertisement" in rule or "is editorial" in rule for rule in rules)
        assert all(rule.startswith("If ") for rule in rules)


def test_the_item_model_comes_back_as_it_was():
    model = ItemModel.load()
    assert ItemModel.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    assert model.about["source"] == "items.jsonl"


def test_a_model_without_a_tree_of_a_kind_leaves_that_kind_alone(tmp_path):
    shipped = ItemModel.load()
    only = ItemModel(trees={"image": shipped.trees["image"]}, about={})
    (tmp_path / "own.npz").write_bytes(only.to_bytes())
    own = CleaningSettings(items=ItemSettings(trees=str(tmp_path / "own.npz")))
    assert "section 1" in clean_page(parse(page(1), url="http://a.example/s/1.html"), "items", settings=own).text


@pytest.mark.parametrize("data", [b"", b"PK", b"<html>"])
def test_a_foreign_file_is_no_item_model(data):
    with pytest.raises(ModelError, match="not a webwinnow item model"):
        ItemModel.from_bytes(data)


def test_trees_of_ones_own_may_be_given(tmp_path):
    (tmp_path / "own.npz").write_bytes(ItemModel.load().to_bytes())
    tree = parse(page(1), url="http://a.example/stories/1.html")
    own = CleaningSettings(items=ItemSettings(trees=str(tmp_path / "own.npz")))
    assert clean_page(tree, "items", settings=own).text == clean_page(tree, "items").text
    missing = CleaningSettings(items=ItemSettings(trees=str(tmp_path / "none.npz")))
    with pytest.raises(ModelError, match="no such file; expected a webwinnow item model"):
        clean_page(tree, "items", settings=missing)


def test_a_tree_that_runs_in_a_circle_is_refused():
    model = ItemModel.load()
    tree = model.trees["link"]
    low = tree.low.copy()
    low[int(np.flatnonzero(tree.trait != -1)[-1])] = 0
    circle = type(tree)(**{name: getattr(tree, name) for name in tree.__slots__ if name != "low"} | {"low": low})
    with pytest.raises(ModelError, match="fit together"):
        ItemModel.from_bytes(ItemModel(trees=model.trees | {"link": circle}, about={}).to_bytes())
