"""Real faults on a cluster: no record is lost or doubled, and the counts are right.

What each fault of a driver must lead to:

    kill, SIGTERM            the run ends by the signal, and its cluster with it; --resume gives the same bytes
    read-only, quota, full   one sentence with the reason, exit code 2; --resume gives the same bytes
    a clock that jumps       nothing

Nothing but the output is left, and the logs of Ray.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from changedmodule import changed, holding
from wholefamily import below

pytestmark = [pytest.mark.slow]
pytest.importorskip("ray")
pytest.importorskip("pyspark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("there is no Java here", allow_module_level=True)

SITES, LARGE = 30, 700
PAGES = LARGE + 6 * SITES
FAULTS = Path(__file__).parents[2] / "faults"
PATIENCE = "400"
"""Seconds, in which all processes of a run must have ended after their driver: agents of Ray wait for a minute."""


@pytest.fixture(scope="module")
def pages_file(make_pages, tmp_path_factory):
    pages = make_pages("large.example", LARGE) + [page for n in range(SITES) for page in make_pages(f"s{n}.example", 6)]
    path = tmp_path_factory.mktemp("faults") / "crawl.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(pages_file, command):
    """The output and the messages of a local run."""
    out = pages_file.with_name("whole.jsonl")
    done = subprocess.run(
        [*command, "clean", str(pages_file), "-o", str(out)], check=True, capture_output=True, text=True
    )
    return out.read_bytes(), messages(done.stderr)


def messages(stderr: str) -> list[str]:
    """The counts of a summary."""
    return [line for line in stderr.splitlines() if line.startswith(("  kept", "  words", "  replicas", "    "))]


def named(pid: int, *words: bytes) -> list[int]:
    found = []
    for child in below(pid):
        with suppress(OSError):
            line = Path(f"/proc/{child}/cmdline").read_bytes()
            if all(word in line for word in words):
                found.append(child)
    return found


PARSING, PARSED = "webwinnow.run.engines.clusterengine.parse_records", "webwinnow.run.engines.clusterengine._parse"
CLEANED = "webwinnow.run.engines.clusterengine._clean"
PARSING_LOCALLY = "webwinnow.run.parsedcollection.parsed_pages"


@contextmanager
def held(folder: Path, generator: str, command: list[str], *arguments: object) -> Iterator[tuple[Any, int]]:
    """Start a run of which one process stops when the generator has its first item; yields the run and that process.

    That process continues after the block, if it is still there.
    """
    gate = folder / "gate"
    gate.mkdir()
    variables = os.environ | holding(gate, generator)
    given = [*command, *map(str, arguments)]
    with subprocess.Popen(given, stderr=subprocess.PIPE, text=True, env=variables) as process:
        while not (gate / "held").exists():
            assert process.poll() is None, "the run ended before anything could go wrong"
            time.sleep(0.02)
        try:
            yield process, int((gate / "held").read_text())
        finally:
            with suppress(OSError):  # nobody waits any more
                os.close(os.open(gate / "gate", os.O_WRONLY | os.O_NONBLOCK))
            process.kill()


def kill(*pids: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def above(pid: int, *words: bytes) -> int:
    """The nearest ancestor of a process with these words in its command line."""
    while not all(word in Path(f"/proc/{pid}/cmdline").read_bytes() for word in words):
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        assert pid > 1, words
    return pid


@pytest.mark.parametrize("name", [PARSING, CLEANED])
def test_ray_workers_killed_midway_lose_and_double_nothing(command, pages_file, whole, tmp_path, name):
    out = tmp_path / "out.jsonl"
    given = ("clean", pages_file, "-o", out, "--engine", "ray", "--jobs", 2)
    with held(tmp_path, name, command, *given) as (process, worker):
        kill(worker, *named(process.pid, b"ray::", b"MapBatches"))
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert (out.read_bytes(), messages(said)) == whole


def test_a_spark_executor_killed_midway_loses_and_doubles_nothing(command, pages_file, whole, tmp_path):
    out = tmp_path / "out.jsonl"
    given = ("clean", pages_file, "-o", out, "--engine", "spark", "--address", "local-cluster[2,1,1024]")
    with held(tmp_path, PARSING, command, *given) as (process, worker):
        kill(above(worker, b"java", b"CoarseGrainedExecutorBackend"), worker)
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert (out.read_bytes(), messages(said)) == whole


def test_spark_python_workers_killed_midway_lose_and_double_nothing(command, pages_file, whole, tmp_path):
    out = tmp_path / "out.jsonl"
    given = ("clean", pages_file, "-o", out, "--engine", "spark", "--jobs", 2)
    with held(tmp_path, CLEANED, command, *given) as (process, worker):
        kill(worker)
        _, said = process.communicate()
    assert process.returncode == 0, said
    assert (out.read_bytes(), messages(said)) == whole


@pytest.mark.parametrize(("engine", "other"), [("ray", "ray"), ("spark", "spark"), ("spark", "ray")])
@pytest.mark.parametrize(("name", "stage"), [(PARSED, "trees/*.parquet"), (CLEANED, "parts/*.counts")])
def test_a_driver_killed_midway_is_resumed(command, webwinnow, pages_file, whole, tmp_path, engine, other, name, stage):
    if engine != other and stage.startswith("trees"):
        pytest.skip("the change of engines is tested once")
    out, working = tmp_path / "out.jsonl", tmp_path / ".out.jsonl.webwinnow-run"
    given = ("clean", pages_file, "-o", out, "--engine", engine, "--jobs", 2, "-q")
    with held(tmp_path, name, command, *given) as (process, _):
        process.kill()
        process.communicate()
    assert not out.exists()
    assert list(working.glob(stage))
    done = webwinnow("clean", pages_file, "-o", out, "--engine", other, "--jobs", 2, "--resume")
    assert done.returncode == 0, done.stderr
    assert (out.read_bytes(), messages(done.stderr)) == whole
    assert not working.exists()


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_full_disk_is_reported_and_the_run_resumed_when_there_is_room(webwinnow, pages_file, whole, tmp_path, engine):
    disk, out = tmp_path / "disk", tmp_path / "out.jsonl"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", disk], check=False).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        given = ("clean", pages_file, "-o", out, "--tmp", disk, "--engine", engine, "--jobs", 2)
        done = webwinnow(*given)
        assert done.returncode == 2, done.stderr
        told_so = [line for line in done.stderr.splitlines() if line.startswith(f"webwinnow: {engine} gave up")]
        assert len(told_so) == 1
        assert "No space left" in told_so[0]
        assert "--resume" in told_so[0]
        assert not out.exists()
        subprocess.run(["mount", "-o", "remount,size=60m", disk], check=True)
        done = webwinnow(*given, "--resume")
        assert done.returncode == 0, done.stderr
        assert (out.read_bytes(), messages(done.stderr)) == whole
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_run_of_workers_is_not_resumed_by_a_cluster(command, webwinnow, pages_file, tmp_path):
    out, working = tmp_path / "out.jsonl", tmp_path / ".out.jsonl.webwinnow-run"
    with held(tmp_path, PARSING_LOCALLY, command, "clean", pages_file, "-o", out, "-q") as (process, _):
        process.kill()
        process.communicate()
    assert (working / "pages.spool").exists()
    done = webwinnow("clean", pages_file, "-o", out, "--engine", "ray", "--resume")
    assert done.returncode == 2
    assert "engine" in done.stderr


FaultyRun = Callable[..., tuple[int, str]]


@pytest.fixture
def faulty(pages_file, tmp_path) -> Iterator[FaultyRun]:
    """A run on a cluster in which something goes wrong, up to the end of its last process: its status and messages.

    Temporary files are in a folder of their own, of which nothing may be left.
    """
    hook = tmp_path / "hook"
    hook.mkdir()
    variables = os.environ | changed(
        hook, "webwinnow.run.engines.batchjobs", "from faultyrun import watch_tasks; watch_tasks(globals())"
    )
    with tempfile.TemporaryDirectory(prefix="ww") as scratch:  # a short name: Ray has its sockets there
        places = {"TMPDIR": scratch, "SPARK_LOCAL_DIRS": scratch}
        path = os.pathsep.join([str(FAULTS), variables["PYTHONPATH"]])

        def run(engine: str, fault: str = "none", stage: str = "", count: int = 0, *more: str) -> tuple[int, str]:
            given = (pages_file, tmp_path / "run" / "out.jsonl", fault, stage, count, "--engine", engine, *more)
            done = subprocess.run(
                [sys.executable, FAULTS / "wholefamily.py", PATIENCE, sys.executable, FAULTS / "faultyrun.py"]
                + [str(word) for word in given],
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                env=variables | places | {"PYTHONPATH": path},
            )
            assert "Traceback" not in done.stderr
            assert "left behind" not in done.stderr
            return done.returncode, done.stderr

        (tmp_path / "run").mkdir()
        yield run
        assert {path.name for path in Path(scratch).iterdir()} <= {"ray"}


@pytest.fixture(scope="module")
def whole_files(pages_file):
    """The files that a local run without faults writes, by name."""
    out = pages_file.with_name("files") / "out.jsonl"
    out.parent.mkdir()
    subprocess.run([sys.executable, FAULTS / "faultyrun.py", pages_file, out, "none", "", "0"], check=True)
    lines = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert len({line["page_id"] for line in lines}) == len(lines) == PAGES
    return files_of(out.parent)


def files_of(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize("engine", ["ray", "spark"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_driver_ended_at_random_records_is_resumed_with_the_same_bytes(faulty, whole_files, tmp_path, engine, seed):
    dice = random.Random(seed)
    for attempt, (signal_name, stage) in enumerate((("kill", "parse"), ("term", "clean"))):
        more = ["--resume"] * bool(attempt)
        status, said = faulty(engine, signal_name, stage, dice.randint(1, PAGES), *more)
        # a part that was finished before is not cleaned again: then nothing goes wrong
        if status == 0 and attempt:
            break
        assert status == 128 + {"kill": signal.SIGKILL, "term": signal.SIGTERM}[signal_name], said
        assert "SIGTERM" not in said
        assert not (tmp_path / "run" / "out.jsonl").exists()
    else:
        status, said = faulty(engine, "none", "", 0, "--resume")
    assert status == 0, said
    assert files_of(tmp_path / "run") == whole_files


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_driver_terminated_while_it_writes_is_resumed_with_the_same_bytes(faulty, whole_files, tmp_path, engine):
    status, said = faulty(engine, "term", "write", 2)
    assert status == 128 + signal.SIGTERM, said
    assert not (tmp_path / "run" / "out.jsonl").exists()
    status, said = faulty(engine, "none", "", 0, "--resume")
    assert status == 0, said
    assert files_of(tmp_path / "run") == whole_files


@pytest.mark.parametrize("engine", ["ray", "spark"])
@pytest.mark.parametrize(
    ("fault", "stage", "count", "reason"),
    [
        ("read-only", "parse", 300, "Read-only file system"),
        ("error:EDQUOT", "clean", 650, "Disk quota exceeded"),
        ("error:EIO", "write", 2, "Input/output error"),
        ("room:4096", "", 0, "File too large"),  # no trees
        ("room:300000", "", 0, "index.sqlite: "),  # trees, but not their index
        ("room:2000000", "", 0, "output: File too large"),  # all but the output
    ],
)
def test_a_folder_that_takes_no_more_is_reported_and_the_run_resumed_when_it_does(
    faulty, whole_files, tmp_path, engine, fault, stage, count, reason
):
    status, said = faulty(engine, fault, stage, count)
    assert status == 2, said
    assert len([line for line in said.splitlines() if line.startswith("webwinnow:") and reason in line]) == 1
    assert not (tmp_path / "run" / "out.jsonl").exists()
    status, said = faulty(engine, "none", "", 0, "--resume")
    assert status == 0, said
    assert files_of(tmp_path / "run") == whole_files


@pytest.mark.parametrize("engine", ["ray", "spark"])
@pytest.mark.parametrize("seconds", [-86_400, 40 * 86_400])
def test_a_clock_that_jumps_changes_nothing_on_a_cluster(faulty, whole_files, tmp_path, engine, seconds):
    status, said = faulty(engine, f"clock:{seconds}", "parse", 450)
    assert status == 0, said
    assert files_of(tmp_path / "run") == whole_files
