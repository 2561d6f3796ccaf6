"""`Sections`: headings and what they head, sentences that introduce a list, code, figures and the headline of a page.

Part of the logical segmentation of a page (thesis 6.1b), computed once per page as arrays over its blocks with text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._sections import outline
from webwinnow.blocks import Blocks
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.pagemeta.hints import Hints, shared_words, squeezed, title_parts

BESIDE = 1
"""Words beside a heading, such as "edit", with which an element is only the heading's own."""
ROLE_LEVEL = 2
"""The level of an element with the role of a heading (its default in ARIA)."""
MAX_HEADINGS = 64
"""Headings that are compared with the page's titles."""
MAX_FOUND = 4
"""Places in the text at which a part of a title is looked up."""
SIMILAR = 0.5
"""Share of a first-level heading's words that occur in a title of the head, to count as another wording of it."""
LONGEST = 1_000
"""Characters of a longest headline."""
_LEVEL, _LISTS, _CODE, _FIGURE, _PICTURE, _BOUND = 7, 8, 16, 32, 64, 128
_ROLES = {
    _LISTS: "ul ol dl menu dir table pre listing xmp plaintext",
    _CODE: "pre listing xmp plaintext",
    _FIGURE: "figure",
    _PICTURE: "img image picture svg video canvas object embed",
    _BOUND: "ul ol dl menu dir table li aside nav footer form details dialog",
}
_ROLE = np.zeros(CUSTOM_TAG + 1, np.uint8)
for _level in range(1, 7):
    _ROLE[TAG_CODE[f"h{_level}"]] = _level
for _role, _names in _ROLES.items():
    _ROLE[[TAG_CODE[name] for name in _names.split()]] |= _role


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sections:
    """Arrays over the blocks with text of a page.

    `level[k]` is the level of the heading that block k is, 0 for other text. `heading[k]` is the first block of the
    heading that k is under, -1 for none; further lines of a heading are under its first. `end[k]` is the block after
    the last that k heads, or introduces if it is no heading; 0 for none. `code[k]` and `figure[k]` are the nodes of the
    code and of the figure with a picture that k is in, -1 for none.
    """

    level: NDArray[np.uint8]
    heading: NDArray[np.int32]
    end: NDArray[np.int32]
    code: NDArray[np.int32]
    figure: NDArray[np.int32]

    def lines(self, k: int) -> slice:
        """The blocks of the heading that begins with block k, or k alone."""
        after = k + 1
        while after < len(self.level) and self.level[after] and self.end[after] == 0 and self.heading[after] == k:
            after += 1
        return slice(k, after)


def find_sections(blocks: Blocks, said: NDArray[np.int32], words: NDArray[np.int32]) -> Sections:
    """Find the sections of a page, whose blocks with text are `said` and have so many `words`.

    A section ends at the next heading of the same or a higher level, or with the element that contains it: the nearest
    around the heading with more than a few words of other text.
    """
    tree = blocks.tree
    role = _ROLE[np.minimum(tree.tag, CUSTOM_TAG)]
    at = np.flatnonzero(tree.attr_name == ATTRIBUTE_CODE["role"])
    for k in at[tree.attr_start[at + 1] - tree.attr_start[at] == len("heading")].tolist():
        if tree.attr_text[tree.attr_start[k] : tree.attr_start[k + 1]] == "heading":
            node = tree.attr_node[k]
            role[node] |= 0 if role[node] & _LEVEL else ROLE_LEVEL
    start, stop = tree.run_start[blocks.first_run[said]], tree.run_start[blocks.first_run[said + 1]]
    level, heading, end, code, figure = outline(
        tree.parent, tree.text_start, tree.text_end, role, tree.text, blocks.owner[said], start, stop, words, BESIDE
    )
    return Sections(level=level, heading=heading, end=end, code=code, figure=figure)


def headlines(blocks: Blocks, said: NDArray[np.int32], sections: Sections) -> list[list[int]]:
    """Blocks that may be the headline, the best first: lists of equally good ones in page order.

    First headings that are a title of the head, then those that are a part of one, then other text that is a title or a
    part of one, then first-level headings that share most words with a title, then all first-level headings. Names of
    the site and hidden text do not count.
    """
    tree = blocks.tree
    start, stop = tree.run_start[blocks.first_run[said]], tree.run_start[blocks.first_run[said + 1]]
    visible = tree.visible[tree.run_owner[blocks.first_run[said]]]
    hints = Hints(tree)
    declared = hints.declared
    parts = {part: squeezed(part) for title in declared for part in _parts(title)}
    known = {plain for part, plain in parts.items() if plain and not hints.is_site(part)}
    whole = known & {parts[title] for title in declared}
    graded: list[list[int]] = [[], [], [], [], []]
    for k in np.flatnonzero((sections.level > 0) & (sections.end > 0) & visible)[:MAX_HEADINGS].tolist():
        text = tree.text[start[k] : stop[sections.lines(k).stop - 1]]
        plain = squeezed(text[:LONGEST])
        if not plain or hints.is_site(text):
            continue
        is_first = sections.level[k] == 1
        similar = is_first and any(shared_words(text, title) >= SIMILAR for title in declared)
        grade = 0 if plain in whole else 1 if plain in known else 3 if similar else 4 if is_first else None
        if grade is not None:
            graded[grade].append(k)
    if not graded[0] and not graded[1]:
        graded[2] = sorted({k for part in parts if parts[part] in known for k in _written(blocks, part, start, stop)})
        graded[2] = [k for k in graded[2] if visible[k]]
    return [found for found in graded if found]


def _parts(title: str) -> Iterator[str]:
    """Yield a title, its parts, and theirs: the middle of three parts too."""
    yield title
    for part in title_parts(title):
        yield part
        yield from title_parts(part)


def _written(blocks: Blocks, part: str, start: NDArray[np.int32], stop: NDArray[np.int32]) -> list[int]:
    """Blocks whose text is a part of a title, of two words or more."""
    text, found, at = blocks.tree.text, [], -1
    for _ in range(MAX_FOUND if " " in part else 0):
        at = text.find(part, at + 1)
        if at < 0:
            break
        k = int(start.searchsorted(at, side="right")) - 1
        if k >= 0 and stop[k] - start[k] <= LONGEST and squeezed(text[start[k] : stop[k]]) == squeezed(part):
            found.append(k)
    return found
