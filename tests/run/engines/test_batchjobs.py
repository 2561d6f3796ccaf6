"""The stages as functions over record batches, without any engine."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

from webwinnow.errors import InputError, SettingsError  # noqa: E402
from webwinnow.page.layout import PageLayout  # noqa: E402
from webwinnow.page.treebytes import tree_from_bytes  # noqa: E402
from webwinnow.run.cleaning import run  # noqa: E402
from webwinnow.run.engines import engine_named  # noqa: E402
from webwinnow.run.engines.batches import DONE, PAGES, RECORDS, TREES, batch_of, ddl, pages_of, rows_of, tree_file  # noqa: E402
from webwinnow.run.engines.batchjobs import EVERY_KEY, chosen_trees, clean_part, learn_site, parse_pages  # noqa: E402
from webwinnow.run.engines.clusterengine import ClusterEngine  # noqa: E402
from webwinnow.run.inputs import list_files, open_pages  # noqa: E402
from webwinnow.run.learning import learn_sites  # noqa: E402
from webwinnow.run.pagestore import StoredPage  # noqa: E402
from webwinnow.run.plan import PART_BYTES, PART_PAGES, Plan, read_tasks  # noqa: E402
from webwinnow.run.settings import CollectionSettings, RunSettings  # noqa: E402
from webwinnow.run.unpacking import ReadLimits  # noqa: E402


def batches_of(pages, size=7):
    rows = [
        (n, page["url"], page["html"].encode(), None, page["page_id"], "text/html; charset=utf-8", None, None)
        for n, page in enumerate(pages)
    ]
    return [batch_of(PAGES, rows[at : at + size]) for at in range(0, len(rows), size)]


@pytest.fixture(scope="module")
def trees(make_pages):
    pages = make_pages("a.example", 30) + make_pages("b.example", 5)
    pages[7] = pages[3] | {"url": "http://a.example/again"}
    return list(parse_pages(batches_of(pages), RunSettings()))


def test_stages_over_batches_give_the_records_of_a_run(trees, tmp_path):
    pages = [(row.url, row.page_id) for row, _ in rows_of(trees)]
    assert len(pages) == 35
    cleaned = clean_part(trees, RunSettings(replicas=None), {})
    records = [json.loads(line) for line in cleaned.lines]
    assert [record["site"] for record in records] == ["a.example"] * 30 + ["b.example"] * 5
    assert cleaned.counts.outcomes == {"kept": 35}
    assert all("section 1" not in record["text"] for record in records)


def layout_of(rows):
    columns = {name: [0] * rows for name in PageLayout.dtypes()}
    return PageLayout.of_columns(columns | {"width": list(range(rows))}, [1280, 900], [1280, 3000]).to_bytes()


def test_the_layout_of_a_rendered_page_reaches_its_tree():
    html, utf8 = b"<body ww-box=0><p ww-box=1>Some text</p></body>", "text/html; charset=utf-8"
    rows = [
        (n, f"http://a.example/{n}", html, None, None, utf8, None, packed)
        for n, packed in enumerate((layout_of(2), None, b"another column of that name"))
    ]
    found = [StoredPage.unpack(packed) for _, packed in rows_of(parse_pages([batch_of(PAGES, rows)], RunSettings()))]
    layouts = [tree_from_bytes(page.tree).layout for page in found]
    assert layouts[0].width.tolist()[-1] == 1
    assert layouts[1:] == [None, None]


def test_every_field_of_a_record_has_a_type_of_spark():
    assert ddl(TREES).startswith("site string, ordinal bigint, ")
    assert ", keywords array<string>, " in ddl(RECORDS)
    assert ", signals struct<words: double, " in ddl(RECORDS)


def test_a_page_that_cannot_be_parsed_is_a_row_with_an_error(make_pages):
    pages = make_pages("a.example", 3)
    settings = RunSettings(limits=type(RunSettings().limits)(max_bytes=len(pages[1]["html"]) + 10))
    pages[1]["html"] += "x" * 100
    found = {row.ordinal: (row.error, packed) for row, packed in rows_of(parse_pages(batches_of(pages), settings))}
    assert [found[n][0] is None for n in range(3)] == [True, False, True]
    assert found[1][1] is None


def test_a_time_out_of_range_refuses_its_row_only():
    times = pa.array([1 << 62, 0], pa.int64()).cast(pa.timestamp("ms"))
    batch = pa.RecordBatch.from_pydict({"ordinal": [0, 1], "html": ["a", "b"], "fetched_at": times})
    first, second = pages_of([batch], ReadLimits())
    assert first.refused == "row 0: 'fetched_at' is a timestamp[ms] out of range, expected text or a number"
    assert (second.refused, second.fetched_at) == (None, "1970-01-01T00:00:00")


def lowest(trees):
    """For each content the page with the lowest key."""
    found = {}
    for row, _ in rows_of(trees):
        found[row.content] = min(found.get(row.content, (row.key, row.ordinal)), (row.key, row.ordinal))
    return set(found.values())


@pytest.mark.parametrize("most", [3, 10, None])
def test_choices_over_parts_combine_in_any_order(trees, most):
    rows = [batch.slice(at, 1) for batch in trees for at in range(batch.num_rows)]
    keys = sorted(row.key for row, _ in rows_of(trees) if row.site == "a.example")
    last = {"a.example": EVERY_KEY if most is None else keys[most]}
    whole = lowest(chosen_trees(trees, last))
    assert len(whole) == 29 if most is None else most <= len(whole) <= most + 1
    random.Random(1).shuffle(rows)
    parts = [list(chosen_trees(rows[at : at + 9], last)) for at in range(0, len(rows), 9)]
    again = chosen_trees([row for part in reversed(parts) for row in part], last)
    assert lowest(again) == whole


def test_of_copies_in_input_order_only_the_first_is_handed_on(make_pages):
    pages = [make_pages("a.example", 1)[0] for _ in range(50)]
    chosen = list(chosen_trees(parse_pages(batches_of(pages), RunSettings()), {}, EVERY_KEY))
    assert [row.ordinal for row, _ in rows_of(chosen)] == [0]
    assert list(chosen_trees(chosen, {"b.example": EVERY_KEY})) == []


def test_a_site_learned_from_chosen_trees_is_the_site_learned_from_all(trees):
    settings = RunSettings(learn_pages=8)
    ours = [batch.filter(pa.compute.equal(batch.column("site"), "a.example")) for batch in trees]
    chosen = list(chosen_trees(trees, {"a.example": EVERY_KEY}))
    assert learn_site(chosen, settings) == learn_site(ours, settings)
    assert learn_site(chosen, settings)[1] is not None


def test_a_plan_cuts_large_sites_and_keeps_small_ones_whole():
    places = [("a", n, 10) for n in range(300)]
    places += [("b", n, 10) for n in range(2 * PART_PAGES + 5)]
    places += [(f"c{k:03d}", n, 10) for k in range(100) for n in range(9)]
    places += [("d", n, PART_BYTES // 3) for n in range(7)]
    plan = Plan.of(places)
    assert plan.sites == 103
    assert [site for site, _ in plan.large] == ["b", "d"]
    assert sum(plan.pages) == len(places)
    assert max(plan.pages) <= PART_PAGES
    parts = [plan.part_of(site, ordinal) for site, ordinal, _ in places]
    assert parts == sorted(parts)
    assert [parts.count(part) for part in range(len(plan))] == plan.pages
    for k in range(100):
        assert len({plan.part_of(f"c{k:03d}", n) for n in range(9)}) == 1


@pytest.mark.parametrize("cores", [1, 3, 16])
def test_read_tasks_read_every_page_once_in_the_order_of_a_local_run(crawl, cores):
    tasks = read_tasks(list_files(crawl, on_problem=print), cores)
    found = sorted((page.ordinal, page.url, page.refused) for task in tasks for page in task.pages(ReadLimits(), print))
    wanted = [(page.url, page.refused) for page in open_pages(crawl, on_problem=print)]
    assert [page[1:] for page in found] == wanted
    assert len({page[0] for page in found}) == len(wanted)


def test_a_pipe_is_not_for_a_cluster():
    with pytest.raises(InputError, match="pipe"):
        list(list_files(["-"], on_problem=print))


def test_an_unknown_engine_is_reported():
    with pytest.raises(SettingsError, match="local, ray, spark"):
        engine_named("hadoop")
    with pytest.raises(SettingsError, match="address"):
        engine_named("local", address="x")
    assert engine_named("local") is None


class Here:
    """Runs all tasks in this process, one after the other, some of them twice."""

    cores = 3

    def tasks(self, count, do):
        for number in (*range(count), 0):
            yield from self._rows(do(iter([pa.record_batch({"id": [number]})])))

    def groups(self, grouping):
        batches = [batch for file in grouping.files for batch in grouping.choose(tree_file(file))]
        table = pa.Table.from_batches(batches, grouping.middle)
        for value in table.column(grouping.by).unique().to_pylist():
            group = table.filter(pa.compute.equal(table.column(grouping.by), value)).to_batches()
            for _ in range(2):
                yield from self._rows(grouping.do(iter(group)))

    def _rows(self, batches):
        for batch in batches:
            assert batch.schema == DONE
            yield from batch.to_pylist()


def test_tasks_done_twice_do_no_harm(crawl, tmp_path):
    settings = RunSettings(rejected=True, jobs=2)
    wanted = run(crawl, tmp_path / "local.jsonl", settings, rejected=tmp_path / "local-rejected.jsonl")
    found = run(
        crawl, tmp_path / "out.jsonl", settings, rejected=tmp_path / "rejected.jsonl", engine=ClusterEngine(Here())
    )
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
    assert (tmp_path / "rejected.jsonl").read_bytes() == (tmp_path / "local-rejected.jsonl").read_bytes()
    assert (found.counts, found.pages, found.sites) == (wanted.counts, wanted.pages, wanted.sites)


@pytest.fixture(scope="module")
def small_run(make_pages, tmp_path_factory):
    """A crawl, and the records and what was rejected of a run without faults."""
    folder = tmp_path_factory.mktemp("small")
    crawl = folder / "crawl.jsonl"
    pages = make_pages("a.example", 9) + make_pages("b.example", 3)
    crawl.write_text("".join(json.dumps(page) + "\n" for page in pages))
    rejected = folder / "rejected.jsonl"
    run([crawl], folder / "out.jsonl", RunSettings(rejected=True, jobs=1), rejected=rejected)
    return [crawl], (folder / "out.jsonl").read_bytes() + rejected.read_bytes()


class Killed(Exception):
    """Ends a run as a kill would: nothing is cleaned up."""


def killed_run(crawl, out, settings, stage, count):
    """A run on a cluster that ends at a step of a stage; returns its folder."""
    seen = []

    def progress(at, *_):
        seen.append(at)
        if seen.count(stage) == count:
            raise Killed

    with pytest.raises(Killed):
        run(crawl, out, settings, rejected=f"{out}.rejected", engine=ClusterEngine(Here()), on_progress=progress)
    return out.with_name(f".{out.name}.webwinnow-run")


@pytest.mark.parametrize("name", ["trees/*.parquet", "trees/*.crc", "parts/*.jsonl", "parts/*.rows", "parts/*.counts"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "removed"])
def test_a_cluster_makes_damaged_files_of_a_run_again(small_run, tmp_path, name, damage):
    crawl, whole = small_run
    settings, out = RunSettings(rejected=True), tmp_path / "out.jsonl"
    folder = killed_run(crawl, out, settings, "write", 1)
    file = sorted(folder.glob(name))[0]
    content = file.read_bytes()
    match damage:
        case "flipped":
            middle = len(content) // 2
            file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
        case "cut":
            file.write_bytes(content[:-1])
        case "removed":
            file.unlink()
    run(crawl, out, settings, rejected=f"{out}.rejected", engine=ClusterEngine(Here()), resume=True)
    assert out.read_bytes() + Path(f"{out}.rejected").read_bytes() == whole


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_learning_by_tasks_done_twice_gives_the_models_of_workers(crawl, tmp_path):
    settings = CollectionSettings(learn_pages=100, jobs=2)
    for update in (None, 3):  # the second time nothing is new
        wanted = learn_sites(crawl, tmp_path / "local", settings, update=update)
        found = learn_sites(crawl, tmp_path / "cluster", settings, update=update, engine=ClusterEngine(Here()))
        assert found == wanted
        assert found.sites == 44
        assert files_in(tmp_path / "cluster") == files_in(tmp_path / "local")
    assert found.unchanged == 44


def test_a_cluster_shows_no_pages(tmp_path):
    with pytest.raises(SettingsError, match="shows no pages"):
        learn_sites([], tmp_path, RunSettings(), engine=ClusterEngine(Here()), on_sample=print)
