"""Method `items`: drop advertisement images (AdEater) and nepotistic links, found by decision trees (thesis 3.1).

All other text is kept: the method knows no other kind of noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason
from webwinnow.methods.itemfeatures import ITEM_KINDS, Items, items_of
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import file_setting
from webwinnow.page._nodes import topmost
from webwinnow.page.page import Page
from webwinnow.settings import Settings, setting
from webwinnow.site.learned import LearnedSite
from webwinnow.storage.modelfile import ModelFormat

FORMAT = ModelFormat("item model", 3, "train it with webwinnow learn-items, or install webwinnow again")
SHIPPED = Path(__file__).with_name("itemtrees.npz")
LABELS = {"link": ("editorial", "nepotistic"), "image": ("other", "ad")}
"""For each kind the labels of items that are not noisy and of noisy ones."""
_VERDICTS = {"link": LABELS["link"], "image": ("no advertisement", "an advertisement")}
NOISY = 0.5
"""Items of a leaf with a larger share of noisy items are noisy."""
LEAF = -1
_PARTS = {
    "trait": np.int16,
    "border": np.float32,
    "low": np.int32,
    "high": np.int32,
    "noisy": np.float32,
    "items": np.int32,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemTree:
    """A decision tree: node i tests whether trait `names[trait[i]]` is at most `border[i]`, and leads to `low[i]` or
    `high[i]`; a leaf has trait -1. `items` is the number of training items that reached a node, `noisy` the share of
    noisy ones among them.
    """

    kind: str
    names: tuple[str, ...]
    trait: NDArray[np.int16]
    border: NDArray[np.float32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    noisy: NDArray[np.float32]
    items: NDArray[np.int32]

    def leaf_of(self, items: Items) -> NDArray[np.int64]:
        """The leaf that each item reaches."""
        columns = items.columns(self.names, self.kind)
        at = np.zeros(len(columns), np.int64)
        rows = np.arange(len(columns))
        while True:
            inner = self.trait[at] != LEAF
            if not inner.any():
                return at
            is_low = columns[rows, np.maximum(self.trait[at], 0)] <= self.border[at]
            at = np.where(inner, np.where(is_low, self.low[at], self.high[at]), at)

    def noisy_share(self, items: Items) -> NDArray[np.float32]:
        """The probability that each item is noisy."""
        return self.noisy[self.leaf_of(items)] if len(items.node) else np.zeros(0, np.float32)

    def rules(self) -> Iterator[str]:
        """The tree as rules, one per leaf, those of most items first."""
        conditions: dict[int, tuple[str, ...]] = {0: ()}
        leaves = []
        for i in range(len(self.trait)):
            if self.trait[i] == LEAF:
                leaves.append(i)
                continue
            name, border = self.names[self.trait[i]], float(self.border[i])
            conditions[int(self.low[i])] = (*conditions[i], _condition(name, border, above=False))
            conditions[int(self.high[i])] = (*conditions[i], _condition(name, border, above=True))
        for i in sorted(leaves, key=lambda i: (-int(self.items[i]), i)):
            noisy = bool(self.noisy[i] > NOISY)
            share = self.noisy[i] if noisy else 1 - self.noisy[i]
            yield (
                f"If {' and '.join(conditions[i]) or 'anything'}, "
                f"then the {self.kind} is {_VERDICTS[self.kind][noisy]} ({share:.0%} of {int(self.items[i]):,})."
            )

    def fits(self) -> bool:
        """Whether the arrays fit together, and every path through them ends."""
        count = len(self.trait)
        inner = np.flatnonzero(self.trait != LEAF)
        children = np.concatenate((self.low[inner], self.high[inner]))
        return (
            count > 0
            and all(
                getattr(self, part).shape == (count,) and getattr(self, part).dtype == dtype
                for part, dtype in _PARTS.items()
            )
            and bool(np.all((self.trait >= LEAF) & (self.trait < len(self.names))))
            and bool(np.all((self.low[inner] > inner) & (self.high[inner] > inner) & (self.low[inner] < count)))
            and bool(np.all(self.high[inner] < count))
            and len(np.unique(children)) == len(children) == count - 1
            and bool(np.isfinite(self.border).all())
            and bool(np.all((self.noisy >= 0) & (self.noisy <= 1) & (self.items >= 0)))
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemModel:
    """Trees by kind of item, and metadata on their training. Items of a kind without a tree are never noisy."""

    trees: dict[str, ItemTree]
    about: dict[str, Any]

    @classmethod
    def load(cls, path: Path | None = None) -> ItemModel:
        """The trees of a file, or the shipped ones, which are read once."""
        return _shipped() if path is None else cls.from_bytes(FORMAT.load(path), str(path))

    def summary(self, kind: str) -> str:
        """What a tree was learned from, and its quality on sites that it was not learned from."""
        about = self.about[kind]
        labels = " and ".join(f"{about['labels'][label]:,} {label}" for label in reversed(LABELS[kind]))
        unseen = about["unseen sites"]
        quality = "not measured: needs both labels on two or more sites"
        if unseen is not None:
            quality = (
                f"on sites left out accuracy {unseen['accuracy']:.3f} (one answer for all: {unseen['majority']:.3f}), "
                f"precision {unseen['precision']:.3f}, recall {unseen['recall']:.3f} and F {unseen['f']:.3f} "
                f"of {LABELS[kind][1]}"
            )
        where = f"{counted(about['pages'], 'page')}, {counted(about['sites'], 'site')}"
        return f"{kind}: {about['items']:,} on {where} ({labels}); {quality}"

    def to_bytes(self) -> bytes:
        """The trees as a model file; equal trees give equal bytes."""
        names = {kind: list(tree.names) for kind, tree in self.trees.items()}
        arrays = {f"{kind}_{part}": getattr(tree, part) for kind, tree in self.trees.items() for part in _PARTS}
        return FORMAT.pack(self.about | {"names": names}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the item model") -> ItemModel:
        """Read trees; everything in them is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            names = file.about.pop("names")
            if not names.keys() <= LABELS.keys():
                raise ValueError("it has trees of unknown kinds")
            trees = {
                kind: ItemTree(
                    kind=kind,
                    names=tuple(map(str, names[kind])),
                    **{part: file.arrays[f"{kind}_{part}"] for part in _PARTS},
                )
                for kind in ITEM_KINDS
                if kind in names
            }
            if not all(tree.fits() for tree in trees.values()):
                raise ValueError("its arrays do not fit together")
        return cls(trees=trees, about=file.about)


