"""The replicas of a collection: the sketches of its parts as one table, and for each record the page it is a copy of.

The table is a file in the folder of the collection, mapped into memory, in output order. The result therefore does not
depend on the workers, and is the same for a run that was resumed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from webwinnow.collection.pagestore import CollectionStore
from webwinnow.collection.summary import FoundReplicas
from webwinnow.io import record_line
from webwinnow.progress import Progress, no_progress
from webwinnow.replicas import Replicas, ReplicaSettings, Sketches, find_replicas, sketch_type
from webwinnow.replicas.sketches import site_hash


@dataclass(frozen=True, slots=True, eq=False)
class CollectionReplicas:
    """The replicas among the pages of a store, in output order."""

    store: CollectionStore
    sketches: Sketches
    replicas: Replicas

    @classmethod
    def of(
        cls, store: CollectionStore, settings: ReplicaSettings, progress: Progress = no_progress
    ) -> CollectionReplicas:
        """Find the replicas among the pages of a store whose parts are all done."""
        total = store.page_count()
        progress("replicas", 0, total)
        path = store.folder / "sketches.bin"
        with path.open("wb") as table:
            for part, _ in store.parts():
                with store.sketches_path(part).open("rb") as file:
                    shutil.copyfileobj(file, table)
        row = sketch_type(settings.method)
        sketches: Sketches = np.memmap(path, row, "r") if path.stat().st_size else np.zeros(0, row)
        found = cls(store, sketches, find_replicas(sketches, settings))
        progress("replicas", total, total)
        return found

    def replica_of(self, place: int) -> str | None:
        """The page that a page is a replica of, by its id or else its URL; None for one that is kept."""
        kept = int(self.replicas.stays[place])
        if kept == place:
            return None
        page_id, url, _ = self.store.page(int(self.sketches["ordinal"][kept]))
        return url if page_id is None else page_id

    def named_lines(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines of all records, with `replica_of`."""
        for place, line in enumerate(lines):
            kept = self.replica_of(place)
            yield line if kept is None else record_line(json.loads(line) | {"replica_of": kept})

    def named(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """All records, with `replica_of`."""
        for place, record in enumerate(records):
            yield record | {"replica_of": self.replica_of(place)}

    def found(self) -> FoundReplicas:
        """The numbers for the summary."""
        wanted = {site for mirror in self.replicas.mirrors for site in (mirror.site, mirror.of)}
        names = {site_hash(site): site for site in self.store.site_names()} if wanted else {}
        mirrors = [(names[m.site], names[m.of], m.pages, m.share) for m in self.replicas.mirrors]
        return FoundReplicas(self.replicas.counts(), tuple(mirrors))
