"""Seeds of `sites mine`: sites with their topics, as stored pages or as start pages to read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from webwinnow.errors import InputError, PageRefused
from webwinnow.page.parsing import parse
from webwinnow.page.urls import SiteKey
from webwinnow.run.inputs import open_pages
from webwinnow.run.tablefiles import check_label_column, read_label_column, read_labels
from webwinnow.topics.denoising import WordCounter
from webwinnow.topics.pages import PageWords

LABEL = "label"
TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True, slots=True)
class Seeds:
    """The topics of the seeds by site; the start pages of those to read; the pages of the others, and their words."""

    topics: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)
    stored: dict[str, list[PageWords]] = field(default_factory=dict)
    spelled: dict[int, str] = field(default_factory=dict)


def read_seeds(
    path: Path,
    label: str = LABEL,
    *,
    site_by: SiteKey | None = None,
    most: int = 500,
    counter: WordCounter | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Seeds:
    """Read labelled seeds: Parquet or JSONL with pages (`html`), or any table with one start page per line (`url`).

    Of stored pages the first `most` of a site are taken. Raises `InputError` where a site has two topics.
    """
    site_by, counter = site_by or SiteKey(), counter or WordCounter()
    note = on_problem or (lambda _: None)
    topics: dict[str, str] = {}
    if _has_pages(path):
        stored: dict[str, list[PageWords]] = defaultdict(list)
        spelled: dict[int, str] = {}
        check_label_column([path], label)
        for page in open_pages([path], on_problem=note, label=label):
            site = site_by.of(page.url, page.site)
            if page.label is None or not site:
                continue
            _agree(topics, site, page.label)
            if page.refused is None and len(stored[site]) < most:
                try:
                    tree = parse(page.body, url=page.url, content_type=page.content_type, layout=page.layout)
                    stored[site].append(counter.of(tree, spelled))
                except PageRefused as refusal:
                    note(f"{page.url}: {refusal}")
        there = {site: pages for site, pages in stored.items() if pages}
        seeds = Seeds({site: topics[site] for site in there}, {}, there, spelled)
    else:
        starts: dict[str, str] = {}
        is_table = path.name.lower().endswith(TABLES)
        labels = read_labels(path) if is_table else read_label_column([path], label)
        for url, topic in labels.items():
            site = site_by.of(url)
            if not site:
                raise InputError(f"{path}: {url!r} is no web URL; expected a start page in the column url")
            _agree(topics, site, topic)
            starts.setdefault(site, url)
        seeds = Seeds(topics, starts, {})
    if len(set(seeds.topics.values())) < 2:
        raise InputError(
            f"{path}: {len(seeds.topics)} seeds with {len(set(seeds.topics.values()))} topics; expected two topics or "
            "more: give sites of a topic that you do not want too, and name those that you do (--topic)"
        )
    return seeds


def _agree(topics: dict[str, str], site: str, topic: str) -> None:
    if topics.setdefault(site, topic) != topic:
        raise InputError(f"the seed {site} has two topics, {topics[site]} and {topic}: expected one; see --site-by")


def _has_pages(path: Path) -> bool:
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a table with url and label, or labelled pages")
    try:
        check_label_column([path], "html")
    except InputError:
        return False
    return True
