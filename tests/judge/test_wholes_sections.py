"""Headings, headlines, introductions, code, captions, offers and pictures are decided with what they belong to."""

from __future__ import annotations

import dataclasses

import numpy as np
import plain_sections
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow import extract, learn
from webwinnow.judge.evidence import evidence_of, sections_of, shown_of, spans_of
from webwinnow.judge.pictures import _IS_PICTURE, _WRAPS
from webwinnow.judge.verdict import Reason
from webwinnow.judge.wholes import completed, sectioned, unemptied
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page import _sections
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.page.structures import _OUTLINE_ROLE
from webwinnow.record.cleaner import Cleaner
from webwinnow.site.blocktable import SiteEvidence

PROSE = (
    "The harbour was rebuilt after the storm of that winter, and the town council paid for the work over many years. "
    "Fishermen returned in the spring, and the market opened again with more stalls than before the storm. "
)
TITLE = "Harbour rebuilt after the storm"
PAGE = f"""<html><head><title>{TITLE} | The Daily Planet</title></head><body>
<ul><li><a href=/>Home</a><li><a href=/n>News</a></ul>
<div class=article><h1>{TITLE}</h1>{"<p>" + PROSE + "</p>"}{"{}"}{"<p>" + PROSE + "</p>"}</div></body></html>"""


def rows(page: Page) -> list[str]:
    return [" ".join(page.blocks.text(b).split()) for b in evidence_of(page).said]


def probabilities(body: str, given: dict[str, float], head: str = "", fallback: float = 0.01) -> dict[str, float]:
    """The completed probability of each block, from the given ones."""
    page = Page(parse(f"<head>{head}</head><body>{body}</body>"))
    said = rows(page)
    before = np.array([given.get(text, fallback) for text in said])
    return dict(zip(said, sectioned(page, before).tolist(), strict=True))


def test_heading_is_as_probable_as_the_best_of_what_it_heads():
    found = probabilities(
        "<h2>A</h2><p>one two three</p><p>four five six</p><h2>B</h2><p>seven eight nine</p>",
        {"A": 0.2, "B": 0.9, "one two three": 0.3, "four five six": 0.8, "seven eight nine": 0.1},
    )
    assert (found["A"], found["B"]) == (0.8, 0.1)


def test_heading_over_headings_follows_their_sections():
    found = probabilities(
        "<h2>A</h2><h3>B</h3><p>one two three</p><h3>C</h3><p>four five six</p>",
        {"one two three": 0.3, "four five six": 0.7},
    )
    assert (found["A"], found["B"], found["C"]) == (0.7, 0.3, 0.7)


def test_heading_that_heads_nothing_stays_as_it_is():
    assert probabilities("<div><h3>A</h3></div>", {"A": 0.6})["A"] == 0.6


def test_heading_with_more_words_than_it_heads_is_a_text_of_its_own():
    title = "How to mend a net in an afternoon"
    found = probabilities(f"<h3>{title}</h3><p>May 3</p>", {title: 0.7, "May 3": 0.1})
    assert found[title] == 0.7


def test_list_is_as_probable_as_the_sentence_that_introduces_it_and_the_sentence_as_its_list():
    body = "<p>They include:</p><ul><li>one<li>two</ul><p>They are:</p><ul><li>three<li>four</ul>"
    found = probabilities(body, {"They include:": 0.8, "They are:": 0.2, "four": 0.7})
    assert [found[text] for text in ("one", "two", "They are:", "three", "four")] == [0.8, 0.8, 0.7, 0.2, 0.7]


def test_lines_of_code_share_the_highest_probability():
    found = probabilities("<pre>a<br>b</pre>", {"a": 0.9, "b": 0.1})
    assert found == {"a": 0.9, "b": 0.9}


def test_caption_is_kept_between_kept_texts():
    body = "<p>before it</p><figure><img src=a.jpg><figcaption>a boat</figcaption></figure><p>after it</p>"
    assert probabilities(body, {"before it": 0.9, "after it": 0.8, "a boat": 0.1})["a boat"] == 0.8
    assert probabilities(body, {"before it": 0.9, "after it": 0.1, "a boat": 0.3})["a boat"] == 0.3


