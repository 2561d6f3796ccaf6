"""`Thesaurus`: the terms of the topics (Sites 4.2), and how many words of a text they cover.

Terms come from a SKOS file, from a plain list, or from training sites by chi-square, as the paper extends its
thesaurus with keywords of a large text. Matching is Aho-Corasick over whole words. Requires the extra `thesaurus`.

Nothing that a SKOS file refers to is fetched. JSON-LD, whose contexts would have to be, is not read.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from xml.parsers import expat
from xml.sax import SAXException

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, MissingExtra
from webwinnow.page.words import StopList, words

MOST_TERMS: Final = 2_000_000
LONGEST_TERM: Final = 16
"""Words of a term; longer ones are sentences."""
XML_SUFFIXES: Final = (".rdf", ".xml", ".owl", ".skos")
TURTLE_SUFFIXES: Final = (".ttl", ".turtle", ".nt")
JSON_SUFFIXES: Final = (".json", ".jsonld")
LARGEST_THESAURUS: Final = 64_000_000
"""Bytes of a file."""
LONGEST_ENTITY: Final = 300
"""Characters of an entity; in real files they are the URLs of vocabularies."""
LONGEST_MESSAGE: Final = 200

_BASE = "http://thesaurus.invalid/"
_SILENT = logging.NullHandler()
_DAMAGED = (
    SAXException,
    SyntaxError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    RecursionError,
)
"""What rdflib raises for malformed files, beside its own errors."""
_TOPIC = re.compile(r"\[(.+)\]")
"""A line of a list that begins the terms of a topic."""

_OPEN, _CLOSE, _END = "\x02\x03\n"
"""Before and after every word, so that terms match whole words, and after a text; no word contains them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SpelledText:
    """Several texts in one string, every word spelled as by `words` and delimited.

    Text i is `text[start[i]:start[i + 1]]` and has `count[i]` words.
    """

    text: str
    start: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        spelled, counts = [], []
        for text in texts:
            found = words(text)
            spelled.append(_spelled(found) + _END)
            counts.append(len(found))
        start = np.cumsum([0, *map(len, spelled)])
        return cls("".join(spelled), start, np.array(counts, np.int64))

    def __len__(self) -> int:
        return len(self.count)

    def words(self, first: int, end: int) -> list[str]:
        """The words of texts `first:end`, in order."""
        found = self.text[self.start[first] : self.start[end]].replace(_END, "")
        return found[1:-1].split(_CLOSE + _OPEN) if found else []


