"""Rank pages or sites by PageRank and HITS, over all links and over the links that cleaning leaves (thesis 2.3.2)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.errors import InputError, SettingsError
from webwinnow.links.graph import (
    DAMPING,
    MOST_ROUNDS,
    NEAR_PAGES,
    TOLERANCE,
    Floats,
    LinkGraph,
    Numbers,
    base_set,
    hits,
    pagerank,
)
from webwinnow.links.stage_links import LINK_FIELDS
from webwinnow.page.urls import SiteKey, canonical
from webwinnow.progress import no_progress
from webwinnow.record.fields import Field, FieldKind
from webwinnow.run.outputparts import clean_all
from webwinnow.run.outputs import check_apart, check_output, output_format, write_output
from webwinnow.run.pagestore import read_parts
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.rows import well_typed
from webwinnow.run.settings import RunSettings
from webwinnow.run.tablefiles import TableFile, are_tables
from webwinnow.run.unpacking import InputProblem, ProblemListener, ignore_problem
from webwinnow.settings import METHOD, Settings, setting

Algorithm = Literal["pagerank", "hits", "both"]
Ranked = Literal["page", "site"]
DECIMALS = 12
"""Decimals of a score, as many as `TOLERANCE` makes exact."""
FORMATS = ("jsonl", "csv", "parquet")
LINK_KEYS = ("source", "target")
"""Names that a line of `links` has and a page does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSettings(Settings):
    """What is ranked, and how. A site links to another if one of its pages does.

    `root` are pages (or sites) that answer a query; HITS then works on their base set (`graph.base_set`).
    """

    GROUP: ClassVar[str] = "rank"
    PANEL = METHOD

    algorithm: Annotated[
        Algorithm, setting("Scores to compute: PageRank, HITS (authority and hub) or both.", "--algorithm")
    ] = "both"
    damping: Annotated[float, setting("PageRank: probability of following a link.", "--damping", least=0, below=1)] = (
        DAMPING
    )
    tolerance: Annotated[float, setting("Change of the scores at which iterations end.", "--tolerance", least=0)] = (
        TOLERANCE
    )
    rounds: Annotated[int, setting("Iterations at most.", "--rounds", least=1)] = MOST_ROUNDS
    near: Annotated[
        int, setting("HITS: pages that link to a root page and are weighed too, at most, for each.", "--near", least=0)
    ] = NEAR_PAGES
    by: Annotated[Ranked, setting("Rank pages, or sites by the links between them.", "--by")] = "page"
    between_sites: Annotated[
        bool, setting("Leave out links within a site, as HITS was published.", "--between-sites")
    ] = False
    targets: Annotated[bool, setting("Rank linked URLs that are not pages of the input too.", "--targets")] = False
    root: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """One score of all pages (or sites), before and after cleaning."""

    name: str
    before: Floats
    after: Floats

    def movers(self, most: int, *, up: bool) -> list[int]:
        """The pages whose score rose (or fell) most."""
        change = (self.after - self.before) * (1 if up else -1)
        order = _order(change)[:most]
        return [i for i in order.tolist() if change[i] > 0]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The ranked URLs (or sites), ascending; the links between them before and after cleaning; their scores.

    `failed` pages could not be read. `converged` is False if an iteration was stopped before it came to rest.
    """

    by: Ranked
    names: list[str]
    sites: list[str]
    before: LinkGraph
    after: LinkGraph
    scores: list[Score]
    converged: bool
    failed: int = 0

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of `lines`."""
        named = (Field("url"), Field("site")) if self.by == "page" else (Field("site"),)
        scores = [f"{score.name}_{when}" for score in self.scores for when in ("before", "after")]
        counts = [Field(f"links_in_{when}", FieldKind.INTEGER) for when in ("before", "after")]
        return (*named, *counts, *(Field(name, FieldKind.NUMBER) for name in scores))

    def lines(self) -> Iterator[dict[str, Any]]:
        """One line per page (or site), by its first score after cleaning, highest first."""
        columns: list[Numbers | Floats] = [self.before.links_in(), self.after.links_in()]
        columns += [column for score in self.scores for column in (score.before, score.after)]
        names = [self.names, self.sites] if self.by == "page" else [self.names]
        keys = [field.name for field in self.fields]
        for i in _order(self.scores[0].after).tolist():
            values = [*(column[i] for column in names), *(column[i].item() for column in columns)]
            yield dict(zip(keys, values, strict=True))

    def summary(self, most: int) -> list[str]:
        """The pages (or sites) of the highest scores before and after, and those that moved most."""
        left = f"{counted(len(self.before), 'link')} between them, {len(self.after):,} of them after cleaning"
        lines = [f"{len(self.names):,} {self.by}s, {left}"]
        if not len(self.after):
            lines.append("no link is left after cleaning: all scores after cleaning are equal")
        elif len(self.before) == len(self.after):
            lines.append("cleaning removed no link (webwinnow links writes removed links only with --all)")
        if not self.converged:
            lines.append("the scores have not converged; those of near ties may be off")
        for score in self.scores:
            lines += self._tops(score, most)
        return lines

    def _tops(self, score: Score, most: int) -> Iterator[str]:
        before, after = _order(score.before), _order(score.after)
        rank_before, rank_after = np.argsort(before) + 1, np.argsort(after) + 1
        kept = len({*before[:most].tolist()} & {*after[:most].tolist()})
        first = min(most, len(self.names))
        yield f"{score.name}: {kept} of the first {first} before cleaning are among the first {first} after"
        listed = {
            "highest before cleaning": before[:most].tolist(),
            "highest after cleaning": after[:most].tolist(),
            "rose most": score.movers(most, up=True),
            "fell most": score.movers(most, up=False),
        }
        for title, chosen in listed.items():
            yield from [f"  {title}:"] * bool(chosen)
            for i in chosen:
                ranks = f"{rank_before[i]:>7,} -> {rank_after[i]:<7,}"
                yield f"  {ranks} {score.before[i]:.6f} -> {score.after[i]:.6f}  {self.names[i]}"


