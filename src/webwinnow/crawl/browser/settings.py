"""The settings of rendering."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from webwinnow.errors import SettingsError, check_range

MB: Final = 1 << 20
_READERS: Final[dict[str, Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": {"true": True, "false": False}.__getitem__,
}
_WORDS: Final = {"int": "a whole number", "float": "a number", "str": "a path", "bool": "true or false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSettings:
    """How pages are rendered.

    - `browsers`: browsers at the same time; each renders one page at a time and is replaced after `recycle` pages.
    - `load_seconds`: seconds until a page must have settled, after which it is captured as it is; `capture_seconds`:
      seconds for that, after which the browser is killed and the page has failed.
    - `quiet_seconds`: a page has settled when it was loaded and requested and received nothing for this long, while
      it could run.
    - `screens`: the page is scrolled down by this many windows, so that what loads late is loaded.
    - `max_bytes`, `max_requests`: what one page may receive and request; further requests are refused.
    - `max_html`, `max_elements`: size of the captured page.
    - `memory`: bytes of a browser with all its processes; above, it is killed and the page has failed.
    - `width`, `height`: of the window.
    - `chromium`: the program; by default the first of chromium, chromium-browser and google-chrome.
    - `sandbox`: whether Chromium isolates its processes; by default unless it runs as root, where it cannot.
    """

    browsers: int = 1
    load_seconds: float = 20.0
    capture_seconds: float = 10.0
    quiet_seconds: float = 0.5
    screens: int = 10
    max_bytes: int = 50 * MB
    max_requests: int = 400
    max_html: int = 20 * MB
    max_elements: int = 200_000
    memory: int = 1500 * MB
    recycle: int = 50
    width: int = 1280
    height: int = 900
    chromium: str | None = None
    sandbox: bool | None = None

    @classmethod
    def of_pairs(cls, pairs: Iterable[str], **known: Any) -> Self:
        """Return the settings that NAME=VALUE texts change, as in load_seconds=40; `SettingsError` for others."""
        kinds = {field.name: str(field.type).partition(" ")[0] for field in fields(cls) if field.name not in known}
        for pair in pairs:
            name, equals, value = (part.strip() for part in pair.partition("="))
            if not equals or name not in kinds:
                raise SettingsError(f"no setting of rendering {pair!r}; expected NAME=VALUE with {', '.join(kinds)}")
            try:
                known[name] = _READERS[kinds[name]](value)
            except (ValueError, LookupError):
                raise SettingsError(f"{name} is {value!r}: expected {_WORDS[kinds[name]]}") from None
        return cls(**known)

    def __post_init__(self) -> None:
        check_range(self, "browsers", "recycle", "width", "height", "max_elements", least=1)
        check_range(self, "screens", "max_bytes", "max_requests", "max_html", "quiet_seconds", least=0)
        for name in ("load_seconds", "capture_seconds", "memory"):
            if not getattr(self, name) > 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected a number above 0")
