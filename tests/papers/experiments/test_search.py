"""`webwinnow experiment search`: judged queries and disk reads, on a few hand-made pages."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from math import log2
from pathlib import Path
from typing import Any

import pytest
from crawlfiles import jsonl
from warmcommand import command

from webwinnow.papers import diskreads
from webwinnow.papers.search import average_precision, ndcg, precision, search_experiment, search_report
from webwinnow.search.index import IndexFolder

MENU = " ".join(["gearbox clutch petrol engine", "brake wheel axle", "gearbox repair"])


run = partial(command, "experiment", "search", code=0)


def record(number: int, text: str, abstract: str) -> dict[str, Any]:
    about = {"url": f"http://a.example/{number}", "page_id": f"p{number}", "title": f"Page {number} unique{number}"}
    return about | {"outcome": "kept", "text": text, "abstract": abstract, "keywords": [], "replica_of": None}


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Page 0 to 4 are about gearboxes; 5 to 29 mention one, in a text about tea."""
    rows = [record(k, f"The gearbox number {k}. gearbox gearbox", f"The gearbox number {k}.") for k in range(5)]
    rows += [record(k, f"Tea of the {k}th garden, near a gearbox.", f"Tea of the {k}th garden.") for k in range(5, 30)]
    return jsonl(tmp_path / "clean.jsonl", rows)


@pytest.fixture
def before(records: Path, tmp_path: Path) -> Path:
    """The same pages with a menu that is about gearboxes."""
    rows = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    return jsonl(tmp_path / "none.jsonl", [row | {"text": f"{row['text']} {MENU}"} for row in rows])


@pytest.fixture
def judgements(tmp_path: Path) -> tuple[object, ...]:
    queries, judged = tmp_path / "queries.tsv", tmp_path / "qrels.txt"
    queries.write_text("q1\tgearbox\nq2\ttea garden\nq3\tnothing relevant\n", encoding="utf-8")
    lines = [f"q1 0 p{k} {2 if k == 0 else int(k < 5)}" for k in range(30)]
    lines += [f"q2 0 p{k} 1" for k in range(5, 30)] + ["q3 0 p1 0"]
    judged.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ("--queries", queries, "--judgements", judged)


def measured(out: Path) -> dict[tuple[str, str], dict[str, float]]:
    results = json.loads((out / "search.json").read_text(encoding="utf-8"))
    return {(row["index"], row["searched"]): row["judged"] for row in results["indexes"]}


def test_precision_at_ten_of_each_index_before_and_after_cleaning(
    records: Path, before: Path, judgements: tuple[object, ...], tmp_path: Path
) -> None:
    out = tmp_path / "results"
    run(records, "--before", before, *judgements, "--disk-groups", 0, "--titles", 0, "-o", out, "-q")
    found = measured(out)
    assert {index for index, _ in found} == {"abstract", "full", "two-level", "before cleaning"}
    # gearbox: five abstracts are relevant, and five of the first ten full texts; tea garden: ten of ten
    for index in ("abstract", "full", "two-level"):
        assert found[index, "body"]["precision"] == pytest.approx((0.5 + 1.0) / 2)
    assert found["abstract", "body"]["found"] == (5 + 10) / 2
    assert found["full", "body"]["found"] == 10
    table = (out / "search.md").read_text(encoding="utf-8")
    assert "2 queries with judgements" in table  # q3 has no relevant page
    assert "| before cleaning | body | 0." in table
    assert "known items" not in table


def test_queries_may_be_json_and_name_pages_by_url(records: Path, tmp_path: Path) -> None:
    queries, judged = tmp_path / "q.jsonl", tmp_path / "qrels"
    queries.write_text('{"id": 1, "query": "unique7"}\n', encoding="utf-8")
    judged.write_text("1 0 p7 1\n1 Q0 http://a.example/with blanks 0\n", encoding="utf-8")
    given = ("--queries", queries, "--judgements", judged, "--disk-groups", 0)
    run(records, *given, "-o", tmp_path / "out", "-q")
    found = measured(tmp_path / "out")["full", "title, keywords, body"]
    assert (found["precision"], found["average_precision"], found["ndcg"]) == (0.1, 1.0, 1.0)
    assert found["judged"] == 0.1