def rank(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: RunSettings,
    ranking: RankSettings | None = None,
    *,
    format: str | None = None,
    **options: Unpack[OpenOptions],
) -> Ranking:
    """Rank the pages of a collection, or those of links that `webwinnow links --all` wrote; writes one line per page.

    `settings` say how pages are cleaned, with `links="all"`.
    """
    ranking = ranking or RankSettings()
    wanted = output_format(out, format)
    if wanted not in FORMATS or settings.links != "all":
        raise SettingsError(f"scores are written as {', '.join(FORMATS)}, not {wanted}, and need settings of all links")
    check_output(out, wanted)
    check_apart(inputs, out)
    progress, note = options.get("on_progress") or no_progress, options.get("on_problem") or ignore_problem
    links = _Links(settings.site_by)
    failed = 0
    if are_tables(inputs, LINK_KEYS, "links of webwinnow links"):
        for link in read_links(inputs, on_problem=note):
            links.add(link)
    else:
        with ParsedCollection.open(inputs, settings, **options) as collection:
            store, failed = collection.store, collection.failed_count
            for row in collection.rows():
                links.add_page(canonical(row.url), settings.site_by.name(row.site, row.url))
            clean_all(store, collection.pool, settings, progress)
            for link in read_parts(store.part_path(number) for number, _ in store.parts()):
                links.add(link)
    progress("rank", 0, 1)
    found = replace(links.ranked(ranking, note), failed=failed)
    progress("rank", 1, 1)
    write_output(found.lines(), out, wanted, fields=found.fields)
    return found


def read_links(inputs: Sequence[str | Path], *, on_problem: ProblemListener) -> Iterator[dict[str, Any]]:
    """Read the links of all inputs in their order; lines that are not links are reported to `on_problem`."""
    for given in inputs:
        for row in TableFile(Path(given)).rows([field.name for field in LINK_FIELDS], on_problem, LINK_KEYS):
            link = well_typed(row, LINK_FIELDS)
            if link["source"] is None or link["target"] is None:
                on_problem(InputProblem(f"{given}: a link has no text as source or target"))
            else:
                yield link


