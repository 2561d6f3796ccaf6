"""The report of `webwinnow sites mine`: the sites found by topic, with confidence and evidence.

URLs of web pages are links; everything else that sites say is shown as text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from webwinnow.inspect.templating import Section, summary_page
from webwinnow.page.urls import is_web_link
from webwinnow.topics.minerun import MineRun

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
