"""The stage that writes the links of pages instead of records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from webwinnow.errors import SettingsError
from webwinnow.judge.tasks import DEFAULT_TASK, TASKS
from webwinnow.links.edges import page_edges
from webwinnow.record.cleaner import CleanPage
from webwinnow.record.fields import Field, FieldKind, Fields, record_line
from webwinnow.run.stages import Stage, Tally

if TYPE_CHECKING:
    from webwinnow.run.settings import RunSettings

LINK_FIELDS: Final[Fields] = (
    Field("source"),
    Field("target"),
    Field("anchor"),
    Field("kind"),
    Field("score", FieldKind.NUMBER),
    Field("kept", FieldKind.FLAG),
    Field("page_id"),
    Field("site"),
)
"""The fields that `webwinnow links` writes per link."""
KEPT, REMOVED = "kept links", "removed links"
"""Tables of the summary: links by the kind of their regions."""


class LinkStage(Stage):
    """Writes the links that the task keeps (its setting is `kept`), or all links (`all`)."""

    lines = LINK_FIELDS
    task = TASKS[DEFAULT_TASK]

    def __init__(self, settings: str, run: RunSettings) -> None:
        super().__init__(settings, run)
        if settings not in ("kept", "all"):
            raise SettingsError(f"links is {settings!r}: expected kept, all or nothing")
        self.with_removed = settings == "all"

    def page_lines(self, clean: CleanPage, about: dict[str, str | None]) -> tuple[bytes, list[Tally]]:
        """A line for each link of a page."""
        edges = page_edges(clean.page, clean.verdict, self.run.task, clean.model)
        lines = [record_line(edge._asdict() | about, LINK_FIELDS) for edge in edges if edge.kept or self.with_removed]
        counts = Counter((KEPT if edge.kept else REMOVED, edge.kind or "unknown") for edge in edges)
        return b"".join(lines), [(table, kind, number) for (table, kind), number in sorted(counts.items())]


STAGE = LinkStage
