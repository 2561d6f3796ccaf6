"""The ways of cleaning that the experiment compares, by the letters of the thesis's tables (N, T, S, W) and ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from webwinnow.errors import SettingsError

__all__ = ["DEFAULT_METHODS", "MINED", "Mined", "mined"]


@dataclass(frozen=True, slots=True)
class Mined:
    """What pages are mined as: the words that a cleaning method keeps, counted, or all words weighted by the site.

    `cleaning` is a method of the registry whose kept words get tf-idf (thesis 5.5); `weighting` is one of
    `webwinnow.vectors` whose weights stand as they are.
    """

    letter: str
    name: str
    about: str
    cleaning: str | None = None
    weighting: str | None = None


MINED: dict[str, Mined] = {
    found.letter: found
    for found in (
        Mined("N", "none", "no cleaning", cleaning="none"),
        Mined("T", "template", "templates dropped (thesis 3.3)", cleaning="template"),
        Mined("S", "sst", "noise of the site style tree dropped (thesis 4.2)", cleaning="sst"),
        Mined("W", "weights", "weights of the compressed structure tree (thesis 4.3)", weighting="cst"),
        Mined("C", "combined", "page and site evidence together, our default", cleaning="combined"),
        Mined("W+", "wplus", "those weights, weighed again by what all sites show (docs/wplus.md)", weighting="wplus"),
        Mined("R", "repeated", "what the site repeats dropped", cleaning="repeated"),
        Mined("P", "page", "the page alone shows what is content", cleaning="page"),
        Mined("G", "segments", "informative tables kept (thesis 3.2)", cleaning="segments"),
        Mined("I", "items", "noisy links and pictures dropped (thesis 3.1)", cleaning="items"),
        Mined("D", "docview", "topic blocks kept (DocView 4.2)", cleaning="docview"),
        Mined("X", "cst", "blocks whose words weigh much kept as text", cleaning="cst"),
    )
}
"""By letter, in the order of tables and plots."""
DEFAULT_METHODS = tuple(MINED)


def mined(names: Iterable[str]) -> tuple[Mined, ...]:
    """The methods of these letters or names, each once, in the order given. `SettingsError` with those there are."""
    by_name = {found.name: found for found in MINED.values()}
    chosen: dict[str, Mined] = {}
    for name in names:
        found = MINED.get(name.strip()) or MINED.get(name.strip().upper()) or by_name.get(name.strip().lower())
        if found is None:
            there = ", ".join(f"{letter} ({entry.name})" for letter, entry in MINED.items())
            raise SettingsError(f"there is no method {name.strip()!r} to mine with; there are: {there}")
        chosen[found.letter] = found
    if not chosen:
        raise SettingsError("no method to mine with was named")
    return tuple(chosen.values())
