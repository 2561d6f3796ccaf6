"""The report of `webwinnow sites mine`: the sites found by topic, with confidence and evidence.

URLs of web pages are links; everything else that sites say is shown as text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from webwinnow.commands.mine import MineRun
from webwinnow.report.templating import Section, summary_page
from webwinnow.urls import is_web_link

MOST_ROWS = 2000
"""Rows of a table; sites.jsonl lists all sites."""
SHOWN_BLOCKS = 2


def mined_html(run: MineRun, command: str = "webwinnow sites mine") -> str:
    """Return the report of a run as an HTML page."""
    read = [record for record in run.sites if not record["seed"]]
    figures = {
        "Seeds": f"{len(run.seeds):,}",
        "Sites read": f"{len(read):,}",
        "Sites found": f"{len(run.found):,}",
        "Spotting rate": f"{100 * run.spotting:.0f} %",
        "Pages": f"{sum(record['pages'] for record in run.sites):,}",
        "Rounds": f"{run.rounds:,}",
    }
    more = "" if run.finished else " The run is not finished: the same command resumes it."
    remarks = [f"Ended: {run.ended}.{more}"]
    return summary_page("Sites found", "sites mine", [command], _sections(run, read), figures=figures, remarks=remarks)


def _sections(run: MineRun, read: Sequence[dict[str, Any]]) -> list[Section]:
    seeds, found = Counter(record["topic"] for record in run.seeds), run.topics
    rows = [[topic, f"{seeds[topic]:,}", f"{found[topic]:,}"] for topic in sorted(seeds)]
    sections = [
        Section(title="Topics", about="Seeds and new sites.", head=["topic", "seeds", "found"], rows=rows, left=(0,))
    ]
    by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in run.found:
        by_topic[record["topic"]].append(record)
    for topic, records in sorted(by_topic.items()):
        records.sort(key=lambda record: (-record["probability"], record["site"]))
        sections.append(_sites(topic, "Evidence: the pages and blocks with the clearest topic.", records))
    off = [record for record in read if not record["on_topic"] and record["pages"]]
    if off:
        sections.append(_sites("Off topic", "Read, but not of the wanted topics, or not with certainty.", off))
    failed = [[record["site"], record["reason"] or ""] for record in run.sites if not record["pages"]]
    if failed:
        sections.append(Section(title="Not readable", head=["site", "reason"], rows=failed[:MOST_ROWS], left=(0, 1)))
    return sections


def _sites(title: str, about: str, records: Sequence[dict[str, Any]]) -> Section:
    rows = [
        [
            Markup('{}<br><span class="words">{}</span>').format(
                _link(record["start"], record["site"]), _origin(record)
            ),
            record["topic"] or "",
            "" if record["probability"] is None else f"{record['probability']:.3f}",
            f"{record['distinctness']:.2f}",
            f"{record['pages']:,}",
            _evidence(record),
        ]
        for record in records[:MOST_ROWS]
    ]
    left = len(records) - len(rows)
    return Section(
        title=title,
        about=about,
        head=["site", "topic", "confidence", "distinctness", "pages", "evidence"],
        rows=rows,
        left=(0, 1, 5),
        more=f"and {left:,} more, in sites.jsonl" if left else "",
    )


def _link(url: str, text: str) -> Markup:
    """A link to a web page, or the text if the URL is none."""
    if not is_web_link(url):
        return Markup("{}").format(text)
    return Markup('<a href="{}" rel="noreferrer nofollow">{}</a>').format(url, text)


def _origin(record: dict[str, Any]) -> str:
    return f"round {record['round']}, linked by {', '.join(record['linked_by'])}"


def _evidence(record: dict[str, Any]) -> Markup:
    pages = [
        Markup("{} {:.2f}").format(_link(page["url"], page["url"]), page["probability"])
        for page in record["deciding_pages"]
    ]
    blocks = [
        Markup('“{}” <span class="words">{} {:.2f}</span>').format(block["text"], block["xpath"], block["probability"])
        for block in record["deciding_blocks"][:SHOWN_BLOCKS]
    ]
    return Markup("<br>").join([*pages, *blocks])
