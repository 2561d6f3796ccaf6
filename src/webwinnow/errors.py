"""The exceptions of webwinnow.

    WebwinnowError
    ├── InputError            the input cannot be read as what it claims to be
    │   └── PageRefused       one page is over a limit and was not parsed
    ├── ModelError            a model file is damaged, foreign or newer than this program
    ├── SettingsError         a setting is invalid
    └── MissingExtra          a feature needs an optional dependency that is not installed

The command line catches only `WebwinnowError`. A message says what was given, what was expected and what to do.
"""

from __future__ import annotations

from typing import Any


class WebwinnowError(Exception):
    """Base class of the errors that webwinnow raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle message and attributes. By default `__init__` gets the message alone: a process pool waits for ever
        for an error whose `__init__` has other parameters.
        """
        return _restored, (type(self), *self.args), self.__dict__


def _restored(kind: type[WebwinnowError], *args: Any) -> WebwinnowError:
    return kind.__new__(kind, *args)


class InputError(WebwinnowError):
    """The input cannot be read as what it claims to be."""


class PageRefused(InputError):
    """One page is over a limit and was not parsed."""


class ModelError(WebwinnowError):
    """A model file is damaged, foreign or newer than this program."""


class SettingsError(WebwinnowError):
    """A setting is invalid."""


class MissingExtra(WebwinnowError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra '{extra}': pip install 'webwinnow[{extra}]'")
        self.feature = feature
        self.extra = extra


def check_range(settings: object, *names: str, least: float, most: float = float("inf")) -> None:
    """Raise `SettingsError` for the first of these attributes that is out of range; None is in range."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not least <= value <= most:
            expected = f"{least} or more" if most == float("inf") else f"from {least} to {most}"
            raise SettingsError(f"{name} is {value}: expected {expected}")
