"""Every command of README's table that reads a collection, on pages and on the records of `webwinnow clean` alone.

A command that needs the other kind of input says so, and names what it expects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from webwinnow.run.outputs import write_output
from webwinnow.run.recordpages import page_of_record

README = Path(__file__).parents[2] / "README.md"
RECORDS_HINT = "these are records of webwinnow clean"
NAMES = {
    "fruit": "apple pear orchard harvest cider blossom pruning grafting frost cellar".split(),
    "ships": "harbour anchor vessel captain mast rigging voyage cargo sailor lighthouse".split(),
}

# Command, its options, and what it says of records and of pages where it does not take them.
COMMANDS: list[tuple[str, str, str | None, str | None]] = [
    ("clean", "-o o.jsonl", RECORDS_HINT, None),
    ("page", "", "expected one HTML page", "expected one HTML page"),
    ("inspect", "-o o.html", RECORDS_HINT, None),
    ("learn", "-o models", RECORDS_HINT, None),
    ("features", "-o o.npz", "the weighting cst needs the HTML of pages", None),
    ("features", "-o o.npz --weighting tfidf", None, None),
    ("links", "-o o.jsonl", RECORDS_HINT, None),
    ("rank", "-o o.jsonl", RECORDS_HINT, None),
    ("replicas", "-o o.jsonl", None, None),
    ("cluster", "-o o.jsonl -k 2 --no-report", None, None),
    ("classify train", "-o o.npz --label category --weighting tfidf", None, None),
    ("classify train", "-o o.npz --label category --classifier docview", RECORDS_HINT, None),
    ("index", "-o index", None, "expected records that webwinnow clean wrote"),
    ("sites train", "-o o.npz --label category --method superpage", RECORDS_HINT, None),
    ("lists templates", "-o o.json", RECORDS_HINT, None),
    ("lists stopwords", "", RECORDS_HINT, None),
    ("experiment search", "-o results --titles 4 --disk-groups 0", None, "expected records of webwinnow clean"),
]
OTHERS = {
    "methods": "nothing",
    "doctor": "nothing",
    "crawl": "a URL",
    "models": "models of learn",
    "search": "an index",
    "serve": "nothing",
    "sites": "see `sites train`, and `sites classify` below; `sites mine` takes URLs",
    "classify": "see `classify train`; `classify apply` takes what `classify train` takes",
    "lists": "see `lists templates` and `lists stopwords`",
    "experiment": "see `experiment search`, and below the others, which take tables of labelled pages",
}


def record(number: int) -> dict[str, object]:
    topic = "fruit" if number % 2 else "ships"
    said = [NAMES[topic][(number + k * step) % 10] for step in (1, 3) for k in range(10)]
    site = f"{'ab'[number % 2]}{number // 8}.example"
    about = {"url": f"http://{site}/{number}", "page_id": f"p{number}", "site": site, "outcome": "kept", "lang": "en"}
    text = f"On {topic} {number}\n{' '.join(said)}."
    return about | {"title": f"Page {number} on {topic}", "text": text, "date": "2024-05-06", "category": topic}


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same pages as records of `clean`, and as HTML with a menu and links."""
    folder = tmp_path_factory.mktemp("collections")
    found = [record(number) for number in range(24)]
    write_output(found, folder / "records.jsonl", "jsonl")
    write_output(found, folder / "records.parquet", "parquet")
    menu = "".join(f"<li><a href=/{number}>Section {number}</a>" for number in range(4))
    rows = []
    for one in found:
        html = page_of_record(one).body.decode().replace("<body>", f"<body><ul>{menu}</ul>")
        rows.append({name: one[name] for name in ("url", "page_id", "category")} | {"html": html})
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {name: folder / name for name in ("records.jsonl", "records.parquet", "pages.jsonl")}


@pytest.mark.parametrize("kind", ["records.jsonl", "records.parquet", "pages.jsonl"])
@pytest.mark.parametrize(("command", "options", "no_records", "no_pages"), COMMANDS)
def test_a_command_takes_a_kind_of_input_or_says_what_it_expects(
    command: str,
    options: str,
    no_records: str | None,
    no_pages: str | None,
    kind: str,
    collections: dict[str, Path],
    webwinnow: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    message = no_records if kind.startswith("records") else no_pages
    arguments = [*command.split(), collections[kind], *options.split()]
    done = webwinnow(*arguments, cwd=tmp_path)
    if message is None:
        assert done.returncode == 0, done.stderr
        assert done.stdout or list(tmp_path.iterdir())
    else:
        assert done.returncode == 2, done.stderr
        assert message in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["records.jsonl", "records.parquet"])
@pytest.mark.parametrize("command", ["mining --data", "sites --data", "replicas pairs.jsonl"])
def test_experiments_on_pages_refuse_records(
    command: str,
    kind: str,
    collections: dict[str, Path],
    webwinnow: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    pair = {"page_a": "p1", "page_b": "p2", "replica": 1, "kind": "copy"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n", encoding="utf-8")
    options = () if "pairs" in command else ("--label", "category")
    done = webwinnow("experiment", *command.split(), collections[kind], *options, "-o", "results", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert RECORDS_HINT in " ".join(done.stderr.split())


def test_sites_are_classified_by_their_pages_and_not_by_records(
    collections: dict[str, Path], webwinnow: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    train = (
        "sites",
        "train",
        collections["pages.jsonl"],
        "-o",
        "o.npz",
        "--label",
        "category",
        "--method",
        "superpage",
    )
    done = webwinnow(*train, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for kind, code in (("pages.jsonl", 0), ("records.jsonl", 2), ("records.parquet", 2)):
        done = webwinnow("sites", "classify", "o.npz", collections[kind], "-o", "topics.jsonl", cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert code == 0 or RECORDS_HINT in " ".join(done.stderr.split())


def test_every_command_of_the_table_is_among_them() -> None:
    named = set(re.findall(r"`webwinnow ([a-z-]+)", README.read_text(encoding="utf-8")))
    assert named <= {command.split()[0] for command, *_ in COMMANDS} | set(OTHERS)
