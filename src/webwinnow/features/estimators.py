"""scikit-learn estimators whose input is pages, for cleaning in a `Pipeline` (extra `mining`).

Pages are `PageRecord`s, `PageTree`s, or HTML as bytes or text. Both learn each site in `fit`; `transform` also accepts
pages that were not learned, and learns sites that are new from their own pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.features.vectors import VectorBuilder, VectorSettings
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.registry import DEFAULT_METHOD, CleaningSettings
from webwinnow.page.fingerprints import exact_fingerprint
from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.plugins import meant
from webwinnow.record.cleaner import Cleaner
from webwinnow.record.sitemodel import SiteModel, tree_of
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.sums import LEARNED_PAGES, TEXTS, choose_pages, page_key

try:
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtra("webwinnow.features.estimators", "mining") from None

from webwinnow.features.weighting import UNKNOWN_SITE, CollectionWeights

Page = PageRecord | PageTree | bytes | str
WEIGHTINGS = ("cst", "wplus", "tfidf")


class _SiteEstimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Pages by site, and sites learned from chosen pages."""

    site_by: str
    learn_pages: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.no_validation = True
        return tags

    def _sites(self, pages: Iterable[Page]) -> list[tuple[str, PageTree]]:
        """Each page's site and tree."""
        if isinstance(pages, str | bytes):
            raise SettingsError("expected a list of pages, not one page")
        if self.learn_pages < 1:
            raise SettingsError(f"learn_pages is {self.learn_pages}: expected 1 or more")
        key = SiteKey.parse(self.site_by)
        found: list[tuple[str, PageTree]] = []
        for page in pages:
            tree = tree_of(page)
            found.append((key.of(tree.url, page.site if isinstance(page, PageRecord) else None), tree))
        return found

    def _learned(self, pages: Iterable[Page]) -> list[tuple[str, PageTree]]:
        """Each page's site and tree, to learn from, in the order (site, input) of the commands, so that sums are equal.

        Raises `SettingsError` if there is none.
        """
        found = sorted(self._sites(pages), key=lambda page: page[0])
        if not found:
            raise SettingsError("no pages to learn from: expected at least one")
        return found

    def _models(
        self, sited: Iterable[tuple[str, PageTree]], parts: frozenset[str], settings: CleaningSettings | None = None
    ) -> dict[str, SiteModel]:
        if not SiteKey.parse(self.site_by).has_sites:
            return {}
        trees: dict[str, list[PageTree]] = defaultdict(list)
        for site, tree in sited:
            trees[site].append(tree)
        return {
            site: SiteModel.learn(
                choose_pages(((page_key(tree.url), exact_fingerprint(tree), tree) for tree in pages), self.learn_pages),
                site,
                parts,
                settings,
            )
            for site, pages in trees.items()
        }


