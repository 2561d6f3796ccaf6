"""Read labelled images and links, and train the trees of method `items` on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from webwinnow.errors import InputError, PageRefused
from webwinnow.methods.itemfeatures import ITEM_KINDS, items_of
from webwinnow.methods.itemtraining import LabelledItems, TreeSettings, train
from webwinnow.methods.method_items import LABELS, ItemModel
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.run.tablefiles import TableFile

COLUMNS = ("html", "path", "url", "kind", "item", "label")
_DOMAIN = SiteKey(by="domain")


class ItemLabel(NamedTuple):
    """One labelled item: `at` is its place among the items of its kind on the page."""

    kind: str
    at: int
    noisy: bool


def train_items(files: Iterable[Path], settings: TreeSettings) -> ItemModel:
    """Train trees on the labels of JSONL or Parquet files, one item per row. Raises `InputError` with the bad row."""
    files = list(files)
    labelled: dict[str, list[LabelledItems]] = defaultdict(list)
    for path in files:
        for tree, labels in _labelled_pages(path):
            for kind, items in of_page(tree, labels):
                labelled[kind].append(items)
    return train(labelled, settings, ", ".join(path.name for path in files))


def of_page(tree: PageTree, labels: Iterable[ItemLabel]) -> Iterator[tuple[str, LabelledItems]]:
    """The labelled items of a page, by kind; its site is its registered domain."""
    site = _DOMAIN.of(tree.url)
    labels = sorted(set(labels))
    for kind in ITEM_KINDS:
        own = [label for label in labels if label.kind == kind]
        if own:
            items = items_of(tree, kind).at([label.at for label in own])
            yield kind, LabelledItems(site, items, np.array([label.noisy for label in own]))


def _labelled_pages(path: Path) -> Iterator[tuple[PageTree, list[ItemLabel]]]:
    """The pages of a file of labels, each with the labels of its items."""
    problems: list[str] = []
    pages: dict[tuple[str | None, ...], tuple[PageTree, list[ItemLabel]]] = {}
    table = TableFile(path)
    for number, row in enumerate(table.values(COLUMNS, problems.append), start=1):
        where = f"{path}: row {number}"
        html, file, url, kind, item, label = row
        if kind not in LABELS:
            raise InputError(f"{where}: kind is {kind!r}; expected {' or '.join(ITEM_KINDS)}")
        if label not in LABELS[kind]:
            raise InputError(f"{where}: label is {label!r}; expected {' or '.join(LABELS[kind])} for a {kind}")
        if item is None or url is None or (html is None) == (file is None):
            raise InputError(f"{where}: expected item and url (of the page), and either html or path")
        key = (html, file, url)
        if key not in pages:
            pages[key] = _parsed(path.parent / file if file else None, html, url, where), []
        tree, labels = pages[key]
        labels.append(ItemLabel(kind, _place(tree, kind, item, where), label == LABELS[kind][1]))
    if problems:
        raise InputError(problems[0])
    return iter(pages.values())


def _parsed(file: Path | None, html: str | None, url: str, where: str) -> PageTree:
    try:
        return parse((html or "").encode() if file is None else file.read_bytes(), url=url)
    except (OSError, PageRefused) as error:
        raise InputError(f"{where}: the page cannot be read ({error})") from None


def _place(tree: PageTree, kind: str, item: str, where: str) -> int:
    """The place of the first item with this URL, as the page writes it or absolute."""
    urls = items_of(tree, kind, ()).urls
    for found in (item, *(url for url in urls if tree.resolve(url) == item)):
        if found in urls:
            return urls.index(found)
    shown = ", ".join(dict.fromkeys(urls[:5])) or "none"
    raise InputError(f"{where}: the page has no visible {kind} with the URL {item!r}; its first: {shown}")
