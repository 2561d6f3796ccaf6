"""What the recogniser of noise kinds measures of each removed region: numbers (`FEATURES`) and hashed tokens.

Numbers: amount and form of the text, targets of the links, controls and pictures, the elements around, the place on the
page and the distance to what is kept and to the title, whether it has the name of the site or of the author, and, with
a model of the site, how fixed the text is there. Tokens: words, names
of the elements in and around the region, words of URLs and labels, words before and after. A region without text is
described by the URLs of its pictures and frames too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.judge.featureschema import COUNTS, MARK, SHOWN_MARKS
from webwinnow.judge.reading import GENRES, Reading
from webwinnow.judge.removedregions import CONTROLS, RemovedRegions
from webwinnow.judge.verdict import Verdict
from webwinnow.page.blocks import runs_of_nodes
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.page.linktargets import TARGETS, LinkTargets, Target
from webwinnow.page.markup import ATTRIBUTE_CODE, TAG_CODE
from webwinnow.page.tree import PageTree
from webwinnow.site.learned import LearnedSite

FIRST_WORDS, LAST_WORDS = 60, 12
"""Words that become tokens, from the start and from the end of a region."""
PAIRED_WORDS = 24
WORDS_NEAR = 8
"""Words that become tokens before and after a region."""
NAMED_NODES, LABELLED_NODES = 40, 120
"""Elements in a region whose names, and whose labels, become tokens."""
READ_LINKS, READ_PICTURES = 60, 20
"""Links whose URLs become tokens, and pictures whose sizes are read."""
READ_TEXT = 4000
"""Characters in which signs, years and clock times are counted."""
NEAR_STEPS = 2
"""Elements around a region that count as near."""
KEPT_STEPS = 4
FAR = 60
"""Kept text within this number of words is near."""

PARTS: dict[str, int] = {
    **{"words": 13, "pairs": 13, "opening": 11, "near": 12, "far": 12, "inside": 12},
    **{"before": 11, "after": 11, "told": 11, "targets": 12, "heading": 11},
}
"""Where a token is from, and the bits that it is hashed into: the same word is another token in each part."""
TOKENS = sum(1 << bits for bits in PARTS.values())
"""Number of different tokens."""
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
_YEAR, _CLOCK_TIME = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)"), re.compile(r"(?<!\d)\d?\d:\d\d(?!\d)")
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)?\d\d"
    r"|\d\d?(?:st|nd|rd|th|\.)? [^\W\d_]{3,12}\.?,? (?:19|20)\d\d)(?!\d)"
    r"|(?<!\w)[^\W\d_]{3,12}\.? \d\d?(?:st|nd|rd|th)?, (?:19|20)\d\d(?!\d)"
)
_AUTHOR = re.compile(r'"author"\s{0,9}:\s{0,9}\[?\s{0,9}\{[^{}]{0,200}?"name"\s{0,9}:\s{0,9}"([^"\\]{3,60})"')
_PAID = re.compile("nofollow|sponsored", re.IGNORECASE)
_AUTHOR_METAS = ("author", "article:author", "dc.creator", "parsely-author", "sailthru.author", "byl")
NAME_CHARS = 60
"""Characters of the longest name of a site or an author."""
SHORTEST_NAME = 3
TITLE_WORDS, TITLE_SHARE = 2, 0.6
"""A block of at least so many words, of which this share is in the page's title, may be its headline."""
MENU_LINKS = 4
"""A region of so many links counts as a menu."""

