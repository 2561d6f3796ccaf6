"""What a run tells at its end: the numbers people want, and they add up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

SHOWN_REPEATS = 10
SHOWN_REASONS = 8
SHOWN_MIRRORS = 5
MOST_REASONS = 1_000
"""Different reasons that are counted: a hostile crawl can make up one a page."""
_PLACE_BEFORE = re.compile(r"(?:line|row) [0-9]+: ")
_PLACE = re.compile(r"(line|row) [0-9]+(?= )")
_JSON_PLACE = re.compile(r": line [0-9]+ column [0-9]+ \(char [0-9]+\)")


def shared_reason(reason: str) -> str:
    """A reason without the line or row that it names, so that pages with the same are counted together."""
    reason = _PLACE_BEFORE.sub("", reason, count=1) if _PLACE_BEFORE.match(reason) else reason
    found = _PLACE.match(reason)
    if found is not None:
        reason = f"a {found[1]}{reason[found.end() :]}"
    return _JSON_PLACE.sub("", reason)


@dataclass(slots=True)
class Counts:
    """What one part, or the whole run, has counted."""

    outcomes: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    """Why pages were dropped or failed."""
    remarks: dict[str, int] = field(default_factory=dict)
    """What is to be said of pages that were kept."""
    kept_words: int = 0
    all_words: int = 0
    repeats: list[tuple[int, str, str]] = field(default_factory=list)
    """(pages, text, site)."""

    def add(self, other: Counts) -> None:
        """Add what another has counted."""
        for mine, theirs in (
            (self.outcomes, other.outcomes),
            (self.reasons, other.reasons),
            (self.remarks, other.remarks),
        ):
            for name, count in theirs.items():
                known = name if name in mine or len(mine) < MOST_REASONS else "other reasons"
                mine[known] = mine.get(known, 0) + count
        self.kept_words += other.kept_words
        self.all_words += other.all_words
        self.repeats = sorted([*self.repeats, *other.repeats], key=lambda r: (-r[0], r[1], r[2]))[:SHOWN_REPEATS]

    def to_plain(self) -> dict[str, Any]:
        """Plain values that `from_plain` reads back."""
        return {
            "outcomes": self.outcomes,
            "reasons": self.reasons,
            "remarks": self.remarks,
            "kept_words": self.kept_words,
            "all_words": self.all_words,
            "repeats": self.repeats,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Counts:
        """Read what `to_plain` wrote."""
        return cls(
            outcomes=plain["outcomes"],
            reasons=plain["reasons"],
            remarks=plain["remarks"],
            kept_words=plain["kept_words"],
            all_words=plain["all_words"],
            repeats=[(pages, text, site) for pages, text, site in plain["repeats"]],
        )


@dataclass(frozen=True, slots=True)
class FoundReplicas:
    """Replicas by what they are to the page that stays; mirrors as (site, mirrored site, pages, share of its pages)."""

    counts: dict[str, int]
    mirrors: tuple[tuple[str, str, int, float], ...] = ()

    def lines(self) -> list[str]:
        """What is told of them."""
        copies, versions, mirrored = (self.counts.get(name, 0) for name in ("copy", "version", "mirror"))
        told = [
            f"  replicas: {copies + versions + mirrored:,} "
            f"({copies:,} copies, {versions:,} versions, {mirrored:,} on mirrors)"
        ]
        told += [
            f"    {_printable(site)} mirrors {_printable(of)}: {pages:,} pages, {share:.0%} of its own"
            for site, of, pages, share in self.mirrors[:SHOWN_MIRRORS]
        ]
        return told


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a run. `pages` is what went in; kept, dropped and failed add up to it."""

    pages: int
    sites: int
    counts: Counts
    found_replicas: FoundReplicas | None
    seconds: float = 0.0
    problems: tuple[str, ...] = ()

    @property
    def kept(self) -> int:
        """Pages with a record that has content."""
        return self.counts.outcomes.get("kept", 0)

    @property
    def dropped(self) -> int:
        """Pages that were read and left out."""
        return self.counts.outcomes.get("dropped", 0)

    @property
    def replicas(self) -> int | None:
        """Pages that are replicas of one that stays; None if nobody looked for any."""
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
        told = [
            f"{self.pages:,} pages of {self.sites:,} sites in {self.seconds:.1f} s{speed}",
            f"  kept {self.kept:,}, dropped {self.dropped:,}, failed {self.failed:,}",
            f"  words: {self.counts.all_words:,} in, {self.counts.kept_words:,} kept, {self.removed_share:.1%} removed",
        ]
        if self.found_replicas is not None:
            told += self.found_replicas.lines()
        for title, counted in (
            ("why pages were dropped or failed", self.counts.reasons),
            ("remarks on pages that were kept", self.counts.remarks),
        ):
            if counted:
                told.append(f"  {title}:")
                most = sorted(counted.items(), key=lambda found: (-found[1], found[0]))[:SHOWN_REASONS]
                told += [f"    {count:>7,}  {_printable(reason)}" for reason, count in most]
        if self.counts.repeats:
            told.append("  most repeated blocks (pages, text, site):")
            for pages, text, site in self.counts.repeats:
                told.append(f"    {pages:>7,}  {_printable(text)}  [{_printable(site)}]")
        told += [f"  problem: {_printable(problem)}" for problem in self.problems]
        return told


def _printable(text: str) -> str:
    """Text of a page fit for a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
