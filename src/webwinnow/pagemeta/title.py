"""The title: headings and the head's titles, which agree but for the site's name beside a separator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from webwinnow.pagemeta.spelling import squeezed

__all__ = ["chosen_title", "is_placeholder"]

MAX_CUTS = 10
"""Separators of one title at which it is cut."""
ALIKE = 0.5
"""Share of its words that a heading has in common with a title of the head, to be another wording of it."""
_SEPARATOR = re.compile(r"\s+(?:[|·•»«›/–—~-]+|::+)\s+|\s*[|»]\s*|:\s+")
"""What stands between a page's title and its site's name."""
_WORD = re.compile(r"\w+")
_PLACEHOLDERS = frozenset(
    (
        "untitled untitleddocument untitledpage newpage newdocument notitle pagetitle yourtitle titlehere title "
        "document inserttitlehere documenttitle defaulttitle sanstitre documentsanstitre documentosintítulo "
        "documentosintitulo documentosemtítulo documentosemtitulo documentosenzatitolo unbenanntesdokument unbenannt "
        "naamloosdocument безымянныйдокумент новаястраница 无标题文档 無標題文件 无标题 新建网页 無題ドキュメント 無題 "
        "제목없음 reactapp viteapp vitereact vitevue vitevuets vitereactts createnextapp"
    ).split()
)
"""What editing tools write where a title should stand, squeezed: "Untitled Document" of Dreamweaver, "New Page 1" of
FrontPage and their translations (DocView 6), and what today's project starters leave."""
LONGEST_PLACEHOLDER = 40
_NUMBERED = re.compile(r"[\W\d_]+$")


def chosen_title(said: Sequence[str], headings: Sequence[str], is_site: Callable[[str], bool]) -> str | None:
    """The title of a page whose head says `said`, the most telling first, and which shows these headings.

    A heading that is also a title of the head, whole or beside a separator, is the title. Then a heading that has
    most of its words in common with one; then the head's title without the site's name; then any heading. What
    tools left in the head is no title.
    """
    said = [whole for whole in said if not is_placeholder(whole)]
    own = [heading for heading in headings if not is_site(heading)]
    plain = [squeezed(heading) for heading in own]
    for cut in (_wholes, _spans) if own else ():
        spans = {squeezed(span): span for whole in reversed(said) for span in cut(whole)}
        for heading, spelled in zip(own, plain, strict=True):
            span = spans.get(spelled)
            if span is not None:  # of two spellings the one with more blanks: a heading may break its lines without
                return span if span.count(" ") > heading.count(" ") else heading
    for heading in own:
        if any(_alike(heading, whole) >= ALIKE for whole in said):
            return heading
    telling = [whole for whole in said if not is_site(whole)]
    if telling:
        return _without_site(telling[0], is_site)
    return next(iter((*own, *said, *headings)), None)


def is_placeholder(title: str) -> bool:
    """Whether a title was left by an editing tool and says nothing, such as "Untitled Document" or "New Page 1"."""
    return len(title) <= LONGEST_PLACEHOLDER and squeezed(_NUMBERED.sub("", title)) in _PLACEHOLDERS


def _wholes(whole: str) -> Iterator[str]:
    yield whole


def _spans(whole: str) -> Iterator[str]:
    """What is left of a title when it is cut at a separator, from either side."""
    for cut in islice(_SEPARATOR.finditer(whole), MAX_CUTS):
        yield whole[: cut.start()]
        yield whole[cut.end() :]


def _alike(heading: str, whole: str) -> float:
    words = set(_WORD.findall(heading.casefold()))
    return len(words & set(_WORD.findall(whole.casefold()))) / len(words) if words else 0.0


def _without_site(whole: str, is_site: Callable[[str], bool]) -> str:
    """A title of the head less the name beside a separator: the site's, or the shorter last part if none is known."""
    cuts = list(islice(_SEPARATOR.finditer(whole), MAX_CUTS))
    for cut in cuts:
        if cut.start() and is_site(whole[cut.end() :]):
            return whole[: cut.start()]
    for cut in reversed(cuts):
        if is_site(whole[: cut.start()]) and cut.end() < len(whole):
            return whole[cut.end() :]
    if cuts and ":" not in cuts[-1][0]:
        before, after = whole[: cuts[-1].start()], whole[cuts[-1].end() :]
        if before and after.count(" ") <= before.count(" "):
            return before
    return whole
