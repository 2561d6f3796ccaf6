"""The wheel: built as `make wheel` builds it, installed into a clean virtual environment, used from there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "samples/pages/sqlite-whentouse.html"
KERNELS = [path.relative_to(ROOT / "src") for path in sorted((ROOT / "src").rglob("_*.pyx"))]
PIP = (sys.executable, "-m", "pip")
NOT_SOURCE = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
EXTENSION = sysconfig.get_config_var("EXT_SUFFIX")


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the working tree. What `make setup` has compiled is copied, so that it is not compiled again."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, tree)
    shutil.copytree(
        ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
    )
    if (ROOT / "build/cython").is_dir():
        shutil.copytree(ROOT / "build/cython", tree / "build/cython")
    library = tree / "build" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for kernel in KERNELS:
        built = kernel.with_suffix(EXTENSION)
        if (ROOT / "src" / built).exists():
            (library / built).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "src" / built, library / built)
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        "dist",
        ".",
        cwd=tree,
    )
    (built,) = (tree / "dist").glob("webwinnow-*.whl")
    return built


def test_a_wheel_has_every_kernel_compiled_and_no_source_of_one(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {path.with_suffix(EXTENSION).as_posix() for path in KERNELS} <= set(names)
    assert [name for name in names if name.endswith((".c", ".pyx", ".pxd"))] == []
    assert "webwinnow/pagemodel/weights.npz" in names


def test_a_page_is_cleaned_from_a_wheel_in_a_clean_environment(wheel: Path, tmp_path: Path):
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    folder = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "python",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    )
    there = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    site = Path(
        run(folder / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", env=there).strip()
    )
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")  # numpy and the others
    used = run(folder / "python", "-c", "import webwinnow; print(webwinnow.__file__)", env=there, cwd=tmp_path)
    assert Path(used.strip()).is_relative_to(site)
    text = run(folder / "webwinnow", "page", PAGE, env=there, cwd=tmp_path)
    assert "SQLite is not directly comparable to client/server SQL database engines" in text


def test_without_compiled_kernels_the_import_says_what_is_missing(tmp_path: Path):
    package = tmp_path / "webwinnow"
    shutil.copytree(
        ROOT / "src/webwinnow", package, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "*.npz")
    )
    done = subprocess.run(
        [sys.executable, "-c", "import webwinnow"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode != 0
    assert (
        "ImportError: webwinnow's kernels are not built: run `pip install .`, which needs a C compiler" in done.stderr
    )


def test_without_a_compiler_the_build_says_so(tmp_path: Path):
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, tmp_path)
    package = tmp_path / "src/webwinnow"
    package.mkdir(parents=True)
    for name in ("__init__.py", "_version.py"):
        shutil.copy2(ROOT / "src/webwinnow" / name, package)
    (package / "_small.pyx").write_text("x = 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "CC": "no-such-compiler"},
    )
    assert done.returncode != 0
    assert "building webwinnow requires a C compiler, and no-such-compiler is not installed" in done.stderr