def test_headline_is_as_probable_as_the_best_of_the_page_and_what_is_above_goes():
    body = f"<h1>Planet</h1><p>3 May 2020</p><h2>{TITLE}</h2><p>{PROSE}</p>"
    found = probabilities(body, {" ".join(PROSE.split()): 0.9, "Planet": 0.6}, f"<title>{TITLE} - Planet</title>", 0.03)
    assert found[TITLE] == 0.9
    assert found["Planet"] == found["3 May 2020"] == 0.0


def test_text_that_is_removed_for_good_is_not_raised():
    body = "<p>They include:</p><ul><li>one<li>two</ul>"
    found = probabilities(body, {"They include:": 0.8, "one": 0.0})
    assert (found["one"], found["two"]) == (0.0, 0.8)


def test_hidden_text_raises_its_heading_only_if_it_is_kept_itself():
    body = "<h2>A</h2><p hidden>one two three</p>"
    assert probabilities(body, {"A": 0.9, "one two three": 0.4})["A"] == 0.0
    assert probabilities(body, {"A": 0.1, "one two three": 0.6})["A"] == 0.6


def test_price_and_availability_of_the_declared_product_are_content():
    body = (
        f"<h1>Oak chair</h1><div class=price>$1,299.00</div><div class=stock-state>In stock</div><p>{PROSE}</p>"
        "<div>Other chair</div><div class=price>$99.00</div>"
    )
    declared = """<title>Oak chair</title><script type=application/ld+json>
        {"@type": "Product", "name": "Oak chair", "offers": {"@type": "Offer", "price": "1299.00"}}</script>"""
    found = probabilities(body, {" ".join(PROSE.split()): 0.9}, declared)
    assert [found[text] for text in ("Oak chair", "$1,299.00", "In stock", "$99.00")] == [0.9, 0.9, 0.9, 0.01]
    undeclared = probabilities(body, {" ".join(PROSE.split()): 0.9}, "<title>Oak chair</title>")
    assert undeclared["$1,299.00"] == 0.01


def test_page_of_several_products_has_no_price_of_its_own():
    body = f"<h1>Chairs</h1><div>$12</div><p>{PROSE}</p>"
    declared = """<title>Chairs</title><script type=application/ld+json>
        [{"@type": "Product", "offers": {"price": 12}}, {"@type": "Product", "offers": {"price": 13}}]</script>"""
    assert probabilities(body, {" ".join(PROSE.split()): 0.9}, declared)["$12"] == 0.01


# As users run it


@pytest.mark.parametrize("output", ["text", "markdown", "html"])
def test_output_starts_with_the_headline_once(output: str):
    out = extract(PAGE.format(f"<h2>Costs</h2><p>{PROSE}</p>"), output=output)
    shown = out.partition("<body>")[2] if output == "html" else out
    assert shown.count(TITLE) == 1
    assert shown.replace("# ", "").lstrip().split("<h1>")[-1].startswith(TITLE)


def test_section_heading_that_every_page_of_the_site_has_is_kept_with_its_section():
    pages = [
        PAGE.replace(TITLE, f"Harbour number {n}").format(f"<h2>SYNOPSIS</h2><p>{PROSE} It was {n} metres.</p>")
        for n in range(6)
    ]
    model = learn(pages)
    assert all("SYNOPSIS" in model.clean(page).text for page in pages)


def test_reasons_name_the_heading_and_the_whole():
    clean = Cleaner.of("page").clean(parse(PAGE.format("<p>They include:</p><ul><li>nets<li>rope</ul>")))
    found = {d.text: d.reason for d in clean.decisions()}
    assert found[TITLE].startswith("kept")
    assert set(found.values()) <= {reason.text for reason in Reason}


def pictures(inside: str) -> str:
    return extract(PAGE.format(inside), output="markdown", url="https://planet.test/a")


def test_picture_between_kept_paragraphs_is_kept_with_its_alternative_text():
    assert "![boats](https://planet.test/boats.jpg)" in pictures("<img src=boats.jpg alt=boats>")


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=/img/spacer.gif>",
        "<img src=boats.jpg width=16 height=16>",
        "<img src=/static/logo.png alt=Planet>",
        "<img src=x.svg alt='Close Account Menu'>",
        "<a href=/newreply.php?quote=3><img src=q.png alt=''></a>",
        "<button><img src=b.jpg></button>",
        "<a href=https://planet.test/><img src=b.jpg></a>",
        "<img class=avatar src=u1.jpg>",
        "<img src=p.jpg><img src=p.jpg><img src=p.jpg>",
        "<svg></svg>",
    ],
)
def test_decoration_inside_content_is_removed(picture: str):
    assert "![" not in pictures(picture)
    assert "<svg" not in extract(PAGE.format(picture), output="html")