FEATURES: tuple[str, ...] = (
    *"words chars blocks words_per_block word_length link_share strong_share digit_share capital_share".split(),
    "number_share",
    *"ends_per_word commas_per_word money short_share long_share title_share title_words summary_share hidden".split(),
    *(f"sign_{k}" for k in range(len(_SIGNS))),
    *"links words_per_link links_per_word distinct_targets numbered_links rising depth_rise pictures_in_links".split(),
    *(f"to_{name}" for name in TARGETS),
    *(f"first_to_{name}" for name in TARGETS),
    *"numeric_links one_word_links long_links folders common_folder hosts same_depth years clock_times".split(),
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
    *"names_site says_site says_author dates since_title with_title before_title".split(),
    *"paid_links outside_links repeated_links own_links menus_before menus_after most_links".split(),
)
"""Rows of `RegionReading.features`, in order."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionReading:
    """The regions of a page: column r of `features` describes region r, whose tokens are `ids[offsets[r]:offsets[r +
    1]]`, distinct and ascending.
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
    keys: list[NDArray[np.uint64]] = []
    for r in range(len(regions)):
        features[:, r] = page.numbers(r)
        keys += page.tokens(r)
    ids, offsets = _hashed(keys, len(regions))
    return RegionReading(features=features, ids=ids, offsets=offsets)


