"""One run over many pages: parse and spool, then clean site by site; nothing is lost, nothing stops it."""

from __future__ import annotations

from webwinnow.pipeline.run import run
from webwinnow.pipeline.settings import RunSettings
from webwinnow.pipeline.summary import Summary

__all__ = ["RunSettings", "Summary", "run"]