def test_large_picture_with_such_a_name_is_kept():
    assert "![" in pictures("<img src=/static/new-logo.png width=600 height=400>")


def test_picture_of_a_removed_region_is_removed():
    page = PAGE.format("").replace("<body>", "<body><a href=/top><img src=top.jpg></a>")
    page = page.replace("News</a>", "News from all over the world</a>")
    assert "top.jpg" not in extract(page, output="markdown", url="https://planet.test/a")
    before = Cleaner.of("page", CleaningSettings.from_pairs(["page.wholes=false"]))
    assert "top.jpg" in before.clean(parse(page, "https://planet.test/a")).markdown  # nodes around kept text


def test_pictures_have_a_reason():
    tree = parse(PAGE.format("<img src=/img/spacer.gif>"), "https://planet.test/a")
    verdict = Cleaner.of("page").clean(tree).verdict
    node = int(np.flatnonzero(tree.tagged("img"))[0])
    assert Reason(verdict.reason[node]).text.startswith("picture: a logo")


# Site evidence


def test_site_evidence_does_not_empty_what_the_page_model_is_confident_about():
    page = Page(parse(PAGE.format("")))
    size = len(evidence_of(page))
    zeros = np.zeros(size)
    names = [one.name for one in dataclasses.fields(SiteEvidence)]
    asked = SiteEvidence(**dict.fromkeys(names, zeros))
    emptied = np.full(size, 0.01)
    after = unemptied(page, emptied, asked)
    sure = evidence_of(page).probability >= 0.5
    assert sure.any()
    np.testing.assert_array_equal(after[sure], evidence_of(page).probability[sure])
    np.testing.assert_array_equal(after[~sure], emptied[~sure])
    repeated = dataclasses.replace(asked, share=np.ones(size))
    np.testing.assert_array_equal(unemptied(page, emptied, repeated), emptied)


# Laws


