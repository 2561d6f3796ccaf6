"""`combined`: page and site evidence in one probability; with one page the page model alone."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import webwinnow
from webwinnow import ModelError, PageRecord, SiteModel, clean_page, parse
from webwinnow.judge.combined import believed_records, joined, record_share
from webwinnow.judge.evidence import PageEvidence
from webwinnow.judge.page import PageSettings
from webwinnow.judge.reading import GENRES
from webwinnow.methods.registry import CleaningSettings
from webwinnow.site.blocktable import SiteEvidence
from webwinnow.site.sums import BLOCKS, SiteSums

WORDS = "harvest wind miller stone river bread grain field winter sheaf barn straw wheel flour sack".split()


def story(n: int) -> str:
    chance = np.random.default_rng(n)
    sentences = [" ".join(chance.choice(WORDS, 14)).capitalize() + "." for _ in range(8)]
    return "".join(f"<p>{' '.join(sentences[k : k + 2])}</p>" for k in range(0, 8, 2))


def page(n: int) -> PageRecord:
    menu = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("News", "Sport", "Weather", "Contact"))
    promise = "<p>Subscribe to our paper today and read about the harvest, the mill and the weather every morning.</p>"
    html = (
        f"<body><nav><ul>{menu}</ul></nav><article><h1>Story {n} of the mill</h1>{story(n)}</article>"
        f"<div class=promise>{promise}</div><footer><p>All rights reserved by the mill</p></footer>"
    )
    return PageRecord(url=f"http://mill.example/{n}", body=html.encode(), ordinal=n)


PAGES = [page(n) for n in range(12)]
SITE = webwinnow.learn(PAGES, "mill.example")


def test_repeated_blocks_are_removed_and_the_story_is_kept():
    text = SITE.clean(PAGES[3]).text
    assert "Story 3 of the mill" in text
    assert "harvest" in text.lower()
    assert "Subscribe to our paper" not in text
    assert "All rights reserved" not in text


def test_a_page_that_was_not_learned_is_cleaned_with_its_site():
    text = SITE.clean(page(99)).text
    assert "Story 99 of the mill" in text
    assert "Subscribe to our paper" not in text


def test_the_reason_of_repeated_blocks_names_the_repetition():
    reasons = {decision.text: decision.reason for decision in SITE.clean(PAGES[3]).decisions()}
    assert reasons["All rights reserved by the mill"].startswith("repeated")


@pytest.mark.parametrize("model", [None, webwinnow.learn(PAGES[:1])])
def test_one_page_is_cleaned_as_the_page_alone_and_says_so(model):
    tree = parse(PAGES[0].body, url=PAGES[0].url)
    both, alone = clean_page(tree, "combined", model), clean_page(tree, "page")
    assert both.text == alone.text
    assert both.verdict.confidence == alone.verdict.confidence
    assert both.verdict.note is not None


def test_verdict_has_genre_and_confidence():
    record = SITE.clean(PAGES[3]).record()
    assert record["method"] == "combined"
    assert record["genre"] in GENRES
    assert 0.0 <= record["confidence"] <= 1.0


def test_favor_leans_the_cut():
    kept = [
        SITE.clean(PAGES[3], settings=CleaningSettings(page=PageSettings(favor=favor))).kept_words
        for favor in ("precision", None, "recall")
    ]
    assert kept == sorted(kept)


def test_evidence_comes_back_as_it_was():
    evidence = PageEvidence.of(parse(PAGES[0].body))
    again = PageEvidence.from_bytes(evidence.to_bytes())
    for name in ("said", "words", "text", "path", "probability", "genre_probability"):
        np.testing.assert_array_equal(getattr(again, name), getattr(evidence, name))


@pytest.mark.parametrize("data", [b"", b"\x01", b"\xff" * 60])
def test_what_is_no_evidence_is_refused(data):
    with pytest.raises(ValueError, match="no evidence"):
        PageEvidence.from_bytes(data)


def test_learning_from_evidence_is_learning_from_trees():
    by_tree, by_evidence = SiteSums("x", frozenset({BLOCKS})), SiteSums("x", frozenset({BLOCKS}))
    for record in PAGES:
        tree = parse(record.body)
        by_tree.add(tree)
        by_evidence.add_evidence(by_tree.keys[-1], PageEvidence.of(tree))
    assert by_tree.to_bytes() == by_evidence.to_bytes()
    assert SiteModel.of(by_tree).to_bytes() == SiteModel.of(by_evidence).to_bytes()


def test_the_page_itself_is_left_out_of_what_the_site_shows():
    tree = parse(PAGES[0].body)
    evidence = PageEvidence.of(tree)
    table = SITE.block_table
    learned = table.ask(evidence, learned=True)
    others = webwinnow.learn(PAGES[1:]).block_table.ask(evidence, learned=False)
    np.testing.assert_allclose(learned.share, others.share)
    np.testing.assert_allclose(learned.mean, others.mean, rtol=1e-6, atol=1e-6)


def test_the_weight_of_the_whole_site_grows_with_its_pages():
    evidence = PageEvidence.of(parse(PAGES[0].body))
    table = SITE.block_table
    asked = table.ask(evidence, learned=True)
    records = np.zeros(len(table.whole))
    records[GENRES.index("product")] = 1.0
    assert record_share(records) > 0.99
    few, many = (joined(evidence, replace(asked, records=believed_records(records, pages))) for pages in (2, 500))
    unsaid = asked.share == 0
    assert (many[unsaid] > 0.9).all()
    assert (many[asked.share >= 0.5] < 0.1).all()
    for found in (few, many):
        assert ((found >= 0) & (found <= 1)).all()


def test_prose_makes_a_written_site_and_labelled_values_one_of_records():
    article, product = (GENRES.index(genre) for genre in ("article", "product"))
    news, goods = np.zeros(10), np.zeros(10)
    news[article], news[-3:] = 1.0, (600.0, 1.0, 9)
    goods[product], goods[-3:] = 1.0, (60.0, 8.0, 9)
    assert record_share(news) < 0.01
    assert record_share(goods) > 0.99


def test_a_model_without_blocks_says_so():
    model = webwinnow.learn(PAGES, parts=frozenset({"texts"}))
    with pytest.raises(ModelError, match="no table of blocks"):
        model.clean(PAGES[0])


def test_an_empty_page_and_a_page_of_one_word_are_no_trouble():
    for html in ("", "<p>x", "<p hidden>x"):
        assert isinstance(SITE.clean(html).text, str)


def paragraphs(n: int) -> list[str]:
    return [part.removesuffix("</p>") for part in story(n).split("<p>")[1:]]


def copied(n: int) -> PageRecord:
    """The same story under another URL, with another date and a box of its own."""
    body = page(n).body.replace(b"</h1>", b"</h1><p class=date>Printed on Monday</p>")
    body = body.replace(b"<footer>", b"<aside><p>Most read this week: the wheel and the barn</p></aside><footer>")
    return PageRecord(url=f"http://mill.example/print/{n}", body=body, ordinal=100 + n)


@pytest.mark.parametrize("others", [0, 1, 8])
def test_an_article_that_is_published_twice_is_no_template(others):
    both = [PAGES[3], copied(3)]
    site = webwinnow.learn([*both, *(PAGES[4 : 4 + others])])
    assert site.block_table.pages == 1 + others
    for record in both:
        text = site.clean(record).text
        assert all(paragraph in text for paragraph in paragraphs(3))


@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("words", [8, 14, 20])
def test_an_article_of_short_paragraphs_that_is_published_twice_is_no_template(words, others):
    def article(seed):
        said = paragraphs(seed)[0].split()
        texts = [" ".join((said * 4)[k * 3 : k * 3 + words]) + f" {seed} {k}." for k in range(10)]
        menu = "<div><a href=/>Home</a> <a href=/n>News</a> <a href=/s>Sport</a></div>"
        return f"<title>Story {seed}</title>{menu}<h1>Story {seed}</h1>" + "".join(
            f"<p>{text}</p>" for text in texts
        ), texts

    stories = [article(3), article(3), *(article(4 + k) for k in range(others))]
    site = webwinnow.learn([html for html, _ in stories[1:]] + [stories[0][0].replace("</h1>", " again</h1>")])
    for html, texts in stories:
        text = site.clean(html).text
        assert all(paragraph in text for paragraph in texts)


def test_pages_that_share_one_paragraph_are_no_copies_and_keep_it():
    """A paragraph that the page model is sure of, in a place where other text differs from page to page."""
    background = b"<p>" + paragraphs(50)[0].encode() + b"</p></article>"
    both = [replace(PAGES[k], body=PAGES[k].body.replace(b"</article>", background)) for k in (3, 4)]
    site = webwinnow.learn([*both, *PAGES[5:11]])
    assert site.block_table.pages == 8
    for record in both:
        assert paragraphs(50)[0] in site.clean(record).text


def test_two_pages_are_a_site():
    both = [PAGES[3], PAGES[4]]
    site = webwinnow.learn(both)
    for n, record in zip((3, 4), both, strict=True):
        text = site.clean(record).text
        assert all(paragraph in text for paragraph in paragraphs(n))
        assert "All rights reserved" not in text


def evidence_and_site(probability: float, **known: float) -> tuple[PageEvidence, SiteEvidence]:
    """One block with a probability by the page alone, and what the site shows about it."""
    evidence = PageEvidence.of(parse("<p>some words of a page"))
    names = [one.name for one in fields(SiteEvidence) if one.name != "records"]
    asked = SiteEvidence(**{name: np.array([known.get(name, 0.0)]) for name in names})
    return replace(evidence, probability=np.array([probability])), asked


def test_the_mean_of_a_place_moves_what_the_page_model_is_unsure_of_and_not_what_it_is_sure_of():
    sure, unsure = (joined(*evidence_and_site(p, known=1.0, mean=-6.0))[0] for p in (0.99, 0.5))
    assert sure > 0.9
    assert unsure == pytest.approx(1 / (1 + np.exp(6.0)), abs=1e-6)


def test_a_repeated_text_counts_by_how_certain_it_is_the_sites():
    by_chance, of_the_site = (joined(*evidence_and_site(0.5, share=1.0, certain=c))[0] for c in (0.25, 1.0))
    assert by_chance == pytest.approx(1 / (1 + np.exp(1.0)), abs=1e-6)
    assert of_the_site == pytest.approx(1 / (1 + np.exp(4.0)), abs=1e-6)


def test_a_text_that_the_page_model_is_confident_of_goes_only_if_many_pages_have_it():
    known = {"share": 1.0, "certain": 1.0}
    few, many = (joined(*evidence_and_site(0.9, supported=s, **known))[0] for s in (0.25, 1.0))
    assert few > 0.6 and many < 0.2
    assert few == pytest.approx(9 / (9 + np.exp(4.0 * (1 - 0.75 * 0.8))), abs=1e-6)
    assert many == pytest.approx(9 / (9 + np.exp(4.0)), abs=1e-6)


def test_a_label_is_evidence_on_sites_and_pages_of_records_only():
    evidence, asked = evidence_and_site(0.2, labelled=1.0, field=1.0)
    article, product = (
        replace(evidence, genre_probability=(np.array(GENRES) == genre).astype(float))
        for genre in ("article", "product")
    )
    assert joined(article, asked)[0] == pytest.approx(0.2, abs=1e-6)
    assert joined(product, asked)[0] == pytest.approx(1 / (1 + 4 * np.exp(-2.5)), abs=1e-6)
    assert joined(article, replace(asked, records=1.0))[0] > 0.9