class SiteFeatureWeighter(_SiteEstimator):
    """Pages to a CSR matrix of features, weighted as `webwinnow features` weights them.

    - `weighting`: `cst`, the compressed structure tree of each page's own site; `wplus`, its weights adjusted by all
      pages of `fit` (docs/features.md), where the columns after the words are topics; or `tfidf`, counts times the
      inverse document frequency over the pages of `fit`.
    - `site_by`: as in `SiteKey`.
    - `mapped`: whether to use the weights of MapCST (thesis 4.3.3) rather than exact ones (5-10).
    - `weights`: all settings of the weights instead.
    - `kinds`: of `words`, `images`, `links`.
    - `stop_words`: whether to leave stop words out, those of `stop_list` or of each page's language.
    - `learn_pages`: pages of a site that are learned, at most.

    A site that was not in `fit` is learned from its own pages in `transform`, as the command learns it.
    """

    def __init__(
        self,
        *,
        weighting: str = "cst",
        site_by: str = "host",
        mapped: bool = True,
        weights: CstWeightSettings | None = None,
        kinds: tuple[str, ...] = ("words",),
        stop_words: bool = True,
        stop_list: StopList | None = None,
        learn_pages: int = LEARNED_PAGES,
    ) -> None:
        self.weighting = weighting
        self.site_by = site_by
        self.mapped = mapped
        self.weights = weights
        self.kinds = kinds
        self.stop_words = stop_words
        self.stop_list = stop_list
        self.learn_pages = learn_pages

    def fit(self, X: Iterable[Page], y: Any = None) -> Self:  # noqa: ARG002, N803
        """Learn the sites of the pages and the features that have weight."""
        if self.weighting not in WEIGHTINGS:
            raise SettingsError(f"there is no weighting {self.weighting!r}; {meant(self.weighting, list(WEIGHTINGS))}")
        sited = self._learned(X)
        self.weights_: dict[str, FeatureWeights] = self._site_weights(sited)
        gathered = self._gathered(sited, self.weights_)
        self.vocabulary_ = gathered.vocabulary()
        self.columns_ = list(self.vocabulary_.values())
        self.site_codes_ = {site: code for code, site in enumerate(sorted({site for site, _ in sited}))}
        self.collection_: CollectionWeights | None = None
        self.rarity_: NDArray[np.float64] | None = None
        if self.weighting == "tfidf":
            self.rarity_ = gathered.matrix().rarity
        elif self.weighting == "wplus":
            rows = gathered.site_matrix().rows()
            self.collection_ = CollectionWeights.learn(rows, self._codes(sited), len(self.site_codes_))
            self.columns_ += self.collection_.topic_names(self.columns_)
        return self

    def transform(self, X: Iterable[Page]) -> Any:  # noqa: N803
        """One row per page, one column per feature of `fit`."""
        check_is_fitted(self)
        sited = self._sites(X)
        others = self._site_weights([(site, tree) for site, tree in sited if site not in self.site_codes_])
        gathered = self._gathered(sited, self.weights_ | others)
        rows = gathered.site_matrix(self.vocabulary_).rows()
        if self.rarity_ is not None:
            rows.data = rows.data * self.rarity_[rows.indices]
        if self.collection_ is not None:
            rows = self.collection_.weigh(rows, self._codes(sited))
        # made of the arrays: so it has 32-bit indexes, as scikit-learn expects
        return csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)

    def _site_weights(self, sited: list[tuple[str, PageTree]]) -> dict[str, FeatureWeights]:
        """The weights of each site, learned from these pages; none if the weighting uses none."""
        if self.weighting == "tfidf":
            return {}
        settings = self.weights or replace(VectorSettings().weights, mapped=self.mapped)
        cleaning = CleaningSettings(cst=CstSettings(gamma=settings.gamma, overlap=settings.overlap))
        models = self._models(sited, frozenset({"cst"}), cleaning)
        return {site: model.feature_weights(settings) for site, model in models.items()}

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """The names of the columns."""
        check_is_fitted(self)
        return np.array(self.columns_, object)

    def _codes(self, sited: list[tuple[str, PageTree]]) -> NDArray[np.int64]:
        return np.array([self.site_codes_.get(site, UNKNOWN_SITE) for site, _ in sited], np.int64)

    def _gathered(self, sited: list[tuple[str, PageTree]], weights: dict[str, FeatureWeights]) -> VectorBuilder:
        builder = VectorBuilder(
            VectorSettings(
                weighting=self.weighting,
                kinds=tuple(self.kinds),
                stop_words=self.stop_words,
                stop_list=self.stop_list or StopList(),
            )
        )
        for number, (site, tree) in enumerate(sited):
            builder.add(str(number), tree, weights.get(site))
        return builder


class SiteTextCleaner(_SiteEstimator):
    """Pages to their clean texts, those of the records of `webwinnow clean`.

    `method` is the cleaning method, and `settings` are those of `clean`. A site that was not in `fit` is learned from
    its own pages in `transform`.
    """

    def __init__(
        self,
        *,
        method: str = DEFAULT_METHOD,
        settings: CleaningSettings | None = None,
        site_by: str = "host",
        learn_pages: int = LEARNED_PAGES,
    ) -> None:
        self.method = method
        self.settings = settings
        self.site_by = site_by
        self.learn_pages = learn_pages

    def fit(self, X: Iterable[Page], y: Any = None) -> Self:  # noqa: ARG002, N803
        """Learn the sites of the pages."""
        self.models_ = self._site_models(self._learned(X))
        return self

    def transform(self, X: Iterable[Page]) -> Any:  # noqa: N803
        """The text of each page, cleaned with the model of its site."""
        check_is_fitted(self)
        cleaner = Cleaner.of(self.method, self.settings)
        sited = self._sites(X)
        models = self.models_ | self._site_models([(site, tree) for site, tree in sited if site not in self.models_])
        texts = [cleaner.clean(tree, models.get(site)).record(view=False)["text"] for site, tree in sited]
        return np.array(texts, object)

    def _site_models(self, sited: list[tuple[str, PageTree]]) -> dict[str, SiteModel]:
        cleaner = Cleaner.of(self.method, self.settings)
        return self._models(sited, cleaner.method.parts | {TEXTS}, cleaner.settings)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """One column, the text."""
        return np.array(["text"], object)
