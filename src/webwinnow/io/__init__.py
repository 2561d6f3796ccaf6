"""Streaming readers of crawls and writers of records, in bounded memory whatever the input contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webwinnow.lazy import lazy_names

if TYPE_CHECKING:
    from webwinnow.io.formats import dublin_core
    from webwinnow.io.inputs import open_pages
    from webwinnow.io.outputs import OutputFormat, check_apart, check_output, output_format, write_output
    from webwinnow.io.rows import PAGE_FIELDS, Field, FieldKind, part_lines, read_parts, record_line
    from webwinnow.io.unpacking import ReadLimits

__all__ = [
    "PAGE_FIELDS",
    "Field",
    "FieldKind",
    "OutputFormat",
    "ReadLimits",
    "check_apart",
    "check_output",
    "dublin_core",
    "open_pages",
    "output_format",
    "part_lines",
    "read_parts",
    "record_line",
    "write_output",
]

__getattr__ = lazy_names(
    __name__,
    {
        "formats": "dublin_core",
        "inputs": "open_pages",
        "outputs": "OutputFormat check_apart check_output output_format write_output",
        "rows": "PAGE_FIELDS Field FieldKind part_lines read_parts record_line",
        "unpacking": "ReadLimits",
    },
)
