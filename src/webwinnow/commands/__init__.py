"""One run over many pages: parse and spool, then clean site by site; nothing is lost, nothing stops it."""

from __future__ import annotations

from webwinnow.collection.settings import RunSettings
from webwinnow.collection.summary import Summary
from webwinnow.commands.clean import run

__all__ = ["RunSettings", "Summary", "run"]
