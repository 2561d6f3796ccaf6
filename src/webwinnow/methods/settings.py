"""Settings that several methods have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from webwinnow.page.words import StopList
from webwinnow.settings import Setting, setting, share


def file_setting(help: str, *options: str, expected: str = "a file", panel: str | None = None) -> Setting:
    """Declare the name of a file, which means the same in every working directory."""
    return setting(help, *options, expected=expected, panel=panel, read=lambda text: str(Path(text).absolute()))


MinPages = Annotated[int, setting("below this number of learned pages the method keeps everything", least=1)]
Gamma = Annotated[
    float,
    share("gamma: a feature on this share of an element's pages is characteristic; read when a site is learned"),
]
"""gamma of trees that join elements (thesis 4.2.5 and 4.3.1)."""
Overlap = Annotated[
    float,
    setting(
        "lambda: join elements whose characteristic features overlap by this share; read when a site is learned",
        above=0,
        most=1,
    ),
]
"""lambda of trees that join elements (thesis 4.2.5 and 4.3.1)."""
StopWords = Annotated[
    tuple[str, ...] | None,
    setting(
        "stop words of this file, one per line, instead of a list per language",
        expected="a file",
        read=lambda text: StopList.read(Path(text)).own,
    ),
]
