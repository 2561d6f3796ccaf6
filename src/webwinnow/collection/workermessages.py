"""Messages between a run and its workers, as frames (`webwinnow.storage.frames`) over pipes."""

from __future__ import annotations

READY = "ready"
"""A worker has started."""
BEAT = "beat"
"""A worker is getting on with a long item."""
RESULT = "result"
"""(RESULT, value): an item is done."""
FAILED = "failed"
"""(FAILED, error): an item could not be done; the next one follows."""
