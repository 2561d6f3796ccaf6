"""Labels of a SKOS thesaurus, read with rdflib from RDF/XML, Turtle or N-Triples. Requires the extra `thesaurus`.

A thesaurus is untrusted input. Nothing that it refers to is fetched, and JSON-LD, whose contexts would have to be, is
not read. rdflib takes quadratic time for long texts, deep nesting and many prefixes, and does not end for entities that
expand to more entities. So a file is scanned first, in linear time, and rejected if it has any of these.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from xml.parsers import expat
from xml.sax import SAXException

from webwinnow.errors import InputError, MissingExtra

LARGEST_THESAURUS: Final = 64_000_000
"""Bytes of a file, and characters after its entities are expanded."""
DEEPEST: Final = 100
"""Nested elements; SKOS needs about five."""
LONGEST_TEXT: Final = 20_000
"""Characters between two tags; a long note of a concept has a few thousand."""
LARGEST_LITERAL: Final = 100
MOST_IN_LITERALS: Final = 10_000
"""Elements in one XML literal and in all; notes may be such literals, labels are not."""
MOST_PREFIXES: Final = 1_000
MOST_ENTITIES: Final = 100
LONGEST_ENTITY: Final = 300
"""Characters of an entity; in real files they are the URLs of vocabularies."""

LONGEST_MESSAGE: Final = 200

_BASE = "http://thesaurus.invalid/"
_SILENT = logging.NullHandler()
_PREFIX = re.compile(rb"@?prefix\s+[^\s:<>]*:\s*<", re.IGNORECASE)
_DAMAGED = (
    SAXException,
    SyntaxError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    RecursionError,
)
"""What rdflib raises for malformed files, beside its own errors."""


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
    if len(data) > LARGEST_THESAURUS:
        raise InputError(f"{name}: {len(data):,} bytes; a thesaurus may have {LARGEST_THESAURUS:,}")
    if xml:
        _Scan(name).check(data)
    elif len(_PREFIX.findall(data)) > MOST_PREFIXES:
        raise InputError(f"{name}: more than {MOST_PREFIXES:,} prefixes")
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


class _Scan:
    """One pass over RDF/XML that raises `InputError` for anything that is not safe for rdflib."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entities = self.prefixes = self.depth = self.text = self.written = 0
        self.literal_depth = self.literal_elements = self.in_literals = 0

    def check(self, data: bytes) -> None:
        """Scan a whole file."""
        parser = expat.ParserCreate()
        parser.EntityDeclHandler = self._entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise InputError(f"{self.name}: cannot be read as RDF/XML ({_message(error)})") from None

    def _refuse(self, what: str) -> None:
        raise InputError(f"{self.name}: refused, it has {what}")

    def _entity(self, entity: str, is_parameter: bool, value: str | None, *_others: str | None) -> None:
        self.entities += 1
        if is_parameter or value is None:
            self._refuse(f"an entity {entity[:40]!r} that is outside of it; write it out")
        elif "&" in value or "%" in value or "<" in value:
            self._refuse(f"an entity {entity[:40]!r} made of others; write it out")
        elif len(value) > LONGEST_ENTITY or self.entities > MOST_ENTITIES:
            self._refuse(f"an entity of more than {LONGEST_ENTITY} characters, or more than {MOST_ENTITIES} of them")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002
        self.depth += 1
        self.text = 0
        self.prefixes += sum(attribute.startswith("xmlns") for attribute in attributes)
        self._count(sum(map(len, attributes.values())))
        if self.literal_depth:
            self.literal_elements += 1
            self.in_literals += 1
        elif any(attribute.endswith("parseType") for attribute in attributes):
            self.literal_depth, self.literal_elements = self.depth, 0
        if self.depth > DEEPEST:
            self._refuse(f"more than {DEEPEST} elements within each other")
        if self.prefixes > MOST_PREFIXES:
            self._refuse(f"more than {MOST_PREFIXES:,} prefixes")
        if self.literal_elements > LARGEST_LITERAL or self.in_literals > MOST_IN_LITERALS:
            self._refuse(f"more than {LARGEST_LITERAL} elements in a literal, or {MOST_IN_LITERALS:,} in all")

    def _end(self, tag: str) -> None:  # noqa: ARG002
        if self.depth == self.literal_depth:
            self.literal_depth = 0
        self.depth -= 1
        self.text = 0

    def _characters(self, text: str) -> None:
        self.text += len(text)
        self._count(len(text))
        if self.text > LONGEST_TEXT:
            self._refuse(f"a text of more than {LONGEST_TEXT:,} characters")

    def _count(self, characters: int) -> None:
        self.written += characters
        if self.written > LARGEST_THESAURUS:
            self._refuse(f"entities that expand to more than {LARGEST_THESAURUS:,} characters")


def _message(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST_MESSAGE] or type(error).__name__
