"""Read pages from files, folders, pipes and standard input, one `PageRecord` after the other."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Final

from webwinnow.errors import InputError, MissingExtra
from webwinnow.page.records import PageRecord
from webwinnow.run.readers import (
    HEAD_BYTES,
    Reader,
    Source,
    is_html_document,
    reader_by_magic,
    reader_by_name,
    reader_of,
)
from webwinnow.run.rows import DEFAULT_COLUMNS, ColumnNames
from webwinnow.run.unpacking import InputProblem, ProblemListener, ReadLimits, UnpackedStream, ignore_problem

STDIN: Final = "-"
SPOOL_CHUNK: Final = 1 << 20
PROBLEMS_SHOWN: Final = 5  # in the error at the end, if nothing could be read


def open_pages(
    inputs: Sequence[str | Path],
    *,
    on_problem: ProblemListener,
    limits: ReadLimits | None = None,
    label: str | None = None,
    columns: ColumnNames = DEFAULT_COLUMNS,
) -> Iterator[PageRecord]:
    """Read the pages of all inputs in their order, numbered from 0 (`ordinal`).

    An input is an HTML, WARC, WACZ, JSONL or Parquet file, a folder of such files, a pipe, or "-" for standard input.
    Its content decides its format. All inputs are checked before the first page is read: `InputError` if one is
    missing, contains no pages or has another format.

    The URL of an HTML file is its path below the folder that was given, or the path as given; "" on standard input.
    `label` names the column of JSONL and Parquet that labels pages, `columns` those with the URL, the HTML and the id.

    A page over a limit or damaged is yielded with `refused`. An input that is damaged midway is read up to there,
    `on_problem` is called with a sentence that names it, and the next input follows. If there was no page at all but a
    problem, that is an `InputError`.
    """
    if not inputs:
        raise InputError("no input given; expected files, folders or - for standard input")
    if sum(str(given) == STDIN for given in inputs) > 1:
        raise InputError("standard input (-) is given twice; it can be read only once")
    limits = limits or ReadLimits()
    return _numbered([_source(given, limits, label, columns) for given in inputs], on_problem)


def known_page_count(inputs: Sequence[str | Path]) -> int | None:
    """The number of pages, if all inputs are Parquet files or folders of them; None if reading alone shows it."""
    total = 0
    for given in inputs:
        path = Path(given)
        if str(given) == STDIN or not (path.is_file() or path.is_dir()):
            return None
        for file in [path] if path.is_file() else _walk(path, ignore_problem):
            rows = _count(file)
            if rows is None:
                return None
            total += rows
    return total


def _count(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            reader = reader_by_magic(file.read(HEAD_BYTES))
    except OSError:  # reported when it is read
        return None
    return None if reader is None else reader.count(path)


_Source = Callable[[ProblemListener], Iterator[PageRecord]]


def _numbered(sources: list[_Source], on_problem: ProblemListener) -> Iterator[PageRecord]:
    ordinal = 0
    problems: list[str] = []

    def note(problem: str) -> None:
        if not ordinal and len(problems) < PROBLEMS_SHOWN:
            problems.append(problem)
        on_problem(InputProblem(problem))

    for source in sources:
        try:
            for page in source(note):
                yield replace(page, ordinal=ordinal)
                ordinal += 1
        except InputError as error:  # an input that changed since it was checked, or a pipe of another format
            note(str(error))
    if not ordinal and problems:
        raise InputError("nothing could be read: " + "; ".join(problems))


def _source(given: str | Path, limits: ReadLimits, label: str | None, columns: ColumnNames) -> _Source:
    """Check one input and return its reader; `InputError` if it cannot be read."""
    if str(given) == STDIN:
        return partial(PageFile("standard input", "", STDIN, label=label, columns=columns).read_pipe, limits)
    path = Path(given)
    try:
        if path.is_dir():
            _check_folder(path)
            return partial(_read_folder, path, limits, label, columns)
        if path.is_file():
            file = PageFile(str(given), _url_of(path), str(path), label=label, columns=columns)
            file.check(limits)
            return partial(file.read, limits)
        if path.exists():
            return partial(PageFile(str(given), "", str(path), label=label, columns=columns).read_pipe, limits)
    except OSError as error:
        raise InputError(f"{given}: cannot be read ({error.strerror})") from error
    raise InputError(f"{given}: no such file or folder")


def list_files(
    inputs: Sequence[str | Path],
    *,
    on_problem: ProblemListener,
    limits: ReadLimits | None = None,
    columns: ColumnNames = DEFAULT_COLUMNS,
) -> Iterator[PageFile]:
    """Yield the files that `open_pages` would read, in its order; `InputError` for a pipe."""
    for given in inputs:
        path = Path(given)
        _source(given, limits or ReadLimits(), None, columns)
        if str(given) == STDIN or not (path.is_file() or path.is_dir()):
            raise InputError(f"{given}: is a pipe, which only the local engine reads; give files or folders")
        if path.is_file():
            yield PageFile(str(given), _url_of(path), str(path.absolute()), columns=columns)
        else:
            yield from _files_in(path.absolute(), path, None, columns, on_problem)


def _read_folder(
    folder: Path, limits: ReadLimits, label: str | None, columns: ColumnNames, on_problem: ProblemListener
) -> Iterator[PageRecord]:
    for file in _files_in(folder, folder, label, columns, on_problem):
        yield from file.read(limits, on_problem)


def _files_in(
    folder: Path, named: Path, label: str | None, columns: ColumnNames, on_problem: ProblemListener
) -> Iterator[PageFile]:
    """Yield the files of a folder; their URLs are the paths below it, wherever the folder is."""
    for path in _walk(folder, on_problem):
        below = path.relative_to(folder)
        yield PageFile(str(named / below), _url_of(below), str(path), in_folder=True, label=label, columns=columns)


def _url_of(path: Path) -> str:
    """A path as the URL of its page: text, whatever the bytes of its name."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _walk(folder: Path, on_problem: ProblemListener) -> Iterator[Path]:
    """Yield the files under `folder` that contain pages: by their names, or HTML documents of any name.

    Entries are sorted by name, folders among files, whatever the order on disk. Names that begin with a dot are
    skipped. Links are followed, but each folder is entered once, so a loop of links ends; broken links are problems.
    """
    entered: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            if path.is_dir():
                status = path.stat()
                if (status.st_dev, status.st_ino) not in entered:
                    entered.add((status.st_dev, status.st_ino))
                    names = sorted(name for name in os.listdir(path) if not name.startswith("."))  # noqa: PTH208
                    waiting.extend(path / name for name in reversed(names))
            elif stat.S_ISREG(path.stat().st_mode) and _contains_pages(path):
                yield path
        except OSError as error:
            on_problem(f"{path}: cannot be read ({error.strerror})")


