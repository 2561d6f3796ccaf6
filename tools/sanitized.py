"""Run tests with kernels that check every memory access and every undefined operation (ASAN and UBSAN of gcc).

    python tools/sanitized.py [ARGUMENTS OF PYTEST]

The kernels are built in build/sanitized, which takes some minutes the first time; those of `src` stay as they are.
Without arguments the tests of the kernels run, the golden pages, and the corpus of the fuzzers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "build" / "sanitized"
FLAGS = "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=nonnull-attribute"
"""Copying no bytes from nowhere is allowed: it does nothing, and C 2y defines it."""
FOUND = ROOT / "build" / "sanitizer-reports"
OTHER_TESTS = """
tests/test_html5lib.py tests/test_htmltree.py tests/test_hostile.py tests/test_textquality.py tests/test_structures.py
tests/test_treebytes.py tests/test_golden.py
tests/cleaning/test_wholes_sections.py tests/cleaning/test_cst.py tests/sitemining/test_hmt_passes.py
tests/fuzz/test_corpus.py
""".split()
"""Tests of kernels that are not named so, the golden pages, and the corpus of the fuzzers."""

CAN_RUN = "not parquet and not models-table"
"""Parquet is read in a process with a limit on its addresses, of which the sanitizer needs terabytes."""


def tests() -> list[str]:
    """The arguments of pytest: files of tests, and which of them can run."""
    named = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/**/test_*kernel*.py"))
    return [*named, *(name for name in OTHER_TESTS if (ROOT / name).exists()), "-k", CAN_RUN]


def build() -> None:
    """Copy the package and build its kernels beside the copies."""
    BUILT.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        ROOT / "src" / "webwinnow",
        BUILT / "webwinnow",
        ignore=shutil.ignore_patterns("*.so", "*.pyc", "__pycache__"),
        dirs_exist_ok=True,
    )
    flags = BUILT / "flags.txt"
    if not flags.exists() or flags.read_text(encoding="utf-8") != FLAGS:
        for built in BUILT.glob("webwinnow/**/*.so"):
            built.unlink()
    flags.write_text(FLAGS, encoding="utf-8")
    command = [
        sys.executable,
        "setup.py",
        "-q",
        "build_ext",
        "--build-lib",
        str(BUILT),
        "--build-temp",
        f"{BUILT}-temp",
    ]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"WEBWINNOW_KERNEL_FLAGS": FLAGS})


def library(name: str) -> str:
    """The path of a library of the compiler."""
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def main() -> None:
    """Build, then run the tests."""
    build()
    shutil.rmtree(FOUND, ignore_errors=True)
    FOUND.mkdir(parents=True)
    checked = {
        "LD_PRELOAD": " ".join(map(library, ("libasan.so", "libubsan.so"))),
        # the interpreter keeps memory to its end, so leaks are not looked for
        "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:log_path={FOUND}/report",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={FOUND}/report",
        "PYTHONMALLOC": "malloc",  # otherwise small objects share what is checked as one block
        "PYTHONPATH": str(BUILT),
    }
    asked = sys.argv[1:] or tests()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked]
    status = subprocess.run(command, cwd=ROOT, env=os.environ | checked, check=False).returncode
    reports = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(FOUND.iterdir())]
    sys.stderr.writelines(reports)
    raise SystemExit(status or bool(reports))


if __name__ == "__main__":
    main()