def _condition(name: str, border: float, *, above: bool) -> str:
    """A test and its result in words. Phrases and yes-or-no numbers are 0 or 1."""
    place, colon, phrase = name.partition(":")
    if colon:
        return f"{place} {'contains' if above else 'does not contain'} {phrase!r}"
    return f"{name} {'>' if above else '<='} {border:g}"


@cache
def _shipped() -> ItemModel:
    return ItemModel.load(SHIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettings(Settings):
    """Settings of method `items`."""

    noisy: Annotated[float, setting("remove an item that is noisy with a higher probability", least=0, below=1)] = 0.5
    trees: Annotated[str | None, file_setting("decision trees to use instead of those that ship")] = None


def clean(page: Page, _model: LearnedSite | None, settings: ItemSettings) -> Verdict:
    """Drop the text of nepotistic links, and advertisement images."""
    tree = page.tree
    model = ItemModel.load(None if settings.trees is None else Path(settings.trees))
    score = np.ones(len(tree), np.float32)
    noisy = {kind: np.zeros(len(tree), np.bool_) for kind in ITEM_KINDS}
    for kind, decides in model.trees.items():
        items = items_of(tree, kind, decides.names, page.blocks)
        share = decides.noisy_share(items)
        score[items.node] = 1 - share
        noisy[kind][items.node[share > settings.noisy]] = True
    in_noisy_link = topmost(tree.parent, noisy["link"]) >= 0
    reason = np.where(in_noisy_link, Reason.NOISY_ITEM, Reason.KEPT)[tree.run_owner]
    return keep_by_reason(tree, "items", reason, (Reason.KEPT,), Reason.NOISY_ITEM, score, drop=noisy["image"])


METHOD = Method(
    "items",
    "remove nepotistic links and advertisement images, found by decision trees (thesis 3.1)",
    clean,
    settings=ItemSettings,
)
