"""`DocView`: a page as one record of eight fields (DocView 2), with language, confidence and the source of each.

The abstract (DocView 6) consists of key sentences, a quota from every paragraph; ours is at most five and a fifth of
the text. `sentencex` (MIT, by the Wikimedia
language team, compiled) splits text into sentences: it knows abbreviations and full stops of some 300 languages. Its
cost grows with the square of a text without blanks, so long texts are passed in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sentencex import segment

from webwinnow.judge.verdict import Reason, Verdict
from webwinnow.lazy import lazy_pattern
from webwinnow.methods import _view
from webwinnow.methods import method_docview as content
from webwinnow.methods.method_docview import TOPIC, FeatureVector, Floats, Mask, TagTree, feature_vector
from webwinnow.methods.viewsettings import DOCVIEW, OURS, ViewSettings, filled
from webwinnow.page._words import word_spans
from webwinnow.page.linktargets import without_sharing
from webwinnow.page.markup import HIDDEN, TAG_CODE
from webwinnow.page.metadata import Metadata
from webwinnow.page.tree import Links, PageTree
from webwinnow.page.words import stop_list_of

LONGEST_PIECE = 1_000
"""Characters passed to sentencex at a time (ours: 1,000 of Chinese without a blank take 0.3 ms, 32,000 take 260)."""
SLOW_LANGUAGES = frozenset(("ca", "da", "jut", "kl", "oc"))
"""Languages for which sentencex compiles a pattern at every full stop: 0.25 ms each, 13 s in 100 KB of `a. b.`."""
MOST_SLOW_ENDS = 2_000
"""Signs of a text that are judged by the rules of a slow language; what follows is split by those of English (ours)."""
LEAST_WORDS, LEAST_UNSPACED = 4, 8
"""Least words of a sentence, or characters in a script without blanks (ours)."""
LEAST_ENDLESS = 20
"""Least letters of a sentence of Thai or Lao, which have no full stop: a blank ends it (ours)."""
_PARAGRAPH_END = "\n\n"
_ENDS = frozenset(".!?…。！？｡．؟۔।॥။።។៕")
_KHMER_STOP = "\u17d4"
_KHMER_END = re.compile(r"(?<=[\u17d4\u17d5])(?!ល\u17d4)\s*(?=[^\s\u17d4\u17d5\"'’”»›)\]])")
"""Where a Khmer sentence ends, which sentencex does not know; `។ល។` is "and so on"."""
_GENITIVE, _HELD = "\u104f", "\ue04f"
"""The Burmese sign of the genitive, which sentencex takes for an end, and a private character in its place."""
_CLOSES = "\"'’”»›)]」』）】"
_UNSPACED = lazy_pattern(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")

_SIGN = re.compile(r"[^\w\s,]")
_ENDLESS = re.compile(r"[\u0e01-\u0e2e\u0e40-\u0e44\u0e81-\u0eae\u0ec0-\u0ec4]")


def sentences(paragraphs: Sequence[str], language: str = "en") -> list[tuple[int, str]]:
    """The sentences of some paragraphs in order, each with the number of its paragraph; white space is folded.

    No text is lost. All paragraphs are passed in one call, which costs more than a short paragraph. A single capital
    and a full stop (`M. Dupont`) do not end a sentence.
    """
    return _folded_sentences([" ".join(paragraph.split()) for paragraph in paragraphs], language)


def _folded_sentences(paragraphs: Sequence[str], language: str) -> list[tuple[int, str]]:
    number: list[int] = []
    pieces: list[str] = []
    for k, text in enumerate(paragraphs):
        for piece in (text,) if len(text) <= LONGEST_PIECE else _pieces(text):
            if piece:
                number.append(k)
                pieces.append(piece)
    if not pieces:
        return []
    whole = _PARAGRAPH_END.join(pieces)
    is_held = _GENITIVE in whole and _HELD not in whole
    if is_held:
        pieces = [piece.replace(_GENITIVE, _HELD) for piece in pieces]
    slow = _slow_pieces(pieces) if language in SLOW_LANGUAGES else len(pieces)
    found: list[tuple[int, str]] = []
    for spoken, part in ((language, slice(slow)), ("en", slice(slow, None))):
        if pieces[part]:
            text = _PARAGRAPH_END.join(pieces[part])
            found += _view.ended_sentences(segment(spoken, text), number[part], _PARAGRAPH_END)
    if is_held:
        found = [(k, sentence.replace(_HELD, _GENITIVE)) for k, sentence in found]
    if _KHMER_STOP in whole:
        found = [(k, part) for k, sentence in found for part in _KHMER_END.split(sentence)]
    if whole.isascii() or not any(not piece.isascii() and _ENDLESS.search(piece) for piece in pieces):
        return found
    return [(k, part) for k, sentence in found for part in _endless_sentences(sentence)]


def _slow_pieces(pieces: list[str]) -> int:
    """How many of some pieces of text are split by the rules of a slow language."""
    signs = accumulate(len(_SIGN.findall(piece)) for piece in pieces)
    return next((k for k, count in enumerate(signs) if count > MOST_SLOW_ENDS), len(pieces))


def _endless_sentences(text: str) -> list[str]:
    """A text of a script without full stops, split at blanks into parts of some length; other texts as they are."""
    parts: list[str] = []
    long_before = False
    for piece in text.split(" ") if _ENDLESS.search(text) else (text,):
        is_long = len(_ENDLESS.findall(piece)) >= LEAST_ENDLESS
        if parts and not (is_long and long_before):
            parts[-1] += f" {piece}"
        else:
            parts.append(piece)
        long_before = long_before or is_long
    return parts


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of bounded length, cut at a blank where there is one."""
    while len(text) > LONGEST_PIECE:
        at = text.rfind(". ", LONGEST_PIECE // 2, LONGEST_PIECE) + 1 or text.rfind(" ", 0, LONGEST_PIECE) + 1
        at = at or text.rfind("。", 0, LONGEST_PIECE) + 1 or LONGEST_PIECE
        yield text[:at]
        text = text[at:]
    yield text


def is_sentence(text: str) -> bool:
    """Whether a text ends like a sentence and is longer than a word or label."""
    last = text[-1:]
    if last >= "\u0e01" and last <= "\u0edf" and len(_ENDLESS.findall(text)) >= LEAST_ENDLESS:
        return True
    if last not in _ENDS and (last not in _CLOSES or text.rstrip(_CLOSES)[-1:] not in _ENDS):
        return False
    if text.count(" ") + 1 >= LEAST_WORDS:
        return True
    return not text.isascii() and len(_UNSPACED.findall(text)) >= LEAST_UNSPACED


UNITS_PER_SENTENCE = 2
"""Units of text (paragraphs, items) that are searched for each sentence of the abstract at least."""
LIKELY, LIKELY_SHARE = 0.7, 0.1
"""Text that is content with this probability gives the abstract, if it has this share of the kept words. On two folds
of `benchmarks/docview.py --held-out`, 0.5 with 0.3 put 0.922 of the sentences into the true text, 0.7 with 0.15 and
0.05 0.932 and 0.936, 0.9 no more than that."""
MOST_CHARACTERS = 200_000
"""Characters of a page that are searched for sentences (ours)."""


@dataclass(frozen=True, slots=True, eq=False)
class KeySentences:
    """The sentences of a page's topic content in page order: text, weight, paragraph; and each paragraph's terms."""

    texts: list[str]
    weight: Floats
    paragraph: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        blocks: TagTree,
        kept: Mask,
        keyword: NDArray[np.uint64],
        keyword_weight: Floats,
        language: str,
        probability: NDArray[np.float32] | None = None,
        units: int | None = None,
    ) -> KeySentences:
        """Find and weigh the sentences of the kept runs: a sentence weighs as much as the keywords in it.

        `keyword` is ascending; `units` is the number of units of text that are searched, those with most keywords (by
        default all with a keyword).
        `probability`, where a cleaner knows it, is that of each node to be content: improbable text is left out unless
        it is nearly all, and probable sentences are preferred (ours).
        """
        tree = blocks.tree
        if probability is not None:
            kept = _view.likely_runs(kept, probability, tree.run_owner, blocks.word_run, LIKELY, LIKELY_SHARE)
        unit = _view.text_units(tree.tag, TAG_CODE["br"], blocks.node, tree.run_before, blocks.of_run)
        searched = _view.keyword_units(unit, kept, blocks.word_run, blocks.word_key, keyword, units or len(unit))
        texts, runs = _sentences_in(tree, unit, searched, language)
        if not texts:
            texts, runs = _sentences_in(tree, unit, np.flatnonzero(kept), language, lines=True)
        if not texts:
            return cls([], np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        paragraph, sizes = _view.paragraph_sizes(
            blocks.block_of_word, blocks.word_run, kept, blocks.parent, blocks.of_run[runs]
        )
        starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
        key, sentence, _, _ = word_spans("".join(texts), starts, np.ones(len(texts), np.bool_))
        weight = _view.keyword_sums(key, sentence, len(texts), keyword, keyword_weight)
        if probability is not None:
            weight = weight * probability[tree.run_owner[runs]]
        return cls(texts, weight.round(9), paragraph, sizes)

    def chosen(self, most: int, room: float = inf) -> list[str]:
        """The heaviest sentences of each paragraph by its quota, in page order: `most`, or fewer that have room.

        `room` is in characters. Where one sentence has too many, it is the heaviest that fits, or else the heaviest.
        """
        found = _view.by_quota(self.weight, self.paragraph, self.sizes, most)
        while len(found) > 1 and sum(len(self.texts[k]) for k in found) > room:
            found = _view.by_quota(self.weight, self.paragraph, self.sizes, len(found) - 1)
        if len(found) == 1 and len(self.texts[found[0]]) > room:
            fitting = [k for k, text in enumerate(self.texts) if len(text) <= room]
            found = [max(fitting, key=self.weight.__getitem__)] if fitting else found
        return [self.texts[k] for k in found]


def _sentences_in(
    tree: PageTree, unit: NDArray[np.int64], runs: NDArray[np.intp], language: str, *, lines: bool = False
) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct sentences of some runs, and the first run of the unit of text that each is in.

    Headings, labels and the like are left out unless `lines` is true.
    """
    said, first = _view.folded_units(tree.text, tree.run_start, unit, runs)
    if first and len(tree.text) > MOST_CHARACTERS:
        lengths = np.add.reduceat(tree.run_start[runs + 1] - tree.run_start[runs], first)
        said = said[: int(np.searchsorted(np.cumsum(lengths), MOST_CHARACTERS, side="right"))] or [
            said[0][:MOST_CHARACTERS]
        ]
    found = _view.distinct_sentences(_folded_sentences(said, language), is_sentence, LEAST_WORDS, lines)
    return list(found), runs[np.array(first, np.intp)[list(found.values())]]


# The view

LEAST_TERMS = 30
"""Where a cleaner keeps fewer terms, the type is derived from the page's structure instead (ours)."""
THREAD = "forum"
"""The genre whose pages are threads of posts."""
SHORTEST_KEYWORD = 2
_SPARE = 20
"""Features examined beyond those wanted: some are numbers and no keywords."""


class Categories(Protocol):
    """A model of content categories (`webwinnow.classify.category`)."""

    def check_method(self, method: str) -> None:
        """Raise `SettingsError` if its training pages were cleaned by another method."""

    def category_of(self, page: FeatureVector) -> str | None:
        """The category of a page; None if none is likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The source of each field of a view.

    `method` cleaned the page; the `type` is that of its `kept text` or its `central area`; the `title` is the `page`'s
    or made of `keywords`; the `language` is declared by the `page` or found in the `text`; `note` is a remark on
    cleaning.
    """

    method: str
    type: str
    title: str | None
    language: str | None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocView:
    """A page's record: identifier (its URL), type, category, title, keywords, abstract, content, relevant links.

    The abstract has one sentence per line; `summary` is a short one for display. `relevant_links` are the paper's: the
    links of the link blocks that are similar to the topic of a topic page. `links` are these and those in the content,
    in page order, without those that share the page. `type` is None for an empty page, `category` without a model of
    categories, `confidence` where the cleaning method has none.
    """

    identifier: str
    type: str | None
    category: str | None
    title: str | None
    keywords: tuple[str, ...]
    abstract: str
    content: str
    links: tuple[str, ...]
    relevant_links: tuple[str, ...]
    summary: str
    language: str | None
    confidence: float | None
    provenance: Provenance


def view_of(
    tree: PageTree,
    verdict: Verdict,
    about: Metadata,
    text: str,
    language: str | None,
    settings: ViewSettings | None = None,
    categories: Categories | None = None,
) -> DocView:
    """The view of a cleaned page; `text` is its kept text, `about` its metadata."""
    settings = filled(settings or ViewSettings(), verdict.method)
    blocks, kept, kept_words = _kept_blocks(tree, verdict, settings)
    kind, type_source = _type_of(blocks, kept_words, verdict, settings)
    spoken = language or "en"
    topic = feature_vector(blocks, kept_words, spoken, settings)
    most = max(settings.keywords, settings.sentence_keywords)
    spans = blocks.word_start, blocks.word_end
    ranked = _view.heaviest(tree.text, topic.weight, topic.first, *spans, SHORTEST_KEYWORD, most + _SPARE, most)
    first = topic.first[ranked[: settings.keywords]]
    bounds = zip(blocks.word_start[first].tolist(), blocks.word_end[first].tolist(), strict=True)
    keywords = tuple(tree.text[start:end].lower() for start, end in bounds)
    theta = np.sort(ranked[: settings.sentence_keywords])
    probability = None if verdict.confidence is None else verdict.score
    units = None if settings.searched == inf else max(int(settings.searched), UNITS_PER_SENTENCE * settings.sentences)
    found = KeySentences.of(blocks, kept, topic.key[theta], topic.weight[theta], spoken, probability, units)
    room = settings.abstract_share * len(text) if settings.abstract_share < 1 else inf
    abstract = found.chosen(settings.sentences, room)
    title = about.title or " ".join(keywords[: settings.title_keywords]) or None
    relevant = relevant_nodes(blocks, verdict, kept, topic, spoken, settings) if kind == TOPIC else None
    links = tree.links(verdict.keep if relevant is None else verdict.keep | relevant)
    return DocView(
        identifier=tree.url,
        type=None if kind is None else content.TYPES[kind],
        category=None if categories is None else categories.category_of(topic),
        title=title,
        keywords=keywords,
        abstract="\n".join(abstract),
        content=text,
        links=_targets(links),
        relevant_links=() if relevant is None else _targets(links.among(relevant)),
        summary=" ".join(
            found.chosen(min(settings.summary_sentences, len(abstract) or settings.summary_sentences), room)
        ),
        language=language,
        confidence=verdict.confidence,
        provenance=Provenance(
            method=verdict.method,
            type=type_source,
            title=None if title is None else "page" if about.title else "keywords",
            language=None if language is None else "page" if about.language else "text",
            note=verdict.note,
        ),
    )


def _targets(links: Links) -> tuple[str, ...]:
    """The URLs that some links point at, without those that share the page."""
    return tuple(without_sharing(links.tree.url, links.urls()))


def features_of(
    tree: PageTree, verdict: Verdict, language: str | None, settings: ViewSettings | None = None
) -> FeatureVector:
    """The weighted features of what a page keeps, from which `view_of` has its keywords and its category."""
    settings = filled(settings or ViewSettings(), verdict.method)
    blocks, _, kept_words = _kept_blocks(tree, verdict, settings)
    return feature_vector(blocks, kept_words, language or "en", settings)


def _kept_blocks(tree: PageTree, verdict: Verdict, settings: ViewSettings) -> tuple[TagTree, Mask, Mask]:
    """The content blocks of a page, its kept runs and its kept words."""
    kept, shown = _view.kept_and_shown(verdict.keep_runs, verdict.keep, tree.run_owner, tree.flags, HIDDEN)
    blocks = TagTree.of(tree, shown, settings)
    return blocks, kept, kept[blocks.word_run]


def _type_of(blocks: TagTree, kept: Mask, verdict: Verdict, settings: ViewSettings) -> tuple[int | None, str]:
    """The type of a page and where it is from.

    What a cleaner keeps is the central area, and it knows that area better than the page's structure does; for method
    `docview` and pages of which little is kept the structure decides, as in the paper.
    """
    terms, images = int(np.count_nonzero(kept)), int(blocks.images.sum())
    if not len(kept) and not images:
        return None, "central area"
    thread = verdict.genre == THREAD
    by_structure = verdict.method == DOCVIEW or terms < LEAST_TERMS
    if not by_structure and not content.may_be_images(images, terms, settings):
        return content.page_type(blocks, kept, 0, settings, thread=thread), "kept text"
    central = content.central_blocks(blocks)
    images = int(blocks.images[central].sum())
    if by_structure:
        words = central[blocks.block_of_word]
        return content.page_type(blocks, words, images, settings, thread=thread), "central area"
    return content.page_type(blocks, kept, images, settings, thread=thread), "kept text"


def relevant_nodes(
    blocks: TagTree, verdict: Verdict, kept: Mask, topic: FeatureVector, language: str, settings: ViewSettings
) -> Mask | None:
    """The nodes of the relevant link blocks that are not kept; None where there is none.

    By our own settings what the site repeats is never offered, nor are menus, headers and footers: they may well use
    the topic's words.
    """
    menus = settings.menus
    guiding = np.zeros(len(blocks.tree), np.bool_) if menus else content.guiding_nodes(blocks.tree)
    reason = np.zeros_like(verdict.run_reason) if menus else verdict.run_reason
    offered = _view.offered_blocks(guiding, blocks.node, kept, reason, Reason.REPEATED, blocks.of_run)
    relevant = relevant_blocks(blocks, topic, offered, language, settings)
    return relevant[blocks.of_node] if relevant.any() else None


def relevant_blocks(
    blocks: TagTree, topic: FeatureVector, offered: Mask, language: str, settings: ViewSettings = OURS
) -> Mask:
    """The hub leaves whose terms are similar to the topic (DocView 6): their cosine (equation 3) exceeds beta.

    Only `offered` blocks are examined. The paper takes links that belong together to be in one block; where each is in
    an item of its own, which is a block today, the items of one parent are judged together (setting `grouped`).
    """
    words = blocks.block_of_word, blocks.word_key, topic.key, topic.weight
    stops, beta = stop_list_of(settings.stop_words).keys(language), settings.similarity
    return _view.similar_blocks(blocks.parent, blocks.type, content.HUB, offered, *words, stops, beta, settings.grouped)
