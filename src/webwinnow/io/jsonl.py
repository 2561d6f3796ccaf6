"""JSON Lines: pages in, records out, and the parts of a run back in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from webwinnow.errors import InputError
from webwinnow.io.limits import ReadLimits
from webwinnow.io.rows import page_of_row
from webwinnow.io.schema import PAGE_FIELDS, Fields, Record, ordered
from webwinnow.io.streams import ProblemListener, UnpackedStream
from webwinnow.records import PageRecord

__all__ = ["Writable", "read_jsonl", "read_jsonl_rows", "read_parts", "record_line", "split_lines", "write_jsonl"]

LINES_BYTES: Final = 1 << 18  # read at once
BOM: Final = b"\xef\xbb\xbf"


class Writable(Protocol):
    """What lines can be written to."""

    def write(self, line: bytes, /) -> object:
        """Write all of `line`."""
        ...


def read_jsonl(
    stream: UnpackedStream,
    *,
    name: str,
    limits: ReadLimits,
    on_problem: ProblemListener,
    label: str | None = None,
) -> Iterator[PageRecord]:
    """Read one page a line: `url`, `html`, and where known `site`, `page_id`, `content_type`, `fetched_at`.

    `label` names the value that labels a page. A line that is too long or no JSON object is yielded as a refused page;
    blank lines are passed over.
    """
    pages = 0
    for number, line in enumerate(split_lines(stream, limits.max_line_bytes), start=1):
        if line is None:
            refused = f"line {number} has more than {limits.max_line_bytes} bytes"
            page = PageRecord(url="", body=b"", refused=refused)
        elif line.strip():
            page = _page_of_line(line.removeprefix(BOM) if number == 1 else line, number, limits, label)
        else:
            continue
        pages += 1
        yield page
    if stream.problem:
        on_problem(f"{name}: {stream.problem}, after {pages} pages")


def read_jsonl_rows(
    stream: UnpackedStream, *, name: str, limits: ReadLimits, on_problem: ProblemListener
) -> Iterator[dict[str, Any]]:
    """Read the objects of any file; `on_problem` is told of a line that is none, and of a stream that breaks."""
    for number, line in enumerate(split_lines(stream, limits.max_line_bytes), start=1):
        if line is not None and not line.strip():
            continue
        try:
            row = None if line is None else json.loads((line.removeprefix(BOM) if number == 1 else line).decode())
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield row
        else:
            on_problem(f"{name}: line {number} is no JSON object")
    if stream.problem:
        on_problem(f"{name}: {stream.problem}")


def record_line(record: Record, fields: Fields = PAGE_FIELDS) -> bytes:
    """Write a record as one line, the same bytes for the same record wherever it is written."""
    text = json.dumps(ordered(record, fields), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def write_jsonl(records: Iterable[Record], out: Writable, fields: Fields = PAGE_FIELDS) -> None:
    """Write one record a line to an open file."""
    for record in records:
        out.write(record_line(record, fields))


def read_parts(parts: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Read back the records of finished parts, plain JSONL that `record_line` wrote, one part after the other."""
    for part in parts:
        with part.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise InputError(
                        f"{part}: line {number} is damaged ({error}); remove the part and resume"
                    ) from error
                yield record


def _page_of_line(line: bytes, number: int, limits: ReadLimits, label: str | None) -> PageRecord:
    where = f"line {number}"
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return PageRecord(url="", body=b"", refused=f"{where} is no JSON ({error})")
    if not isinstance(row, dict):
        return PageRecord(url="", body=b"", refused=f"{where} is a JSON {type(row).__name__}, expected an object")
    return page_of_row(row, where=where, limits=limits, label=label)


def split_lines(stream: UnpackedStream, max_bytes: int) -> Iterator[bytes | None]:
    """Split a stream at its newlines; a line over `max_bytes` is never held, and comes as None."""
    held: list[bytes] = []
    size = 0
    while chunk := stream.read(LINES_BYTES):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            stream.mark()
            size += len(end)
            yield b"".join([*held, end]) if size <= max_bytes else None
            held, size = [], 0
        size += len(rest)
        if size <= max_bytes:
            held.append(rest)
        else:
            held.clear()
    if size:
        yield b"".join(held) if size <= max_bytes else None
