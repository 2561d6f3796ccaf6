"""Tasks: which kinds of removed regions are kept for which use (thesis 2.3, 5.6: noise depends on the task).

Every task keeps the main content and names the kinds to keep beside it. Users write their own tasks as small TOML or
JSON files:

    name = "reading-list"
    keeps = ["page-description", "page-recommendation"]
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from webwinnow.errors import SettingsError
from webwinnow.judge.kinds import KIND_CODE, KINDS, POSSIBLE_ADVERTISEMENT, RegionKinds, kinds_of_nodes, recognise
from webwinnow.judge.verdict import Reason, Verdict, keep_around
from webwinnow.page.page import Page
from webwinnow.plugins import meant
from webwinnow.site.learned import LearnedSite

DEFAULT_TASK = "content"
LARGEST_FILE = 100_000
"""Bytes of a task's file."""
_FILES = (".toml", ".json")


@dataclass(frozen=True, slots=True)
class Task:
    """A use of cleaned pages: the kinds (`kinds.KINDS`) that are kept beside main content, and why."""

    name: str
    keeps: tuple[str, ...] = ()
    about: str = ""

    def __post_init__(self) -> None:
        unknown = [name for name in self.keeps if name not in KIND_CODE]
        if unknown:
            raise SettingsError(
                f"task {self.name!r} keeps {', '.join(map(repr, unknown))}; the kinds are {', '.join(KIND_CODE)}"
            )


_NEVER_ARCHIVED = frozenset(("consent", "interactive", "notice"))

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(DEFAULT_TASK, (), "main content only, as the cleaner leaves it"),
        Task(
            "classification",
            ("content", "page-description", "hierarchic-directory"),
            "the main content shows the topic (2.3.1); tags, categories and the path name it in the site's own words. "
            "What the site repeats is removed: it distinguishes sites, not topics (5.6)",
        ),
        Task(
            "clustering",
            ("content", "page-description"),
            "as classification, without the path, which would group pages by site (5.6)",
        ),
        Task(
            "structure",
            ("content", "posts", "page-recommendation", "site-recommendation"),
            "recommendations are opinions about other pages and useful for connectivity analysis; directories, fixed "
            "description and advertisements make topics drift (2.3.2). Links in posts are opinions too",
        ),
        Task(
            "search",
            ("content", "posts", "page-description", "hierarchic-directory", "contents"),
            "people search for authors, dates, tags and sections as well as for the text, and for what readers wrote",
        ),
        Task(
            "archive",
            tuple(kind.name for kind in KINDS if kind.name not in _NEVER_ARCHIVED),
            "the page as a reader saw it, without consent dialogs, controls that need a server, and notices",
        ),
    )
}
"""The tasks that ship. Regions of kind `content` are those that the recogniser considers wrongly removed."""


def task_of(given: str) -> Task:
    """The task of that name, or in that file. Raises `SettingsError` with the names that there are."""
    if given in TASKS:
        return TASKS[given]
    path = Path(given)
    if path.suffix.lower() not in _FILES:
        other = "a task is also a .toml or .json file"
        other = "a task is also a .toml or .json file"
        raise SettingsError(f"there is no task {given!r}; {meant(given, list(TASKS))} ({other})")
    try:
        with path.open("rb") as file:
            written = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SettingsError(f"task {given}: {error.strerror}") from None
    if len(written) > LARGEST_FILE:
        raise SettingsError(f"task {given} is longer than {LARGEST_FILE:,} bytes; expected a name and a list of kinds")
    try:
        text = written.decode("utf-8")
        table = _toml(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"task {given} cannot be read: {error}") from None
    return _task_of_table(given, path.stem, table)


def _toml(text: str) -> Any:
    import tomllib  # noqa: PLC0415 (only for such files)

    return tomllib.loads(text)


def _task_of_table(given: str, stem: str, table: Any) -> Task:
    if not isinstance(table, dict) or not isinstance(table.get("keeps"), list):
        raise SettingsError(f'task {given}: expected a list of kinds named "keeps", such as keeps = ["posts"]')
    foreign = sorted(set(table) - {"name", "keeps", "about"})
    if foreign:
        raise SettingsError(f"task {given} contains {', '.join(foreign)}; expected name, keeps, about")
    name, about = table.get("name", stem), table.get("about", "")
    if not all(isinstance(text, str) for text in (name, about, *table["keeps"])):
        raise SettingsError(f"task {given}: name, about and the kinds are expected to be text")
    return Task(name, tuple(dict.fromkeys(table["keeps"])), about)


def for_task(
    page: Page,
    verdict: Verdict,
    task: Task,
    site: LearnedSite | None = None,
    *,
    found: RegionKinds | None = None,
) -> Verdict:
    """The verdict for a task: removed regions of the kinds that it keeps are kept.

    `found` are the recognised regions, if they are known already. For `content` nothing is recognised.
    """
    tree = page.tree
    if not task.keeps or not tree.run_count:
        return verdict
    found = found or recognise(page, verdict, site)
    wanted = np.zeros(len(KINDS), np.bool_)
    wanted[[KIND_CODE[name] for name in task.keeps]] = True
    restored = wanted[found.kind]
    if "advertisement" not in task.keeps:
        restored &= found.advertises < POSSIBLE_ADVERTISEMENT
    back = np.append(restored, False)[found.regions.of_run()] & tree.visible_runs
    keep_runs = verdict.keep_runs | back
    nodes = keep_around(tree, keep_runs)
    kind, score = kinds_of_nodes(found, verdict)
    return replace(
        verdict,
        keep=nodes,
        keep_runs=keep_runs,
        run_reason=np.where(back, Reason.TASK, verdict.run_reason).astype(np.uint8),
        reason=np.where(nodes & ~verdict.keep, Reason.TASK, verdict.reason).astype(np.uint8),
        weight=np.maximum(verdict.weight, nodes.astype(np.float32)),
        kind=kind,
        kind_score=score,
    )
