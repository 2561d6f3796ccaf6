"""The settings of rendering."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from webwinnow.settings import Settings, setting

MB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderSettings(Settings):
    """How pages are rendered, by a number of `browsers`, each of which renders one page at a time."""

    browsers: int = 1
    load_seconds: Annotated[
        float, setting("Seconds until a page must have settled, after which it is captured as it is.", above=0)
    ] = 20.0
    capture_seconds: Annotated[
        float, setting("Seconds to capture a page; then the browser is killed and the page has failed.", above=0)
    ] = 10.0
    quiet_seconds: Annotated[
        float,
        setting(
            "A page has settled when it was loaded and neither requested nor received anything for so long, while it "
            "could run.",
            least=0,
        ),
    ] = 0.5
    screens: Annotated[
        int, setting("Windows by which a page is scrolled down, so that what loads late is loaded.", least=0)
    ] = 10
    max_bytes: Annotated[int, setting("Bytes that a page may receive; further requests are refused.", least=0)] = (
        50 * MB
    )
    max_requests: Annotated[int, setting("Requests of a page; further ones are refused.", least=0)] = 400
    max_html: Annotated[int, setting("Bytes of the captured page.", least=0)] = 20 * MB
    max_elements: Annotated[int, setting("Elements of the captured page.", least=1)] = 200_000
    memory: Annotated[
        int, setting("Bytes of a browser with all its processes; above, it is killed and the page has failed.", above=0)
    ] = 1500 * MB
    recycle: Annotated[int, setting("Pages after which a browser is replaced.", least=1)] = 50
    width: Annotated[int, setting("Width of the window.", least=1)] = 1280
    height: Annotated[int, setting("Height of the window.", least=1)] = 900
    chromium: Annotated[
        str | None,
        setting("The program; none for the first of chromium, chromium-browser and google-chrome.", expected="a path"),
    ] = None
    sandbox: Annotated[
        bool | None,
        setting("Whether Chromium isolates its processes; none for yes, unless it runs as root, where it cannot."),
    ] = None

    @classmethod
    def of_pairs(cls, pairs: Iterable[str], **known: Any) -> Self:
        """Return the settings that NAME=VALUE texts change, as in load_seconds=40; `SettingsError` for others."""
        return cls.from_pairs(pairs, **{cls.GROUP: known})
