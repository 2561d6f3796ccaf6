"""`PageLayout`: where a browser drew each element of a page, and how: arrays beside the page's tree.

A rendered page's HTML gives each element of its body a number, the attribute `ww-box`, which is the element's row in
the layout. The number survives parsing, whatever the parser does to the tree; `PageLayout.at(tree)` returns the rows
in the order of the tree's nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.markup import BOX_ATTRIBUTE
from webwinnow.page.tree import PageTree
from webwinnow.storage.modelfile import ArrayTable, ModelFormat

POSITIONS: Final = ("static", "relative", "absolute", "fixed", "sticky")
DISPLAYS: Final = tuple("none inline block inline-block list-item flex grid table table-part other".split())
UNKNOWN_COVER: Final = 255
MOST_PICTURE: Final = 1 << 20
"""Bytes of a screenshot; a larger one is not stored."""
PICTURE_SCALE: Final = 0.5
_PICTURE: Final = "picture"
_DISPLAY_PROPERTIES: Final = ("font_size", "font_weight", "colour", "background", "position", "display")
_PRIME: Final = np.uint64(0x9E3779B185EBCA87)
"""The first prime of xxHash64."""

VISIBLE, OWN_TEXT, BACKGROUND_IMAGE, BORDER, ITALIC, UNDERLINED, FLOATED, CLIPPING = (1 << bit for bit in range(8))
"""Bits of `PageLayout.flags`: visible (no `display: none`, `visibility: hidden` or `opacity: 0`, its own or an
ancestor's), has text of its own, a background image, a border, italic, underlined, floated, clips what overflows."""


@dataclass(frozen=True, slots=True, eq=False)
class PageLayout(ArrayTable):
    """One row per element of the body, in page order; row 0 is the body. Lengths are CSS pixels, colours 0xRRGGBBAA.

    - `left`, `top`, `width`, `height`: the border box, from the top left corner of the page, scrolled to the top.
    - `flags`: see `VISIBLE` and the others.
    - `font_size` in quarters of a pixel, `font_weight` from 100 to 900.
    - `colour` of the text and `background`, the element's own: alpha 0 is transparent.
    - `position`, `display`: indexes into `POSITIONS` and `DISPLAYS`, the element's own.
    - `covered`: percentage of sample points at which another element is on top; `UNKNOWN_COVER` where none was taken.

    `viewport` is the size of the window, `page_size` that of everything that can be scrolled to. `picture` is a
    screenshot of the page in half size, a WebP image, from the top as far as it was taken; empty if it was not taken.
    """

    left: NDArray[np.int32]
    top: NDArray[np.int32]
    width: NDArray[np.int32]
    height: NDArray[np.int32]
    flags: NDArray[np.uint8]
    font_size: NDArray[np.uint16]
    font_weight: NDArray[np.uint16]
    colour: NDArray[np.uint32]
    background: NDArray[np.uint32]
    position: NDArray[np.uint8]
    display: NDArray[np.uint8]
    covered: NDArray[np.uint8]
    viewport: tuple[int, int]
    page_size: tuple[int, int]
    picture: bytes = b""

    file_format: ClassVar = ModelFormat("page layout", 1, "render the page again")

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of_columns(
        cls, columns: dict[str, list[int]], viewport: list[int], page_size: list[int], picture: bytes = b""
    ) -> Self:
        """Make a layout of lists of numbers; those out of range are clipped. `ValueError` if they do not fit together.

        They come from a hostile page's process.
        """
        arrays: dict[str, Any] = {}
        for name, dtype in cls.dtypes().items():
            limits = np.iinfo(dtype)
            column = np.asarray(columns[name], dtype=np.float64)
            arrays[name] = np.clip(np.nan_to_num(column), limits.min, limits.max).astype(dtype)
        return cls._checked(arrays, viewport, page_size, picture)

    @classmethod
    def _checked(cls, arrays: dict[str, Any], viewport: list[int], page_size: list[int], picture: bytes) -> Self:
        if len({len(array) for array in arrays.values()}) != 1 or not len(arrays["left"]):
            raise ValueError("its columns have different lengths or none")
        if (arrays["position"] >= len(POSITIONS)).any() or (arrays["display"] >= len(DISPLAYS)).any():
            raise ValueError("it has an unknown position or display")
        sizes = [(int(width), int(height)) for width, height in (viewport, page_size)]
        if picture and not (picture[:4] == b"RIFF" and picture[8:12] == b"WEBP" and len(picture) <= MOST_PICTURE):
            raise ValueError("its picture is no WebP image or too large")
        return cls(**arrays, viewport=sizes[0], page_size=sizes[1], picture=picture)

    def to_bytes(self) -> bytes:
        """Pack the layout; equal layouts give equal bytes."""
        sizes = {"viewport": self.viewport, "page_size": self.page_size}
        picture = {_PICTURE: np.frombuffer(self.picture, np.uint8)} if self.picture else {}
        return self.file_format.pack(sizes, self.columns() | picture)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the layout") -> Self:
        """Read the result of `to_bytes`; everything is validated. Raises `ModelError`."""
        with cls.file_format.reading(data, name) as file:
            picture = file.typed({_PICTURE: np.uint8})[_PICTURE].tobytes() if _PICTURE in file.arrays else b""
            return cls._checked(file.typed(cls.dtypes()), file.about["viewport"], file.about["page_size"], picture)

    def rows(self, tree: PageTree) -> NDArray[np.int32]:
        """Return the row of each node of a tree; -1 for a node that the browser did not have, such as the root."""
        found = np.full(len(tree), -1, np.int32)
        for node, written in zip(*tree.values(BOX_ATTRIBUTE), strict=True):
            if written.isascii() and written.isdigit() and len(written) < 10 and int(written) < len(self):
                found[node] = int(written)
        return found

    def at(self, tree: PageTree) -> Self:
        """Return the layout in the order of a tree's nodes. Nodes without a row are invisible and have no box."""
        rows = self.rows(tree)
        found = self.taken(rows)
        for name, column in found.columns().items():
            column[rows < 0] = UNKNOWN_COVER if name == "covered" else 0
        return found

    def styles(self, style: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the styles of a tree's nodes with font, colours, position and display as the browser computed them.

        Display attributes are whatever changes the look of an element (Yi and Liu 3.1), here by any style sheet.
        """
        mixed = style.copy()
        for name in _DISPLAY_PROPERTIES:
            mixed = (mixed ^ getattr(self, name).astype(np.uint64)) * _PRIME
            mixed ^= mixed >> np.uint64(29)
        mixed[self.font_size == 0] = style[self.font_size == 0]  # nodes without a row
        mixed.setflags(write=False)
        return mixed

    def taken(self, rows: NDArray[np.int32]) -> Self:
        """Return the layout with these rows, in their order."""
        arrays: dict[str, Any] = {name: column[rows] for name, column in self.columns().items()}
        return replace(self, **arrays)
