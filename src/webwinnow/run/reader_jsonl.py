"""JSON Lines: a line is a page."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Final

from webwinnow.counted import counted
from webwinnow.page.records import PageRecord
from webwinnow.run.readers import JSON_OBJECT, Reader, Source
from webwinnow.run.rows import ColumnNames, page_of_row
from webwinnow.run.unpacking import InputProblem, ProblemListener, ReadLimits, UnpackedStream
from webwinnow.storage.encoding import from_json

LINES_BYTES: Final = 1 << 18  # read at once
CHECKED_LINES: Final = 20
"""Lines of a file of which one must have HTML."""
BOM: Final = b"\xef\xbb\xbf"


class JsonlReader(Reader):
    """A file with one page per line."""

    kind, suffixes, is_text, may_be_empty = "JSONL", (".jsonl", ".ndjson"), True, True

    def begins(self, text: bytes) -> bool:
        """Whether it begins with a JSON object."""
        return JSON_OBJECT.match(text) is not None

    def check(self, source: Source) -> None:
        """Raise `InputError` if the first lines are objects of which none has the column with the HTML."""
        names: dict[str, None] = {}
        for _, line in islice(_lines(source.stream, source.limits), CHECKED_LINES):
            try:
                row = None if line is None else from_json(line.decode())
            except (ValueError, RecursionError):
                return
            if not isinstance(row, dict):
                return
            names |= dict.fromkeys(row)
        if names:
            source.columns.check(names, ("html",), source.name)

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """Read one page per line: `url`, `html`, and optionally `site`, `page_id`, `content_type`, `fetched_at`.

        A line that is too long or not a JSON object is yielded as a refused page; blank lines are skipped.
        """
        pages, stream = 0, source.stream
        for number, line in _lines(stream, source.limits):
            yield _page_of_line(line, f"line {number}", source.limits, source.label, source.columns)
            pages += 1
        if stream.problem:
            source.on_problem(f"{source.name}: {stream.problem}, after {counted(pages, 'page')}")


READER = JsonlReader()


def _page_of_line(
    line: bytes | None, where: str, limits: ReadLimits, label: str | None, columns: ColumnNames
) -> PageRecord:
    if line is None:
        return PageRecord(url="", body=b"", refused=f"{where} has more than {limits.max_line_bytes} bytes")
    try:
        row = from_json(line.decode())
    except (ValueError, RecursionError) as error:
        return PageRecord(url="", body=b"", refused=f"{where} is no JSON ({error})")
    if not isinstance(row, dict):
        return PageRecord(url="", body=b"", refused=f"{where} is a JSON {type(row).__name__}, expected an object")
    return page_of_row(row, where=where, limits=limits, label=label, columns=columns)


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
            row = None if line is None else from_json(line.decode())
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and row.keys() >= set(required):
            yield row
        else:
            expected = f" with {', '.join(required)}" if required else ""
            on_problem(InputProblem(f"{name}: line {number} is no JSON object{expected}"))
    if stream.problem:
        on_problem(InputProblem(f"{name}: {stream.problem}"))


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
            size += len(end)
            if size:  # empty lines count with the next one
                stream.mark()
            yield b"".join([*held, end]) if size <= max_bytes else None
            held, size = [], 0
        size += len(rest)
        if size <= max_bytes:
            held.append(rest)
        else:
            held.clear()
    if size:
        yield b"".join(held) if size <= max_bytes else None
