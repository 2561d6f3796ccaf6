"""`TreePart`: a style tree as a learned part of a site: `sst`, `aligned` and `cst` differ in cut and finish."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

from webwinnow.page.page import Page
from webwinnow.site.noisemap import choose_threshold, importance_of
from webwinnow.site.parts import Part
from webwinnow.site.sitetree import Finisher, JoinSettings, SiteTree
from webwinnow.site.styletree import Cut, Grower, StyleTree
from webwinnow.storage.modelfile import Array, ArrayTable


class TreePart(Part):
    """A tree that is grown page by page, and joined where it is finished."""

    CUT: ClassVar[Cut]
    FINISH: ClassVar[type[Finisher]] = Finisher
    SUMS, MODEL = StyleTree, SiteTree

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.grower = Grower(self.CUT)
        self.known: list[StyleTree] = []
        """Trees over pages that were merged or read rather than added here."""

    def add(self, page: Page) -> None:
        self.grower.add(page)

    def merge(self, other: Self) -> None:
        if (tree := other.sums()) is not None:
            self.known.append(tree)

    def sums(self) -> StyleTree | None:
        trees = [*([self.grower.tree()] if self.grower.pages else []), *self.known]
        return StyleTree.merge(trees) if len(trees) > 1 else trees[0] if trees else None

    def take(self, sums: StyleTree) -> None:
        self.known.append(sums)

    def finish(self) -> SiteTree | None:
        own, tree = self.settings, self.sums()
        joins = JoinSettings() if own is None else JoinSettings(gamma=own.gamma, overlap=own.overlap)
        return None if tree is None else self.FINISH(tree, joins).finished()

    @classmethod
    def read_sums(cls, columns: dict[str, Array], page_keys: Array) -> ArrayTable:
        return StyleTree.checked(columns, cut=cls.CUT, pages=page_keys)

    @classmethod
    def read_model(cls, columns: dict[str, Array], _about: dict[str, Any]) -> ArrayTable:
        return SiteTree.checked(columns, cut=cls.CUT, pages=int(columns["m"][0]))


class NoiseTreePart(TreePart):
    """A tree that marks noise: what is at most as important as its threshold, which is learned unless it is set."""

    def finish(self) -> SiteTree | None:
        tree = super().finish()
        if tree is None:
            return None
        own = None if self.settings is None else self.settings.threshold
        return replace(tree, threshold=choose_threshold(tree, importance_of(tree)) if own is None else own)

    @classmethod
    def read_model(cls, columns: dict[str, Array], about: dict[str, Any]) -> ArrayTable:
        threshold = float(about["thresholds"][cls.NAME])
        if not 0.0 <= threshold <= 1.0:
            raise ValueError("its thresholds are not from 0 to 1")
        return SiteTree.checked(columns, cut=cls.CUT, pages=int(columns["m"][0]), threshold=threshold)

    @classmethod
    def about(cls, table: SiteTree) -> dict[str, dict[str, Any]]:
        return {"thresholds": {cls.NAME: table.threshold}}
