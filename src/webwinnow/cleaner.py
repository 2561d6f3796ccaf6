"""`Cleaner`: how pages are cleaned, in one place: the method, wholes, the task, then the kinds of what was removed."""

from __future__ import annotations

from dataclasses import dataclass, field

from webwinnow.cleaning.kinds import with_kinds
from webwinnow.cleaning.settings import MethodSettings
from webwinnow.cleaning.tasks import DEFAULT_TASK, Task, for_task, task_of
from webwinnow.cleaning.wholes import with_wholes
from webwinnow.cleanpage import CleanPage
from webwinnow.methods import DEFAULT_METHOD, CleaningSettings, Method, method_named
from webwinnow.pagemodel import PageContext, PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite


@dataclass(frozen=True, slots=True)
class Cleaner:
    """A method with its settings, the task that says which removed regions are kept, and whether to recognise kinds.

    `Cleaner.of` takes the method and the task by name.
    """

    method: Method
    settings: CleaningSettings
    task: Task
    kinds: bool = False
    own: MethodSettings | None = field(init=False, repr=False)
    """The settings of the method."""

    def __post_init__(self) -> None:
        group = self.method.group
        object.__setattr__(self, "own", None if group is None else getattr(self.settings, group))

    @classmethod
    def of(
        cls,
        method: str = DEFAULT_METHOD,
        settings: CleaningSettings | None = None,
        task: str | Task = DEFAULT_TASK,
        *,
        kinds: bool = False,
    ) -> Cleaner:
        """The cleaner of a method and a task (a name, or a file as in `task_of`). Raises `SettingsError`."""
        wanted = task if isinstance(task, Task) else task_of(task)
        return cls(method_named(method), settings or CleaningSettings(), wanted, kinds)

    def evidence(self, tree: PageTree) -> PageEvidence | None:
        """What a site is learned from where the method learns from page scores; pass it to `clean` too."""
        return PageEvidence.of(tree) if self.method.scores else None

    def clean(
        self, tree: PageTree, model: LearnedSite | None = None, evidence: PageEvidence | None = None
    ) -> CleanPage:
        """Clean a page, with a model of its site where the method uses one. `evidence` saves scoring it again."""
        return self.clean_in(PageContext(tree, evidence), model)

    def clean_in(self, page: PageContext, model: LearnedSite | None = None) -> CleanPage:
        """As `clean`, for a page in its context, which may have a page model other than the shipped one."""
        verdict = self.method.clean(page, model, self.own)
        if self.settings.wholes.complete and self.method.group != "page":
            verdict = with_wholes(page, verdict)
        if self.task.keeps:
            verdict = for_task(page, verdict, self.task, model)
        if self.kinds and verdict.kind_score is None:
            verdict = with_kinds(page, verdict, model)
        return CleanPage(page.tree, verdict, model, page.known_blocks, self.settings.docview)


def clean_page(
    tree: PageTree,
    method: str = DEFAULT_METHOD,
    model: LearnedSite | None = None,
    settings: CleaningSettings | None = None,
) -> CleanPage:
    """Clean one page with a method, and a model of its site where the method uses one."""
    return Cleaner.of(method, settings).clean(tree, model)
