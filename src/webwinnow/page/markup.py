"""The HTML vocabulary: tag codes, kept attributes, visibility, and the canonical style of an element.

All of it is part of the format of stored trees and models: `TAGS` and `ATTRIBUTES` only grow at their end, and a change
of `canonical_style` increments `STYLE_VERSION`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from xxhash import xxh3_64_intdigest

STYLE_VERSION = 1
"""Incremented when `canonical_style` changes: models learned before do not fit."""

TAGS: tuple[str, ...] = tuple(
    "#root body a abbr acronym address applet area article aside audio b bdi bdo big blink blockquote br "
    "button canvas caption center cite code col colgroup data dd del details dfn dialog dir div dl dt em embed "
    "fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr i iframe "
    "image img input ins kbd label legend li listing main map mark marquee math menu menuitem meter nav nobr "
    "noscript object ol optgroup option output p picture plaintext pre progress q rb rp rt rtc ruby s samp "
    "search section select slot small source spacer span strike strong sub summary sup svg table tbody td "
    "textarea tfoot th thead time tr track tt u ul var video wbr xmp template mi mn mo ms mtext mrow msup msub "
    "msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle semantics mspace mpadded mphantom "
    "menclose merror".split()
)
"""Known tags; the index is the code in `PageTree.tag`. Others have the code `CUSTOM_TAG + k` and a name in the tree."""

TAG_CODE: dict[str, int] = {tag: code for code, tag in enumerate(TAGS)}
CUSTOM_TAG = 1024
"""First code of tags that are not in `TAGS`."""

ATTRIBUTES: tuple[str, ...] = tuple(
    "href src alt title colspan rowspan start datetime lang class id role rel type itemprop data-src width "
    "height align valign bgcolor background border cellpadding cellspacing color face size nowrap hspace "
    "vspace clear noshade text link vlink alink frame rules compact aria-label value dir cite itemtype reversed "
    "ww-box".split()
)
"""Attributes in a tree; the index is the code in `PageTree.attr_name`."""
BOX_ATTRIBUTE = "ww-box"
"""Attribute of a rendered page's elements: their row in its `PageLayout`."""

ATTRIBUTE_CODE: dict[str, int] = {name: code for code, name in enumerate(ATTRIBUTES)}

DISPLAY_ATTRIBUTES: frozenset[str] = frozenset(
    "class role style align valign bgcolor background border cellpadding cellspacing color face size nowrap "
    "hspace vspace clear noshade width height text link vlink alink frame rules compact ww-css".split()
)
"""Attributes of the presentation style (`Attr` in thesis 4.2.1), with `class`, `role` and inline `style` for today's
pages, and `CSS_ATTRIBUTE`."""
CSS_ATTRIBUTE = "ww-css"
"""Attribute in which `parse` notes what the page's style sheets say of an element, where it is asked to."""

DROPPED_TAGS: frozenset[str] = frozenset(
    "script style template noembed noframes datalist meta link base title head param annotation annotation-xml".split()
)
"""Elements that browsers never show, except a `<template>` that is a declarative shadow root; not in the tree."""

OPAQUE_TAGS: frozenset[str] = frozenset("svg iframe video audio canvas applet".split())
"""Elements without their contents, which are graphics or a fallback that browsers do not show."""

UNCLOSED_TAGS: frozenset[str] = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
"""Elements without contents, which are written without an end tag."""

PREFORMATTED_TAGS: frozenset[str] = frozenset("pre textarea listing plaintext xmp".split())

BLOCK_TAGS: frozenset[str] = frozenset(
    "#root body address article aside blockquote caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav noscript "
    "ol optgroup option p plaintext pre search section select summary table tbody td textarea tfoot th thead "
    "tr ul xmp template marquee iframe video audio canvas".split()
)
"""Elements that start on their own line, including table cells."""

HIDDEN = 1
"""Flag: inside `hidden`, inline `display:none`, a closed `<dialog>` or a hidden input. Scripts of some pages reveal
such parts, so a method may still choose them."""
NOSCRIPT = 2
"""Flag: inside `<noscript>`, which is visible without scripts."""
PREFORMATTED = 4
"""Flag: inside an element of `PREFORMATTED_TAGS`: white space is significant."""

INHERITED_FLAGS = HIDDEN | NOSCRIPT | PREFORMATTED

MAX_VALUE = 4096
"""Longer attribute values are truncated; longer URLs are omitted, since a truncated one points elsewhere."""
MAX_VALUES = 50_000_000
"""Bytes of the names and values of all attributes, unless the page itself is longer. Elements that the parser reopens
count again: 100 KB of such a page have 200 MB of attributes."""
MAX_TAG = 100
"""Characters of a tag name of the page's own; longer ones are truncated, since every path to an element has them."""
ADDRESS_ATTRIBUTES: frozenset[str] = frozenset("href src data-src background cite".split())
TAB_PANEL = "tabpanel"
"""The role of the contents of a tab, which a click shows. On `pages-wcxb` 87 % of the words in hidden ones are content,
7 % of those in other hidden elements."""
REACT_SEGMENT = "S:"
"""React's streaming server rendering sends late parts as `<div hidden id="S:n">`, which a script moves into place; on
`pages-wcxb` whole articles are in such a part."""

