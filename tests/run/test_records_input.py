"""Commands that take the records of `webwinnow clean` instead of pages, and those that need the HTML."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from webwinnow.page.parsing import parse
from webwinnow.run.inputs import open_pages
from webwinnow.run.outputs import write_output
from webwinnow.run.recordpages import open_records, page_of_record

WORDS = {
    "fruit": "apple pear orchard harvest cider blossom pruning grafting frost cellar".split(),
    "ships": "harbour anchor vessel captain mast rigging voyage cargo sailor lighthouse".split(),
}


def record(number: int) -> dict[str, object]:
    topic = "fruit" if number % 2 else "ships"
    said = [WORDS[topic][(number + k * step) % 10] for step in (1, 3) for k in range(10)]
    site = "a.example" if number < 12 else "b.example"
    about = {"url": f"http://{site}/{number}", "page_id": f"p{number}", "site": site, "outcome": "kept", "lang": "en"}
    text = f"On {topic} {number}\n{' '.join(said)}."
    return about | {"title": f"Page {number}", "text": text, "date": "2024-05-06", "category": topic, "kept_words": 23}


RECORDS = [record(number) for number in range(24)]
DROPPED = {"url": "http://a.example/x", "page_id": "x", "site": "a.example", "outcome": "dropped", "text": ""}


@pytest.fixture(params=["clean.jsonl", "clean.parquet", "shards"])
def written(request, tmp_path) -> Path:
    """Records as JSONL, as Parquet, and as a folder of shards."""
    out = tmp_path / request.param
    shard_size = 10 if request.param == "shards" else None
    write_output(RECORDS, out, "parquet" if request.param.endswith(".parquet") else "jsonl", shard_size=shard_size)
    return out


def test_a_record_is_a_page_of_plain_text():
    given = RECORDS[1] | {"text": "One <b>\n\nTwo & three", "title": "A <title>"}
    tree = parse(page_of_record(given).body, "http://a.example/1")
    assert [tree.run(r).strip() for r in range(tree.run_count) if tree.run(r).strip()] == ["One <b>", "Two & three"]
    assert tree.head.title == "A <title>"
    assert tree.head.language == "en"
    assert tree.head.meta("article:published_time") == "2024-05-06"


def test_dropped_records_have_no_words_and_failed_ones_are_refused():
    assert b"<p>" not in page_of_record(DROPPED).body
    failed = page_of_record(DROPPED | {"outcome": "failed", "reason": "too long"})
    assert failed.refused == "too long"


def test_records_are_read_with_their_labels(written):
    pages = list(open_records([written], on_problem=pytest.fail, label="category"))
    assert [page.ordinal for page in pages] == list(range(24))
    assert [(page.page_id, page.site, page.label) for page in pages[:2]] == [
        ("p0", "a.example", "ships"),
        ("p1", "a.example", "fruit"),
    ]


def test_records_are_clustered(webwinnow, written, tmp_path):
    out = tmp_path / "clusters.jsonl"
    options = ("--weighting", "tfidf", "-k", 2, "--no-report", "--jobs", 1)
    done = webwinnow("cluster", written, "-o", out, *options)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    clusters = {line["page_id"]: line["cluster"] for line in lines}
    assert len({clusters[f"p{n}"] for n in range(1, 24, 2)}) == 1
    assert len({clusters[f"p{n}"] for n in range(0, 24, 2)}) == 1
    assert clusters["p0"] != clusters["p1"]


def test_records_are_vectorised_classified_searched_and_deduplicated(webwinnow, tmp_path):
    clean = tmp_path / "clean.jsonl"
    write_output([*RECORDS, RECORDS[0] | {"url": "http://a.example/copy", "page_id": "copy"}], clean, "jsonl")
    features, model = tmp_path / "f.npz", tmp_path / "model.npz"
    tfidf = ("--weighting", "tfidf", "--jobs", 1, "-q")
    runs = [
        ("features", clean, "-o", features, *tfidf),
        ("classify", "train", clean, "-o", model, "--label", "category", *tfidf),
        ("classify", "apply", model, clean, "-o", tmp_path / "classes.jsonl", "--jobs", 1, "-q"),
        ("replicas", clean, "-o", tmp_path / "replicas.jsonl", "-q"),
        ("index", clean, "-o", tmp_path / "index", "-q"),
    ]
    for arguments in runs:
        done = webwinnow(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    with np.load(features) as found:
        assert found["shape"][0] == 25
        assert "orchard" in found["vocabulary"]
    classes = [json.loads(line) for line in (tmp_path / "classes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(line["label"] == ("fruit" if int(line["page_id"][1:]) % 2 else "ships") for line in classes[:3])
    lines = (tmp_path / "replicas.jsonl").read_text(encoding="utf-8").splitlines()
    replicas = {line["page_id"]: line["cluster"] for line in map(json.loads, lines)}
    assert len(replicas) == 25
    assert replicas["copy"] == replicas["p0"]
    found = webwinnow("search", tmp_path / "index", "orchards", "--json", "--limit", 3)
    assert all(int(json.loads(line)["key"][1:]) % 2 for line in found.stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("features", "--weighting", "cst", "-o", "f.npz"),
            "give --weighting tfidf, wplus or topic",
        ),
        (("clean", "-o", "out.jsonl"), "these are records of webwinnow clean"),
        (("learn", "-o", "models"), "these are records of webwinnow clean"),
        (("links", "-o", "links.jsonl"), "these are records of webwinnow clean"),
    ],
)
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_commands_that_need_html_say_so(webwinnow, tmp_path, arguments, message, kind):
    clean = tmp_path / f"clean.{kind}"
    write_output(RECORDS[:3], clean, kind)
    command, *options = arguments
    done = webwinnow(command, clean, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_parquet_of_records_with_html_is_pages(tmp_path):
    clean = tmp_path / "clean.parquet"
    write_output([RECORDS[0], RECORDS[1] | {"html": "<p>text</p>"}], clean, "parquet")
    assert [page.body for page in open_pages([clean], on_problem=pytest.fail)] == [b"", b"<p>text</p>"]


def test_records_come_through_a_pipe(webwinnow, tmp_path):
    clean = tmp_path / "clean.jsonl"
    write_output(RECORDS, clean, "jsonl")
    runs = [
        ("cluster", "-", "-o", "clusters.jsonl", "-k", 2, "--no-report", "--jobs", 1, "-q"),
        ("index", "-", "-o", "index", "-q"),
        ("replicas", "-", "-o", "replicas.jsonl", "-q"),
    ]
    for arguments in runs:
        with clean.open("rb") as piped:
            done = webwinnow(*arguments, stdin=piped, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr)
    lines = (tmp_path / "clusters.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["page_id"] for line in lines} == {record["page_id"] for record in RECORDS}
    assert len((tmp_path / "replicas.jsonl").read_text(encoding="utf-8").splitlines()) == len(RECORDS)


def test_pages_still_come_through_a_pipe_to_commands_that_take_records(webwinnow, tmp_path):
    html = page_of_record(RECORDS[1]).body.decode()
    rows = "".join(json.dumps({"url": f"http://a.example/{n}", "html": html}) + "\n" for n in range(3))
    for given, pages in ((rows, 3), (html, 1)):
        done = webwinnow("features", "-", "-o", "f.npz", "--weighting", "tfidf", "--jobs", 1, input=given, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        with np.load(tmp_path / "f.npz") as found:
            assert found["shape"][0] == pages


def test_a_model_that_needs_html_is_refused_for_records_with_what_to_do(webwinnow, tmp_path):
    crawl, clean, model = tmp_path / "crawl.jsonl", tmp_path / "clean.jsonl", tmp_path / "model.npz"
    pages = [page_of_record(record) for record in RECORDS]
    labels = [record["category"] for record in RECORDS]
    rows = [{"url": page.url, "html": page.body.decode(), "topic": t} for page, t in zip(pages, labels, strict=True)]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = webwinnow("classify", "train", crawl, "-o", model, "--label", "topic", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    write_output(RECORDS, clean, "jsonl")
    done = webwinnow("classify", "train", clean, "-o", model, "--label", "category", "--jobs", 1)
    assert done.returncode == 2
    assert "these are records; give --weighting tfidf" in " ".join(done.stderr.split())
    done = webwinnow("classify", "apply", model, clean, "-o", tmp_path / "o.jsonl", "--jobs", 1)
    assert done.returncode == 2
    assert "train the model with --weighting tfidf" in " ".join(done.stderr.split())


def test_pages_are_still_read_as_pages(tmp_path):
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text(json.dumps({"url": "http://a.example/", "html": "<p>text</p>"}) + "\n", encoding="utf-8")
    (page,) = open_pages([crawl], on_problem=pytest.fail)
    assert page.body == b"<p>text</p>"


def test_clean_fills_the_category_with_the_classes_of_a_model(webwinnow, tmp_path):
    clean, model, crawl = tmp_path / "clean.jsonl", tmp_path / "model.npz", tmp_path / "crawl.jsonl"
    write_output(RECORDS, clean, "jsonl")
    train = ("classify", "train", clean, "-o", model, "--label", "category", "--weighting", "tfidf", "--jobs", 1)
    done = webwinnow(*train)
    assert done.returncode == 0, done.stderr
    pages = [page_of_record(record) for record in RECORDS[:6]]
    rows = [{"url": page.url, "page_id": page.page_id, "html": page.body.decode()} for page in pages]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for method in ("combined", "none"):
        out = tmp_path / f"{method}.jsonl"
        done = webwinnow("clean", crawl, "-o", out, "--classes", model, "--method", method, "--jobs", 1)
        assert done.returncode == 0, done.stderr
        found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        kept = [record for record in found if record["outcome"] == "kept"]
        assert kept
        assert all(record["category"] == ("fruit" if int(record["page_id"][1:]) % 2 else "ships") for record in kept)
    for certain in (("--min-probability", 1), ("--none", 0)):
        done = webwinnow("clean", crawl, "-o", out, "--classes", model, "--method", "none", "--jobs", 1, *certain)
        assert done.returncode == 0, done.stderr
        found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert {record["category"] for record in found} == {None}


@pytest.mark.parametrize("given", [("--none", "1.5"), ("--min-probability", "nan"), ("--min-probability", "2")])
def test_probabilities_out_of_range_are_refused(webwinnow, tmp_path, given):
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text(json.dumps({"url": "http://a.example/", "html": "<p>text</p>"}) + "\n", encoding="utf-8")
    done = webwinnow("clean", crawl, "-o", tmp_path / "o.jsonl", "--classes", tmp_path / "no.npz", *given)
    assert done.returncode == 2
    assert "range" in done.stderr or "from 0 to 1" in done.stderr
