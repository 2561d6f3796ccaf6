"""What a newcomer meets: Ctrl-C, outputs that cannot be written, `-`, options without effect, what to try next."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main
from warmcommand import run_command

from webwinnow.cli.app import app
from webwinnow.cli.terminal import UNCHANGED
from webwinnow.counted import counted
from webwinnow.errors import InputError
from webwinnow.run.cleaning import run_folder

ROOT = Path(__file__).parents[2]
Command = Callable[..., tuple[Any, str, str]]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.jsonl"
    lines = [
        {"url": f"http://a.example/{n}", "html": f"<ul><li>Menu</ul><p>Page {n} of the site says {n * n} things."}
        for n in range(3)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def all_commands(group: Any = None, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for name, one in (group or typer.main.get_command(app)).commands.items():
        found |= all_commands(one, (*path, name)) if hasattr(one, "commands") else {(*path, name): one}
    return found


COMMANDS = all_commands()


# Numbers


@pytest.mark.parametrize(("number", "said"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (1_200, "1,200 pages")])
def test_a_number_has_its_noun_in_the_singular_or_plural(number: int, said: str) -> None:
    assert counted(number, "page") == said


def test_a_noun_may_have_its_own_plural() -> None:
    assert [counted(n, "copy was", "copies were") for n in (1, 2)] == ["1 copy was", "2 copies were"]


def test_one_page_of_one_site_is_singular(command: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>One page with a sentence of content that is long enough to be kept.")
    code, _, said = command("clean", tmp_path / "page.html", "-o", tmp_path / "out.jsonl", "--jobs", 1)
    assert (code, said.startswith("1 page of 1 site in ")) == (0, True)


# Ctrl-C

STARTING = """
import sys

