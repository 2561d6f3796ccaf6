"""Corpora with `webwinnow clean`: languages, words, quality, selectors, tables, columns, shards."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from webwinnow.errors import SettingsError
from webwinnow.judge.selection import Selection
from webwinnow.record.fields import json_schema
from webwinnow.record.textquality import SIGNALS

BETWEEN = {"en": "the of and that with have".split(), "de": "der die und das mit nicht".split()}
BETWEEN["fr"] = "le la des dans avec pour".split()


def prose(seed: int, lang: str = "en", sentences: int = 12) -> str:
    chosen = random.Random(seed)

    def word() -> str:
        if chosen.random() < 0.3:
            return chosen.choice(BETWEEN[lang])
        return "".join(chosen.choices("abdefgiklmnorstu", k=chosen.randint(3, 8)))

    return "".join(f"<p>{' '.join(word() for _ in range(16)).capitalize()}.</p>" for _ in range(sentences))


def page(number: int, lang: str = "en", body: str | None = None) -> dict[str, str]:
    body = prose(number, lang) if body is None else body
    html = (
        f"<!doctype html><html lang={lang}><title>Page {number}</title><body><main><h1>Story {number}</h1>{body}</main>"
    )
    return {"url": f"http://a.example/{number}", "page_id": f"p{number}", "html": html}


def cleaned(webwinnow, records, tmp_path, crawl, *options, name="out.jsonl"):
    out = tmp_path / name
    done = webwinnow("clean", crawl, "-o", out, "--jobs", 1, *options)
    assert done.returncode == 0, done.stderr
    return records(out), done.stderr


def test_pages_of_other_languages_and_short_pages_are_dropped_with_the_reason(
    webwinnow, records, write_crawl, tmp_path
):
    crawl = write_crawl([page(1), page(2, "de"), page(3, "fr"), page(4, body=prose(4, sentences=2))])
    found, summary = cleaned(webwinnow, records, tmp_path, crawl, "--lang", "en,de", "--min-words", 60)
    assert [(record["outcome"], record["reason"]) for record in found[2:]] == [
        ("dropped", "language: fr"),
        ("dropped", "words: fewer than 60"),
    ]
    assert [record["outcome"] for record in found[:2]] == ["kept", "kept"]
    assert found[0]["text"]
    assert found[2]["text"] == ""
    assert found[2]["kept_words"] == 0
    assert "1  language: fr" in summary


def test_quality_rules_drop_pages_and_the_rejected_file_has_their_text(webwinnow, records, write_crawl, tmp_path):
    repeated = prose(7, sentences=3) * 5
    crawl = write_crawl([page(1), page(2, body=repeated)])
    removed = tmp_path / "removed.jsonl"
    found, _ = cleaned(webwinnow, records, tmp_path, crawl, "--quality", "gopher", "--rejected", removed)
    assert [record["outcome"] for record in found] == ["kept", "dropped"]
    assert found[1]["reason"] == "gopher: duplicate_paragraphs above 0.3"
    lines = [json.loads(line) for line in removed.read_text(encoding="utf-8").splitlines()]
    (dropped,) = [line for line in lines if line.get("outcome") == "dropped"]
    assert dropped["reason"] == found[1]["reason"]
    assert len(dropped["text"].split()) > 200
    unfiltered, _ = cleaned(webwinnow, records, tmp_path, crawl, name="all.jsonl")
    assert [record["outcome"] for record in unfiltered] == ["kept", "kept"]


def test_a_page_that_the_rules_drop_is_not_what_another_is_a_replica_of(webwinnow, records, write_crawl, tmp_path):
    same = prose(5, sentences=9)
    crawl = write_crawl([page(1, body=same), page(2, body=same + "<p>{ one bracket } more and that.</p>"), page(3)])
    plain, _ = cleaned(webwinnow, records, tmp_path, crawl, name="plain.jsonl")
    assert sum(record["replica_of"] is not None for record in plain) == 1
    found, _ = cleaned(webwinnow, records, tmp_path, crawl, "--quality", "fineweb")
    assert [record["outcome"] for record in found] == ["kept", "dropped", "kept"]
    assert [record["replica_of"] for record in found] == [None, None, None]


def test_signals_are_in_records_of_every_format_on_request(webwinnow, records, write_crawl, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    crawl = write_crawl([page(1), page(2, body="")])
    found, _ = cleaned(webwinnow, records, tmp_path, crawl, "--signals")
    assert tuple(found[0]["signals"]) == SIGNALS
    assert found[0]["signals"]["words"] == found[0]["kept_words"]
    assert "signals" not in cleaned(webwinnow, records, tmp_path, crawl, name="without.jsonl")[0][0]
    jsonschema.validate(found[0], json_schema())
    assert webwinnow("clean", crawl, "-o", tmp_path / "out.parquet", "--signals", "-q").returncode == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["signals"][0].as_py() == found[0]["signals"]
    assert webwinnow("clean", crawl, "-o", tmp_path / "out.csv", "--signals", "-q").returncode == 0
    assert '""top_2gram"":' in (tmp_path / "out.csv").read_text(encoding="utf-8")


def test_filters_give_the_same_bytes_with_any_number_of_workers(webwinnow, write_crawl, tmp_path):
    crawl = write_crawl([page(number, "de" if number % 3 else "en") for number in range(90)])
    written = []
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.jsonl"
        done = webwinnow("clean", crawl, "-o", out, "--jobs", jobs, "--quality", "fineweb", "--signals", "--lang", "de")
        assert done.returncode == 0, done.stderr
        written.append(out.read_bytes())
    assert written[0] == written[1]
    assert b'"dropped"' in written[0]


PARTS = (
    "<div class=related><p>The related story about that older village and the market of people there.</p></div>"
    "<table><tr><th>Year<th>Population<tr><td>1990<td>4200<tr><td>2000<td>5100<tr><td>2010<td>6300</table>"
)


@pytest.mark.parametrize(
    ("options", "present", "absent"),
    [
        ((), ("related story", "5100"), ()),
        (("--drop", ".related"), ("5100",), ("related story",)),
        (("--drop", "//div[contains(@class, 'related')]"), ("5100",), ("related story",)),
        (("--no-tables",), ("related story",), ("5100",)),
        (("--no-tables", "--keep", "table"), ("related story", "5100"), ()),
        (("--keep", "footer"), ("Imprint of the site",), ()),
    ],
)
def test_selectors_and_tables_decide_whatever_the_method_says(webwinnow, tmp_path, options, present, absent):
    body = prose(1, sentences=4) + PARTS + prose(2, sentences=4) + "</main><footer>Imprint of the site</footer><main>"
    file = tmp_path / "page.html"
    file.write_text(page(1, body=body)["html"], encoding="utf-8")
    method = ("--method", "none") if "--keep" not in options or "table" in options else ()
    done = webwinnow("page", file, *method, *options)
    assert done.returncode == 0, done.stderr
    assert all(text in done.stdout for text in present)
    assert not any(text in done.stdout for text in absent)


def test_clean_applies_selectors_and_says_so(webwinnow, records, write_crawl, tmp_path):
    crawl = write_crawl([page(number, body=prose(number) + PARTS) for number in range(2)])
    removed = tmp_path / "removed.jsonl"
    options = ("--method", "none", "--drop", "div.related", "--no-tables", "--rejected", removed)
    found, _ = cleaned(webwinnow, records, tmp_path, crawl, *options)
    assert all("related" not in record["text"] and "5100" not in record["text"] for record in found)
    reasons = {json.loads(line)["reason"] for line in removed.read_text(encoding="utf-8").splitlines()}
    assert {"removed: a selector of --drop", "table: --no-tables"} <= reasons


def test_a_bad_selector_is_a_usage_error(webwinnow, write_crawl, tmp_path):
    for selector in ("div[", "//div["):
        done = webwinnow("clean", write_crawl([page(1)]), "-o", tmp_path / "out.jsonl", "--drop", selector)
        assert done.returncode == 2
        assert "is no selector" in done.stderr


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("//p/text()", "selects text or a value"),
        ("//a/@href", "selects text or a value"),
        ("(count(//p))", "selects text or a value"),
        ("[data-x]", "the attribute data-x, which is not kept of a page"),
        ("//p[@onclick]", "the attribute onclick"),
        (".a\udcff", "is no selector"),  # an argument that is not UTF-8
    ],
)
def test_a_selector_that_can_match_no_element_is_a_usage_error(selector, message):
    with pytest.raises(SettingsError, match=re.escape(message)):
        Selection(drop=(selector,))
    Selection(keep=("a[href]", "//p[text()='@x']", "//div[@id]//p", "[class~=story]:not(.ad)", "[lang|=en]"))


def test_columns_may_have_other_names(webwinnow, records, write_crawl, tmp_path):
    rows = [{"link": given["url"], "source": given["html"], "key": given["page_id"]} for given in (page(1), page(2))]
    options = ("--url-column", "link", "--html-column", "source", "--id-column", "key")
    table = tmp_path / "crawl.parquet"
    pq.write_table(pa.Table.from_pylist(rows), table)
    for crawl in (write_crawl(rows), table):
        found, _ = cleaned(webwinnow, records, tmp_path, crawl, *options)
        assert [(record["url"], record["page_id"]) for record in found] == [
            ("http://a.example/1", "p1"),
            ("http://a.example/2", "p2"),
        ]
        assert all(record["outcome"] == "kept" for record in found)


def test_files_without_the_columns_of_pages_are_refused_with_the_columns_they_have(webwinnow, write_crawl, tmp_path):
    table = tmp_path / "crawl.parquet"
    pq.write_table(pa.Table.from_pylist([{"html": "<p>text</p>", "link": "http://a.example/"}]), table)
    done = webwinnow("clean", table, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "has no column 'url'; the columns are: html, link (--url-column names another)" in done.stderr
    done = webwinnow("clean", write_crawl([{"url": "http://a.example/", "body": "x"}]), "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "has no column 'html'; the columns are: url, body (--html-column names another)" in done.stderr
    for option in ("--url-column", "--id-column"):
        done = webwinnow("clean", write_crawl([page(1)]), "-o", tmp_path / "out.jsonl", option, "nope")
        assert done.returncode == 2
        assert f"has no column 'nope'; the columns are: url, page_id, html ({option} names another)" in done.stderr
    records = write_crawl([{"url": "http://a.example/", "outcome": "kept", "text": "x"}])
    done = webwinnow("clean", records, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "these are records of webwinnow clean" in done.stderr


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz", "corpus.parquet", "corpus.csv"])
def test_an_output_in_shards_is_a_folder_of_files_with_the_same_records(webwinnow, write_crawl, tmp_path, name):
    crawl = write_crawl([page(number) for number in range(5)])
    folder, whole = tmp_path / name, tmp_path / "whole.jsonl"
    done = webwinnow("clean", crawl, "-o", folder, "--shard-pages", 2, "-q")
    assert done.returncode == 0, done.stderr
    files = sorted(folder.iterdir())
    suffix = name.removeprefix("corpus")
    assert [file.name for file in files] == [f"part-0000{k}{suffix}" for k in range(3)]
    if suffix == ".jsonl":
        assert webwinnow("clean", crawl, "-o", whole, "-q").returncode == 0
        assert b"".join(file.read_bytes() for file in files) == whole.read_bytes()
    if suffix == ".parquet":
        assert [len(pq.read_table(file)) for file in files] == [2, 2, 1]


def test_shards_need_a_folder_that_is_new(webwinnow, write_crawl, tmp_path):
    crawl = write_crawl([page(1)])
    (tmp_path / "out.jsonl").write_text("", encoding="utf-8")
    for out in (tmp_path / "out.jsonl", Path("-")):
        done = webwinnow("clean", crawl, "-o", out, "--shard-pages", 2)
        assert done.returncode == 2
        assert "makes a folder" in done.stderr
