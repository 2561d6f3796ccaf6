"""A module in the folder where a command is started is not imported: neither by it nor by the processes it starts."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from plantedmodules import imported_by_python_itself, plant
from webserver import WebServer

SCRIPT = "from webwinnow.cli import main\n\nif __name__ == '__main__':\n    main()\n"
LABELS = ("--label", "topic", "--site-column", "host", "--runs", "2", "--methods", "N,W")
WORDS = "river stone market winter letter garden engine window history music paper field copper bridge valley".split()


def html(site: str, number: int) -> str:
    menu = "".join(f"<li><a href=/{site}/{k}>{site} {k}</a>" for k in range(6))
    text = " ".join(WORDS[number * k % len(WORDS)] for k in range(1, 60))
    return f"<html><title>{site} {number}</title><ul>{menu}</ul><p>{text}.</p><p>Terms of {site}</p></html>"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of three sites with labels, as JSONL and as Parquet."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("inputs")
    rows = [
        {"url": f"http://{site}.test/{k}", "html": html(site, k), "host": site, "topic": f"topic {k % 2}"}
        for site in ("alpha", "beta", "gamma")
        for k in range(8)
    ]
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), folder / "pages.parquet")
    return folder


@pytest.fixture(params=["as a script", "with -m"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., None]:
    """Run a command in a folder full of planted modules. It succeeds, and none of them is imported."""
    script = tmp_path / "bin" / "webwinnow"  # as pip installs it
    script.parent.mkdir()
    script.write_text(SCRIPT)
    with_m = request.param == "with -m"
    command = [sys.executable, *(["-m", "webwinnow"] if with_m else [str(script)])]
    folder = tmp_path / "planted"
    # `-m webwinnow` itself is found in the folder first: the user has asked for that.
    imported = plant(folder, imported_by_python_itself() | {"webwinnow"} if with_m else frozenset())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}

    def call(*arguments: object) -> None:
        done = subprocess.run(
            [*command, *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert imported() == []
        assert done.returncode == 0, done.stderr

    return call


@pytest.mark.parametrize(
    "arguments",
    [
        ("clean", "pages.jsonl", "-o", "out.jsonl", "--jobs", "2"),
        ("clean", "pages.parquet", "-o", "out.parquet", "--jobs", "2"),
        ("learn", "pages.parquet", "-o", "models", "--jobs", "2"),
        ("features", "pages.parquet", "-o", "out.npz", "--jobs", "2"),
        ("cluster", "pages.jsonl", "-o", "out.jsonl", "--jobs", "2"),
        ("experiment", "mining", "--data", "pages.jsonl", *LABELS, "-o", "results", "--jobs", "2"),
    ],
    ids=" ".join,
)
def test_a_command_with_workers(
    run: Callable[..., None], inputs: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    for module in ("pyarrow", "scipy", "sklearn"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    given = [inputs / name if (inputs / name).exists() else name for name in arguments]
    at = given.index("-o") + 1
    given[at] = tmp_path / str(given[at])
    run(*given)
    assert Path(given[at]).exists()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_an_engine_that_it_starts(run: Callable[..., None], inputs: Path, tmp_path: Path, engine: str) -> None:
    pytest.importorskip("pyspark" if engine == "spark" else engine)
    run("clean", inputs / "pages.jsonl", "-o", tmp_path / "out.jsonl", "--engine", engine, "--jobs", "2")
    assert (tmp_path / "out.jsonl").exists()


def test_a_program_that_uses_the_library(tmp_path: Path, inputs: Path) -> None:
    """Its own folder is searched for modules, as Python does; the folder that it is started in is not."""
    program = tmp_path / "bin" / "program.py"
    program.parent.mkdir()
    program.write_text(
        "import sys\nimport webwinnow\nwebwinnow.run([sys.argv[1]], sys.argv[2], webwinnow.RunSettings(jobs=2))\n"
    )
    imported = plant(tmp_path / "planted")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    command = [sys.executable, program, inputs / "pages.parquet", tmp_path / "out.jsonl"]
    done = subprocess.run(command, cwd=tmp_path / "planted", env=environment, capture_output=True, check=False)
    assert imported() == []
    assert done.returncode == 0, done.stderr


def test_a_crawl(run: Callable[..., None], tmp_path: Path) -> None:
    pytest.importorskip("scrapy")
    with WebServer({"http://a.test/": html("a", 1)}) as server:
        out = tmp_path / "out.warc.gz"
        run("crawl", "http://a.test/", "-o", out, "--allow", "127.0.0.1", "--resolve", server.route(), "--delay", "0")
    assert out.exists()


def test_doctor(run: Callable[..., None]) -> None:
    run("doctor")


def test_folders_that_the_user_names_are_searched(tmp_path: Path, inputs: Path) -> None:
    """PYTHONPATH, where a plug-in or sitecustomize may be, holds for workers."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nwith open({str(tmp_path / 'seen')!r}, 'a') as seen:\n    print(sys.orig_argv, file=seen)\n"
    )
    subprocess.run(
        [sys.executable, "-m", "webwinnow", "clean", inputs / "pages.jsonl", "-o", tmp_path / "out.jsonl", "-q"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        check=True,
    )
    assert "webwinnow.run.pageworker" in (tmp_path / "seen").read_text()