class Stops:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Stops())
sys.argv[1:] = {arguments!r}
from _webwinnow import main
main()
"""


@pytest.mark.parametrize("name", ["numpy", "webwinnow.cli", "typer", "webwinnow.cli.command_clean"])
def test_ctrl_c_while_a_command_starts_ends_with_a_message(name: str, crawl: Path, tmp_path: Path) -> None:
    program = STARTING.format(name=name, arguments=["clean", str(crawl), "-o", str(tmp_path / "out.jsonl")])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, f"webwinnow: stopped; {UNCHANGED}\n")


def test_a_broken_installation_is_reported_in_one_line() -> None:
    program = STARTING.format(name="webwinnow.page._nodes", arguments=["doctor"]).replace(
        "raise KeyboardInterrupt", "raise ModuleNotFoundError('no', name=name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("webwinnow: the installation is broken: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_ctrl_c_in_any_command_ends_with_130_and_a_message(
    path: tuple[str, ...], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(COMMANDS[path]), "parse_args", stop)
    assert command(*path) == (130, "", f"webwinnow: stopped; {UNCHANGED}\n")


def stopped(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, stop)


def test_a_stopped_clean_names_its_folder_and_continues(
    command: Command, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    with monkeypatch.context() as once:
        stopped(once, "webwinnow.run.cleaning.clean_all")
        code, _, said = command("clean", crawl, "-o", out, "--jobs", 1)
    folder = run_folder(out)
    assert folder is not None
    assert folder.is_dir()
    assert code == 130
    assert said.endswith(f"webwinnow: stopped; {folder} has what was done; the same command with --resume continues, "
                         "and removes it\n")  # fmt: skip
    assert command("clean", crawl, "-o", out, "--jobs", 1, "--resume")[0] == 0
    assert not folder.exists()


def test_a_stopped_clean_to_standard_output_keeps_nothing(
    command: Command, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, "webwinnow.run.cleaning.clean_all")
    assert command("clean", crawl, "-o", "-", "--jobs", 1) == (130, "", f"webwinnow: stopped; {UNCHANGED}\n")


def test_a_failed_clean_names_its_folder(
    command: Command, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise InputError("the disk is full")

    monkeypatch.setattr("webwinnow.run.cleaning.clean_all", full)
    code, _, said = command("clean", crawl, "-o", tmp_path / "out.jsonl", "--jobs", 1)
    assert code == 2
    assert f"{run_folder(tmp_path / 'out.jsonl')} has what was done: --resume continues" in said


def test_a_stopped_learn_says_what_is_kept(
    command: Command, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, "webwinnow.run.learning._save")
    code, _, said = command("learn", crawl, "-o", tmp_path / "models", "--jobs", 1)
    assert (code, "models has the models of the sites that were finished" in said) == (130, True)


def test_a_stopped_server_says_what_is_kept(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi")
    stopped(monkeypatch, "webwinnow.serve.server.serve")
    code, _, said = command("serve", "--folder", tmp_path / "data", "--port", "0")
    assert (code, "has jobs, results and models; the same command continues" in said) == (130, True)


# Outputs are checked before the work

OTHERS = {
    ("classify", "apply"): ["model.npz"],
    ("sites", "classify"): ["model.npz"],
    ("sites", "mine"): ["--seeds", "none.csv"],
    ("crawl",): ["https://a.example/"],
    ("experiment", "mining"): ["--data", "none.parquet", "--label", "a"],
    ("experiment", "sites"): ["--data", "none.parquet", "--label", "a"],
    ("experiment", "replicas"): ["pairs.parquet"],
    ("sites", "train"): ["--label", "a"],
}
"""Further arguments that a command requires."""
WITHOUT_INPUT = {("crawl",), ("sites", "mine"), ("experiment", "mining"), ("experiment", "sites")}
WRITERS = {path: one for path, one in COMMANDS.items() if any(option.name == "out" for option in one.params)}


def given(path: tuple[str, ...]) -> list[str]:
    return [*path, *OTHERS.get(path, []), *([] if path in WITHOUT_INPUT else ["missing.jsonl"])]


def test_every_command_that_writes_is_tested() -> None:
    assert len(WRITERS) >= 20


@pytest.mark.parametrize("path", WRITERS, ids=" ".join)
def test_an_output_below_a_file_is_refused_before_the_input_is_read(
    path: tuple[str, ...], command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    code, out, said = command(*given(path), "-o", "file/x")
    assert (code, out) == (2, "")
    assert said.startswith("webwinnow: file/x: ")


@pytest.mark.parametrize("path", WRITERS, ids=" ".join)
def test_an_output_in_a_folder_that_cannot_be_written_is_refused(
    path: tuple[str, ...], command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    access = os.access
    monkeypatch.setattr(os, "access", lambda folder, mode: Path(folder) != tmp_path and access(folder, mode))
    code, out, said = command(*given(path), "-o", "x")
    assert (code, out) == (2, "")
    assert re.match(r"webwinnow: x: \S+ cannot be written; give another name\n", said), said


@pytest.mark.parametrize("path", [path for path in WRITERS if path != ("crawl",)], ids=" ".join)
def test_a_hyphen_is_standard_output_or_refused(
    path: tuple[str, ...], command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, said = command(*given(path), "-o", "-")
    assert code == 2
    assert ("give one with -o, not -" in said) == writes_folder(path)
    assert not Path("-").exists()


def writes_folder(path: tuple[str, ...]) -> bool:
    (option,) = (option for option in WRITERS[path].params if option.name == "out")
    return "folder" in option.help and "standard output" not in option.help


def test_features_and_models_go_to_standard_output(crawl: Path, tmp_path: Path) -> None:
    done = run_command("features", str(crawl), "-o", "-", "--jobs", "1", "-q", capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout[:2]) == (0, b"PK")
    done = run_command("inspect", str(crawl), "-o", "-", "--jobs", "1", "-q", capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout[:15].lower()) == (0, b"<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.jsonl"]


def test_models_are_packed_to_standard_output(command: Command, crawl: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    assert command("learn", crawl, "-o", tmp_path / "models", "--jobs", 1, "-q")[0] == 0
    done = run_command("models", "pack", str(tmp_path / "models"), "-o", "-", capture_output=True)
    assert (done.returncode, done.stdout[:4], done.stdout[-4:]) == (0, b"PAR1", b"PAR1")


def test_standard_output_is_for_one_output(command: Command, crawl: Path) -> None:
    code, out, said = command("clean", crawl, "-o", "-", "--rejected", "-")
    assert (code, out) == (2, "")
    assert said == "webwinnow: - (standard output) is given for two outputs; give one of them a file\n"


TWICE = "- (standard output) is given for two outputs; give one of them a file"
SAME = "same: is named for two outputs, of which one would replace the other"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("classify train crawl.jsonl --label a -o - --report -", TWICE),
        ("classify train crawl.jsonl --label a -o m.npz --report - --scores -", TWICE),
        ("classify train crawl.jsonl --label a -o m.npz --report same --scores same", SAME),
        ("cluster crawl.jsonl -o c.jsonl --report - --topics -", TWICE),
        ("cluster crawl.jsonl -o - --topics -", TWICE),
        ("cluster crawl.jsonl -o same --topics same", SAME),
        ("clean crawl.jsonl -o same --rejected same", SAME),
        ("clean https://a.example/ -o a --rejected a.warc.gz", "a.warc.gz: is named for two outputs"),
        ("crawl https://a.example/ -o a.warc.gz --log a.warc.gz", "a.warc.gz: is named for two outputs"),
        ("classify apply crawl.jsonl pages.jsonl -o crawl.jsonl", "crawl.jsonl: is an input, which the output"),
        ("sites classify crawl.jsonl pages.jsonl -o crawl.jsonl", "crawl.jsonl: is an input, which the output"),
        ("rank pages.jsonl --root crawl.jsonl -o crawl.jsonl", "crawl.jsonl: is an input, which the output"),
    ],
)
def test_two_outputs_never_go_to_one_place_nor_over_an_input(
    line: str, message: str, command: Command, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if line.startswith("cluster"):
        pytest.importorskip("sklearn")
    monkeypatch.chdir(crawl.parent)
    before = crawl.read_bytes()
    code, out, said = command(*line.split())
    assert (code, out) == (2, "")
    assert message in said
    assert [path.name for path in crawl.parent.iterdir()] == ["crawl.jsonl"]
    assert crawl.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "suffix"),
    [
        (["features", "crawl.jsonl", "-o", "x.csv"], ".npz"),
        (["inspect", "crawl.jsonl", "-o", "x.jsonl"], ".html"),
        (["classify", "train", "crawl.jsonl", "--label", "a", "-o", "x.json"], ".npz"),
        (["models", "pack", "models", "-o", "x.csv"], ".parquet"),
    ],
)
def test_a_name_of_a_format_that_is_not_written_is_refused(
    arguments: list[str], suffix: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = arguments[-1]
    said = f"{name}: the output is {suffix} only, not {Path(name).suffix}; give a name in {suffix}"
    assert command(*arguments) == (2, "", f"webwinnow: {said}\n")


@pytest.mark.parametrize(("tmp", "what"), [("missing/zz", "does not exist"), ("crawl.jsonl", "is a file")])
def test_a_folder_for_temporary_files_that_does_not_exist_is_refused_and_not_made(
    tmp: str, what: str, command: Command, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawl.parent)
    said = f"webwinnow: {tmp}: the folder for temporary files {what}; expected one that exists\n"
    assert command("clean", crawl, "-o", "out.jsonl", "--tmp", tmp) == (2, "", said)
    assert [path.name for path in crawl.parent.iterdir()] == ["crawl.jsonl"]


# Options without effect


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--set sst.threshold=0.9", "sst.threshold is read by method sst, not by combined"),
        ("--method sst --set aligned.threshold=0.9", "aligned.threshold is read by method aligned, not by sst"),
        ("--method none --set page.tails=false", "page.tails is read by the methods combined, page, not by none"),
        ("--set wholes.complete=true", "wholes.complete is read by the methods aligned, cst, docview, items, none"),
        ("--method repeated --favor recall", "--favor is read by the methods combined, page, not by repeated"),
        ("--method sst --no-comments", "comments is read by the methods combined, page, not by sst"),
        ("--method page --models models", "--models has no effect with --method page; leave it out"),
        ("--method none --learn-pages 3", "--learn-pages has no effect with --method none; leave it out"),
        ("--pages 5", "--pages has no effect without a URL to crawl; leave it out"),
        ("--delay 3", "--delay has no effect without a URL to crawl; leave it out"),
        ("--no-sitemaps", "--no-sitemaps has no effect without a URL to crawl; leave it out"),
        ("--render", "--render has no effect without a URL to crawl; leave it out"),
        ("https://a.example/ --browsers 2", "--browsers has no effect without --render; leave it out"),
        ("--no-view --keywords 2", "--keywords has no effect with --no-view; leave it out"),
        ("--no-view --set docview.keywords=2", "docview.keywords has no effect with --no-view; leave it out"),
        ("--no-view --set docview.most=3", "docview.most has no effect with --no-view; leave it out"),
        ("--no-view --method docview --set docview.keywords=2", "docview.keywords has no effect with --no-view"),
    ],
)
def test_an_option_that_the_method_ignores_is_refused(
    options: str, message: str, command: Command, crawl: Path, tmp_path: Path
) -> None:
    code, _, said = command("clean", crawl, "-o", tmp_path / "out.jsonl", *options.split())
    assert code == 2
    assert message in said
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("page crawl.jsonl --set repeated.share=0.9", "repeated.share is read by method repeated, not by combined"),
        ("links crawl.jsonl -o - --set sst.threshold=0.9", "sst.threshold is read by method sst, not by combined"),
        ("learn crawl.jsonl -o m --set page.favor=recall", "give this one to webwinnow clean"),
        ("lists templates crawl.jsonl -o - --set sst.threshold=0.9", "is read by method sst, not by template"),
        ("replicas crawl.jsonl -o - --interval 3", "--interval has no effect with --fingerprint modern"),
        ("rank crawl.jsonl -o - --algorithm hits --damping 0.5", "--damping has no effect with --algorithm hits"),
        ("classify train crawl.jsonl --label a -o m.npz --neighbours 3", "no effect with --classifier svm"),
        ("classify train crawl.jsonl --label a -o m.npz --method sst", "--method has no effect with --classifier svm"),
        (
            "classify train crawl.jsonl --label a -o m.npz --weighting tfidf --set cst.alone=1",
            "cst.alone has no effect with --weighting tfidf; leave it out",
        ),
        ("features crawl.jsonl -o f.npz --weighting tfidf --no-mapped", "--no-mapped has no effect with --weighting"),
        ("features crawl.jsonl -o f.npz --weighting tfidf --set cst.alone=1", "cst.alone has no effect with"),
        ("features crawl.jsonl -o f.npz --weighting tfidf --learn-pages 3", "--learn-pages has no effect with"),
        ("learn crawl.jsonl -o m --epochs 2", "--epochs has no effect without --update; leave it out"),
        ("learn crawl.jsonl -o m --try-pages 2", "--try-pages has no effect without --try-thresholds; leave it out"),
        ("links crawl.jsonl -o - --method none --models m", "--models has no effect with --method none; leave it out"),
        ("rank crawl.jsonl -o - --method page --models m", "--models has no effect with --method page; leave it out"),
        ("page p.html --method none --models m", "--models has no effect with --method none; leave it out"),
        ("page p.html --method page --models m", "--models has no effect with --method page; leave it out"),
        ("page p.html --allow-private", "--allow-private has no effect without a URL to fetch or --render"),
        ("page p.html --resolve a=1.2.3.4", "--resolve has no effect without a URL to fetch or --render"),
    ],
)
def test_other_commands_refuse_them_too(
    line: str, message: str, command: Command, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawl.parent)
    code, out, said = command(*line.split())
    assert (code, out) == (2, "")
    assert message in said


def test_an_option_of_another_algorithm_of_clusters_is_refused(command: Command, crawl: Path) -> None:
    pytest.importorskip("sklearn")
    code, _, said = command("cluster", crawl, "-o", "-", "--algorithm", "hdbscan", "--runs", 5)
    assert (code, said) == (2, "webwinnow: --runs has no effect with --algorithm hdbscan; leave it out\n")


def test_the_options_of_connections_go_with_rendering_a_file(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("scrapy")
    code, _, said = command("page", tmp_path / "none.html", "--render", "--allow-private")
    assert (code, "none.html: No such file" in said) == (2, True)


def test_settings_that_the_method_docview_reads_go_without_a_view(
    command: Command, crawl: Path, tmp_path: Path
) -> None:
    options = ("--no-view", "--method", "docview", "--set", "docview.most=3", "--jobs", 1, "-q")
    assert command("clean", crawl, "-o", tmp_path / "out.jsonl", *options)[0] == 0


def test_settings_of_records_go_with_every_method(command: Command, crawl: Path, tmp_path: Path) -> None:
    options = ("--method", "repeated", "--set", "docview.keywords=2", "--jobs", 1, "-q")
    assert command("clean", crawl, "-o", tmp_path / "out.jsonl", *options)[0] == 0


# What to try next


@pytest.mark.slow
def test_the_three_things_to_try_next_work(tmp_path: Path) -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = re.findall(r'@echo "  (\$\(BIN\)/webwinnow .*)"', text)
    assert len(lines) == 3
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    (tmp_path / "out").mkdir()
    done = run_command("clean", "samples/docs.warc.gz", "-o", "out/docs.jsonl", "-q", cwd=tmp_path)
    assert done.returncode == 0
    for line in lines:
        for one in line.partition(" #")[0].split(" && "):
            words = shlex.split(one)
            assert words[0] == "$(BIN)/webwinnow"
            done = run_command(*words[1:], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert done.stdout or Path(tmp_path, words[words.index("-o") + 1]).exists()
