"""The benchmark of a long run that is killed again and again works, on a small one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MILLION = Path(__file__).parents[2] / "benchmarks" / "million.py"

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks /proc for the workers of a run")


def million(folder: Path, records: int, kills: int, *more: str) -> subprocess.CompletedProcess[str]:
    options = ["--records", str(records), "--kills", str(kills), "--folder", str(folder), "--jobs", "2", *more]
    return subprocess.run([sys.executable, str(MILLION), *options], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("records", "kills"), [(300, 2), pytest.param(2_000, 3, marks=pytest.mark.slow)])
def test_no_record_is_lost_or_doubled(records: int, kills: int, tmp_path: Path) -> None:
    done = million(tmp_path, records, kills, "--compare")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{records:,} records, {kills} kills of the run" in done.stdout
    assert "0 lost, 0 doubled, 0 wrong, bytes the same as without kills" in done.stdout


def test_a_record_that_is_lost_or_doubled_or_wrong_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(MILLION.parent))
    from million import checked, token_of

    def line(number: int, token: str) -> str:
        return f'{{"page_id":"{number}","outcome":"kept","text":"{token}"}}\n'

    out = tmp_path / "out.jsonl"
    out.write_text(line(0, token_of(0)) + line(1, token_of(1)) + line(1, token_of(1)) + line(2, token_of(9)))
    found = checked(out, 4)
    assert (found.lost, found.doubled, found.wrong, found.is_good) == (1, 1, 1, False)
