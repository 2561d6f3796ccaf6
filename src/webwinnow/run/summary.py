"""The summary of a run for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from webwinnow.counted import counted, printable
from webwinnow.run.outputparts import Counts
from webwinnow.run.stages import Finding

SHOWN_REASONS = 8


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a run: `pages` is the sum of kept, dropped and failed; `findings` are those of its stages."""

    pages: int
    sites: int
    counts: Counts
    findings: Mapping[str, Finding] = field(default_factory=dict)
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
        found = self.findings.get("replicas")
        return None if found is None else found.count

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
        lines += [printable(line) for found in self.findings.values() for line in found.lines()]
        for title, reasons in (
            ("why pages were dropped or failed", self.counts.reasons),
            ("remarks on pages that were kept", self.counts.remarks),
        ):
            if reasons:
                lines.append(f"  {title}:")
                most = sorted(reasons.items(), key=lambda found: (-found[1], found[0]))[:SHOWN_REASONS]
                lines += [f"    {count:>7,}  {printable(reason)}" for reason, count in most]
        if self.counts.repeats:
            lines.append("  most repeated blocks (pages, text, site):")
            for pages, text, site in self.counts.repeats:
                lines.append(f"    {pages:>7,}  {printable(text)}  [{printable(site)}]")
        lines += [f"  problem: {printable(problem)}" for problem in self.problems]
        return lines
