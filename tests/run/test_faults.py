"""Real faults of runs: nothing is lost, nothing is doubled, and the fault is reported."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest
from changedmodule import changed

from webwinnow import childprocess
from webwinnow.cli.terminal import UNCHANGED
from webwinnow.errors import WebwinnowError
from webwinnow.run import workerpool as pool_module
from webwinnow.run.cleaning import run
from webwinnow.run.settings import RunSettings

HEAVY_PAGE = "<p>" + "<b>x y</b> zz " * 490_000
"""7 MB, with nearly as many elements as a page may have: takes about a second and hundreds of megabytes."""


def worker_pids(pid: int) -> list[int]:
    return [
        child
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for child in map(int, (thread / "children").read_text().split())
        if b"webwinnow.run.pageworker" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def test_missing_input_is_exit_2_and_named(webwinnow, tmp_path):
    done = webwinnow("clean", tmp_path / "nowhere.warc.gz", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "nowhere.warc.gz" in done.stderr
    assert "Traceback" not in done.stderr


def test_folder_without_pages_is_exit_2(webwinnow, tmp_path):
    (tmp_path / "empty").mkdir()
    done = webwinnow("clean", tmp_path / "empty", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert not (tmp_path / "out.jsonl").exists()


def test_parquet_without_html_is_exit_2_and_names_the_columns(webwinnow, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"address": ["a"], "body": ["b"]}), tmp_path / "pages.parquet")
    done = webwinnow("clean", tmp_path / "pages.parquet", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "html" in done.stderr
    assert "address" in done.stderr


def test_truncated_gzip_keeps_what_came_before_and_is_reported(webwinnow, records, make_pages, tmp_path):
    whole = gzip.compress("".join(json.dumps(page) + "\n" for page in make_pages("a.example", 300)).encode())
    crawl, out = tmp_path / "crawl.jsonl.gz", tmp_path / "out.jsonl"
    crawl.write_bytes(whole[: len(whole) * 2 // 3])
    done = webwinnow("clean", crawl, "-o", out)
    kept = [record for record in records(out) if record["outcome"] == "kept"]
    assert 100 < len(kept) < 300
    assert done.returncode == 1
    assert "crawl.jsonl.gz" in done.stderr


def test_truncated_warc_keeps_what_came_before_and_is_reported(webwinnow, records, tmp_path):
    sample = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
    crawl, out = tmp_path / "cut.warc.gz", tmp_path / "out.jsonl"
    crawl.write_bytes(sample.read_bytes()[:400_000])
    done = webwinnow("clean", crawl, "-o", out)
    kept = [record for record in records(out) if record["outcome"] == "kept"]
    assert 10 < len(kept) < 126
    assert done.returncode == 1
    assert "cut.warc.gz" in done.stderr


ENDLESS = """
import pathlib

_parse = parse

def parse(html, *given, **options):
    while len(html) > 1_000_000:
        pathlib.Path({hangs!r}).touch()
        _parse(html, *given, **options)
    return _parse(html, *given, **options)
