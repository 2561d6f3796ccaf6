"""Labels of a SKOS thesaurus, read with rdflib from RDF/XML, Turtle or N-Triples. Needs the extra `thesaurus`.

A thesaurus comes from a stranger. Nothing that it names is ever fetched, and JSON-LD, whose contexts would have to be,
is not read. rdflib takes quadratic time over long texts, deep nesting and many prefixes, and forever over entities that
expand to more entities; so a file is looked through first, in linear time, and refused where it holds any of these.
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

__all__ = ["LARGEST_THESAURUS", "Label", "needs_rdflib", "read_labels"]

LARGEST_THESAURUS: Final = 64_000_000
"""Bytes of a file, and characters that its entities may make of it."""
DEEPEST: Final = 100
"""Elements within elements; SKOS needs some five."""
LONGEST_TEXT: Final = 20_000
"""Characters between two tags; a long note of a concept has some thousands."""
LARGEST_LITERAL: Final = 100
MOST_IN_LITERALS: Final = 10_000
"""Elements in one literal of XML and in all; labels are none, notes may be."""
MOST_PREFIXES: Final = 1_000
MOST_ENTITIES: Final = 100
LONGEST_ENTITY: Final = 300
"""Characters of an entity; those of real files are the addresses of vocabularies."""

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
"""What rdflib makes of files that are not what they should be, beside its own errors."""


class Label(NamedTuple):
    """A preferred, alternative or hidden label of a concept, and its language, if it tells one."""

    text: str
    language: str | None


def needs_rdflib() -> None:
    """Raise `MissingExtra` where rdflib is not installed."""
    try:
        import rdflib  # noqa: F401, PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("reading a SKOS thesaurus", "thesaurus") from error


def read_labels(data: bytes, name: str, *, xml: bool) -> Iterator[Label]:
    """The labels of all concepts, in no order: of RDF/XML, else of Turtle or N-Triples. Raises `InputError`."""
    needs_rdflib()
    from rdflib import Graph, Literal  # noqa: PLC0415
    from rdflib.exceptions import Error  # noqa: PLC0415
    from rdflib.namespace import SKOS  # noqa: PLC0415

    logging.getLogger("rdflib").addHandler(_SILENT)  # else what it says of damaged addresses goes to stderr
    if len(data) > LARGEST_THESAURUS:
        raise InputError(f"{name}: {len(data):,} bytes; a thesaurus may have {LARGEST_THESAURUS:,}")
    if xml:
        _Look(name).through(data)
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


class _Look:
    """One pass over RDF/XML that raises `InputError` at what rdflib must not be given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entities = self.prefixes = self.depth = self.text = self.written = 0
        self.literal_depth = self.literal_elements = self.in_literals = 0

    def through(self, data: bytes) -> None:
        """Look through a whole file."""
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

    def _entity(
        self,
        entity: str,
        is_parameter: bool,
        value: str | None,
        base: str | None,  # noqa: ARG002
        system_id: str | None,  # noqa: ARG002
        public_id: str | None,  # noqa: ARG002
        notation: str | None,  # noqa: ARG002
    ) -> None:
        self.entities += 1
        if is_parameter or value is None:
            self._refuse(f"an entity {entity[:40]!r} that stands outside of it; write out what it means")
        elif "&" in value or "%" in value or "<" in value:
            self._refuse(f"an entity {entity[:40]!r} made of others; write out what it means")
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
            self._refuse(f"entities that make more than {LARGEST_THESAURUS:,} characters of it")


def _message(error: Exception) -> str:
    return " ".join(str(error).split())[:LONGEST_MESSAGE] or type(error).__name__
