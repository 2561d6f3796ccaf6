"""What the recogniser of kinds sees of each removed region: numbers (`FEATURES`) and hashed tokens.

Numbers: how much it says and how, where its links lead, its controls and pictures, what stands around it, where on
the page and how near to what stays, and, with a model of the site, how fixed its text is there. Tokens: its words, the
names of the elements in and around it, the words of its addresses and labels, the words before and after.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.cleaning.linktargets import TARGETS, Page, Target
from webwinnow.cleaning.removedregions import RemovedRegions
from webwinnow.cleaning.verdict import Verdict
from webwinnow.fingerprints import page_fingerprint
from webwinnow.markup import ATTRIBUTE_CODE, TAG_CODE
from webwinnow.pagemodel.features import GENRES, Reading
from webwinnow.pagemodel.schema import COUNTS, MARK, SHOWN_MARKS
from webwinnow.site.learned import LearnedSite

HEARD_WORDS, HEARD_LAST = 60, 12
"""Words of a region that are heard, from its start and from its end."""
HEARD_PAIRS = 24
HEARD_NEAR = 8
"""Words before and after a region that are heard."""
HEARD_NODES = 40
"""Elements in a region whose names are heard."""
HEARD_LABELS = 120
"""Elements in a region whose labels are heard."""
HEARD_LINKS = 60
"""Links of a region whose addresses are heard."""
HEARD_PICTURES = 20
"""Pictures of a region whose sizes are looked at."""
NEAR_STEPS = 2
"""Elements around a region that count as near."""
KEPT_STEPS = 4
FAR = 60
"""Words before which what stays counts as near."""

PARTS: dict[str, int] = {
    "words": 13,
    "pairs": 13,
    "opening": 11,
    "near": 12,
    "far": 12,
    "inside": 12,
    "before": 11,
    "after": 11,
    "told": 11,
    "targets": 12,
    "heading": 11,
}
"""Where a token stands, and the bits that tokens are hashed into there: the same word is another token in each part."""
TOKENS = sum(1 << bits for bits in PARTS.values())
"""Different tokens that there may be."""
PART_STARTS = np.cumsum([0, *(1 << bits for bits in PARTS.values())])
"""The tokens of part k are numbered from `PART_STARTS[k]`."""
_PART_BITS = np.array(list(PARTS.values()), np.uint64)
_COUNT = {name: k for k, name in enumerate(COUNTS)}
_INPUTS = tuple("text email search password checkbox radio submit button tel number".split())
_CONTROLS = ("button", "select", "textarea", "label", "option")
_INSIDE = tuple("li p img svg iframe table h1 h2 h3 h4 h5 h6 time form br strong address article section nav".split())
_MARKS = tuple(name for name in SHOWN_MARKS if name != "link")
_SIGNS = tuple("©|›>»/·•:@&?!+<‹«#$€£…")
_LABELS = tuple("alt title value aria-label".split())

FEATURES: tuple[str, ...] = (
    *"words chars blocks words_per_block word_length link_share strong_share digit_share capital_share".split(),
    "number_share",
    *"ends_per_word commas_per_word money short_share long_share title_share title_words summary_share hidden".split(),
    *(f"sign_{k}" for k in range(len(_SIGNS))),
    *"links words_per_link links_per_word distinct_targets numbered_links rising depth_rise pictures_in_links".split(),
    *(f"to_{name}" for name in TARGETS),
    *(f"first_to_{name}" for name in TARGETS),
    *"numeric_links one_word_links long_links".split(),
    *(f"input_{name}" for name in _INPUTS),
    *(f"control_{name}" for name in _CONTROLS),
    *(f"has_{name}" for name in _INSIDE),
    *"picture_width picture_height picture_small nodes nodes_per_word".split(),
    *(f"in_{name}" for name in _MARKS),
    *"part depth place end_place words_before words_after page_words page_links page_regions region_place".split(),
    *"kept_before kept_after kept_share kept_near_before kept_near_after".split(),
    *(f"kept_above{k}" for k in range(KEPT_STEPS)),
    *(f"words_above{k}" for k in range(KEPT_STEPS)),
    *"score score_mean known share share_least share_fall".split(),
    *"since_heading heading_level own_heading copies".split(),
    *(f"{which}_{name}" for which in ("before", "after") for name in ("words", "link_share", "controls", "same")),
    *(f"genre_{name}" for name in GENRES),
    *"path_depth has_query".split(),
)
"""Rows of `RegionReading.features`, in order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionReading:
    """The regions of a page as the recogniser sees them; column r of `features` is region r, and so are tokens
    `ids[offsets[r]:offsets[r + 1]]`, distinct and ascending.
    """

    features: NDArray[np.float32]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]


