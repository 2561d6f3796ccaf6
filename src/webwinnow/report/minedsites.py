"""What `webwinnow sites mine` found, as one HTML page: the sites by topic, how sure, and what decided.

The page is static, as that on classes is: no script, nothing to load; what sites say is escaped, and their addresses
are shown as text, never as links.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from webwinnow._version import __version__
from webwinnow.commands.mine import MineRun
from webwinnow.report.templating import hash_of, numbers, part, section, table

__all__ = ["mined_html"]

MOST_ROWS = 2000
"""Sites in a table at most; all are in sites.jsonl."""
SHOWN_BLOCKS = 2
SHOWN_LINKING = 3


def mined_html(run: MineRun, command: str = "webwinnow sites mine") -> str:
    """The report on a run."""
    style = part("classes.css")
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {hash_of(style)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>Sites found · webwinnow sites mine</title>",
        f"<style>{style}</style></head><body>",
        '<h1><span class="grain"></span>Sites found</h1>',
        f"<p>{escape(command)}</p>",
        *_body(run),
        f"<footer>webwinnow {escape(__version__)} · sites mine</footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _body(run: MineRun) -> Iterator[str]:
    read = [record for record in run.sites if not record["seed"]]
    off = [record for record in read if not record["on_topic"] and record["pages"]]
    failed = [record for record in run.sites if not record["pages"]]
    yield numbers(
        {
            "Seeds": f"{len(run.seeds):,}",
            "Sites read": f"{len(read):,}",
            "Sites found": f"{len(run.found):,}",
            "Spotting rate": f"{100 * run.spotting:.0f} %",
            "Pages": f"{sum(record['pages'] for record in run.sites):,}",
            "Rounds": f"{run.rounds:,}",
        }
    )
    more = "" if run.finished else " The run is not finished: the same command goes on with it."
    yield f"<ul class=remarks><li>Ended: {escape(run.ended)}.{more}</li></ul>"
    yield section("Topics", "Seeds that were given, and new sites.", _topics(run))
    by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in run.found:
        by_topic[record["topic"]].append(record)
    for topic, records in sorted(by_topic.items()):
        records.sort(key=lambda record: (-record["probability"], record["site"]))
        yield section(topic, "What decided: the pages and blocks that speak most clearly.", _sites(records))
    if off:
        yield section("Off topic", "Read, but not of the topics looked for, or not surely.", _sites(off))
    if failed:
        rows = [[escape(record["site"]), escape(record["reason"] or "")] for record in failed[:MOST_ROWS]]
        yield section("Could not be read", "", table(["site", "why"], rows, ()))


def _topics(run: MineRun) -> str:
    seeds, found = Counter(record["topic"] for record in run.seeds), run.topics
    rows = [[escape(topic), f"{seeds[topic]:,}", f"{found[topic]:,}"] for topic in sorted(seeds)]
    return table(["topic", "seeds", "found"], rows, (1, 2))


def _sites(records: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            f"{escape(record['site'])}<br><span class=words>{escape(_whence(record))}</span>",
            escape(record["topic"]),
            f"{record['probability']:.3f}",
            f"{record['distinctness']:.2f}",
            f"{record['pages']:,}",
            _deciding(record),
        ]
        for record in records[:MOST_ROWS]
    ]
    left = len(records) - len(rows)
    more = f"<p>and {left:,} more, in sites.jsonl</p>" if left else ""
    return table(["site", "topic", "confidence", "distinctness", "pages", "what decided"], rows, (2, 3, 4)) + more


def _whence(record: dict[str, Any]) -> str:
    linking = record["linked_by"]
    more = f" and {len(linking) - SHOWN_LINKING:,} more" if len(linking) > SHOWN_LINKING else ""
    return f"round {record['round']}, linked by {', '.join(linking[:SHOWN_LINKING])}{more}"


def _deciding(record: dict[str, Any]) -> str:
    pages = [f"{escape(page['url'])} {page['probability']:.2f}" for page in record["deciding_pages"]]
    blocks = [
        f"“{escape(block['text'])}” <span class=words>{escape(block['xpath'])} {block['probability']:.2f}</span>"
        for block in record["deciding_blocks"][:SHOWN_BLOCKS]
    ]
    return "<br>".join([*pages, *blocks])
