"""What this installation can do: versions, compiled parts, extras, programs, and the machine it runs on.

`examine()` imports nothing that may be missing: a package that is broken is a finding, not an exception.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final, Literal

from webwinnow._version import __version__
from webwinnow.counted import counted
from webwinnow.platforms import cpu_count

State = Literal["ok", "missing", "broken"]

KERNELS: Final = """
judge._genre judge._judging judge._scoring methods._view page._finding page._htmlnames page._htmltokens
page._htmltree page._layout page._memory
page._nodes page._sections page._structures page._treebytes page._words record._text record._textquality
replicas._sketches site._mapping site._structuremap site._styles site.hmt._passes
""".split()
"""The compiled parts."""
TRAINED: Final = """
judge/posts.npz judge/typical.npz judge/weights.npz methods/itemtrees.npz judge/kinds.npz
""".split()
"""Trained files that ship with the package."""
USES: Final = {
    "parquet": "Parquet in and out; models pack",
    "mining": "cluster, classify, experiment mining, learn-items; features --weighting wplus; scikit-learn estimators",
    "search": "index, search, experiment search; search in serve",
    "crawl": "crawl, sites mine; clean and page with URLs",
    "render": "--render of crawl, clean and page; rendering in serve; needs Chromium too",
    "serve": "serve",
    "ray": "--engine ray",
    "spark": "--engine spark; needs Java too",
    "datatrove": "blocks for a datatrove pipeline",
    "selectors": "--keep and --drop of clean and page",
    "cjk": "Chinese words by dictionary, in Python",
    "thesaurus": "--thesaurus of sites and experiment sites",
}
"""What each extra is for."""
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
LEAST_JAVA: Final = 17
LEAST_PYTHON: Final = (3, 11)
LEAST_FREE_BYTES: Final = 1_000_000_000
"""Free space in the folder of temporary files below which a run over many pages may fail."""
SECONDS_TO_ANSWER: Final = 120.0
SAMPLE: Final = "<nav><a href=/>Home</a></nav><p>Page {number} has a sentence of content, which is long enough."

_PACKAGE = re.compile(r"([\w.-]+)(?:\[[^]]*\])?")
_EXTRA = re.compile(r"extra\s*==\s*[\"'](\w+)[\"']")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([\d.]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was examined: its state, what was found, and what it is for or what to do."""

    group: Literal["required", "extras", "programs", "machine"]
    name: str
    state: State
    found: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """What an installation has and lacks."""

    findings: tuple[Finding, ...]
    cores: int
    memory_bytes: int | None
    free_bytes: int | None
    """Free space in the folder of temporary files; None if there is no such folder."""

    @property
    def broken(self) -> tuple[Finding, ...]:
        """What is required and does not work."""
        return tuple(found for found in self.findings if found.group == "required" and found.state != "ok")

    def to_plain(self) -> dict[str, Any]:
        """All findings, for JSON."""
        return {"version": __version__, "works": not self.broken} | asdict(self)


def examine() -> Examination:
    """Examine this installation and this machine."""
    try:
        scratch = tempfile.gettempdir()
        free = shutil.disk_usage(scratch).free
    except OSError:
        scratch, free = "", None
    found = (*_required(), _scratch(scratch, free), *_extras(), *_programs(), *_machine())
    return Examination(found, cpu_count(), _memory(), free)


# What every command needs


def _required() -> Iterator[Finding]:
    version = platform.python_version()
    is_known = sys.version_info[:2] >= LEAST_PYTHON
    yield Finding("required", "Python", "ok" if is_known else "broken", f"{version}, {platform.platform()}")
    lacking = [problem for name in KERNELS if (problem := _import_problem(f"webwinnow.{name}"))]
    built = f"{len(KERNELS) - len(lacking)} of {len(KERNELS)}"
    yield _judged("compiled parts", built, lacking, "install webwinnow again, from a wheel or with a C compiler")
    needed, problems = _distributions(None)
    yield _judged("dependencies", ", ".join(needed), problems, "pip install --upgrade webwinnow")
    yield _judged("trained models", *_trained())
    yield _judged("a page", *_cleaned_sample())


def _judged(name: str, found: str, problems: list[str], advice: str) -> Finding:
    if problems:
        return Finding("required", name, "broken", "; ".join(problems), advice)
    return Finding("required", name, "ok", found)


def _import_problem(name: str) -> str | None:
    try:
        import_module(name)
    except (ImportError, OSError, ValueError) as error:  # ValueError: compiled for another numpy
        return f"{name}: {error}"
    return None


def _trained() -> tuple[str, list[str], str]:
    folder = Path(__file__).parents[1]
    lacking = [name for name in TRAINED if not (folder / name).is_file() or not (folder / name).stat().st_size]
    return f"{len(TRAINED)} files", [f"{name} is missing" for name in lacking], "install webwinnow again"


