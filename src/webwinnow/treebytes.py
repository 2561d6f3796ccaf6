"""A `PageTree` as bytes and back, for the spool between learning and cleaning: arrays and a JSON head, compressed.

The spool is private to a run, but a tree read back is still checked: sizes, offsets and indices must fit together.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.markup import ATTRIBUTES, CUSTOM_TAG, STYLE_VERSION, TAGS
from webwinnow.pagetree import Head, PageTree

MAGIC = b"wwt1"
ZSTD_LEVEL = 1
"""A page of `pages-wcxb` packs to 26.5 KB, at level 3 to 25.4 KB in 1.4 times the time."""
LARGEST_TREE = 1 << 31
"""Bytes of an unpacked tree; far above what the limits of parsing allow."""

_NODE_COLUMNS: dict[str, np.dtype[Any]] = {
    "style": np.dtype("<u8"),
    "shape": np.dtype("<u8"),
    "parent": np.dtype("<i4"),
    "end": np.dtype("<i4"),
    "text_start": np.dtype("<i4"),
    "text_end": np.dtype("<i4"),
    "tag": np.dtype("<u2"),
    "flags": np.dtype("u1"),
}
_RUN_COLUMNS: dict[str, np.dtype[Any]] = {
    "run_start": np.dtype("<i4"),
    "run_owner": np.dtype("<i4"),
    "run_before": np.dtype("<i4"),
}
_ATTR_COLUMNS: dict[str, np.dtype[Any]] = {
    "attr_node": np.dtype("<i4"),
    "attr_start": np.dtype("<i4"),
    "attr_name": np.dtype("u1"),
}
_COLUMNS: dict[str, np.dtype[Any]] = _NODE_COLUMNS | _RUN_COLUMNS | _ATTR_COLUMNS
_RISING = frozenset(("text_start", "run_start", "run_owner", "run_before", "attr_node", "attr_start"))
_POINTING = frozenset(("parent", "end"))
_PLAIN = ("url", "custom_tags", "encoding", "reason", "clipped")
_HEAD = ("title", "language", "base", "canonical", "metas", "json_ld")
_LENGTHS = struct.Struct("<4sIIIIQQ")


def tree_to_bytes(tree: PageTree) -> bytes:
    """Pack a tree. The same tree gives the same bytes."""
    about = {name: getattr(tree, name) for name in _PLAIN} | {name: getattr(tree.head, name) for name in _HEAD}
    head = json.dumps(about | {"style_version": STYLE_VERSION}).encode()
    text, attr_text = tree.text.encode("utf-8", "replace"), tree.attr_text.encode("utf-8", "replace")
    lengths = _LENGTHS.pack(MAGIC, len(tree), tree.run_count, len(tree.attr_node), len(head), len(text), len(attr_text))
    columns = [_steps(tree, name).astype(kind, copy=False).tobytes() for name, kind in _COLUMNS.items()]
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(b"".join([lengths, *columns, head, text, attr_text]))


def tree_from_bytes(packed: bytes) -> PageTree:
    """Unpack a tree; its arrays are read-only. Raises `InputError` where it is damaged."""
    try:
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=LARGEST_TREE)
        tree = _unpacked(data)
    except (zstandard.ZstdError, ValueError, struct.error, KeyError, TypeError) as error:
        raise InputError(f"a stored page tree is damaged ({error}); run again without --resume") from None
    if not _is_sound(tree):
        raise InputError("a stored page tree is damaged: its parts do not fit together; run again without --resume")
    return tree


def _steps(tree: PageTree, name: str) -> NDArray[Any]:
    """A column as it is stored: rising values as differences, node numbers as distances, which compress well."""
    column: NDArray[Any] = getattr(tree, name)
    if name in _RISING:
        return np.diff(column, prepend=column.dtype.type(0))
    if name == "text_end":
        return column - tree.text_start
    return column - np.arange(len(column), dtype=column.dtype) if name in _POINTING else column


def _from_steps(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    for name, steps in columns.items():
        if name in _RISING:
            columns[name] = np.cumsum(steps, dtype=steps.dtype)
        elif name in _POINTING:
            columns[name] = steps + np.arange(len(steps), dtype=steps.dtype)
    columns["text_end"] = columns["text_end"] + columns["text_start"]
    for column in columns.values():
        column.setflags(write=False)
    return columns


def _unpacked(data: bytes) -> PageTree:
    magic, nodes, runs, attributes, head_size, text_size, attr_size = _LENGTHS.unpack_from(data)
    if magic != MAGIC:
        raise ValueError("not a page tree")
    counts = dict.fromkeys(_NODE_COLUMNS, nodes) | dict.fromkeys(_RUN_COLUMNS, runs)
    counts |= dict.fromkeys(_ATTR_COLUMNS, attributes) | {"run_start": runs + 1, "attr_start": attributes + 1}
    at = _LENGTHS.size
    columns: dict[str, NDArray[Any]] = {}
    for name, kind in _COLUMNS.items():
        columns[name] = np.frombuffer(data, kind, counts[name], at)
        at += counts[name] * kind.itemsize
    if at + head_size + text_size + attr_size != len(data):
        raise ValueError("wrong length")
    head = json.loads(data[at : at + head_size])
    if head["style_version"] != STYLE_VERSION:
        raise ValueError(f"styles of version {head['style_version']}, this program has {STYLE_VERSION}")
    at += head_size
    return PageTree(
        url=head["url"],
        head=Head(
            **{name: head[name] for name in _HEAD[:4]},
            metas=tuple((name, content) for name, content in head["metas"]),
            json_ld=tuple(head["json_ld"]),
        ),
        text=data[at : at + text_size].decode("utf-8"),
        attr_text=data[at + text_size :].decode("utf-8"),
        custom_tags=tuple(head["custom_tags"]),
        encoding=head["encoding"],
        reason=head["reason"],
        clipped=tuple(head["clipped"]),
        **_from_steps(columns),
    )


def _is_sound(tree: PageTree) -> bool:
    nodes = len(tree)
    own = np.arange(nodes)
    tags = tree.tag.astype(np.int64)
    return bool(
        nodes >= 1
        and tree.parent[0] == -1
        and np.all((tree.parent[1:] >= 0) & (tree.parent[1:] < own[1:]))
        and np.all((tree.end > own) & (tree.end <= nodes))
        and np.all((tags < len(TAGS)) | ((tags >= CUSTOM_TAG) & (tags < CUSTOM_TAG + len(tree.custom_tags))))
        and np.all((tree.text_start >= 0) & (tree.text_start <= tree.text_end) & (tree.text_end <= len(tree.text)))
        and _is_rising(tree.run_start, len(tree.text))
        and np.all((tree.run_owner >= 0) & (tree.run_owner < nodes))
        and np.all((tree.run_before >= 0) & (tree.run_before <= nodes))
        and np.all((tree.attr_node >= 0) & (tree.attr_node < nodes))
        and np.all(tree.attr_name < len(ATTRIBUTES))
        and _is_rising(tree.attr_start, len(tree.attr_text))
    )


def _is_rising(offsets: NDArray[np.int32], end: int) -> bool:
    return bool(offsets[0] == 0 and offsets[-1] == end and np.all(offsets[1:] >= offsets[:-1]))
