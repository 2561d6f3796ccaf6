"""Tails: what follows the article on its page, found by structure: readers' comments, further articles, link teasers.

An article is a page with enough probable prose before the tail; threads, listings, products and documentation have no
tail. Comments and further articles are recognised by their dates: comments are at least three texts, each with a short
line that contains a date in the same place, whose elements are not those of the article; a further article has a
heading of the headline's level and a date, in an element like the article's own, or is an `<article>` beside it that
begins with such a heading. Running text that the page model is confident about is never cut for its position alone.
Lines between the paragraphs that consist of `Read also:` and a link are cut too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge._judging import link_shares, may_be_stamps
from webwinnow.judge.evidence import evidence_of, owner_of, sections_of, spans_of
from webwinnow.judge.reading import GENRES
from webwinnow.judge.wholes import headline
from webwinnow.lazy import lazy_property
from webwinnow.page._nodes import nearest
from webwinnow.page.hints import SIMILAR, shared_words
from webwinnow.page.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.page.page import Page

LEAST_PROSE, FEW_LINKS, SURE = 12, 0.3, 0.5
"""Prose are blocks of at least so many words, with at most this share of links; in front of comments they have at
least this probability."""
LEAST_ARTICLE, LEAST_WITH_COMMENTS = 0.4, 0.2
"""Probability of the genre article of a page with link teasers or further articles, and with comments."""
BEFORE = 50
"""Words of prose of an article, at least."""
STAMP_WORDS, STAMP_SHARE = 14, (0.6, 0.3)
"""Words of a line with a date, at most; the share of the blocks in its place, by styles and by tags, that have one."""
LEAST_COMMENTS = 3
SAID_WORDS, MOST_SAID, FULL = 6, 400, 0.6
"""Median words between the dates of two comments; the share of comments with text."""
OWN_PLACES = 0.5
"""Share of the article that may be in elements like those of the comments: more, and they are entries of one list."""
MOST_POST = 0.3
"""Mean probability of being a post that an article has, at most: the first post of a thread is none."""
INSIDE = 0.8
"""The article's element has this share of its prose."""
TEASER_LINKS, TEASER_OUTSIDE, TEASER_INSIDE = 0.5, 0.7, 0.6
"""Share of links of a teaser; probability below which one is cut outside of the article's element, and inside."""
FURTHER_WORDS, NEAR_HEADING = 30, 12
"""Words of a further article, at least; blocks after its heading among which its date is."""
_ARTICLE = GENRES.index("article")
_QUOTATION = TAG_CODE["blockquote"]
_LINK, _ARTICLE_TAG = TAG_CODE["a"], TAG_CODE["article"]
_DATE = re.compile(
    r"[0-9](?:"
    r"[0-9]{0,3}([./-])[0-9]{1,2}\1[0-9]{2,4}\b"  # 2012-11-05, 5.11.12
    r"|[0-9]?(?:st|nd|rd|th|\.|º)?,?\s+(?:(?:(?:de|of)\s+)?[^\W\d]{3,12}[.,]?\s+(?:de\s+)?|at\s+)?(?:19|20)[0-9]{2}\b"
    r"|[0-9]?,?\s+(?:at\s+)?[0-9]{1,2}:[0-9]{2}"  # May 5 10:32
    r"|[0-9]{0,9}\s?[^\W\d]+\s+ago\b|(?<=\bvor\s[0-9])|(?<=\bhace\s[0-9])|(?<=\bil y a\s[0-9])"
    r"|[0-9]{0,9}\s?(?:天|小时|小時|分钟|分鐘|時間|日)前|[0-9]?\s?月\s?[0-9]{1,2}\s?日)"
)
"""Dates as the lines above comments have them. The pattern begins with a character class: the search is faster so."""
_AGE = re.compile(r"(?:^|[·•|]\s?)[0-9]{1,3}\s?[smhdwy]\W*$")
"""A time since a comment at the end of its line: `Anna · 21h`. Not `20 mins`: recipes have lines of such times."""
_DAYS = ("esterday", "ust now", "Gestern", "Ayer", "Ieri", "Вчера", "昨天", "刚刚")
_DAY_AT_END = re.compile(
    rf"(?:^|[\s·•|,])[YyJj]?(?:{'|'.join(_DAYS)})(?:,?\s+(?:\w+\s+)?[0-9]{{1,2}}:[0-9]{{2}}(?:\s?[ap]m)?)?\W*$"
)
"""A day that a word names at the end of a comment's line: `Anna · Yesterday`, `Yesterday at 10:30`. Not that of today:
shops have lines such as `Best prices today`."""
INLINE_LINKS, INLINE_WORDS = 0.6, 40
"""Share of links of a line with a link to another article, at least, and its words, at most."""
_INLINE = re.compile(
    r"\W*(?:read (?:also|more|next)|also read|related(?: (?:article|story|stories|post|reading))?"
    r"|lesen sie auch|lesen sie mehr|mehr zum thema|(?:à )?lire aussi|lea también|lee también"
    r"|leggi anche|leia (?:também|mais)|lees ook|czytaj (?:także|też|również)|читайте также"
    r"|延伸阅读|相关阅读|推荐阅读|相關閱讀|関連記事)\s*[:：|–—-]",
    re.IGNORECASE,
)
"""Labels before a link to another article, with their colon or dash. True texts have `See also:`, which is not here."""
AGE_WORDS = 6
"""Words of a line that ends with a time since, or with a day's name, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Tails:
    """Which blocks with text are comments, parts of further articles, and link teasers behind the article."""

    comments: NDArray[np.bool_]
    further: NDArray[np.bool_]
    teasers: NDArray[np.bool_]

    @property
    def cut(self) -> NDArray[np.bool_]:
        """The blocks that are removed whatever the settings on comments."""
        found: NDArray[np.bool_] = self.further | self.teasers
        return found

    @property
    def any_cut(self) -> bool:
        """Whether there is such a block."""
        return bool(self.further.any() or self.teasers.any())


def find_tails(
    page: Page, probability: NDArray[np.float64], keep: NDArray[np.bool_], shown: NDArray[np.bool_]
) -> Tails:
    """Find the tails of a page of which the blocks `keep`, with these probabilities, would be kept."""
    none = np.zeros(len(keep), np.bool_)  # never changed
    article = float(evidence_of(page).genre_probability[_ARTICLE])
    if article < LEAST_WITH_COMMENTS or not keep.any():
        return Tails(none, none, none)
    lines = _Lines(page, probability, keep, shown)
    if lines.prose_words(keep) < BEFORE:
        return Tails(none, none, none)
    comments = none if evidence_of(page).genre == "forum" else lines.comments()
    if article < LEAST_ARTICLE:
        return Tails(comments, none, none)
    further = lines.further()
    left = keep & ~comments & ~further
    return Tails(comments, further, lines.teasers(left) | lines.inline(left))


class _Lines:
    """The blocks with text of a page, with what tails are recognised by."""

    def __init__(
        self, page: Page, probability: NDArray[np.float64], keep: NDArray[np.bool_], shown: NDArray[np.bool_]
    ) -> None:
        evidence = evidence_of(page)
        self.page, self.probability, self.shown = page, probability, shown
        self.owner, self.level = owner_of(page), sections_of(page).level
        self.links = _link_share(page)
        self.own_words = evidence.words * (1 - self.links)
        self.prose = keep & (self.own_words >= LEAST_PROSE) & (self.links < FEW_LINKS) & (self.level == 0)
        self.start, self.stop = spans_of(page)

    def prose_words(self, of: NDArray[np.bool_]) -> float:
        """Words of the prose among some blocks."""
        return float(self.own_words[self.prose & of].sum())

    def inside(self, node: int) -> NDArray[np.bool_]:
        """The blocks in an element."""
        found: NDArray[np.bool_] = (self.owner >= node) & (self.owner < self.page.tree.end[node])
        return found

    def around(self, node: int, other: int) -> int:
        """The nearest node that contains both."""
        tree = self.page.tree
        while not node <= other < tree.end[node]:
            node = int(tree.parent[node])
        return node

    def child(self, node: int, above: int) -> int:
        """The child of `above` that contains a node, or `above` itself."""
        while node != above and self.page.tree.parent[node] != above:
            node = int(self.page.tree.parent[node])
        return node

    @lazy_property
    def dated(self) -> NDArray[np.bool_]:
        """The short lines with text after the first prose that contain a date, outside of quotations: an article quotes
        posts of social networks with their dates.
        """
        tree, evidence = self.page.tree, evidence_of(self.page)
        first = int(np.flatnonzero(self.prose)[0]) if self.prose.any() else len(self.owner)
        short = self.shown & (evidence.words <= STAMP_WORDS) & (np.arange(len(self.owner)) > first)
        found, day = may_be_stamps(tree.text, self.start, self.stop, short, _DAYS)
        found |= day
        at = np.flatnonzero(found)
        if not len(at):
            return found
        quoted = tree.tag == _QUOTATION
        if quoted.any():
            found &= nearest(tree.parent, quoted)[self.owner] < 0
            at = np.flatnonzero(found)
        brief = evidence.words[at] <= AGE_WORDS
        spans = zip(self.start[at].tolist(), self.stop[at].tolist(), brief.tolist(), day[at].tolist(), strict=True)
        found[at] = [_is_stamp(tree.text[a:b], is_brief=is_brief, names_day=of_day) for a, b, is_brief, of_day in spans]
        return found

    # Comments

    def comments(self) -> NDArray[np.bool_]:
        """The comments below the article: of all groups of dated lines in one place, the one with most text."""
        tree, best = self.page.tree, np.zeros(len(self.owner), np.bool_)
        if self.dated.sum() < LEAST_COMMENTS:
            return best
        up = [np.maximum(tree.parent, 0)[self.owner]]
        for _ in range(2):
            up.append(np.maximum(tree.parent, 0)[up[-1]])
        known = np.minimum(tree.tag, CUSTOM_TAG).astype(np.uint64)
        tags = known[self.owner]
        for nodes in up:
            tags = tags * np.uint64(CUSTOM_TAG + 1) + known[nodes]
        for place, share in zip((evidence_of(self.page).path, tags), STAMP_SHARE, strict=True):
            keys, counts = np.unique(place[self.dated], return_counts=True)
            for key in keys[counts >= LEAST_COMMENTS]:
                found = self._group(np.flatnonzero((place == key) & self.shown), share)
                if found is not None and self.own_words[found].sum() > self.own_words[best].sum():
                    best = found
        return best

    def _group(self, same: NDArray[np.intp], share: float) -> NDArray[np.bool_] | None:
        """The comments whose dated lines are among the blocks of `same` place; None if they are something else."""
        at, numbers = same[self.dated[same]], np.arange(len(self.owner))
        before = self.prose & (self.probability >= SURE) & (numbers < at[0])
        article = float(self.own_words[before].sum())
        if len(at) < share * (same >= at[0]).sum() or article < BEFORE:
            return None
        text = self.shown & (self.links < TEASER_LINKS)
        said = np.add.reduceat(np.where(text, self.own_words, 0.0), at)[:-1] - self.own_words[at[:-1]]
        if (said >= SAID_WORDS).mean() < FULL or not SAID_WORDS <= np.median(said) <= MOST_SAID:
            return None
        between = text & (numbers > at[0]) & (numbers < at[-1]) & (self.own_words >= SAID_WORDS)
        path, post = evidence_of(self.page).path, evidence_of(self.page).post
        if self.own_words[before & np.isin(path, path[between])].sum() > OWN_PLACES * article:
            return None
        if self.own_words[before] @ post[before] > MOST_POST * article:
            return None
        return self._region(at, before)

    def _region(self, at: NDArray[np.intp], before: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The blocks of the comments with these dated lines, of which `before` is the article."""
        whole = int(self.owner[at[0]])
        for k in at[1:].tolist():
            whole = self.around(whole, int(self.owner[k]))
        inside = self.inside(whole)
        if self.own_words[before & inside].sum() <= FEW_LINKS * self.own_words[before].sum():
            return inside
        first = self.inside(self.child(int(self.owner[at[0]]), whole))
        start = at[0] if (before & first).any() else min(np.flatnonzero(first)[0], at[0])
        stop = at[-1] + 1
        most = stop + np.diff(at).max()  # the last comment is no longer than the longest
        while stop < min(most, len(inside)) and inside[stop] and not self.level[stop]:
            stop += 1
        found = np.zeros(len(inside), np.bool_)
        found[start:stop] = True
        return found

    # Further articles

    def further(self) -> NDArray[np.bool_]:
        """Articles that are appended to the first one, whose headline the title confirms."""
        page, found = self.page, np.zeros(len(self.owner), np.bool_)
        if not self.dated.any() and not (page.tree.tag == _ARTICLE_TAG).sum() > 1:
            return found
        top, is_confirmed = headline(page, self.probability)
        if top is None or not is_confirmed or not self.level[top]:
            return found
        tree, text, numbers = page.tree, evidence_of(page).text, np.arange(len(self.owner))
        for k in np.flatnonzero((self.level == self.level[top]) & (numbers > top) & self.shown).tolist():
            if found[k] or text[k] == text[top] or self.prose_words((numbers > top) & (numbers < k)) < BEFORE:
                continue
            above = self.around(int(self.owner[top]), int(self.owner[k]))
            own, other = self.child(int(self.owner[top]), above), self.child(int(self.owner[k]), above)
            if above in (own, other) or tree.tag[own] != tree.tag[other]:
                continue
            if tree.style[own] != tree.style[other] and tree.tag[own] != _ARTICLE_TAG:
                continue
            inside = self.inside(other)
            is_dated = (self.dated & inside & (numbers <= k + NEAR_HEADING)).any() or self._begins(k, other, top)
            said = self.own_words[inside & (self.links < TEASER_LINKS)].sum()
            if is_dated and said >= FURTHER_WORDS and self.prose_words(self.inside(own)) >= BEFORE:
                found |= inside
        return found

    def _begins(self, heading: int, element: int, top: int) -> bool:
        """Whether an `<article>` begins with a heading and goes on with enough prose to be one without a date.

        Its heading has other words than the headline `top`: the card of a recipe may be an `<article>`, too.
        """
        inside, text = self.inside(element), self.page.tree.text
        own, first = (text[self.start[k] : self.stop[k]] for k in (heading, top))
        if shared_words(own, first) >= SIMILAR:
            return False
        is_first = not (self.shown & inside & (np.arange(len(inside)) < heading)).any()
        is_article = self.page.tree.tag[element] == _ARTICLE_TAG
        return bool(is_first and is_article and self.prose_words(inside) >= BEFORE)

    # Link teasers

    def inline(self, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Kept lines between the paragraphs of the article that consist of a label such as `Read also:` and a link."""
        found, text = np.zeros(len(keep), np.bool_), self.page.tree.text
        candidates = (
            keep & (self.links >= INLINE_LINKS) & (evidence_of(self.page).words <= INLINE_WORDS) & (self.level == 0)
        )
        for k in np.flatnonzero(candidates).tolist():
            found[k] = _INLINE.match(text, int(self.start[k]), int(self.stop[k])) is not None
        return found

    def teasers(self, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Kept link teasers behind the last prose: outside of the article's element, or lists inside of it."""
        page, none = self.page, np.zeros(len(keep), np.bool_)
        prose = np.flatnonzero(self.prose & keep)
        total = self.own_words[prose].sum()
        if total < BEFORE:
            return none
        after = np.arange(len(keep)) > prose[-1]
        candidates = keep & after & (self.links >= TEASER_LINKS) & (self.level == 0)
        if not candidates.any():
            return none
        node = int(self.owner[prose[self.own_words[prose].argmax()]])
        node = int(page.tree.parent[node])
        while self.own_words[self.prose & keep & self.inside(node)].sum() < INSIDE * total:
            node = int(page.tree.parent[node])
        structures, inside = page.structures, self.inside(node)
        listed = (structures.list_of[self.owner] >= 0) | (structures.record_of[self.owner] >= 0)
        doubt = np.maximum(self.probability, evidence_of(page).probability)
        found: NDArray[np.bool_] = candidates & np.where(
            inside, listed & (doubt < TEASER_INSIDE), doubt < TEASER_OUTSIDE
        )
        for k in np.flatnonzero((self.level == 0) & (sections_of(page).end > 0) & keep).tolist():
            found[k + 1 : sections_of(page).end[k]] = False  # a list that a sentence of the article introduces
        return found


def _is_stamp(line: str, *, is_brief: bool, names_day: bool) -> bool:
    """Whether a short line contains a date; a brief one may also end with a time since, or with a day such as
    yesterday.
    """
    if _DATE.search(line) is not None:
        return True
    return is_brief and bool(_AGE.search(line) or (names_day and _DAY_AT_END.search(line)))


def _link_share(page: Page) -> NDArray[np.float64]:
    """The share of each block with text that is inside links, by characters."""
    tree = page.tree
    runs = tree.run_start, tree.run_owner, tree.written_runs
    return link_shares(tree.parent, tree.tag, _LINK, *runs, page.blocks.first_run, evidence_of(page).said)