"""
"""A parser that does not come to an end with a large page, and says so by a file."""


def test_page_that_takes_too_long_fails_alone(records, write_crawl, make_pages, tmp_path, monkeypatch):
    pages = make_pages("a.example", 12)
    pages[5]["html"] = "<p>" + "<b>x</b>" * 200_000
    out, hangs, kill_if_late = tmp_path / "out.jsonl", tmp_path / "hangs", pool_module._Worker.kill_if_late

    def kill_if_endless(worker, now):
        """Look at the clock only while the large page is parsed: on a busy machine others may take long, too."""
        left = kill_if_late(worker, now) if hangs.exists() else inf
        if worker.timed_out:
            hangs.unlink(missing_ok=True)
        return left

    monkeypatch.setattr(pool_module._Worker, "kill_if_late", kill_if_endless)
    for name, value in changed(tmp_path, "webwinnow.page.parsing", ENDLESS.format(hangs=str(hangs))).items():
        monkeypatch.setenv(name, value)
    summary = run([write_crawl(pages)], out, RunSettings(method="repeated", jobs=1, page_seconds=2.0))
    found = {record["page_id"]: record for record in records(out)}
    assert len(found) == 12
    assert found["a.example/5"]["outcome"] == "failed"
    assert "longer than 2 s" in found["a.example/5"]["reason"]
    assert (summary.kept, summary.failed) == (11, 1)


def test_page_that_eats_memory_fails_alone(webwinnow, records, write_crawl, make_pages, tmp_path):
    pages = make_pages("a.example", 12)
    pages[5]["html"] = HEAVY_PAGE + "ab cd " * 1_000_000
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", write_crawl(pages), "-o", out, "--jobs", 1, "--worker-memory", 290)
    found = {record["page_id"]: record for record in records(out)}
    assert len(found) == 12
    assert found["a.example/5"]["outcome"] == "failed"
    assert "memory" in found["a.example/5"]["reason"]
    assert [record["outcome"] for record in found.values()].count("kept") == 11
    assert done.returncode == 1


def test_page_over_the_limit_fails_with_both_numbers(webwinnow, records, write_crawl, make_pages, tmp_path):
    pages = make_pages("a.example", 4)
    pages[1]["html"] += "x" * 10_000
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", write_crawl(pages), "-o", out, "--max-bytes", 10_000)
    failed = records(out)[1]
    assert failed["outcome"] == "failed"
    assert "10,000" in failed["reason"]
    assert done.returncode == 1
    assert "kept 3, dropped 0, failed 1" in done.stderr


def test_gzip_bomb_in_a_warc_fails_alone(webwinnow, records, tmp_path):
    def response(url: str, body: bytes, encoding: str) -> bytes:
        http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{encoding}Content-Length: {len(body)}\r\n\r\n".encode()
        head = (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{hash(url) % 10**12:032d}>\r\n"
            f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http) + len(body)}\r\n\r\n"
        )
        return head.encode() + http + body + b"\r\n\r\n"

    bomb = gzip.compress(b"<p>" + b"a" * 300_000_000)
    crawl, out = tmp_path / "crawl.warc", tmp_path / "out.jsonl"
    crawl.write_bytes(
        response("http://a.example/1", b"<p>before", "")
        + response("http://a.example/bomb", bomb, "Content-Encoding: gzip\r\n")
        + response("http://a.example/2", b"<p>after", "")
    )
    done = webwinnow("clean", crawl, "-o", out)
    assert [(r["url"][-4:], r["outcome"]) for r in records(out)] == [
        ("le/1", "kept"),
        ("bomb", "failed"),
        ("le/2", "kept"),
    ]
    assert done.returncode == 1


def test_worker_killed_from_outside_loses_and_doubles_nothing(held_run, records, write_crawl, make_pages, tmp_path):
    crawl, out = write_crawl(make_pages("a.example", 1000)), tmp_path / "out.jsonl"
    with held_run("clean", crawl, "-o", out, "--jobs", 2, "-q", after=("add_page", 100)) as process:
        workers = worker_pids(process.pid)
        assert len(workers) == 2
        for worker in workers:  # each once: a page at which a worker dies twice is given up
            os.kill(worker, signal.SIGSTOP)
        process.release()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        assert process.wait(timeout=240) == 0
    found = records(out)
    assert [record["page_id"] for record in found] == [f"a.example/{n}" for n in range(1000)]
    assert {record["outcome"] for record in found} == {"kept"}


@pytest.mark.parametrize("midway", [("add_page", 700), ("add_part", 4)])
def test_killed_run_is_resumed_without_loss_or_double(
    held_run, webwinnow, records, write_crawl, make_pages, tmp_path, midway
):
    pages = make_pages("a.example", 700) + [page for n in range(300) for page in make_pages(f"s{n}.example", 1)]
    crawl = write_crawl(pages)
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert webwinnow("clean", crawl, "-o", whole, "-q").returncode == 0
    working = tmp_path / ".out.jsonl.webwinnow-run"
    with held_run("clean", crawl, "-o", out, "-q", after=midway) as process:
        process.kill()
    assert not out.exists()
    assert working.exists()
    done = webwinnow("clean", crawl, "-o", out, "--resume")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == whole.read_bytes()
    assert not working.exists()


@pytest.mark.parametrize("options", [("--format", "markdown"), ("--format", "html"), ("--shard-pages", "4")])
def test_a_run_killed_after_it_wrote_a_folder_is_finished(webwinnow, write_crawl, make_pages, tmp_path, options):
    crawl, out, working = write_crawl(make_pages("a.example", 10)), tmp_path / "out", tmp_path / ".out.webwinnow-run"
    given = ("clean", crawl, "-o", out, "--rejected", tmp_path / "rejected.jsonl", *options)
    kill = "import os; CollectionStore.finish = lambda store: os.kill(os.getpid(), 9)"
    program = f"from webwinnow.run.pagestore import CollectionStore; {kill}; from webwinnow.cli import main; main()"
    assert subprocess.run([sys.executable, "-c", program, *map(str, given)], check=False).returncode == -signal.SIGKILL
    whole = {path.name: path.read_bytes() for path in out.iterdir()}
    assert whole
    assert working.exists()
    done = webwinnow(*given)  # not asked to resume
    assert done.returncode == 2
    assert "is a folder with files in it" in done.stderr
    shown = sorted(out.iterdir())[0]
    shown.write_bytes(b"changed")
    done = webwinnow(*given, "--resume")
    assert done.returncode == 2
    assert shown.read_bytes() == b"changed"
    shown.write_bytes(whole[shown.name])
    done = webwinnow(*given, "--resume")
    assert done.returncode == 0, done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == whole
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_resume_with_other_settings_is_refused(held_run, webwinnow, write_crawl, make_pages, tmp_path):
    crawl, out = write_crawl(make_pages("a.example", 40)), tmp_path / "out.jsonl"
    with held_run("clean", crawl, "-o", out, "-q", after=("add_page", 10)) as process:
        process.kill()
    done = webwinnow("clean", crawl, "-o", out, "--resume", "--set", "page.tails=false")
    assert done.returncode == 2
    assert "settings" in done.stderr


def test_a_folder_that_changed_within_is_not_resumed(held_run, webwinnow, make_pages, tmp_path):
    inside = tmp_path / "crawl" / "deep"
    inside.mkdir(parents=True)
    (inside / "b.jsonl").write_text("".join(json.dumps(page) + "\n" for page in make_pages("a.example", 40)))
    out = tmp_path / "out.jsonl"
    with held_run("clean", tmp_path / "crawl", "-o", out, "-q", after=("add_page", 10)) as process:
        process.kill()
    (inside / "a.jsonl").write_text(json.dumps(make_pages("b.example", 1)[0]) + "\n")
    done = webwinnow("clean", tmp_path / "crawl", "-o", out, "--resume")
    assert done.returncode == 2
    assert "inputs" in done.stderr


@pytest.mark.parametrize("options", [["--resume"], []])
def test_two_runs_with_one_output_do_not_mix(held_run, webwinnow, write_crawl, make_pages, tmp_path, options):
    crawl, out = write_crawl(make_pages("a.example", 40)), tmp_path / "out.jsonl"
    with held_run("clean", crawl, "-o", out, "-q", after=("add_page", 10)) as process:
        done = webwinnow("clean", crawl, "-o", out, *options)
        assert done.returncode == 2
        assert "another run" in done.stderr
        process.release()
        assert process.wait(timeout=240) == 0


def test_full_disk_at_the_output_leaves_nothing_half_written(webwinnow, write_crawl, make_pages):
    with Path("/dev/full").open("w") as full:
        done = webwinnow(
            "clean",
            write_crawl(make_pages("a.example", 50)),
            "-o",
            "-",
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_full_disk_under_a_file_is_reported_and_resumed_when_there_is_room(
    webwinnow, records, write_crawl, make_pages, tmp_path
):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", disk], check=False).returncode:
        pytest.skip("may not mount a small disk here; /dev/full is tested above")
    try:
        crawl, out = write_crawl(make_pages("a.example", 400)), disk / "out.jsonl"
        working = tmp_path / "working"
        working.mkdir()
        done = webwinnow("clean", crawl, "-o", out, "--tmp", working)
        assert done.returncode == 2
        assert "No space left" in done.stderr
        assert list(disk.iterdir()) == []
        subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
        done = webwinnow("clean", crawl, "-o", out, "--tmp", working, "--resume")
        assert done.returncode == 0, done.stderr
        assert len(records(out)) == 400
        assert list(working.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), -1))
from webwinnow.cli.app import main
main()
"""


