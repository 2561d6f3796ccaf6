"""What is made on first use, so that a command starts quickly: names of packages, regular expressions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast


def lazy_names(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562) whose `modules` have these names, separated by blanks."""
    home = {name: module for module, names in modules.items() for name in names.split()}

    def found(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # not asked for again
        return value

    return found


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