class Thesaurus:
    """Terms of one or more words, of all topics together or of each topic, ready for matching.

    `by_topic` has the terms of each topic in order; those of all topics together have the topic "".
    """

    def __init__(self, terms: Iterable[str] | Mapping[str, Iterable[str]]) -> None:
        given = terms if isinstance(terms, Mapping) else {"": terms}
        self.by_topic: dict[str, tuple[str, ...]] = {topic: _terms(topic, given[topic]) for topic in sorted(given)}
        if not self.by_topic or len(self) > MOST_TERMS:
            raise InputError(f"a thesaurus of {len(self):,} terms: expected 1 to {MOST_TERMS:,}")
        self._matchers = [_matcher([_spelled(term.split()) for term in found]) for found in self.by_topic.values()]

    def __len__(self) -> int:
        return sum(map(len, self.by_topic.values()))

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms in order."""
        return tuple(sorted(set().union(*self.by_topic.values())))

    def check_topics(self, topics: Sequence[str]) -> None:
        """Raise `InputError` unless the terms are those of all topics together, or of these topics or levels above."""
        if "" in self.by_topic:
            return
        levels = {
            topic: {topic[:end] for end in range(1, len(topic) + 1) if f"{topic}/"[end] == "/"} for topic in topics
        }
        unknown = self.by_topic.keys() - set().union(*levels.values())
        without = [topic for topic in topics if not self.by_topic.keys() & levels[topic]]
        if unknown or without:
            wrong = [f"terms of {name!r}, which no site has" for name in sorted(unknown)]
            wrong += [f"no terms of {name!r}" for name in without]
            raise InputError(f"the thesaurus has {'; '.join(wrong)}: expected lists of the topics {', '.join(topics)}")

    @classmethod
    def read(cls, path: Path, languages: Sequence[str] | None = None, stop_list: StopList | None = None) -> Self:
        """Read a SKOS file (RDF/XML, Turtle, N-Triples), recognised by its suffix, or a list with one term per line.

        In a list, a line [databases] begins the terms of a topic; without any, terms are those of all topics together.
        Of SKOS all preferred, alternative and hidden labels are read; with `languages`, those in one of them or in
        none. Labels that are stop words of their language are left out. Raises `InputError`.
        """
        suffix = path.suffix.lower()
        if suffix in JSON_SUFFIXES:
            raise InputError(
                f"{path}: JSON-LD is not read, because its contexts are elsewhere; convert it to Turtle or RDF/XML"
            )
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_THESAURUS + 1)
        except OSError as error:
            raise InputError(f"{path}: no thesaurus ({error.strerror}); expected SKOS or a list of terms") from None
        if len(data) > LARGEST_THESAURUS:
            raise InputError(f"{path}: a thesaurus may have {LARGEST_THESAURUS:,} bytes, this has more")
        if suffix in XML_SUFFIXES or suffix in TURTLE_SUFFIXES:
            terms = {"": _labels(data, str(path), suffix in XML_SUFFIXES, languages, stop_list or StopList())}
            expected = "labels of SKOS concepts"
        else:
            terms = _lists(data, path)
            expected = "one term per line"
        for topic, found in terms.items():
            if not any(words(term) for term in found):
                raise InputError(f"{path}: no terms{f' of [{topic}]' if topic else ''}; expected {expected}")
        return cls(terms)

    def covered(self, texts: SpelledText) -> NDArray[np.int64]:
        """The number of words of each text that belong to terms of the topic that has most of them.

        Of overlapping terms the first and longest counts.
        """
        most = np.zeros(len(texts), np.int64)
        for terms, matcher in zip(self.by_topic.values(), self._matchers, strict=True):
            found = matcher.find_matches_as_indexes(texts.text)
            if found:
                matches = np.array(found, np.int64)
                length = np.array([term.count(" ") + 1 for term in terms], np.int64)
                text = np.searchsorted(texts.start, matches[:, 1], side="right") - 1
                most = np.maximum(most, np.bincount(text, length[matches[:, 0]], len(texts)).astype(np.int64))
        return most


def needs_ahocorasick() -> None:
    """Raise `MissingExtra` if ahocorasick-rs is not installed."""
    try:
        import ahocorasick_rs  # noqa: F401, PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("matching the terms of a thesaurus", "thesaurus") from error


def _matcher(patterns: list[str]) -> Any:
    needs_ahocorasick()
    from ahocorasick_rs import AhoCorasick, MatchKind  # noqa: PLC0415

    return AhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest)


def _spelled(found: Iterable[str]) -> str:
    return "".join([f"{_OPEN}{word}{_CLOSE}" for word in found])


def _terms(topic: str, given: Iterable[str]) -> tuple[str, ...]:
    """Terms as they are matched, in order, each once."""
    found: set[tuple[str, ...]] = set()
    for term in given:
        spelled = tuple(words(term))
        if 0 < len(spelled) <= LONGEST_TERM:
            found.add(spelled)
        if len(found) > MOST_TERMS:
            raise InputError(f"a thesaurus of more than {MOST_TERMS:,} terms")
    if not found:
        raise InputError(f"a thesaurus without terms{f' of {topic!r}' if topic else ''}: expected at least one word")
    return tuple(map(" ".join, sorted(found)))


def _lists(data: bytes, path: Path) -> dict[str, list[str]]:
    """The terms of a list by topic; "" if it names none."""
    try:
        lines = [line.strip() for line in data.decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a list of terms in UTF-8") from None
    found: dict[str, list[str]] = {}
    topic = ""
    for line in filter(None, lines):
        begins = _TOPIC.fullmatch(line)
        if begins is None:
            found.setdefault(topic, []).append(line)
        else:
            topic = begins[1].strip()
            if not topic or topic in found:
                raise InputError(f"{path}: {line} is no new topic; expected each topic once")
            found[topic] = []
    if "" in found and len(found) > 1:
        raise InputError(f"{path}: {found[''][0]!r} is before the first topic; expected a line [topic] before it")
    return found or {"": []}


def _labels(data: bytes, name: str, xml: bool, languages: Sequence[str] | None, stop_list: StopList) -> list[str]:
    wanted = None if languages is None else {language.lower().partition("-")[0] for language in languages}
    terms = []
    for text, language in read_labels(data, name, xml=xml):
        code = (language or "").lower().partition("-")[0]
        if (wanted is None or not code or code in wanted) and text.casefold().strip() not in stop_list.of(code):
            terms.append(text)
    return terms


# SKOS


class Label(NamedTuple):
    """A preferred, alternative or hidden label of a concept, and its language, if it has one."""

    text: str
    language: str | None


def read_labels(data: bytes, name: str, *, xml: bool) -> Iterator[Label]:
    """The labels of all concepts, in no order, from RDF/XML, or else Turtle or N-Triples. Raises `InputError`."""
    try:
        from rdflib import Graph, Literal  # noqa: PLC0415 (an optional extra)
        from rdflib.exceptions import Error  # noqa: PLC0415
        from rdflib.namespace import SKOS  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("reading a SKOS thesaurus", "thesaurus") from error

    logging.getLogger("rdflib").addHandler(_SILENT)  # otherwise its warnings about damaged URLs go to stderr
    if xml:
        _check_entities(data, name)
    graph = Graph(bind_namespaces="none")
    try:
        graph.parse(source=io.BytesIO(data), format="xml" if xml else "turtle", publicID=_BASE)
    except (Error, *_DAMAGED) as error:
        kind = "RDF/XML" if xml else "Turtle or N-Triples"
        raise InputError(f"{name}: cannot be read as {kind} ({_message(error)})") from None
    for kind_of_label in (SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel):
        for _, label in graph.subject_objects(kind_of_label):
            if isinstance(label, Literal):
                yield Label(str(label), label.language)


def _check_entities(data: bytes, name: str) -> None:
    """Refuse entities that are made of others, long or elsewhere: a small file could expand to gigabytes."""

    def declared(entity: str, is_parameter: bool, value: str | None, *_others: str | None) -> None:
        if is_parameter or value is None or len(value) > LONGEST_ENTITY or not set("&%<").isdisjoint(value):
            raise InputError(
                f"{name}: refused, its entity {entity[:40]!r} is made of others, long or outside; write it out"
            )

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InputError(f"{name}: cannot be read as RDF/XML ({_message(error)})") from None


def _message(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST_MESSAGE] or type(error).__name__
