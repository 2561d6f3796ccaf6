"""Pages from whatever a user names: files, folders, pipes and standard input, one `PageRecord` after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from webwinnow.errors import InputError, MissingExtra
from webwinnow.io.folder import check_folder, relative_url, walk
from webwinnow.io.html import read_html
from webwinnow.io.jsonl import read_jsonl
from webwinnow.io.limits import ReadLimits
from webwinnow.io.parquet import check_parquet, read_parquet
from webwinnow.io.sniff import HEAD_BYTES, Content, content_named, content_of
from webwinnow.io.streams import ProblemListener, Readable, UnpackedStream
from webwinnow.io.wacz import read_wacz, warcs_in
from webwinnow.io.warc import read_warc
from webwinnow.records import PageRecord

__all__ = ["STDIN", "PageFile", "list_files", "open_pages"]

STDIN: Final = "-"
SPOOL_CHUNK: Final = 1 << 20
PROBLEMS_TOLD: Final = 5  # in the error at the end, where nothing could be read
SEEKING: Final = frozenset({Content.WACZ, Content.PARQUET})  # read from their end


def open_pages(
    inputs: Sequence[str | Path],
    *,
    on_problem: ProblemListener,
    limits: ReadLimits | None = None,
    label: str | None = None,
) -> Iterator[PageRecord]:
    """Read the pages of all inputs in their order, numbered from 0 (`ordinal`).

    An input is an HTML, WARC, WACZ, JSONL or Parquet file, a folder of such files, a pipe, or "-" for standard input.
    What it holds is told by its content. Before the first page is read each input is looked at: `InputError` where one
    is missing, empty of pages or of another kind.

    The URL of an HTML file is its path below the folder that was given, or the path as given; "" on standard input.
    `label` names the column of JSONL and Parquet that labels pages.

    A page that cannot be handed over (over a limit, damaged) is yielded with `refused`. An input that breaks midway is
    read up to there, `on_problem` is told in a sentence that names it, and the next input follows. If in the end there
    was no page at all, and a problem was told, that is an `InputError`.
    """
    if not inputs:
        raise InputError("no input given; expected files, folders or - for standard input")
    if sum(str(given) == STDIN for given in inputs) > 1:
        raise InputError("standard input (-) is given twice; it can be read only once")
    limits = limits or ReadLimits()
    sources = [_source(given, limits, label) for given in inputs]
    return _numbered(sources, on_problem)


_Source = Callable[[ProblemListener], Iterator[PageRecord]]


def _numbered(sources: list[_Source], on_problem: ProblemListener) -> Iterator[PageRecord]:
    ordinal = 0
    problems: list[str] = []

    def note(problem: str) -> None:
        if not ordinal and len(problems) < PROBLEMS_TOLD:
            problems.append(problem)
        on_problem(problem)

    for source in sources:
        try:
            for page in source(note):
                yield replace(page, ordinal=ordinal)
                ordinal += 1
        except InputError as error:  # an input that changed since it was looked at, or a pipe of another kind
            note(str(error))
    if not ordinal and problems:
        raise InputError("nothing could be read: " + "; ".join(problems))


def _source(given: str | Path, limits: ReadLimits, label: str | None) -> _Source:
    """Look at one input and say how to read it; `InputError` where that cannot be."""
    if str(given) == STDIN:
        return partial(_File("standard input", "", limits, label).read_pipe, lambda: nullcontext(sys.stdin.buffer))
    path = Path(given)
    try:
        if path.is_dir():
            check_folder(path)
            return partial(_read_folder, path, limits, label)
        if path.is_file():
            file = _File(str(given), path.as_posix(), limits, label)
            file.check(path)
            return partial(file.read, path)
        if path.exists():
            return partial(_File(str(given), "", limits, label).read_pipe, lambda: path.open("rb"))
    except OSError as error:
        raise InputError(f"{given}: cannot be read ({error.strerror})") from error
    raise InputError(f"{given}: no such file or folder")


def list_files(
    inputs: Sequence[str | Path], *, on_problem: ProblemListener, limits: ReadLimits | None = None
) -> Iterator[PageFile]:
    """The files that `open_pages` would read, in its order, for others to read; `InputError` for a pipe."""
    for given in inputs:
        path = Path(given)
        _source(given, limits or ReadLimits(), None)
        if str(given) == STDIN or not (path.is_file() or path.is_dir()):
            raise InputError(f"{given}: is a pipe, which only the local engine reads; give files or folders")
        if path.is_file():
            yield PageFile(str(given), path.as_posix(), str(path.absolute()))
        else:
            for found in walk(path, on_problem):
                url = relative_url(found, path)
                yield PageFile(str(found), url, str(found.absolute()), in_folder=True)


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of pages: its name for people, the URL of its page, should it be one, where it lies, what labels pages."""

    name: str
    url: str
    path: str
    in_folder: bool = False
    label: str | None = None

    def read(self, limits: ReadLimits, on_problem: ProblemListener) -> Iterator[PageRecord]:
        """Read its pages. In a folder an HTML file that is none is a refused page, another that is none a problem."""
        try:
            yield from _File(self.name, self.url, limits, self.label).read(Path(self.path), on_problem)
        except (InputError, MissingExtra) as error:
            if not self.in_folder:
                raise
            if content_named(Path(self.path).name) is Content.HTML:
                yield PageRecord(url=self.url, body=b"", refused=str(error))
            else:
                on_problem(str(error))


