"""The kinds of noise (thesis 2.2, Figure 2-4), and the recogniser that gives each removed region its kind.

`KINDS` is the taxonomy: the thesis's three families, with kinds that the web has added since. Posts by readers are not
noise by themselves: on a forum they are the content, below an article they are not.

`KindModel` weighs tokens by their rarity (idf). A linear model over tokens and numbers gives each region first
probabilities. A forest then reads the numbers, a latent description of the tokens (latent semantic analysis, Deerwester
et al. 1990: which tokens occur together is learned from regions without labels, so that a word that no labelled region
had still counts), the first probabilities of the region and of the regions around it (stacking, Wolpert 1992), and the
scores of the linear model by where its evidence is from. The probabilities of the two are mixed. Trained by `make
train`; see docs/noise.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError
from webwinnow.judge.evidence import reading_of
from webwinnow.judge.models import POST_ABOVE, BoostedTrees
from webwinnow.judge.pictures import empty_boxes
from webwinnow.judge.regionfeatures import FEATURES, PART_STARTS, PARTS, TOKENS, RegionReading, read_regions
from webwinnow.judge.removedregions import RemovedRegions, removed_regions, text_free_regions
from webwinnow.judge.verdict import Reason, Verdict
from webwinnow.page.page import Page
from webwinnow.site.learned import LearnedSite
from webwinnow.storage.modelfile import ModelFormat

FAMILIES: tuple[str, ...] = ("content", "fixed", "service", "navigation", "posts")
"""The three families of the thesis, between content and posts."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of block: its name, its family, and a description."""

    name: str
    family: str
    about: str


KINDS: tuple[Kind, ...] = (
    Kind("content", "content", "main content, or not yet given a kind"),
    Kind("posts", "posts", "comments, replies and reviews that readers wrote, and the way to them"),
    Kind("decoration", "fixed", "logos, slogans, ornaments, the site's name as its own dress"),
    Kind("declaration", "fixed", "copyright, terms, privacy, licence, imprint, who the publisher is"),
    Kind("page-description", "fixed", "about this page or an entry on it: byline, date, counters, tags, credits"),
    Kind("consent", "service", "banners that ask for consent to cookies and tracking, and their settings"),
    Kind("page-service", "service", "print, save, jump within the page, skip links, text size, other versions of it"),
    Kind("share", "service", "share, like and follow bars"),
    Kind("board", "service", "small information boards: weather, stocks, scores, clocks, statistics"),
    Kind("interactive", "service", "search, sign-in, language, votes, filters, other forms and controls"),
    Kind("newsletter", "service", "boxes that ask for a subscription or an address"),
    Kind("global-directory", "navigation", "the main sections of the site"),
    Kind("hierarchic-directory", "navigation", "where the page stands: breadcrumbs, the path of sections, the way up"),
    Kind("hybrid-directory", "navigation", "the section that the page stands in, opened: side menus, trees, tabs"),
    Kind("contents", "navigation", "table of contents of this page"),
    Kind("pagination", "navigation", "next, previous and numbered pages"),
    Kind("advertisement", "navigation", "advertisements, offers, promotions, calls to buy or try"),
    Kind("site-recommendation", "navigation", "links to other sites"),
    Kind("page-recommendation", "navigation", "other pages of this site: related, latest, most read, bought together"),
    Kind("notice", "service", "messages of the machinery: loading, a script or plug-in wanted, an old browser"),
)
"""The meaning of each code of `Verdict.kind`; new kinds are appended."""

KIND_CODE: dict[str, int] = {kind.name: code for code, kind in enumerate(KINDS)}
FAMILY_OF_KIND = np.array([FAMILIES.index(kind.family) for kind in KINDS])
"""The family of each kind, as an index into `FAMILIES`."""


