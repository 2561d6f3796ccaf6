"""`Cleaner`: how pages are cleaned, in one place: the method, wholes, the task, then the kinds of what was removed.

It returns a `CleanPage`: a page and the verdict on it, and what follows: text, Markdown, HTML, the record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from webwinnow.errors import SettingsError
from webwinnow.judge.evidence import PageEvidence, page_with
from webwinnow.judge.explanations import Cause, Causes
from webwinnow.judge.kinds import KIND_CODE, KINDS, with_kinds
from webwinnow.judge.tasks import DEFAULT_TASK, Task, for_task, task_of
from webwinnow.judge.verdict import Reason, Verdict, keep_around
from webwinnow.judge.wholes import with_wholes
from webwinnow.lazy import lazy_property
from webwinnow.methods.registry import DEFAULT_METHOD, DEFAULT_SETTINGS, CleaningSettings, Method, method_named
from webwinnow.methods.viewsettings import ViewSettings
from webwinnow.page.blocks import runs_of_nodes
from webwinnow.page.linktargets import without_sharing
from webwinnow.page.metadata import Metadata, fields_of
from webwinnow.page.page import Page
from webwinnow.page.parsing import language_of, parse
from webwinnow.page.records import Dropped, Kept, Outcome
from webwinnow.page.tree import PageTree
from webwinnow.plugins import meant
from webwinnow.record import view as docview
from webwinnow.record.flow import to_text
from webwinnow.record.html import to_html
from webwinnow.record.markdown import to_markdown
from webwinnow.settings import Settings
from webwinnow.site.learned import LearnedSite

if TYPE_CHECKING:
    from webwinnow.judge.selection import Selection
    from webwinnow.methods.method_docview import FeatureVector
    from webwinnow.record.view import Categories, DocView

OUTPUTS = ("text", "markdown", "html")


class Decision(NamedTuple):
    """The decision on one block of text, and its reason."""

    kept: bool
    reason: str
    xpath: str
    text: str
    score: float | None = None
    """The probability of being main content, where the method has one."""
    kind: str | None = None
    """The kind of the block (`cleaning.kinds.KINDS`): posts, or, if kinds were recognised, that of removed text."""
    because: tuple[Cause, ...] = ()
    """The causes of the score, strongest first, if explained."""
    structure: str = ""
    """The table or list that the block is in, with its row and column, if explained."""


@dataclass(frozen=True, eq=False)
class CleanPage:
    """A page, the verdict on it, and the model of its site. Nothing is rendered until it is asked for, and all once.

    `cleaner` has the settings that the page was cleaned with, and those of its `view`; None for the defaults.
    """

    page: Page
    verdict: Verdict
    model: LearnedSite | None = None
    cleaner: Cleaner | None = None

    @property
    def tree(self) -> PageTree:
        """The page as it was parsed."""
        return self.page.tree

    @lazy_property
    def kept_tree(self) -> PageTree:
        """The page without the words that the verdict removes from kept runs, with the same nodes and runs."""
        return self.verdict.reduced(self.tree)

    @lazy_property
    def text(self) -> str:
        """The kept parts as plain text."""
        return to_text(self.kept_tree, self.verdict.keep, self.verdict.keep_runs)

    @property
    def markdown(self) -> str:
        """The kept parts as Markdown."""
        return to_markdown(self.kept_tree, self.verdict.keep, self.verdict.keep_runs)

    @property
    def html(self) -> str:
        """The kept parts as sanitised HTML."""
        return to_html(self.kept_tree, self.verdict.keep, self.verdict.keep_runs)

    def render(self, output: str) -> str:
        """The kept parts as `text`, `markdown` or `html`."""
        if output not in OUTPUTS:
            raise SettingsError(f"there is no output {output!r}; {meant(output, list(OUTPUTS))}")
        rendered: str = getattr(self, output)
        return rendered

    @property
    def links(self) -> list[str]:
        """The distinct http(s) URLs that the kept links point at, in page order; none that shares the page."""
        return without_sharing(self.tree.url, self.tree.links(self.verdict.keep).urls())

    @property
    def outcome(self) -> Outcome:
        """`Kept`, or `Dropped` for a page without text."""
        return self._outcome(self.kept_words)

    def _outcome(self, kept_words: int) -> Outcome:
        if self.tree.reason is not None:
            return Dropped(self.tree.reason)
        if kept_words:
            return Kept()
        if bool((self.verdict.run_reason == Reason.NO_CONTENT).any()):
            return Dropped(f"no main content: {self.verdict.note}")
        return Dropped("nothing left to read" if self.all_words else "no main content: no text in the HTML")

    def decisions(self, *, explain: bool = False) -> Iterator[Decision]:
        """The decision on each block, in page order; `explain` adds the causes of each score, and takes longer.

        If kinds were recognised, `explain` also adds what has no text and is not content, kept or not.
        """
        page, causes = self.page, Causes()
        if explain:
            cleaner = self.cleaner or Cleaner.of(self.verdict.method)
            if cleaner.method.explain is not None:
                causes = cleaner.method.explain(page, self.model, cleaner.own)
        blocks, structures = page.blocks, page.structures if explain else None
        text_free = deque(self._with_kind_only() if explain else ())
        for b, text in enumerate([*blocks.texts(), ""]):
            while text_free and (b == len(blocks.owner) or (text and text_free[0] < blocks.owner[b])):
                yield self._without_text(text_free.popleft())
            if text:
                runs = slice(int(blocks.first_run[b]), int(blocks.first_run[b + 1]))
                kept = bool(self.verdict.keep_runs[runs].any())
                reason = int(self.verdict.run_reason[runs].min() if kept else self.verdict.run_reason[runs].max())
                owners = self.tree.run_owner[runs]
                score = None if self.verdict.confidence is None else float(self.verdict.score[owners].max())
                yield Decision(
                    kept,
                    Reason(reason).text,
                    self.tree.xpath(int(blocks.owner[b])),
                    text,
                    score,
                    self._kind(int(owners[0])),
                    causes.get(b, ()),
                    "" if structures is None else structures.says(int(blocks.owner[b])),
                )

    def _with_kind_only(self) -> list[int]:
        """The largest elements without text that were given a kind."""
        tree, sure = self.tree, self.verdict.kind_score
        if sure is None:
            return []
        says = np.concatenate(([0], np.cumsum(tree.written_runs)))
        first, last = runs_of_nodes(tree)
        given = sure > 0
        found: list[int] = np.flatnonzero(given & (says[first] == says[last]) & ~given[tree.parent]).tolist()
        return found

    def _without_text(self, node: int) -> Decision:
        """The decision on an element without text: its tag, and the label or URL of what it shows."""
        tree = self.tree
        shown = [tree.attributes(i) for i in range(node, int(tree.end[node]))]
        labels = [found.get(name) for name in ("alt", "aria-label", "title", "src", "id", "class") for found in shown]
        text = " ".join(f"<{tree.tag_name(node)}> {next(filter(None, labels), '')}".split())
        kept, reason = bool(self.verdict.keep[node]), Reason(int(self.verdict.reason[node])).text
        return Decision(kept, reason, tree.xpath(node), text, kind=self._kind(node))

    def _kind(self, node: int) -> str | None:
        kind, sure = int(self.verdict.kind[node]), self.verdict.kind_score
        known = kind != KIND_CODE["content"] or (sure is not None and sure[node] > 0)
        return KINDS[kind].name if known else None

    def _about(self, fetched: str | None = None) -> Metadata:
        """What the page declares; its date is not after it was `fetched`."""
        if fetched not in self._found:
            is_shared = None if self.model is None else self.model.shares_name
            self._found[fetched] = fields_of(self.page.hints.on_site(is_shared, fetched))
        return self._found[fetched]

    @lazy_property
    def _found(self) -> dict[str | None, Metadata]:
        return {}

    @property
    def _view_settings(self) -> ViewSettings:
        return ViewSettings() if self.cleaner is None else self.cleaner.view

    @property
    def view(self) -> DocView:
        """The page as a `DocView`: type, title, keywords, abstract, content, relevant links."""
        return self.docview()

    @property
    def language(self) -> str | None:
        """The language of the page: declared, or else detected in the main content."""
        return self._language(next(iter(self._found.values()), None) or self._about())

    def _language(self, about: Metadata) -> str | None:
        return about.language or self._text_language

    @lazy_property
    def _text_language(self) -> str | None:
        return language_of(self._texts[0])

    @property
    def features(self) -> FeatureVector:
        """The weighted words of what is kept (DocView 3.2), which keywords and category come from."""
        return docview.features_of(self.kept_tree, self.verdict, self.language, self._view_settings)

    def docview(self, settings: ViewSettings | None = None, categories: Categories | None = None) -> DocView:
        """As `view`, with other settings and a model of categories."""
        return self._view(self._about(), settings, categories)

    def _view(self, about: Metadata, settings: ViewSettings | None, categories: Categories | None) -> DocView:
        if categories is not None:
            categories.check_method(self.verdict.method)
        language, text = self._language(about), self._texts[0]
        settings = settings or self._view_settings
        return docview.view_of(self.kept_tree, self.verdict, about, text, language, settings, categories)

    def record(
        self,
        *,
        also: tuple[str, ...] = (),
        categories: Categories | None = None,
        view: bool = True,
        fetched: str | None = None,
    ) -> dict[str, Any]:
        """The page's record (see `record.fields`), without `page_id` and `site`, which only the run knows.

        Without `view` there are no type, category, keywords, abstract and summary, and the links are those kept. No
        page is published after it was `fetched`, an ISO 8601 time; without that, not after today.
        """
        about = self._about(fetched)
        text, comments = self._texts
        seen = self._view(about, None, categories) if view else None
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
            "text": text,
            "confidence": self.verdict.confidence,
            "kept_words": kept_words,
            "all_words": self.all_words,
            "site_name": about.site_name,
            "description": about.description,
        }
        if seen is None:
            record |= {"links": self.links, "lang": self._language(about)}
        else:
            record |= {
                "type": seen.type,
                "category": seen.category,
                "title": seen.title,
                "keywords": list(seen.keywords),
                "abstract": seen.abstract,
                "links": list(seen.links),
                "relevant_links": list(seen.relevant_links),
                "lang": seen.language,
                "summary": seen.summary,
            }
        for output in also:
            record[output] = self.render(output)
        if comments is not None:
            record["comments"] = comments
        return record

    @lazy_property
    def _texts(self) -> tuple[str, str | None]:
        """The text of the main content, and that of readers' posts where they are kept beside it."""
        posts = self.verdict.post_runs
        if posts is None:
            return self.text, None
        masks = (self.verdict.keep_runs & ~posts, posts)
        content, comments = (to_text(self.kept_tree, keep_around(self.tree, runs), runs) for runs in masks)
        return content, comments

    @property
    def kept_words(self) -> int:
        """Number of kept words."""
        tree = self.kept_tree
        return int(tree.run_words[self.verdict.keep_runs & self.verdict.keep[tree.run_owner]].sum())

    @property
    def all_words(self) -> int:
        """Number of visible words."""
        return self.tree.all_words


