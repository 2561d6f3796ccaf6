"""JSON Lines: read pages, rows and the parts of a run; write records."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from webwinnow.errors import InputError
from webwinnow.io.rows import page_of_row
from webwinnow.io.schema import PAGE_FIELDS, Fields, Record, ordered
from webwinnow.io.unpacking import ProblemListener, ReadLimits, UnpackedStream
from webwinnow.records import PageRecord

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

LINES_BYTES: Final = 1 << 18  # read at once
BOM: Final = b"\xef\xbb\xbf"


def read_jsonl(
    stream: UnpackedStream, *, name: str, limits: ReadLimits, on_problem: ProblemListener, label: str | None = None
) -> Iterator[PageRecord]:
    """Read one page per line: `url`, `html`, and optionally `site`, `page_id`, `content_type`, `fetched_at`.

    `label` names the value that labels a page. A line that is too long or not a JSON object is yielded as a refused
    page; blank lines are skipped.
    """
    pages = 0
    for number, line in _lines(stream, limits):
        yield _page_of_line(line, f"line {number}", limits, label)
        pages += 1
    if stream.problem:
        on_problem(f"{name}: {stream.problem}, after {pages} pages")


def _page_of_line(line: bytes | None, where: str, limits: ReadLimits, label: str | None) -> PageRecord:
    if line is None:
        return PageRecord(url="", body=b"", refused=f"{where} has more than {limits.max_line_bytes} bytes")
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return PageRecord(url="", body=b"", refused=f"{where} is no JSON ({error})")
    if not isinstance(row, dict):
        return PageRecord(url="", body=b"", refused=f"{where} is a JSON {type(row).__name__}, expected an object")
    return page_of_row(row, where=where, limits=limits, label=label)


def read_jsonl_rows(
    stream: UnpackedStream,
    *,
    name: str,
    limits: ReadLimits,
    on_problem: ProblemListener,
    required: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Read the JSON objects that have the `required` names; other lines are reported to `on_problem`."""
    for number, line in _lines(stream, limits):
        try:
            row = None if line is None else json.loads(line.decode())
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and row.keys() >= set(required):
            yield row
        else:
            expected = f" with {', '.join(required)}" if required else ""
            on_problem(f"{name}: line {number} is no JSON object{expected}")
    if stream.problem:
        on_problem(f"{name}: {stream.problem}")


def record_line(record: Record, fields: Fields = PAGE_FIELDS) -> bytes:
    """Return a record as one line of JSON; equal records give equal bytes."""
    text = json.dumps(ordered(record, fields), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def write_jsonl(records: Iterable[Record], out: SupportsWrite[bytes], fields: Fields = PAGE_FIELDS) -> None:
    """Write one record per line to an open file."""
    for record in records:
        out.write(record_line(record, fields))


def read_parts(parts: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Read the records of finished parts of a run, as `record_line` wrote them, one part after the other."""
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


def _lines(stream: UnpackedStream, limits: ReadLimits) -> Iterator[tuple[int, bytes | None]]:
    """Yield number and content of the lines that are not blank; None for one that is too long."""
    for number, line in enumerate(split_lines(stream, limits.max_line_bytes), start=1):
        if line is None:
            yield number, None
        elif line.strip():
            yield number, line.removeprefix(BOM) if number == 1 else line


def split_lines(stream: UnpackedStream, max_bytes: int) -> Iterator[bytes | None]:
    """Split a stream into lines; a line over `max_bytes` is never held in memory and is yielded as None."""
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
