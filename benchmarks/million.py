"""A long run that is killed again and again: `python benchmarks/million.py [--records N] [--kills K]`.

Generates a crawl, cleans it with `webwinnow clean`, kills the run at random records, continues it with `--resume`, and
then checks the output: every record exactly once, each with the words of its own page. Before a third of the kills, a
worker is killed too, which the run replaces. With `--compare` the same crawl is cleaned once more
without kills, and the bytes must be the same. The default is a million records and 50 kills; it needs about 10 GB of
disk. The crawl and the output are removed at the end unless `--folder` is given.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

WORDS = "river stone market winter letter garden engine window history music paper field copper bridge valley".split()
FILE_RECORDS = 50_000
"""Records of an input file."""
SITE_RECORDS = 400
"""Records of a site on average; some sites have a few, some thousands."""


def site_of(number: int) -> str:
    """Every eighth record belongs to a large site, every eighth to a small one."""
    if number % 8 == 0:
        return f"large{number // (SITE_RECORDS * 64)}.example"
    return f"site{number // SITE_RECORDS}.example" if number % 8 > 1 else f"small{number // 24}.example"


def token_of(number: int) -> str:
    """A word that only one page has."""
    return f"t{number}x{number * 7919 % 1_000_003}"


def page_of(number: int) -> dict[str, str]:
    """A page with its site's menu and footer around words that only it has."""
    dice, site = random.Random(number), site_of(number)
    menu = "".join(f"<li><a href=/{n}>{site} section {n}</a>" for n in range(5))
    story = " ".join(f"{dice.choice(WORDS)} {dice.choice(WORDS)}" for _ in range(30))
    html = (
        f"<!doctype html><title>Page {number}</title><ul class=menu>{menu}</ul><main><h1>Report {number}</h1>"
        f"<p>The token of this page is {token_of(number)}. {story}.</p></main><footer>{site}</footer>"
    )
    return {"url": f"http://{site}/{number}", "page_id": str(number), "html": html}


def write_crawl(folder: Path, records: int) -> None:
    folder.mkdir(exist_ok=True)
    for first in range(0, records, FILE_RECORDS):
        with gzip.open(folder / f"{first:09d}.jsonl.gz", "wt", compresslevel=1) as lines:
            for number in range(first, min(first + FILE_RECORDS, records)):
                lines.write(json.dumps(page_of(number)) + "\n")


@dataclass(slots=True)
class Checked:
    """What is wrong with an output."""

    lost: int = 0
    doubled: int = 0
    wrong: int = 0
    examples: list[int] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.wrong)


def checked(out: Path, records: int) -> Checked:
    """Read the output line by line."""
    seen, found = bytearray(records), Checked()
    with out.open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            number = int(record["page_id"])
            found.doubled += seen[number]
            seen[number] = 1
            if record["outcome"] != "kept" or token_of(number) not in record["text"]:
                found.wrong += 1
                found.examples = [*found.examples, number][:5]
    found.lost = seen.count(0)
    return found


# One attempt, in a process of its own that a fault ends


Fault = tuple[str, str, int]
"""What is killed (`run` or `worker`), and the stage and the number of records at which that happens."""


def attempt(faults: list[Fault], arguments: list[str], killed_workers: str) -> None:
    """Run the command; faults happen at a number of records, whatever the speed of the machine.

    Each worker that was killed adds a byte to the file `killed_workers`.
    """
    from webwinnow.cli.app import main as webwinnow
    from webwinnow.cli.terminal import ShownProgress

    shown, seen = ShownProgress.update, Counter[str]()

    def update(self: ShownProgress, at: str, done: int, total: int | None) -> None:
        seen[at] += 1
        for killed, stage, count in faults:
            if at == stage and seen[at] == count:
                if killed == "run":
                    os.kill(os.getpid(), signal.SIGKILL)
                for number in workers()[:1]:
                    os.kill(number, signal.SIGKILL)
                    with Path(killed_workers).open("ab") as file:
                        file.write(b"x")
        shown(self, at, done, total)

    ShownProgress.update = update  # type: ignore[method-assign]
    sys.argv = ["webwinnow", *arguments]
    webwinnow()


