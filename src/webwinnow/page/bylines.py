"""`is_name`, `is_interface`, `signed_name`: which texts of a page are the name of somebody, and which only look so."""

from __future__ import annotations

import re

LONGEST_ABBREVIATION = 4
"""Letters before the full stop at a name's end, at most: `Jr.`, `Inc.`, `Corp.`; a longer word ends a sentence."""
_PROSE_AFTER_COMMA = re.compile(r",\s+(?:[^\W\d_A-Z]\w*\W+){3}")
"""A comma and three words in lower case: `March, the plan was over`."""
_INTERFACE = frozenset(
    (
        "a about account all and archive archives articles at author authors back best bestseller bestsellers "
        "bestselling bio blog brand brands browse by categories category click collection collections color colour "
        "comment comments connect contact date department download email facebook favorites favourites featured feed "
        "filter filters follow following for from full genre here home in info instagram item items join latest learn "
        "like linkedin links load location log login me menu more most my name newest news newsletter next now oldest "
        "on our out page pages people pinterest popular popularity post posts previous price print privacy product "
        "products profile profiles rating ratings read recent register related relevance reply report reset resources "
        "results review reviews rss save search season section see select sellers selling services share shop show "
        "sign signup size skip social sort source sources status stock stories story subject submit subscribe tag tags "
        "the this title to toggle tool tools top topic topics trending tweet twitter type unfollow up us view "
        "views visit website whatsapp year you your youtube zip"
    ).split()
)
"""Words of buttons, menus and sort orders. A text that consists of them alone names nobody: `Read More`, `Category`."""
_SIGNED = re.compile(
    r"(?:作\s?者|著者|撰文|[记記]\s?者|기자|글쓴이)\s*[:：]\s*"
    r"(?P<name>[A-Za-z][A-Za-z.' -]*[A-Za-z.]|[^\W\d_][^\s\d,，、。;；|丨()（）\[\]【】/／]{0,19})?"
)
"""Chinese, Japanese and Korean labels before a name, and the name up to a blank, a number or a punctuation mark."""
_SIGNED_NAMES = 2
"""Characters of a name in these scripts, at least."""


def is_interface(text: str) -> bool:
    """Whether a text consists of words of the interface: buttons, menus, sort orders."""
    words = text.casefold().split()
    return bool(words) and all(word.strip(":.,!?›»→…") in _INTERFACE for word in words)


def is_name(text: str) -> bool:
    """Whether a text beside `By`, or in an element marked as the author's, may be a name and not a phrase.

    A sentence ends in a full stop after a whole word or goes on in lower case after a comma; a label of the interface
    has a capital only at its beginning: `Best selling`, `Follow us`.
    """
    words = text.split()
    last = words[-1] if words else ""
    if last.endswith((".", "。")) and "." not in last[:-1] and len(last) - 1 > LONGEST_ABBREVIATION:
        return False
    if _PROSE_AFTER_COMMA.search(text) or is_interface(text):
        return False
    return len(words) == 1 or not (words[0][:1].isupper() and last[:1].islower() and last.isalpha())


def signed_name(text: str) -> str | None:
    """The name behind a label such as `作者：`; "" where a text has only the label, None where it has none."""
    found = None if text.isascii() else _SIGNED.search(text)
    if found is None:
        return None
    name = (found["name"] or "").strip()
    return name if len(name) >= _SIGNED_NAMES or not text[found.end() :].strip() else None
