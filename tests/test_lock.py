"""The lock files: each dependency in a version that `pyproject.toml` allows, with hashes, from nowhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
DEV_LOCK = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOOLS = SETTINGS["project"], [*SETTINGS["dependency-groups"]["dev"], *SETTINGS["build-system"]["requires"]]
EXTRAS = re.search(r"webwinnow\[([a-z,]+)\]", LOCK)[1].split(",")  # type: ignore[index]
WANTED = [*PROJECT["dependencies"], *(line for name in EXTRAS for line in PROJECT["optional-dependencies"][name])]
RUNTIME = [*WANTED, *(line for lines in PROJECT["optional-dependencies"].values() for line in lines)]


def versions(lock: str) -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE)}


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


def test_both_files_lock_the_same_versions() -> None:
    assert versions(LOCK).items() <= versions(DEV_LOCK).items(), "run `make lock`"


@pytest.mark.parametrize("line", dict.fromkeys(RUNTIME))
def test_a_dependency_has_a_lower_and_an_upper_bound(line: str) -> None:
    wanted = Requirement(line)
    assert wanted.name == "webwinnow" or sorted(bound.operator for bound in wanted.specifier) == ["<", ">="]


@pytest.mark.parametrize("lock", [LOCK, DEV_LOCK], ids=["runtime", "dev"])
def test_every_package_has_hashes_and_no_place(lock: str) -> None:
    entries = [entry for entry in re.split(r"^(?=[\w.-]+==)", lock, flags=re.MULTILINE) if "==" in entry]
    assert len(entries) == len(versions(lock)) > 50
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock


def test_setup_and_container_install_by_hash() -> None:
    setup, container = (
        (ROOT / "Makefile").read_text(encoding="utf-8"),
        (ROOT / "Containerfile").read_text(encoding="utf-8"),
    )
    assert "--require-hashes --requirement requirements-dev.lock" in setup
    assert "--require-hashes -r /requirements.lock" in container
    assert re.search(r"^# Resolved for Python 3\.[0-9]+\.$", DEV_LOCK, re.MULTILINE)  # the Makefile reads this line
