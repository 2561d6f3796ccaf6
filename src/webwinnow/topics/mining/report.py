"""`MineRun`: the result of `sites mine`, and its report: the sites found by topic, with confidence and evidence.

URLs of web pages are links; everything else that sites say is shown as text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from webwinnow.counted import counted
from webwinnow.inspect.templating import Section, summary_page
from webwinnow.page.urls import is_web_link
from webwinnow.topics.scores import spotting_rate


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


MOST_ROWS = 2000
"""Rows of a table; sites.jsonl lists all sites."""
SHOWN_BLOCKS = 2


def mined_html(run: MineRun, command: str = "webwinnow sites mine") -> str:
    """Return the report of a run as an HTML page."""
    figures = {
        "Seeds": f"{len(run.seeds):,}",
        "Sites read": f"{len(run.sites) - len(run.seeds):,}",
        "Sites found": f"{len(run.found):,}",
        "Off topic": f"{len(run.off_topic):,}",
        "Could not be read": f"{len(run.failed):,}",
        "Spotting rate": f"{100 * run.spotting:.0f} %",
        "Pages": f"{run.pages:,}",
        "Rounds": f"{run.rounds:,}",
    }
    more = "" if run.finished else " The run is not finished: the same command resumes it."
    remarks = [f"Ended: {run.ended}.{more}"]
    return summary_page("Sites found", "sites mine", [command], _sections(run), figures=figures, remarks=remarks)


def _sections(run: MineRun) -> list[Section]:
    seeds, found = Counter(record["topic"] for record in run.seeds), run.topics
    rows = [[topic, f"{seeds[topic]:,}", f"{found[topic]:,}"] for topic in sorted(seeds)]
    sections = [
        Section(title="Topics", about="Seeds and new sites.", head=["topic", "seeds", "found"], rows=rows, left=(0,))
    ]
    starts = {record["site"]: record["start"] for record in run.sites}
    by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in run.found:
        by_topic[record["topic"]].append(record)
    for topic, records in sorted(by_topic.items()):
        records.sort(key=lambda record: (-record["probability"], record["site"]))
        sections.append(_sites(topic, "Evidence: the pages and blocks with the clearest topic.", records, starts))
    if run.off_topic:
        about = "Read, but of none of the topics, of one that is not wanted, or not with certainty."
        sections.append(_sites("Off topic", about, run.off_topic, starts))
    unread = [record for record in run.sites if not record["pages"]]
    if unread:
        rows = [[_link(record["start"], record["site"]), record["reason"] or ""] for record in unread[:MOST_ROWS]]
        title = _counted("Not read", unread)
        sections.append(Section(title=title, head=["site", "reason"], rows=rows, left=(0, 1), more=_more(unread)))
    return [*sections, *_model(run.changes)]


def _model(changes: Sequence[dict[str, Any]]) -> list[Section]:
    """How the model moved, round by round."""
    if not changes:
        return []
    largest = [(scale, symbol) for scale in ("pages", "blocks") for symbol in ("pi", "A", "B")]
    rounds = [
        [
            f"{change['round']:,}",
            f"{len(change['sites']):,}",
            *(f"{change['largest'][scale][symbol]:.4f}" for scale, symbol in largest),
        ]
        for change in changes
    ]
    topics = [
        [
            f"{change['round']:,}",
            topic,
            f"{sum(name == topic for name in change['sites'].values()):,}",
            *(f"{moved['prior_before'][scale]:.3f} to {moved['prior'][scale]:.3f}" for scale in moved["prior"]),
            ", ".join(moved["words_in"]),
            ", ".join(moved["words_out"]),
        ]
        for change in changes
        for topic, moved in change["topics"].items()
    ]
    return [
        Section(
            title="How the model moved",
            about="The sites that each round added to the model, and the largest change of any element of pi, A and B.",
            head=["round", "sites", *(f"{symbol}, {scale}" for scale, symbol in largest)],
            rows=rounds[:MOST_ROWS],
            more=_more(rounds, "rounds.jsonl"),
        ),
        Section(
            title="How topics moved",
            about="P(C) before and after each round, and words that entered or left the most distinctive of a topic.",
            head=["round", "topic", "sites", *(f"P(C), {s}" for s in ("sites", "pages", "blocks")), "new", "left"],
            rows=topics[:MOST_ROWS],
            left=(1, 6, 7),
            more=_more(topics, "rounds.jsonl"),
        ),
    ]


def _sites(title: str, about: str, records: Sequence[dict[str, Any]], starts: Mapping[str, str]) -> Section:
    rows = [
        [
            Markup('{}<br><span class="words">{}</span>').format(
                _link(record["start"], record["site"]), _origin(record, starts)
            ),
            record["topic"] or record["reason"] or "",
            "" if record["probability"] is None else f"{record['probability']:.3f}",
            "" if record["none"] is None else f"{record['none']:.3f}",
            f"{record['pages']:,}",
            _evidence(record),
        ]
        for record in records[:MOST_ROWS]
    ]
    return Section(
        title=_counted(title, records),
        about=about,
        head=["site", "topic", "confidence", "none of these", "pages", "evidence"],
        rows=rows,
        left=(0, 1, 5),
        more=_more(records),
    )


def _counted(title: str, rows: Sequence[object]) -> str:
    return f"{title} ({len(rows):,})"


def _more(rows: Sequence[object], file: str = "sites.jsonl") -> str:
    return f"and {len(rows) - MOST_ROWS:,} more, in {file}" if len(rows) > MOST_ROWS else ""


def _link(url: str, text: str) -> Markup:
    """A link to a web page, or the text if the URL is none."""
    if not is_web_link(url):
        return Markup("{}").format(text)
    return Markup('<a href="{}" rel="noreferrer nofollow">{}</a>').format(url, text)


def _origin(record: dict[str, Any], starts: Mapping[str, str]) -> Markup:
    linking = Markup(", ").join(_link(starts.get(name, ""), name) for name in record["linked_by"])
    return Markup("round {}, linked by {}").format(record["round"], linking)


def _evidence(record: dict[str, Any]) -> Markup:
    pages = [
        Markup("{} {:.2f}").format(_link(page["url"], page["url"]), page["probability"])
        for page in record["deciding_pages"]
    ]
    blocks = [
        Markup('“{}” <span class="words">{} {} {:.2f}</span>').format(
            block["text"], _link(block["url"], block["url"]), block["xpath"], block["probability"]
        )
        for block in record["deciding_blocks"][:SHOWN_BLOCKS]
    ]
    return Markup("<br>").join([*pages, *blocks])
