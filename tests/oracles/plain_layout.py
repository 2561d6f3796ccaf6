"""`webwinnow.page._layout` in plain Python: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from webwinnow.errors import PageRefused
from webwinnow.page._htmltree import HtmlTree
from webwinnow.page.markup import (
    ADDRESS_ATTRIBUTES,
    ATTRIBUTE_CODE,
    CUSTOM_TAG,
    DISPLAY_ATTRIBUTES,
    DROPPED_TAGS,
    HIDDEN,
    INHERITED_FLAGS,
    MAX_TAG,
    MAX_VALUE,
    NOSCRIPT,
    OPAQUE_TAGS,
    PREFORMATTED,
    PREFORMATTED_TAGS,
    TAG_CODE,
    UNCLOSED_TAGS,
    is_hidden,
    is_shadow_root,
    shape_hash,
    style_hash,
)

Attributes = list[tuple[str, str]]


def lay_out(tree: HtmlTree, max_nodes: int, max_depth: int, max_attributes: int) -> dict[str, Any]:
    """The columns of a `PageTree` and `frameset`, `clipped_depth`, `clipped_attributes`, from the tree of a page."""
    layout = _Layout(max_nodes, max_depth, max_attributes)
    around: list[tuple[int, str]] = []
    for node, parent, _, name, attributes, text in tree.nodes():
        while around and around[-1][0] != parent:
            layout.close(around.pop()[1])
        if name:
            layout.open(name, list(attributes.items()))
            around.append((node, name))
        else:
            layout.characters(text)
    while around:
        layout.close(around.pop()[1])
    return layout.columns()


class _Layout:
    def __init__(self, max_nodes: int, max_depth: int, max_attributes: int) -> None:
        self.max_nodes, self.max_depth, self.max_attributes = max_nodes, max_depth, max_attributes
        self.tag, self.parent, self.end, self.flags = [0], [-1], [0], [0]
        self.style, self.shape = [style_hash("#root", ())], [shape_hash("#root", "")]
        self.text_start, self.text_end = [0], [0]
        self.pieces: list[str] = []
        self.length = 0
        self.run_start: list[int] = []
        self.run_owner: list[int] = []
        self.run_before: list[int] = []
        self.attr_node: list[int] = []
        self.attr_name: list[int] = []
        self.attr_pieces: list[str] = []
        self.custom: dict[str, int] = {}
        self.frameset = self.clipped_depth = self.clipped_attributes = False
        self.open_tags: list[tuple[str, int]] = []
        """Tag and node of each open element; node -1 for an element that has no node."""
        self.current = 0
        self.in_body = False
        self.skip = 0
        """Number of open elements from the outermost hidden one on, itself included; 0 for none."""

    def open(self, tag: str, attributes: Attributes) -> None:
        void = tag in UNCLOSED_TAGS
        if self.skip:
            if not void:
                self.open_tags.append((tag, -1))
                self.skip += 1
            return
        if not self.in_body:
            self.frameset |= tag == "frameset"
            if tag != "body":
                return
            self.in_body = True
        if tag in DROPPED_TAGS and not is_shadow_root(tag, attributes):
            if not void:
                self.open_tags.append((tag, -1))
                self.skip = 1
            return
        if len(self.open_tags) >= self.max_depth:
            self.clipped_depth = True
            node = -1
            if not void and not self.flags[self.current] & HIDDEN and is_hidden(tag, attributes):
                self.skip = 1
        else:
            node = self._add(tag, attributes)
        if void:
            if node >= 0:
                self.end[node], self.text_end[node] = len(self.tag), self.length
            return
        self.open_tags.append((tag, node))
        if node >= 0:
            self.current = node
        if tag in OPAQUE_TAGS:
            self.skip = 1

    def close(self, tag: str) -> None:
        if not self.open_tags or self.open_tags[-1][0] != tag:
            return
        _, node = self.open_tags.pop()
        if self.skip:
            self.skip -= 1
        if node >= 0:
            self.end[node], self.text_end[node] = len(self.tag), self.length
            self.current = self.parent[node]
            self.in_body = node != 1

    def characters(self, text: str) -> None:
        if self.skip or not self.in_body:
            return
        before = len(self.tag)
        if not (self.run_owner and self.run_owner[-1] == self.current and self.run_before[-1] == before):
            self.run_start.append(self.length)
            self.run_owner.append(self.current)
            self.run_before.append(before)
        self.pieces.append(text)
        self.length += len(text)

    def _add(self, tag: str, attributes: Attributes) -> int:
        node = len(self.tag)
        if node >= self.max_nodes:
            raise PageRefused(f"the page has more than {self.max_nodes:,} elements; raise the limit to read it")
        if len(attributes) > self.max_attributes:
            self.clipped_attributes = True
            attributes = attributes[: self.max_attributes]
        code = TAG_CODE.get(tag)
        if code is None:
            code = CUSTOM_TAG + self.custom.setdefault(tag[:MAX_TAG], len(self.custom))
            if code > 0xFFFF:
                raise PageRefused(f"the page has more than {0xFFFF - CUSTOM_TAG:,} tag names of its own")
        flags = self.flags[self.current] & INHERITED_FLAGS
        if tag == "noscript":
            flags |= NOSCRIPT
        elif tag in PREFORMATTED_TAGS:
            flags |= PREFORMATTED
        if node > 1 and is_hidden(tag, attributes):
            flags |= HIDDEN
        self.tag.append(code)
        self.parent.append(self.current)
        self.end.append(0)
        self.flags.append(flags)
        self.text_start.append(self.length)
        self.text_end.append(0)
        display = [(name, value) for name, value in attributes if name in DISPLAY_ATTRIBUTES]
        self.style.append(style_hash(tag, display))
        self.shape.append(shape_hash(tag, dict(display).get("role", "")))
        for name, value in attributes:
            if name in ATTRIBUTE_CODE:
                self.attr_node.append(node)
                self.attr_name.append(ATTRIBUTE_CODE[name])
                too_long = len(value) > MAX_VALUE
                self.attr_pieces.append(
                    value if not too_long else "" if name in ADDRESS_ATTRIBUTES else value[:MAX_VALUE]
                )
        return node

    def columns(self) -> dict[str, Any]:
        self.end[0], self.text_end[0] = len(self.tag), self.length
        return {
            "tag": np.array(self.tag, np.uint16),
            "parent": np.array(self.parent, np.int32),
            "end": np.array(self.end, np.int32),
            "style": np.array(self.style, np.uint64),
            "shape": np.array(self.shape, np.uint64),
            "flags": np.array(self.flags, np.uint8),
            "text": "".join(self.pieces),
            "text_start": np.array(self.text_start, np.int32),
            "text_end": np.array(self.text_end, np.int32),
            "run_start": np.array([*self.run_start, self.length], np.int32),
            "run_owner": np.array(self.run_owner, np.int32),
            "run_before": np.array(self.run_before, np.int32),
            "attr_node": np.array(self.attr_node, np.int32),
            "attr_name": np.array(self.attr_name, np.uint8),
            "attr_start": np.cumsum([0, *map(len, self.attr_pieces)], dtype=np.int32),
            "attr_text": "".join(self.attr_pieces),
            "custom_tags": tuple(self.custom),
            "frameset": self.frameset,
            "clipped_depth": self.clipped_depth,
            "clipped_attributes": self.clipped_attributes,
        }
