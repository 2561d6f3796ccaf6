"""Fixtures of the rendering tests: a slow, obvious reading of a masked page, and readers of the output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from webwinnow.page.markup import BLOCK_TAGS
from webwinnow.page.tree import PageTree

PARTING = BLOCK_TAGS | {"br"}


@pytest.fixture(scope="session")
def kept_text() -> Callable[..., str]:
    """The text of the kept runs in page order, with a blank wherever a block or a line break starts or ends."""

    def read(tree: PageTree, keep: np.ndarray, kept_runs: np.ndarray | None = None) -> str:
        said: list[str] = []

        def visit(i: int) -> None:
            gap = " " if tree.tag_name(i) in PARTING else ""
            said.append(gap)
            runs = {int(tree.run_before[r]): r for r in np.flatnonzero(tree.run_owner == i).tolist()}
            child = i + 1
            while True:
                if child in runs and keep[i] and (kept_runs is None or kept_runs[runs[child]]):
                    said.append(tree.run(runs[child]))
                if child >= tree.end[i]:
                    break
                visit(child)
                child = int(tree.end[child])
            said.append(gap)

        visit(0)
        return "".join(said)

    return read


@dataclass
class Shown:
    """The text that a reader of Markdown sees, and the links and images."""

    text: str = ""
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    """Types of all tokens, in order."""
    references: dict[str, object] = field(default_factory=dict)


@pytest.fixture(scope="session")
def read_markdown() -> Callable[[str], Shown]:
    """Read GitHub-flavoured Markdown as a viewer that trusts every link and passes HTML through."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    reader.validateLink = lambda url: True

    def gather(tokens: list[Token], shown: Shown) -> None:
        for token in tokens:
            shown.kinds.append(token.type)
            if token.type == "link_open":
                shown.links.append(str(token.attrs["href"]))
            elif token.type == "image":
                shown.images.append(str(token.attrs["src"]))
            elif token.type == "inline":
                gather(token.children or [], shown)
                shown.text += "\n"
            elif token.type in ("softbreak", "hardbreak"):
                shown.text += "\n"
            elif token.type in ("text", "code_inline", "fence", "code_block", "html_inline", "html_block"):
                shown.text += token.content

    def read(markdown: str) -> Shown:
        shown = Shown()
        environment: dict[str, dict[str, object]] = {}
        gather(reader.parse(markdown, environment), shown)
        shown.references = environment.get("references", {})
        return shown

    return read


class BodyReader(HTMLParser):
    """The text inside BODY as written, with a blank at the tags that split it."""

    def __init__(self) -> None:
        super().__init__()
        self.in_body = False
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_body |= tag == "body"
        self.said.append(" " if tag in PARTING else "")

    def handle_endtag(self, tag: str) -> None:
        self.said.append(" " if tag in PARTING else "")

    def handle_data(self, data: str) -> None:
        if self.in_body:
            self.said.append(data)


@pytest.fixture(scope="session")
def read_html() -> Callable[[str], str]:
    """Read the text of an HTML document tag by tag, unchanged."""

    def read(document: str) -> str:
        reader = BodyReader()
        reader.feed(document)
        reader.close()
        return "".join(reader.said)

    return read


BLOCKS = """
div p section ul ol li blockquote h1 h3 pre table tr td th dl dt dd figure details textarea caption select option
listing form fieldset legend marquee noscript main nav button label iframe
"""
INLINES = "b i em strong code s del a span kbd sub q cite my-word font"
VOIDS = "<br> <hr> <img> <input> <wbr>"


@pytest.fixture(scope="session")
def pages() -> Callable[[st.SearchStrategy[str]], st.SearchStrategy[str]]:
    """Pages with nested elements around texts of the given kind (already escaped)."""

    def made_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        blocks, inlines = st.sampled_from(BLOCKS.split()), st.sampled_from(INLINES.split())

        def around(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
            return st.builds(
                lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>", blocks | inlines, st.lists(inside, max_size=4)
            )

        return st.lists(st.recursive(texts | st.sampled_from(VOIDS.split()), around, max_leaves=15), max_size=5).map(
            "".join
        )

    return made_of
