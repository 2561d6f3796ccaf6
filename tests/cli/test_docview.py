"""DocView on the command line: types, keywords and abstracts in records, categories, Dublin Core."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pyarrow.parquet as pq
import pytest
from warmcommand import command as run

from webwinnow.classify.category import CategoryModel
from webwinnow.page._words import name_hash

SAMPLE = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "record.schema.json").read_text(encoding="utf-8"))
TOPICS = {
    "farming": "The farmer brings the wheat and the rye to the barn. The harvest of oats was good on all fields.",
    "shipping": "The captain of the ship saw the harbour at high tide. The sail was torn and the anchor was lost.",
}


def written(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.jsonl"
    pages = [
        {
            "url": f"https://{topic}.test/{k}",
            "page_id": f"{topic}-{k}",
            "html": f"<html lang=en><title>{topic} {k}</title><body><h1>{topic} {k}</h1><p>{text}</p><p>Page {k}.</p>",
        }
        for topic, text in TOPICS.items()
        for k in range(6)
    ]
    path.write_text("\n".join(map(json.dumps, pages)), encoding="utf-8")
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.tsv"
    path.write_text("".join(f"{topic}-{k}\t{topic}\n" for topic in TOPICS for k in range(3)), encoding="utf-8")
    return path


def test_sample_records_are_views_and_fit_the_schema(tmp_path: Path):
    out = tmp_path / "docs.jsonl"
    assert run("clean", SAMPLE, "-o", out, "-q").returncode == 0
    records = written(out)
    for record in records:
        jsonschema.validate(record, SCHEMA)
    kept = [record for record in records if record["outcome"] == "kept"]
    assert {record["type"] for record in kept} == {"topic", "hub"}
    for field in ("keywords", "abstract", "summary"):
        assert sum(bool(record[field]) for record in kept) > 0.95 * len(kept)


def test_parquet_has_the_same_fields(crawl: Path, tmp_path: Path):
    lines, table = tmp_path / "out.jsonl", tmp_path / "out.parquet"
    for out in (lines, table):
        assert (
            run("clean", crawl, "-o", out, "--keywords", 3, "--sentences", 1, "--method", "none", "-q").returncode == 0
        )
    for record, row in zip(written(lines), pq.read_table(table).to_pylist(), strict=True):
        assert {name: row[name] for name in record} == record
        assert len(record["keywords"]) == 3
        assert "\n" not in record["abstract"]


def test_method_docview_cleans_a_crawl(crawl: Path, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    assert run("clean", crawl, "-o", out, "--method", "docview", "-q").returncode == 0
    assert {record["method"] for record in written(out)} == {"docview"}
    assert {record["type"] for record in written(out)} == {"topic"}


def test_a_run_without_views_leaves_their_fields_empty(crawl: Path, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    assert run("clean", crawl, "-o", out, "--no-view", "--method", "none", "-q").returncode == 0
    for record in written(out):
        jsonschema.validate(record, SCHEMA)
        assert record["text"]
        assert (record["type"], record["keywords"], record["abstract"], record["summary"]) == (None, [], None, None)


def test_categories_are_learned_and_named(crawl: Path, labels: Path, tmp_path: Path):
    model, out = tmp_path / "categories.npz", tmp_path / "out.jsonl"
    learned = run("classify", "train", crawl, "--classifier", "docview", "--labels", labels, "-o", model)
    assert learned.returncode == 0, learned.stderr
    assert "6 pages, 2 categories" in learned.stderr
    assert run("clean", crawl, "-o", out, "--categories", model, "-q").returncode == 0
    assert all(record["category"] == record["page_id"].partition("-")[0] for record in written(out))


REPEATED = "Newsletter subscribers get vouchers every Sunday morning from our friendly editorial team."


def trained(crawl: Path, labels: Path, model: Path, *options: str) -> CategoryModel:
    done = run("classify", "train", crawl, "--classifier", "docview", "--labels", labels, "-o", model, *options)
    assert done.returncode == 0, done.stderr
    return CategoryModel.load(model)


@pytest.fixture
def repeating(crawl: Path) -> Path:
    """The crawl with one paragraph that every page repeats, and one of its own."""
    pages = written(crawl)
    for k, page in enumerate(pages):
        page["html"] = page["html"].replace("<p>The", f"<p>{REPEATED}</p><p>Number {k}: the", 1)
    crawl.write_text("\n".join(map(json.dumps, pages)), encoding="utf-8")
    return crawl


@pytest.mark.parametrize(("site_by", "is_learned"), [("host", False), ("none", True)])
def test_training_pages_are_cleaned_with_their_sites(
    site_by: str, is_learned: bool, repeating: Path, labels: Path, tmp_path: Path
):
    # Cleaned by itself, a page keeps what its site repeats; `clean` with a site model removes it.
    model = trained(repeating, labels, tmp_path / "m.npz", "--method", "repeated", "--site-by", site_by)
    assert (name_hash("vouchers") in model.key) == is_learned
    assert name_hash("wheat") in model.key


def test_pages_are_cleaned_like_the_training_pages(repeating: Path, labels: Path, tmp_path: Path):
    model, out = tmp_path / "m.npz", tmp_path / "out.jsonl"
    trained(repeating, labels, model, "--method", "repeated", "--set", "repeated.min_pages=2", "--task", "structure")
    done = run("clean", repeating, "-o", out, "--categories", model, "--keywords", 3, "-q")
    assert done.returncode == 0, done.stderr
    for record in written(out):
        assert record["method"] == "repeated"
        assert "vouchers" not in record["text"]
        assert len(record["keywords"]) == 3


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--method", "none"], "method is 'none', was 'repeated'"),
        (["--method", "repeated", "--task", "archive"], "task.name is 'archive', was 'content'"),
        (["--method", "repeated", "--set", "repeated.share=0.9"], "settings.repeated.share is 0.9, was"),
        (["--method", "repeated", "--set", "docview.force=h1=9"], "features.force is 'h1=9', was ''"),
        (["--site-by", "none"], "sites is False, was True"),
    ],
)
def test_another_cleaning_than_in_training_is_refused(
    options: list[str], named: str, crawl: Path, labels: Path, tmp_path: Path
):
    model = tmp_path / "m.npz"
    trained(crawl, labels, model, "--method", "repeated")
    done = run("clean", crawl, "-o", tmp_path / "out.jsonl", "--categories", model, *options)
    assert done.returncode == 2
    assert named in " ".join(done.stderr.split())
    assert "train them again" in " ".join(done.stderr.split())
    same = run("clean", crawl, "-o", tmp_path / "out.jsonl", "--categories", model, "--method", "repeated", "-q")
    assert same.returncode == 0, same.stderr


def test_a_wrong_model_is_reported_before_the_work_begins(crawl: Path, tmp_path: Path):
    (tmp_path / "wrong.npz").write_bytes(b"x")
    done = run("clean", crawl, "-o", tmp_path / "out.jsonl", "--categories", tmp_path / "wrong.npz")
    assert done.returncode == 2
    assert "is not a webwinnow model of categories" in done.stderr


@pytest.mark.parametrize("wrong", ["one column\n", "nothing-here\tfarming\n"])
def test_labels_that_name_no_page_are_reported(wrong: str, crawl: Path, tmp_path: Path):
    (tmp_path / "labels.tsv").write_text(wrong, encoding="utf-8")
    done = run(
        "classify",
        "train",
        crawl,
        "--classifier",
        "docview",
        "--labels",
        tmp_path / "labels.tsv",
        "-o",
        tmp_path / "m.npz",
    )
    assert done.returncode == 2
    assert "expected" in done.stderr


def test_dublin_core_is_a_format(crawl: Path, tmp_path: Path):
    out = tmp_path / "records.xml"
    assert run("clean", crawl, "-o", out, "--format", "dublin-core", "-q").returncode == 0
    pages = list(ElementTree.parse(out).getroot())
    assert len(pages) == 12
    assert pages[0].find("{http://purl.org/dc/elements/1.1/}identifier").text.startswith("https://farming.test/")
