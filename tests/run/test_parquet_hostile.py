"""Damaged and hostile Parquet files cost only themselves, whatever they do to the Parquet library."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from warmcommand import run_command

from webwinnow.errors import InputError, ModelError
from webwinnow.page.records import PageRecord
from webwinnow.run.tablefiles import TableFile
from webwinnow.site.modelstore import open_models
from webwinnow.storage import parquetreader
from webwinnow.storage.parquetreader import RATIO_FLOOR, ParquetReader

ReadAll = Callable[..., list[PageRecord]]


def packed(columns: dict[str, list[object]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="none", store_schema=False, write_statistics=False)
    return out.getvalue()


def with_damaged_footer(table: bytes) -> bytes:
    """A schema that aborts pyarrow when the columns of a row group are looked at."""
    size = int.from_bytes(table[-8:-4], "little")
    at = len(table) - 8 - size + 18
    return table[:at] + b"\0" + table[at + 1 :]


@pytest.fixture
def crashing(tmp_path: Path) -> Path:
    file = tmp_path / "crash.parquet"
    file.write_bytes(with_damaged_footer(packed({"url": ["http://a.test/"], "html": ["<p>x</p>"]})))
    return file


# Until version 25, pyarrow refuses the file.
aborts = pytest.mark.skipif(int(pa.__version__.split(".")[0]) < 26, reason="this version of pyarrow refuses the file")

READING = """
import sys
import pyarrow.parquet as pq
found = pq.ParquetFile(sys.argv[1])
found.metadata.row_group(0).column(0)
list(found.iter_batches())
"""


@aborts
def test_the_damaged_footer_does_abort_the_library(crashing: Path) -> None:
    # Otherwise the tests below prove nothing. A library that reads or refuses the file would be welcome.
    done = subprocess.run([sys.executable, "-c", READING, crashing], stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGABRT


@aborts
def test_a_file_that_crashes_the_library_is_a_problem_and_the_next_input_is_read(
    tmp_path: Path, crashing: Path, read_all: ReadAll, problems: list[str]
) -> None:
    good = tmp_path / "good.parquet"
    good.write_bytes(packed({"url": ["http://b.test/"], "html": ["<p>y</p>"]}))
    assert [page.url for page in read_all(crashing, good)] == ["http://b.test/"]
    assert problems == [
        f"{crashing}: is a damaged Parquet file (it crashes the Parquet library, status -6), after 0 pages"
    ]


@aborts
def test_the_command_survives_such_a_file_and_exits_with_1(tmp_path: Path, crashing: Path) -> None:
    good = tmp_path / "good.html"
    good.write_text("<html><body><p>Some words that are kept because they are content.</p></body></html>")
    done = run_command(
        "clean", crashing, good, "-o", tmp_path / "out.jsonl", "--jobs", 1, capture_output=True, text=True
    )
    assert (done.returncode, (tmp_path / "out.jsonl").read_text().count("\n")) == (1, 1), done.stderr
    assert "it crashes the Parquet library" in done.stderr


@aborts
def test_a_table_of_columns_that_crashes_the_library_is_an_input_error(crashing: Path) -> None:
    with pytest.raises(InputError, match="crashes the Parquet library"):
        list(TableFile(crashing).values(["url"], print))


def test_a_table_of_models_that_crashes_the_library_is_a_model_error(tmp_path: Path) -> None:
    file = tmp_path / "models.parquet"
    file.write_bytes(with_damaged_footer(packed({"site": ["a.test"], "model": [b"x"]})))
    with pytest.raises(ModelError, match="is not a table of models"):
        open_models(file)


def test_a_reader_that_is_not_read_to_its_end_leaves_no_process(tmp_path: Path) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"html": [b"x" * 100_000] * 500}), file, use_dictionary=False, compression="none")
    rows = ParquetReader(file).rows(["html"])
    next(rows)
    process = rows.gi_frame.f_locals["process"].process
    assert process.poll() is None
    rows.close()
    assert process.poll() == -signal.SIGKILL


def test_two_readers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"a": list(range(1000)), "b": list(range(1000))}), file)
    table = ParquetReader(file)
    both = zip(table.rows(["a"]), table.rows(["b"]), strict=True)
    assert all(one == other for one, other in both)


CHILDREN_OF_A_KILLED_READER = """
import os, signal, sys
from webwinnow.storage.parquetreader import ParquetReader
rows = ParquetReader(sys.argv[1]).rows(["html"])
next(rows)
sibling = os.fork()  # as a worker would, it keeps the pipes open
if sibling:
    print(rows.gi_frame.f_locals["process"].process.pid, sibling, flush=True)
