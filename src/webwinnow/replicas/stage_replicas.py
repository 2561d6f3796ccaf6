"""The stage that finds the replicas among the pages of a run, and names the kept page in `replica_of`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.methods.registry import method_named
from webwinnow.progress import Progress, no_progress
from webwinnow.record.cleaner import CleanPage
from webwinnow.record.fields import Field
from webwinnow.replicas.finding import Replicas, find_replicas
from webwinnow.replicas.sketches import (
    PageOrigin,
    ReplicaSettings,
    Sketches,
    distinctive_runs,
    page_sketch,
    placed,
    sketch_type,
    text_hash,
)
from webwinnow.run.stages import Stage

if TYPE_CHECKING:
    from webwinnow.run.pagestore import CollectionStore, PageRow
    from webwinnow.run.settings import RunSettings

SHOWN_MIRRORS: Final = 5


class ReplicaStage(Stage):
    """Keeps a sketch of each page; when all pages are cleaned, finds those that are alike."""

    fields = (Field("replica_of", about="the page that this one is a near-duplicate of", after="confidence"),)

    def __init__(self, settings: ReplicaSettings | Mapping[str, Any], run: RunSettings) -> None:
        super().__init__(settings, run)
        self.settings = settings if isinstance(settings, ReplicaSettings) else ReplicaSettings(**settings)
        self.row_bytes = sketch_type(self.settings.method).itemsize
        self.is_scored = method_named(run.method).scores

    def row(self, clean: CleanPage, record: dict[str, Any]) -> bytes:
        """The sketch of a page."""
        runs = distinctive_runs(clean.tree, clean.verdict, clean.page if self.is_scored else None, clean.model)
        named = {name: record[name] for name in ("url", "site", "title", "date")}
        origin = PageOrigin(**named, language=record["lang"], canonical=clean.tree.head.canonical)
        return page_sketch(clean.kept_tree, runs, origin, self.settings).tobytes()

    def placed(self, row: bytes, site: str, page: PageRow) -> bytes:
        """A sketch with its page's site, ordinal and time."""
        return placed(row, site, page.ordinal, page.fetched_at, self.settings)

    def join(
        self, rows: NDArray[np.void], store: CollectionStore, progress: Progress = no_progress
    ) -> CollectionReplicas:
        """The replicas among the pages of a store."""
        total = store.page_count()
        progress("replicas", 0, total)
        sketches: Sketches = rows.view(sketch_type(self.settings.method))
        found = CollectionReplicas(store, sketches, find_replicas(sketches, self.settings))
        progress("replicas", total, total)
        return found


STAGE = ReplicaStage


@dataclass(frozen=True, slots=True, eq=False)
class CollectionReplicas:
    """The replicas among the pages of a store, in output order."""

    store: CollectionStore
    sketches: Sketches
    replicas: Replicas

    def replica_of(self, place: int) -> str | None:
        """The page that a page is a replica of, by its id or else its URL; None for one that is kept."""
        kept = int(self.replicas.kept[place])
        if kept == place:
            return None
        page_id, url, _ = self.store.page(int(self.sketches["ordinal"][kept]))
        return url if page_id is None else page_id

    def values(self, place: int) -> dict[str, str]:
        """`replica_of` of a replica."""
        kept = self.replica_of(place)
        return {} if kept is None else {"replica_of": kept}

    def finding(self) -> FoundReplicas:
        """The numbers of replicas."""
        wanted = {site for mirror in self.replicas.mirrors for site in (mirror.site, mirror.of)}
        names = {text_hash(site): site for site in self.store.site_names()} if wanted else {}
        mirrors = [(names[m.site], names[m.of], m.pages, m.share) for m in self.replicas.mirrors]
        return FoundReplicas(self.replicas.counts(), tuple(mirrors))


@dataclass(frozen=True, slots=True)
class FoundReplicas:
    """Replicas by their relation to the page that is kept; mirrors as (site, mirrored site, pages, share)."""

    counts: dict[str, int]
    mirrors: tuple[tuple[str, str, int, float], ...] = ()

    @property
    def count(self) -> int:
        """The number of pages that are replicas of another."""
        return sum(self.counts.values())

    def lines(self) -> list[str]:
        """The lines of the summary."""
        copies, versions, mirrored = (self.counts.get(name, 0) for name in ("copy", "version", "mirror"))
        lines = [
            f"  replicas: {copies + versions + mirrored:,} "
            f"({counted(copies, 'copy', 'copies')}, {counted(versions, 'version')}, {mirrored:,} on mirrors)"
        ]
        lines += [
            f"    {site} mirrors {of}: {counted(pages, 'page')}, {share:.0%} of its own"
            for site, of, pages, share in self.mirrors[:SHOWN_MIRRORS]
        ]
        return lines
