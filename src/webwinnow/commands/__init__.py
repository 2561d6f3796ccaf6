"""What each command does, as library functions for the command line and the service."""

from __future__ import annotations

from webwinnow.collection.settings import RunSettings
from webwinnow.collection.summary import Summary
from webwinnow.commands.clean import run

__all__ = ["RunSettings", "Summary", "run"]