signal.pause()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a process that is not its child: needs Linux")
def test_the_process_ends_with_a_killed_reader_though_its_pipes_stay_open(tmp_path: Path) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"html": [b"x" * 100_000] * 500}), file, use_dictionary=False, compression="none")
    command = [sys.executable, "-c", CHILDREN_OF_A_KILLED_READER, file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        process, sibling = map(int, reader.stdout.readline().split())
        handle = os.pidfd_open(process)
        reader.kill()
        try:
            assert select.select([handle], [], [], 30)[0], "the process outlives its reader"
        finally:
            os.kill(sibling, signal.SIGKILL)
            os.close(handle)


# Bombs


def test_a_dictionary_of_one_long_page_for_many_rows_is_a_bomb(
    tmp_path: Path, read_all: ReadAll, problems: list[str]
) -> None:
    # The row group claims little more than the page once: only what its rows unpack to gives it away.
    file = tmp_path / "pages.parquet"
    pages = pa.DictionaryArray.from_arrays(pa.array([0] * 2_000, pa.int32()), pa.array(["x" * 1_000_000]))
    urls = pa.array(["http://a.example/"] * 2_000).dictionary_encode()
    pq.write_table(pa.table({"url": urls, "html": pages}), file, compression="zstd")
    assert file.stat().st_size < 2_000
    assert len(read_all(file)) == RATIO_FLOOR // 1_000_000
    assert problems == [f"{file}: unpacks to more than 1000 times its size, after 16 pages"]


def test_a_million_rows_of_nothing_are_a_bomb(
    tmp_path: Path, read_all: ReadAll, problems: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A page that is empty unpacks to nothing, so some KB yielded any number of records.
    monkeypatch.setattr(parquetreader, "RATIO_FLOOR", 16_000)
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": [""] * 1_000_000, "html": [""] * 1_000_000}), file, compression="zstd")
    assert file.stat().st_size < 16_000
    assert len(read_all(file, max_ratio=1)) == 1_000
    assert problems == [f"{file}: unpacks to more than 1 times its size, after 1,000 pages"]


def test_lists_of_one_long_text_are_a_bomb_before_they_reach_the_reader(tmp_path: Path, read_all: ReadAll) -> None:
    # One row has a list of 100 MB. In memory it would be the parent's as well as the process's.
    file = tmp_path / "pages.parquet"
    sites = pa.ListArray.from_arrays(pa.array([0, 100], pa.int32()), pa.array(["x" * 1_000_000] * 100))
    table = pa.table({"url": ["http://a.example/"], "html": ["<p>hi</p>"], "site": sites})
    pq.write_table(pa.concat_tables([table] * 2), file, compression="zstd")
    assert file.stat().st_size < 2_000
    with pytest.raises(InputError, match="unpacks to more than 1000 times its size, after 0 pages"):
        read_all(file)


def test_a_list_longer_than_a_line_refuses_its_row_only(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    nested = pa.array([[["a" * 1_000] * 3] * 3, [["a"]], None], pa.list_(pa.list_(pa.string())))
    pq.write_table(pa.table({"url": ["u", "v", "w"], "html": ["a", "b", "c"], "page_id": nested}), file)
    assert [page.refused for page in read_all(file, max_line_bytes=5_000)] == [
        "row 0: 'page_id' is a list of more than 5000 bytes, expected text or a number",
        "row 1: 'page_id' is a list, expected text or a number",
        None,
    ]


def test_html_longer_than_a_line_refuses_its_row_only(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["u", "v"], "html": ["a" * 5_001, "b"]}), file)
    assert [page.refused for page in read_all(file, max_line_bytes=5_000, max_page_bytes=2_000)] == [
        "row 0: 'html' is a value of 5001 bytes, expected text of up to 2000 bytes",
        None,
    ]


def test_row_groups_share_one_budget(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    file = tmp_path / "pages.parquet"
    page = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array(["y" * 1_000_000]))
    table = pa.table({"url": ["http://a.example/1"], "html": page})
    with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
        for _ in range(60):
            writer.write_table(table)
    size = file.stat().st_size
    assert 1000 * size < 60_000_000
    assert len(read_all(file)) == 1000 * size // 1_000_018
    assert problems[0].startswith(f"{file}: unpacks to more than 1000 times its size")


def test_pages_that_repeat_are_no_bomb(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(
        pa.table({"url": ["http://a.example/"] * 500, "html": ["<p>not found</p>" * 100] * 500}),
        file,
        compression="zstd",
    )
    assert (len(read_all(file)), problems) == (500, [])


# Values without a Python form


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_a_time_out_of_range_refuses_its_row_only(unit: str, tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    times = pa.array([1 << 62, 0], pa.int64()).cast(pa.timestamp(unit, "UTC"))
    pq.write_table(pa.table({"url": ["u", "v"], "html": ["a", "b"], "fetched_at": times}), file)
    first, second = read_all(file)
    assert second.refused is None
    assert (second.body, second.fetched_at) == (b"b", "1970-01-01T00:00:00+00:00")
    if unit != "ns":  # as nanoseconds it is in the year 2116
        assert first.refused is not None
        assert first.refused.startswith("row 0: 'fetched_at' is a timestamp[")


def test_values_of_other_types_refuse_their_rows(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["http://a.example/"], "html": ["a"], "site": [{"b": 1}]}), file)
    assert [page.refused for page in read_all(file)] == ["row 0: 'site' is a dict, expected text or a number"]
