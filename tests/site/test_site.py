"""The documentation site: every document is in its navigation, and its generated parts are complete."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from mimetypes import guess_type
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import draw_diagrams
import draw_plots
import pytest
import sitehooks
import typer
from docnames import ROOT
from run_examples import blocks, commands
from webserver import Asked, Reply, WebServer

import webwinnow
from webwinnow.cli.app import app

DOCS = ROOT / "docs"
VALUES = {"N", "X", "FILE", "REGEX", "TARGET", "SELECTOR", "TEXT", "NETWORK", "PATH"}
"""What stands for the value of an option."""
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_the_navigation_names_every_document_once() -> None:
    named = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", CONFIG, re.MULTILINE)
    assert sorted(named) == sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


def test_no_document_hides_a_report_of_the_same_name() -> None:
    assert [path for path in DOCS.rglob("*.md") if path.with_suffix(".html").exists()] == []


def test_a_page_with_wide_tables_gets_the_room_of_the_navigation() -> None:
    pages = [SimpleNamespace(file=SimpleNamespace(src_uri=name), meta={}) for name in ("papers.md", "clean.md")]
    for page in pages:
        sitehooks.on_page_markdown("Text", page)
    assert [page.meta for page in pages] == [{"hide": ["navigation", "toc"]}, {}]
    assert all((DOCS / name).is_file() for name in sitehooks.WIDE)


def test_brackets_in_help_are_no_links() -> None:
    assert sitehooks._cell("[a] or b|c, and `[x|y]`") == r"\[a] or b\|c, and `[x|y]`"


def test_all_tests_are_run_with_the_packages_of_the_site_and_of_the_comparisons() -> None:
    (needed,) = re.findall(r"^test-all: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"$(VENV)/.docs", "$(VENV)/.bench"} <= set(needed.split())


def test_every_command_and_option_is_in_the_reference() -> None:
    text = "\n".join(sitehooks.command_reference())
    commands = typer.main.get_command(app).commands
    assert len(commands) > 15
    for name, command in commands.items():
        assert f"## webwinnow {name}\n" in text
        section = text.split(f"## webwinnow {name}\n")[1].split("\n## ")[0]
        for option in getattr(command, "params", ()):
            if not option.hidden:
                assert option.opts[0].lstrip("-") in section or (option.metavar or "") in section


def test_the_reference_names_values_in_plain_words() -> None:
    text = "\n".join(sitehooks.command_reference())
    assert "`--max-bytes N`" in text
    assert set(re.findall(r"`--[a-z-]+ ([A-Z][A-Z ]*)`", text)) == VALUES


def test_tables_of_the_reference_have_as_many_cells_as_their_header() -> None:
    for line in (*sitehooks.command_reference(), *sitehooks.record_reference()):
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", line))) - 1
            assert cells in (3, 4), line


def test_every_field_of_a_record_is_in_the_reference() -> None:
    schema = json.loads((DOCS / "record.schema.json").read_text(encoding="utf-8"))
    text = "\n".join(sitehooks.record_reference())
    assert all(f"| `{name}` |" in text for name in schema["properties"])


def test_the_python_reference_has_every_public_name() -> None:
    described = set(re.findall(r"webwinnow\.(\w+)", (DOCS / "api.md").read_text(encoding="utf-8")))
    assert {*webwinnow.__all__, "SiteFeatureWeighter", "SiteTextCleaner"} - {"__version__"} <= described


def test_links_out_of_the_folder_lead_to_pages_that_include_the_document() -> None:
    text = "[r](../benchmarks/RESULTS.md#clean) [t](../tools/walk.py) `[c](../CHANGELOG.md)` [x](clean.md)"
    expected = "[r](results.md#clean) t `[c](../CHANGELOG.md)` [x](clean.md)"
    assert sitehooks.site_links(text, "docs/a.md", "docs/a.md") == expected
    assert sitehooks.site_links("[a](docs/clean.md)", "CONTRIBUTING.md", "docs/guides/b.md") == "[a](../clean.md)"


def test_a_list_directly_below_a_paragraph_becomes_a_list() -> None:
    assert (
        sitehooks.spaced_lists("Text:\n- a\n  b\n- c\n```\nx\n- y\n```") == "Text:\n\n- a\n  b\n- c\n```\nx\n- y\n```"
    )


def test_plots_are_drawn_from_the_latest_results() -> None:
    drawn = draw_plots.plots((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"))
    stored = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "plots").glob("*.svg")}
    assert stored == drawn, "run: python tools/draw_plots.py"


def test_diagrams_are_what_their_source_says() -> None:
    for diagram in draw_diagrams.DIAGRAMS:
        assert (DOCS / diagram.name).read_text(encoding="utf-8") == diagram.svg(), "run: python tools/draw_diagrams.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The site, built without warnings."""
    if find_spec("mkdocs") is None:
        pytest.skip("the dependency group docs is not installed")
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (built.returncode, built.stdout + built.stderr) == (0, "")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        loaded = re.findall(
            r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"?(https?:[^\"\s>]+)", page.read_text("utf-8")
        )
        assert loaded == [], page


@pytest.mark.slow
def test_the_button_copies_commands_without_prompts_and_output(site: Path, browser: Any) -> None:
    def answer(asked: Asked) -> Reply:
        found = site / asked.path.partition("?")[0].strip("/")
        kind = guess_type(found.name)[0] or "text/plain"
        return Reply(found.read_bytes(), headers=(("Content-Type", kind),)) if found.is_file() else Reply(status=404)

    (console,) = [one for one in blocks((DOCS / "guides/repeated.md").read_text("utf-8")) if "learn" in one.code]
    with WebServer(answer=answer) as server, browser.new_context() as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/guides/repeated.html")
        page.get_by_role("button", name="Copy to clipboard").first.click()
        page.get_by_text("Copied to clipboard").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert [line for line in copied if line] == [command for command, _ in commands(console.code)]
