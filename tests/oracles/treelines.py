"""Trees as lines of depth and text, as html5lib's tests write them: of those tests, of `HtmlTree` and of turbohtml.

There are no comments and document types, which `HtmlTree` leaves out. A template's contents are its children. Names are
in lower case, and an attribute's name is as in the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import turbohtml

from webwinnow.page._htmltree import HtmlTree
from webwinnow.page.parsing import DEFAULT_LIMITS

HTML5LIB = sorted(Path(__file__).parents[1].joinpath("html5lib").glob("*.dat"))
_SECTION = re.compile(r"^#(data|errors|new-errors|document-fragment|script-off|script-on|document)\n", re.MULTILINE)
_LINE = re.compile(r"^\| ( *)(.*?)(?=\n\| |\Z)", re.MULTILINE | re.DOTALL)
_NO_NODE = ("<!-- ", "<!DOCTYPE ", "<?")


def cases(path: Path) -> Iterator[tuple[str, str]]:
    """The page and the expected tree of each test of a file that is a whole document and runs no scripts."""
    for test in re.split(r"\n\n(?=#data\n)", path.read_bytes().decode().rstrip("\n")):
        parts = _SECTION.split(test)
        sections = dict(zip(parts[1::2], parts[2::2], strict=True))
        if "document-fragment" not in sections and "script-on" not in sections:
            yield sections["data"].removesuffix("\n"), sections["document"]


def expected(document: str) -> list[tuple[int, str]]:
    """The lines of a tree that html5lib's tests expect."""
    lines: list[tuple[int, str]] = []
    templates: list[int] = []
    for indent, line in _LINE.findall(document):
        depth = len(indent) // 2
        while templates and depth <= templates[-1]:
            templates.pop()
        if line == "content":
            templates.append(depth)
        elif line.startswith('"'):
            lines.append((depth - len(templates), line))
        elif not line.startswith(_NO_NODE):
            name, equals, value = line.partition("=")
            name = name.lower().replace(" ", ":") if equals else name.lower()
            lines.append((depth - len(templates), name + equals + value))
    return joined(lines)


def built(page: bytes) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    depths = {0: -1}
    for node, parent, namespace, name, attributes, text in HtmlTree(
        page, DEFAULT_LIMITS.max_nodes, DEFAULT_LIMITS.max_attributes
    ).nodes():
        depth = depths[node] = depths[parent] + 1
        if name:
            lines.append((depth, f"<{name}>" if namespace == "html" else f"<{namespace} {name}>"))
            lines += ((depth + 1, f'{key}="{value}"') for key, value in attributes.items())
        else:
            lines.append((depth, f'"{text}"'))
    return joined(lines)


def joined(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Make one text of texts between which there was a comment, and sort the attributes of an element."""
    found: list[tuple[int, str]] = []
    for is_attribute, group in groupby(lines, lambda line: line[1][0] not in '<"'):
        for depth, line in sorted(group) if is_attribute else group:
            if found and line[0] == '"' == found[-1][1][0] and depth == found[-1][0]:
                line = found.pop()[1][:-1] + line[1:]  # noqa: PLW2901
            found.append((depth, line))
    return found


def built_by_turbohtml(page: str) -> list[tuple[int, str]]:
    """The lines of turbohtml's tree."""
    lines: list[tuple[int, str]] = []
    document = turbohtml.parse(page, positions=False, allow_declarative_shadow_roots=False)
    around: list[tuple[int, turbohtml.Node]] = [(0, child) for child in reversed(document.children)]
    while around:
        depth, node = around.pop()
        if isinstance(node, turbohtml.Text):
            lines.append((depth, f'"{node.data}"'))
        elif isinstance(node, turbohtml.Element):
            namespace = {turbohtml.Namespace.SVG: "svg ", turbohtml.Namespace.MATHML: "math "}.get(node.namespace, "")
            lines.append((depth, f"<{namespace}{node.tag.lower()}>"))
            lines += ((depth + 1, f'{name.lower()}="{node.attr(name) or ""}"') for name in node.attrs)
        inside = depth if isinstance(node, turbohtml.DocumentFragment) else depth + 1
        around += ((inside, child) for child in reversed(node.children))
    return joined(lines)