def test_a_file_size_limit_is_reported_and_the_resumed_run_has_the_same_bytes(
    webwinnow, write_crawl, make_pages, tmp_path
):
    crawl, out, plain = write_crawl(make_pages("a.example", 60)), tmp_path / "out.jsonl", tmp_path / "plain.jsonl"
    assert webwinnow("clean", crawl, "-o", plain).returncode == 0
    command = [sys.executable, "-c", LIMITED, "60001", "clean", str(crawl), "-o", str(out), "--jobs", "1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stderr
    assert not out.exists()
    done = webwinnow("clean", crawl, "-o", out, "--resume")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("damage", ["changed", "cut"])
def test_damaged_pages_of_an_unfinished_run_are_parsed_again(
    held_run, webwinnow, write_crawl, make_pages, tmp_path, damage
):
    crawl, out, plain = write_crawl(make_pages("a.example", 60)), tmp_path / "out.jsonl", tmp_path / "plain.jsonl"
    assert webwinnow("clean", crawl, "-o", plain).returncode == 0
    with held_run("clean", crawl, "-o", out, "--jobs", "1", after=("mark", 1)) as run:
        run.kill()
        run.wait()
    spool = tmp_path / ".out.jsonl.webwinnow-run" / "pages.spool"
    packed = bytearray(spool.read_bytes())
    packed[len(packed) // 3 : len(packed) // 3 + 100] = bytes(100)
    spool.write_bytes(packed if damage == "changed" else packed[: len(packed) // 2])
    done = webwinnow("clean", crawl, "-o", out, "--resume")
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == plain.read_bytes()


def test_no_room_for_working_files_is_reported_before_the_disk_is_full(webwinnow, write_crawl, make_pages, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], check=False).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        done = webwinnow("clean", write_crawl(make_pages("a.example", 40)), "-o", tmp_path / "out.jsonl", "--tmp", disk)
        assert done.returncode == 2
        assert "--tmp" in done.stderr
    finally:
        subprocess.run(["umount", disk], check=True)


def test_interrupted_run_says_how_to_continue(held_run, write_crawl, make_pages, tmp_path):
    crawl, out = write_crawl(make_pages("a.example", 40)), tmp_path / "out.jsonl"
    with held_run("clean", crawl, "-o", out, after=("add_page", 10), stderr=subprocess.PIPE) as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    assert "--resume" in said
    assert not out.exists()


def test_an_interrupted_export_of_links_leaves_nothing_and_says_so(held_run, write_crawl, make_pages, tmp_path):
    crawl, scratch = write_crawl(make_pages("a.example", 40)), tmp_path / "scratch"
    scratch.mkdir()
    arguments = ("links", crawl, "-o", tmp_path / "l.jsonl", "--tmp", scratch)
    with held_run(*arguments, after=("add_page", 10), stderr=subprocess.PIPE) as process:
        assert any(scratch.iterdir())
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
    assert (process.returncode, said) == (130, f"webwinnow: stopped; {UNCHANGED}\n")
    assert list(scratch.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.jsonl", "hold", "scratch"]


def test_a_run_whose_workers_cannot_start_says_so_and_ends(write_crawl, make_pages, tmp_path, monkeypatch):
    hangs = tmp_path / "python"
    hangs.write_text("#!/bin/sh\nexec sleep 600\n")
    hangs.chmod(0o755)
    monkeypatch.setattr(childprocess.sys, "executable", str(hangs))
    monkeypatch.setattr(pool_module, "START_SECONDS", 0.05)
    with pytest.raises(WebwinnowError, match="cannot start"):
        run([write_crawl(make_pages("a.example", 300))], tmp_path / "out.jsonl", RunSettings(jobs=2))


FRAGILE = """
import os
from webwinnow.run import pageworker

def main():
    pageworker.PageWorker._learned = dies
    pageworker.main()

def dies(self, chosen):
    {death}
"""


@pytest.mark.parametrize("death", ["os._exit(1)", "raise MemoryError", "raise ValueError('x')"])
def test_a_site_that_cannot_be_learned_is_tried_once_and_its_pages_are_cleaned_without(
    death, write_crawl, make_pages, tmp_path, monkeypatch
):
    tries = tmp_path / "tries"
    dies = f"open({str(tries)!r}, 'a').write('x'); {death}"
    (tmp_path / "fragile.py").write_text(FRAGILE.format(death=dies))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(pool_module, "child_command", lambda _: childprocess.child_command("fragile"))
    out = tmp_path / "out.jsonl"
    run([write_crawl(make_pages("a.example", 12))], out, RunSettings(jobs=1, method="sst"))
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(records) == 12
    assert {record["outcome"] for record in records} == {"kept"}
    assert len(tries.read_text()) == (2 if death == "os._exit(1)" else 1)  # the first may have been killed by another


# One input, or one name, never ends a run of many


def test_an_over_long_header_costs_one_record_and_the_run_exits_with_1(webwinnow, records, tmp_path):
    record = (
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.test/{}\r\n{}Content-Type: text/html\r\n"
        "Content-Length: 60\r\n\r\n<p>Some words of page {} that a reader would like to keep.{}\r\n\r\n"
    )
    longer = {3: f"X-Long: {'y' * 100_000}\r\n"}
    pages = (record.format(n, longer.get(n, ""), n, " " * 10)[:] for n in range(8))
    crawl, out = tmp_path / "crawl.warc.gz", tmp_path / "out.jsonl"
    crawl.write_bytes(b"".join(gzip.compress(page.encode()) for page in pages))
    done = webwinnow("clean", crawl, "-o", out, "--jobs", 1)
    assert done.returncode == 1
    assert [page["url"] for page in records(out)] == [f"http://a.test/{n}" for n in range(8) if n != 3]
    assert "reading continues at the next record" in done.stderr


def test_a_resumed_run_reports_the_problems_of_its_first_attempt(make_pages, write_crawl, tmp_path):
    crawl = write_crawl(make_pages("a.example", 5))
    crawl.write_bytes(gzip.compress(crawl.read_bytes())[:-9])
    settings, out = RunSettings(jobs=1), tmp_path / "out.jsonl"
    problems: list[str] = []

    def stop(stage, done, total):
        if stage == "clean" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([crawl], out, settings, on_progress=stop, on_problem=problems.append)
    resumed: list[str] = []
    summary = run([crawl], out, settings, resume=True, on_problem=resumed.append)
    assert problems
    assert resumed == problems == list(summary.problems)


def test_broken_links_in_a_folder_are_problems_and_the_run_exits_with_1(webwinnow, records, tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text("<p>Some words that a reader would like to keep.")
    (folder / "gone.html").symlink_to(tmp_path / "nowhere.html")
    (folder / "loop").symlink_to(folder / "loop")
    done = webwinnow("clean", folder, "-o", tmp_path / "out.jsonl", "--jobs", 1)
    assert (done.returncode, done.stderr.count("Traceback")) == (1, 0), done.stderr
    assert [page["url"] for page in records(tmp_path / "out.jsonl")] == ["a.html"]
    assert f"{folder}/gone.html: cannot be read (No such file or directory)" in done.stderr
    assert f"{folder}/loop: cannot be read (Too many levels of symbolic links)" in done.stderr


@pytest.mark.parametrize("option", ["-o", "--rejected"])
def test_an_output_that_is_a_loop_of_links_is_refused(webwinnow, make_pages, write_crawl, option, tmp_path):
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    outputs = {"-o": tmp_path / "out.jsonl"} | {option: tmp_path / "loop.jsonl"}
    done = webwinnow(
        "clean", write_crawl(make_pages("a.example", 2)), *(word for pair in outputs.items() for word in pair)
    )
    assert done.returncode == 2
    assert "loop.jsonl: cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


OUTPUTS = {
    "clean": ("clean", "{crawl}", "-o", "{name}.jsonl"),
    "crawl": ("crawl", "http://127.0.0.1:9/", "-o", "{name}.warc.gz"),
    "learn": ("learn", "{crawl}", "-o", "{name}.models"),
    "index": ("index", "{crawl}", "-o", "{name}.idx"),
}


@pytest.mark.parametrize("command", OUTPUTS)
@pytest.mark.parametrize(
    ("name", "fault"), [(os.fsdecode(b"b\xff"), "the name is not UTF-8"), ("loop", "it is a loop of links")]
)
def test_every_command_refuses_such_outputs_before_the_work(
    webwinnow, make_pages, write_crawl, command, name, fault, tmp_path
):
    crawl, folder = write_crawl(make_pages("a.example", 2)), tmp_path / "outputs"
    folder.mkdir()
    words = [word.format(crawl=crawl, name=folder / name) for word in OUTPUTS[command]]
    if name == "loop":
        Path(words[-1]).symlink_to(words[-1])
    before = list(folder.iterdir())
    done = webwinnow(*words)
    assert done.returncode == 2
    assert fault in done.stderr
    assert "Traceback" not in done.stderr
    assert list(folder.iterdir()) == before


def test_a_link_into_a_folder_that_is_missing_is_refused_before_the_work(webwinnow, make_pages, write_crawl, tmp_path):
    crawl, out = write_crawl(make_pages("a.example", 2)), tmp_path / "outputs" / "out.jsonl"
    out.parent.mkdir()
    out.symlink_to(tmp_path / "missing" / "out.jsonl")
    done = webwinnow("clean", crawl, "-o", out)
    assert done.returncode == 2
    assert f"the folder {tmp_path / 'missing'} does not exist; make it first" in done.stderr
    assert list(out.parent.iterdir()) == [out]


def test_names_that_are_not_utf_8_are_read_and_written(make_pages, tmp_path):
    folder = tmp_path / os.fsdecode(b"fold\xe9r")
    folder.mkdir()
    crawl, page = folder / os.fsdecode(b"cr\xe4wl.jsonl"), folder / os.fsdecode(b"p\xe4ge.html")
    crawl.write_text("".join(json.dumps(page) + "\n" for page in make_pages("a.example", 3)))
    page.write_text("<p>Some words that a reader would like to keep.")
    out = folder / os.fsdecode(b"\xff.jsonl")
    summary = run([crawl, page], out, RunSettings(jobs=1), tmp=folder)
    assert (summary.pages, len(out.read_bytes().splitlines())) == (4, 4)
