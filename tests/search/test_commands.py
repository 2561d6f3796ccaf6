"""The commands `webwinnow index`, `search` and `experiment search`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from warmcommand import command


def site() -> bytes:
    menu = "<nav><a href='/'>Orchard news</a> <a href='/about'>About us</a></nav>"
    lines = []
    for number, (title, said) in enumerate(
        [
            ("Apples in frost", "The apples of the north need a long frost before they flower."),
            ("Pears for perry", "Perry is pressed from pears that nobody would eat."),
            ("Quinces and medlars", "A quince is hard until it is cooked for an hour."),
        ]
    ):
        body = "".join(f"<p>{said} Sentence {k} of the story about them follows here, in full.</p>" for k in range(6))
        html = f"<title>{title}</title><body>{menu}<main><h1>{title}</h1>{body}</main>"
        lines.append(json.dumps({"url": f"http://a.example/{number}", "html": html, "page_id": f"p{number}"}))
    return "\n".join(lines).encode()


@pytest.mark.parametrize("written", ["clean.jsonl", "clean.jsonl.gz", "clean.parquet"])
def test_clean_index_and_search(tmp_path, written):
    (tmp_path / "pages.jsonl").write_bytes(site())
    assert command("clean", tmp_path / "pages.jsonl", "-o", tmp_path / written, "-q").returncode == 0
    made = command("index", tmp_path / written, "-o", tmp_path / "index")
    assert made.returncode == 0, made.stderr
    assert "3 pages put" in made.stderr
    found = command("search", tmp_path / "index", "perry pears", "--json")
    assert found.returncode == 0, found.stderr
    hits = [json.loads(line) for line in found.stdout.splitlines()]
    assert hits[0]["url"] == "http://a.example/1"
    assert hits[0]["title"] == "Pears for perry"
    assert "Perry" in hits[0]["snippet"]["text"]
    shown = command("search", tmp_path / "index", "frost", "--site", "a.example")
    assert "http://a.example/0" in shown.stdout
    unknown = command("search", tmp_path / "index", "titel:perry")
    assert "'titel' is no field" in unknown.stderr
    suggested = command("search", tmp_path / "index", "per", "--suggest", "--json")
    assert json.loads(suggested.stdout.splitlines()[0]) == {"query": "perry"}
    gone = command("index", "-o", tmp_path / "index", "--remove", "p1", "-q")
    assert gone.returncode == 0, gone.stderr
    assert command("search", tmp_path / "index", "perry", "--json").stdout == ""


def test_errors_say_what_to_do(tmp_path):
    missing = command("search", tmp_path / "nowhere", "x")
    assert missing.returncode == 2
    assert "webwinnow index makes one" in missing.stderr
    nothing = command("index", "-o", tmp_path / "index")
    assert nothing.returncode == 2
    assert "nothing to index" in nothing.stderr
    absent = command("index", tmp_path / "absent.jsonl", "-o", tmp_path / "index")
    assert absent.returncode == 2
    assert "absent.jsonl" in absent.stderr


def test_an_index_of_what_holds_no_record_is_refused_and_leaves_no_folder(tmp_path):
    rejected = tmp_path / "rejected.jsonl"
    rejected.write_text('{"url": "http://a.example/", "text": "a block", "reason": "repeated"}\n' * 100)
    done = command("index", rejected, "-o", tmp_path / "index")
    assert done.returncode == 2
    assert "no record; expected records that webwinnow clean wrote" in done.stderr
    assert len(done.stderr.splitlines()) < 10
    assert not (tmp_path / "index").exists()


def test_a_table_of_pages_is_no_table_of_records(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"url": ["http://a.example/"], "html": ["<p>x"]}), tmp_path / "pages.parquet")
    done = command("index", tmp_path / "pages.parquet", "-o", tmp_path / "index")
    assert done.returncode == 2
    assert "expected the output of webwinnow clean" in done.stderr
    assert not (tmp_path / "index").exists()


def test_lines_that_are_no_records_are_counted(tmp_path):
    records = tmp_path / "records.jsonl"
    kept = {"url": "http://a.example/", "outcome": "kept", "text": "quinces are hard"}
    records.write_text(json.dumps(kept) + "\n" + "{}\n" * 50)
    done = command("index", records, "-o", tmp_path / "index")
    assert done.returncode == 1
    assert "1 page put" in done.stderr
    assert "50 lines or files could not be read as records" in done.stderr
    assert done.stderr.count("is no JSON object with outcome, text") == 5


def test_the_search_experiment_compares_three_indexes(tmp_path):
    (tmp_path / "pages.jsonl").write_bytes(site())
    assert command("clean", tmp_path / "pages.jsonl", "-o", tmp_path / "clean.jsonl", "-q").returncode == 0
    done = command("experiment", "search", tmp_path / "clean.jsonl", "-o", tmp_path / "results", "-q")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "results" / "search.json").read_text())
    assert results["pages"] == results["queries"] == 3
    rows = {(row["index"], row["searched"]): row for row in results["indexes"]}
    assert len(rows) == 6
    assert rows["full", "title, keywords, body"]["success"] == 1.0
    assert "| two-level |" in (tmp_path / "results" / "search.md").read_text()
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["search.json", "search.md"]


def test_records_that_no_search_could_name_are_left_out_and_reported(tmp_path):
    kept = {"url": "http://a.example/", "outcome": "kept", "text": "quinces are hard", "keywords": 7}
    lines = [kept | {"url": None}, kept, kept | {"url": ""}]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = command("index", tmp_path / "records.jsonl", "-o", tmp_path / "index")
    assert done.returncode == 1
    assert "1 page put; 1 in the index" in done.stderr
    assert "2 records left out: neither page_id nor url" in done.stderr


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), -1))
from webwinnow.cli import main
main()
"""
"""The command with a limit on the size of files: a write beyond it fails, as on a full disk."""


@pytest.mark.parametrize("most", [100, 30_000])
def test_an_index_that_cannot_be_written_is_reported_and_the_same_command_completes_it(tmp_path, most):
    lines = (
        {"url": f"http://a.example/{n}", "outcome": "kept", "text": " ".join(f"word{n}x{k}" for k in range(200))}
        for n in range(200)
    )
    records, index = tmp_path / "records.jsonl", tmp_path / "index"
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    failing = [sys.executable, "-c", LIMITED, str(most), "index", str(records), "-o", str(index)]
    failed = subprocess.run(failing, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1, failed.stderr
    assert "damaged" not in failed.stderr
    done = command("index", records, "-o", index)
    assert done.returncode == 0, done.stderr
    assert "200 pages put; 200 in the index" in done.stderr
