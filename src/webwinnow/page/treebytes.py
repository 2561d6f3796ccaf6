"""A `PageTree` as bytes and back, for the spool between learning and cleaning: arrays and a JSON head, compressed.

The spool is private to a run, but a tree read back is still checked: sizes, offsets and indices must fit together.
"""

from __future__ import annotations

import struct
import threading
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from webwinnow.errors import InputError, ModelError
from webwinnow.page._treebytes import is_sound, pack_numbers, unpack_numbers
from webwinnow.page.layout import PageLayout
from webwinnow.page.markup import ATTRIBUTES, CUSTOM_TAG, STYLE_VERSION, TAGS
from webwinnow.page.tree import Head, PageTree
from webwinnow.storage.encoding import from_json, to_json

MAGIC = b"wwt2"
ZSTD_LEVEL = 1
"""A page of `pages-wcxb` packs to 25.6 KB, at level 3 to 24.4 KB in 1.3 times the time."""
LARGEST_TREE = 1 << 31
"""Bytes of an unpacked tree; far above what the limits of parsing allow."""

_PLAIN_COLUMNS: dict[str, np.dtype[Any]] = {
    "style": np.dtype("<u8"),
    "shape": np.dtype("<u8"),
    "tag": np.dtype("<u2"),
    "flags": np.dtype("u1"),
    "attr_name": np.dtype("u1"),
}
_FROM_BEFORE, _FROM_PLACE, _FROM_COLUMN = range(3)
_NUMBERS = {
    "parent": _FROM_PLACE,
    "end": _FROM_PLACE,
    "text_start": _FROM_BEFORE,
    "text_end": _FROM_COLUMN,
    "run_start": _FROM_BEFORE,
    "run_owner": _FROM_BEFORE,
    "run_before": _FROM_BEFORE,
    "attr_node": _FROM_BEFORE,
    "attr_start": _FROM_BEFORE,
}
"""Columns of numbers, with what is subtracted from each so that it becomes small (`_treebytes`)."""
_BASES = list(_NUMBERS.values())
_PLAIN = ("url", "custom_tags", "encoding", "reason", "clipped")
_HEAD = ("title", "language", "base", "canonical", "metas", "json_ld")
_LENGTHS = struct.Struct("<4sIIIIQQ")


class _Zstd(threading.local):
    """The compressor and decompressor of a thread: making one takes as long as packing a small page."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_ZSTD = _Zstd()


def tree_to_bytes(tree: PageTree) -> bytes:
    """Pack a tree. The same tree gives the same bytes."""
    about = {name: getattr(tree, name) for name in _PLAIN} | {name: getattr(tree.head, name) for name in _HEAD}
    layout = b"" if tree.layout is None else tree.layout.to_bytes()
    about |= {"style_version": STYLE_VERSION} | ({"layout": len(layout)} if layout else {})
    head = to_json(about, surrogates="keep")
    text, attr_text = tree.text.encode("utf-8", "replace"), tree.attr_text.encode("utf-8", "replace")
    lengths = _LENGTHS.pack(MAGIC, len(tree), tree.run_count, len(tree.attr_node), len(head), len(text), len(attr_text))
    plain = [getattr(tree, name).astype(kind, copy=False).data for name, kind in _PLAIN_COLUMNS.items()]
    numbers = pack_numbers([getattr(tree, name) for name in _NUMBERS], _BASES)
    return _ZSTD.compressor.compress(b"".join([lengths, *plain, head, text, attr_text, numbers, layout]))


def tree_from_bytes(packed: bytes) -> PageTree:
    """Unpack a tree; its arrays are read-only. Raises `InputError` where it is damaged."""
    try:
        tree = _unpacked(_ZSTD.decompressor.decompress(packed, max_output_size=LARGEST_TREE))
    except (zstandard.ZstdError, ModelError, ValueError, OverflowError, struct.error, KeyError, TypeError) as error:
        raise InputError(f"a stored page tree is damaged ({error}); run again without --resume") from None
    if not is_sound(tree, len(TAGS), CUSTOM_TAG, len(ATTRIBUTES)):
        raise InputError("a stored page tree is damaged: its parts do not fit together; run again without --resume")
    return tree


def _unpacked(data: bytes) -> PageTree:
    magic, nodes, runs, attributes, head_size, text_size, attr_size = _LENGTHS.unpack_from(data)
    if magic != MAGIC:
        raise ValueError("not a page tree")
    at = _LENGTHS.size
    columns: dict[str, NDArray[Any]] = {}
    for name, kind in _PLAIN_COLUMNS.items():
        columns[name] = np.frombuffer(data, kind, attributes if name == "attr_name" else nodes, at)
        at += columns[name].nbytes
    head = from_json(data[at : at + head_size])
    if head["style_version"] != STYLE_VERSION:
        raise ValueError(f"styles of version {head['style_version']}, this program has {STYLE_VERSION}")
    at += head_size
    ends = at + text_size, at + text_size + attr_size
    counts = [nodes] * 4 + [runs + 1, runs, runs, attributes, attributes + 1]
    numbers, end = unpack_numbers(data, ends[1], counts, _BASES)
    columns |= dict(zip(_NUMBERS, numbers, strict=True))
    if end + head.get("layout", 0) != len(data):
        raise ValueError("wrong length")
    layout = PageLayout.from_bytes(data[end:]) if end < len(data) else None
    if layout is not None and len(layout) != nodes:
        raise ValueError("a layout of another page")
    return PageTree(
        url=head["url"],
        head=Head(
            **{name: head[name] for name in _HEAD[:4]},
            metas=tuple((name, content) for name, content in head["metas"]),
            json_ld=tuple(head["json_ld"]),
        ),
        text=data[at : ends[0]].decode("utf-8"),
        attr_text=data[ends[0] : ends[1]].decode("utf-8"),
        custom_tags=tuple(head["custom_tags"]),
        encoding=head["encoding"],
        reason=head["reason"],
        clipped=tuple(head["clipped"]),
        layout=layout,
        **columns,
    )
