"""`MineRun`: the result of `sites mine`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from webwinnow.counted import counted
from webwinnow.topics.measures import spotting_rate


@dataclass(frozen=True, slots=True)
class MineRun:
    """The result of a run: a record for each site, seeds first; how the model moved (`changes`, one for each round that
    added sites to it); why it ended, and whether it is `finished`.

    Time and `fetched` pages are of this run, `fetched_for_links` are those of them that were read for links only;
    `crawling` has the seconds of each round's crawl. `sites` and `changes` are of all runs in the folder.
    """

    sites: tuple[dict[str, Any], ...]
    changes: tuple[dict[str, Any], ...]
    rounds: int
    fetched: int
    fetched_for_links: int
    seconds: float
    ended: str
    finished: bool
    crawling: tuple[float, ...] = ()

    @property
    def seeds(self) -> list[dict[str, Any]]:
        """The seeds."""
        return [record for record in self.sites if record["seed"]]

    @property
    def found(self) -> list[dict[str, Any]]:
        """The new sites on topic."""
        return [record for record in self.sites if record["on_topic"] and not record["seed"]]

    @property
    def off_topic(self) -> list[dict[str, Any]]:
        """The sites that were read and are not on topic."""
        return [record for record in self.sites if not record["seed"] and record["pages"] and not record["on_topic"]]

    @property
    def copies(self) -> list[dict[str, Any]]:
        """The sites that lead to others."""
        return [record for record in self.sites if record["leads_to"]]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The sites that could not be read, without seeds."""
        return [r for r in self.sites if not (r["seed"] or r["pages"] or r["leads_to"])]

    @property
    def topics(self) -> Counter[str]:
        """The number of new sites of each topic."""
        return Counter(record["topic"] for record in self.found)

    @property
    def pages(self) -> int:
        """The pages of all sites, seeds included."""
        return sum(record["pages"] for record in self.sites)

    @property
    def spotting(self) -> float:
        """The spotting rate (Sites, equation 15)."""
        return spotting_rate(len(self.found), len(self.seeds))

    @property
    def taught(self) -> int:
        """The found sites that the model learned from."""
        return sum(len(change["sites"]) for change in self.changes)

    def lines(self) -> list[str]:
        """The summary for people."""
        topics = ", ".join(f"{topic} {count:,}" for topic, count in sorted(self.topics.items())) or "none"
        same = f", {len(self.copies):,} lead to a site read before" if self.copies else ""
        lines = [
            f"{counted(len(self.found), 'site')} found from {counted(len(self.seeds), 'seed')} ({topics}); "
            f"spotting rate {100 * self.spotting:.0f} %",
            f"  {counted(len(self.sites) - len(self.seeds), 'site')} read in {counted(self.rounds, 'round')}: "
            f"{len(self.found):,} on topic, {len(self.off_topic):,} off topic, "
            f"{len(self.failed):,} could not be read{same}",
            f"  {counted(self.pages, 'page')} of seeds and sites; this run fetched {counted(self.fetched, 'page')}, "
            f"{self.fetched_for_links:,} of them for links only, in {self.seconds:.1f} s",
        ]
        if self.changes:
            first, last = self.changes[0]["largest"], self.changes[-1]["largest"]
            lines.append(
                f"  the model learned from {self.taught:,} of the found sites; largest change of A in its first round "
                f"{first['pages']['A']:.3f} (pages), {first['blocks']['A']:.3f} (blocks), in its last "
                f"{last['pages']['A']:.3f}, {last['blocks']['A']:.3f}"
            )
        return [*lines, f"  ended: {self.ended}"]