@dataclass(frozen=True, slots=True)
class Cleaner:
    """A method with its settings, the task that says which removed regions are kept, and whether to recognise kinds.

    `selection` are parts that are kept or removed whatever the method says. `Cleaner.of` takes the method and the task
    by name.
    """

    method: Method
    settings: CleaningSettings
    task: Task
    kinds: bool = False
    selection: Selection | None = None
    own: Settings | None = field(init=False, repr=False)
    """The settings of the method."""
    view: ViewSettings = field(init=False, repr=False)
    """The settings of type, keywords, abstract and relevant links."""
    completes: bool = field(init=False, repr=False)
    """Whether wholes are kept or removed whatever the method says of their blocks."""

    def __post_init__(self) -> None:
        group = self.method.group
        object.__setattr__(self, "own", None if group is None else getattr(self.settings, group))
        object.__setattr__(self, "view", self.settings.docview)
        object.__setattr__(self, "completes", group != "page" and self.settings.wholes.complete)

    @classmethod
    def of(
        cls,
        method: str = DEFAULT_METHOD,
        settings: CleaningSettings | None = None,
        task: str | Task = DEFAULT_TASK,
        *,
        kinds: bool = False,
        selection: Selection | None = None,
    ) -> Cleaner:
        """The cleaner of a method and a task (a name, or a file as in `task_of`). Raises `SettingsError`."""
        wanted = task if isinstance(task, Task) else task_of(task)
        selected = None if selection is None or selection.is_everything else selection
        return cls(method_named(method), settings or DEFAULT_SETTINGS, wanted, kinds, selected)

    def evidence(self, tree: PageTree) -> PageEvidence | None:
        """What a site is learned from where the method learns from page scores; pass it to `clean` too."""
        return PageEvidence.of(tree) if self.method.scores else None

    def clean(
        self, tree: PageTree, model: LearnedSite | None = None, evidence: PageEvidence | None = None
    ) -> CleanPage:
        """Clean a page, with a model of its site where the method uses one. `evidence` saves scoring it again."""
        return self.clean_in(page_with(tree, evidence), model)

    def clean_in(self, page: Page, model: LearnedSite | None = None) -> CleanPage:
        """As `clean`, for a page in its context, which may have a page model other than the shipped one."""
        verdict = self.method.clean(page, model, self.own)
        if self.completes:
            verdict = with_wholes(page, verdict)
        if self.task.keeps:
            verdict = for_task(page, verdict, self.task, model)
        if self.selection is not None:
            verdict = self.selection.applied(page, verdict)
        if self.kinds and verdict.kind_score is None:
            verdict = with_kinds(page, verdict, model)
        return CleanPage(page, verdict, model, self)


def clean_page(
    tree: PageTree,
    method: str = DEFAULT_METHOD,
    model: LearnedSite | None = None,
    settings: CleaningSettings | None = None,
) -> CleanPage:
    """Clean one page with a method, and a model of its site where the method uses one."""
    cleaner = _default_cleaner(method) if settings is None else Cleaner.of(method, settings)
    return cleaner.clean(tree, model)


@cache
def _default_cleaner(method: str) -> Cleaner:
    return Cleaner.of(method)


def extract(
    html: bytes | str,
    url: str | None = None,
    output: str = "text",
    *,
    method: str = DEFAULT_METHOD,
    settings: CleaningSettings | None = None,
) -> str:
    """Return the main content of one page as text, Markdown or sanitised HTML (`output="text"|"markdown"|"html"`).

    Bytes are decoded as a browser would. Raises `PageRefused` for a page over the limits of `ParseLimits`.
    """
    return clean_page(parse(html, url), method, settings=settings).render(output)