def _read_folder(
    folder: Path, limits: ReadLimits, label: str | None, on_problem: ProblemListener
) -> Iterator[PageRecord]:
    """Read what `walk` finds."""
    for path in walk(folder, on_problem):
        file = PageFile(str(path), relative_url(path, folder), str(path), in_folder=True, label=label)
        yield from file.read(limits, on_problem)


@dataclass(frozen=True, slots=True)
class _File:
    """A file or pipe to read: its name for people, the URL of its page, should it be one, the column of labels."""

    name: str
    url: str
    limits: ReadLimits
    label: str | None = None

    def check(self, path: Path) -> None:
        """Look at the beginning of a file: `InputError` where nothing of ours is in it."""
        with path.open("rb") as file:
            content, _ = self._recognise(file)
            if content is Content.WACZ:
                warcs_in(file, self.name)
            elif content is Content.PARQUET:
                check_parquet(file, self.name)

    def read(self, path: Path, on_problem: ProblemListener) -> Iterator[PageRecord]:
        try:
            file = path.open("rb")
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read ({error.strerror})") from error
        with file:
            content, stream = self._recognise(file)
            yield from self._pages(content, stream, file, on_problem)

    def read_pipe(
        self, opener: Callable[[], AbstractContextManager[IO[bytes]]], on_problem: ProblemListener
    ) -> Iterator[PageRecord]:
        """Read what cannot be looked at twice; kinds that need to seek are copied to disk first."""
        with opener() as pipe:
            content, stream = self._recognise(pipe)
            if content not in SEEKING:
                yield from self._pages(content, stream, pipe, on_problem)
                return
            with TemporaryFile() as file:
                try:
                    self._spool(stream, file)
                except OSError as error:
                    raise InputError(f"{self.name}: cannot be copied to disk ({error.strerror})") from error
                yield from self._pages(content, stream, file, on_problem)

    def _recognise(self, file: Readable) -> tuple[Content, UnpackedStream]:
        stream = UnpackedStream(file, self.limits)
        head = stream.peek(HEAD_BYTES)
        if stream.problem and not head:
            raise InputError(f"{self.name}: {stream.problem}; nothing could be read")
        content = content_of(head, self.name)
        if stream.packing and content in SEEKING:
            raise InputError(f"{self.name}: is {content.value} inside {stream.packing}; unpack it first")
        return content, stream

    def _pages(
        self, content: Content, stream: UnpackedStream, file: IO[bytes], on_problem: ProblemListener
    ) -> Iterator[PageRecord]:
        """Read `stream`, or for kinds that need to seek the `file` under it."""
        match content:
            case Content.HTML:
                return read_html(stream, url=self.url, limits=self.limits)
            case Content.WARC:
                return read_warc(stream, name=self.name, limits=self.limits, on_problem=on_problem)
            case Content.JSONL:
                return read_jsonl(stream, name=self.name, limits=self.limits, on_problem=on_problem, label=self.label)
            case Content.WACZ:
                return read_wacz(file, name=self.name, limits=self.limits, on_problem=on_problem)
            case Content.PARQUET:
                return read_parquet(file, name=self.name, limits=self.limits, on_problem=on_problem, label=self.label)

    def _spool(self, stream: UnpackedStream, file: IO[bytes]) -> None:
        size = 0
        while chunk := stream.read(SPOOL_CHUNK):
            size += len(chunk)
            if size > self.limits.max_spool_bytes:
                most = self.limits.max_spool_bytes
                raise InputError(f"{self.name}: has more than {most} bytes; give it as a file, not a pipe")
            file.write(chunk)
        if stream.problem:
            raise InputError(f"{self.name}: {stream.problem}")
        file.seek(0)
