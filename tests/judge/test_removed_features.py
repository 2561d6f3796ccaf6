"""Words that a verdict removes from kept runs: the text without them, and what is counted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from webwinnow import CleaningSettings, SettingsError, parse
from webwinnow.cli.app import app
from webwinnow.judge.verdict import keep_visible
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.method_sst import SstSettings
from webwinnow.page._words import word_spans
from webwinnow.page.page import Page
from webwinnow.record.cleaner import CleanPage
from webwinnow.run.settings import RunSettings


def without(html: str, *gone: str) -> CleanPage:
    """A page whose verdict keeps everything but some words."""
    tree = parse(html)
    _, runs, begin, end = word_spans(tree.text, tree.run_start, tree.visible[tree.run_owner])
    removed = np.array([tree.text[a:b].lower() in gone for a, b in zip(begin, end, strict=True)], np.bool_)
    verdict = keep_visible(tree)
    object.__setattr__(verdict, "removed_features", removed)
    assert len(runs) == len(removed)
    return CleanPage(Page(tree), verdict)


@pytest.mark.parametrize(
    ("html", "gone", "left"),
    [
        ("<p>Price list of shop", ("of", "shop"), "Price list"),
        ("<p>Price list (of shop), today", ("of", "shop"), "Price list today"),
        ("<p>by: Jane", ("by",), "Jane"),
        ("<p>rock-n-roll", ("n",), "rock roll"),
        ("<p>one <b>two three</b> four", ("two",), "one three four"),
        ("<p>all of it", (), "all of it"),
    ],
)
def test_removed_words_leave_no_punctuation_and_do_not_join_their_neighbours(html, gone, left):
    assert without(html, *gone).text.strip() == left


def test_characters_of_a_kept_word_stay_where_words_overlap():
    # In Chinese each pair of neighbours is a word: of 北京 and 京城 only the first is removed.
    assert without("<p>\u5317\u4eac\u57ce", "\u5317\u4eac").text.strip() == "\u4eac\u57ce"


def test_a_page_without_some_words_is_still_a_page(assert_consistent):
    clean = without("<body><p>one <b>two three</b> four<p>five of six", "two", "of")
    assert_consistent(clean.kept_tree)
    assert clean.kept_tree.text_end[0] == len(clean.kept_tree.text)
    assert clean.kept_words == 5
    assert clean.all_words == 7


def pages() -> list[str]:
    return [
        f"<body><div class=menu><p><b>home about</b></p></div><div class=list><p><b>offer{c} price shop{c}</b>"
        f"<a href=/{c}>more{c}</a><a href=/all>all</a></p></div>"
        for c in "abcde"
    ]


def test_features_counts_what_a_method_keeps_without_locally_noisy_features(tmp_path):
    crawl, out = tmp_path / "crawl.jsonl", tmp_path / "o.npz"
    lines = [json.dumps({"url": f"http://a.example/{n}", "html": html}) for n, html in enumerate(pages())]
    crawl.write_text("\n".join(lines), encoding="utf-8")

    def vocabulary(*options: str) -> set[str]:
        given = ["features", str(crawl), "-o", str(out), "--weighting", "tfidf", "--all-words", "--jobs", "1", "-q"]
        done = CliRunner().invoke(app, [*given, "--kinds", "words,links", *options])
        assert done.exit_code == 0, done.output
        with np.load(out, allow_pickle=False) as found:
            return set(found["vocabulary"].tolist())

    assert {"home", "price", "offera"} <= vocabulary()
    sst = vocabulary("--method", "sst", "--set", "sst.threshold=0.4")
    assert {"offera", "shopb", "morec"} <= sst
    assert not {"home", "about", "price", "all"} & sst
    assert sum(name.startswith("@") for name in sst) == 5  # each page's own link, not the one that all have
    assert "home" not in vocabulary("--method", "aligned", "--set", "aligned.threshold=0.4")


def test_a_method_needs_a_weighting_that_counts(tmp_path):
    crawl = tmp_path / "page.html"
    crawl.write_text(pages()[0], encoding="utf-8")
    done = CliRunner().invoke(app, ["features", str(crawl), "-o", str(tmp_path / "o.npz"), "--method", "sst"])
    assert done.exit_code != 0


@pytest.mark.parametrize(
    "cleaning", [CleaningSettings(sst=SstSettings(gamma=0.5)), CleaningSettings(cst=CstSettings(overlap=0.5))]
)
def test_settings_that_only_learning_reads_are_refused_with_models(cleaning):
    with pytest.raises(SettingsError, match="read when a site is learned"):
        RunSettings(method="sst", models="models", cleaning=cleaning)
