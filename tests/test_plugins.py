"""What other packages add: `tests/plugins` is a package with a method, a learned part, a reader and a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parent / "plugins"
PAGES = 6


def body(number: int) -> str:
    own = f"{('Barley', 'Wheat', 'Rye', 'Oats', 'Spelt', 'Millet')[number]} grows on field {number} of the farm."
    return f"<p>Read more stories: number {number}</p><p>{own}</p>"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    source = tmp_path_factory.mktemp("source") / "package"
    source.mkdir()
    for file in (*PACKAGE.glob("*.toml"), *PACKAGE.glob("*/*.py")):  # building writes beside the source
        (source / file.relative_to(PACKAGE)).parent.mkdir(exist_ok=True)
        (source / file.relative_to(PACKAGE)).write_bytes(file.read_bytes())
    subprocess.run([*pip, "--target", str(folder), str(source)], check=True, env=os.environ | {"PYTHONWARNINGS": ""})
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("crawl") / "crawl.jsonl"
    pages = ({"url": f"http://farm.example/{number}", "html": body(number)} for number in range(PAGES))
    file.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    return file


def webwinnow(installed: dict[str, str], *arguments: object) -> str:
    program = [sys.executable, "-m", "webwinnow", *map(str, arguments)]
    return subprocess.run(program, env=installed, check=True, stdout=subprocess.PIPE, text=True).stdout


def texts(records: str) -> list[str]:
    return [json.loads(line)["text"] for line in records.splitlines()]


def test_a_method_of_another_package_cleans_in_the_workers(installed: dict[str, str], crawl: Path) -> None:
    found = texts(webwinnow(installed, "clean", crawl, "-o", "-", "-q", "--method", "leads", "--jobs", "2"))
    assert len(found) == PAGES
    assert all("grows on field" in text and "Read more" not in text for text in found)


def test_a_format_of_another_package_is_read_like_ours(installed: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "farm.pages"
    file.write_text("#pages\n" + "".join(f"http://farm.example/{n}\t{body(n)}\n" for n in range(PAGES)), "utf-8")
    found = webwinnow(installed, "clean", file, "-o", "-", "-q", "--method", "none", "--jobs", "1")
    assert [json.loads(line)["url"] for line in found.splitlines()] == [
        f"http://farm.example/{n}" for n in range(PAGES)
    ]


def test_its_settings_are_given_like_ours(installed: dict[str, str], crawl: Path) -> None:
    options = ["--method", "leads", "--jobs", "1", "--set", "leads.words=5"]  # the fifth word is the number
    assert all("Read more" in text for text in texts(webwinnow(installed, "clean", crawl, "-o", "-", "-q", *options)))


def test_it_is_listed_with_its_settings(installed: dict[str, str]) -> None:
    listed = [json.loads(line) for line in webwinnow(installed, "methods", "--json").splitlines()]
    found: dict[str, Any] = next(method for method in listed if method["name"] == "leads")
    assert found["learns"]
    assert [setting["name"] for setting in found["settings"]] == ["leads.words", "leads.share", "leads.min_pages"]


def test_its_learned_part_is_saved_with_the_models_of_sites(
    installed: dict[str, str], crawl: Path, tmp_path: Path
) -> None:
    webwinnow(installed, "learn", crawl, "-o", tmp_path / "models", "-q", "--jobs", "1")
    (model,) = (path for path in (tmp_path / "models").glob("*.npz") if "sums" not in path.name)
    assert webwinnow(installed, "leads", model) == "1 leads\n"
    options = ["--method", "leads", "--models", tmp_path / "models", "--jobs", "1"]
    assert all(
        "Read more" not in text for text in texts(webwinnow(installed, "clean", crawl, "-o", "-", "-q", *options))
    )
    webwinnow(installed, "models", "merge", tmp_path / "models", "-o", tmp_path / "merged")
    assert (tmp_path / "merged" / model.name).read_bytes() == model.read_bytes()


def test_without_the_package_its_models_are_read_and_its_method_is_unknown(
    installed: dict[str, str], crawl: Path, tmp_path: Path
) -> None:
    webwinnow(installed, "learn", crawl, "-o", tmp_path / "models", "-q", "--jobs", "1")
    alone = dict(os.environ)
    assert "farm.example" in webwinnow(alone, "models", "show", tmp_path / "models")
    program = [sys.executable, "-m", "webwinnow", "clean", str(crawl), "-o", "-", "--method", "leads"]
    done = subprocess.run(program, env=alone, capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "there is no method 'leads'" in done.stderr
