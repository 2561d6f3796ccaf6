"""Write the versions of all dependencies and their hashes: `requirements.lock` for the container, for CI
`requirements-dev.lock`, which has the tools too, and `requirements-build.lock`: pip and what builds the package.

    python tools/lock_requirements.py      (`make lock`, which installs uv)

The versions are those installed beside the interpreter that runs this, which the tests ran with. The files have
packages, versions and hashes only: where packages come from is the business of whoever installs them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = {"requirements.lock": (), "requirements-dev.lock": ("dev",)}
"""The files, and the dependency groups that each has beside the runtime dependencies."""
EXTRAS = ("parquet", "cjk", "mining", "search", "serve", "crawl", "thesaurus")
"""What the container installs; Ray, Spark and datatrove come with their clusters."""
BUILD_LOCK = "requirements-build.lock"
"""The file with pip and `build-system.requires`."""
HEAD = """\
# The versions that webwinnow[{extras}]{groups} is tested with, and their hashes. Written by `make lock`.
# Resolved for Python {python}.
# pip install --require-hashes -r {name} && pip install --no-deps .
"""
BUILD_HEAD = """\
# The versions of pip and of what builds webwinnow that it is tested with, and their hashes. Written by `make lock`.
# Resolved for Python {python}.
# pip install --require-hashes -r {name} && pip wheel --no-deps --no-build-isolation .
"""
_OTHER = re.compile(r"^\s*(#.*|--(index|extra-index|find-links|trusted-host).*)?$")


def main() -> None:
    """Resolve the dependencies and write the files."""
    python = ".".join(map(str, sys.version_info[:2]))
    for name, groups in LOCKS.items():
        names = "".join(f" with the group {group}" for group in groups)
        head = HEAD.format(name=name, extras=",".join(EXTRAS), groups=names, python=python)
        chosen = [f"--extra={extra}" for extra in EXTRAS] + [f"--group={group}" for group in groups]
        (ROOT / name).write_text(head + resolved([*chosen, "pyproject.toml"]), encoding="utf-8")
    head = BUILD_HEAD.format(name=BUILD_LOCK, python=python)
    (ROOT / BUILD_LOCK).write_text(head + resolved(["-"], build_requirements()), encoding="utf-8")


def build_requirements() -> list[str]:
    """What builds the package, and pip, which installs it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return ["pip", *settings["build-system"]["requires"]]


def resolved(sources: Sequence[str], requirements: Sequence[str] = ()) -> str:
    """The lines of a file, without comments, URLs and options. The source `-` is the list of requirements."""
    with tempfile.TemporaryDirectory() as folder:
        out, installed = Path(folder) / "lock.txt", Path(folder) / "installed.txt"
        found = sorted((str(there.metadata["Name"]), there.version) for there in distributions())
        installed.write_text("".join(f"{name}=={version}\n" for name, version in found if name != "webwinnow"))
        plain = ["--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
        command = [_uv(), "pip", "compile", "--generate-hashes", *plain, "--python", sys.executable]
        command += ["--constraint", str(installed), "--output-file", str(out), *sources]
        subprocess.run(command, cwd=ROOT, check=True, text=True, input="\n".join(requirements))
        lines = [line for line in out.read_text(encoding="utf-8").splitlines() if not _OTHER.match(line)]
    text = "\n".join(lines) + "\n"
    if "://" in text:
        raise SystemExit("a requirement names a URL; the lock files must not")
    return text


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    return found or sys.exit("uv is missing: run `make lock`, which installs it")


if __name__ == "__main__":
    main()
