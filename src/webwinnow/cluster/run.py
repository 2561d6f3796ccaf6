"""Cluster the pages of a collection, weighted as by `features`, or the rows of a feature file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack

from webwinnow.cluster.clustering import Agreement, agreement
from webwinnow.cluster.overtime import OverTime, over_time
from webwinnow.cluster.pages import ClusteredPages, cluster_pages
from webwinnow.cluster.rows import PageRows, PhraseCollector
from webwinnow.cluster.settings import ClusterSettings
from webwinnow.errors import SettingsError
from webwinnow.features.run import FeaturePage, collect_features
from webwinnow.features.vectors import VectorSettings
from webwinnow.page.metadata import metadata
from webwinnow.page.urls import is_web_link
from webwinnow.progress import Progress
from webwinnow.record.fields import Field, FieldKind
from webwinnow.run.outputs import OutputFormat, check_output, output_format, write_output
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.unpacking import ProblemListener, ignore_problem

CLUSTER_FIELDS: Final = (
    Field("page_id"),
    Field("url"),
    Field("cluster", FieldKind.INTEGER, about="from 1, the largest first"),
    Field("name", about="the strongest terms of the cluster"),
    Field("similarity", FieldKind.NUMBER, about="cosine of the page and the centroid of its cluster"),
    Field("date", about="the date that the page gives"),
    Field("reason", about="why the page is in no cluster"),
)
"""What `webwinnow cluster` writes for each page."""
GROUP_FIELDS: Final = (
    Field("group", FieldKind.INTEGER, about="the group of the cluster when the hierarchy is cut, the largest first"),
    Field("group_name", about="the strongest terms of the group"),
)
"""What it adds where the hierarchy is cut."""
NO_FEATURES: Final = "no features to compare"
OUTLIER: Final = "an outlier: similar to no cluster"


class ClusteredPage(NamedTuple):
    """A page beside its features."""

    page_id: str | None
    url: str | None
    title: str | None = None
    error: str | None = None
    site: str = ""
    date: str | None = None


class Group(NamedTuple):
    """Clusters that are one when the hierarchy is cut, by number from 0."""

    name: str
    clusters: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredCollection:
    """The pages of a collection and their clusters; `agreement` where labels were given."""

    pages: list[ClusteredPage]
    found: ClusteredPages
    agreement: Agreement | None = None
    labelled: int = 0

    @property
    def failed(self) -> int:
        """Pages that could not be read."""
        return sum(page.error is not None for page in self.pages)

    @property
    def without_features(self) -> int:
        """Pages that were read and have nothing to compare."""
        return int((~self.found.compared).sum()) - self.failed

    @property
    def outliers(self) -> int:
        """Pages that could be compared and are in no cluster."""
        return int((self.found.compared & (self.found.clustering.label < 0)).sum())

    def reason(self, page: int) -> str | None:
        """Why a page is in no cluster; None if it is in one."""
        if self.found.clustering.label[page] >= 0:
            return None
        return self.pages[page].error or (OUTLIER if self.found.compared[page] else NO_FEATURES)

    def groups(self, count: int) -> list[Group]:
        """The groups of clusters when the hierarchy is cut into `count`, the largest first."""
        tree, clusters = self.found.tree, self.found.clusters
        cut = tree.cut(count)
        found = []
        for group in sorted(set(cut)):
            inside = tuple(k for k, of in enumerate(cut) if of == group)
            found.append(Group(tree.name(group, self.found.names), inside, sum(clusters[k].size for k in inside)))
        return sorted(found, key=lambda group: (-group.size, group.clusters))

    def over_time(self) -> OverTime:
        """The dated pages of each cluster by day, month or year."""
        dates = [page.date for page in self.pages]
        return over_time(self.found.clustering.label, dates, len(self.found.clusters))

    def lines(self, groups: int | None = None) -> Iterator[dict[str, Any]]:
        """One record per page, in the order of the rows; with `groups` also the group of its cluster."""
        clustering, clusters = self.found.clustering, self.found.clusters
        cut = [] if groups is None else self.groups(groups)
        group_of = {k: (number, group.name) for number, group in enumerate(cut, start=1) for k in group.clusters}
        for n, (page, cluster, similarity) in enumerate(
            zip(self.pages, clustering.label.tolist(), clustering.similarity.tolist(), strict=True)
        ):
            is_inside = cluster >= 0
            record = {
                "page_id": page.page_id,
                "url": page.url,
                "cluster": cluster + 1 if is_inside else None,
                "name": clusters[cluster].name if is_inside else None,
                "similarity": round(similarity, 4) if is_inside else None,
                "date": page.date,
                "reason": self.reason(n),
            }
            if cut:
                record["group"], record["group_name"] = group_of.get(cluster, (None, None))
            yield record

    def to_plain(self) -> dict[str, Any]:
        """The clusters as plain data: names, terms, hierarchy, and pages over time."""
        found, time = self.found, self.over_time()
        return {
            "pages": len(self.pages),
            "outliers": self.outliers,
            "without_features": self.without_features,
            "failed": self.failed,
            "clusters": [
                {
                    "cluster": number,
                    "name": cluster.name,
                    "pages": cluster.size,
                    "cohesion": round(cluster.cohesion, 4),
                    "terms": {term: round(strength, 4) for term, strength in cluster.terms},
                    "typical": [self.pages[page].url or self.pages[page].page_id for page in cluster.typical],
                }
                for number, cluster in enumerate(found.clusters, start=1)
            ],
            "merges": [
                {
                    "group": number,
                    "of": [merge.one + 1, merge.other + 1],
                    "distance": merge.distance,
                    "name": merge.name,
                }
                for number, merge in enumerate(found.tree.merges, start=len(found.clusters) + 1)
            ],
            "over_time": {
                "periods": list(time.periods),
                "pages": {str(c + 1): time.pages[:, c].tolist() for c in range(len(found.clusters))},
                "undated": time.undated,
            },
        }


def cluster_collection(
    inputs: Sequence[str | Path],
    settings: CollectionSettings,
    vectors: VectorSettings,
    clusters: ClusterSettings,
    *,
    labels: dict[str, str] | None = None,
    **options: Unpack[OpenOptions],
) -> ClusteredCollection:
    """Cluster pages, or the rows of one feature file (`.npz`). `labels`, by page, are compared with the clusters."""
    progress = options.get("on_progress")
    if any(map(is_feature_file, inputs)):
        if len(inputs) > 1:
            raise SettingsError(f"{len(inputs)} inputs, a feature file among them; expected one feature file or pages")
        rows, pages = _feature_file(Path(inputs[0]), options.get("on_problem") or ignore_problem)
        return _clustered(rows, pages, clusters, labels, progress)
    with ParsedCollection.open(inputs, settings, records=True, **options) as collection:
        rows, pages = _page_rows(collection, vectors)
    return _clustered(rows, pages, clusters, labels, progress)


def cluster_parsed(
    collection: ParsedCollection, vectors: VectorSettings, clusters: ClusterSettings
) -> ClusteredCollection:
    """Cluster the pages of an open collection."""
    return _clustered(*_page_rows(collection, vectors), clusters, None, collection.progress)


def _clustered(
    rows: PageRows,
    pages: list[ClusteredPage],
    clusters: ClusterSettings,
    labels: dict[str, str] | None,
    progress: Progress | None,
) -> ClusteredCollection:
    found = cluster_pages(rows, clusters, on_progress=progress)
    if labels is None:
        return ClusteredCollection(pages, found)
    known = [k for k, name in enumerate(rows.page_ids) if name in labels]
    if not known:
        raise SettingsError(f"none of {len(labels)} labels is of a page of the collection; expected its page_id or url")
    scores = agreement([labels[rows.page_ids[k]] for k in known], found.clustering.label[known])
    return ClusteredCollection(pages, found, scores, len(known))


def is_feature_file(given: str | Path) -> bool:
    """Whether an input is a file of `webwinnow features` rather than pages."""
    return str(given).lower().endswith(".npz")


def write_clusters(
    collection: ClusteredCollection, out: str | Path, format: str | None = None, *, groups: int | None = None
) -> None:
    """Write one line per page as JSONL, CSV or Parquet; with `groups`, the hierarchy is cut into so many."""
    wanted = check_clusters_output(out, format)
    fields = CLUSTER_FIELDS if groups is None else CLUSTER_FIELDS + GROUP_FIELDS
    write_output(collection.lines(groups), out, wanted, fields=fields)


def check_clusters_output(out: str | Path, format: str | None = None) -> OutputFormat:
    """The format of an output. Raises `SettingsError` where `write_clusters` could not write it."""
    wanted = output_format(out, format)
    if wanted not in ("jsonl", "csv", "parquet"):
        raise SettingsError(f"clusters are written as jsonl, csv or parquet, not {wanted}")
    check_output(out, wanted)
    return wanted


def _feature_file(path: Path, note: ProblemListener) -> tuple[PageRows, list[ClusteredPage]]:
    rows = PageRows.read(path)
    repeated = [name for name, times in Counter(rows.page_ids).items() if times > 1]
    if repeated:
        note(f"{path}: {len(repeated):,} page ids name several rows, for example {repeated[0]!r}")
    return rows, [ClusteredPage(name, name if is_web_link(name) else None) for name in rows.page_ids]


def _page_rows(collection: ParsedCollection, vectors: VectorSettings) -> tuple[PageRows, list[ClusteredPage]]:
    pages: list[ClusteredPage] = []
    phrases = PhraseCollector()

    def add(page: FeaturePage) -> None:
        row, tree = page.row, page.tree
        about = None if tree is None else metadata(tree)
        title, date = (None, None) if about is None else (about.title, about.date)
        pages.append(ClusteredPage(row.page_id, row.url, title, row.error, row.site, date))
        phrases.add(tree, page.verdict, page.features)

    features = collect_features(collection, vectors, on_page=add)
    return PageRows.of(features, [page.site for page in pages], phrases), pages
