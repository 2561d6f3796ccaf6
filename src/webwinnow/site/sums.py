"""Which pages of a site to learn from (`choose_pages`), and what is added up over them (`SiteSums`).

The choice depends on the set of pages only, not on their order, the number of workers or the engine; choices over
parts of a site combine, since the k lowest keys of a union are among the k lowest of its parts. Sums over disjoint
pages merge exactly, in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow import plugins
from webwinnow.errors import ModelError
from webwinnow.judge.evidence import PageEvidence, names_of
from webwinnow.page.markup import STYLE_VERSION, canonical_class
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.site.counts import Counts
from webwinnow.site.parts import Part, parts_named
from webwinnow.storage.atomic import write_file
from webwinnow.storage.modelfile import Array, ArrayTable, ModelFile, ModelFormat

if TYPE_CHECKING:
    from webwinnow.site.part_blocks import BlockPart

SAME_CSS = "use the option for all pages of a site or for none"
FORMAT = ModelFormat("site sums", 7, "learn the site again")
LEARNED_PAGES = 500
"""Pages learned from one site at most (thesis 5.3 samples 500)."""
TEXTS, LABELS, BLOCKS = "texts", "labels", "blocks"
LONGEST_LABEL = 60
LABEL_DTYPES: dict[str, Any] = {"label_style": np.uint64, "label_text": np.uint8}

T = TypeVar("T")


def page_key(url: str, seed: int = 0) -> int:
    """`xxh3(seed, canonical URL)`, by which pages are sampled."""
    return xxh3_64_intdigest(canonical(url, routes=True).encode("utf-8", "replace"), seed=seed)


def choose_pages(pages: Iterable[tuple[int, str, T]], k: int = LEARNED_PAGES) -> list[T]:
    """Choose from (page_key, exact fingerprint, page): one page per content, then the k lowest keys, in key order."""
    lowest: dict[str, tuple[int, T]] = {}
    for key, content, page in pages:
        known = lowest.get(content)
        if known is None or key < known[0]:
            lowest[content] = (key, page)
    return [page for _, page in sorted(lowest.values(), key=lambda found: found[0])[:k]]


class SiteSums:
    """Sums over the pages of one site, for the requested `parts`, all by default; add each page once.

    `settings` are `CleaningSettings`, of which each part reads its group; without them a part has its defaults.
    """

    def __init__(
        self, site: str = "", parts: frozenset[str] | None = None, settings: Any = None, *, css: bool | None = None
    ) -> None:
        self.site, self.css, self.settings = site, css, settings
        self.parts = all_parts() if parts is None else parts
        self.keys: list[int] = []
        self.name_pages: Counter[int] = Counter()
        """On how many pages a name occurs: a title, a part of one or a heading."""
        self.labels: dict[int, str] = {}
        """A readable name of an element, by its style."""
        self.learned: dict[str, Part] = {}
        """The sums of each part, in the order of files."""
        for kind in parts_named(self.parts - {LABELS}):
            self.learned[kind.NAME] = kind(settings and kind.READS and getattr(settings, kind.READS))

    def again(self) -> SiteSums:
        """Empty sums of the same site, learned in the same way."""
        made = SiteSums(self.site, self.parts, self.settings, css=self.css)
        for name, part in made.learned.items():
            part.like(self.learned[name])
        return made

    @property
    def pages(self) -> int:
        """How many pages were added."""
        return len(self.keys)

    def add(self, page: Page | PageTree) -> None:
        """Add one page."""
        if isinstance(page, PageTree):
            page = Page(page)
        self.keys.append(page.fingerprint)
        self.name_pages.update(names_of(page).tolist())
        if LABELS in self.parts:
            tree = page.tree
            for style, i in zip(*(found.tolist() for found in np.unique(tree.style, return_index=True)), strict=True):
                if style not in self.labels:
                    self.labels[style] = _label(tree, i)
        for part in self.learned.values():
            part.add(page)

    def add_evidence(self, key: int, evidence: PageEvidence) -> None:
        """Add a page for the part `blocks` alone; `key` is its `page_fingerprint`."""
        if self.parts != {BLOCKS}:
            raise ModelError("a page without its tree can be added to the part blocks only")
        assert evidence.names is not None
        self.keys.append(key)
        self.name_pages.update(evidence.names.tolist())
        self.blocks.add_evidence(evidence, key)

    @property
    def blocks(self) -> BlockPart:
        """The sums of the part `blocks`."""
        return cast("BlockPart", self.learned[BLOCKS])

    def page_keys(self) -> NDArray[np.uint64]:
        """Fingerprints of the pages, ascending."""
        return np.sort(np.array(self.keys, np.uint64))

    @classmethod
    def merge(cls, several: Iterable[SiteSums]) -> SiteSums:
        """Add up sums over disjoint pages of one site. Raises `ModelError` where they overlap."""
        given = list(several)
        if len({(one.site, one.parts) for one in given}) != 1:
            raise ModelError("only sums of one site with the same parts can be merged")
        if {True, False} <= {one.css for one in given}:
            raise ModelError(f"parts of the site {given[0].site} were learned with --css, others without; {SAME_CSS}")
        merged = given[-1].again()
        merged.keys = [key for one in given for key in one.keys]
        if shared := len(merged.keys) - len(set(merged.keys)):
            raise ModelError(
                f"parts of the site {merged.site} share pages ({shared:,}); each page may be learned once: "
                "learn all the pages together"
            )
        for one in given:
            merged.name_pages.update(one.name_pages)
            merged.labels |= one.labels
            for name, part in merged.learned.items():
                part.merge(one.learned[name])
        return merged

    def to_bytes(self) -> bytes:
        """The sums as a model file; equal sums give equal bytes."""
        tables = {part.PREFIX: part.sums() for part in self.learned.values()}
        about = {"site": self.site, "parts": sorted(self.parts)} | css_note(self.css)
        return pack_site(FORMAT, about, self.page_keys(), Counts.of(self.name_pages), self.labels, tables)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the sums", settings: Any = None) -> Self:
        """Read sums; all arrays are checked. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            check_styles(file, name)
            page_keys, names = read_pages(file)
            sums = cls(site_name(file), frozenset(file.about["parts"]), settings, css=noted_css(file))
            sums.keys, sums.name_pages, sums.labels = page_keys.tolist(), names.counter(), read_labels(file)
            for part in sums.learned.values():
                if (columns := file.table(part.SUMS, part.PREFIX)) is not None:
                    part.take(part.read_sums(columns, page_keys))
        return sums

    def save(self, path: Path | str) -> None:
        """Write the sums to a file."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path | str, settings: Any = None) -> Self:
        """Read sums from a file."""
        return cls.from_bytes(FORMAT.load(path), str(path), settings)


def all_parts() -> frozenset[str]:
    """Everything that can be learned: ours, what other packages add, and names of elements for people."""
    return frozenset(plugins.names("part")) | {LABELS}


def _label(tree: PageTree, i: int) -> str:
    """Tag and canonical class names of a node, which its style determines, without terminal control characters."""
    classes = canonical_class(tree.attribute(i, "class") or "").split()
    label = ".".join([tree.tag_name(i), *classes])[:LONGEST_LABEL]
    return "".join(character if character.isprintable() else "?" for character in label)


# Files of sums and of models


def pack_site(
    format: ModelFormat,
    about: dict[str, Any],
    page_keys: Array,
    names: Counts,
    labels: dict[int, str],
    tables: Mapping[str, ArrayTable | None],
) -> bytes:
    """Sums or a model as bytes: pages, names, labels (styles ascending, one label per line), and tables by prefix.

    Counts of texts are first, and empty where they are not a part: files have always been so.
    """
    found = {prefix: table for prefix, table in tables.items() if table is not None}
    arrays = {"page_keys": page_keys, **found.pop("text_", Counts.empty()).columns("text_"), **names.columns("name_")}
    styles = sorted(labels)
    text = "\n".join(labels[style] for style in styles).encode("utf-8", "replace")
    arrays |= {"label_style": np.array(styles, np.uint64), "label_text": np.frombuffer(text, np.uint8)}
    for prefix, table in found.items():
        arrays |= table.columns(prefix)
    return format.pack(about | {"style_version": STYLE_VERSION}, arrays)


def read_pages(file: ModelFile) -> tuple[NDArray[np.uint64], Counts]:
    """The fingerprints of the pages of a file, and the counts of their names."""
    page_keys = file.typed({"page_keys": np.uint64})["page_keys"]
    return page_keys, Counts.checked(file.typed(Counts.dtypes(), "name_"))


def css_note(css: bool | None) -> dict[str, Any]:
    """What a file says about the styles of its pages: whether they have the rules of style sheets, if that is known."""
    return {} if css is None else {"css": css}


def noted_css(file: ModelFile) -> bool | None:
    """Whether a file was learned with `ParseLimits.css`; None for older files, which do not say."""
    css = file.about.get("css")
    if not isinstance(css, bool | None):
        raise ValueError("it does not say whether style sheets were read")
    return css


def check_styles(file: ModelFile, name: str) -> None:
    """`ModelError` for a file whose style hashes were made by another version of `markup`."""
    version = file.about.get("style_version")
    if version != STYLE_VERSION:
        raise ModelError(
            f"{name} was learned with styles of version {version}, this webwinnow has {STYLE_VERSION}; "
            "learn the site again"
        )


def site_name(file: ModelFile) -> str:
    """The site of a file."""
    if not isinstance(site := file.about["site"], str):
        raise ValueError("its site has no name")
    return site


def read_labels(file: ModelFile) -> dict[int, str]:
    """The labels that `pack_site` stored."""
    styles, text = file.typed(LABEL_DTYPES).values()
    texts = bytes(text).decode("utf-8", "replace").split("\n") if len(styles) else []
    if len(texts) != len(styles):
        raise ValueError("its labels do not fit together")
    return dict(zip(styles.tolist(), texts, strict=True))
