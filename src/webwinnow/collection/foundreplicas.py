"""Replicas in a run: the sketches of its parts as one table, and the name of the copy that stays for each record.

The table is a file of the run's folder, mapped into memory, in output order; so what is found does not depend on the
workers, and a run that is resumed finds the same.
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
from webwinnow.progress import Progress
from webwinnow.replicas import Replicas, ReplicaSettings, Sketches, find_replicas, sketch_type
from webwinnow.replicas.sketches import site_hash

__all__ = ["RunReplicas", "replicas_in"]


@dataclass(frozen=True, slots=True, eq=False)
class RunReplicas:
    """What was found among the pages of a run, in output order."""

    sketches: Sketches
    replicas: Replicas

    def stays(self, place: int, store: CollectionStore) -> str | None:
        """The page that a page is a replica of, by its id or else its URL; None for one that stays."""
        stays = int(self.replicas.stays[place])
        return None if stays == place else store.name_of(int(self.sketches["ordinal"][stays]))

    def named_lines(self, lines: Iterable[bytes], store: CollectionStore) -> Iterator[bytes]:
        """The lines of all records, with `replica_of`."""
        for place, line in enumerate(lines):
            stays = self.stays(place, store)
            yield line if stays is None else record_line(json.loads(line) | {"replica_of": stays})

    def named(self, records: Iterable[dict[str, Any]], store: CollectionStore) -> Iterator[dict[str, Any]]:
        """All records, with `replica_of`."""
        for place, record in enumerate(records):
            yield record | {"replica_of": self.stays(place, store)}

    def found(self, store: CollectionStore) -> FoundReplicas:
        """What the summary tells."""
        name_of: dict[int, str] = {}
        asked = {site for mirror in self.replicas.mirrors for site in (mirror.site, mirror.of)}
        for site in store.site_names() if asked else ():
            if site_hash(site) in asked:
                name_of[site_hash(site)] = site
        mirrors = [(name_of[m.site], name_of[m.of], m.pages, m.share) for m in self.replicas.mirrors]
        return FoundReplicas(self.replicas.counts(), tuple(mirrors))


def replicas_in(store: CollectionStore, settings: ReplicaSettings, tell: Progress) -> RunReplicas:
    """Find the replicas among the pages of a run whose parts are all done."""
    total = store.page_count()
    tell("replicas", 0, total)
    path = store.folder / "sketches.bin"
    with path.open("wb") as whole:
        for part, _ in store.parts():
            with store.sketches_path(part).open("rb") as file:
                shutil.copyfileobj(file, whole)
    row = sketch_type(settings.method)
    sketches: Sketches = np.memmap(path, row, "r") if path.stat().st_size else np.zeros(0, row)
    found = RunReplicas(sketches, find_replicas(sketches, settings))
    tell("replicas", total, total)
    return found
