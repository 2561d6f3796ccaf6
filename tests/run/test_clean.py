"""The command `webwinnow clean`."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from webwinnow.record.fields import page_fields
from webwinnow.run.cleaning import run
from webwinnow.run.plan import LOCAL_PAGES
from webwinnow.run.settings import RunSettings

SAMPLE = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
README = Path(__file__).parents[2] / "README.md"


def test_sample_crawl_gives_one_record_a_page_in_site_order(webwinnow, records, tmp_path):
    out = tmp_path / "docs.jsonl"
    done = webwinnow("clean", SAMPLE, "-o", out, "--jobs", 2)
    assert done.returncode == 0, done.stderr
    found = records(out)
    assert len(found) == 126
    assert [record["site"] for record in found] == sorted(record["site"] for record in found)
    assert {record["site"] for record in found} == {
        "python.docs.example",
        "sqlite.docs.example",
        "glfw.docs.example",
    }
    assert done.stdout == ""
    assert "126 pages of 3 sites" in done.stderr
    assert "failed 0" in done.stderr
    assert sum(record["outcome"] == "kept" for record in found) >= 124
    shown = README.read_text(encoding="utf-8")
    lines = done.stderr.splitlines()
    after_the_time = next(k for k, line in enumerate(lines, 1) if line.startswith("126 pages of 3 sites"))
    for line in lines[after_the_time : after_the_time + 2]:  # a slow run writes lines of progress before
        assert line in shown.splitlines()


def test_an_output_that_would_replace_another_or_an_input_is_refused(webwinnow, write_crawl, make_pages, tmp_path):
    crawl, out = write_crawl(make_pages("a.example", 2)), tmp_path / "out.jsonl"
    before = crawl.read_bytes()
    for options in (["-o", crawl], ["-o", out, "--rejected", out], ["-o", out, "--rejected", crawl]):
        done = webwinnow("clean", crawl, *options)
        assert done.returncode == 2, done.stderr
        assert "replace" in done.stderr
    assert crawl.read_bytes() == before
    assert not out.exists()


def test_the_same_trouble_on_many_lines_is_one_reason(webwinnow, records, write_crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    rows = [{"url": f"http://a.example/{n}", "html": None} for n in range(12)]
    done = webwinnow("clean", write_crawl(rows), "-o", out)
    assert "     12  there is no 'html'\n" in done.stderr
    assert records(out)[11]["reason"].startswith("line 12: ")


def test_record_has_the_fields_of_the_contract(webwinnow, records, write_crawl, make_pages, tmp_path):
    out = tmp_path / "out.jsonl"
    webwinnow("clean", write_crawl(make_pages("a.example", 4)), "-o", out)
    always = [field.name for field in page_fields() if not field.optional]
    for record in records(out):
        assert list(record) == always
        assert record["outcome"] == "kept"
        assert record["method"] == "combined"
        assert record["genre"]
        assert 0.0 <= record["confidence"] <= 1.0
        assert record["page_id"].startswith("a.example/")
        assert record["title"].startswith("Story ")


def test_repeated_text_is_removed_and_own_text_is_kept(webwinnow, records, write_crawl, make_pages, tmp_path):
    out = tmp_path / "out.jsonl"
    webwinnow("clean", write_crawl(make_pages("a.example", 10)), "-o", out)
    for number, record in enumerate(records(out)):
        assert f"Story {number}" in record["text"]
        assert "section" not in record["text"]
        assert "About a.example" not in record["text"]
        assert 0 < record["kept_words"] < record["all_words"]


def test_share_says_what_counts_as_repeated(webwinnow, records, write_crawl, make_pages, tmp_path):
    pages = make_pages("a.example", 10)
    for page in pages[:4]:
        page["html"] += "<p>said on four of ten pages</p>"
    crawl = write_crawl(pages)
    for share, stays in ((0.5, True), (0.3, False)):
        out = tmp_path / f"{share}.jsonl"
        webwinnow("clean", crawl, "-o", out, "--set", f"repeated.share={share}", "--method", "repeated")
        assert ("said on four of ten pages" in records(out)[0]["text"]) is stays


def test_method_none_keeps_all_that_is_visible(webwinnow, records, write_crawl, make_pages, tmp_path):
    out = tmp_path / "out.jsonl"
    webwinnow("clean", write_crawl(make_pages("a.example", 3)), "-o", out, "--method", "none")
    for record in records(out):
        assert record["kept_words"] == record["all_words"]
        assert "About a.example" in record["text"]


def test_site_of_two_pages_is_kept_whole_and_says_why(webwinnow, records, write_crawl, make_pages, tmp_path):
    out = tmp_path / "out.jsonl"
    webwinnow("clean", write_crawl(make_pages("a.example", 2)), "-o", out, "--method", "repeated")
    for record in records(out):
        assert "About a.example" in record["text"]
        assert record["reason"].startswith("too few pages")


def test_rejected_names_what_went_with_place_and_reason(webwinnow, records, write_crawl, make_pages, tmp_path):
    out, left = tmp_path / "out.jsonl", tmp_path / "left.jsonl"
    webwinnow("clean", write_crawl(make_pages("a.example", 5)), "-o", out, "--rejected", left, "--method", "repeated")
    gone = records(left)
    assert {"url", "page_id", "site", "xpath", "reason", "text"} <= set(gone[0])
    assert any(g["text"] == "About a.example" and "repeated" in g["reason"] and "footer" in g["xpath"] for g in gone)


def test_same_bytes_with_one_and_two_workers(webwinnow, write_crawl, make_pages, tmp_path):
    pages = [page for site in ("a.example", "b.example") for page in make_pages(site, LOCAL_PAGES + 30)]
    pages += [page for n in range(40) for page in make_pages(f"s{n}.example", 1)]
    random.Random(1).shuffle(pages)
    crawl = write_crawl(pages)
    outs = []
    for jobs in (1, 2):
        out, left = tmp_path / f"{jobs}.jsonl", tmp_path / f"{jobs}-left.jsonl"
        assert webwinnow("clean", crawl, "-o", out, "--jobs", jobs, "--rejected", left).returncode == 0
        outs.append((out.read_bytes(), left.read_bytes()))
    assert outs[0] == outs[1]


def test_input_order_within_a_site_changes_no_record(webwinnow, records, write_crawl, make_pages, tmp_path):
    pages = make_pages("a.example", LOCAL_PAGES + 20)
    found = []
    for seed in (1, 2):
        random.Random(seed).shuffle(pages)
        out = tmp_path / f"{seed}.jsonl"
        webwinnow("clean", write_crawl(pages, f"{seed}-in.jsonl"), "-o", out)
        found.append(sorted(json.dumps(record) for record in records(out)))
    assert found[0] == found[1]


def test_records_come_in_the_order_site_then_input(webwinnow, records, write_crawl, make_pages, tmp_path):
    pages = make_pages("b.example", 3) + make_pages("a.example", 3)
    pages = [pages[k] for k in (4, 0, 5, 2, 1, 3)]
    out = tmp_path / "out.jsonl"
    webwinnow("clean", write_crawl(pages), "-o", out)
    assert [r["page_id"] for r in records(out)] == [f"{s}.example/{n}" for s, n in ("a1", "a2", "a0", "b0", "b2", "b1")]


@pytest.mark.parametrize("name", ["out.jsonl.gz", "out.jsonl.zst", "out.parquet"])
def test_output_format_follows_the_name(webwinnow, write_crawl, make_pages, tmp_path, name):
    import pyarrow.parquet as pq
    import zstandard

    out = tmp_path / name
    done = webwinnow("clean", write_crawl(make_pages("a.example", 5)), "-o", out)
    assert done.returncode == 0, done.stderr
    if name.endswith(".parquet"):
        assert pq.read_table(out).num_rows == 5
    elif name.endswith(".gz"):
        assert len(gzip.decompress(out.read_bytes()).splitlines()) == 5
    else:
        assert len(zstandard.ZstdDecompressor().stream_reader(out.read_bytes()).read().splitlines()) == 5


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_folder_formats_write_a_file_a_page(webwinnow, write_crawl, make_pages, tmp_path, format):
    out = tmp_path / "folder"
    done = webwinnow("clean", write_crawl(make_pages("a.example", 5)), "-o", out, "--format", format)
    assert done.returncode == 0, done.stderr
    files = sorted(out.iterdir())
    assert len(files) == 5
    assert all("story" in file.read_text(encoding="utf-8").lower() for file in files)


def test_dash_reads_standard_input_and_writes_standard_output(webwinnow, make_pages):
    pages = "".join(json.dumps(page) + "\n" for page in make_pages("a.example", 4))
    done = webwinnow("clean", "-", "-o", "-", "--quiet", input=pages)
    assert done.returncode == 0
    assert [json.loads(line)["outcome"] for line in done.stdout.splitlines()] == ["kept"] * 4
    assert done.stderr == ""


def test_site_by_column_uses_the_column(webwinnow, records, write_crawl, make_pages, tmp_path):
    pages = [page | {"site": f"group{n % 2}"} for n, page in enumerate(make_pages("a.example", 6))]
    out = tmp_path / "out.jsonl"
    webwinnow("clean", write_crawl(pages), "-o", out, "--site-by", "column")
    assert [record["site"] for record in records(out)] == ["group0"] * 3 + ["group1"] * 3


def test_pages_without_content_are_dropped_with_the_reason(webwinnow, records, write_crawl, tmp_path):
    pages = [
        {"url": "http://a.example/1", "html": "<frameset><frame src=x></frameset>"},
        {"url": "http://a.example/2", "html": ""},
        {"url": "http://a.example/3", "html": "<body><img src=x.png>"},
    ]
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", write_crawl(pages), "-o", out)
    assert done.returncode == 0
    assert [(r["outcome"], r["reason"]) for r in records(out)] == [
        ("dropped", "frameset"),
        ("dropped", "empty"),
        ("dropped", "no main content: no text in the HTML"),
    ]
    assert "kept 0, dropped 3, failed 0" in done.stderr


def test_library_call_gives_the_same_as_the_command(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(make_pages("a.example", 8))
    called, commanded = tmp_path / "called.jsonl", tmp_path / "commanded.jsonl"
    summary = run([crawl], called, RunSettings(method="repeated", jobs=1))
    webwinnow("clean", crawl, "-o", commanded, "--jobs", 1, "--method", "repeated")
    assert called.read_bytes() == commanded.read_bytes()
    assert (summary.pages, summary.kept, summary.dropped, summary.failed) == (8, 8, 0, 0)


def test_nothing_is_left_beside_the_output(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(make_pages("a.example", 3))
    webwinnow("clean", crawl, "-o", tmp_path / "out.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.jsonl", "out.jsonl"]


def test_a_run_to_standard_output_leaves_no_working_files(webwinnow, make_pages, write_crawl, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    crawl = write_crawl(make_pages("a.example", 4))
    assert webwinnow("clean", crawl, "-o", "-", env={"TMPDIR": str(scratch)}).returncode == 0
    assert not list(scratch.iterdir())


def test_method_page_cleans_a_crawl(webwinnow, records, write_crawl, make_pages, tmp_path):
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", write_crawl(make_pages("a.example", 3)), "-o", out, "--method", "page", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    for record in records(out):
        assert record["method"] == "page"
        assert record["genre"]
        assert 0.0 <= record["confidence"] <= 1.0
