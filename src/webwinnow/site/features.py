"""The features of a page (thesis 4.2.2): words, link references and image files, as 64-bit hashes with their owners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow._kernels import word_spans
from webwinnow.markup import TAG_CODE
from webwinnow.pagetree import PageTree
from webwinnow.words import image_feature, link_feature

__all__ = ["PageFeatures", "feature_names", "page_features"]


@dataclass(frozen=True, slots=True, eq=False)
class PageFeatures:
    """Each occurrence of a feature on a page: the node that directly holds it, and the feature's hash."""

    owner: NDArray[np.int32]
    feature: NDArray[np.uint64]


def page_features(tree: PageTree) -> PageFeatures:
    """All features of the visible part of a page, words in page order, then links, then images."""
    visible = tree.visible
    hashes, runs, _, _ = word_spans(tree.text, tree.run_start, visible[tree.run_owner])
    owners, features = [tree.run_owner[runs]], [hashes]
    for nodes, names in _named(tree, visible):
        owners.append(nodes)
        features.append(np.array([_hash(name) for name in names], np.uint64))
    return PageFeatures(np.concatenate(owners), np.concatenate(features))


def feature_names(tree: PageTree) -> dict[int, str]:
    """The features of a page by their hashes: words in lower case, links and images with their prefixes."""
    visible = tree.visible
    hashes, _, begins, ends = word_spans(tree.text, tree.run_start, visible[tree.run_owner])
    _, first = np.unique(hashes, return_index=True)
    names = {int(hashes[k]): tree.text[begins[k] : ends[k]].lower() for k in first.tolist()}
    for _, found in _named(tree, visible):
        names.update((_hash(name), name) for name in found)
    return names


def _named(tree: PageTree, visible: NDArray[np.bool_]) -> list[tuple[NDArray[np.int32], list[str]]]:
    """Links and images of the visible part: their nodes and feature names."""
    found = []
    for attribute, tag, naming in (("href", "a", link_feature), ("src", "img", image_feature)):
        nodes, values = tree.values(attribute)
        wanted = visible[nodes] & (tree.tag[nodes] == TAG_CODE[tag])
        found.append((nodes[wanted], [naming(values[k]) for k in np.flatnonzero(wanted).tolist()]))
    return found


def _hash(name: str) -> int:
    return xxh3_64_intdigest(name.encode("utf-8", "replace"))
