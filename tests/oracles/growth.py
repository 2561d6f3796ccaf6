"""How the work of a function grows with its input, by CPU time of this thread, so that other load counts little."""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

STEP = 1.25
MOST_PER_STEP = 6.0
"""Linear work grows by 1.25 in a step, quadratic by 1.6; exponential growth ends here, before a call takes forever."""
LEAST = 0.001
"""Seconds below which times are noise: 100 KB in less are linear in any case."""
ATTEMPTS = 3


def seconds(call: Callable[[], object]) -> float:
    """The CPU time of a call, at least `LEAST` / 10."""
    calls, start = 1, thread_time()
    call()
    while (taken := thread_time() - start) < LEAST / 10:
        call()
        calls += 1
    return taken / calls


def growth(made: Callable[[int], Callable[[], object]], small: int, large: int, most: float) -> float:
    """How many times longer an input of `large` takes than one of `small`: 10 for 10 times the size if linear.

    `made` makes the call for a size. Smaller sizes come first. The first that takes too long, also when
    it is measured again, is the last.
    """
    size, before = 8, LEAST
    while size < min(small, 1_000):
        taken = seconds(made(size))
        if taken > MOST_PER_STEP * before and _fastest(made(size)) > MOST_PER_STEP * before:
            return float("inf")
        size, before = int(size * STEP) + 1, max(taken, LEAST)
    first = seconds(made(small))
    for size in (3 * small, large):
        call = made(size)
        taken = seconds(call)
        if taken > LEAST and taken > most * first * size / large:
            taken, first = _fastest(call), _fastest(made(small))
            if taken > most * first * size / large:
                return taken / first * large / size
    return taken / first


def _fastest(call: Callable[[], object]) -> float:
    return min(seconds(call) for _ in range(ATTEMPTS))
