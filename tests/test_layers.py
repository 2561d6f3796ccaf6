"""The layer rule of DESIGN.md: a module imports from its own layer or below. Read from the source, not by importing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import webwinnow

SOURCE = Path(webwinnow.__file__).parent

CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"


def layers_in(text: str) -> dict[str, int]:
    """The layer of each package and module, from the table of CONTRIBUTING."""
    rows = re.findall(r"^\| L(\d) \| ([^|]*) \|", text, flags=re.MULTILINE)
    return {name: int(layer) for layer, names in rows for name in re.findall(r"`(\w+)`", names)}


LAYERS = layers_in(CONTRIBUTING.read_text(encoding="utf-8"))
"""The layer of each module or folder of webwinnow."""
FACE = "__init__"
"""webwinnow itself: it may import what is below the highest layer, and `commands`; only that layer may import it."""
TOP = max(LAYERS.values())
NARROW = {"io": {part for part in LAYERS if LAYERS[part] == 0} | {"io"}}
"""Parts that import less than their layer allows."""
FACE_NAMES = {"__version__"}
"""Names that modules may import from webwinnow itself."""

MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
DECLARATIONS = {path.stem for path in SOURCE.glob("*.pxd")}
"""Shared Cython declarations, which any kernel may use."""
KERNELS = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.pyx"))


def part_of(module: Path) -> str:
    return module.parts[0].partition(".")[0]


def tree_of(module: Path) -> ast.Module:
    return ast.parse((SOURCE / module).read_text(encoding="utf-8"), filename=str(module))


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Dotted names of what is imported, anywhere in a module; `from webwinnow import errors` gives the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            if node.module == "webwinnow":
                yield from (f"webwinnow.{alias.name}" for alias in node.names)
            else:
                yield node.module


def parts_imported_by(tree: ast.AST) -> set[str]:
    """The parts of webwinnow that a module imports; FACE for webwinnow itself."""
    found = set()
    for name in imports_of(tree):
        first, *rest = name.split(".")
        if first == "webwinnow":
            found.add(rest[0] if rest and rest[0] not in FACE_NAMES else FACE)
    return found


def complaints_about(part: str, imported: set[str]) -> list[str]:
    """The violations of a module of `part` that imports these parts."""
    found = []
    for other in sorted(imported):
        if other == FACE:
            if LAYERS[part] < TOP:
                found.append(f"{part} imports webwinnow itself, which only the highest layer may")
        elif other not in LAYERS:
            found.append(f"{other} is in no layer: add it to the table of {CONTRIBUTING.name}")
        elif part == FACE:
            if LAYERS[other] == TOP and other != "commands":  # `webwinnow.run`, imported on first use
                found.append(f"webwinnow itself imports {other} of the highest layer")
        elif other not in NARROW.get(part, LAYERS):
            found.append(f"{part} imports {other}; it may import only {', '.join(sorted(NARROW[part]))}")
        elif LAYERS[other] > LAYERS[part]:
            found.append(f"{part} (layer {LAYERS[part]}) imports {other} (layer {LAYERS[other]}) above it")
    return found


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_is_in_a_layer(module: Path) -> None:
    part = part_of(module)
    assert part == FACE or part in LAYERS, f"{module} is in no layer: add {part} to the table of {CONTRIBUTING.name}"


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_imports_from_its_own_layer_or_below(module: Path) -> None:
    assert complaints_about(part_of(module), parts_imported_by(tree_of(module))) == []


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_imports_from_its_own_layer_or_below(kernel: Path) -> None:
    text = (SOURCE / kernel).read_text(encoding="utf-8")
    imported = set(re.findall(r"^from webwinnow(?:\.| c?import )(\w+)", text, flags=re.MULTILINE))
    assert complaints_about(part_of(kernel), {part for part in imported if part not in DECLARATIONS}) == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_only_parse_knows_the_html_parser(module: Path) -> None:
    users = {name.partition(".")[0] for name in imports_of(tree_of(module))}
    assert "turbohtml" not in users or module == Path("page/parsing.py")


@pytest.mark.parametrize("module", [module for module in MODULES if part_of(module) != "cli"], ids=str)
def test_the_library_neither_prints_nor_exits(module: Path) -> None:
    called = {
        node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    assert called.isdisjoint({"print", "exit", "quit", "sys.exit", "sys.stdout.write", "sys.stderr.write"})


BOUNDARIES = {
    Path("run/pageworker.py"): "one record",
    Path("crawl/process.py"): "one response",
    Path("serve/jobrunner.py"): "one job",
    Path("storage/parquetprocess.py"): "one Parquet file",
    Path("run/engines/ray.py"): "starting Ray, which raises bare exceptions",
}
"""The modules that may catch every exception, and what each turns into a result (CONTRIBUTING)."""


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_exception_is_caught_only_at_a_boundary(module: Path) -> None:
    caught = [
        node
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert len(caught) <= (module in BOUNDARIES)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(tree_of(module))


def test_the_table_lists_what_exists() -> None:
    there = {path.name.split(".")[0] for path in SOURCE.iterdir()}
    assert set(LAYERS) - there == set()


def test_every_package_has_a_folder_of_tests() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    tested = {path.name for path in Path(__file__).parent.iterdir() if any(path.glob("test_*.py"))}
    assert packages - tested == set()
    assert tested - packages == {"papers", "faults", "fuzz"}


# The check itself


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("parsing", "from webwinnow.site import x"),
        ("pagetree", "import webwinnow.cli"),
        ("words", "from webwinnow import pagetree"),
        ("cleaning", "def f():\n    from webwinnow.run.cleaning import y"),
        ("io", "from webwinnow.page.parsing import parse"),
        ("_words", "from webwinnow.page.tree import PageTree"),
        ("io", "from webwinnow import __version__"),
        ("cleaner", "from webwinnow.unheard_of import z"),
        (FACE, "from webwinnow.cli import main"),
    ],
)
def test_an_import_against_the_rule_is_found(part: str, source: str) -> None:
    assert len(complaints_about(part, parts_imported_by(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("parsing", "from webwinnow.page.tree import Head"),
        ("cli", "from webwinnow import __version__"),
        ("site", "from webwinnow.cleaning import x"),
        ("io", "from webwinnow.run.sniff import x\nimport json"),
        (FACE, "from webwinnow.record.cleaner import CleanPage"),
    ],
)
def test_an_import_by_the_rule_passes(part: str, source: str) -> None:
    assert complaints_about(part, parts_imported_by(ast.parse(source))) == []
