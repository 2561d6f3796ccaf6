"""What plugs in: a module named KIND_NAME.py in any room is the plug-in NAME of that kind.

`methods/method_sst.py` is the cleaning method `sst`, `links/command_rank.py` the command `rank`. The file is the whole
registration: it is found by its name and imported when it is used. Other packages name their modules as entry points
of the group `webwinnow.KIND`, which are read only for a name that is not known here, and to list all names.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Literal

from webwinnow.errors import SettingsError

Kind = Literal["command", "method", "part", "reader", "stage"]
PACKAGE = __name__.rpartition(".")[0]


@cache
def built_in(kind: Kind) -> dict[str, str]:
    """The module of each plug-in of this package, by name, sorted by name."""
    root = Path(__file__).parent
    return {
        file.stem.removeprefix(f"{kind}_").replace("_", "-"): f"{PACKAGE}.{file.parent.name}.{file.stem}"
        for file in sorted(root.glob(f"*/{kind}_*.py"), key=lambda file: file.stem)
    }


def installed(kind: Kind) -> dict[str, str]:
    """The module of each plug-in that other packages install, by name. One with the name of ours is not used."""
    entries = metadata.entry_points(group=f"{PACKAGE}.{kind}")
    return {entry.name: entry.module for entry in entries if entry.name not in built_in(kind)}


def names(kind: Kind) -> list[str]:
    """The names of all plug-ins of a kind: ours, then those of other packages."""
    return [*built_in(kind), *installed(kind)]


def load(kind: Kind, name: str) -> ModuleType:
    """Import the plug-in of this name. Raises `SettingsError` with a similar name, or all names, if there is none."""
    module = built_in(kind).get(name) or installed(kind).get(name)
    if module is None:
        raise SettingsError(f"there is no {kind} {name!r}; {meant(name, names(kind))}")
    return import_module(module)


def meant(name: str, known: Sequence[str]) -> str:
    """What to say of an unknown name: `did you mean 'sst'?`, or the names that there are."""
    similar = get_close_matches(name, known, n=1)
    return f"did you mean {similar[0]!r}?" if similar else f"there are: {', '.join(known)}"
