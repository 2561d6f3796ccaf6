"""Shared fixtures: the invariants of a tree, random HTML, and the option to re-create golden trees.

Tests are imported one by one (`--import-mode=importlib`), so shared code is in fixtures.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crawlfiles import generated_pages, jsonl
from hypothesis import settings
from hypothesis import strategies as st
from warmcommand import run_command

from webwinnow.page.markup import (
    ATTRIBUTES,
    CUSTOM_TAG,
    DROPPED_TAGS,
    MAX_VALUE,
    OPAQUE_TAGS,
    TAG_CODE,
    TAGS,
    UNCLOSED_TAGS,
)
from webwinnow.page.markup import INHERITED_FLAGS as FLAGS
from webwinnow.page.tree import PageTree

# A slow machine must not fail a test, nor chance fail a change: `make test` has the same examples each time, `make
# test-all` new ones.
settings.register_profile("webwinnow", deadline=None, derandomize="WEBWINNOW_EXPLORE" not in os.environ)
settings.load_profile("webwinnow")

BROWSER_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
BROWSER_PATIENCE = 240_000
"""Milliseconds that an action in the browser may take on a busy machine."""
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


SAFE_PATH = os.environ.get("PYTHONSAFEPATH")


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """Undo what `webwinnow.cli.app.main` sets for its children: other tests would start interpreters in another way."""
    yield
    if SAFE_PATH is None:
        os.environ.pop("PYTHONSAFEPATH", None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser, shared by all tests: Playwright can run once per process only."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    playwright.expect.set_options(timeout=BROWSER_PATIENCE)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=BROWSER_FLAGS)
        for name in ("new_page", "new_context"):
            setattr(chromium, name, _patient(getattr(chromium, name)))
        yield chromium
        chromium.close()


def _patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """Make pages whose actions wait longer than a busy machine needs."""

    def made(**given: Any) -> Any:
        found = make(**given)
        found.set_default_timeout(BROWSER_PATIENCE)
        return found

    return made


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name gzip data by its kind: it contains the time, and the workers of pytest-xdist must agree on names."""
    return "gzip" if isinstance(val, bytes) and b"\x1f\x8b" in val else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Build the wheel first: it takes minutes of one core, which at the end the other worker would wait for."""
    items.sort(key=lambda item: item.path.name != "test_wheel.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden trees anew instead of comparing")


@pytest.fixture(scope="session")
def assert_consistent() -> Callable[[PageTree], None]:
    """Assert the invariants of every tree, with array operations so that trees of a million nodes can be checked."""

    def check(tree: PageTree) -> None:
        nodes_agree(tree)
        runs_agree(tree)
        attributes_agree(tree)
        for part in (tree.text, tree.attr_text, *tree.custom_tags, tree.head.title):
            part.encode("utf-8")  # no lone surrogate
            assert "\0" not in part
        assert set(tree.clipped) <= {"depth", "attributes"}
        assert tree.reason in (None, "frameset", "empty")

    return check


def column_is(column: np.ndarray, dtype: type, length: int) -> None:
    assert column.dtype == dtype
    assert column.shape == (length,)
    assert not column.flags.writeable


def nodes_agree(tree: PageTree) -> None:
    count = len(tree)
    for column, dtype in (
        (tree.tag, np.uint16),
        (tree.parent, np.int32),
        (tree.end, np.int32),
        (tree.style, np.uint64),
        (tree.shape, np.uint64),
        (tree.flags, np.uint8),
        (tree.text_start, np.int32),
        (tree.text_end, np.int32),
    ):
        column_is(column, dtype, count)
    assert (tree.tag[0], tree.parent[0], tree.end[0], tree.flags[0]) == (0, -1, count, 0)
    assert (tree.tag[1:] != 0).all()
    if count > 1:
        assert (tree.tag_name(1), tree.parent[1], tree.end[1]) == ("body", 0, count)

    # Preorder: each node is inside its parent, and its parent is the innermost node still open there.
    index = np.arange(count)
    parent, end = tree.parent[1:], tree.end
    assert ((parent >= 0) & (parent < index[1:])).all()
    assert (index < end).all()
    assert (end[1:] <= end[parent]).all()
    open_nodes: list[int] = []
    for i, (up, stop) in enumerate(zip(tree.parent.tolist(), end.tolist(), strict=True)):
        while open_nodes and end[open_nodes[-1]] <= i:
            open_nodes.pop()
        assert up == (open_nodes[-1] if open_nodes else -1)
        if stop > i + 1:
            open_nodes.append(i)

    assert (tree.flags & ~np.uint8(FLAGS) == 0).all()
    inherited = tree.flags[parent]
    assert (tree.flags[1:] & inherited == inherited).all()

    own = tree.tag >= CUSTOM_TAG
    assert (tree.tag[~own] < len(TAGS)).all()
    assert (tree.tag[own].astype(int) - CUSTOM_TAG < len(tree.custom_tags)).all()
    assert len(set(tree.custom_tags)) == len(tree.custom_tags)
    assert TAG_CODE.keys().isdisjoint(tree.custom_tags)
    assert (DROPPED_TAGS - {"template"}).isdisjoint(tree.custom_tags)
    for tags in (OPAQUE_TAGS, UNCLOSED_TAGS):
        leaves = np.flatnonzero(np.isin(tree.tag, [TAG_CODE[tag] for tag in tags if tag in TAG_CODE]))
        assert (end[leaves] == leaves + 1).all()
        assert (tree.text_start[leaves] == tree.text_end[leaves]).all()


def runs_agree(tree: PageTree) -> None:
    count = tree.run_count
    column_is(tree.run_start, np.int32, count + 1)
    column_is(tree.run_owner, np.int32, count)
    column_is(tree.run_before, np.int32, count)
    owner, before = tree.run_owner, tree.run_before
    assert (tree.run_start[0], tree.run_start[-1]) == (0, len(tree.text))
    assert (np.diff(tree.run_start) > 0).all()
    assert ((owner >= 1) & (owner < len(tree))).all()
    assert (np.diff(before) >= 0).all()
    # What follows a run is the next child of its owner, or the owner's end.
    assert ((owner < before) & (before <= tree.end[owner])).all()
    inner = before < tree.end[owner]
    assert (tree.parent[before[inner]] == owner[inner]).all()
    assert ((np.diff(owner) != 0) | (np.diff(before) != 0)).all()

    # A node's text is that of the runs in its subtree: each is inside, and there are no others.
    start, end = tree.text_start, tree.text_end
    assert (start[0], end[0]) == (0, len(tree.text))
    assert (start[tree.parent[1:]] <= start[1:]).all()
    assert (start <= end).all()
    assert (end[1:] <= end[tree.parent[1:]]).all()
    assert ((start[owner] <= tree.run_start[:-1]) & (tree.run_start[1:] <= end[owner])).all()
    first, last = np.searchsorted(tree.run_start, start), np.searchsorted(tree.run_start, end)
    assert (tree.run_start[first] == start).all()
    assert (tree.run_start[last] == end).all()
    runs_up_to = np.concatenate(([0], np.bincount(owner, minlength=len(tree)).cumsum()))
    assert (last - first == runs_up_to[tree.end] - runs_up_to[:-1]).all()


def attributes_agree(tree: PageTree) -> None:
    count = len(tree.attr_node)
    column_is(tree.attr_node, np.int32, count)
    column_is(tree.attr_name, np.uint8, count)
    column_is(tree.attr_start, np.int32, count + 1)
    assert ((tree.attr_node >= 1) & (tree.attr_node < len(tree))).all()
    assert (np.diff(tree.attr_node) >= 0).all()
    assert (tree.attr_name < len(ATTRIBUTES)).all()
    assert (tree.attr_start[0], tree.attr_start[-1]) == (0, len(tree.attr_text))
    lengths = np.diff(tree.attr_start)
    assert ((lengths >= 0) & (lengths <= MAX_VALUE)).all()
    pairs = tree.attr_node.astype(np.int64) * len(ATTRIBUTES) + tree.attr_name
    assert len(np.unique(pairs)) == count


TAG_NAMES = """
p div span a b i em strong font ul ol li dl dt dd table tbody tr td th caption colgroup col form select option button h1
h2 nobr pre textarea listing center article section dialog details summary noscript ruby rt rp br hr img input svg g
math mi mtext annotation title body html head frameset my-tag X-Y iframe object video applet script style template xmp
noframes base link meta
"""
ATTRIBUTE_NAMES = """
class id style hidden role title href src alt colspan align width bgcolor lang open type shadowrootmode x-y A é " =
"""
ODDITIES = """
&amp; &lt; &nbsp; &eacute &#65; &#xD800; &#0; &#128; &notanentity; &amp;lt; ]]> --> <!--c--> <!-- --!> <!--x--!> <?x>
<?--x> <![CDATA[x]]> <!doctype> </> </br> </p> </body> </table> <3
"""
VALUES = ("", "a", "b a", "post-12 x", "S:0", "display: none", "color:red;width:3px", "open", "800", "&amp;<>\"'")

soup_text = st.text(st.sampled_from("ab Z09 \n\t\r\f\v&;<>\"'=/-!\u00a0é漢😀\0\ufffd"), max_size=12)
soup_value = st.sampled_from(VALUES) | st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
soup_attribute = st.tuples(st.sampled_from(ATTRIBUTE_NAMES.split()), soup_value, st.sampled_from(("'", '"', "")))


@st.composite
def start_tags(draw: st.DrawFn) -> tuple[str, str]:
    tag = draw(st.sampled_from(TAG_NAMES.split()))
    written = [f"<{tag}"]
    for name, value, quote in draw(st.lists(soup_attribute, max_size=3)):
        written.append(f" {name}={quote}{value}{quote}")
    return tag, "".join(written) + draw(st.sampled_from([">", ">", ">", "/>", " >", ""]))


@st.composite
def elements(draw: st.DrawFn, inside: st.SearchStrategy[str]) -> str:
    tag, opening = draw(start_tags())
    closing = draw(st.sampled_from([f"</{tag}>", f"</{tag}>", "", f"</{tag} x=1>", "</b>", "</table>"]))
    return opening + "".join(draw(st.lists(inside, max_size=4))) + closing


@pytest.fixture(scope="session")
def soup() -> st.SearchStrategy[str]:
    """Pages that ignore the HTML standard."""
    return st.lists(
        st.recursive(soup_text | st.sampled_from(ODDITIES.split()), elements, max_leaves=12), max_size=6
    ).map("".join)


@pytest.fixture
def make_pages() -> Callable[[str, int], list[dict[str, str]]]:
    return generated_pages


@pytest.fixture
def write_crawl(tmp_path: Path) -> Callable[[Iterable[dict[str, Any]], str], Path]:
    def write(pages: Iterable[dict[str, Any]], name: str = "crawl.jsonl") -> Path:
        return jsonl(tmp_path / name, pages)

    return write


@pytest.fixture
def command() -> list[str]:
    return [sys.executable, "-c", "from webwinnow.cli import main; main()"]


@pytest.fixture
def webwinnow() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command to completion."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = os.environ | options.pop("env", {})
        given = {"capture_output": True} | options
        return run_command(*arguments, text=True, timeout=240, env=environment, **given)

    return run


HELD_COMMAND = """
import pathlib, sys
from webwinnow.cli import main
from webwinnow.run.pagestore import CollectionStore