def workers() -> list[int]:
    """The worker processes of this process."""
    threads = Path("/proc/self/task").iterdir()
    children = [child for thread in threads for child in map(int, (thread / "children").read_text().split())]
    name = b"webwinnow.run.pageworker"
    return sorted(child for child in children if name in Path(f"/proc/{child}/cmdline").read_bytes())


def clean(crawl: Path, out: Path, jobs: int, *, resume: bool, faults: list[Fault]) -> int:
    arguments = ["clean", str(crawl), "-o", str(out), "--quiet", "--jobs", str(jobs), *(["--resume"] if resume else [])]
    command = [sys.executable, __file__, "--attempt", json.dumps([faults, arguments, str(killed_workers(out))])]
    return subprocess.run(command, check=False).returncode


def killed_workers(out: Path) -> Path:
    """The file with a byte for each worker that was killed."""
    return out.with_name(f"{out.name}.killed-workers")


def killed_runs(crawl: Path, out: Path, options: argparse.Namespace) -> tuple[int, int]:
    """Clean with kills until the output is there; returns kills of the run and of workers."""
    dice, of_worker = random.Random(options.seed), killed_workers(out)
    of_worker.write_bytes(b"")
    of_run = 0
    for kill in range(options.kills):
        stage = "parse" if kill < options.kills // 2 else "clean"
        count = dice.randint(2, max(2 * options.records // options.kills, 3))  # half of the stage, all together
        faults: list[Fault] = [("run", stage, count)]
        if dice.random() < 1 / 3:
            faults.append(("worker", stage, count // 2))
        status = clean(crawl, out, options.jobs, resume=of_run > 0, faults=faults)
        if status == 0:  # it was faster than all kills
            return of_run, of_worker.stat().st_size
        if status != -signal.SIGKILL:
            raise SystemExit(f"the run ended with status {status}")
        of_run += 1
    status = clean(crawl, out, options.jobs, resume=of_run > 0, faults=[])
    if status != 0:
        raise SystemExit(f"the last run ended with status {status}")
    return of_run, of_worker.stat().st_size


def measure(options: argparse.Namespace, folder: Path) -> bool:
    crawl, out = folder / "crawl", folder / "out.jsonl"
    write_crawl(crawl, options.records)
    began = time.monotonic()
    of_run, of_worker = killed_runs(crawl, out, options)
    seconds = time.monotonic() - began
    found = checked(out, options.records)
    same = ""
    is_good = found.is_good
    if options.compare:
        other = folder / "undisturbed.jsonl"
        status = clean(crawl, other, options.jobs, resume=False, faults=[])
        if status != 0:
            raise SystemExit(f"the run without kills ended with status {status}")
        equal = (
            hashlib.file_digest(out.open("rb"), "sha256").digest()
            == hashlib.file_digest(other.open("rb"), "sha256").digest()
        )
        same = f", bytes {'the same as' if equal else 'DIFFERENT from'} without kills"
        is_good &= equal
    print(
        f"{options.records:,} records, {of_run} kills of the run, {of_worker} of a worker: {found.lost:,} lost, "
        f"{found.doubled:,} doubled, {found.wrong:,} wrong{same}; {seconds:,.0f} s"
    )
    if found.examples:
        print(f"wrong records, for example: {found.examples}")
    return is_good


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--records", type=int, default=1_000_000)
    given.add_argument("--kills", type=int, default=50)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--jobs", type=int, default=0, help="worker processes; 0 for one per CPU")
    given.add_argument("--folder", type=Path, help="where the crawl and the output are kept")
    given.add_argument("--compare", action="store_true", help="clean once more without kills and compare the bytes")
    given.add_argument("--attempt", help=argparse.SUPPRESS)
    options = given.parse_args()
    if options.attempt:
        attempt(*json.loads(options.attempt))
        return 0
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        return 0 if measure(options, options.folder) else 1
    with tempfile.TemporaryDirectory(prefix="webwinnow-million-") as folder:
        return 0 if measure(options, Path(folder)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
