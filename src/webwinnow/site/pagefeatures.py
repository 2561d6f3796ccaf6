"""The features of a page (thesis 4.2.2): words, link references and image files, as 64-bit hashes with their owners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import image_hashes, link_hashes, name_hash, word_spans
from webwinnow.markup import ATTRIBUTE_CODE, TAG_CODE
from webwinnow.pagetree import PageTree
from webwinnow.words import image_feature, link_feature


@dataclass(frozen=True, slots=True, eq=False)
class PageFeatures:
    """Each occurrence of a feature on a page: the node that directly contains it, and the feature's hash."""

    owner: NDArray[np.int32]
    feature: NDArray[np.uint64]


def page_features(tree: PageTree) -> PageFeatures:
    """All features of the visible part of a page, words in page order, then links, then images."""
    visible = tree.visible
    hashes, runs, _, _ = word_spans(tree.text, tree.run_start, visible[tree.run_owner])
    owners, features = [tree.run_owner[runs]], [hashes]
    for hashed, (named, naming) in zip((link_hashes, image_hashes), _NAMED, strict=True):
        at = _bearers(tree, visible, *named)
        owners.append(tree.attr_node[at])
        features.append(hashed(tree.attr_text, tree.attr_start, at, naming))
    return PageFeatures(np.concatenate(owners), np.concatenate(features))


def feature_names(tree: PageTree) -> dict[int, str]:
    """The features of a page by their hashes: words in lower case, links and images with their prefixes."""
    visible = tree.visible
    hashes, _, begins, ends = word_spans(tree.text, tree.run_start, visible[tree.run_owner])
    _, first = np.unique(hashes, return_index=True)
    names = {int(hashes[k]): tree.text[begins[k] : ends[k]].lower() for k in first.tolist()}
    for named, naming in _NAMED:
        for k in _bearers(tree, visible, *named).tolist():
            name = naming(tree.attr_text[tree.attr_start[k] : tree.attr_start[k + 1]])
            names[name_hash(name)] = name
    return names


_NAMED = ((("href", "a"), link_feature), (("src", "img"), image_feature))


def _bearers(tree: PageTree, visible: NDArray[np.bool_], attribute: str, tag: str) -> NDArray[np.int64]:
    """The places, among the attributes, of this one at visible nodes of this tag."""
    at = np.flatnonzero(tree.attr_name == ATTRIBUTE_CODE[attribute])
    nodes = tree.attr_node[at]
    wanted: NDArray[np.int64] = at[visible[nodes] & (tree.tag[nodes] == TAG_CODE[tag])]
    return wanted
