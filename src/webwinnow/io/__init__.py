"""Streaming readers of crawls and writers of records, in bounded memory whatever the input contains."""

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
