"""Invalid arguments are refused before any work, with a clear message."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webwinnow.cli import terminal
from webwinnow.cli.app import main
from webwinnow.run.outputparts import shared_reason
from webwinnow.site.modelstore import ModelFolder, ModelTable

Command = Callable[..., tuple[Any, str, str]]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.jsonl"
    lines = [
        {"url": f"http://{site}.example/{n}", "html": f"<p>Page {n} of the site {site} says {n * n} things."}
        for site in "ab"
        for n in range(3)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def models(command: Command, crawl: Path, tmp_path: Path) -> Path:
    assert command("learn", crawl, "-o", tmp_path / "models", "--jobs", 1, "-q")[0] == 0
    return tmp_path / "models"


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "crawl.jsonl", "-o", "nodir/x"],
        ["features", "crawl.jsonl", "-o", "nodir/x"],
        ["models", "pack", "models", "-o", "nodir/x"],
        ["classify", "train", "crawl.jsonl", "--labels", "labels.tsv", "--classifier", "docview", "-o", "nodir/x"],
        ["cluster", "crawl.jsonl", "-o", "-", "--report", "nodir/x"],
    ],
)
def test_a_folder_that_is_missing_is_reported_first(
    command: Command, crawl: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawl.parent)
    message = "webwinnow: nodir/x: the folder nodir does not exist; make it first\n"
    assert command(*arguments) == (2, "", message)


@pytest.mark.parametrize("name", ["inspect", "features", "lists templates", "replicas", "links", "cluster"])
def test_no_command_writes_over_its_input(command: Command, crawl: Path, name: str) -> None:
    before = crawl.read_bytes()
    out = crawl.with_suffix({"inspect": ".html", "features": ".npz"}.get(name, ".jsonl"))  # the only format of some
    if out != crawl:
        out.symlink_to(crawl)
    code, _, message = command(*name.split(), crawl, "-o", out)
    assert code == 2
    assert "is an input, which the output would replace" in message
    assert crawl.read_bytes() == before


def test_a_damaged_model_hides_no_other(command: Command, models: Path, tmp_path: Path) -> None:
    table = tmp_path / "models.parquet"
    ModelTable.pack(ModelFolder(models), table)
    assert command("models", "show", table)[0] == 0
    first, _ = sorted(models.glob("*.model.npz"))
    first.write_bytes(first.read_bytes()[:100])
    code, out, message = command("models", "show", models)
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()] == ["b.example"]
    assert first.name in message
    assert len(message.splitlines()) == 1


def test_a_damaged_model_of_a_table_hides_no_other(command: Command, models: Path, tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    good = next(models.glob("b.example*.model.npz")).read_bytes()
    kinds = pa.schema({"site": pa.large_string(), "model": pa.large_binary()})
    table = tmp_path / "models.parquet"
    pq.write_table(pa.table({"site": ["a.example", "b.example"], "model": [b"PK", good]}, schema=kinds), table)
    code, out, message = command("models", "show", table)
    assert (code, out.split(":")[0], len(message.splitlines())) == (1, "b.example", 1)


def test_only_a_command_with_a_file_of_labels_speaks_of_one(command: Command, crawl: Path, tmp_path: Path) -> None:
    code, _, message = command("sites", "train", crawl, "--label", "topic", "-o", tmp_path / "m.npz")
    assert (code, message.endswith("the columns are: url, html\n")) == (2, True)
    code, _, message = command("classify", "train", crawl, "--label", "topic", "-o", tmp_path / "m.npz")
    assert (code, "(--labels)" in message) == (2, True)
    code, _, message = command("classify", "train", crawl, "-o", tmp_path / "m.npz")
    assert (code, "(--label)" in message, "(--labels)" in message) == (2, True, True)


def test_a_feature_file_is_not_weighed_again(command: Command, tmp_path: Path) -> None:
    code, _, message = command("cluster", tmp_path / "f.npz", "-o", "-", "--weighting", "tfidf")
    assert (code, "leave --weighting and --set out" in message) == (2, True)


def test_the_site_without_a_name_is_reported(command: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>One page of a folder, whose site has no name.</p>")
    message = 'there is no page of nosuch; the sites are: (no name); --site "" is the one without a name'
    assert command("inspect", page, "-o", tmp_path / "r.html", "--site", "nosuch", "--jobs", 1, "-q") == (
        2,
        "",
        f"webwinnow: {message}\n",
    )


def test_the_rules_of_items_are_headed_by_a_sentence(command: Command) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "rivals.md").read_text(encoding="utf-8").splitlines()
    _, out, _ = command("methods", "items", "--rules", "link")
    first = docs.index("$ webwinnow methods items --rules link") + 1
    assert out.splitlines()[:3] == docs[first : first + 3]
    assert "{" not in out.splitlines()[0]


@pytest.mark.parametrize(
    ("reason", "shared"),
    [
        ("line 100: there is no 'html'", "there is no 'html'"),
        ("row 7: there is no 'html'", "there is no 'html'"),
        ("line 3 is no JSON (Expecting value: line 1 column 2 (char 1))", "a line is no JSON (Expecting value)"),
        ("empty", "empty"),
    ],
)
def test_a_reason_is_shared_without_its_line(reason: str, shared: str) -> None:
    assert shared_reason(reason) == shared


def test_no_speed_is_shown_of_the_first_second(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: clock[-1])
    lines = terminal.ShownProgress(seconds=0.0)
    for now, done in ((0.0, 0), (0.001, 10), (2.0, 100)):
        clock.append(now)
        lines.update("parse", done, 200)
    assert capsys.readouterr().err.splitlines() == [
        "webwinnow: reading and parsing: 0 of 200",
        "webwinnow: reading and parsing: 10 of 200",
        "webwinnow: reading and parsing: 100 of 200, 50/s, 2 s left",
    ]


@pytest.mark.parametrize("content", [b"\xc1\xff" * 20, b"", b"short", b"two lines\n" * 9, b"\0" * 40, None])
def test_a_file_without_a_token_is_refused(
    command: Command, tmp_path: Path, content: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = pytest.importorskip("webwinnow.serve.server", exc_type=ImportError)
    monkeypatch.setattr(server, "serve", lambda *_: None)
    file = tmp_path / "token"
    file.mkdir() if content is None else file.write_bytes(content)
    code, _, message = command("serve", "--folder", tmp_path / "data", "--token-file", file, "--port", 0)
    assert (code, len(message.splitlines()), "token" in message) == (2, 1, True)
    assert not (tmp_path / "data").exists()


def test_an_error_has_no_control_characters_of_the_input(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "crawl.jsonl"
    file.write_text(json.dumps({"url": "http://a.example/", "\x1b[31mred\x07": ""}) + "\n")
    code, _, shown = command("clean", file, "-o", tmp_path / "out.jsonl")
    assert code == 2
    assert "[31mred" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        (["page", "-"], "<&-", 2),
        (["clean", "-", "-o", "out.jsonl"], "<&-", 2),
        (["page", "page.html"], ">&-", 2),
        (["clean", "crawl.jsonl", "-o", "out.jsonl", "--jobs", "1"], ">&-", 0),
        (["page", "no.html"], "2>&-", 2),
        (["clean", "crawl.jsonl", "-o", "out.jsonl", "--jobs", "1"], "2>&-", 0),
        (["clean", "crawl.jsonl", "-o", "-", "--jobs", "1"], "| true", 0),
    ],
)
def test_a_standard_stream_that_is_closed_is_no_traceback(
    arguments: list[str], closed: str, code: int, crawl: Path
) -> None:
    (crawl.parent / "page.html").write_text("<p>Some words that a reader would like to keep.")
    script = f'"$@" {closed}; exit ${{PIPESTATUS[0]}}'
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "webwinnow", *arguments]
    done = subprocess.run(command, cwd=crawl.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("Traceback")) == (code, 0), done.stderr


@pytest.mark.parametrize(
    "error, said",
    [
        (MemoryError("Unable to allocate 373. GiB"), "there is not enough memory (Unable to allocate 373. GiB)"),
        (OSError(28, "No space left on device", "a\x1b[31m"), "a [31m: No space left on device"),
    ],
)
def test_what_the_machine_lacks_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, said: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setitem(main.__globals__, "app", failing)
    monkeypatch.setitem(main.__globals__, "_discard_output", lambda: None)
    monkeypatch.setattr(sys, "argv", ["webwinnow", "methods"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"webwinnow: {said}")
