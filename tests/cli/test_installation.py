"""What `webwinnow doctor` finds out: kernels, trained files, packages, programs, and what is broken."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warmcommand import run_command

from webwinnow.cli import installation
from webwinnow.cli.app import main
from webwinnow.cli.installation import KERNELS, TRAINED, USES, examine, is_within

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webwinnow"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no other process."""
    monkeypatch.setattr(installation, "_cleaned_sample", lambda: ("was cleaned", [], ""))
    monkeypatch.setenv("PATH", "")


def state_of(name: str) -> str:
    return next(found.state for found in examine().findings if found.name == name)


def test_every_kernel_is_examined() -> None:
    there = (path.relative_to(SOURCE).with_suffix("").parts for path in SOURCE.rglob("_*.pyx"))
    assert sorted(KERNELS) == sorted(".".join(parts) for parts in there)


def test_every_trained_file_is_examined() -> None:
    assert sorted(TRAINED) == sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.npz"))


def test_every_extra_has_a_use() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(USES) == sorted(set(project["optional-dependencies"]) - {"all"})


@pytest.mark.parametrize(
    ("version", "bounds", "fits"),
    [
        ("1.15.4", ">=1.15,<1.16", True),
        ("1.16", ">=1.15,<1.16", False),
        ("1.9", ">=1.15", False),
        ("2", ">=2.0", True),
        ("2.0.0", "==2", True),
        ("2.0.1", "!=2.0.1", False),
        ("3.0rc1", "<=3", True),
        ("4", ">3", True),
        ("7", "", True),
    ],
)
def test_versions_are_compared_by_number(version: str, bounds: str, fits: bool) -> None:
    assert is_within(version, bounds) is fits


def test_a_broken_kernel_is_broken_and_named(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "KERNELS", [*KERNELS, "_unbuilt"])
    (found,) = examine().broken
    assert (found.name, found.state) == ("compiled parts", "broken")
    assert "webwinnow._unbuilt" in found.found


@pytest.mark.parametrize(
    ("line", "requirement"),
    [
        ("numpy<3,>=2.2", ("numpy", "<3,>=2.2", None)),
        ('ray[data]<3,>=2.40; extra == "ray"', ("ray", "<3,>=2.40", "ray")),
        ("lxml ; python_version > '3.10' and extra=='selectors'", ("lxml", "", "selectors")),
        ("a" + " " * 100_000 + "b;" + "extra " * 20_000, ("a", "b", None)),
    ],
)
def test_requirements_are_read(
    line: str, requirement: tuple[str, str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation.metadata, "requires", lambda _: [line])
    assert list(installation._requirements()) == [requirement]


def test_a_package_of_a_wrong_version_is_broken(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        installation.metadata, "requires", lambda _: ["numpy>=999", "pyarrow>=999; extra == 'parquet'", "no-such>=1"]
    )
    (found,) = examine().broken
    assert "numpy" in found.found
    assert ">=999 is needed" in found.found
    assert "no-such is not installed" in found.found
    assert state_of("parquet") == "broken"


def test_an_extra_that_is_not_installed_is_missing(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.metadata, "requires", lambda _: ['no-such-package>=1; extra == "search"'])
    examined = examine()
    (found,) = [one for one in examined.findings if one.name == "search"]
    assert (found.state, found.found) == ("missing", "no-such-package is not installed")
    assert "pip install 'webwinnow[search]'" in found.about
    assert examined.broken == ()


@pytest.fixture
def program(quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, the only one on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_programs_that_are_not_there_are_missing(program: Path) -> None:
    assert (state_of("Chromium"), state_of("Java")) == ("missing", "missing")


@pytest.mark.parametrize(("number", "state"), [("17.0.1", "ok"), ("21", "ok"), ("1.8.0_292", "broken")])
def test_java_must_be_new_enough(program: Path, number: str, state: str) -> None:
    (program / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{number}\"' >&2\n")
    (program / "java").chmod(0o755)
    assert state_of("Java") == state


def test_a_browser_that_does_not_start_is_broken(program: Path) -> None:
    (program / "chromium").write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    (program / "chromium").chmod(0o755)
    assert state_of("Chromium") == "broken"


def test_a_page_that_cannot_be_cleaned_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "SAMPLE", "<body></body>")
    assert [found.name for found in examine().broken] == ["a page"]


def test_without_a_folder_for_temporary_files_something_required_is_broken(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(installation.tempfile, "gettempdir", none)
    assert [found.name for found in examine().broken] == ["temporary files"]


def test_doctor_reports_for_people() -> None:
    done = run_command("doctor", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "Everything required works." in done.stdout
    for name in (*USES, "compiled parts", "Chromium", "Java", "temporary files"):
        assert f" {name} " in done.stdout


@pytest.fixture
def doctor(
    quick: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[Any, str]]:
    """Run `webwinnow doctor` in this process: exit code and output."""

    def run(*options: str) -> tuple[Any, str]:
        monkeypatch.setattr(sys, "argv", ["webwinnow", "doctor", *options])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr().out

    return run


def test_doctor_reports_for_machines(doctor: Callable[..., tuple[Any, str]]) -> None:
    code, said = doctor("--json")
    found = json.loads(said)
    assert (code, found["works"]) == (0, True)
    assert found["cores"] >= 1
    assert found["free_bytes"] > 0


def test_doctor_exits_with_1_if_something_required_is_broken(
    doctor: Callable[..., tuple[Any, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "KERNELS", [*KERNELS, "_unbuilt"])
    code, said = doctor()
    assert code == 1
    assert "1 required part is broken" in said
    assert "install webwinnow again" in said
    code, said = doctor("--json")
    assert (code, json.loads(said)["works"]) == (1, False)
