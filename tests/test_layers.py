"""The layer rule of CONTRIBUTING: a module imports from its own layer or below. Read from source, without imports."""

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
"""webwinnow itself: it may import the core; of our modules only capabilities and the command line may import it."""
CAPABILITIES = max(LAYERS.values())
FACE_NAMES = {"__version__"}
"""Names that modules may import from webwinnow itself."""

MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
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


def used_by(capability: str) -> set[str]:
    """The capabilities that the `USES` of a capability's `__init__` names."""
    for node in tree_of(Path(capability, "__init__.py")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "USES":
            return set(ast.literal_eval(node.value))
    return set()


USES = {name: used_by(name) for name, layer in LAYERS.items() if layer == CAPABILITIES}
"""The other capabilities that each capability may import."""


def complaints_about(part: str, imported: set[str]) -> list[str]:
    """The violations of a module of `part` that imports these parts."""
    found = []
    for other in sorted(imported - {part}):
        if other == FACE:
            if LAYERS[part] < LAYERS["cli"]:
                found.append(f"{part} imports webwinnow itself, which only capabilities and the command line may")
        elif other not in LAYERS:
            found.append(f"{other} is in no layer: add it to the table of {CONTRIBUTING.name}")
        elif part == FACE:
            if LAYERS[other] == LAYERS["cli"]:
                found.append(f"webwinnow itself imports {other}")
        elif part in USES and other in USES:
            if other not in USES[part]:
                found.append(f"{part} imports {other}, which its USES does not name")
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
    assert complaints_about(part_of(kernel), imported) == []


def test_capabilities_that_use_each_other_form_no_circle() -> None:
    left = dict(USES)
    while free := [name for name, used in left.items() if not used & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


def test_a_capability_uses_what_it_names() -> None:
    imported = {name: set[str]() for name in USES}
    for module in MODULES:
        if part_of(module) in imported:
            imported[part_of(module)] |= parts_imported_by(tree_of(module)) & USES.keys()
    assert {name: used - imported[name] for name, used in USES.items() if used - imported[name]} == {}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_only_parse_knows_the_html_parser(module: Path) -> None:
    users = {name.partition(".")[0] for name in imports_of(tree_of(module))}
    assert "turbohtml" not in users or module == Path("page/parsing.py")


SPEAKING = {module for module in MODULES if part_of(module) == "cli" or module.name.startswith("command_")}
"""The command line."""


@pytest.mark.parametrize("module", sorted(set(MODULES) - SPEAKING), ids=str)
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
    Path("serve/jobs.py"): "one job",
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


def test_every_room_has_a_folder_of_tests() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    tested = {path.name for path in Path(__file__).parent.iterdir() if any(path.rglob("test_*.py"))}
    assert rooms - tested == set()
    assert tested - rooms == {"faults", "fuzz"}


# The check itself


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("page", "from webwinnow.site.learned import x"),
        ("page", "import webwinnow.cli"),
        ("storage", "from webwinnow import page"),
        ("judge", "def f():\n    from webwinnow.run.cleaning import y"),
        ("run", "from webwinnow.replicas.sketches import sketch"),
        ("run", "from webwinnow import __version__"),
        ("record", "from webwinnow.unheard_of import z"),
        ("search", "from webwinnow.topics.mining.run import z"),
        (FACE, "from webwinnow.cli.app import main"),
    ],
)
def test_an_import_against_the_rule_is_found(part: str, source: str) -> None:
    assert len(complaints_about(part, parts_imported_by(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("page", "from webwinnow.page.tree import Head"),
        ("serve", "from webwinnow import __version__"),
        ("site", "from webwinnow.judge.verdict import x"),
        ("run", "from webwinnow.run.sniff import x\nimport json"),
        ("serve", "from webwinnow.search.index import x"),
        (FACE, "from webwinnow.record.cleaner import CleanPage"),
    ],
)
def test_an_import_by_the_rule_passes(part: str, source: str) -> None:
    assert complaints_about(part, parts_imported_by(ast.parse(source))) == []
