"""scikit-learn estimators whose input is pages, so that cleaning stands in a `Pipeline` (extra `mining`).

Pages are `PageRecord`s, `PageTree`s, or HTML as bytes or text. Both learn each site in `fit`; `transform` also takes
pages that were not learned, and pages of sites that are not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from webwinnow.cleaning import DEFAULT_METHOD, CleaningSettings, method
from webwinnow.cleanpage import CleanPage
from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.fingerprint import exact_fingerprint
from webwinnow.pagetree import PageTree
from webwinnow.records import PageRecord
from webwinnow.site.choose import LEARNED_PAGES, choose_pages, page_key
from webwinnow.site.sums import TEXTS
from webwinnow.site.weights import FeatureWeights, WeightSettings
from webwinnow.sitemodel import SiteModel, tree_of
from webwinnow.urls import SiteKey
from webwinnow.vectors import VectorBuilder, VectorSettings

try:
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtra("webwinnow.estimators", "mining") from None

__all__ = ["SiteFeatureWeighter", "SiteTextCleaner"]

Page = PageRecord | PageTree | bytes | str


class _SiteEstimator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What both share: pages by site, sites learned from chosen pages."""

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
        found = []
        for page in pages:
            tree = tree_of(page)
            record = page if isinstance(page, PageRecord) else PageRecord(url=tree.url, body=b"")
            found.append((key.of(record), tree))
        return found

    def _models(self, sited: Iterable[tuple[str, PageTree]], parts: frozenset[str]) -> dict[str, SiteModel]:
        trees: dict[str, list[PageTree]] = defaultdict(list)
        for site, tree in sited:
            trees[site].append(tree)
        return {
            site: SiteModel.learn(
                choose_pages(((page_key(tree.url), exact_fingerprint(tree), tree) for tree in own), self.learn_pages),
                site,
                parts,
            )
            for site, own in trees.items()
        }


class SiteFeatureWeighter(_SiteEstimator):
    """Pages to a CSR matrix of features, weighted by the compressed structure tree of each page's own site.

    `site_by` as in `SiteKey`; `mapped` weighs as MapCST does (thesis 4.3.3) rather than exactly (5-10); `kinds` of
    `words`, `images`, `links`; `stop_words` leaves those out; `learn_pages` pages of a site at most are learned.
    """

    def __init__(
        self,
        *,
        site_by: str = "host",
        mapped: bool = True,
        kinds: tuple[str, ...] = ("words",),
        stop_words: bool = True,
        learn_pages: int = LEARNED_PAGES,
    ) -> None:
        self.site_by = site_by
        self.mapped = mapped
        self.kinds = kinds
        self.stop_words = stop_words
        self.learn_pages = learn_pages

    def fit(self, X: Iterable[Page], y: Any = None) -> Self:  # noqa: ARG002, N803
        """Learn the sites of the pages and the features that have weight."""
        sited = self._sites(X)
        models = self._models(sited, frozenset({"cst"}))
        settings = WeightSettings(mapped=self.mapped)
        self.weights_: dict[str, FeatureWeights] = {
            site: model.feature_weights(settings) for site, model in models.items()
        }
        self.vocabulary_ = self._gathered(sited).vocabulary()
        return self

    def transform(self, X: Iterable[Page]) -> Any:  # noqa: N803
        """A row a page, a column a feature that was met in `fit`."""
        check_is_fitted(self)
        found = self._gathered(self._sites(X)).matrix(self.vocabulary_)
        return csr_matrix((found.data, found.indices, found.indptr), shape=(len(found.page_ids), len(self.vocabulary_)))

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """The names of the columns."""
        check_is_fitted(self)
        return np.array(list(self.vocabulary_.values()), object)

    def _gathered(self, sited: list[tuple[str, PageTree]]) -> VectorBuilder:
        builder = VectorBuilder(VectorSettings(kinds=tuple(self.kinds), stop_words=self.stop_words))
        for number, (site, tree) in enumerate(sited):
            builder.add(str(number), tree, self.weights_.get(site))
        return builder


class SiteTextCleaner(_SiteEstimator):
    """Pages to their clean texts. `method` as in `webwinnow clean`, `settings` what the method is told."""

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
        self.models_ = self._models(self._sites(X), method(self.method).parts | {TEXTS})
        return self

    def transform(self, X: Iterable[Page]) -> Any:  # noqa: N803
        """The text of each page, cleaned with what is known of its site."""
        check_is_fitted(self)
        clean, settings = method(self.method).clean, self.settings or CleaningSettings()
        texts = [
            CleanPage(tree, clean(tree, self.models_.get(site), settings, None)).text for site, tree in self._sites(X)
        ]
        return np.array(texts, object)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """One column, the text."""
        return np.array(["text"], object)