class _Links:
    """Links between URLs, numbered as they come. Pages are the URLs that have a site."""

    def __init__(self, site_by: SiteKey) -> None:
        self.site_by = site_by
        self.number: dict[str, int] = {}
        self.site: list[str | None] = []
        self.source, self.target, self.kept = array("q"), array("q"), array("b")

    def add_page(self, url: str, site: str) -> None:
        self.site[self._at(url)] = site

    def add(self, link: Mapping[str, Any]) -> None:
        """Add a line of `webwinnow links`; its source is a page. A link without `kept` counts as kept."""
        url = str(link["source"])
        source = self._at(url)
        if self.site[source] is None:
            self.site[source] = link.get("site") or self._site_of(url)
        self.source.append(source)
        self.target.append(self._at(str(link["target"])))
        self.kept.append(link.get("kept") is not False)

    def _at(self, url: str) -> int:
        found = self.number.setdefault(url, len(self.site))
        if found == len(self.site):
            self.site.append(None)
        return found

    def _site_of(self, url: str) -> str:
        return self.site_by.name(self.site_by.of(url), url)

    def ranked(self, settings: RankSettings, note: ProblemListener) -> Ranking:
        """Rank the pages; `note` is called with the root pages that are not among them."""
        urls = sorted(url for url, at in self.number.items() if settings.targets or self.site[at] is not None)
        place = np.full(len(self.site), -1)
        place[[self.number[url] for url in urls]] = np.arange(len(urls))
        sites = [self.site[self.number[url]] or self._site_of(url) for url in urls]
        source, target = (place[np.frombuffer(ends, np.int64)] for ends in (self.source, self.target))
        counts = (source >= 0) & (target >= 0)
        source, target, kept = source[counts], target[counts], np.frombuffer(self.kept, np.bool_)[counts]
        named, group = np.unique(np.array(sites, object), return_inverse=True)
        if settings.between_sites:
            apart = group[source] != group[target]
            source, target, kept = source[apart], target[apart], kept[apart]
        names = urls
        if settings.by == "site":
            names, source, target = named.tolist(), group[source], group[target]
        before = LinkGraph.of(source, target, len(names))
        after = LinkGraph.of(source[kept], target[kept], len(names))
        if not len(before):
            more = "" if settings.targets else "; with --targets, linked URLs that are not pages count too"
            ranked = "only one" if len(names) == 1 else f"no link between the {len(names):,}"
            raise InputError(f"there is {ranked} {settings.by}{'s' * (len(names) != 1)} to rank{more}")
        scores, converged = _scores(before, after, settings, _root(names, settings, note))
        return Ranking(settings.by, names, sites, before, after, scores, converged)


def _root(names: list[str], settings: RankSettings, note: ProblemListener) -> NDArray[np.bool_] | None:
    """The root pages; those that are not ranked are reported."""
    if not settings.root:
        return None
    wanted = set(map(canonical, settings.root) if settings.by == "page" else settings.root)
    root = np.fromiter((name in wanted for name in names), np.bool_, len(names))
    if unknown := sorted(wanted.difference(names)):
        message = f"{len(unknown):,} of {len(wanted):,} root {settings.by}s are not in the input, such as {unknown[0]}"
        if not root.any():
            raise InputError(f"{message}; expected {'URLs of its pages' if settings.by == 'page' else 'its sites'}")
        note(message)
    return root


def _scores(
    before: LinkGraph, after: LinkGraph, settings: RankSettings, root: NDArray[np.bool_] | None
) -> tuple[list[Score], bool]:
    scores, converged = [], True
    ends = settings.tolerance, settings.rounds
    if settings.algorithm != "hits":
        ranks = [pagerank(graph, settings.damping, *ends) for graph in (before, after)]
        scores.append(Score("pagerank", *(_rounded(found.score) for found in ranks)))
        converged = all(found.converged for found in ranks)
    if settings.algorithm != "pagerank":
        focused = [
            graph if root is None else graph.between(base_set(graph, root, settings.near)) for graph in (before, after)
        ]
        weights = [hits(graph, *ends) for graph in focused]
        scores.append(Score("authority", *(_rounded(found.authority) for found in weights)))
        scores.append(Score("hub", *(_rounded(found.hub) for found in weights)))
        converged = converged and all(found.converged for found in weights)
    return scores, converged


def _rounded(score: Floats) -> Floats:
    return np.round(score, DECIMALS)


def _order(score: Floats) -> Numbers:
    """Pages by score, highest first; ties in the order of their names."""
    return np.argsort(-score, kind="stable")
