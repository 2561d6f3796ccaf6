"""`CleanPage`: a page, the verdict on it, and what can be read off the two: text, Markdown, HTML, the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from webwinnow._kernels import count_words
from webwinnow.blocks import cut
from webwinnow.cleaning import DEFAULT_METHOD, REASONS, CleaningSettings, Verdict, method
from webwinnow.cleaning.noise import KINDS
from webwinnow.cleaning.verdict import NO_CONTENT_REASON
from webwinnow.errors import SettingsError
from webwinnow.markup import TAG_CODE
from webwinnow.metadata import metadata
from webwinnow.pagetree import PageTree
from webwinnow.parse import language_of
from webwinnow.records import Dropped, Kept, Outcome
from webwinnow.render import to_html, to_markdown, to_text
from webwinnow.site.knowledge import SiteKnowledge
from webwinnow.urls import is_web_link

__all__ = ["OUTPUTS", "CleanPage", "Decision", "clean_page"]

OUTPUTS = ("text", "markdown", "html")


class Decision(NamedTuple):
    """What was decided on one block of text, and why."""

    kept: bool
    reason: str
    xpath: str
    text: str
    score: float | None = None
    """What decided, where the method has degrees: the probability of being main content."""
    kind: str | None = None
    """The kind of the region, where it was removed (or came back for a task) and somebody has asked for kinds."""


def clean_page(
    tree: PageTree,
    method_name: str = DEFAULT_METHOD,
    model: SiteKnowledge | None = None,
    settings: CleaningSettings | None = None,
) -> CleanPage:
    """Clean one page with a method, and a model of its site where the method asks for one."""
    return CleanPage(tree, method(method_name).clean(tree, model, settings or CleaningSettings(), None))


@dataclass(frozen=True, slots=True, eq=False)
class CleanPage:
    """A page and the verdict on it. Nothing is rendered before it is asked for."""

    tree: PageTree
    verdict: Verdict

    @property
    def text(self) -> str:
        """The kept parts as plain text."""
        return to_text(self.tree, self.verdict.keep, self.verdict.keep_runs)

    @property
    def markdown(self) -> str:
        """The kept parts as Markdown."""
        return to_markdown(self.tree, self.verdict.keep, self.verdict.keep_runs)

    @property
    def html(self) -> str:
        """The kept parts as sanitised HTML."""
        return to_html(self.tree, self.verdict.keep, self.verdict.keep_runs)

    def render(self, output: str) -> str:
        """The kept parts as `text`, `markdown` or `html`."""
        if output not in OUTPUTS:
            raise SettingsError(f"there is no output {output!r}; there are: {', '.join(OUTPUTS)}")
        rendered: str = getattr(self, output)
        return rendered

    @property
    def links(self) -> list[str]:
        """Where the kept links point: absolute http(s) addresses, each once, in page order."""
        nodes, hrefs = self.tree.values("href")
        wanted = self.verdict.keep[nodes] & (self.tree.tag[nodes] == TAG_CODE["a"])
        found: dict[str, None] = {}
        for k in np.flatnonzero(wanted).tolist():
            target = self.tree.resolve(hrefs[k]) if not hrefs[k].startswith("#") else None
            if target is not None and is_web_link(target):
                found.setdefault(target)
        return list(found)

    @property
    def outcome(self) -> Outcome:
        """`Kept`, or `Dropped` for a page without anything to read."""
        return self._outcome(self.kept_words)

    def _outcome(self, kept_words: int) -> Outcome:
        if self.tree.reason is not None:
            return Dropped(self.tree.reason)
        if kept_words:
            return Kept()
        without = bool((self.verdict.run_reason == NO_CONTENT_REASON).any())
        return Dropped("no main content" if without else "nothing left to read")

    def decisions(self) -> Iterator[Decision]:
        """Block by block, in page order, what was decided."""
        blocks = cut(self.tree)
        for b, text in enumerate(blocks.texts()):
            if text:
                runs = slice(int(blocks.first_run[b]), int(blocks.first_run[b + 1]))
                kept = bool(self.verdict.keep_runs[runs].any())
                reason = int(self.verdict.run_reason[runs].min() if kept else self.verdict.run_reason[runs].max())
                owners = self.tree.run_owner[runs]
                score = None if self.verdict.confidence is None else float(self.verdict.score[owners].max())
                xpath = self.tree.xpath(int(blocks.owner[b]))
                yield Decision(kept, REASONS[reason], xpath, text, score, self._kind(int(owners[0])))

    def _kind(self, node: int) -> str | None:
        sure = self.verdict.kind_score
        return None if sure is None or not sure[node] else KINDS[int(self.verdict.kind[node])].name

    def record(self, *, also: tuple[str, ...] = ()) -> dict[str, Any]:
        """The page's record (see `io.schema`), without what only the run knows: `page_id`, `site`."""
        about = metadata(self.tree)
        text = self.text
        kept_words = self.kept_words
        outcome = self._outcome(kept_words)
        record: dict[str, Any] = {
            "url": self.tree.url,
            "outcome": "kept" if isinstance(outcome, Kept) else "dropped",
            "reason": outcome.reason if isinstance(outcome, Dropped) else self.verdict.note,
            "method": self.verdict.method,
            "genre": self.verdict.genre,
            "title": about.title,
            "author": about.author,
            "date": about.date,
            "keywords": [],
            "text": text,
            "links": self.links,
            "lang": about.language or language_of(text),
            "confidence": self.verdict.confidence,
            "kept_words": kept_words,
            "all_words": self.all_words,
            "site_name": about.site_name,
            "description": about.description,
        }
        for output in also:
            record[output] = self.render(output)
        return record

    @property
    def kept_words(self) -> int:
        """How many words stay."""
        kept = self.verdict.keep_runs & self.verdict.keep[self.tree.run_owner]
        return count_words(self.tree.text, self.tree.run_start, kept)

    @property
    def all_words(self) -> int:
        """How many words the page shows."""
        return count_words(self.tree.text, self.tree.run_start, self.tree.visible[self.tree.run_owner])
