"""Every regular expression of the library takes time that is linear in its input, also in its worst case.

The attacks are made from the pattern itself: what can be repeated in it is repeated, behind what leads there and before
what does not match, and so is every beginning of what it matches.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import pytest
from growth import growth

import webwinnow
from webwinnow.lazy import _LazyPattern
from webwinnow.page.hints import MAX_CUTS
from webwinnow.page.markup import MAX_VALUE
from webwinnow.page.metadata import LONGEST_NAME
from webwinnow.page.parsing import META_PRESCAN
from webwinnow.page.structures import amount_pattern
from webwinnow.run.readers import is_html_document

SMALL, LARGE = 10_000, 100_000
QUICK = 3_000
"""Characters for the tests that always run: patterns that are quadratic pass some of them, cubic ones none."""
MOST = 40
"""Times longer that ten times the input may take: 10 if linear, 100 if quadratic."""
METHODS = frozenset("match search fullmatch sub subn split findall finditer".split())
ANY_USE = frozenset(("search", "sub"))
MOST_SAMPLES = 24
CANDIDATES = "a ZzÀ0_-.\t\n<>\"'&;:/@#\x00\u0301\u4e00\u3042\u0e01\uac00\ue000\U0001f600"
BOUNDED = {
    "page.metadata._BETWEEN_NAMES": LONGEST_NAME,
    "page.parsing._COMMENT": META_PRESCAN,
    "page.markup._URL_VALUE": MAX_VALUE,
}
"""Patterns that see at most this many characters: their growth is checked up to there, and may be quadratic."""
FIRST_MATCHES = {"page.hints._SEPARATOR": MAX_CUTS}
"""Patterns of which only so many matches are asked for."""
NOT_INPUT = frozenset(("papers.mining.tasks._TASK",))
"""Patterns of the user's own options."""


OWN_INLINE = {"cli/app.py", "cli/installation.py", "crawl/settings.py", "papers/mining/tasks.py"}
"""Modules with such patterns that are not in a variable: our own source, versions of programs, the user's options."""
PATTERNLESS = {f"webwinnow.run.engines.{name}" for name in ("ray", "spark", "datatrove")}
"""Modules that need packages of their own, and have no patterns."""


class Use(NamedTuple):
    """A pattern of a module and the methods by which the module uses it."""

    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def compiled(value: object) -> object:
    """A pattern that is compiled on first use as a compiled one; anything else as it is."""
    return re.compile(value.pattern) if isinstance(value, _LazyPattern) else value


def uses() -> Iterator[Use]:
    for info in pkgutil.walk_packages(webwinnow.__path__, "webwinnow."):
        if info.name in PATTERNLESS or info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        if not str(module.__file__).endswith(".py"):
            continue
        methods = methods_of(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))
        for name, value in vars(module).items():
            found = map(compiled, value.values() if isinstance(value, dict) else (value,))
            for at, pattern in enumerate(one for one in found if isinstance(one, re.Pattern)):
                place = f"[{at}]" if isinstance(value, dict) else ""
                full = f"{info.name.removeprefix('webwinnow.')}.{name}{place}"
                yield Use(full, pattern, frozenset(methods.get(name, ANY_USE)))

    # made of what the page says, at most this long
    yield Use("page.structures.amount_pattern", amount_pattern({"1", "12345678", "9" * 12}), frozenset({"search"}))


def inline_patterns() -> Iterator[str]:
    """Patterns that are given to a function of `re` and so escape the tests of this file."""
    root = Path(webwinnow.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_ours = isinstance(node, ast.Attribute) and node.attr in METHODS
            if is_ours and isinstance(node.value, ast.Name) and node.value.id == "re":
                yield f"{path.relative_to(root)}:{node.lineno}"


def test_no_pattern_on_input_is_inline() -> None:
    assert {place.partition(":")[0] for place in inline_patterns()} == OWN_INLINE


@pytest.mark.parametrize("name", sorted(PATTERNLESS))
def test_modules_that_need_an_engine_have_no_patterns(name: str) -> None:
    source = Path(webwinnow.__file__).parent.joinpath(*name.split(".")[1:]).with_suffix(".py")
    names = {node.id for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)}
    assert not names & {"re", "lazy_pattern"}


