"""A collection clustered, a line a page: pages are weighed as `features` does, or a feature file is taken as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from webwinnow.collection.pagestore import PageRow
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.features import collect_features
from webwinnow.errors import SettingsError
from webwinnow.io import Field, FieldKind, check_output, output_format, write_output
from webwinnow.pagemeta.hints import Hints
from webwinnow.pagetree import PageTree
from webwinnow.progress import Progress
from webwinnow.urls import is_web_link
from webwinnow.vectors import VectorSettings

if TYPE_CHECKING:
    from webwinnow.mining import Agreement, ClusteredPages, ClusterSettings, PageRows

__all__ = [
    "CLUSTER_FIELDS",
    "ClusteredCollection",
    "ClusteredPage",
    "check_clusters_output",
    "cluster_collection",
    "is_feature_file",
    "write_clusters",
]

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
    """What is known of a page beside its features."""

    page_id: str | None
    url: str | None
    title: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredCollection:
    """The pages of a collection and the clusters they fell into; `agreement` where labels were given."""

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
        """Pages that were read and hold nothing to compare."""
        return int((self.found.clustering.label < 0).sum()) - self.failed

    def lines(self) -> Iterator[dict[str, Any]]:
        """A record for each page, in the order of the rows."""
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
    settings: RunSettings,
    vectors: VectorSettings,
    clusters: ClusterSettings,
    *,
    labels: dict[str, str] | None = None,
    tmp: Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> ClusteredCollection:
    """Cluster pages, or the rows of one feature file (`.npz`). `labels`, by page, are compared with what was found."""
    from webwinnow.mining import agreement, cluster_pages  # noqa: PLC0415 (an optional extra)

    rows, pages = _rows(inputs, settings, vectors, tmp, on_progress, on_problem)
    found = cluster_pages(rows, clusters, on_progress=on_progress)
    if labels is None:
        return ClusteredCollection(pages, found)
    known = [k for k, name in enumerate(rows.page_ids) if name in labels]
    if not known:
        raise SettingsError(f"none of {len(labels)} labels is of a page of the collection; expected its page_id or url")
    scores = agreement([labels[rows.page_ids[k]] for k in known], found.clustering.label[known])
    return ClusteredCollection(pages, found, scores, len(known))


def is_feature_file(given: str | Path) -> bool:
    """Whether an input is what `webwinnow features` wrote rather than pages."""
    return str(given).lower().endswith(".npz")


def write_clusters(collection: ClusteredCollection, out: str | Path, format: str | None = None) -> None:
    """Write a line for each page as JSONL, CSV or Parquet."""
    wanted = output_format(out, format)
    check_clusters_output(out, format)
    write_output(collection.lines(), out, wanted, fields=CLUSTER_FIELDS)


def check_clusters_output(out: str | Path, format: str | None = None) -> None:
    """Raise `SettingsError` where `write_clusters` could not write: to know before the work is done."""
    wanted = output_format(out, format)
    if wanted not in ("jsonl", "csv", "parquet"):
        raise SettingsError(f"clusters are written as jsonl, csv or parquet, not {wanted}")
    check_output(out, wanted)


def _rows(
    inputs: Sequence[str | Path],
    settings: RunSettings,
    vectors: VectorSettings,
    tmp: Path | None,
    on_progress: Progress | None,
    on_problem: Callable[[str], None] | None,
) -> tuple[PageRows, list[ClusteredPage]]:
    from webwinnow.mining import PageRows  # noqa: PLC0415 (an optional extra)

    if any(map(is_feature_file, inputs)):
        if len(inputs) > 1:
            raise SettingsError(f"{len(inputs)} inputs, a feature file among them; expected one feature file or pages")
        rows = PageRows.read(Path(inputs[0]))
        repeated = [name for name, times in Counter(rows.page_ids).items() if times > 1]
        if repeated and on_problem is not None:
            on_problem(f"{inputs[0]}: {len(repeated):,} page ids stand for several rows, {repeated[0]!r} for one")
        return rows, [ClusteredPage(name, name if is_web_link(name) else None) for name in rows.page_ids]
    pages: list[ClusteredPage] = []

    def keep(row: PageRow, tree: PageTree | None) -> None:
        title = None if tree is None else Hints(tree).title
        pages.append(ClusteredPage(row.page_id, row.url, title, row.error))

    matrix = collect_features(
        inputs, settings, vectors, tmp=tmp, on_page=keep, on_progress=on_progress, on_problem=on_problem
    )
    return PageRows.of(matrix), pages
