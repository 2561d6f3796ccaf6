"""Method `sst` against a transcription of the published algorithm onto Python objects, on random small sites."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import settings as runs
from hypothesis import strategies as st
from published_sst import AmbiguousJoin, PublishedSst, Tag

from webwinnow import CleaningSettings, SiteModel, parse
from webwinnow.methods.method_sst import SstSettings
from webwinnow.page._words import word_spans

TOLERANCE = 1e-8
WORDS = "red green blue menu home about news one two three".split()
CONSTANT = "menu home about news one two three"
texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)


@st.composite
def tags(draw: st.DrawFn, depth: int) -> Tag:
    """A tag node with at most `depth` levels below: often one that other pages have as well."""
    attr = draw(st.sampled_from(["", "a", "b"]))
    if not depth:
        kind = draw(st.sampled_from(["b", "b", "a", "img"]))
        link = "" if kind == "b" else draw(st.sampled_from("xy"))
        return Tag(kind, attr, [] if kind == "img" else [draw(texts)], link)
    if draw(st.integers(0, 3)) == 0:
        return Tag("nav", attr, [Tag("b", "", [CONSTANT])])
    inside: list[str | Tag] = [draw(texts)]
    for _ in range(draw(st.integers(0, 3))):
        inside += [draw(tags(depth=draw(st.integers(0, depth - 1)))), draw(texts)]
    return Tag(draw(st.sampled_from(["div", "section"])), attr, inside)


@st.composite
def sites(draw: st.DrawFn) -> list[Tag]:
    """BODY of some pages: parts of a few kinds, put together anew for each page."""
    parts = draw(st.lists(tags(depth=2), min_size=1, max_size=3))
    pages = []
    for _ in range(draw(st.integers(2, 5))):
        own = [Tag("p", "", [Tag("i", "", [draw(texts)])]), *parts, draw(tags(depth=2))]
        chosen = draw(st.lists(st.sampled_from(own), min_size=1, max_size=3))
        pages.append(Tag("body", draw(st.sampled_from(["", "", "c"])), [*chosen, draw(texts)]))
    return pages


@runs(max_examples=300)
@given(
    sites(),
    st.lists(tags(depth=2), max_size=2),
    st.sampled_from([0.0501, 0.1503, 0.3307, 0.5209, 0.8111]),
    st.sampled_from([(0.85, 0.85, 0.9, 0.01), (0.6, 0.45, 0.7, 0.1)]),
)
def test_sst_keeps_the_words_that_the_published_algorithm_keeps(pages, more, threshold, published):
    gamma, overlap, attenuation, epsilon = published
    try:
        oracle = PublishedSst(pages, gamma=gamma, overlap=overlap, attenuation=attenuation)
    except AmbiguousJoin:
        assume(False)
    oracle.mark(threshold)
    own = SstSettings(
        threshold=threshold, min_pages=1, gamma=gamma, overlap=overlap, attenuation=attenuation, epsilon=epsilon
    )
    settings = CleaningSettings(sst=own)
    model = SiteModel.learn([parse(page.html()) for page in pages], parts=frozenset({"sst"}), settings=settings)
    found = model.noise_map("sst", own.noise).importance.composite[0]
    assert abs(found - oracle.root.importance) < TOLERANCE
    for page in [*pages, Tag("body", pages[0].attr, [*pages[0].inside, *more])]:
        clean = model.clean(page.html(), "sst", settings)
        expected = oracle.content(page, epsilon)
        assert clean.text.split() == expected
        tree = clean.tree
        _, of_run, begin, end = word_spans(tree.text, tree.run_start, tree.visible[tree.run_owner])
        kept = np.flatnonzero(clean.verdict.keeps_words(tree, of_run)).tolist()
        assert [tree.text[begin[k] : end[k]] for k in kept] == expected
