"""Cluster the pages of a collection, weighed as by `features`, or the rows of a feature file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack

from webwinnow.collection.pagestore import PageRow
from webwinnow.collection.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.collection.settings import CollectionSettings
from webwinnow.commands.featurefile import collect_features
from webwinnow.errors import SettingsError
from webwinnow.io import Field, FieldKind, check_output, output_format, write_output
from webwinnow.io.unpacking import ProblemListener, ignore_problem
from webwinnow.pagemeta.hints import Hints
from webwinnow.pagetree import PageTree
from webwinnow.progress import Progress
from webwinnow.urls import is_web_link
from webwinnow.vectors import VectorSettings

if TYPE_CHECKING:
    from webwinnow.mining import Agreement, ClusteredPages, ClusterSettings, PageRows

CLUSTER_FIELDS: Final = (
    Field("page_id"),
    Field("url"),
    Field("cluster", FieldKind.INTEGER, about="from 1, the largest first"),
    Field("name", about="the strongest terms of the cluster"),
    Field("similarity", FieldKind.NUMBER, about="cosine of the page and the centroid of its cluster"),
    Field("reason", about="why the page is in no cluster"),
)
"""What `webwinnow cluster` writes for each page."""
NO_FEATURES: Final = "no features to compare"


class ClusteredPage(NamedTuple):
    """A page beside its features."""

    page_id: str | None
    url: str | None
    title: str | None = None
    error: str | None = None


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
        return int((self.found.clustering.label < 0).sum()) - self.failed

    def lines(self) -> Iterator[dict[str, Any]]:
        """One record per page, in the order of the rows."""
        clustering, clusters = self.found.clustering, self.found.clusters
        for page, cluster, similarity in zip(
            self.pages, clustering.label.tolist(), clustering.similarity.tolist(), strict=True
        ):
            is_inside = cluster >= 0
            yield {
                "page_id": page.page_id,
                "url": page.url,
                "cluster": cluster + 1 if is_inside else None,
                "name": clusters[cluster].name if is_inside else None,
                "similarity": round(similarity, 4) if is_inside else None,
                "reason": None if is_inside else page.error or NO_FEATURES,
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
    with ParsedCollection.open(inputs, settings, **options) as collection:
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
    from webwinnow.mining import agreement, cluster_pages  # noqa: PLC0415 (an optional extra)

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


def write_clusters(collection: ClusteredCollection, out: str | Path, format: str | None = None) -> None:
    """Write one line per page as JSONL, CSV or Parquet."""
    wanted = output_format(out, format)
    check_clusters_output(out, format)
    write_output(collection.lines(), out, wanted, fields=CLUSTER_FIELDS)


def check_clusters_output(out: str | Path, format: str | None = None) -> None:
    """Raise `SettingsError` where `write_clusters` could not write; for a check before the work."""
    wanted = output_format(out, format)
    if wanted not in ("jsonl", "csv", "parquet"):
        raise SettingsError(f"clusters are written as jsonl, csv or parquet, not {wanted}")
    check_output(out, wanted)


def _feature_file(path: Path, note: ProblemListener) -> tuple[PageRows, list[ClusteredPage]]:
    from webwinnow.mining import PageRows  # noqa: PLC0415 (an optional extra)

    rows = PageRows.read(path)
    repeated = [name for name, times in Counter(rows.page_ids).items() if times > 1]
    if repeated:
        note(f"{path}: {len(repeated):,} page ids name several rows, for example {repeated[0]!r}")
    return rows, [ClusteredPage(name, name if is_web_link(name) else None) for name in rows.page_ids]


def _page_rows(collection: ParsedCollection, vectors: VectorSettings) -> tuple[PageRows, list[ClusteredPage]]:
    from webwinnow.mining import PageRows  # noqa: PLC0415 (an optional extra)

    pages: list[ClusteredPage] = []

    def add(row: PageRow, tree: PageTree | None) -> None:
        title = None if tree is None else Hints(tree).title
        pages.append(ClusteredPage(row.page_id, row.url, title, row.error))

    return PageRows.of(collect_features(collection, vectors, add)), pages