def _cleaned_sample() -> tuple[str, list[str], str]:
    """Learn a small site and clean a page of it, in another process: a damaged compiled part may end it."""
    pages = [SAMPLE.format(number=number) for number in range(3)]
    program = f"import webwinnow; pages = {pages!r}; print(webwinnow.learn(pages).clean(pages[0]).text)"
    command = [sys.executable, "-P", "-c", program]
    code, said = _answer(command, with_path=True)
    is_clean = code == 0 and "Page 0 has a sentence of content" in said
    last = said.strip().rpartition("\n")[2] or f"exit code {code}"
    return "was cleaned", [] if is_clean else [f"cannot be cleaned: {last}"], "please report this, with this output"


# Packages


def _distributions(extra: str | None) -> tuple[list[str], list[str]]:
    """The packages of an extra, or those always needed, with their versions; and what is wrong with them."""
    found, problems = [], []
    for name, bounds, of in _requirements():
        if of != extra or name.lower() == "webwinnow":
            continue
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            problems.append(f"{name} is not installed")
            continue
        found.append(f"{name} {version}")
        if not is_within(version, bounds):
            problems.append(f"{name} {version} is installed, {bounds} is needed")
    return found, problems


def _requirements() -> Iterator[tuple[str, str, str | None]]:
    """The requirements that the metadata of webwinnow declares: package, bounds, extra."""
    try:
        lines = metadata.requires("webwinnow") or []
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        lines = []
    for line in lines:
        requirement, _, marker = line.partition(";")
        package, extra = _PACKAGE.match(requirement), _EXTRA.search(marker)
        if package is not None:
            yield package[1], requirement[package.end() :].strip(), extra[1] if extra else None


def is_within(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as `>=1.15,<1.16`; parts that are no numbers do not count."""
    own = _numbers(version)
    compare = {
        ">=": lambda bound: own >= bound,
        "<=": lambda bound: own <= bound,
        ">": lambda bound: own > bound,
        "<": lambda bound: own < bound,
        "==": lambda bound: own == bound,
        "!=": lambda bound: own != bound,
    }
    return all(compare[sign](_numbers(bound)) for sign, bound in _BOUND.findall(bounds))


def _numbers(version: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in leading[0].split(".")] if leading else []
    while numbers and not numbers[-1]:  # 2.0 equals 2
        numbers.pop()
    return tuple(numbers)


def _extras() -> Iterator[Finding]:
    for extra, use in USES.items():
        found, problems = _distributions(extra)
        advice = f"{use}: pip install 'webwinnow[{extra}]'"
        if not problems:
            state: State = "ok" if found else "missing"
            yield Finding("extras", extra, state, ", ".join(found) or "unknown", use if found else advice)
        else:
            is_absent = all(problem.endswith("is not installed") for problem in problems)
            yield Finding("extras", extra, "missing" if is_absent else "broken", "; ".join(problems), advice)


# Programs and the machine


def _programs() -> Iterator[Finding]:
    path = next((there for name in BROWSERS if (there := shutil.which(name))), None)
    use = "--render of crawl, clean and page; rendering in serve"
    if path is None:
        yield Finding("programs", "Chromium", "missing", f"none of {', '.join(BROWSERS)}", use)
    else:
        code, said = _answer([path, "--version"])
        version = re.search(r"^(?:Chromium|Google Chrome).*\d", said, re.MULTILINE)
        shown = f"does not start, exit code {code}" if version is None else version[0]
        yield Finding("programs", "Chromium", "broken" if version is None else "ok", f"{path}: {shown}", use)
    java = shutil.which("java")
    if java is None:
        yield Finding("programs", "Java", "missing", "no java", "--engine spark")
        return
    code, said = _answer([java, "-version"])
    number = re.search(r'version "(\d+)', said)
    is_new = code == 0 and number is not None and int(number[1]) >= LEAST_JAVA
    found = f"{java}: {said.strip().partition(chr(10))[0]}"
    yield Finding("programs", "Java", "ok" if is_new else "broken", found, f"--engine spark, from Java {LEAST_JAVA}")


def _answer(command: list[str], *, with_path: bool = False) -> tuple[int, str]:
    """The exit code of a program and what it says; -1 if it does not answer."""
    environment = dict(os.environ)
    if with_path:  # the same webwinnow as here
        environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS_TO_ANSWER,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return -1, str(error)
    return done.returncode, done.stdout + done.stderr


def _scratch(folder: str, free: int | None) -> Finding:
    if free is None:
        return Finding("required", "temporary files", "broken", "no folder can be written", "set TMPDIR, or give --tmp")
    shown = f"{free / 1e9:.1f} GB free in {folder}"
    advice = "a run over many pages needs more: set TMPDIR, or give --tmp" if free < LEAST_FREE_BYTES else ""
    return Finding("required", "temporary files", "ok", shown, advice)


def _machine() -> Iterator[Finding]:
    memory = _memory()
    shown = "" if memory is None else f", {memory / 1e9:.1f} GB of memory"
    yield Finding("machine", "processor", "ok", f"{counted(cpu_count(), 'core')}, {platform.machine()}{shown}")
    has_workers = os.name != "nt"
    about = "" if has_workers else "clean, learn, serve, crawl and the engines need Linux or macOS"
    yield Finding("machine", "worker processes", "ok" if has_workers else "missing", platform.system(), about)


def _memory() -> int | None:
    """Bytes of memory of the machine, None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