FORMAT = ModelFormat("model of noise kinds", 5, "install webwinnow again or run `make train`")
SHIPPED = Path(__file__).with_name("kinds.npz")
WEIGHT_SCALE = 64.0
"""Weights of tokens are integers over this."""
EVIDENCE: tuple[tuple[str, ...], ...] = (
    ("words", "pairs", "opening"),
    ("near", "far", "inside"),
    ("before", "after", "heading"),
    ("told", "targets"),
)
"""Parts of a region whose scores the forest reads together: its text, names of elements, the text around it, labels
and URLs. The numbers are a further group."""
_GROUP_OF_PART = np.array([[part in group for group in EVIDENCE].index(True) for part in PARTS])
_ARRAYS = tuple("classes idf basis basis_scale token_weight number_weight bias middle spread".split())
_FOREST = ("feature", "border", "leaves", "bias")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KindModel:
    """The weights. Column c of arrays with one column per class is for kind `classes[c]`; `forest_share` is the weight
    of the forest against the linear model.
    """

    classes: NDArray[np.uint8]
    idf: NDArray[np.float32]
    basis: NDArray[np.int8]
    basis_scale: NDArray[np.float32]
    token_weight: NDArray[np.int16]
    number_weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    middle: NDArray[np.float32]
    spread: NDArray[np.float32]
    forest: BoostedTrees
    forest_share: float
    about: dict[str, Any]

    @classmethod
    def load(cls, path: Path | None = None) -> KindModel:
        """The weights of a file, or the shipped ones, which are read once."""
        return _shipped() if path is None else cls.from_bytes(FORMAT.load(path), str(path))

    def probabilities(self, reading: RegionReading) -> NDArray[np.float64]:
        """The probability of each of `KINDS`, one row per region."""
        count = reading.features.shape[1]
        found = np.zeros((count, len(KINDS)))
        if count:
            scores = self.linear(reading)
            first = softmax(scores.sum(axis=1))
            wide = wide_features(reading, self.latent(reading), first, scores)
            logits = np.array([self.forest.logits(wide, k) for k in range(len(self.classes))]).T
            found[:, self.classes] = self.forest_share * softmax(logits) + (1 - self.forest_share) * first
        return np.round(found, 6)

    def latent(self, reading: RegionReading) -> NDArray[np.float64]:
        """The latent description of each region's tokens."""
        weights = token_weights(reading, self.idf, by_part=False)
        return _summed(reading, weights[None], self.basis)[:, 0] * self.basis_scale

    def linear(self, reading: RegionReading) -> NDArray[np.float64]:
        """The scores of the linear model: for each region a row for each group of `EVIDENCE` and one for the numbers,
        with a column per class. Their sum is the score of the region.
        """
        scaled = np.clip((reading.features.T - self.middle) / self.spread, -3.0, 3.0)
        weights = token_weights(reading, self.idf, by_part=True)
        said = _summed(reading, weights * in_groups(reading.ids), self.token_weight) / WEIGHT_SCALE
        counted = scaled @ self.number_weight + self.bias
        return np.concatenate((said, counted[:, None]), axis=1)

    # To and from bytes

    def to_bytes(self) -> bytes:
        """The weights as a model file; equal weights give equal bytes."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {f"forest_{part}": getattr(self.forest, part) for part in _FOREST}
        arrays["forest_leaves"] = np.asfortranarray(self.forest.leaves)  # a tenth smaller when compressed
        return FORMAT.pack(self.about | {"forest_share": self.forest_share, "features": " ".join(FEATURES)}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model of kinds") -> KindModel:
        """Read weights; everything in them is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            about, found = file.about, file.arrays
            share = float(about.pop("forest_share"))
            if about.pop("features") != " ".join(FEATURES):
                raise ModelError(f"{name} was trained for another version of webwinnow; run `make train`")
            model = cls(
                **{part: found[part] for part in _ARRAYS},
                forest=BoostedTrees(**{part: np.ascontiguousarray(found[f"forest_{part}"]) for part in _FOREST}),
                forest_share=share,
                about=about,
            )
            if not model._fits():
                raise ValueError("its arrays do not fit together")
        return model

    def _fits(self) -> bool:
        kinds, tokens, numbers = len(self.classes), TOKENS, len(FEATURES)
        latent = self.basis.shape[1] if self.basis.ndim == 2 else -1
        shapes = {
            "classes": (kinds,),
            "idf": (tokens,),
            "basis": (tokens, latent),
            "basis_scale": (latent,),
            "token_weight": (tokens, kinds),
            "number_weight": (numbers, kinds),
            "bias": (kinds,),
            "middle": (numbers,),
            "spread": (numbers,),
        }
        return (
            all(getattr(self, name).shape == shape for name, shape in shapes.items())
            and bool((self.classes < len(KINDS)).all())
            and len(np.unique(self.classes)) == kinds
            and all(np.isfinite(getattr(self, name)).all() for name in shapes)
            and bool((self.spread > 0).all())
            and 0 <= self.forest_share <= 1
            and self.forest.fits(numbers + latent + (CONTEXTS + len(EVIDENCE) + 1) * kinds)
            and len(self.forest.bias) == kinds
        )


