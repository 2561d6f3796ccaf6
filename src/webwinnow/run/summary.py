"""The summary of a run for people."""

from __future__ import annotations

from dataclasses import dataclass

from webwinnow.counted import counted
from webwinnow.replicas.sketches import site_hash
from webwinnow.run.outputparts import CollectionReplicas, Counts

SHOWN_REASONS = 8
SHOWN_MIRRORS = 5


@dataclass(frozen=True, slots=True)
class FoundReplicas:
    """Replicas by their relation to the page that is kept; mirrors as (site, mirrored site, pages, share)."""

    counts: dict[str, int]
    mirrors: tuple[tuple[str, str, int, float], ...] = ()

    @classmethod
    def of(cls, found: CollectionReplicas) -> FoundReplicas:
        """The numbers of the replicas among the pages of a store."""
        wanted = {site for mirror in found.replicas.mirrors for site in (mirror.site, mirror.of)}
        names = {site_hash(site): site for site in found.store.site_names()} if wanted else {}
        mirrors = [(names[m.site], names[m.of], m.pages, m.share) for m in found.replicas.mirrors]
        return cls(found.replicas.counts(), tuple(mirrors))

    def lines(self) -> list[str]:
        """The lines of the summary."""
        copies, versions, mirrored = (self.counts.get(name, 0) for name in ("copy", "version", "mirror"))
        lines = [
            f"  replicas: {copies + versions + mirrored:,} "
            f"({counted(copies, 'copy', 'copies')}, {counted(versions, 'version')}, {mirrored:,} on mirrors)"
        ]
        lines += [
            f"    {_printable(site)} mirrors {_printable(of)}: {counted(pages, 'page')}, {share:.0%} of its own"
            for site, of, pages, share in self.mirrors[:SHOWN_MIRRORS]
        ]
        return lines


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
            f"{counted(self.pages, 'page')} of {counted(self.sites, 'site')} in {self.seconds:.1f} s{speed}",
            f"  kept {self.kept:,}, dropped {self.dropped:,}, failed {self.failed:,}",
            f"  words: {self.counts.all_words:,} in, {self.counts.kept_words:,} kept, {self.removed_share:.1%} removed",
        ]
        if self.found_replicas is not None:
            lines += self.found_replicas.lines()
        for title, reasons in (
            ("why pages were dropped or failed", self.counts.reasons),
            ("remarks on pages that were kept", self.counts.remarks),
        ):
            if reasons:
                lines.append(f"  {title}:")
                most = sorted(reasons.items(), key=lambda found: (-found[1], found[0]))[:SHOWN_REASONS]
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