folder, method, calls = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1), int(sys.argv.pop(1))
original, left = getattr(CollectionStore, method), calls

def held(self, *given, **options):
    global left
    original(self, *given, **options)
    left -= 1
    if left == 0:
        (folder / "held").touch()
        (folder / "gate").read_bytes()  # a FIFO: waits until the test opens it

setattr(CollectionStore, method, held)
main()
"""
HOLD_SECONDS = 240


@pytest.fixture
def held_run(tmp_path: Path) -> Callable[..., Any]:
    """Start a run that stops after a number of calls of a store's method, and continues if the test calls `release`.

    A run that the test kills or interrupts can therefore not end earlier.
    """

    @contextmanager
    def hold(*arguments: object, after: tuple[str, int], **options: Any) -> Iterator[Any]:
        folder = tmp_path / "hold"
        folder.mkdir()
        os.mkfifo(folder / "gate")
        command = [sys.executable, "-c", HELD_COMMAND, str(folder), after[0], str(after[1]), *map(str, arguments)]
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
        process = subprocess.Popen(command, text=True, **options)
        signal.signal(signal.SIGINT, heard)
        with process:
            deadline = time.monotonic() + HOLD_SECONDS
            while not (folder / "held").exists():
                assert process.poll() is None, "the run ended before it was held"
                assert time.monotonic() < deadline, "waited too long"
                time.sleep(0.01)
            process.release = lambda: (folder / "gate").write_bytes(b"")  # type: ignore[attr-defined]
            try:
                yield process
            except BaseException:
                process.kill()
                raise

    return hold


@pytest.fixture
def records() -> Callable[[Path], list[dict[str, Any]]]:
    return lambda path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a report and waits until it is usable; the console must have no errors at the end."""
    tabs: list[Any] = []
    complaints: list[str] = []
    requests: list[str] = []

    def open_report(path: Path, *, width: int = 1440, height: int = 900, scheme: str = "light") -> Any:
        tab = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        tabs.append(tab)
        tab.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        return tab

    open_report.complaints, open_report.requests = complaints, requests  # type: ignore[attr-defined]
    yield open_report
    for tab in tabs:
        tab.close()
    assert complaints == []