def methods_of(tree: ast.AST) -> dict[str, set[str]]:
    """The methods of patterns that a module names, `_WORD.findall` as well as `_END_TAG[name].search`."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            value = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(value, ast.Name):
                found.setdefault(value.id, set()).add(node.attr)
    return found


# Attacks


def samples(parsed: Any) -> list[str]:
    """Texts that a parsed pattern matches, each alternative at least once; assertions are left out."""
    found = [""]
    for op, argument in parsed:
        tails = list(dict.fromkeys(_tails(op, argument)))[:MOST_SAMPLES] or [""]
        mixed = [head + tails[at % len(tails)] for at, head in enumerate(found)]
        found = list(dict.fromkeys([*mixed, *(found[0] + tail for tail in tails)]))[:MOST_SAMPLES]
    return found


def _tails(op: Any, argument: Any) -> list[str]:
    if op is sre.LITERAL:
        return [chr(argument)]
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, _, inner = argument
        return [text * max(least, 1) for text in samples(inner)]
    if op is sre.SUBPATTERN:
        return samples(argument[-1])
    if op is sre.ATOMIC_GROUP:
        return samples(argument)
    if op is sre.BRANCH:
        return [text for branch in argument[1] for text in samples(branch)[:4]]
    if op in (sre.IN, sre.NOT_LITERAL, sre.ANY):
        return _characters(op, argument)
    return [""]


def _characters(op: Any, argument: Any) -> list[str]:
    if op is sre.IN:
        first = argument[1 if argument[0][0] is sre.NEGATE else 0 :]
        own = [
            chr(value[0] if kind is sre.RANGE else value) for kind, value in first if kind in (sre.RANGE, sre.LITERAL)
        ]
        negated = argument[0][0] is sre.NEGATE
        return [one for one in (CANDIDATES if negated else [*own[:3], *CANDIDATES]) if _is_in(one, argument)][:3]
    return [one for one in CANDIDATES if op is sre.ANY or one != chr(argument)][:2]


def _is_in(character: str, argument: Any) -> bool:
    negated, found = False, False
    for kind, value in argument:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            found |= ord(character) == value
        elif kind is sre.RANGE:
            found |= value[0] <= ord(character) <= value[1]
        else:
            found |= _CATEGORIES[value](character)
    return found != negated


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
    sre.CATEGORY_DIGIT: str.isdigit,
    sre.CATEGORY_NOT_DIGIT: lambda one: not one.isdigit(),
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda one: not _is_word(one),
}


def repeats(parsed: Any, before: list[str]) -> Iterator[tuple[str, str]]:
    """What leads to each part that may be repeated without limit, and a text that this part matches."""
    parts = list(parsed)
    for at, (op, argument) in enumerate(parts):
        lead = [head + tail for head in before[:4] for tail in samples(parts[:at])[:4]]
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            inner = argument[2]
            if argument[1] > 1_000:
                yield from ((head, body) for head in lead for body in samples(inner) if body)
            yield from repeats(inner, lead)
        elif op is sre.SUBPATTERN:
            yield from repeats(argument[-1], lead)
        elif op is sre.ATOMIC_GROUP:
            yield from repeats(argument, lead)
        elif op is sre.BRANCH:
            for branch in argument[1]:
                yield from repeats(branch, lead)


def attacks(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """(beginning, repeated, end) of texts that may make a pattern slow."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    parsed = _parser.parse(text, flags)
    repeated = [(head, body) for head, body in repeats(parsed, [""])]
    found = [(head, body, "\x00") for head, body in repeated[:MOST_SAMPLES]]
    found += [("", head + body, "") for head, body in repeated[:MOST_SAMPLES]]
    beginnings = [sample[:length] for sample in samples(parsed)[:3] for length in range(min(len(sample), 24), 0, -1)]
    found += [("", body, "") for body in beginnings[:MOST_SAMPLES]]
    return list(dict.fromkeys(found))


def call(use: Use, method: str, attack: tuple[str, str, str], size: int) -> Callable[[], object]:
    head, body, end = attack
    text: Any = head + body * (size // len(body) + 1) + end
    if isinstance(use.pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    if method in ("sub", "subn"):
        return lambda: use.pattern.sub(text[:0], text)
    found = getattr(use.pattern, method)
    first = FIRST_MATCHES.get(use.name)
    return (lambda: list(islice(found(text), first))) if method == "finditer" else lambda: found(text)


every_use = pytest.mark.parametrize(
    "use", [pytest.param(use, id=use.name) for use in uses() if use.name not in NOT_INPUT]
)


def slow_attacks(use: Use, large: int, most: float) -> dict[tuple[str, ...], float]:
    """The attacks that take too long, and how many times longer with ten times the characters."""
    grown = {
        (method, *attack): growth(partial(call, use, method, attack), large // 10, large, most)
        for attack in attacks(use.pattern)
        for method in use.methods
    }
    return {attack: times for attack, times in grown.items() if times >= most}


@every_use
def test_a_pattern_is_nearly_linear_for_a_short_input(use: Use) -> None:
    assert not slow_attacks(use, QUICK, 10 * MOST if use.name in BOUNDED else 2 * MOST)


@pytest.mark.slow
@every_use
def test_a_pattern_is_linear_in_its_worst_case(use: Use) -> None:
    large = BOUNDED.get(use.name, LARGE)
    assert not slow_attacks(use, large, 10 * MOST if large < LARGE else MOST)


@pytest.mark.parametrize("comment", ["<!---->", "<!-- -->", "<?xml?>", " <!--", "<!-- --> -->"])
def test_sniffing_a_file_of_comments_is_linear(comment: str) -> None:
    use = next(use for use in uses() if use.name == "run.readers._HTML_DOCUMENT")
    assert growth(partial(call, use, "match", ("", comment, "x")), SMALL, LARGE, MOST) < MOST
    assert not is_html_document(comment.encode() * 4_000)
    assert is_html_document(b"<!----> <!-- a --><?xml version='1.0'?>\n<!doctype html>")


@pytest.mark.parametrize("text", ["<!---->", "<!-- -->", "<?xml>", " <?a>", "<!--", "\n"])
@pytest.mark.parametrize(
    "name, method", [("_IS_LIST", "match"), ("_SITEMAP_LINE", "finditer"), ("_URL_LINE", "findall")]
)
def test_recognising_a_sitemap_is_linear(name: str, method: str, text: str) -> None:
    use = next(use for use in uses() if use.name == f"crawl.sitemaps.{name}")
    assert growth(partial(call, use, method, ("", text, "x")), SMALL, LARGE, MOST) < MOST