def _hashed(keys: list[NDArray[np.uint64]], regions: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct tokens of each region, ascending, and their offsets; `keys` has a row for each region and part.

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
    """A page with running sums over its blocks, runs and nodes, from which the features of any region follow."""

    def __init__(self, regions: RemovedRegions, reading: Reading, verdict: Verdict, site: LearnedSite | None) -> None:
        tree = regions.tree
        self.tree, self.regions, self.verdict, self.reading = tree, regions, verdict, reading
        block_run = reading.blocks.first_run[reading.said]
        self.counts = np.concatenate((np.zeros((1, len(COUNTS)), np.int64), np.cumsum(reading.counts, axis=0)))
        self.words = self.counts[:, _COUNT["words"]]
        self.kept_words = _sums(reading.words * verdict.keep_runs[block_run])
        self.run_first = np.searchsorted(block_run, np.arange(tree.run_count + 1))
        self.node_runs = runs_of_nodes(tree)
        self.node_depth = np.arange(len(tree)) - np.cumsum(np.bincount(tree.end, minlength=len(tree) + 1))[:-1]
        self._read_links()
        self.tag_sums = {tag: _sums(tree.tag == TAG_CODE[tag]) for tag in (*_CONTROLS, *_INSIDE)}
        self.pictures = np.flatnonzero(tree.tagged("img", "iframe"))
        self.with_text = int((regions.last_run > regions.first_run).sum())
        self.inputs = self._input_sums()
        self.controls = _sums(tree.tagged(*CONTROLS))
        self.labels = self._labels()
        self.share = self._shares(site)
        rest = tree.url.partition("://")[2]
        path = rest[rest.find("/") :] if "/" in rest else ""
        self.of_page = [*(float(verdict.genre == name) for name in GENRES), float(path.count("/")), float("?" in path)]
        self.key_times = dict(zip(*np.unique(reading.text_key, return_counts=True), strict=True))
        self.first, self.last = (self.run_first[runs].tolist() for runs in (regions.first_run, regions.last_run))
        self.site_names, self.authors = _site_names(tree, self.targets.host), _authors(tree)
        self.title_block = self._title_block()
        inside = np.searchsorted(self.link_node, np.stack((regions.first_node, regions.last_node)))
        self.region_links = np.maximum(inside[1] - inside[0], 0)
        self.menus = _sums(self.region_links >= MENU_LINKS)

    def _title_block(self) -> int:
        """The block that is most probably the headline, by the words that it shares with the title; -1 for none."""
        words, shared = self.reading.words, self.reading.counts[:, _COUNT["in_title"]]
        may_be = (words >= TITLE_WORDS) & (shared >= TITLE_SHARE * words)
        if not may_be.any():
            return -1
        headed = np.where(self.reading.level > 0, 10 - np.minimum(self.reading.level, 6).astype(np.int64), 0)
        return int(np.argmax(np.where(may_be, shared + headed, -1)))

    def _shares(self, site: LearnedSite | None) -> NDArray[np.float64] | None:
        """The share of the site's other pages that contain each block."""
        if site is None or "blocks" not in site.parts or site.pages < 2:
            return None
        own = int(page_fingerprint(self.tree) in site.learned)
        pages = site.block_table.pages_that_say(self.reading.text_key)
        copies = np.maximum(pages - own - (pages == 1) * (1 - own), 0)
        found: NDArray[np.float64] = np.minimum(copies / max(site.pages - own, 1), 1.0)
        return found

    def _read_links(self) -> None:
        """The links of the page, in page order: node, target, words of the anchor."""
        tree = self.tree
        links, targets = tree.links(), LinkTargets(tree.url)
        self.targets = targets
        self.link_node = links.node.astype(np.int64)
        self.link = [targets.of(href, tree.resolve(href)) for href in links.href]
        self.link_words = [tree[i].text.split() for i in self.link_node.tolist()]
        self.hrefs, self.href_times = links.href, Counter(links.href)
        nodes, rels = tree.values("rel")
        paid = {node for node, rel in zip(nodes.tolist(), rels, strict=True) if _PAID.search(rel)}
        self.link_paid = [node in paid for node in self.link_node.tolist()]

    def _input_sums(self) -> dict[str, NDArray[np.int64]]:
        """For each type of input how many are before each node."""
        nodes, values = self.tree.values("type")
        types = dict(zip(nodes.tolist(), values, strict=True))
        marks = {name: np.zeros(len(self.tree), np.bool_) for name in _INPUTS}
        for i in np.flatnonzero(self.tree.tagged("input")).tolist():
            kind = types.get(i, "text").strip().lower() or "text"
            if kind in marks:
                marks[kind][i] = True
        return {name: _sums(mark) for name, mark in marks.items()}

    def _labels(self) -> dict[int, list[str]]:
        """The `alt`, `title`, `value` and `aria-label` of each node."""
        tree = self.tree
        found: dict[int, list[str]] = {}
        codes = [ATTRIBUTE_CODE[name] for name in _LABELS]
        for k in np.flatnonzero(np.isin(tree.attr_name, codes)).tolist():
            text = tree.attr_text[tree.attr_start[k] : min(tree.attr_start[k + 1], tree.attr_start[k] + 80)]
            found.setdefault(int(tree.attr_node[k]), []).append(text)
        return found

    # One region

    def _nodes(self, r: int) -> tuple[int, int]:
        first = int(self.regions.first_node[r])
        return first, max(int(self.regions.last_node[r]), first)

    def _links_in(self, r: int) -> range:
        """The links of a region; the one around it, if it is inline text of a link."""
        a, b = np.searchsorted(self.link_node, self._nodes(r)).tolist()
        if a == b:
            around = self._owner(r)
            for _ in range(NEAR_STEPS + 1):
                if around <= 0:
                    break
                k = int(np.searchsorted(self.link_node, around))
                if k < len(self.link_node) and self.link_node[k] == around:
                    return range(k, k + 1)
                around = int(self.tree.parent[around])
        return range(a, b)

    def _owner(self, r: int) -> int:
        """The element of a region's first run; of a region without text itself."""
        return int(self.tree.run_owner[self.regions.first_run[r]] if r < self.with_text else self.regions.node[r])

    def numbers(self, r: int) -> list[float]:
        return list(
            chain(
                self._text_numbers(r),
                self._link_numbers(r),
                self._element_numbers(r),
                self._place_numbers(r),
                self._neighbour_numbers(r, r - 1),
                self._neighbour_numbers(r, r + 1),
                self.of_page,
                self._name_numbers(r),
                self._menu_numbers(r),
            )
        )

    def _word_count(self, r: int) -> int:
        return max(int(self.words[self.last[r]] - self.words[self.first[r]]), 1)

    def _text(self, r: int) -> str:
        start, end = self.tree.run_start[[self.regions.first_run[r], self.regions.last_run[r]]].tolist()
        return self.tree.text[start : min(end, start + READ_TEXT)]

    def _text_numbers(self, r: int) -> list[float]:
        blocks = self.last[r] - self.first[r]
        total = (self.counts[self.last[r]] - self.counts[self.first[r]]).tolist()
        count = dict(zip(COUNTS, total, strict=True))
        words, chars = max(count["words"], 1), max(count["chars"], 1)
        text = self._text(r)
        return [
            _log(count["words"]),
            _log(chars),
            _log(blocks),
            _log(words / max(blocks, 1)),
            (count["letters"] + count["digits"]) / words,
            count["link_words"] / words,
            count["strong_words"] / words,
            count["digits"] / chars,
            *(count[name] / words for name in ("capitals", "numbers", "ends", "commas")),
            _log(count["money"]),
            *(count[name] / words for name in ("short", "long", "in_title")),
            _log(count["in_title"]),
            count["in_summary"] / words,
            float(not self.tree.visible[self._owner(r)]),
            *(_log(text.count(sign)) for sign in _SIGNS),
        ]

    def _link_numbers(self, r: int) -> list[float]:
        """Targets of the links. Along a breadcrumb paths grow (`rising`, `depth_rise`)."""
        inside = self._links_in(r)
        links = [self.link[k] for k in inside]
        words = [self.link_words[k] for k in inside]
        n, said = max(len(links), 1), self._word_count(r)
        numbered = sum(t.numbered for t in links)
        first = links[0] if links else None
        return [
            _log(len(links)),
            _log(said / n),
            len(links) / said,
            len({t.words for t in links}) / n,
            numbered / n,
            sum(b.depth > a.depth for a, b in pairwise(links)) / max(len(links) - 1, 1),
            float(links[-1].depth - links[0].depth) if links else 0.0,
            sum(not w for w in words) / n,
            *(sum(t.what == name for t in links) / n for name in TARGETS[:-2]),
            sum(t.carrying for t in links) / n,
            _log(numbered),
            *(float(first is not None and first.what == name) for name in TARGETS[:-2]),
            float(first is not None and first.carrying),
            float(first is not None and first.numbered),
            sum(len(w) == 1 and w[0].isdecimal() for w in words) / n,
            sum(len(w) == 1 for w in words) / n,
            sum(len(w) >= 6 for w in words) / n,
            *_spread(links),
            sum(t.depth == self.targets.depth for t in links) / n,
            *(_log(len(sign.findall(self._text(r)))) for sign in (_YEAR, _CLOCK_TIME)),
        ]

    def _element_numbers(self, r: int) -> list[float]:
        """Controls, elements and pictures inside."""
        a, b = self._nodes(r)
        start, end = np.searchsorted(self.pictures, (a, b)).tolist()
        pictures = self.pictures[start : min(end, start + READ_PICTURES)].tolist()
        widths, heights = ([_size(self.tree.attribute(i, name)) for i in pictures] for name in ("width", "height"))
        return [
            *(_log(float(self.inputs[name][b] - self.inputs[name][a])) for name in _INPUTS),
            *(_log(float(self.tag_sums[tag][b] - self.tag_sums[tag][a])) for tag in (*_CONTROLS, *_INSIDE)),
            max(widths, default=0.0),
            max(heights, default=0.0),
            float(sum(0 < w <= 64 for w in widths)),
            _log(b - a),
            (b - a) / self._word_count(r),
        ]

    def _place_numbers(self, r: int) -> list[float]:
        """The place: marks around, position, distance to what is kept, how fixed on the site, the heading before."""
        tree, regions, verdict, first, last = self.tree, self.regions, self.verdict, self.first[r], self.last[r]
        words, kept = self.words, self.kept_words
        node = int(regions.node[r])
        is_part = int(regions.first_node[r]) != node
        mark = int(self.reading.marks[node])
        all_words, kept_all = max(int(words[-1]), 1), max(int(kept[-1]), 1)
        before, after = int(words[first]), int(words[-1] - words[last])
        near_first = int(np.searchsorted(words, before - FAR))
        near_last = min(int(np.searchsorted(words, words[last] + FAR)), len(words) - 1)
        kept_above, words_above = [], []
        up = node if is_part else max(int(tree.parent[node]), 0)
        for _ in range(KEPT_STEPS):
            a, b = (self.run_first[runs[up]] for runs in self.node_runs)
            kept_above.append(float(kept[b] - kept[a]) / kept_all)
            words_above.append(float(words[b] - words[a]) / all_words)
            up = max(int(tree.parent[up]), 0)
        owners = tree.run_owner[regions.first_run[r] : regions.last_run[r]]
        scores = verdict.score[owners] if verdict.confidence is not None and len(owners) else np.full(1, -1.0)
        heading = self._heading(r)
        copies = [self.key_times.get(key, 1) for key in self.reading.text_key[first:last].tolist()]
        return [
            *(float(bool(mark & MARK[name])) for name in _MARKS),
            float(is_part),
            float(self.node_depth[node]),
            before / all_words,
            (all_words - after) / all_words,
            _log(before),
            _log(after),
            _log(all_words),
            _log(len(self.link)),
            _log(self.with_text),
            min(r / max(self.with_text, 1), 1.0),
            kept[first] / kept_all,
            (kept[-1] - kept[last]) / kept_all,
            kept_all / all_words,
            _log(float(kept[first] - kept[near_first])),
            _log(float(kept[near_last] - kept[last])),
            *kept_above,
            *words_above,
            float(scores.max()),
            float(scores.mean()),
            *self._fixed(first, last),
            _log(first - heading if heading >= 0 else 99),
            float(self.reading.level[heading]) if heading >= 0 else 0.0,
            float(self.reading.level[first:last].max(initial=0)),
            _log(sum(copies) / max(len(copies), 1) - 1),
        ]

    def _heading(self, r: int) -> int:
        """The block of the last heading before a region; -1 for none."""
        return int(self.reading.heading[self.first[r]]) if self.first[r] < len(self.reading.heading) else -1

    def _fixed(self, first: int, last: int) -> list[float]:
        """How fixed the text is over the site: mean and least share of pages, and the fall of the share along it."""
        if self.share is None or first == last:
            return [0.0, -1.0, -1.0, 0.0]
        share = self.share[first:last]
        return [1.0, float(share.mean()), float(share.min()), float(share[0] - share[-1])]

    def _neighbour_numbers(self, r: int, other: int) -> list[float]:
        if not 0 <= other < self.with_text or r >= self.with_text:
            return [-1.0, -1.0, -1.0, 0.0]
        words = self._word_count(other)
        linked = self.counts[self.last[other]] - self.counts[self.first[other]]
        a, b = self._nodes(other)
        parents = self.tree.parent[self.regions.node[[r, other]]]
        return [
            _log(words),
            float(linked[_COUNT["link_words"]]) / words,
            _log(float(self.controls[b] - self.controls[a])),
            float(parents[0] == parents[1]),
        ]

    def _name_numbers(self, r: int) -> list[float]:
        """Names of the site and the author, dates, and the place relative to the headline."""
        text = self._text(r)
        said = _squeezed(text)
        lower = text.lower()
        first, last, title = self.first[r], self.last[r], self.title_block
        distance = 0 if first <= title < last else first - title if title < first else title - last + 1
        return [
            max((_overlap(name, said) for name in self.site_names), default=0.0),
            float(any(name in said for name in self.site_names)),
            float(any(author in lower for author in self.authors)),
            _log(len(_DATE.findall(text))),
            _log(distance) if title >= 0 else -1.0,
            float(first <= title < last),
            float(title >= last),
        ]

    def _menu_numbers(self, r: int) -> list[float]:
        """The links of a region compared with all links of the page."""
        inside = self._links_in(r)
        own = Counter(self.hrefs[k] for k in inside)
        n = max(len(inside), 1)
        return [
            sum(self.link_paid[k] for k in inside) / n,
            _log(sum(self.link[k].what == "outside" for k in inside)),
            sum(times for href, times in own.items() if self.href_times[href] > times) / n,
            len(inside) / max(len(self.link), 1),
            _log(float(self.menus[min(r, self.with_text)])),
            _log(float(self.menus[self.with_text] - self.menus[min(r + 1, self.with_text)])),
            float(self.region_links[r] >= MENU_LINKS and self.region_links[r] == self.region_links.max()),
        ]

    def tokens(self, r: int) -> list[NDArray[np.uint64]]:
        """The keys of the region's tokens, one array for each of `PARTS`."""
        reading, tree, regions = self.reading, self.tree, self.regions
        ids, offsets = reading.word_ids, reading.word_offsets
        start, end = int(offsets[self.first[r]]), int(offsets[self.last[r]])
        words = ids[start:end].astype(np.uint64)
        opening = words[:FIRST_WORDS]
        paired = opening[:PAIRED_WORDS]
        node = int(regions.node[r])
        near, far, up = [node], list[int](), node
        while (up := int(tree.parent[up])) >= 0:
            (near if len(near) <= NEAR_STEPS else far).append(up)
        a, b = self._nodes(r)
        labelled = [self.labels.get(i, ()) for i in (*near[:2], *range(a, min(b, a + LABELLED_NODES)))]
        label_words = [word for labels in labelled for label in labels for word in label.lower().split()[:12]]
        heading = self._heading(r)
        headed = ids[offsets[heading] : offsets[heading + 1]][:12] if heading >= 0 else words[:0]
        return [
            np.concatenate((opening, words[FIRST_WORDS:][-LAST_WORDS:])),
            paired[:-1] * np.uint64(1 << 20) + paired[1:],
            (words[:2] << np.uint64(1)) + np.arange(min(len(words), 2)).astype(np.uint64),
            self._names(near),
            self._names(far),
            self._names(range(a + (a == node), min(b, a + NAMED_NODES))),
            ids[max(start - WORDS_NEAR, 0) : start].astype(np.uint64),
            ids[end : end + WORDS_NEAR].astype(np.uint64),
            _keys(label_words[:40]),
            _keys([word for k in self._links_in(r)[:READ_LINKS] for word in self.link[k].words] + self._shown(r)),
            headed.astype(np.uint64),
        ]

    def _shown(self, r: int) -> list[str]:
        """The words of the URLs of a text-free region's pictures and frames."""
        start, end = np.searchsorted(self.pictures, self._nodes(r)).tolist() if r >= self.with_text else (0, 0)
        urls = [self.tree.attribute(i, "src") or "" for i in self.pictures[start : min(end, start + READ_PICTURES)]]
        return [f"s{word}" for url in urls if url for word in self.targets.of(url, self.tree.resolve(url)).words]

    def _names(self, nodes: list[int] | range) -> NDArray[np.uint64]:
        ids, offsets = self.reading.node_ids, self.reading.node_offsets
        return np.concatenate([ids[:0], *(ids[offsets[i] : offsets[i + 1]] for i in nodes)]).astype(np.uint64)


def _squeezed(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return "".join(c for c in text.lower() if c.isalnum())


def _overlap(name: str, said: str) -> float:
    """The share of the shorter in the longer of two texts, if it is a part of it."""
    short, long = sorted((name, said), key=len)
    return len(short) / len(long) if len(short) >= SHORTEST_NAME and short in long else 0.0


def _site_names(tree: PageTree, host: str) -> list[str]:
    """The names of the page's site, squeezed: the longest label of its host, and what the page's head says."""
    labels = host.split(".")[:-1]
    said = [max(labels, key=len) if labels else "", tree.head.meta("og:site_name", "application-name") or ""]
    return [name for text in said if len(name := _squeezed(text[:NAME_CHARS])) >= SHORTEST_NAME]


def _authors(tree: PageTree) -> list[str]:
    """The names of authors in the page's head, in lower case."""
    said = [tree.head.meta(name) or "" for name in _AUTHOR_METAS]
    said += [name for script in tree.head.json_ld for name in _AUTHOR.findall(script[:READ_TEXT])]
    names = {name.strip().lower() for name in said if "://" not in name}
    return sorted(name for name in names if SHORTEST_NAME <= len(name) <= NAME_CHARS)


def _spread(links: list[Target]) -> list[float]:
    """Distinct folders and hosts of the links, and the share of the most frequent folder: a menu of the site leads to
    many folders, that of a section to one.
    """
    n = max(len(links), 1)
    folders = Counter(t.folder for t in links)
    return [len(folders) / n, max(folders.values(), default=0) / n, len({t.host for t in links}) / n]


def _keys(words: list[str]) -> NDArray[np.uint64]:
    return np.array([xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in words], np.uint64)


def _size(written: str | None) -> float:
    digits = "".join(c for c in (written or "")[:5] if c.isdecimal())
    return min(float(digits), 2000.0) if digits.isascii() and digits else 0.0