def _check_folder(folder: Path) -> None:
    if next(_walk(folder, lambda _problem: None), None) is None:
        raise InputError(
            f"{folder}: no pages in this folder; expected .html, .warc(.gz), .wacz, .jsonl(.gz, .zst) or .parquet files"
        )


def _contains_pages(path: Path) -> bool:
    if reader_by_name(path.name) is not None:
        return True
    with path.open("rb") as file:
        return is_html_document(file.read(HEAD_BYTES))


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file or pipe of pages: its name in messages, the URL of its page if it is HTML, its path, its columns."""

    name: str
    url: str
    path: str
    in_folder: bool = False
    label: str | None = None
    columns: ColumnNames = DEFAULT_COLUMNS

    def check(self, limits: ReadLimits) -> None:
        """Raise `InputError` if the file does not begin as one of our formats."""
        with Path(self.path).open("rb") as file:
            reader, source = self._recognise(file, limits, ignore_problem)
            reader.check(source)

    def read(self, limits: ReadLimits, on_problem: ProblemListener) -> Iterator[PageRecord]:
        """Read its pages. In a folder, a broken HTML file is a refused page, any other broken file a problem."""
        try:
            try:
                file = Path(self.path).open("rb")  # noqa: SIM115
            except OSError as error:
                raise InputError(f"{self.name}: cannot be read ({error.strerror})") from error
            with file:
                reader, source = self._recognise(file, limits, on_problem)
                yield from reader.pages(source)
        except (InputError, MissingExtra) as error:
            if not self.in_folder:
                raise
            named = reader_by_name(Path(self.path).name)
            if named is not None and named.kind == "HTML":
                yield PageRecord(url=self.url, body=b"", refused=str(error))
            else:
                on_problem(str(error))

    def read_pipe(self, limits: ReadLimits, on_problem: ProblemListener) -> Iterator[PageRecord]:
        """Read a pipe; formats that need to seek are copied to disk first."""
        with self._opened_pipe() as pipe:
            reader, source = self._recognise(pipe, limits, on_problem)
            if not reader.seeks:
                yield from reader.pages(source)
                return
            with NamedTemporaryFile() as file:
                try:
                    self._spool(source.stream, file, limits.max_spool_bytes)
                except OSError as error:
                    raise InputError(f"{self.name}: cannot be copied to disk ({error.strerror})") from error
                yield from reader.pages(replace(source, file=file))

    def _opened_pipe(self) -> AbstractContextManager[IO[bytes]]:
        if self.path == STDIN:
            return nullcontext(sys.stdin.buffer)
        try:
            return Path(self.path).open("rb")
        except OSError as error:  # a socket
            raise InputError(f"{self.name}: cannot be read ({error.strerror})") from error

    def _recognise(self, file: IO[bytes], limits: ReadLimits, on_problem: ProblemListener) -> tuple[Reader, Source]:
        stream = UnpackedStream(file, limits)
        head = stream.peek(HEAD_BYTES)
        if stream.problem and not head:
            raise InputError(f"{self.name}: {stream.problem}; nothing could be read")
        reader = reader_of(head, self.name)
        if stream.packing and reader.seeks:
            raise InputError(f"{self.name}: is {reader.kind} inside {stream.packing}; unpack it first")
        return reader, Source(file, stream, self.name, self.url, limits, on_problem, self.columns, self.label)

    def _spool(self, stream: UnpackedStream, file: IO[bytes], limit: int) -> None:
        size = 0
        while chunk := stream.read(SPOOL_CHUNK):
            size += len(chunk)
            if size > limit:
                raise InputError(f"{self.name}: has more than {limit} bytes; give it as a file, not a pipe")
            file.write(chunk)
        file.flush()
        if stream.problem:
            raise InputError(f"{self.name}: {stream.problem}")
        file.seek(0)
