"""The steps of `Containerfile`, run in empty folders and environments instead of images: there is no container engine.

A stage is a folder and a virtual environment of the Python that runs the tests. COPY copies, RUN runs with the paths of
the image below the folder. Steps that need an image (apt-get, useradd, USER) are listed, not run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
STEPS = [(word, rest) for word, rest in re.findall(r"^([A-Z]+)\s+(.*)$", re.sub(r"\\\n\s*", "", TEXT), re.MULTILINE)]
NEEDS_IMAGE = ("apt-get ", "useradd ")
TOKEN = "a-token-that-nobody-guesses"


@dataclass
class Stage:
    """One stage of the build: its files, the Python of its image, and what it declares."""

    folder: Path
    work: str = "/"
    declared: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def at(self, path: str) -> Path:
        """A path of the image, here."""
        return self.folder / os.path.normpath(os.path.join(self.work, path)).lstrip("/")  # noqa: PTH118

    @property
    def python(self) -> Path:
        return self.folder / "venv/bin/python"

    def here(self, command: str) -> str:
        """A command whose absolute paths are below this stage's folder."""
        return re.sub(r"(?<![\w.=:/])/(src|wheels|requirements\.lock|home)\b", rf"{self.folder}/\1", command)

    def run(self, command: str) -> None:
        if command.startswith(NEEDS_IMAGE):
            self.left_out.append(command)
            return
        path = f"{self.python.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": path}
        done = subprocess.run(
            ["sh", "-c", self.here(command)],
            cwd=self.at("."),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and re.search("No matching distribution|Connection|Could not fetch", done.stderr):
            pytest.skip(f"packages cannot be downloaded here: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stdout + done.stderr


def built(folder: Path) -> list[Stage]:
    """Run all steps; returns the stages."""
    stages: list[Stage] = []
    named: dict[str, Stage] = {}
    for word, rest in STEPS:
        if word == "FROM":
            stages.append(Stage(folder / f"stage{len(stages)}"))
            stages[-1].folder.mkdir()
            subprocess.run([sys.executable, "-m", "venv", stages[-1].folder / "venv"], check=True)
            image, _, name = rest.partition(" AS ")
            stages[-1].declared["FROM"] = image
            named[name] = stages[-1]
            continue
        stage = stages[-1]
        if word == "COPY":
            *options, target = shlex.split(rest)
            source = next((named[one.partition("=")[2]] for one in options if one.startswith("--from=")), None)
            for name in (one for one in options if not one.startswith("--")):
                path = ROOT / name if source is None else source.at(name)
                place = stage.at(target) / (path.name if target.endswith("/") and path.is_file() else "")
                place.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    shutil.copytree(path, place, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"))
                else:
                    shutil.copy2(path, place)
        elif word == "RUN":
            stage.run(rest)
        elif word == "WORKDIR":
            stage.work = rest
            stage.at(".").mkdir(parents=True, exist_ok=True)
        else:
            stage.declared[word] = rest
    return stages


def test_the_steps_that_are_not_run_are_known() -> None:
    assert {word for word, _ in STEPS} == {
        *("FROM", "RUN", "WORKDIR", "COPY", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD")
    }
    skipped = [rest for word, rest in STEPS if word == "RUN" and rest.startswith(NEEDS_IMAGE)]
    assert len(skipped) == 2


def test_the_image_has_the_python_that_the_lock_was_resolved_for() -> None:
    locks = [(ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "requirements-build.lock")]
    (version,) = {re.findall(r"^# Resolved for Python ([\d.]+)\.$", lock, re.MULTILINE)[0] for lock in locks}
    images = {image.partition(" ")[0] for word, image in STEPS if word == "FROM"}
    assert images == {f"python:{version}-slim"}


def installs(command: str) -> list[list[str]]:
    """The arguments of each `pip install` and `pip wheel` of a RUN command, the subcommand first."""
    parts = [shlex.split(part) for part in re.split(r"&&|\|\||[;|&]", command)]
    called = [
        next((k for k, word in enumerate(part) if re.fullmatch(r"(.*/)?pip[\d.]*", word)), None) for part in parts
    ]
    return [part[k + 1 :] for part, k in zip(parts, called, strict=True) if k is not None]


def is_hashed(arguments: list[str]) -> bool:
    """Whether what pip downloads is compared with hashes: all of it is in a lock file, or there is nothing."""
    subcommand, *rest = arguments
    takes_value = ("-r", "--requirement", "--wheel-dir")
    values = {k + 1 for k, word in enumerate(rest) if word in takes_value}
    named = [word for k, word in enumerate(rest) if k not in values and not word.startswith("-")]
    locks = [rest[k] for k in sorted(values) if rest[k - 1] != "--wheel-dir"]
    if "--require-hashes" in rest:
        return subcommand == "install" and bool(locks) and not named
    built = named == ["."] and "--no-build-isolation" in rest
    return "--no-deps" in rest and not locks and (built or named == ["/wheels/*.whl"])


PIP_STEPS = [arguments for word, rest in STEPS if word == "RUN" for arguments in installs(rest)]


@pytest.mark.parametrize("arguments", PIP_STEPS, ids=" ".join)
def test_every_package_that_is_downloaded_is_compared_with_a_hash(arguments: list[str]) -> None:
    assert is_hashed(arguments)


@pytest.mark.parametrize(
    "command",
    [
        "pip install setuptools",
        "pip install -r requirements.lock",
        "pip install --require-hashes -r requirements.lock setuptools",
        "pip wheel --no-deps --wheel-dir /wheels .",
        "pip wheel --no-build-isolation --wheel-dir /wheels .",
        "pip install --upgrade pip",
        "python3 -m pip install wheel; true",
        "/usr/local/bin/pip3.11 install wheel",
        "apt-get update && pip install /wheels/*.whl",
    ],
)
def test_a_step_without_hashes_is_noticed(command: str) -> None:
    assert [is_hashed(arguments) for arguments in installs(command)] == [False]


def test_each_stage_installs_the_lock_file_that_it_copied() -> None:
    assert len(PIP_STEPS) == 4
    stages = TEXT.split("\nFROM ")[1:]
    for stage, lock in zip(stages, ("requirements-build.lock", "requirements.lock"), strict=True):
        assert re.search(rf"^COPY {re.escape(lock)} ", stage, re.MULTILINE)
        assert re.findall(r"-r /?(\S+)", stage) == [lock]


def test_what_is_copied_exists() -> None:
    copied = [name for word, rest in STEPS if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_volume_belongs_to_the_user_who_writes_it() -> None:
    (volume,) = (rest for word, rest in STEPS if word == "VOLUME")
    (user,) = (rest for word, rest in STEPS if word == "USER")
    assert any(word == "RUN" and f"install -d -o {user} {volume}" in rest for word, rest in STEPS)


def test_the_documentation_has_the_commands_of_the_file() -> None:
    shown = (ROOT / "docs/serve.md").read_text(encoding="utf-8")
    for line in re.findall(r"^#   (podman .*)$", TEXT, re.MULTILINE):
        assert line in shown


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the image is Linux")
def test_the_steps_build_a_service_that_answers(tmp_path: Path) -> None:
    _, last = built(tmp_path)
    command = [last.here(word) for word in json.loads(last.declared["CMD"])]
    command[0] = str(last.python.with_name(command[0]))
    environment = {"PATH": str(last.python.parent), "WEBWINNOW_TOKEN": TOKEN, "HOME": str(tmp_path)}
    server = subprocess.Popen(
        [*command, "--port", "0"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        announced = next(found for line in server.stderr if (found := re.search(r"http://\S+:(\d+)/", line)))
        port = announced[1]
        health = json.loads(last.declared["HEALTHCHECK"].removeprefix("CMD "))
        checked = [word.replace(":8765/", f":{port}/") for word in health[1:]]
        assert subprocess.run([last.python, *checked], env=environment, check=False).returncode == 0
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/page",
            data=json.dumps({"html": "<p>A page with one sentence of content, long enough to be kept.</p>"}).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(asked) as answer:
            assert "one sentence of content" in json.load(answer)["text"]
    finally:
        server.terminate()
        server.wait()
        server.stderr.close()
