"""A process that reads Parquet files for `ParquetReader`: requests on standard input, answers on standard output.

A damaged or hostile file can abort the Parquet library or fill its memory. Here that ends this process only. It ends
with its parent, whose number it is given.

    python -m webwinnow.storage.parquetprocess PARENT
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import date
from typing import IO, Any, Final, NamedTuple

from webwinnow.platforms import die_with_process, limit_memory
from webwinnow.storage.encoding import LONG_BYTES, read_frame, write_frame

MB: Final = 1 << 20
MEMORY: Final = 4 << 30
"""Address space of the process: 16 pages of the largest size, twice, and the library."""
BATCH_ROWS: Final = 16
READ_BUFFER: Final = MB
"""Bytes read at once per column, instead of the whole column of a row group."""
FRAME_BYTES: Final = 4 * MB
"""Bytes of values after which rows are sent."""
SHORT_FRAME_BYTES: Final = MB
"""Bytes of values after which rows are sent at the end of a batch, whose memory the next one can use then."""
VALUE_BYTES: Final = 8
"""Bytes of a value beside its length, also of one that is empty, absent or not read."""
ITEM_BYTES: Final = 64
"""Bytes of an item of a list beside its length: what an empty string or an integer takes in Python, and its place."""
SCHEMA, ROWS, END, DAMAGED, STOPPED, REFUSED = range(6)
"""What the process answers: columns; rows; no more rows; why a file cannot be opened; cannot be read on; is a bomb."""


class RowRequest(NamedTuple):
    """Which rows to read: of some columns and row groups (all if None), and the limits on what they unpack to.

    All rows together may have `max_ratio` times the bytes of the file, or `ratio_floor` bytes if that is more. A value
    of more than `max_value_bytes` is not read.
    """

    path: str
    columns: list[str]
    groups: list[int] | None
    max_ratio: int
    ratio_floor: int
    max_value_bytes: int


class _Bomb(Exception):
    """A file unpacks beyond the ratio limit."""


def main(parent: int) -> None:
    """Serve until standard input or the parent ends."""
    die_with_process(parent)  # its other children may keep our pipes open
    inbox: IO[bytes] = os.fdopen(os.dup(0), "rb", buffering=0)
    outbox: IO[bytes] = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # anything printed by the library does not get into a frame
    limit_memory(MEMORY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    while True:
        try:
            path, wanted = read_frame(inbox)
        except EOFError:
            return
        try:
            _answer(path, wanted, outbox)
        except BrokenPipeError:
            return


def _answer(path: str, wanted: tuple[Any, ...] | None, outbox: IO[bytes]) -> None:
    """The boundary around one file: any error of the library is an answer."""
    failure = DAMAGED
    try:
        table = _opened(path)
        if wanted is None:
            schema = table.schema_arrow
            columns = [(name, _kind(schema.field(at).type)) for at, name in enumerate(schema.names)]
            write_frame(outbox, (SCHEMA, (columns, table.metadata.num_rows)))
            return
        failure = STOPPED
        for rows in _frames(table, RowRequest(path, *wanted)):
            write_frame(outbox, (ROWS, rows))
            del rows  # views of a batch, whose memory the next one uses
        write_frame(outbox, (END, None))
    except BrokenPipeError:
        raise
    except _Bomb as bomb:
        write_frame(outbox, (REFUSED, str(bomb)))
    except Exception as error:
        write_frame(outbox, (failure, str(error).partition("\n")[0] or type(error).__name__))


def _opened(path: str) -> Any:
    import pyarrow.parquet  # noqa: PLC0415 (an optional extra)

    return pyarrow.parquet.ParquetFile(path, buffer_size=READ_BUFFER, pre_buffer=False)


def _kind(kind: Any) -> tuple[str, bool, bool]:
    """The name of a type, whether it is text, and whether it is bytes; of a dictionary that of its values."""
    import pyarrow as pa  # noqa: PLC0415 (an optional extra)

    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    text = held in (pa.string(), pa.large_string(), pa.string_view())
    plain = held in (pa.binary(), pa.large_binary(), pa.binary_view()) or pa.types.is_fixed_size_binary(held)
    return str(kind), text, bool(plain)


def _frames(table: Any, request: RowRequest) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as (row group, values), some at a time."""
    waiting: list[tuple[Any, ...]] = []
    budget = _Budget(request)
    sent = 0
    try:
        for group in range(table.num_row_groups) if request.groups is None else request.groups:
            budget.check_claims(table, group)
            found = table.iter_batches(BATCH_ROWS, row_groups=[group], columns=request.columns, use_threads=False)
            for batch in found:
                columns = [(batch.column(name), _reader(batch.column(name).type, budget)) for name in request.columns]
                for at in range(batch.num_rows):
                    budget.take(VALUE_BYTES * max(len(columns), 1))
                    waiting.append((group, tuple(read(column[at]) for column, read in columns)))
                    if budget.taken - sent >= FRAME_BYTES:
                        yield waiting
                        waiting, sent = [], budget.taken
                if budget.taken - sent >= SHORT_FRAME_BYTES:  # long values are views of the batch
                    yield waiting
                    waiting, sent = [], budget.taken
                del batch, columns
            if waiting:
                yield waiting
                waiting, sent = [], budget.taken
    except _Bomb:
        yield waiting
        raise


