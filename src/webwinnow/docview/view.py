"""`DocView`: a page as one record of eight fields (DocView 2), with language, confidence and where each came from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sentencex import segment

from webwinnow._words import word_spans
from webwinnow.cleaning.verdict import REPEATED_REASON, Verdict
from webwinnow.docview._view import (
    by_quota,
    distinct_sentences,
    ended_sentences,
    folded_units,
    heaviest,
    kept_and_shown,
    keyword_sums,
    keyword_units,
    likely_runs,
    of_words,
    offered_blocks,
    paragraph_sizes,
    similar_blocks,
    text_units,
)
from webwinnow.docview.category import CategoryModel
from webwinnow.docview.contentblocks import (
    HUB,
    METHOD,
    TOPIC,
    TYPES,
    FeatureVector,
    TagTree,
    WeightSettings,
    central_blocks,
    feature_vector,
    guiding_nodes,
    may_be_images,
    page_type,
    stop_keys,
)
from webwinnow.errors import SettingsError
from webwinnow.markup import HIDDEN, TAG_CODE
from webwinnow.pagemeta import Metadata
from webwinnow.pagetree import PageTree

LONGEST_PIECE = 1_000
"""Characters handed over at a time (ours: 1,000 of Chinese without a blank take 0.3 ms, 32,000 would take 260)."""
LEAST_WORDS, LEAST_UNSPACED = 4, 8
"""Words, or characters of a script without blanks, that a sentence has at least (ours)."""

_PARTED = "\n\n"
"""What parts paragraphs; it comes back as it is."""
_ENDS = frozenset(".!?…。！？｡．؟۔।॥။።៕")
_CLOSES = "\"'’”»›)]」』）】"
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def sentences(paragraphs: Sequence[str], language: str = "en") -> list[tuple[int, str]]:
    """The sentences of some paragraphs in order, each with the number of its paragraph; white space is folded.

    Nothing is lost between them. All are handed over at once: a call costs more than a short paragraph. A single
    capital and a full stop (`M. Dupont`) end no sentence.
    """
    return folded_sentences([" ".join(paragraph.split()) for paragraph in paragraphs], language)


def folded_sentences(paragraphs: Sequence[str], language: str) -> list[tuple[int, str]]:
    """As `sentences`, of paragraphs whose white space is folded."""
    number: list[int] = []
    pieces: list[str] = []
    for k, text in enumerate(paragraphs):
        for piece in (text,) if len(text) <= LONGEST_PIECE else _pieces(text):
            if piece:
                number.append(k)
                pieces.append(piece)
    return ended_sentences(segment(language, _PARTED.join(pieces)), number, _PARTED) if pieces else []


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of bounded length, cut at a blank where there is one."""
    while len(text) > LONGEST_PIECE:
        at = text.rfind(". ", LONGEST_PIECE // 2, LONGEST_PIECE) + 1 or text.rfind(" ", 0, LONGEST_PIECE) + 1
        at = at or text.rfind("。", 0, LONGEST_PIECE) + 1 or LONGEST_PIECE
        yield text[:at]
        text = text[at:]
    yield text


def is_sentence(text: str) -> bool:
    """Whether a text reads like one: it ends like a sentence and is no mere word or label."""
    last = text[-1:]
    if last not in _ENDS and (last not in _CLOSES or text.rstrip(_CLOSES)[-1:] not in _ENDS):
        return False
    if text.count(" ") + 1 >= LEAST_WORDS:
        return True
    return not text.isascii() and len(_UNSPACED.findall(text)) >= LEAST_UNSPACED


UNITS_PER_SENTENCE = 2
MOST_UNITS = 30
"""Units of text (paragraphs, items) in which key sentences are looked for: two for each of 15 sentences (ours)."""
LIKELY, LIKELY_SHARE = 0.7, 0.1
"""Text that is content with this probability gives the abstract, if it has this share of the kept words. On two folds
of `benchmarks/docview.py --held-out`, 0.5 with 0.3 put 0.922 of the sentences into the true text, 0.7 with 0.15 and
0.05 0.932 and 0.936, 0.9 no more than that."""
MOST_CHARACTERS = 200_000
"""Of a longer page only so much is looked at for sentences (ours)."""


@dataclass(frozen=True, slots=True, eq=False)
class KeySentences:
    """The sentences of a page's topic content in page order: text, weight, paragraph; and each paragraph's terms."""

    texts: list[str]
    weight: NDArray[np.float64]
    paragraph: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        blocks: TagTree,
        kept: NDArray[np.bool_],
        keyword: NDArray[np.uint64],
        keyword_weight: NDArray[np.float64],
        language: str,
        likely: NDArray[np.float32] | None = None,
        units: int = MOST_UNITS,
    ) -> KeySentences:
        """Find and weigh the sentences of the kept runs: a sentence weighs what the keywords in it do.

        `keyword` is ascending; sentences are looked for in so many `units` of text, those that hold most of them.
        `likely`, where a cleaner knows it, is the chance of each node to be content: unlikely text is left out unless
        it is nearly all, and of two sentences the likelier one is taken first (ours).
        """
        tree = blocks.tree
        if likely is not None:
            kept = likely_runs(kept, likely, tree.run_owner, blocks.word_run, LIKELY, LIKELY_SHARE)
        unit = text_units(tree.tag, TAG_CODE["br"], blocks.node, tree.run_before, blocks.of_run)
        telling = keyword_units(unit, kept, blocks.word_run, blocks.word_key, keyword, units)
        texts, runs = _sentences_in(tree, unit, telling, language)
        if not texts:
            texts, runs = _sentences_in(tree, unit, np.flatnonzero(kept), language, lines=True)
        if not texts:
            return cls([], np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        paragraph, sizes = paragraph_sizes(
            blocks.block_of_word, blocks.word_run, kept, blocks.parent, blocks.of_run[runs]
        )
        weight = _weights(texts, keyword, keyword_weight)
        if likely is not None:
            weight = weight * likely[tree.run_owner[runs]]
        return cls(texts, np.round(weight, 9), paragraph, sizes)

    def chosen(self, most: int) -> list[str]:
        """The heaviest sentences of each paragraph by its quota, `most` in all, in page order."""
        return [self.texts[k] for k in by_quota(self.weight, self.paragraph, self.sizes, most)]


def _sentences_in(
    tree: PageTree, unit: NDArray[np.int64], runs: NDArray[np.intp], language: str, *, lines: bool = False
) -> tuple[list[str], NDArray[np.int64]]:
    """The sentences of some runs, each once, and the first run of the unit of text that each stands in.

    Headings, labels and the like are none; with `lines` they count too.
    """
    said, first = folded_units(tree.text, tree.run_start, unit, runs)
    if first and len(tree.text) > MOST_CHARACTERS:
        lengths = np.add.reduceat(tree.run_start[runs + 1] - tree.run_start[runs], first)
        said = said[: int(np.searchsorted(np.cumsum(lengths), MOST_CHARACTERS, side="right")) or 1]
    found = distinct_sentences(folded_sentences(said, language), is_sentence, LEAST_WORDS, lines)
    return list(found), runs[np.array(first, np.intp)[list(found.values())]]


def _weights(texts: list[str], keyword: NDArray[np.uint64], keyword_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the weights of the keywords in each text, each counted once."""
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
    key, sentence, _, _ = word_spans("".join(texts), starts, np.ones(len(texts), np.bool_))
    return keyword_sums(key, sentence, len(texts), keyword, keyword_weight)


def relevant_blocks(
    blocks: TagTree, topic: FeatureVector, offered: NDArray[np.bool_], language: str, beta: float
) -> NDArray[np.bool_]:
    """The hub leaves whose terms are like the topic: their cosine with it (equation 3) exceeds beta.

    Only blocks that are `offered` are asked. Links that belong together are listed in one block; where each stands in
    an item of its own, a block of today, the items of one parent are judged together.
    """
    return similar_blocks(
        blocks.parent,
        blocks.type,
        HUB,
        offered,
        blocks.block_of_word,
        blocks.word_key,
        topic.key,
        topic.weight,
        stop_keys(language),
        beta,
    )


def link_targets(blocks: TagTree, wanted: NDArray[np.bool_]) -> list[str]:
    """The distinct http(s) URLs that the links among some nodes point at, in page order."""
    return blocks.tree.links(wanted).urls()


LEAST_TERMS = 30
"""Where a cleaner keeps fewer terms, the type is read off the page's structure instead (ours)."""
THREAD = "forum"
"""The genre whose pages are threads of posts."""
SHORTEST_KEYWORD = 2
_SPARE = 20
"""Features beyond those wanted that are looked at: some are numbers and no keywords."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSettings:
    """What a view is told; the letters are the paper's (section 6).

    - `keywords`: how many there are (lambda; the paper leaves it to the user).
    - `sentences`: sentences of the abstract (delta: 15, section 7.3).
    - `sentence_keywords`: keywords that weigh sentences (theta: 15, section 7.3).
    - `summary_sentences`: sentences of the short abstract for display (ours).
    - `likeness`: a block of links is relevant if its cosine with the topic exceeds it (beta; the paper names no value).
    - `weights`: how blocks weigh.
    """

    keywords: int = 10
    sentences: int = 15
    sentence_keywords: int = 15
    summary_sentences: int = 2
    likeness: float = 0.3
    weights: WeightSettings = field(default_factory=WeightSettings)

    def __post_init__(self) -> None:
        for name in ("keywords", "sentences", "sentence_keywords", "summary_sentences"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected 0 or more")
        if not 0 <= self.likeness <= 1:
            raise SettingsError(f"likeness is {self.likeness}: expected 0 to 1")

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> ViewSettings:
        """Read what `dataclasses.asdict` made of settings."""
        return cls(**plain | {"weights": WeightSettings(**plain["weights"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where the fields of a view came from.

    `method` cleaned the page; `type` was read off its `kept text` or its `central area`; the `title` is the `page`'s or
    made of `keywords`; the `language` is declared by the `page` or found in the `text`; `note` is a remark on cleaning.
    """

    method: str
    type: str
    title: str | None
    language: str | None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocView:
    """A page's record: identifier (its address), type, category, title, keywords, abstract, content, relevant links.

    The abstract has one sentence a line; `summary` is a short one for display. `type` is None for a page with nothing
    on it, `category` without a model of categories, `confidence` where the cleaning method has none.
    """

    identifier: str
    type: str | None
    category: str | None
    title: str | None
    keywords: tuple[str, ...]
    abstract: str
    content: str
    links: tuple[str, ...]
    summary: str
    language: str | None
    confidence: float | None
    provenance: Provenance


def view_of(
    tree: PageTree,
    verdict: Verdict,
    about: Metadata,
    content: str,
    language: str | None,
    settings: ViewSettings | None = None,
    categories: CategoryModel | None = None,
) -> DocView:
    """The view of a page that was cleaned; `content` is its kept text, `about` what it says of itself."""
    settings = settings or ViewSettings()
    kept, shown = kept_and_shown(verdict.keep_runs, verdict.keep, tree.run_owner, tree.flags, HIDDEN)
    blocks = TagTree.of(tree, shown)
    kept_words = of_words(kept, blocks.word_run)
    kind, type_source = _type_of(blocks, kept_words, verdict)
    spoken = language or "en"
    topic = feature_vector(blocks, kept_words, spoken, settings.weights)
    ranked = _ranked(blocks, topic, max(settings.keywords, settings.sentence_keywords))
    keywords = _spelled(blocks, topic.first[ranked[: settings.keywords]])
    theta = np.sort(ranked[: settings.sentence_keywords])
    likely = None if verdict.confidence is None else verdict.score
    units = max(MOST_UNITS, UNITS_PER_SENTENCE * settings.sentences)
    found = KeySentences.of(blocks, kept, topic.key[theta], topic.weight[theta], spoken, likely, units)
    title = about.title or " ".join(keywords[:2]) or None
    return DocView(
        identifier=tree.url,
        type=None if kind is None else TYPES[kind],
        category=None if categories is None else categories.category_of(topic),
        title=title,
        keywords=keywords,
        abstract="\n".join(found.chosen(settings.sentences)),
        content=content,
        links=tuple(_links(blocks, verdict, kept, topic, spoken, settings.likeness if kind == TOPIC else None)),
        summary=" ".join(found.chosen(settings.summary_sentences)),
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


def features_of(
    tree: PageTree, verdict: Verdict, language: str | None, settings: WeightSettings | None = None
) -> FeatureVector:
    """The weighted features of what a page keeps: what `view_of` has its keywords and its category from."""
    kept, shown = kept_and_shown(verdict.keep_runs, verdict.keep, tree.run_owner, tree.flags, HIDDEN)
    blocks = TagTree.of(tree, shown)
    return feature_vector(blocks, of_words(kept, blocks.word_run), language or "en", settings)


def _type_of(blocks: TagTree, kept: NDArray[np.bool_], verdict: Verdict) -> tuple[int | None, str]:
    """The type of a page and what it was read off.

    What a cleaner keeps is the central area, and it knows that area better than the page's structure does; method
    `docview` and pages of which little is kept are read as in the paper.
    """
    terms, images = int(np.count_nonzero(kept)), int(blocks.images.sum())
    if not len(kept) and not images:
        return None, "central area"
    thread = verdict.genre == THREAD
    by_structure = verdict.method == METHOD or terms < LEAST_TERMS
    if not by_structure and not may_be_images(images, terms):
        return page_type(blocks, kept, 0, thread=thread), "kept text"
    central = central_blocks(blocks)
    images = int(blocks.images[central].sum())
    if by_structure:
        return page_type(blocks, central[blocks.block_of_word], images, thread=thread), "central area"
    return page_type(blocks, kept, images, thread=thread), "kept text"


def _ranked(blocks: TagTree, topic: FeatureVector, most: int) -> NDArray[np.intp]:
    """The features of the most weight, heaviest first, then in page order; no numbers and no single letters."""
    return heaviest(
        blocks.tree.text,
        topic.weight,
        topic.first,
        blocks.word_start,
        blocks.word_end,
        SHORTEST_KEYWORD,
        most + _SPARE,
        most,
    )


def _spelled(blocks: TagTree, words: NDArray[np.int64]) -> tuple[str, ...]:
    starts, ends, text = blocks.word_start[words].tolist(), blocks.word_end[words].tolist(), blocks.tree.text
    return tuple(text[start:end].lower() for start, end in zip(starts, ends, strict=True))


def _links(
    blocks: TagTree,
    verdict: Verdict,
    kept: NDArray[np.bool_],
    topic: FeatureVector,
    language: str,
    beta: float | None,
) -> list[str]:
    """The links in what is kept and, on a topic page, those of the relevant blocks that are not.

    What the site repeats is never offered, nor are menus, heads and feet: they may well use the topic's words.
    """
    wanted = verdict.keep
    if beta is not None:
        guiding = guiding_nodes(blocks.tree)
        offered = offered_blocks(guiding, blocks.node, kept, verdict.run_reason, REPEATED_REASON, blocks.of_run)
        relevant = relevant_blocks(blocks, topic, offered, language, beta)
        if relevant.any():
            wanted = wanted | relevant[blocks.of_node]
    return link_targets(blocks, wanted)
