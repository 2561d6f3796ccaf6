"""How much a source may give: the bounds that keep a hostile input from eating memory, disk or time."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from webwinnow.errors import SettingsError

__all__ = ["MB", "ReadLimits"]

MB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """The bounds of reading; a page over one is refused with a reason, the run goes on.

    - `max_page_bytes`: one page's HTML, before and after unpacking. Ours: far above what people write.
    - `max_line_bytes`: one line of JSONL; escapes make a page longer than its HTML.
    - `max_ratio`: unpacked bytes for each packed one, once `ratio_floor` bytes are out. Ours: deflate cannot exceed
      1032 (zlib's own figure), which only a bomb comes near; in Brotli or zstd bombs have tens of thousands.
    - `max_spool_bytes`: what is copied to disk when Parquet or WACZ comes through a pipe, as these need to seek.
    """

    max_page_bytes: int = 64 * MB
    max_line_bytes: int = 128 * MB
    max_ratio: int = 1000
    ratio_floor: int = 1 * MB
    max_spool_bytes: int = 16 * 1024 * MB

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise SettingsError(f"{field.name} is {getattr(self, field.name)}: expected a number above 0")
