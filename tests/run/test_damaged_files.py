"""Every command that reads a model, an index or a list: a damaged one is one sentence and leaves no output."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

import pytest
from modelfiles import with_header
from warmcommand import command as run

import webwinnow

COMMANDS = [
    ("page page.html --method items --set items.trees={}", "items.npz"),
    ("page page.html --method template --set template.found={}", "templates.jsonl"),
    ("clean pages.jsonl -o o.jsonl --models {}", "models.parquet"),
    ("clean pages.jsonl -o o.jsonl --categories {}", "categories.npz"),
    ("clean pages.jsonl -o o.jsonl --classes {}", "classes.npz"),
    ("learn pages.jsonl -o {} --update", "models"),
    ("models show {}", "one.model.npz"),
    ("models merge {} -o o", "models"),
    ("models pack {} -o o.parquet", "models"),
    ("cluster {} -k 2 -o o.jsonl", "features.npz"),
    ("classify apply {} pages.jsonl -o o.jsonl", "classes.npz"),
    ("index records.jsonl -o {}", "index"),
    ("search {} apple", "index"),
    ("sites classify {} pages.jsonl -o o.jsonl", "topics.npz"),
    ("experiment search {} -o o --titles 4 --disk-groups 0", "records.jsonl"),
    ("experiment mining --data {} --label category -o o", "pages.jsonl"),
]
MADE = [
    "clean pages.jsonl -o records.jsonl -q",
    "learn pages.jsonl -o models -q",
    "models pack models -o models.parquet",
    "classify train pages.jsonl --label category --weighting tfidf -o classes.npz -q",
    "classify train pages.jsonl --label category --classifier docview -o categories.npz -q",
    "sites train pages.jsonl --label category --method superpage -o topics.npz -q",
    "features pages.jsonl --weighting tfidf -o features.npz -q",
    "lists templates pages.jsonl -o templates.jsonl",
    "index records.jsonl -o index -q",
]
NAMES = ("apple pear orchard harvest cider blossom frost".split(), "harbour anchor vessel captain mast rigging".split())


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a valid file of each kind."""
    folder = tmp_path_factory.mktemp("valid")
    menu = "".join(f"<li><a href=/{number}>Section {number}</a>" for number in range(4))
    pages = []
    for number in range(12):
        names = NAMES[number % 2]
        told = " ".join(names[(number + k * step) % len(names)] for step in (1, 2) for k in range(9))
        html = f"<title>Page {number}</title><ul>{menu}</ul><h1>{names[0]} {number}</h1><p>{told}."
        url = f"http://{'ab'[number % 2]}{number // 6}.example/{number}"
        pages.append({"url": url, "page_id": f"p{number}", "category": names[0], "html": html})
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    (folder / "page.html").write_text(pages[0]["html"])
    for command in MADE:
        done = run(*command.split(), cwd=folder)
        assert done.returncode == 0, done.stderr
    shutil.copy(min((folder / "models").glob("*.model.npz")), folder / "one.model.npz")
    shutil.copy(Path(webwinnow.__file__).parent / "methods" / "itemtrees.npz", folder / "items.npz")
    return folder


def damaged(valid: Path, name: str) -> dict[str, bytes | dict[str, bytes] | None]:
    """A file or folder damaged in several ways: other bytes, other files of a folder, or None for nothing there."""
    found: dict[str, bytes | dict[str, bytes] | None] = {"other": (valid / "page.html").read_bytes()}
    if (valid / name).is_dir():
        files = {str(at.relative_to(valid / name)): at for at in (valid / name).rglob("*.*") if at.is_file()}
        whole = {at: path.read_bytes() for at, path in files.items()}
        chosen = [at for at in whole if at.endswith((".sums.npz" if name == "models" else "meta.json", "index.json"))]
        found["half"] = whole | {at: whole[at][: len(whole[at]) // 2] for at in chosen}
        return found
    content = (valid / name).read_bytes()
    found |= {"missing": None, "empty": b"", "random": Random(1).randbytes(3000), "folder": {"x": b"x"}}
    if not name.endswith(".jsonl"):
        found["half"] = content[: len(content) // 2]
    for other in ("features.npz", "one.model.npz"):
        found[other] = (valid / other).read_bytes() if other != name else b"x"
    if b"header.json" in content[:99]:
        found["metadata"] = with_header(content, about={str(number): number for number in range(200_000)})
    return found


@pytest.mark.parametrize(("command", "name"), COMMANDS)
def test_a_damaged_file_is_one_sentence_and_leaves_no_output(
    command: str, name: str, valid: Path, tmp_path: Path
) -> None:
    for how, content in damaged(valid, name).items():
        if (how, name) in (("empty", "templates.jsonl"), ("other", "pages.jsonl"), ("half", "models")):
            continue  # a list without templates, a page, and models of which others can be read: below
        folder = tmp_path / how
        shutil.copytree(valid, folder)
        given = folder / f"given-{name}"
        if isinstance(content, bytes):
            given.write_bytes(content)
        for at, part in content.items() if isinstance(content, dict) else ():
            (given / at).parent.mkdir(parents=True, exist_ok=True)
            (given / at).write_bytes(part)
        before = sorted(folder.rglob("*"))
        done = run(*command.format(given.name).split(), cwd=folder)
        assert (how, done.returncode, done.stdout) == (how, 2, ""), done.stderr
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("webwinnow: "), (how, done.stderr)
        assert sorted(folder.rglob("*")) == before, how


def test_models_with_damaged_sums_are_not_merged_in_part(valid: Path, tmp_path: Path) -> None:
    shutil.copytree(valid / "models", tmp_path / "models")
    last = max((tmp_path / "models").glob("*.sums.npz"))
    last.write_bytes(last.read_bytes()[:-9])
    done = run("models", "merge", "models", "-o", "merged", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["models"]


@pytest.mark.parametrize(
    "command",
    [
        "inspect {} -o o.html",
        "features {} -o o.npz --weighting tfidf",
        "replicas {} -o o.jsonl",
        "rank {} -o o.jsonl",
        "index {} -o o",
        "experiment search {} -o o --titles 4 --disk-groups 0",
        "experiment replicas pairs.jsonl {} -o o",
    ],
)
def test_an_input_that_is_cut_short_is_read_up_to_there_and_exits_with_1(
    command: str, valid: Path, tmp_path: Path
) -> None:
    kind = command.partition(" {}")[0]
    link = {"source": "http://a.example/1", "target": "http://a.example/2", "kept": True}
    whole = {
        "inspect": (valid / "pages.jsonl").read_bytes(),
        "features": (valid / "pages.jsonl").read_bytes(),
        "experiment replicas pairs.jsonl": (valid / "pages.jsonl").read_bytes(),
        "rank": b"".join(json.dumps(one).encode() + b"\n" for one in (link, link | {"target": "http://a.example/3"})),
    }.get(kind, (valid / "records.jsonl").read_bytes())
    options = ("--targets",) if kind == "rank" else ()
    pair = {"page_a": "p0", "page_b": "p1", "replica": False, "kind": "other"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair) + "\n" + json.dumps(pair | {"replica": True}) + "\n")
    for content, code in ((whole, 0), (whole[:-20], 1)):
        (tmp_path / "given.jsonl").write_bytes(content)
        done = run(*command.format("given.jsonl").split(), *options, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert len(list(tmp_path.iterdir())) > 2