@pytest.mark.parametrize(
    ("queries", "judged", "message"),
    [
        ("no tab\n", "q 0 p 1\n", "line 1: 'no tab' is no query"),
        ("q\ttea\n", "q 0 p\n", "line 1: 'q 0 p'; expected id, 0, page and grade"),
        ("q\ttea\n", "other 0 p 1\n", "the id of a query"),
        ("q\ttea\n", "q 0 p 0\n", "no query has a relevant page"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(
    records: Path, tmp_path: Path, queries: str, judged: str, message: str
) -> None:
    (tmp_path / "q.tsv").write_text(queries, encoding="utf-8")
    (tmp_path / "qrels").write_text(judged, encoding="utf-8")
    given = ("--queries", tmp_path / "q.tsv", "--judgements", tmp_path / "qrels")
    assert message in run(records, *given, "-o", tmp_path / "out", code=2).stderr


def test_queries_without_judgements_are_refused(records: Path, tmp_path: Path) -> None:
    assert "belong together" in run(records, "--queries", records, "-o", tmp_path / "out", code=2).stderr


def test_measures_by_hand() -> None:
    grades = {"a": 3, "b": 0, "c": 1, "d": 2}
    ranking = ["b", "a", "x", "c"]
    assert precision(ranking, grades) == 0.2
    assert average_precision(ranking, grades) == pytest.approx((1 / 2 + 2 / 4) / 3)
    best = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert ndcg(ranking, grades) == pytest.approx((3 / log2(3) + 1 / log2(5)) / best)


needs_kernel = pytest.mark.skipif(
    not all((diskreads._PROCESS / name).exists() for name in diskreads._NEEDED), reason="no Linux kernel"
)


@needs_kernel
def test_disk_reads_of_each_index_are_measured(records: Path, before: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    run(records, "--before", before, "--titles", 0, "--disk-groups", 1, "-o", out)
    disk = json.loads((out / "search.json").read_text(encoding="utf-8"))["disk"]
    table = (out / "search.md").read_text(encoding="utf-8")
    assert set(disk["bytes"]) == {"abstract", "full", "before cleaning"}
    assert disk["ratios"]["full"] == [1.0]
    assert all(read["touched"] > 0 for read in disk["bytes"].values())
    if disk["reason"] is None:
        assert all(read["read"] > 0 for read in disk["bytes"].values())
    else:
        assert disk["reason"] == diskreads.NOTHING_READ
        assert f"Reads from disk were not measured: {diskreads.NOTHING_READ}" in table
    assert "| full | " in table


@needs_kernel
def test_a_large_index_touches_more_than_a_small_one_and_rare_words_less(tmp_path: Path) -> None:
    folders = {}
    for name, pages in (("small", 20), ("large", 3000)):
        with IndexFolder(tmp_path / name, create=True).writing() as index:
            said = [" ".join(f"word{(k * 37 + j * j) % 5000}" for j in range(60)) for k in range(pages)]
            index.put_all(record(k, f"{text} everywhere", "") for k, text in enumerate(said))
        folders[name] = tmp_path / name / "full"
    terms = ["everywhere", *(f"word{k}" for k in range(99))]
    given = {"groups": 1, "seed": 0, "on_progress": lambda *_: None}
    found = diskreads.disk_reads(folders, terms, "large", **given)
    assert 0 < found["ratios"]["small"][0] < 1
    one = diskreads.disk_reads(folders, ["nowhere"], "large", **given)["bytes"]["large"]
    assert one["touched"] < found["bytes"]["large"]["touched"]
    assert one["shown"] < found["bytes"]["large"]["shown"]  # the kernel may mark a page more than was read


USE = """
import mmap, pathlib, sys
from webwinnow.papers.diskreads import accessed, bytes_read, clear_accessed
path = pathlib.Path(sys.argv[1])
before = bytes_read()
with path.open("rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    sum(mapped[k] for k in range(0, len(mapped), 4096))
    read = bytes_read() - before
    clear_accessed()
    nothing = accessed(path.parent)
    mapped[5 * 4096], mapped[700 * 4096]
    two = accessed(path.parent)
    print(read, nothing, two, bytes_read() - before)
"""


@needs_kernel
def test_pages_that_are_used_are_counted_and_reads_from_the_cache_are_not(tmp_path: Path) -> None:
    path = tmp_path / "files" / "large"
    path.parent.mkdir()
    path.write_bytes(bytes(range(256)) * 20_000)
    diskreads.drop_cached(path.parent)
    done = subprocess.run([sys.executable, "-c", USE, str(path)], capture_output=True, text=True, check=True)
    read, nothing, two, again = map(int, done.stdout.split())
    assert (nothing, two) == (0, 2 * 4096)
    assert again - read < 1_000_000  # the process may load some of its own code
    assert read >= 5_120_000 or read < 1_000_000  # little where the file system is in memory


def test_a_system_without_the_counters_gives_the_reason(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diskreads, "_PROCESS", tmp_path)
    with pytest.raises(diskreads.InputError, match="does not report the bytes"):
        diskreads.bytes_read()
    rows = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    found = search_experiment(lambda: iter(rows), tmp_path / "index", most=0, groups=1)
    assert "Disk reads: not measured; this system does not report" in "\n".join(search_report(found).summary)