def read_regions(
    regions: RemovedRegions, reading: Reading, verdict: Verdict, site: LearnedSite | None = None
) -> RegionReading:
    """Features and tokens of the regions of a page, with what is known of its site."""
    page = _Page(regions, reading, verdict, site)
    features = np.zeros((len(FEATURES), len(regions)), np.float32)
    keys: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
    for r in range(len(regions)):
        features[:, r] = page.numbers(r)
        keys += page.tokens(r)
    ids, offsets = _hashed(keys[1:], len(regions))
    return RegionReading(features=features, ids=ids, offsets=offsets)


def _hashed(keys: list[NDArray[np.uint64]], regions: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct tokens of each region, ascending, and where each region's begin; `keys` has a row a region and part.

    Keys go through the finisher of splitmix64.
    """
    if not keys:
        return np.zeros(0, np.int32), np.zeros(1, np.int32)
    x = np.concatenate(keys)
    row = np.repeat(np.arange(len(keys)), [len(found) for found in keys])
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    part = row % len(PARTS)
    place = ((x ^ (x >> np.uint64(31))) >> (np.uint64(64) - _PART_BITS[part])).astype(np.int64) + PART_STARTS[part]
    found = np.unique(row // len(PARTS) * TOKENS + place)
    offsets = np.searchsorted(found, np.arange(regions + 1) * TOKENS)
    return (found % TOKENS).astype(np.int32), offsets.astype(np.int32)


def _sums(values: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(values, dtype=np.int64)))


def _log(value: float) -> float:
    return math.log1p(max(value, 0.0))


class _Page:
    """A page with sums over its blocks, runs and nodes, so that any region can be asked for what it holds."""

    def __init__(self, regions: RemovedRegions, reading: Reading, verdict: Verdict, site: LearnedSite | None) -> None:
        tree = regions.tree
        self.tree, self.regions, self.verdict = tree, regions, verdict
        self.reading = reading
        blocks = self.reading.blocks
        said = self.reading.said
        self.block_run = blocks.first_run[said]
        self.counts = np.concatenate((np.zeros((1, len(COUNTS)), np.int64), np.cumsum(self.reading.counts, axis=0)))
        self.words = self.counts[:, _COUNT["words"]]
        kept = verdict.keep_runs[self.block_run] if len(said) else np.zeros(0, np.bool_)
        self.kept_words = _sums(self.reading.words * kept)
        self.run_first = np.searchsorted(self.block_run, np.arange(tree.run_count + 1))
        starts = tree.run_start[:-1]
        self.node_first = np.searchsorted(starts, tree.text_start)
        self.node_last = np.searchsorted(starts, tree.text_end)
        self.node_depth = self._depths()
        self.links()
        self.tag_sums = {tag: _sums(tree.tag == TAG_CODE[tag]) for tag in (*_CONTROLS, *_INSIDE)}
        self.pictures = np.flatnonzero(tree.tag == TAG_CODE["img"])
        self.inputs = self._input_sums()
        self.controls = _sums(tree.tagged("input", "select", "textarea", "button"))
        self.labels = self._labels()
        self.share = self._shares(site)
        self.genre = [float(verdict.genre == name) for name in GENRES]
        own = urlpath(tree.url)
        self.path = [float(own.count("/")), float("?" in own)]
        self.key_times = dict(zip(*np.unique(self.reading.text_key, return_counts=True), strict=True))
        self.title_words = self.reading.counts[:, _COUNT["in_title"]]
        self.spans = [
            (int(self.run_first[a]), int(self.run_first[b]))
            for a, b in zip(regions.first_run.tolist(), regions.last_run.tolist(), strict=True)
        ]

    def _depths(self) -> NDArray[np.int32]:
        depth = np.zeros(len(self.tree), np.int32)
        found = depth.tolist()
        for i, up in enumerate(self.tree.parent.tolist()):
            if up >= 0:
                found[i] = found[up] + 1
        return np.array(found, np.int32)

    def _shares(self, site: LearnedSite | None) -> NDArray[np.float64] | None:
        """On which share of the site's other pages each block stands."""
        if site is None or site.blocks is None or site.pages < 2:
            return None
        own = int(page_fingerprint(self.tree) in site.learned)
        pages = site.blocks.pages_that_say(self.reading.text_key)
        copies = np.maximum(pages - own - (pages == 1) * (1 - own), 0)
        found: NDArray[np.float64] = np.minimum(copies / max(site.pages - own, 1), 1.0)
        return found

    def links(self) -> None:
        """The links of the page, in page order: node, target, words of the anchor."""
        tree = self.tree
        links, page = tree.links(), Page(tree.url)
        self.link_node = links.node.astype(np.int64)
        self.link: list[Target] = [page.target(href, tree.resolve(href)) for href in links.href]
        self.link_words = [tree[int(i)].text.split() for i in self.link_node.tolist()]

    def _input_sums(self) -> dict[str, NDArray[np.int64]]:
        tree = self.tree
        inputs = np.flatnonzero(tree.tagged("input")).tolist()
        nodes, values = tree.values("type")
        kinds = dict(zip(nodes.tolist(), values, strict=True))
        found = {}
        told = {i: kinds.get(i, "text").strip().lower() or "text" for i in inputs}
        for name in _INPUTS:
            marks = np.zeros(len(tree), np.bool_)
            marks[[i for i, kind in told.items() if kind == name]] = True
            found[name] = _sums(marks)
        return found

    def _labels(self) -> dict[int, list[str]]:
        """What elements say besides their text: `alt`, `title`, `value`, `aria-label`."""
        tree = self.tree
        found: dict[int, list[str]] = {}
        codes = [ATTRIBUTE_CODE[name] for name in _LABELS]
        for k in np.flatnonzero(np.isin(tree.attr_name, codes)).tolist():
            text = tree.attr_text[tree.attr_start[k] : min(tree.attr_start[k + 1], tree.attr_start[k] + 80)]
            found.setdefault(int(tree.attr_node[k]), []).append(text)
        return found

    # What is asked of one region

    def _links_in(self, r: int) -> range:
        """The links of a region; the one around it, if it is inline text of one."""
        first, last = int(self.regions.first_node[r]), int(self.regions.last_node[r])
        a, b = np.searchsorted(self.link_node, (first, max(last, first)))
        if a == b:
            around = int(self.tree.run_owner[self.regions.first_run[r]])
            steps = 0
            while around > 0 and steps < NEAR_STEPS + 1:
                k = int(np.searchsorted(self.link_node, around))
                if k < len(self.link_node) and self.link_node[k] == around:
                    return range(k, k + 1)
                around, steps = int(self.tree.parent[around]), steps + 1
        return range(int(a), int(b))

    def numbers(self, r: int) -> list[float]:
        first, last = self.spans[r]
        return list(
            chain(
                self._said(r, first, last),
                self._led(r),
                self._held(r, first, last),
                self._stood(r, first, last),
                self._neighbours(r),
                self.genre,
                self.path,
            )
        )

    def _said(self, r: int, first: int, last: int) -> list[float]:
        total = (self.counts[last] - self.counts[first]).tolist()
        count = dict(zip(COUNTS, total, strict=True))
        words, chars = max(count["words"], 1), max(count["chars"], 1)
        text = self._text(r)
        hidden = not self.tree.visible[self.tree.run_owner[self.regions.first_run[r]]]
        return [
            _log(count["words"]),
            _log(chars),
            _log(last - first),
            _log(words / max(last - first, 1)),
            (count["letters"] + count["digits"]) / words,
            count["link_words"] / words,
            count["strong_words"] / words,
            count["digits"] / chars,
            count["capitals"] / words,
            count["numbers"] / words,
            count["ends"] / words,
            count["commas"] / words,
            _log(count["money"]),
            count["short"] / words,
            count["long"] / words,
            count["in_title"] / words,
            _log(count["in_title"]),
            count["in_summary"] / words,
            float(hidden),
            *(_log(text.count(sign)) for sign in _SIGNS),
        ]

    def _text(self, r: int) -> str:
        tree = self.tree
        start = int(tree.run_start[self.regions.first_run[r]])
        return tree.text[start : min(int(tree.run_start[self.regions.last_run[r]]), start + 4000)]

    def _led(self, r: int) -> list[float]:
        """Where the links lead. Along a breadcrumb paths grow (`rising`, `depth_rise`)."""
        inside = self._links_in(r)
        links = [self.link[k] for k in inside]
        words = [self.link_words[k] for k in inside]
        n = max(len(links), 1)
        first, last = self.spans[r]
        said = max(int(self.words[last] - self.words[first]), 1)
        rising = sum(b.depth > a.depth for a, b in pairwise(links)) / max(len(links) - 1, 1)
        shares = [sum(t.what == name for t in links) / n for name in TARGETS[:-2]]
        return [
            _log(len(links)),
            _log(said / n),
            len(links) / said,
            len({t.words for t in links}) / n,
            sum(t.numbered for t in links) / n,
            rising,
            float(links[-1].depth - links[0].depth) if links else 0.0,
            sum(not w for w in words) / n,
            *shares,
            sum(t.carrying for t in links) / n,
            _log(sum(t.numbered for t in links)),
            *(float(bool(links) and links[0].what == name) for name in TARGETS[:-2]),
            float(bool(links) and links[0].carrying),
            float(bool(links) and links[0].numbered),
            sum(len(w) == 1 and w[0].isdecimal() for w in words) / n,
            sum(len(w) == 1 for w in words) / n,
            sum(len(w) >= 6 for w in words) / n,
        ]

    def _held(self, r: int, first_block: int, last_block: int) -> list[float]:
        """Controls, elements and pictures inside."""
        a, b = int(self.regions.first_node[r]), int(self.regions.last_node[r])
        b = max(a, b)
        widths, heights = self._pictures(a, b)
        words = max(int(self.words[last_block] - self.words[first_block]), 1)
        return [
            *(_log(float(self.inputs[name][b] - self.inputs[name][a])) for name in _INPUTS),
            *(_log(float(self.tag_sums[tag][b] - self.tag_sums[tag][a])) for tag in _CONTROLS),
            *(_log(float(self.tag_sums[tag][b] - self.tag_sums[tag][a])) for tag in _INSIDE),
            max(widths, default=0.0),
            max(heights, default=0.0),
            float(sum(0 < w <= 64 for w in widths)),
            _log(b - a),
            (b - a) / words,
        ]

    def _pictures(self, first: int, last: int) -> tuple[list[float], list[float]]:
        a, b = np.searchsorted(self.pictures, (first, last)).tolist()
        found = self.pictures[a : min(b, a + HEARD_PICTURES)].tolist()
        widths = [_size(self.tree.attribute(i, "width")) for i in found]
        return widths, [_size(self.tree.attribute(i, "height")) for i in found]

    def _stood(self, r: int, first: int, last: int) -> list[float]:
        """The place: marks around, how far down, how near to what stays, how fixed on the site, the heading before."""
        tree, regions, verdict = self.tree, self.regions, self.verdict
        node = int(regions.node[r])
        mark = int(self.reading.marks[node])
        all_words, kept_all = max(int(self.words[-1]), 1), max(int(self.kept_words[-1]), 1)
        before, after = int(self.words[first]), int(self.words[-1] - self.words[last])
        near_first = int(np.searchsorted(self.words, before - FAR))
        near_last = min(int(np.searchsorted(self.words, self.words[last] + FAR)), len(self.words) - 1)
        kept, said = [], []
        up = node if int(regions.first_node[r]) != node else max(int(tree.parent[node]), 0)
        for _ in range(KEPT_STEPS):
            a, b = self.run_first[self.node_first[up]], self.run_first[self.node_last[up]]
            kept.append(float(self.kept_words[b] - self.kept_words[a]) / kept_all)
            said.append(float(self.words[b] - self.words[a]) / all_words)
            up = max(int(tree.parent[up]), 0)
        owners = tree.run_owner[regions.first_run[r] : regions.last_run[r]]
        scores = verdict.score[owners] if verdict.confidence is not None and len(owners) else np.full(1, -1.0)
        heading = int(self.reading.heading[first]) if first < len(self.reading.heading) else -1
        own_heading = int(self.reading.level[first:last].max(initial=0))
        copies = [self.key_times.get(key, 1) for key in self.reading.text_key[first:last].tolist()]
        return [
            *(float(bool(mark & MARK[name])) for name in _MARKS),
            float(int(regions.first_node[r]) != node),
            float(self.node_depth[node]),
            before / all_words,
            (all_words - after) / all_words,
            _log(before),
            _log(after),
            _log(all_words),
            _log(len(self.link)),
            _log(len(regions)),
            r / max(len(regions), 1),
            self.kept_words[first] / kept_all,
            (self.kept_words[-1] - self.kept_words[last]) / kept_all,
            kept_all / all_words,
            _log(float(self.kept_words[first] - self.kept_words[near_first])),
            _log(float(self.kept_words[near_last] - self.kept_words[last])),
            *kept,
            *said,
            float(scores.max()),
            float(scores.mean()),
            *self._fixed(first, last),
            _log(first - heading if heading >= 0 else 99),
            float(self.reading.level[heading]) if heading >= 0 else 0.0,
            float(own_heading),
            _log(sum(copies) / max(len(copies), 1) - 1),
        ]

    def _fixed(self, first: int, last: int) -> list[float]:
        """How fixed the text is over the site: mean and least share of pages, and how the share falls along it."""
        if self.share is None or first == last:
            return [0.0, -1.0, -1.0, 0.0]
        share = self.share[first:last]
        return [1.0, float(share.mean()), float(share.min()), float(share[0] - share[-1])]

    def _neighbours(self, r: int) -> list[float]:
        found: list[float] = []
        for other in (r - 1, r + 1):
            if 0 <= other < len(self.regions):
                first, last = self.spans[other]
                count = self.counts[last] - self.counts[first]
                words = max(int(count[_COUNT["words"]]), 1)
                a, b = int(self.regions.first_node[other]), int(self.regions.last_node[other])
                same = int(self.tree.parent[max(int(self.regions.node[other]), 0)]) == int(
                    self.tree.parent[int(self.regions.node[r])]
                )
                found += [
                    _log(words),
                    float(count[_COUNT["link_words"]]) / words,
                    _log(float(self.controls[max(a, b)] - self.controls[a])),
                    float(same),
                ]
            else:
                found += [-1.0, -1.0, -1.0, 0.0]
        return found

    def tokens(self, r: int) -> list[NDArray[np.uint64]]:
        """The keys of the region's tokens, one array for each of `PARTS`."""
        reading, tree, regions = self.reading, self.tree, self.regions
        first, last = self.spans[r]
        offsets = reading.word_offsets
        words = reading.word_ids[offsets[first] : offsets[last]].astype(np.uint64)
        start = words[:HEARD_WORDS]
        heard = np.concatenate((start, words[HEARD_WORDS:][-HEARD_LAST:]))
        pairs = start[:HEARD_PAIRS][:-1] * np.uint64(1 << 20) + start[:HEARD_PAIRS][1:] if len(start) > 1 else start[:0]
        node = int(regions.node[r])
        near, far, up = [node], list[int](), node
        while (up := int(tree.parent[up])) >= 0:
            (near if len(near) <= NEAR_STEPS else far).append(up)
        a, b = int(regions.first_node[r]), int(regions.last_node[r])
        inside = range(a + (a == node), min(max(b, a), a + HEARD_NODES))
        labelled = [self.labels.get(i, ()) for i in (*near[:2], *range(a, min(b, a + HEARD_LABELS)))]
        told = [word for labels in labelled for label in labels for word in label.lower().split()[:12]]
        addresses = [word for k in self._links_in(r)[:HEARD_LINKS] for word in self.link[k].words]
        heading = int(reading.heading[first]) if first < len(reading.heading) else -1
        headed = reading.word_ids[offsets[heading] : offsets[heading + 1]][:12] if heading >= 0 else words[:0]
        return [
            heard,
            pairs,
            (words[:2] << np.uint64(1)) + np.arange(min(len(words), 2)).astype(np.uint64),
            self._names(near),
            self._names(far),
            self._names(inside),
            reading.word_ids[max(offsets[first] - HEARD_NEAR, 0) : offsets[first]].astype(np.uint64),
            reading.word_ids[offsets[last] : offsets[last] + HEARD_NEAR].astype(np.uint64),
            _keys(told[:40]),
            _keys(addresses),
            headed.astype(np.uint64),
        ]

    def _names(self, nodes: list[int] | range) -> NDArray[np.uint64]:
        ids, offsets = self.reading.node_ids, self.reading.node_offsets
        if not len(nodes):
            return np.zeros(0, np.uint64)
        return np.concatenate([ids[offsets[i] : offsets[i + 1]] for i in nodes]).astype(np.uint64)


def _keys(words: list[str]) -> NDArray[np.uint64]:
    return np.array([xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in words], np.uint64)


def _size(written: str | None) -> float:
    digits = "".join(c for c in (written or "")[:5] if c.isdecimal())
    return min(float(digits), 2000.0) if digits.isascii() and digits else 0.0


def urlpath(url: str) -> str:
    """The path and query of an address."""
    rest = url.partition("://")[2]
    return rest[rest.find("/") :] if "/" in rest else ""
