"""What is made on first use: properties, and regular expressions so that a command starts quickly."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, cast, overload

T = TypeVar("T")


class lazy_property(Generic[T]):  # noqa: N801 (used like property)
    """A property that is computed when it is first read, and kept in the object's `__dict__`.

    It has no lock, unlike `functools.cached_property` before Python 3.12, whose one lock for all objects of a class
    makes threads wait for each other and hangs a child that was forked while another thread computed. Threads that
    read at the same time may both compute; all of them get the same value.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self.name, self.compute(instance))
        return value


def lazy_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression that is compiled when it is first used: large sets of characters take milliseconds."""
    return cast("re.Pattern[str]", _LazyPattern(pattern))


class _LazyPattern:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __getattr__(self, name: str) -> Any:
        """Called for the first method that is used: from then on the object has those of the compiled pattern."""
        compiled = re.compile(self.pattern)
        for method in ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