CONTEXTS = 5
"""Regions whose first probabilities the forest reads: the region, the one before, the one after, the means of all
before and of all after."""


def wide_features(
    reading: RegionReading, latent: NDArray[np.float64], first: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float32]:
    """What the forest reads, one column per region: numbers, latent description, first probabilities in context, and
    the scores of the linear model by evidence.
    """
    learned = np.concatenate((latent, in_context(first), by_evidence(scores)), axis=1)
    return np.concatenate((reading.features, learned.T.astype(np.float32)))


def by_evidence(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of `KindModel.linear` as one row per region."""
    return np.round(scores.reshape(len(scores), -1), 4)


def in_groups(ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """For each group of `EVIDENCE` (a row) whether a token is of one of its parts."""
    group = _GROUP_OF_PART[np.searchsorted(PART_STARTS, ids, side="right") - 1]
    found: NDArray[np.bool_] = np.arange(len(EVIDENCE))[:, None] == group
    return found


def in_context(first: NDArray[np.float64]) -> NDArray[np.float64]:
    """First probabilities of each region of a page and of those around it (`CONTEXTS`); 0 where there are none."""
    count = len(first)
    sums = np.concatenate((np.zeros((1, first.shape[1])), np.cumsum(first, axis=0)))
    before = np.concatenate((np.zeros_like(first[:1]), first[:-1]))
    after = np.concatenate((first[1:], np.zeros_like(first[:1])))
    place = np.arange(count)[:, None]
    all_before = sums[:-1] / np.maximum(place, 1)
    all_after = (sums[-1] - sums[1:]) / np.maximum(count - 1 - place, 1)
    return np.round(np.concatenate((first, before, after, all_before, all_after), axis=1), 4)


def token_weights(reading: RegionReading, idf: NDArray[np.float32], *, by_part: bool) -> NDArray[np.float64]:
    """The weight of each token: its idf, normalised to length 1 over a region or over each part of it."""
    weights = idf[reading.ids].astype(np.float64)
    group = np.repeat(np.arange(len(reading.offsets) - 1), np.diff(reading.offsets))
    groups = len(reading.offsets) - 1
    if by_part:
        parts = len(PART_STARTS) - 1
        group = group * parts + np.searchsorted(PART_STARTS, reading.ids, side="right") - 1
        groups *= parts
    length = np.sqrt(np.bincount(group, weights**2, groups))
    found: NDArray[np.float64] = weights / np.maximum(length, 1e-9)[group]
    return found


def _summed(
    reading: RegionReading, weights: NDArray[np.float64], table: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """For each region, and for each row of weights, the sum of its tokens' rows of a table, each times the token's
    weight.
    """
    rows = np.zeros((len(reading.offsets) - 1, len(weights), table.shape[1]))
    for r, (a, b) in enumerate(pairwise(reading.offsets.tolist())):
        rows[r] = weights[:, a:b] @ table[reading.ids[a:b]].astype(np.float64)
    return rows


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits as probabilities, row by row."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
    return found


def most_probable_kinds(probability: NDArray[np.float64]) -> NDArray[np.int64]:
    """The kind of each region, given the probability of each of `KINDS` (one row per region): the most probable kind of
    the most probable family, whose probability is the sum of those of its kinds.

    A region between two kinds of one family is of that family, even if a kind of another one is more probable than each
    of the two.
    """
    families = probability @ np.eye(len(FAMILIES))[FAMILY_OF_KIND]
    best = families.argmax(axis=1)
    found: NDArray[np.int64] = np.where(best[:, None] == FAMILY_OF_KIND, probability, -1.0).argmax(axis=1)
    return found


@cache
def _shipped() -> KindModel:
    return KindModel.load(SHIPPED)


_POSTS, _ADVERTISEMENT = KIND_CODE["posts"], KIND_CODE["advertisement"]
LIKELY_ADVERTISEMENT, POSSIBLE_ADVERTISEMENT = 0.2, 0.12
"""What is an advertisement with at least the first probability is one if it has no text. What is one with at least the
second is not kept for tasks without advertisements, even if another kind is more probable. Chosen on held-out training
labels (docs/noise.md)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionKinds:
    """The removed regions of a page, the kind of each (a code of `KINDS`) and its probability; how probably each is an
    advertisement. Regions without text are last, also those that are kept.
    """

    regions: RemovedRegions
    kind: NDArray[np.uint8]
    score: NDArray[np.float32]
    advertises: NDArray[np.float32]

    def without_text(self) -> NDArray[np.bool_]:
        """Which nodes are in a region without text."""
        found = np.zeros(len(self.regions.tree), np.bool_)
        for r in np.flatnonzero(self.regions.first_run == self.regions.last_run).tolist():
            found[self.regions.first_node[r] : self.regions.last_node[r]] = True
        return found

    def with_picture(self, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which nodes are in a region with a picture to `keep`, as the text beside it says."""
        tree, found = self.regions.tree, np.zeros(len(self.regions.tree), np.bool_)
        shown = np.concatenate(([0], np.cumsum(keep & tree.tagged("img"))))
        for r in np.flatnonzero(shown[self.regions.last_node] > shown[self.regions.first_node]).tolist():
            found[self.regions.first_node[r] : self.regions.last_node[r]] = True
        return found

    def on_nodes(self) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """The kind of each node in a region, and its score; content and 0 for all others."""
        kind = np.zeros(len(self.regions.tree), np.uint8)
        score = np.zeros(len(self.regions.tree), np.float32)
        spans = zip(self.regions.first_node.tolist(), self.regions.last_node.tolist(), strict=True)
        for r, (first, last) in enumerate(spans):
            kind[first:last], score[first:last] = self.kind[r], self.score[r]
        return kind, score


def recognise(
    page: Page, verdict: Verdict, site: LearnedSite | None = None, model: KindModel | None = None
) -> RegionKinds:
    """Divide what was removed into regions and recognise the kind of each; `site` shows how fixed a text is there."""
    with_text = removed_regions(page.tree, verdict)
    regions = with_text.followed_by(text_free_regions(page.tree, with_text))
    if not len(regions):
        none = np.zeros(0, np.float32)
        return RegionKinds(regions=regions, kind=np.zeros(0, np.uint8), score=none, advertises=none)
    found = (model or KindModel.load()).probabilities(read_regions(regions, reading_of(page), verdict, site))
    kind = most_probable_kinds(found)
    kind[(found[:, _ADVERTISEMENT] >= LIKELY_ADVERTISEMENT) & (regions.first_run == regions.last_run)] = _ADVERTISEMENT
    score = found[np.arange(len(kind)), kind].astype(np.float32)
    posts = verdict.kind[regions.node] == _POSTS
    kind[posts], score[posts] = _POSTS, np.maximum(score[posts], POST_ABOVE)
    advertises = found[:, _ADVERTISEMENT].astype(np.float32)
    return RegionKinds(regions=regions, kind=kind.astype(np.uint8), score=score, advertises=advertises)


def with_kinds(
    page: Page, verdict: Verdict, site: LearnedSite | None = None, model: KindModel | None = None
) -> Verdict:
    """The verdict with the kind of every removed node, and its probability.

    What is kept is content if it has text or a picture. Boxes and frames with neither, which no output shows, are
    removed if they are of another kind, such as the place of an advertisement.
    """
    tree, found = page.tree, recognise(page, verdict, site, model)
    kind, score = kinds_of_nodes(found, verdict)
    empty = empty_boxes(tree, verdict.keep, verdict.keep_runs) & (kind != KIND_CODE["content"])
    keep, reason = verdict.keep & ~empty, np.where(empty, Reason.EMPTY, verdict.reason).astype(np.uint8)
    return replace(verdict, keep=keep, reason=reason, kind=kind, kind_score=score)


def kinds_of_nodes(found: RegionKinds, verdict: Verdict) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Kind and score of each node: posts for what the method found to be posts, whatever the kind of its region, and
    content for what it keeps, unless that has neither text nor a picture: the box of an advertisement is kept with the
    text around it.
    """
    kind, score = found.on_nodes()
    posts = verdict.kind == _POSTS
    score[posts] = np.where(kind[posts] == _POSTS, np.maximum(score[posts], POST_ABOVE), POST_ABOVE)
    kind[posts] = _POSTS
    unseen = found.without_text() & ~found.with_picture(verdict.keep)
    kept = verdict.keep & (kind != _POSTS) & ~(unseen & (kind != KIND_CODE["content"]))
    kind[kept], score[kept] = KIND_CODE["content"], 0.0
    return kind, score
