"""A crawl of many kinds of pages, and a real cluster of each engine, started once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crawlfiles import generated_page, generated_pages

pytest.importorskip("pyarrow")


@pytest.fixture(scope="session")
def make_pages() -> Callable[[str, int], list[dict[str, str]]]:
    return generated_pages


@pytest.fixture(scope="session")
def command() -> list[str]:
    return [sys.executable, "-c", "from webwinnow.cli import main; main()"]


@pytest.fixture
def webwinnow(command: list[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    def call(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *map(str, arguments)], check=False, text=True, **({"capture_output": True} | options)
        )

    return call


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two sites larger than a part, one of invalid pages only, small sites between, replicas; three inputs."""
    folder = tmp_path_factory.mktemp("crawl")
    pages = [page for n in range(40) for page in (generated_page(f"s{n}.example", k) for k in range(n % 7 + 1))]
    large = [generated_page("large.example", k) for k in range(1200)]
    pages[5:5] = large[:700]
    pages += large[700:]
    pages += [generated_page("large.example", 3) | {"page_id": "again"}]
    pages += [generated_page("s3.example", k) | {"url": f"http://mirror.example/p/{k}"} for k in range(4)]
    pages += [{"url": f"http://void.example/{k}"} for k in range(520)]
    pages += [{"url": "http://odd.example/", "html": ""}, {"url": "http://odd.example/none"}]
    pages += [{"url": "http://odd.example/frames", "html": "<frameset><frame src=x></frameset>"}]
    one, other = folder / "one.jsonl", folder / "other.jsonl"
    half = len(pages) // 3
    one.write_text("".join(json.dumps(page) + "\n" for page in pages[:half]) + "no page\n", encoding="utf-8")
    other.write_text("".join(json.dumps(page) + "\n" for page in pages[half:]), encoding="utf-8")
    files = folder / "files"
    for name in ("a.html", "b/c.html", "b/d.html"):
        path = files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(generated_page("files", len(name))["html"], encoding="utf-8")
    return [one, files, other]


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    from webwinnow.run.engines import engine_named

    yield engine_named("ray", jobs=2)
    ray.shutdown()


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java here")
    from webwinnow.run.engines import engine_named

    engine = engine_named("spark", jobs=2)
    yield engine
    engine.cluster.session.stop()
