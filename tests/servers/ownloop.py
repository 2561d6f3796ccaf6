"""Run coroutines where tests in a browser may have left a running event loop in this thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def awaited(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What a coroutine returns, run in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def driven(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What a coroutine returns that waits for nothing, run in this thread."""
    try:
        work.send(None)
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
    work.close()
    raise AssertionError("the coroutine waits for something")
