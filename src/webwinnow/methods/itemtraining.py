"""Train the decision trees of method `items` from labelled images and links (thesis 3.1), and cross-validate them.

C4.5 as far as scikit-learn has it: information gain and a least number of items per leaf; the number of leaves is
limited instead of pruning them, so that the rules can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, MissingExtra
from webwinnow.methods.itemfeatures import ITEM_KINDS, NUMBERS, Items
from webwinnow.methods.method_items import LABELS, NOISY, ItemModel, ItemTree
from webwinnow.settings import Settings, setting

MOST_PHRASES = 2_000
REPEATS = 4
"""Random divisions of the sites into folds; the scores are those of all their predictions together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSettings(Settings):
    """How trees are learned, and in how many folds of sites they are tested."""

    leaves: Annotated[int, setting("Leaves of a tree, at most.", least=2)] = 12
    leaf_items: Annotated[int, setting("Items in a leaf, at least.", least=1)] = 5
    phrase_sites: Annotated[int, setting("Sites that have a phrase that a tree may test, at least.", least=1)] = 3
    """The habit of one site does not generalise."""
    folds: Annotated[int, setting("Folds of sites.", least=2)] = 5


@dataclass(frozen=True, slots=True, eq=False)
class LabelledItems:
    """The labelled items of one kind on a page, which of them are noisy, and the page's site."""

    site: str
    items: Items
    noisy: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ItemScores:
    """The quality of trees on sites that they were not learned from; `majority` is the accuracy of one answer for all.

    Precision, recall and F are those of advertisements or of nepotistic links.
    """

    accuracy: float
    majority: float
    precision: float
    recall: float
    f: float

    @classmethod
    def of(cls, found: NDArray[np.bool_], truth: NDArray[np.bool_]) -> ItemScores:
        """The scores of predictions."""
        hits, called, noisy = int((found & truth).sum()), int(found.sum()), int(truth.sum())
        values = (
            float((found == truth).mean()),
            max(noisy, len(truth) - noisy) / len(truth),
            hits / max(called, 1),
            hits / max(noisy, 1),
            2 * hits / max(called + noisy, 1),
        )
        return cls(*(round(value, 3) for value in values))


def train(labelled: Mapping[str, Sequence[LabelledItems]], settings: TreeSettings, source: str) -> ItemModel:
    """Learn a tree for each kind that has labels, with its scores on unseen sites. Raises `InputError`."""
    trees, about = {}, {"source": source, "settings": asdict(settings)}
    for kind in ITEM_KINDS:
        pages = labelled.get(kind, ())
        if not pages:
            continue
        noisy = np.concatenate([page.noisy for page in pages])
        counts = dict(zip(LABELS[kind], (int((~noisy).sum()), int(noisy.sum())), strict=True))
        if 0 in counts.values():
            only = max(counts, key=lambda label: counts[label])
            raise InputError(f"every labelled {kind} is {only!r}; expected some of each of {' and '.join(counts)}")
        scores = cross_validated(pages, kind, settings)
        about[kind] = {
            "items": len(noisy),
            "pages": len(pages),
            "sites": len({page.site for page in pages}),
            "labels": counts,
            "unseen sites": None if scores is None else asdict(scores),
        }
        trees[kind] = fit(pages, kind, settings)
    if not trees:
        raise InputError("no labelled image or link")
    return ItemModel(trees=trees, about=about)


def fit(pages: Sequence[LabelledItems], kind: str, settings: TreeSettings) -> ItemTree:
    """Learn one tree; labelled items have equal weight."""
    DecisionTreeClassifier, _ = _scikit_learn()  # noqa: N806
    names = (*NUMBERS[kind], *_phrases(pages, settings.phrase_sites))
    columns = np.concatenate([page.items.columns(names, kind) for page in pages])
    learned = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=settings.leaves, min_samples_leaf=settings.leaf_items, random_state=0
    )
    grown = learned.fit(columns, np.concatenate([page.noisy for page in pages])).tree_
    used = sorted({int(trait) for trait in grown.feature if trait >= 0})
    place = {trait: at for at, trait in enumerate(used)}
    shares = grown.value[:, 0] / grown.value[:, 0].sum(axis=1, keepdims=True)
    return ItemTree(
        kind=kind,
        names=tuple(names[trait] for trait in used),
        trait=np.array([place.get(int(trait), -1) for trait in grown.feature], np.int16),
        border=grown.threshold.astype(np.float32),
        low=grown.children_left.astype(np.int32),
        high=grown.children_right.astype(np.int32),
        noisy=shares[:, -1].round(4).astype(np.float32),
        items=grown.n_node_samples.astype(np.int32),
    )


def cross_validated(pages: Sequence[LabelledItems], kind: str, settings: TreeSettings) -> ItemScores | None:
    """The scores of trees on sites left out in turn; None if one site has all items of a label."""
    shares = left_out_shares(pages, kind, settings)
    if shares is None:
        return None
    truth = np.concatenate([page.noisy for page in pages])
    return ItemScores.of((shares > NOISY).ravel(), np.tile(truth, REPEATS))


def left_out_shares(pages: Sequence[LabelledItems], kind: str, settings: TreeSettings) -> NDArray[np.float32] | None:
    """For each division and item the probability that it is noisy, by trees that were learned without its site."""
    _, StratifiedGroupKFold = _scikit_learn()  # noqa: N806
    page_of = np.repeat(np.arange(len(pages)), [len(page.noisy) for page in pages])
    sites = np.array([page.site for page in pages])[page_of]
    truth = np.concatenate([page.noisy for page in pages])
    folds = min(settings.folds, *(len(set(sites[truth == label])) for label in (False, True)))
    if folds < 2:
        return None
    found = np.zeros((REPEATS, len(truth)), np.float32)
    for seed in range(REPEATS):
        cut = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
        for learned, left_out in cut.split(truth, truth, sites):
            tree = fit([pages[k] for k in np.unique(page_of[learned])], kind, settings)
            tested = [pages[k] for k in np.unique(page_of[left_out])]
            found[seed, left_out] = np.concatenate([tree.noisy_share(page.items) for page in tested])
    return found


def _phrases(pages: Sequence[LabelledItems], least: int) -> list[str]:
    """The phrases of at least so many sites, those of most sites first if there are too many."""
    by_site: dict[str, set[str]] = {}
    for page in pages:
        by_site.setdefault(page.site, set()).update(*page.items.phrases)
    sites = Counter(phrase for phrases in by_site.values() for phrase in phrases)
    often = sorted((-count, phrase) for phrase, count in sites.items() if count >= least)
    return sorted(phrase for _, phrase in often[:MOST_PHRASES])


def _scikit_learn() -> tuple[Any, Any]:
    try:
        from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415 (an optional extra)
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("training the trees of method items", "mining") from None
    return DecisionTreeClassifier, StratifiedGroupKFold
