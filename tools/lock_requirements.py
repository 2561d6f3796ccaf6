"""Write the versions of all dependencies and their hashes: `requirements.lock` for the container, and for CI
`requirements-dev.lock`, which has the tools too.

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
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = {"requirements.lock": (), "requirements-dev.lock": ("dev",)}
"""The files, and the dependency groups that each has beside the runtime dependencies."""
EXTRAS = ("parquet", "cjk", "mining", "search", "serve", "crawl", "thesaurus")
"""What the container installs; Ray, Spark and datatrove come with their clusters."""
HEAD = """\
# The versions that webwinnow[{extras}]{groups} is tested with, and their hashes. Written by `make lock`.
# Resolved for Python {python}.
# pip install --require-hashes -r {name} && pip install --no-deps .
"""
_OTHER = re.compile(r"^\s*(#.*|--(index|extra-index|find-links|trusted-host).*)?$")


def main() -> None:
    """Resolve the dependencies and write the files."""
    for name, groups in LOCKS.items():
        head = HEAD.format(
            name=name,
            extras=",".join(EXTRAS),
            groups="".join(f" with the group {group}" for group in groups),
            python=".".join(map(str, sys.version_info[:2])),
        )
        (ROOT / name).write_text(head + resolved(groups), encoding="utf-8")


def resolved(groups: tuple[str, ...]) -> str:
    """The lines of a file, without comments, URLs and options."""
    with tempfile.TemporaryDirectory() as folder:
        out, installed = Path(folder) / "lock.txt", Path(folder) / "installed.txt"
        found = sorted((str(there.metadata["Name"]), there.version) for there in distributions())
        installed.write_text("".join(f"{name}=={version}\n" for name, version in found if name != "webwinnow"))
        plain = ["--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
        command = [_uv(), "pip", "compile", "--generate-hashes", *plain, "--python", sys.executable]
        command += [f"--extra={extra}" for extra in EXTRAS] + [f"--group={group}" for group in groups]
        command += ["--constraint", str(installed), "--output-file", str(out), "pyproject.toml"]
        subprocess.run(command, cwd=ROOT, check=True)
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
