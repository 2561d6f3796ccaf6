"""The result of a run: counts that add up, replicas, and the summary for people."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from webwinnow.collection.pagestore import CollectionStore
from webwinnow.io import record_line
from webwinnow.progress import Progress, no_progress
from webwinnow.replicas import Replicas, ReplicaSettings, Sketches, find_replicas, sketch_type
from webwinnow.replicas.sketches import site_hash

SHOWN_REPEATS = 10
SHOWN_REASONS = 8
SHOWN_MIRRORS = 5
MOST_REASONS = 1_000
"""Different reasons that are counted: a hostile crawl could cause one per page."""
_PLACE_BEFORE = re.compile(r"(?:line|row) [0-9]+: ")
_PLACE = re.compile(r"(line|row) [0-9]+(?= )")
_JSON_PLACE = re.compile(r": line [0-9]+ column [0-9]+ \(char [0-9]+\)")


def shared_reason(reason: str) -> str:
    """A reason without the line or row that it names, to count equal ones together."""
    reason = _PLACE_BEFORE.sub("", reason, count=1) if _PLACE_BEFORE.match(reason) else reason
    found = _PLACE.match(reason)
    if found is not None:
        reason = f"a {found[1]}{reason[found.end() :]}"
    return _JSON_PLACE.sub("", reason)


@dataclass(slots=True)
class Counts:
    """The counts of one part, or of a whole run."""

    outcomes: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    """Why pages were dropped or failed."""
    remarks: dict[str, int] = field(default_factory=dict)
    """Remarks on pages that were kept."""
    kept_words: int = 0
    all_words: int = 0
    repeats: list[tuple[int, str, str]] = field(default_factory=list)
    """(pages, text, site)."""

    def add(self, other: Counts) -> None:
        """Add other counts."""
        for counted in ("outcomes", "reasons", "remarks"):
            mine = getattr(self, counted)
            for name, count in getattr(other, counted).items():
                known = name if name in mine or len(mine) < MOST_REASONS else "other reasons"
                mine[known] = mine.get(known, 0) + count
        self.kept_words += other.kept_words
        self.all_words += other.all_words
        self.repeats = sorted([*self.repeats, *other.repeats], key=lambda r: (-r[0], r[1], r[2]))[:SHOWN_REPEATS]

    def to_plain(self) -> dict[str, Any]:
        """Plain values for `from_plain`."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Counts:
        """Read the values of `to_plain`."""
        return cls(**plain | {"repeats": [tuple(repeat) for repeat in plain["repeats"]]})

    @classmethod
    def of(cls, store: CollectionStore) -> Counts:
        """The sum over the finished parts of a store."""
        counts = cls()
        for _, plain in store.parts():
            counts.add(cls.from_plain(plain))
        return counts


@dataclass(frozen=True, slots=True)
class FoundReplicas:
    """Replicas by their relation to the page that is kept; mirrors as (site, mirrored site, pages, share)."""

    counts: dict[str, int]
    mirrors: tuple[tuple[str, str, int, float], ...] = ()

    def lines(self) -> list[str]:
        """The lines of the summary."""
        copies, versions, mirrored = (self.counts.get(name, 0) for name in ("copy", "version", "mirror"))
        lines = [
            f"  replicas: {copies + versions + mirrored:,} "
            f"({copies:,} copies, {versions:,} versions, {mirrored:,} on mirrors)"
        ]
        lines += [
            f"    {_printable(site)} mirrors {_printable(of)}: {pages:,} pages, {share:.0%} of its own"
            for site, of, pages, share in self.mirrors[:SHOWN_MIRRORS]
        ]
        return lines


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


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a run: `pages` is the sum of kept, dropped and failed."""

    pages: int
    sites: int
    counts: Counts
    found_replicas: FoundReplicas | None
    seconds: float = 0.0
    problems: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        """Pages with content."""
        return self.counts.outcomes.get("kept", 0)

    @property
    def dropped(self) -> int:
        """Pages that were read and dropped."""
        return self.counts.outcomes.get("dropped", 0)

    @property
    def replicas(self) -> int | None:
        """Pages that are replicas of another; None if replicas were not wanted."""
        return None if self.found_replicas is None else sum(self.found_replicas.counts.values())

    @property
    def failed(self) -> int:
        """Pages that could not be read."""
        return self.counts.outcomes.get("failed", 0)

    @property
    def removed_share(self) -> float:
        """The share of all words that cleaning removed."""
        return 1 - self.counts.kept_words / self.counts.all_words if self.counts.all_words else 0.0

    def lines(self) -> list[str]:
        """The summary for people."""
        speed = f", {self.pages / self.seconds:,.0f} pages/s" if self.seconds > 0 else ""
        lines = [
            f"{self.pages:,} pages of {self.sites:,} sites in {self.seconds:.1f} s{speed}",
            f"  kept {self.kept:,}, dropped {self.dropped:,}, failed {self.failed:,}",
            f"  words: {self.counts.all_words:,} in, {self.counts.kept_words:,} kept, {self.removed_share:.1%} removed",
        ]
        if self.found_replicas is not None:
            lines += self.found_replicas.lines()
        for title, counted in (
            ("why pages were dropped or failed", self.counts.reasons),
            ("remarks on pages that were kept", self.counts.remarks),
        ):
            if counted:
                lines.append(f"  {title}:")
                most = sorted(counted.items(), key=lambda found: (-found[1], found[0]))[:SHOWN_REASONS]
                lines += [f"    {count:>7,}  {_printable(reason)}" for reason, count in most]
        if self.counts.repeats:
            lines.append("  most repeated blocks (pages, text, site):")
            for pages, text, site in self.counts.repeats:
                lines.append(f"    {pages:>7,}  {_printable(text)}  [{_printable(site)}]")
        lines += [f"  problem: {_printable(problem)}" for problem in self.problems]
        return lines


def _printable(text: str) -> str:
    """Replace terminal control characters."""
    return "".join(character if character.isprintable() else " " for character in text)
