"""The lock files: each dependency in a version that `pyproject.toml` allows, with hashes, from nowhere."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
DEV_LOCK = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
BUILD_LOCK = (ROOT / "requirements-build.lock").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOOLS = SETTINGS["project"], [*SETTINGS["dependency-groups"]["dev"], *SETTINGS["build-system"]["requires"]]
EXTRAS = re.search(r"webwinnow\[([a-z,]+)\]", LOCK)[1].split(",")  # type: ignore[index]
WANTED = [*PROJECT["dependencies"], *(line for name in EXTRAS for line in PROJECT["optional-dependencies"][name])]
RUNTIME = [*WANTED, *(line for lines in PROJECT["optional-dependencies"].values() for line in lines)]


def versions(lock: str) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE)}


def entries(lock: str) -> dict[str, str]:
    """The lines of each package: its version and hashes."""
    found = [entry for entry in re.split(r"^(?=[\w.-]+==)", lock, flags=re.MULTILINE) if not entry.startswith("#")]
    return {canonicalize_name(entry.partition("==")[0]): entry for entry in found}


@pytest.mark.parametrize("line", WANTED)
def test_a_dependency_is_locked_within_its_bounds(line: str) -> None:
    wanted = Requirement(line)
    assert wanted.specifier.contains(versions(LOCK)[canonicalize_name(wanted.name)], prereleases=True), (
        "run `make lock`"
    )


@pytest.mark.parametrize("line", TOOLS)
def test_a_tool_is_locked_within_its_bounds(line: str) -> None:
    wanted = Requirement(line)
    found = versions(DEV_LOCK)[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(found, prereleases=True), "run `make lock`"


@pytest.mark.parametrize("line", ["pip", *SETTINGS["build-system"]["requires"]])
def test_what_builds_is_locked_within_its_bounds(line: str) -> None:
    wanted = Requirement(line)
    found = versions(BUILD_LOCK)[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(found, prereleases=True), "run `make lock`"


def test_what_builds_is_pip_and_the_requirements_of_the_build() -> None:
    """They have no dependencies; a new one belongs to the file, and here."""
    names = {canonicalize_name(Requirement(line).name) for line in SETTINGS["build-system"]["requires"]}
    assert set(versions(BUILD_LOCK)) == {"pip", *names}


def test_all_files_lock_the_same_versions_and_hashes() -> None:
    assert entries(LOCK).items() <= entries(DEV_LOCK).items(), "run `make lock`"
    built = {name: entry for name, entry in entries(BUILD_LOCK).items() if name != "pip"}
    assert built.items() <= entries(DEV_LOCK).items(), "run `make lock`"


@pytest.mark.parametrize("line", dict.fromkeys(RUNTIME))
def test_a_dependency_has_a_lower_and_an_upper_bound(line: str) -> None:
    wanted = Requirement(line)
    assert wanted.name == "webwinnow" or sorted(bound.operator for bound in wanted.specifier) == ["<", ">="]


COMES_WITH = {"py4j": "pyspark"}
"""A package that another one needs in one version, and so has the bounds of that one."""


def imported() -> set[str]:
    """The packages that our modules import, by the names of their distributions."""
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    ours = {"webwinnow", "_webwinnow", "_typeshed", *sys.stdlib_module_names}
    names = {"zope.interface" if name.startswith("zope.interface") else name.partition(".")[0] for name in found} - ours
    known = packages_distributions()
    return {canonicalize_name(known.get(name, [name])[0]) for name in names}


def test_every_package_that_is_imported_has_bounds_of_its_own() -> None:
    """One that comes with another would be installed in any version that this one allows."""
    declared = {canonicalize_name(Requirement(line).name) for line in RUNTIME}
    assert {COMES_WITH.get(name, name) for name in imported()} <= declared


@pytest.mark.parametrize(
    ("lock", "least"), [(LOCK, 50), (DEV_LOCK, 50), (BUILD_LOCK, 3)], ids=["runtime", "dev", "build"]
)
def test_every_package_has_hashes_and_no_place(lock: str, least: int) -> None:
    assert len(entries(lock)) == len(versions(lock)) >= least
    assert all("--hash=sha256:" in entry for entry in entries(lock).values())
    lines = [line for line in lock.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==\S+( ;.*)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in lines)
    assert "://" not in lock


def test_the_files_are_resolved_for_one_python() -> None:
    found = [
        re.findall(r"^# Resolved for Python (3\.[0-9]+)\.$", lock, re.MULTILINE)
        for lock in (LOCK, DEV_LOCK, BUILD_LOCK)
    ]
    assert len(found[0]) == 1
    assert found[0] == found[1] == found[2]  # the Makefile reads this line


def setup_commands(folder: Path, *, locked: bool) -> list[str]:
    """The arguments of each Python that `make setup` starts, with a Python that only writes them down."""
    for name in ("Makefile", "pyproject.toml", "setup.py", "requirements-build.lock", "requirements-dev.lock"):
        shutil.copy(ROOT / name, folder)
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit {int(not locked)}\necho "$@" >> commands.txt\n')
    python.chmod(0o755)
    (folder / "src").mkdir()
    alone = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}  # those of `make test`
    subprocess.run(["make", "setup"], cwd=folder, env=alone, check=True, capture_output=True)
    return (folder / "commands.txt").read_text().splitlines()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_setup_installs_by_hash_on_the_locked_python(tmp_path: Path) -> None:
    assert setup_commands(tmp_path, locked=True) == [
        "-m pip install --quiet --require-hashes --requirement requirements-build.lock",
        "-m pip install --quiet --require-hashes --requirement requirements-dev.lock",
        "-m pip install --quiet --no-deps --no-build-isolation --editable .",
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_setup_upgrades_pip_on_another_python(tmp_path: Path) -> None:
    first, second = setup_commands(tmp_path, locked=False)
    assert first == "-m pip install --quiet --upgrade pip"
    assert second.endswith("--group dev")