_BETWEEN = "\x1f"  # white space to `str.split`, so no folded value contains it
_CLASS_PART = re.compile(r"[-_]+")
_HAS_DIGIT_OR_UPPER = re.compile(r"[0-9A-Z]")
_DIGITS = re.compile(r"[0-9]+")
_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
_URL_VALUE = re.compile(r"url\([^)]*\)")
_NUMBER = re.compile(r"-?[0-9.]+")
_MIN_HASH_LENGTH = 5


def _canonical_part(part: str) -> str:
    """Replace a generated hash, or the numbers, in a part of a class token by `#`.

    A part is a hash if letters and digits alternate (`1q2w3e`), or if its case changes at every other character
    (`bdVaJa`); `headerNav` and `level10` are not.
    """
    boundaries = len(_CASE_BOUNDARY.findall(part))
    if len(part) >= _MIN_HASH_LENGTH:
        has_digit = _DIGITS.search(part) is not None
        if (has_digit and boundaries >= 2) or boundaries * 2 >= len(part):
            return "#"
    return _DIGITS.sub("#", part)


def _canonical_token(token: str) -> str:
    """Replace numbers and hashes in a class token: `post-12345` is `post-#`, `Card_x7Gh2q` is `Card-#`."""
    return "-".join(map(_canonical_part, _CLASS_PART.split(token)))


def canonical_class(value: str) -> str:
    """Return the distinct class tokens, sorted, with numbers and generated hashes replaced by `#`."""
    tokens: Iterable[str] = value.split()
    if _HAS_DIGIT_OR_UPPER.search(value) is not None:
        tokens = [_canonical_token(token) if _HAS_DIGIT_OR_UPPER.search(token) else token for token in tokens]
    return " ".join(sorted(set(tokens)))


def _canonical_inline_style(value: str) -> str:
    """Return the sorted declarations of an inline style without URLs and numbers, which scripts compute per page."""
    if "url(" in value:
        end = value.rfind(")") + 1  # the pattern would look for an end behind the last one at every start
        value = _URL_VALUE.sub("url()", value[:end]) + value[end:]
    plain = "".join(_NUMBER.sub("#", value.lower()).split())
    return ";".join(sorted({part for part in plain.split(";") if ":" in part and not part.startswith("--")}))


def canonical_style(tag: str, display: Iterable[tuple[str, str]]) -> str:
    """Return the pair (TAG, Attr) of thesis 4.2.1 as one string, separated by U+001F: `table bgcolor=red width=800`.

    Attribute order, case of values and extra white space do not matter; numbers in attributes do.
    """
    parts = []
    for name, value in display:
        if name == "class":
            canonical = canonical_class(value)
        elif name == "style":
            canonical = _canonical_inline_style(value)
        else:
            canonical = " ".join(value.lower().split())
        if canonical or name not in ("class", "style", "role"):
            parts.append(f"{name}={canonical}")
    parts.sort()
    return _BETWEEN.join([tag, *parts])


def style_hash(tag: str, display: Iterable[tuple[str, str]]) -> int:
    """Return the 64-bit xxh3 of `canonical_style`, the same on every machine."""
    return xxh3_64_intdigest(canonical_style(tag, display).encode("utf-8", "replace"))


def shape_hash(tag: str, role: str) -> int:
    """Return the 64-bit xxh3 of tag and role only, for sites with generated class names."""
    return xxh3_64_intdigest(f"{tag}{_BETWEEN}{' '.join(role.lower().split())}".encode("utf-8", "replace"))


def is_hidden(tag: str, attributes: Iterable[tuple[str, str]]) -> bool:
    """Whether browsers hide this element, without scripts and by its own attributes; the contents of tabs do not count
    as hidden.
    """
    own = dict(attributes)
    if own.get("role", "").strip().lower() == TAB_PANEL:
        return False
    if "hidden" in own and own["hidden"].strip().lower() != "until-found":
        return not (tag == "div" and own.get("id", "").startswith(REACT_SEGMENT))
    if tag == "dialog" and "open" not in own:
        return True
    if tag == "input" and own.get("type", "").strip().lower() == "hidden":
        return True
    return "style" in own and _displays_none(own["style"])


def _displays_none(style: str) -> bool:
    shown = ""
    for declaration in style.lower().split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() == "display":
            shown = value.partition("!")[0].strip()
    return shown == "none"


def is_shadow_root(tag: str, attributes: Iterable[tuple[str, str]]) -> bool:
    """Whether a template is a declarative shadow root, whose content browsers show."""
    return tag == "template" and any(n == "shadowrootmode" and v.lower() in ("open", "closed") for n, v in attributes)
