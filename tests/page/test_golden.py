"""Golden trees of a dozen odd pages: a change of the parser, or of our code, shows as a readable difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from webwinnow.page.markup import HIDDEN, NOSCRIPT, PREFORMATTED
from webwinnow.page.metadata import metadata
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree

GOLDEN = Path(__file__).parents[1] / "golden"
PAGES = sorted(GOLDEN.glob("*.html"))
FLAGS = ((HIDDEN, "H"), (NOSCRIPT, "N"), (PREFORMATTED, "P"))


def dump(tree: PageTree) -> str:
    """A readable tree: metadata of the page, then one line per node and run, in page order."""
    head = tree.head
    lines = [
        f"url        {tree.url}",
        f"encoding   {tree.encoding}",
        f"reason     {tree.reason}",
        f"clipped    {tree.clipped}",
        f"title      {head.title!r}",
        f"language   {head.language!r}",
        f"base       {head.base}",
        f"canonical  {head.canonical}",
        f"about      {metadata(tree)}",
        f"robots     {sorted(head.robots)}",
        f"open graph {head.open_graph}",
        f"json-ld    {head.json_ld_types}",
        f"metas      {head.metas}",
        "",
        "node  style             shape             flags",
    ]
    depth = [0] * len(tree)
    run = 0
    for i in range(len(tree) + 1):
        while run < tree.run_count and tree.run_before[run] == i:
            lines.append(" " * 50 + "  " * depth[tree.run_owner[run]] + repr(tree.run(run)))
            run += 1
        if i < len(tree):
            depth[i] = depth[tree.parent[i]] + 1 if i else 0
            flags = "".join(sign if tree.flags[i] & flag else "-" for flag, sign in FLAGS)
            attributes = "".join(f" {name}={value!r}" for name, value in tree.attributes(i).items())
            name = "  " * depth[i] + tree.tag_name(i)
            lines.append(f"{i:4}  {tree.style[i]:016x}  {tree.shape[i]:016x}  {flags}   {name}{attributes}")
    return "\n".join(lines) + "\n"


def test_there_are_a_dozen_golden_pages_each_with_its_tree():
    assert len(PAGES) >= 12
    assert {page.stem for page in PAGES} == {tree.stem for tree in GOLDEN.glob("*.tree")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_golden_page_gives_its_golden_tree(page: Path, request: pytest.FixtureRequest, assert_consistent):
    tree = parse(page.read_bytes(), url=f"https://golden.example/pages/{page.name}")
    assert_consistent(tree)
    golden = page.with_suffix(".tree")
    dumped = dump(tree)
    if request.config.getoption("--update-golden"):
        golden.write_text(dumped, encoding="utf-8", newline="\n")
    assert dumped == golden.read_text(encoding="utf-8"), (
        f"the tree of {page.name} is another than in {golden.name}. If the new one is right, write it down with "
        "`pytest tests/test_golden.py --update-golden`, read the difference in git, and raise STYLE_VERSION if a "
        "style changed."
    )
