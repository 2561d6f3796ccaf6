"""The wheel and the source distribution: built as a release builds them, and used in clean environments."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "samples/pages/sqlite-whentouse.html"
KERNELS = [path.relative_to(ROOT / "src") for path in sorted((ROOT / "src").rglob("_*.pyx"))]
PIP = (sys.executable, "-m", "pip")
NOT_SOURCE = shutil.ignore_patterns("*.so", "*.pyd", "*.egg-info", "__pycache__")
EXTENSION = sysconfig.get_config_var("EXT_SUFFIX")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


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
    assert "webwinnow/judge/weights.npz" in names


def bare(folder: Path, wheel: str) -> tuple[Path, dict[str, str]]:
    """A virtual environment with a wheel and what it requires, and an environment whose PATH has no compiler."""
    run(sys.executable, "-m", "venv", folder / "venv")
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    there = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": str(scripts)}
    command = [scripts / "python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", wheel]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env=there)
    if done.returncode and re.search("No matching distribution|Connection|Could not fetch", done.stderr):
        pytest.skip(f"packages cannot be downloaded here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return scripts, there


@pytest.mark.slow
def test_a_wheel_alone_cleans_warc_html_and_jsonl_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    scripts, there = bare(tmp_path, str(wheel))
    webwinnow = scripts / "webwinnow"
    extra = run(scripts / "python", "-m", "pip", "list", "--format=freeze", env=there)
    assert not re.search(r"(?im)^(pyarrow|scipy|scrapy|fastapi|tantivy|lxml|cython)==", extra)
    found = json.loads(run(webwinnow, "doctor", "--json", env=there, cwd=tmp_path))
    assert found["works"]
    assert {one["name"]: one["state"] for one in found["findings"]}["serve"] == "missing"

    text = run(webwinnow, "page", PAGE, env=there, cwd=tmp_path)
    assert "SQLite is not directly comparable to client/server SQL database engines" in text
    run(webwinnow, "learn", ROOT / "samples/docs.warc.gz", "-o", "models", "-q", env=there, cwd=tmp_path)
    assert len(list((tmp_path / "models").glob("*.model.npz"))) == 3
    one = {"url": "http://sqlite.docs.example/whentouse.html", "html": PAGE.read_text(encoding="utf-8")}
    (tmp_path / "pages.jsonl").write_text(json.dumps(one) + "\n", encoding="utf-8")
    for given, records in ((ROOT / "samples/docs.warc.gz", 126), (ROOT / "samples/pages", 4), ("pages.jsonl", 1)):
        run(webwinnow, "clean", given, "-o", "out.jsonl", "-q", env=there, cwd=tmp_path)
        assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == records
    run(webwinnow, "clean", "pages.jsonl", "--models", "models", "-o", "out.csv", "-q", env=there, cwd=tmp_path)
    assert "client/server SQL database engines" in (tmp_path / "out.csv").read_text(encoding="utf-8")

    done = subprocess.run([webwinnow, "serve"], env=there, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'webwinnow[serve]'" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the service needs Linux or macOS")
def test_a_wheel_with_the_extra_serve_answers(wheel: Path, tmp_path: Path) -> None:
    scripts, there = bare(tmp_path, f"{wheel}[serve]")
    command = [str(scripts / "webwinnow"), "serve", "--port", "0", "--folder", "data"]
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    server = subprocess.Popen(command, cwd=tmp_path, env=there, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, heard)
    with server:
        assert server.stderr is not None
        at = next(found[0] for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+/", line)))
        asked = urllib.request.Request(
            f"{at}page",
            data=json.dumps({"html": PAGE.read_text(encoding="utf-8")}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answer:
            assert "client/server SQL database engines" in json.load(answer)["text"]
        server.send_signal(signal.SIGINT)
        said = server.stderr.read()
    assert server.returncode == 130
    assert "stopped; data has jobs, results and models" in said


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


# The source distribution


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of the working tree, unpacked in an empty folder."""
    folder = tmp_path_factory.mktemp("sdist")
    tree = folder / "tree"
    made = shutil.ignore_patterns(
        *(".git", ".venv", "build", "dist", "out", "*.so", "*.pyd", "*.egg-info", "__pycache__", ".*_cache")
    )
    shutil.copytree(ROOT, tree, ignore=made)
    program = f"from setuptools import build_meta; build_meta.build_sdist({str(folder / 'dist')!r})"
    (folder / "dist").mkdir()
    run(sys.executable, "-c", program, cwd=tree)
    (archive,) = (folder / "dist").glob("webwinnow-*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder / "unpacked", filter="data")
    (found,) = (folder / "unpacked").iterdir()
    return found


def test_a_source_distribution_has_all_that_tests_need_and_nothing_built(unpacked: Path) -> None:
    there = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    for part in ("src", "tests", "samples", "docs", "tools", "benchmarks"):
        wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / part).rglob("*") if path.is_file()}
        built = re.compile(r"\.(so|pyd|pyc|c)$|__pycache__|\.egg-info/|\.(ruff|mypy|pytest)_cache|/\.hypothesis/")
        assert {name for name in wanted if not built.search(name)} - there == set()
    assert [name for name in there if name.endswith((".c", ".so", ".pyd", ".pyc"))] == []
    locks = {"requirements.lock", "requirements-build.lock", "requirements-dev.lock"}
    assert {"Makefile", "Containerfile", "CITATION.cff", "CHANGELOG.md", *locks} <= there


