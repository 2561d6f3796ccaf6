"""K-means by cosine as in Figure 5-1 of the thesis, page by page: slow and obvious."""

from __future__ import annotations

import math

Page = dict[int, float]


def cosine(one: Page, other: Page) -> float:
    """Thesis (6-3)."""
    product = sum(weight * other.get(feature, 0.0) for feature, weight in one.items())
    return product / (length(one) * length(other))


def length(page: Page) -> float:
    return math.sqrt(sum(weight * weight for weight in page.values()))


def mean_direction(pages: list[Page]) -> Page:
    """Thesis (6-2) over pages of unit length; the length of a centroid does not change a cosine."""
    total: Page = {}
    for page in pages:
        for feature, weight in page.items():
            total[feature] = total.get(feature, 0.0) + weight / length(page)
    return total


def plain_k_means(pages: list[Page], seeds: list[int], iterations: int) -> tuple[list[int], int]:
    """The cluster of each page, and the iterations it took; a cluster without pages keeps its centroid."""
    centroids = [pages[seed] for seed in seeds]
    before: list[int] = []
    labels: list[int] = []
    for iteration in range(1, iterations + 1):
        labels = []
        for page in pages:
            similarity = [cosine(page, centroid) for centroid in centroids]
            labels.append(similarity.index(max(similarity)))
        if labels == before:
            return labels, iteration
        for cluster in range(len(centroids)):
            own = [page for page, label in zip(pages, labels, strict=True) if label == cluster]
            if own:
                centroids[cluster] = mean_direction(own)
        before = labels
    return labels, iterations
