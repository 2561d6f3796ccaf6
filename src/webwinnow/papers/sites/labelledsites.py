"""`LabelledSite`: a site of a file with its topic and the data of its trials: words, texts, cleaned nodes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.errors import InputError, PageRefused
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.page.words import StopList
from webwinnow.papers.sites.denoising import Denoiser, cleaned_nodes, page_shares
from webwinnow.progress import Progress
from webwinnow.run.inputs import known_page_count
from webwinnow.run.tablefiles import TableFile
from webwinnow.topics.denoising import SiteText
from webwinnow.topics.pages import PageWords, SitePages
from webwinnow.topics.sitetopics import SiteTopic
from webwinnow.topics.trees import NOTHING, LinkTree


class Clock:
    """Seconds of processor time by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Add the time inside the block to a stage."""
        began = time.process_time()
        yield
        self.seconds[stage] += time.process_time() - began


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """The topic that a method predicts for a site, with its probability."""

    site: str
    label: str
    topic: str
    probability: float

    @classmethod
    def of(cls, site: LabelledSite, predicted: SiteTopic) -> Self:
        """The answer of a method on a site."""
        return cls(site.name, site.label, predicted.topic, predicted.probability)

    @property
    def right(self) -> bool:
        """Whether the topic is the label."""
        return self.topic == self.label


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSite:
    """A site and its label. `text`, `shares` and `cleaned` are set if denoising is compared."""

    name: str
    label: str
    pages: tuple[PageWords, ...]
    site: SitePages
    text: SiteText | None = None
    shares: dict[str, float] | None = None
    cleaned: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls, name: str, label: str, trees: list[PageTree], cleaning: str | None, clock: Clock, stop_list: StopList
    ) -> Self:
        """Build it from parsed pages; with a cleaning method, ready for denoising."""
        with clock.of("words of blocks"):
            pages = tuple(PageWords.of(tree, stop_list) for tree in trees)
            site = SitePages.of_pages(pages, name)
        if cleaning is None:
            return cls(name, label, pages, site)
        with clock.of("text of blocks"):
            text = SiteText.of(trees)
            shares = page_shares(text, stop_list)
        with clock.of(f"cleaner {cleaning}"):
            cleaned = cleaned_nodes(trees, cleaning)
        return cls(name, label, pages, site, text, shares, cleaned)

    @property
    def everything(self) -> SitePages:
        """The site with the words of all its visible blocks, repeated or not."""
        site = self.site
        by_page = site.words.by(site.page_of_node, len(site))
        return replace(site, kept=np.ones(len(site.kept), np.bool_), page_words=by_page)

    def denoised(self, denoiser: Denoiser) -> SitePages:
        """The denoised site."""
        if denoiser.choice == "repeated":
            return self.site
        if denoiser.choice == "none" or self.text is None:
            return self.everything
        whole = self.site if denoiser.choice == "repeated, thesaurus" else self.everything
        return whole.keeping(denoiser.denoised(self.text, whole, self.cleaned).nodes)

    def of_pages(self, nodes: NDArray[np.bool_]) -> SitePages:
        """The site reduced to the pages at these nodes of its page tree."""
        tree = self.site.page_tree
        chosen = np.flatnonzero(nodes)
        place = np.full(len(tree) + 1, NOTHING, np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        number = np.full(len(self.pages) + 1, NOTHING, np.int32)
        wanted = [p for p in tree.page[chosen].tolist() if p != NOTHING]
        number[wanted] = np.arange(len(wanted), dtype=np.int32)
        smaller = LinkTree(number[tree.page[chosen]], place[tree.parent[chosen]], tree.depth[chosen])
        return SitePages.of_pages([self.pages[p] for p in wanted], self.name, page_tree=smaller)

    def without_text(self) -> Self:
        """The site without the data of denoising."""
        return replace(self, text=None, shares=None, cleaned=None)


def read_sites(
    file: TableFile,
    label: str,
    site: str,
    *,
    cleaning: str | None,
    clock: Clock,
    most_pages: int | None = None,
    stop_list: StopList | None = None,
    on_progress: Progress,
    on_problem: Callable[[str], None],
) -> list[LabelledSite]:
    """Return the labelled sites of a file, by name. `InputError` if pages of one site have several labels."""
    file.check_pages()
    file.check([label, site])
    labels: dict[str, str] = {}
    trees: dict[str, list[PageTree]] = defaultdict(list)
    left_out, total = 0, known_page_count([file.path])
    for number, ((topic, name), page) in enumerate(
        zip(file.values([label, site], on_problem), file.pages(on_problem), strict=True), start=1
    ):
        on_progress("parse", number, total)
        if topic is None or name is None or page.refused is not None:
            left_out += 1
            continue
        if labels.setdefault(name, topic) != topic:
            raise InputError(
                f"{file.path}: pages of site {name} have the labels {labels[name]!r} and {topic!r} in column {label}; "
                "expected the topic of the whole site"
            )
        if most_pages is not None and len(trees.get(name, ())) >= most_pages:
            continue
        try:
            with clock.of("parsing"):
                tree = parse(page.body, url=page.url, content_type=page.content_type, layout=page.layout)
        except PageRefused:
            left_out += 1
            continue
        trees[name].append(tree)
    if left_out:
        on_problem(f"{counted(left_out, 'page')} without site, label or readable HTML: left out")
    found = []
    for name in sorted(trees):
        of_site = trees.pop(name)
        found.append(LabelledSite.of(name, labels[name], of_site, cleaning, clock, stop_list or StopList()))
        on_progress("learn", len(found), len(labels))
    return found
