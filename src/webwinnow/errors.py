"""What can go wrong, as one family.

    WebwinnowError
    ├── InputError            the input cannot be read as what it claims to be
    │   └── PageRefused       one page is over a limit and was not parsed
    ├── ModelError            a model file is damaged, foreign or newer than this program
    ├── SettingsError         a setting has no meaning
    └── MissingExtra          a feature needs an optional dependency that is not installed

The command line catches `WebwinnowError` and nothing else. A message says what was given, what was
expected and what to do.
"""

from __future__ import annotations

__all__ = ["InputError", "MissingExtra", "ModelError", "PageRefused", "SettingsError", "WebwinnowError"]


class WebwinnowError(Exception):
    """Root of every error that webwinnow raises on purpose."""


class InputError(WebwinnowError):
    """The input cannot be read as what it claims to be."""


class PageRefused(InputError):
    """One page is over a limit and was not parsed."""


class ModelError(WebwinnowError):
    """A model file is damaged, foreign or newer than this program."""


class SettingsError(WebwinnowError):
    """A setting has no meaning."""


class MissingExtra(WebwinnowError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra '{extra}': pip install 'webwinnow[{extra}]'")
        self.feature = feature
        self.extra = extra