BODIES = st.lists(
    st.sampled_from(
        [
            *("<h1>a</h1>", "<h2>b c</h2>", "<h3>d<br>e</h3>", "<p>f g h i j</p>", "<p>k:</p>", "<ul><li>l<li>m</ul>"),
            *("<div>", "</div>", "<pre>n<br>o</pre>", "<figure><img src=x>p</figure>", "<p hidden>q r</p>", "<aside>"),
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(BODIES, st.randoms(use_true_random=False))
def test_kernel_agrees_with_its_plain_version(body, random):
    page = Page(parse(f"<body>{body}"))
    found, count = sections_of(page), len(evidence_of(page))
    before = np.array([random.choice([0.0, random.random()]) for _ in range(count)])
    shown = np.array([random.random() < 0.8 for _ in range(count)], np.bool_)
    columns = found.level, found.heading, found.end, found.code, found.figure
    given_ = (*columns, shown, evidence_of(page).words, before, 0.5)
    np.testing.assert_array_equal(_sections.raised(*given_), plain_sections.raised(*given_))


@settings(max_examples=150, deadline=None)
@given(BODIES, st.randoms(use_true_random=False))
def test_heading_is_kept_exactly_when_something_it_heads_is(body, random):
    page = Page(parse(f"<body>{body}"))
    found, count = sections_of(page), len(evidence_of(page))
    before = np.array([random.random() for _ in range(count)])
    shown = np.ones(count, np.bool_)
    columns = found.level, found.heading, found.end, found.code, found.figure
    after = _sections.raised(*columns, shown, evidence_of(page).words, before, 0.5)
    words = evidence_of(page).words
    for lowest in (0.2, 0.5, 0.8):
        keep = after >= lowest
        for k in np.flatnonzero((found.level > 0) & (found.end > 0)).tolist():
            lines = found.lines(k)
            below = slice(lines.stop, int(found.end[k]))
            text = found.level[below] == 0
            if text.any() and words[lines].sum() <= words[below].sum():
                assert keep[k] == keep[below].any()
            if (found.level[below] == 0).any() and keep[below].any():
                assert keep[k]


@settings(max_examples=100, deadline=None)
@given(BODIES, st.randoms(use_true_random=False))
def test_higher_probabilities_never_keep_less_text(body, random):
    page = Page(parse(f"<title>a</title><body>{body}"))
    count = len(evidence_of(page))
    low = np.array([random.uniform(0.01, 0.9) for _ in range(count)])
    found = sections_of(page)
    columns = found.level, found.heading, found.end, found.code, found.figure
    shown = np.ones(count, np.bool_)
    high = low + 0.05
    assert (
        _sections.raised(*columns, shown, evidence_of(page).words, high, 0.5)
        >= _sections.raised(*columns, shown, evidence_of(page).words, low, 0.5)
    ).all()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.sampled_from("<h2>;<h3 role=heading>;<p role=heading>;<x-y role=heading>;<p role=headina>;é".split(";"))
    )
)
def test_roles_of_the_outline_agree_with_their_plain_version(parts):
    tree = parse("<body>" + "a".join(parts))
    given_ = tree.tag, _OUTLINE_ROLE, tree.attr_node, tree.attr_name, tree.attr_start, tree.attr_text
    fast, slow = (twin.outline_roles(*given_, ATTRIBUTE_CODE["role"], 2) for twin in (_sections, plain_sections))
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


PICTURES = BODIES.map(
    lambda body: body.replace("<p>k:</p>", "<a><span><img src=y></span><svg></svg></a><figure><svg></svg></figure>")
)


@settings(max_examples=100, deadline=None)
@given(PICTURES, st.integers(0, 2**32 - 1))
def test_pictures_beside_kept_text_agree_with_their_plain_version(body, seed):
    page, random = Page(parse(f"<body>{body}")), np.random.default_rng(seed)
    tree, count = page.tree, len(evidence_of(page))
    places = tree.parent, tree.tag, tree.text_start, tree.text_end
    given_ = (
        random.random(len(tree)) < 0.8,
        _IS_PICTURE,
        spans_of(page)[0],
        evidence_of(page).words,
        random.random(count) < 0.5,
    )
    codes = tuple(TAG_CODE[name] for name in ("img", "svg", "figure"))
    fast, slow = (twin.pictures_beside(*places, *given_, 1, codes) for twin in (_sections, plain_sections))
    for one, other in zip(fast, slow, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@settings(max_examples=100, deadline=None)
@given(PICTURES, st.integers(0, 2**32 - 1))
def test_wrappers_of_pictures_agree_with_their_plain_version(body, seed):
    tree, random = parse(f"<body>{body}"), np.random.default_rng(seed)
    places = tree.parent, tree.end, tree.tag, tree.text_start, tree.text_end
    pictures = _IS_PICTURE[np.minimum(tree.tag, CUSTOM_TAG)]
    masks = [pictures & (random.random(len(tree)) < 0.5) for _ in range(2)]
    twins = [[mask.copy() for mask in masks] for _ in range(2)]
    for kernel, (removed, others) in zip((_sections, plain_sections), twins, strict=True):
        kernel.add_wrappers(*places, np.ones(len(tree), np.bool_), _IS_PICTURE, _WRAPS, removed, others)
    np.testing.assert_array_equal(twins[0], twins[1])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("h1 h2 h3 p".split()), st.text("aB1_ é–ß中", max_size=4)), max_size=12),
    st.lists(st.text("ab1", min_size=1, max_size=3), max_size=3),
    st.integers(1, 6),
)
def test_headings_like_a_title_agree_with_their_plain_version(lines, titles, most):
    page = Page(parse("".join(f"<{tag}>x{text}</{tag}><{tag}>{text}</{tag}><p>y</p>" for tag, text in lines)))
    found, shown = sections_of(page), shown_of(page).copy()
    shown[2::5] = False
    openings = "".join(title[:2].ljust(2, "\0") for title in titles).encode()
    given_ = found.level, found.heading, found.end, shown, *spans_of(page), page.tree.text, openings, most
    assert _sections.headings_like(*given_) == plain_sections.headings_like(*given_)


def test_page_without_text_is_completed():
    page = Page(parse("<body></body>"))
    assert len(completed(page, evidence_of(page).probability)) == 0
