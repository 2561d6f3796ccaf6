"""`SiteWeb`: a synthetic web of many small sites with the text of other pages; all links are known.

Every site has a start page, hubs below it and pages below those, a menu and a footer that all of its pages share, one
or two pages off its topic, and links to other sites, most of them of its own topic.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from webwinnow.page.blocks import cut
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord

LEAST_CHARACTERS = 60
IDLE = (
    "This page is about ourselves, and we are always glad to hear from the people who read it on a rainy day.",
    "All rights are reserved; please write to the address below if anything here should be yours and not ours.",
    "We keep no cookies, we count no visitors, and we would not know what to do with either of them anyway.",
    "Opening hours are from nine to five, except on holidays, when nobody answers and the cat takes messages.",
)


@dataclass(frozen=True, slots=True)
class SiteWeb:
    """Pages by URL; the topic of each site and its start page by host; links between sites, as (from, to)."""

    pages: dict[str, str] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)
    links: set[tuple[str, str]] = field(default_factory=set)

    def of_topic(self, topics: Iterable[str]) -> set[str]:
        """The sites that have one of these topics."""
        wanted = set(topics)
        return {site for site, topic in self.topics.items() if topic in wanted}


def texts_of(pages: Iterable[PageRecord], most: int = 1500) -> list[str]:
    """Paragraphs of some pages, each once."""
    found: dict[str, None] = {}
    for page in pages:
        blocks = cut(parse(page.body, url=page.url, content_type=page.content_type))
        found |= dict.fromkeys(text for text in blocks.texts() if len(text) >= LEAST_CHARACTERS)
        if len(found) >= most:
            break
    return list(found)[:most]


def site_web(
    texts: Mapping[str, Sequence[str]],
    sites: Mapping[str, int],
    *,
    seed: int = 0,
    hubs: int = 3,
    below: int = 4,
    paragraphs: int = 4,
    out_links: int = 4,
    astray: float = 0.25,
    deep: bool = False,
) -> SiteWeb:
    """Make a web of `sites` sites per topic, which divide the topic's paragraphs among them.

    The first site of a topic leads, over links within the topic, to all others of it; a link goes `astray`, to a site
    of any other topic, with that probability. If `deep`, any page may have links to other sites, else only start
    pages and hubs.
    """
    draw = random.Random(seed)
    web = SiteWeb()
    hosts = {topic: [f"{topic}-{number}.web.test" for number in range(count)] for topic, count in sites.items()}
    everybody = [host for group in hosts.values() for host in group]
    targets: dict[str, list[str]] = defaultdict(list)
    for group in hosts.values():
        for number, host in enumerate(group[1:], start=1):
            targets[group[draw.randrange(max(0, number - 3), number)]].append(host)
    for topic, group in hosts.items():
        others = [host for host in everybody if host not in group]
        for host in group:
            for _ in range(out_links):
                choice = others if others and draw.random() < astray else group
                target = draw.choice(choice)
                if target != host:
                    targets[host].append(target)
            web.topics[host], web.starts[host] = topic, f"http://{host}/"
    for topic, group in hosts.items():
        shuffled = list(texts[topic])
        draw.shuffle(shuffled)
        for number, host in enumerate(group):
            own = shuffled[number :: len(group)]
            web.links.update((host, target) for target in targets[host])
            web.pages.update(
                _site(host, own, list(dict.fromkeys(targets[host])), draw, (hubs, below, paragraphs), deep)
            )
    return web


def _site(
    host: str,
    texts: Sequence[str],
    targets: Sequence[str],
    draw: random.Random,
    sizes: tuple[int, int, int],
    deep: bool,
) -> dict[str, str]:
    hubs, below, paragraphs = sizes
    paths = {"/": [f"/{h}/" for h in range(hubs)] + ["/about.html"], "/about.html": []}
    for hub in range(hubs):
        paths[f"/{hub}/"] = [f"/{hub}/{page}.html" for page in range(below)]
        paths |= {path: [] for path in paths[f"/{hub}/"]}
    carries = defaultdict(list)
    for target in targets:
        carries[draw.choice([path for path in paths if deep or path.endswith("/")])].append(target)
    menu = "".join(f"<li><a href='{path}'>Part {path.strip('/') or 'one'}</a></li>" for path in paths["/"])
    pages = {}
    for path, children in paths.items():
        own = list(IDLE[:3]) if path == "/about.html" else draw.sample(texts, min(paragraphs, len(texts)))
        links = [f"<a href='{child}'>Read on at {child}</a>" for child in children]
        links += [f"<a href='http://{target}/'>{target}</a>" for target in carries[path]]
        body = "".join(f"<p>{escape(text)}</p>" for text in own) + "".join(f"<p>{link}</p>" for link in links)
        pages[f"http://{host}{path}"] = (
            f"<!doctype html><html lang=en><title>{host}</title><body><ul class=menu>{menu}</ul>"
            f"<main><h1>Page {path}</h1>{body}</main><footer><p>{IDLE[3]}</p><p>{host}</p></footer>"
        )
    return pages
