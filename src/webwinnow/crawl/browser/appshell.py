"""`is_app_shell`: whether a page's HTML shows little because scripts draw it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from webwinnow.errors import PageRefused
from webwinnow.page.markup import HIDDEN
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree

LITTLE_TEXT: Final = 200
"""Characters, without white space, that an empty page may show, such as "Loading" or "This page needs JavaScript"."""
_SCRIPT: Final = re.compile(rb"<script[\s>]", re.IGNORECASE)


def is_app_shell(tree: PageTree, body: bytes) -> bool:
    """Whether a page has a script but little text, that in `<noscript>` included."""
    return _SCRIPT.search(body) is not None and shown_characters(tree) < LITTLE_TEXT


def shows_little(body: bytes, url: str, content_type: str | None) -> bool:
    """Whether a page as it was fetched is an application shell; False for one that cannot be parsed."""
    try:
        return is_app_shell(parse(body, url=url, content_type=content_type), body)
    except PageRefused:
        return False


def shown_characters(tree: PageTree) -> int:
    """Count the characters that the HTML shows without scripts, white space excluded."""
    shown = (tree.flags[tree.run_owner] & HIDDEN) == 0
    return sum(len("".join(tree.run(int(r)).split())) for r in np.flatnonzero(shown))
