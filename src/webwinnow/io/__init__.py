"""Crawls in, records out: readers and writers that stream, in bounded memory, whatever the input holds."""

from webwinnow.io.dublincore import dublin_core
from webwinnow.io.jsonl import read_parts, record_line
from webwinnow.io.limits import ReadLimits
from webwinnow.io.schema import PAGE_FIELDS, Field, FieldKind
from webwinnow.io.sinks import OutputFormat, check_apart, check_output, output_format, write_output
from webwinnow.io.sources import open_pages

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
    "read_parts",
    "record_line",
    "write_output",
]