@pytest.mark.slow
def test_a_source_distribution_builds_a_wheel_with_which_its_tests_run(unpacked: Path, tmp_path: Path) -> None:
    there = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "dist", ".")
    run(
        *PIP, *build, cwd=unpacked, env={**there, "WEBWINNOW_KERNEL_FLAGS": "-O0"}
    )  # nothing is compiled yet; -O0 takes half the time
    (built,) = (tmp_path / "dist").glob("webwinnow-*.whl")
    run(*PIP, "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path / "installed", built, env=there)
    found = {path.relative_to(tmp_path / "installed") for path in (tmp_path / "installed").rglob(f"*{EXTENSION}")}
    assert found == {kernel.with_suffix(EXTENSION) for kernel in KERNELS}

    shutil.rmtree(unpacked / "src")  # so that nothing but the wheel can be imported
    used = {**there, "PYTHONPATH": str(tmp_path / "installed"), "WEBWINNOW_DATA": ""}
    some = ("tests/test_urls.py", "tests/test_golden.py", "tests/cli/test_page.py", "tests/io/test_outputs.py")
    said = run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *some, cwd=unpacked, env=used)
    assert re.search(r"[1-9]\d+ passed", said)


# What a release states


def test_the_version_is_the_same_everywhere() -> None:
    version = re.search(r'__version__ = "(.*)"', (ROOT / "src/webwinnow/_version.py").read_text(encoding="utf-8"))
    assert version is not None
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    noted = re.search(
        r"^## (\S+) \((\d{4}-\d\d-\d\d)\)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert noted is not None
    assert noted[1] == version[1]
    assert f"\nversion: {version[1]}\n" in citation
    assert f"\ndate-released: {noted[2]}\n" in citation


def test_wheels_are_configured_for_every_python_and_system_that_is_stated() -> None:
    wanted = PROJECT["tool"]["cibuildwheel"]
    stated = [found[1] for line in PROJECT["project"]["classifiers"] if (found := re.search(r":: 3\.(\d+)$", line))]
    assert wanted["build"] == [f"cp3{minor}-*" for minor in stated]
    assert stated[0] == PROJECT["project"]["requires-python"].removeprefix(">=3.")
    archs = {system: wanted[system]["archs"] for system in ("linux", "macos", "windows")}
    assert archs == {"linux": ["x86_64", "aarch64"], "macos": ["x86_64", "arm64"], "windows": ["AMD64"]}
