"""`SiteModel`: what was learned of one site. Saved as arrays and JSON, never as code.

Today it knows how many of the learned pages say each text; the site style tree joins it with step 3.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.blocks import Blocks, cut
from webwinnow.errors import ModelError
from webwinnow.pagetree import PageTree

__all__ = ["FORMAT_VERSION", "SiteModel", "block_keys"]

FORMAT_VERSION = 1
LARGEST_COLUMN = 400_000_000
"""Bytes of one array; no true model holds more: above, a file is damaged or means harm."""

_NO_WORD = re.compile(r"[^\w\n]+")


def block_keys(blocks: Blocks) -> NDArray[np.uint64]:
    """For each block 64 bits of what it says: its words in lower case or, where it has none, its signs."""
    texts = blocks.texts()
    worded = _NO_WORD.sub(" ", "\n".join(texts).lower()).split("\n") if texts else []
    return np.fromiter(
        (
            xxh3_64_intdigest((said.strip() or text).encode("utf-8", "replace"))
            for said, text in zip(worded, texts, strict=True)
        ),
        np.uint64,
        len(texts),
    )


def _column(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array of a model file; its size is looked at before it is unpacked."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.file_size > LARGEST_COLUMN:
        raise ValueError(f"{name} has {entry.file_size:,} bytes")
    found: NDArray[Any] = np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteModel:
    """What was learned of one site from `pages` pages.

    `text_key` (ascending) and `text_pages` tell, for each text that more than one page says, how many do.
    """

    site: str
    pages: int
    text_key: NDArray[np.uint64]
    text_pages: NDArray[np.int32]

    @classmethod
    def learn(cls, trees: Iterable[PageTree], site: str = "") -> SiteModel:
        """Learn from the pages of one site (choose them first: `choose_pages`)."""
        said: Counter[int] = Counter()
        pages = 0
        for tree in trees:
            pages += 1
            said.update(np.unique(block_keys(cut(tree))).tolist())
        repeated = sorted((key, count) for key, count in said.items() if count > 1)
        return cls(
            site=site,
            pages=pages,
            text_key=np.array([key for key, _ in repeated], np.uint64),
            text_pages=np.array([count for _, count in repeated], np.int32),
        )

    def pages_that_say(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """On how many learned pages each text stands; 1 for a text that was never seen twice."""
        if not len(self.text_key):
            return np.ones(len(keys), np.int32)
        at = np.minimum(np.searchsorted(self.text_key, keys), len(self.text_key) - 1)
        return np.where(self.text_key[at] == keys, self.text_pages[at], 1).astype(np.int32)

    def to_bytes(self) -> bytes:
        """The model as a `.npz` archive; the same model gives the same bytes."""
        about = {"format_version": FORMAT_VERSION, "site": self.site, "pages": self.pages}
        out = io.BytesIO()
        columns: dict[str, NDArray[Any]] = {
            "about": np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8),
            "text_key": self.text_key,
            "text_pages": self.text_pages,
        }
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, column in columns.items():
                entry = io.BytesIO()
                np.save(entry, column, allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue(), zipfile.ZIP_DEFLATED)
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> SiteModel:
        """Read a model back; everything in it is checked. Raises `ModelError`."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                about = json.loads(bytes(_column(archive, "about")))
                keys, counts = _column(archive, "text_key"), _column(archive, "text_pages")
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, RecursionError) as error:
            raise ModelError(f"{name} is not a webwinnow model or is damaged ({error}); learn the site again") from None
        version = about.get("format_version") if isinstance(about, dict) else None
        if not isinstance(version, int) or version < 1:
            raise ModelError(f"{name} is not a webwinnow model: it has no format version")
        if version > FORMAT_VERSION:
            raise ModelError(
                f"{name} has format {version}, this webwinnow reads up to {FORMAT_VERSION}; upgrade webwinnow"
            )
        site, pages = about.get("site"), about.get("pages")
        sound = (
            isinstance(site, str)
            and isinstance(pages, int)
            and pages >= 0
            and keys.dtype == np.uint64
            and counts.dtype == np.int32
            and keys.ndim == counts.ndim == 1
            and len(keys) == len(counts)
            and bool(np.all(keys[1:] > keys[:-1]))
            and bool(np.all((counts > 1) & (counts <= pages)))
        )
        if not sound:
            raise ModelError(f"{name} is damaged: its parts do not fit together; learn the site again")
        return cls(site=site, pages=pages, text_key=keys, text_pages=counts)

    def save(self, path: Path) -> None:
        """Write the model to a file."""
        path.write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> SiteModel:
        """Read a model from a file."""
        return cls.from_bytes(path.read_bytes(), str(path))
