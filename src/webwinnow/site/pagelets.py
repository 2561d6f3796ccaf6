"""Pagelets (Bar-Yossef and Rajagopalan, WWW 2002; thesis 3.3): the parts of a page between its links, as fingerprints.

A pagelet is an element outside of other pagelets none of whose children has k or more links. Its fingerprint is a
sketch of shingles (Broder 1997), which small differences do not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import topmost
from webwinnow.page.tree import PageTree
from webwinnow.page.words import SHINGLE_SIZE
from webwinnow.settings import Settings, setting
from webwinnow.site.counts import Counts
from webwinnow.site.styletree import page_features, pair_key
from webwinnow.storage.modelfile import ArrayTable, Column

PAGELET_LINKS = 3
"""k: an element with a child of so many links is not a pagelet (thesis 5.3, as the authors)."""
SKETCH_HASHES = 4
"""Smallest hashes that two pagelets must share to count as equal, which happens with probability r^4 for resemblance r.
Ours. With 1, a story that shares a third of its shingles with others is removed in a third of all cases (attribute
recall on ten sites of sites-swde 0.78; with 4 0.93, with 8 0.95); with more, menus that differ in one link are kept
(word F1 on sites-news 0.820, 0.795, 0.783)."""
TEMPLATE_PAGES = 2
"""Pages that must have a pagelet before it is a template: the authors take every group of more than one."""
MOST = 1000
"""Largest value of a setting: a model file must not make cleaning endless."""

Keys = NDArray[np.uint64]
_SEED = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True, kw_only=True)
class PageletSettings(Settings):
    """How pages are split into pagelets, and when two pagelets count as equal.

    - `links`: k; an element with a child of so many links is not a pagelet.
    - `shingle`: features (words, links, images) in a row that are hashed together.
    - `hashes`: smallest hashes that two pagelets must share.
    """

    links: Annotated[int, setting("Links of a child.", least=1, most=MOST)] = PAGELET_LINKS
    shingle: Annotated[int, setting("Features in a row.", least=1, most=MOST)] = SHINGLE_SIZE
    hashes: Annotated[int, setting("Hashes shared.", least=1, most=MOST)] = SKETCH_HASHES

    def to_array(self) -> NDArray[np.int32]:
        """The settings as an array for files."""
        return np.array([self.links, self.shingle, self.hashes], np.int32)

    @classmethod
    def from_array(cls, array: NDArray[np.int32]) -> PageletSettings:
        """Read the result of `to_array`."""
        links, shingle, hashes = array.tolist()
        return cls(links=links, shingle=shingle, hashes=hashes)


PUBLISHED = PageletSettings()


@dataclass(frozen=True, slots=True, eq=False)
class Pagelets:
    """The pagelets of one page: `around[i]` is the pagelet around node i, or -1.

    `node` and `fingerprint` are those of the pagelets with words, links or images, in page order.
    """

    around: NDArray[np.int32]
    node: NDArray[np.int32]
    fingerprint: Keys

    def marked(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The nodes inside the chosen pagelets."""
        inside = np.zeros(len(self.around) + 1, np.bool_)
        inside[self.node[chosen]] = True
        found: NDArray[np.bool_] = inside[self.around]
        return found


def pagelets_of(tree: PageTree, settings: PageletSettings = PUBLISHED) -> Pagelets:
    """Split a page into pagelets. Text directly inside an element with too many links belongs to none."""
    around = topmost(tree.parent, _small(tree, settings.links))
    node, fingerprint = _fingerprints(tree, around, settings)
    return Pagelets(around, node, fingerprint)


def _small(tree: PageTree, links: int) -> NDArray[np.bool_]:
    """The elements none of whose children has so many visible links, without the virtual root."""
    is_link = np.zeros(len(tree), np.bool_)
    is_link[tree.links(tree.visible, areas=True).node] = True
    before = np.concatenate(([0], np.cumsum(is_link)))
    holds = before[tree.end] - before[:-1]
    small = np.ones(len(tree), np.bool_)
    small[tree.parent[1:][holds[1:] >= links]] = False
    small[0] = False
    return small


def _fingerprints(
    tree: PageTree, around: NDArray[np.int32], settings: PageletSettings
) -> tuple[NDArray[np.int32], Keys]:
    """The pagelets with words, links or images, and the sketch of each: words in page order, then the others."""
    found = page_features(tree)
    of = around[found.owner]
    order = np.argsort(of, kind="stable")
    order = order[of[order] >= 0]
    of, feature = of[order], found.feature[order]
    if not len(of):
        return np.zeros(0, np.int32), np.zeros(0, np.uint64)
    first = np.flatnonzero(np.concatenate(([True], of[1:] != of[:-1])))
    last = np.repeat(np.append(first[1:], len(of)), np.diff(np.append(first, len(of))))
    shingle = feature.copy()
    at = np.arange(len(of))
    for ahead in range(1, settings.shingle):
        inside = at + ahead < last
        shingle[inside] = pair_key(shingle[inside], feature[at[inside] + ahead])
    is_whole = at + settings.shingle <= last
    is_whole[first] = True
    starts = np.cumsum(np.concatenate(([0], is_whole)))[first]
    shingle = shingle[is_whole]
    sketch = np.zeros(len(first), np.uint64)
    for seed in np.arange(1, settings.hashes + 1, dtype=np.uint64) * np.uint64(_SEED):
        hashed = pair_key(shingle, np.full(len(shingle), seed))
        sketch = pair_key(sketch, np.minimum.reduceat(hashed, starts))
    return of[first].astype(np.int32), sketch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageletCounts(ArrayTable):
    """On how many pages of a site each pagelet occurs, by fingerprint, ascending; `how` are the `PageletSettings`."""

    key: Annotated[Keys, Column(ascending=True)]
    pages: Annotated[NDArray[np.int32], Column(least=1)]
    how: Annotated[NDArray[np.int32], Column("", each=3, least=1, most=MOST)]

    @classmethod
    def of(cls, counts: Counts, settings: PageletSettings) -> PageletCounts:
        """Counts with the settings that the pagelets were found with."""
        return cls(key=counts.key, pages=counts.pages, how=settings.to_array())

    @property
    def settings(self) -> PageletSettings:
        """How the pagelets were found."""
        return PageletSettings.from_array(self.how)

    @property
    def counts(self) -> Counts:
        """The counts without the settings."""
        return Counts(key=self.key, pages=self.pages)

    def pages_with(self, fingerprint: Keys) -> NDArray[np.int32]:
        """On how many pages each pagelet occurs; 0 for one that is not counted."""
        return self.counts.pages_with(fingerprint)
