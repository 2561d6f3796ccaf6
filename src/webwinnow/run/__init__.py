"""Runs over many pages: inputs, the parsed collection, workers, outputs, and the engines that spread them.

The package has the name of the public function `webwinnow.run`, and is called as it: importing a module of the package
replaces the attribute `run` of `webwinnow`.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """The package, called as `run.cleaning.run`."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        from webwinnow.run.cleaning import run  # noqa: PLC0415 (the modules of the package import it first)

        return run(*given, **named)


sys.modules[__name__].__class__ = _Callable
