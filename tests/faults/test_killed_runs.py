"""Faults at any record of a run: after `--resume`, every page is there exactly once, with the same bytes."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("faultyrun.py")
SITES, PAGES = 4, 90
"""Some parts of 64 pages, small sites that share a part, and a large one."""
PATIENCE_MS = 240_000

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks /proc for the workers of a run")


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crawl") / "crawl.jsonl"
    dice = random.Random(5)
    with path.open("w") as lines:
        for number in range(SITES * PAGES):
            site = f"s{min(dice.randrange(SITES * 2), SITES)}.example"
            menu = "".join(f"<li><a href=/{n}>{site} section {n}</a>" for n in range(6))
            story = " ".join(f"word{dice.randrange(999)}" for _ in range(60))
            html = f"<title>{number}</title><ul>{menu}</ul><main><h1>Page {number}</h1><p>{story}.</p></main>"
            lines.write(json.dumps({"url": f"http://{site}/{number}", "page_id": str(number), "html": html}) + "\n")
    return path


def run(crawl: Path, out: Path, fault: str = "none", stage: str = "", count: int = 0, *more: str) -> tuple[int, str]:
    command = [sys.executable, str(DRIVER), str(crawl), str(out), fault, stage, str(count), *more]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def written(out: Path) -> tuple[bytes, bytes]:
    return out.read_bytes(), Path(f"{out}.rejected").read_bytes()


@pytest.fixture(scope="session")
def whole(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """What a run without faults writes."""
    out = tmp_path_factory.mktemp("whole") / "out.jsonl"
    status, words = run(crawl, out)
    assert status == 0, words
    lines = written(out)[0].splitlines()
    assert sorted(int(json.loads(line)["page_id"]) for line in lines) == list(range(SITES * PAGES))
    return written(out)


def resumed_until_done(crawl: Path, out: Path, faults: Callable[[], tuple[str, str, int]], most: int) -> int:
    """Repeat a run with one fault each, then without; returns how many faults ended it."""
    ended = 0
    for _ in range(most):
        status, words = run(crawl, out, *faults(), *(["--resume"] if ended else []))
        assert "Traceback" not in words
        if status == 0:
            return ended
        assert not out.exists()
        ended += 1
    status, words = run(crawl, out, "none", "", 0, "--resume")
    assert status == 0, words
    return ended


def moments(seed: int) -> Callable[[], tuple[str, str, int]]:
    """Random faults at random records."""
    dice = random.Random(seed)
    counts = {"parse": SITES * PAGES, "clean": SITES * PAGES, "replicas": 2, "write": 4}

    def choose() -> tuple[str, str, int]:
        stage = dice.choice(("parse", "parse", "clean", "clean", "replicas", "write"))
        return dice.choice(("kill", "kill", "term")), stage, dice.randint(1, counts[stage])

    return choose


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 13))])
def test_a_run_killed_at_random_records_ends_with_the_same_bytes(
    crawl: Path, whole: tuple[bytes, bytes], seed: int, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    assert resumed_until_done(crawl, out, moments(seed), most=4)
    assert written(out) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.rejected"]


@pytest.mark.parametrize(
    ("stage", "count"),
    [("parse", 40), ("clean", 90), *(pytest.param("clean", n, marks=pytest.mark.slow) for n in (1, 7, 333))],
)
def test_a_killed_worker_is_replaced_and_the_bytes_are_the_same(
    crawl: Path, whole: tuple[bytes, bytes], stage: str, count: int, tmp_path: Path
) -> None:
    status, words = run(crawl, tmp_path / "out.jsonl", "worker", stage, count)
    assert status == 0, words
    assert written(tmp_path / "out.jsonl") == whole


@pytest.mark.parametrize("most", [4_096, 200_000, pytest.param(350_000, marks=pytest.mark.slow)])
def test_a_disk_that_is_full_is_reported_and_the_run_continues_when_there_is_room(
    crawl: Path, whole: tuple[bytes, bytes], most: int, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    status, words = run(crawl, out, f"room:{most}")
    assert status == 2, words
    assert "Traceback" not in words
    assert not out.exists()
    assert run(crawl, out, "none", "", 0, "--resume")[0] == 0
    assert written(out) == whole


@pytest.mark.parametrize("seconds", [-86_400, 40 * 86_400])
def test_a_clock_that_jumps_changes_nothing(
    crawl: Path, whole: tuple[bytes, bytes], seconds: int, tmp_path: Path
) -> None:
    status, words = run(crawl, tmp_path / "out.jsonl", f"clock:{seconds}", "parse", 50)
    assert status == 0, words
    assert written(tmp_path / "out.jsonl") == whole


def test_an_index_that_the_disk_has_no_room_for_is_reported_and_the_run_continues(tmp_path: Path) -> None:
    # Long URLs: the index of the run grows faster than its spool.
    crawl, out = tmp_path / "crawl.jsonl", tmp_path / "out.jsonl"
    rows = [{"url": f"http://a.example/{n}/{'x' * 1500}", "page_id": str(n), "html": "<p>a"} for n in range(600)]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, words = run(crawl, out, "room:200000")
    assert status == 2, words
    assert "index.sqlite: " in words
    assert "Traceback" not in words
    assert run(crawl, out, "none", "", 0, "--resume")[0] == 0
    assert sorted(int(json.loads(line)["page_id"]) for line in out.read_bytes().splitlines()) == list(range(len(rows)))


def damaged_files(folder: Path, dice: random.Random) -> int:
    """Damage every file of the spool and of the parts of a run, each in another way; returns their number."""
    files = [folder / "pages.spool", *sorted((folder / "parts").iterdir())]
    for number, file in enumerate(files):
        content = file.read_bytes()
        at = dice.randrange(len(content))
        match number % 5:
            case 0:
                file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            case 1:
                file.write_bytes(content[:at])
            case 2:
                file.write_bytes(content + content[at:])
            case 3:
                file.write_bytes(files[number - 1].read_bytes())
            case 4:
                file.unlink()
    return len(files)


@pytest.mark.parametrize(
    ("stage", "count", "seed"),
    [("clean", 300, 1), ("write", 2, 2), *(pytest.param("write", 3, n, marks=pytest.mark.slow) for n in range(3, 9))],
)
def test_a_run_whose_files_are_damaged_is_resumed_with_the_same_bytes(
    crawl: Path, whole: tuple[bytes, bytes], stage: str, count: int, seed: int, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    assert run(crawl, out, "kill", stage, count)[0] == -signal.SIGKILL
    parts = tmp_path / ".out.jsonl.webwinnow-run" / "parts"
    for path in parts.glob(".*"):  # of the part that was being written
        path.unlink()
    before = parts.parent / "pages.spool", parts.parent / "spool"
    before[1].write_bytes(before[0].read_bytes())
    assert damaged_files(parts.parent, random.Random(seed)) > 4
    if seed % 2:  # with a whole spool, only the parts are made again
        before[1].replace(before[0])
    status, words = run(crawl, out, "none", "", 0, "--resume")
    assert status == 0, words
    assert written(out) == whole


@pytest.mark.parametrize(("stage", "count"), [("clean", 90), pytest.param("write", 2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("read-only", "Read-only file system"),
        ("error:EDQUOT", "Disk quota exceeded"),
        ("error:EIO", "Input/output error"),
    ],
)
def test_a_folder_that_cannot_be_written_is_reported_and_the_run_continues_when_it_can(
    crawl: Path, whole: tuple[bytes, bytes], fault: str, reason: str, stage: str, count: int, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    status, words = run(crawl, out, fault, stage, count)
    assert status == 2, words
    assert reason in words
    assert "Traceback" not in words
    assert not out.exists()
    status, words = run(crawl, out, "none", "", 0, "--resume")
    assert status == 0, words
    assert written(out) == whole


def test_an_output_where_nothing_can_be_written_is_reported(crawl: Path) -> None:
    status, words = run(crawl, Path("/proc/out.jsonl"))
    assert status == 2
    assert "Traceback" not in words


def test_an_old_output_stays_until_the_new_one_is_complete(
    crawl: Path, whole: tuple[bytes, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"old")
    assert run(crawl, out, "kill", "write", 2)[0] == -signal.SIGKILL
    assert out.read_bytes() == b"old"
    assert run(crawl, out, "none", "", 0, "--resume")[0] == 0
    assert written(out) == whole


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_workers_die_with_a_killed_run_whatever_they_are_doing(crawl: Path, tmp_path: Path) -> None:
    # They are stopped, so none of them can notice by itself that its run is gone.
    command = [sys.executable, str(DRIVER), str(crawl), str(tmp_path / "out.jsonl"), "stop", "parse", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        pids = list(map(int, running.stdout.readline().split()))
        handles = [os.pidfd_open(pid) for pid in pids]
        running.kill()
    assert handles
    for handle in handles:
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        assert waiting.poll(PATIENCE_MS), "a worker outlives its run"
        os.close(handle)
