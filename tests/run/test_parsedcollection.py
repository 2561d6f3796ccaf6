"""`ParsedCollection`: pages parsed once, rows in the order (site, input ordinal)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webwinnow.errors import WebwinnowError
from webwinnow.page.parsing import ParseLimits, parse
from webwinnow.page.records import PageRecord
from webwinnow.page.treebytes import tree_to_bytes
from webwinnow.run.parsedcollection import ModelOrder, ParsedCollection, build_models
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.run.workerpool import WorkerPool
from webwinnow.site.learned import LearnedSite

SETTINGS = CollectionSettings(jobs=1, limits=ParseLimits(max_bytes=2_000))


def html(number: int) -> str:
    return f"<title>{number}</title><ul><li>menu</ul><p>Story {number} of a site, with words of its own."


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Two sites, alternating; the third page is over the limit."""
    pages = [{"url": f"http://{'ba'[n % 2]}.example/{n}", "html": html(n)} for n in range(6)]
    pages[2]["html"] = "x" * 3_000
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    return path


def test_rows_are_in_output_order_with_trees_or_errors(crawl: Path) -> None:
    with ParsedCollection.open([crawl], SETTINGS) as collection:
        assert collection.sites() == [("a.example", 3), ("b.example", 3)]
        rows = list(collection.rows())
        assert [row.ordinal for row in rows] == [1, 3, 5, 0, 2, 4]
        assert (collection.page_count, collection.failed_count) == (6, 1)
        assert [row.ordinal for row in rows if row.error is not None] == [2]
        for row in rows:
            if row.error is None:
                own = parse(html(row.ordinal).encode(), url=row.url)
                assert tree_to_bytes(collection.tree(row)) == tree_to_bytes(own)


def test_the_pages_to_learn_from_are_limited_and_without_copies(crawl: Path) -> None:
    pages = [PageRecord(url=f"http://a.example/{n}", body=html(n % 4).encode(), ordinal=n) for n in range(8)]
    with ParsedCollection.of_pages(pages, CollectionSettings(jobs=1, learn_pages=3)) as collection:
        assert len(list(collection.chosen_trees("a.example"))) == 3
        assert len(list(collection.chosen_trees("a.example", 2))) == 2
    with ParsedCollection.of_pages(pages, SETTINGS) as collection:
        assert len(list(collection.chosen_trees("a.example"))) == 4


def test_workers_build_models_after_parsing(crawl: Path) -> None:
    with ParsedCollection.open([crawl], SETTINGS) as collection:
        order = ModelOrder("", SETTINGS.learn_pages, with_sums=False)
        built = {found.site: found for found in build_models(collection.store, collection.pool, order)}
    assert sorted(built) == ["a.example", "b.example"]
    assert LearnedSite.from_bytes(built["a.example"].model or b"").pages == 3
    assert built["b.example"].sums is None


def test_a_folder_that_is_opened_again_is_not_parsed_again(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ParsedCollection.open([crawl], SETTINGS, folder=tmp_path / "run", resume=True):
        pass
    monkeypatch.setattr(WorkerPool, "submit", lambda *_: pytest.fail("a page is parsed again"))
    with ParsedCollection.open([crawl], SETTINGS, folder=tmp_path / "run", resume=True) as collection:
        assert collection.page_count == 6


def test_pages_can_be_watched_and_excluded_while_reading(crawl: Path) -> None:
    seen: list[int] = []

    def every_other(pages):
        for page in pages:
            seen.append(page.ordinal)
            if page.ordinal % 2:
                yield page

    with ParsedCollection.open([crawl], SETTINGS, pages=every_other) as collection:
        assert collection.sites() == [("a.example", 3)]
    assert seen == list(range(6))


def test_pages_cleaned_as_they_are_parsed_have_trees_only_if_wanted(crawl: Path) -> None:
    with ParsedCollection.open([crawl], RunSettings(method="none", jobs=1)) as collection:
        row = next(collection.rows())
        with pytest.raises(WebwinnowError, match="keep_trees"):
            collection.tree(row)
    with ParsedCollection.open([crawl], RunSettings(method="none", jobs=1, keep_trees=True)) as collection:
        assert collection.tree(next(collection.rows())).head.title == "1"