class _Budget:
    """What the rows of a file may unpack to, by the size of the file. Every value is counted as it is read.

    What a row group claims is checked before it is read, but says little: a dictionary has a long value once for any
    number of rows or items of lists, and a few bytes claim any number of empty values.
    """

    def __init__(self, request: RowRequest) -> None:
        self.request = request
        size = os.stat(request.path).st_size  # noqa: PTH116 (a name that is not UTF-8 stays as it is)
        self.most = max(request.ratio_floor, request.max_ratio * size)
        self.taken = 0

    def check_claims(self, table: Any, group: int) -> None:
        """Raise `_Bomb` for a row group with a column that claims to unpack beyond the limit."""
        columns = table.metadata.row_group(group)
        for at in range(columns.num_columns):
            column = columns.column(at)
            size = column.total_uncompressed_size
            if self.request.ratio_floor < size > self.request.max_ratio * column.total_compressed_size:
                raise _Bomb(f"row group {group} unpacks to more than {self.request.max_ratio} times its size")

    def take(self, size: int) -> None:
        """Count the bytes of a value."""
        self.taken += size
        if self.taken > self.most:
            raise _Bomb(f"unpacks to more than {self.request.max_ratio} times its size")


def _reader(kind: Any, budget: _Budget) -> Callable[[Any], Any]:
    """The function that makes plain values of a column's Arrow values and counts them.

    Text that is not UTF-8 is bytes, dates are ISO text. A value that has no plain form or is too long is `(reason,)`.
    """
    import pyarrow as pa  # noqa: PLC0415 (an optional extra)

    if pa.types.is_dictionary(kind) and pa.types.is_nested(kind.value_type):
        return lambda _: ("a dictionary of lists",)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return lambda scalar: _bytes(scalar, budget)
    if not pa.types.is_nested(kind):
        return lambda scalar: _flat(scalar, budget)
    if pa.types.is_struct(kind):
        return lambda _: ("a dict",)  # not read: it may have anything
    if not isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType):
        return lambda _: (f"a {kind}"[:ITEM_BYTES],)
    item = _reader(kind.value_type, budget)
    return lambda scalar: _list(scalar, item, budget)


def _flat(scalar: Any, budget: _Budget) -> Any:
    try:
        value = scalar.as_py()
    except UnicodeDecodeError:
        value = bytes(scalar.as_buffer())
    except (ValueError, OverflowError, ArithmeticError):  # a time that Python has no date for
        return (f"a {scalar.type} out of range",)
    if isinstance(value, str | bytes):
        budget.take(len(value))
        if len(value) > budget.request.max_value_bytes:
            return (f"a value of {len(value)} bytes",)
        return value
    if value is None or isinstance(value, bool | int | float):
        return value
    return value.isoformat() if isinstance(value, date) else (f"a {type(value).__name__}",)  # a datetime is a date


def _bytes(scalar: Any, budget: _Budget) -> Any:
    """A value of bytes; a long one is not copied."""
    data = scalar.as_buffer()
    if data is None or data.size < LONG_BYTES or data.size > budget.request.max_value_bytes:
        return _flat(scalar, budget)
    budget.take(data.size)
    return memoryview(data)


def _list(scalar: Any, item: Callable[[Any], Any], budget: _Budget) -> Any:
    """The items of a list, one after the other: as a whole it could fill the memory before it is counted."""
    if not scalar.is_valid:
        return None
    before, most = budget.taken, budget.request.max_value_bytes
    found = []
    for value in scalar.values:
        budget.take(ITEM_BYTES)
        found.append(item(value))
        if budget.taken - before > most:
            return (f"a list of more than {most} bytes",)
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]))
