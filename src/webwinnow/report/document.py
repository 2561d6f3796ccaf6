"""The report itself: one HTML file that holds viewer, styles and data, asks for nothing and runs only its own script.

The template and the viewer's parts are files of their own in `viewer/`, put together here. What pages say is packed
(`sites.packed`), so none of it is ever read as HTML: the viewer unpacks it and writes it as plain text. The policy of
the report names the viewer's script and styles by their hashes and allows nothing else, in the frames as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from webwinnow._version import __version__
from webwinnow.cleaning import REASONS
from webwinnow.cleaning.kinds import FAMILIES, KINDS
from webwinnow.methods import METHODS
from webwinnow.report.dials import DIALS
from webwinnow.report.pagetokens import SHOWN_TAGS
from webwinnow.report.sitereport import CURVE_STEPS, DEFAULT_METHODS, SiteReport, packed
from webwinnow.report.templating import hash_of, part

__all__ = ["MOST_BYTES", "report_html"]

MOST_BYTES = 20_000_000
"""No report is larger; pages for which there is no room are left out, and the report says so."""

SCRIPTS = ("state.js", "frames.js", "block.js", "dials.js", "pages.js", "tree.js", "start.js")
"""The viewer's script, in the order in which its parts are joined."""
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def report_html(
    sites: Sequence[SiteReport], methods: Sequence[str] = DEFAULT_METHODS, *, command: str = "webwinnow clean INPUT"
) -> str:
    """The report on some sites. `command` is what the command lines it shows begin with."""
    index = {
        "version": __version__,
        "command": command,
        "tags": SHOWN_TAGS,
        "reasons": REASONS,
        "steps": CURVE_STEPS,
        "families": FAMILIES,
        "kinds": [
            {"name": kind.name, "family": kind.family, "about": kind.about, "sign": sign}
            for kind, sign in zip(KINDS, _signs([kind.name for kind in KINDS]), strict=True)
        ],
        "methods": [_method(name) for name in methods],
        "sites": [site.about for site in sites],
    }
    blobs = [_blob("index", packed(index))]
    for s, site in enumerate(sites):
        blobs.append(_blob(f"tree-{s}", site.tree))
        blobs += [_blob(f"page-{s}-{p}", page) for p, page in enumerate(site.pages)]
    style, frame = part("viewer.css"), part("frame.css")
    script = '"use strict";\n(() => {\n' + "\n".join(map(part, SCRIPTS)) + "})();\n"
    names = ", ".join(site.about["name"] for site in sites[:3]) + (", …" if len(sites) > 3 else "")
    slots = {
        "title": escape(f"{names} · webwinnow inspect"),
        "policy": escape(
            "default-src 'none'; base-uri 'none'; form-action 'none'; "
            f"script-src {hash_of(script)}; style-src {hash_of(style)} {hash_of(frame)}"
        ),
        "style": style,
        "frame": frame,
        "script": script,
        "data": "\n".join(blobs),
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], part("viewer.html"))


def _method(name: str) -> dict[str, Any]:
    dial = DIALS.get(name)
    shown: dict[str, Any] = {"name": name, "about": METHODS[name].about, "dial": None}
    if dial is not None:
        shown["dial"] = {
            "name": dial.name,
            "about": dial.about,
            "own": dial.own,
            "option": dial.option,
            "more": dial.keeps_more,
            "favors": dial.favors,
        }
    return shown


def _signs(names: Sequence[str]) -> list[str]:
    """Two letters for each kind, so that no one has to tell them by colour: the first, and the next that is free."""
    signs: list[str] = []
    for name in names:
        letters = name.replace("-", "")
        initials = "".join(word[0] for word in name.split("-")[1:2]) + letters[1:]
        signs.append(next(sign for c in initials if (sign := letters[0].upper() + c) not in signs))
    return signs


def _blob(name: str, content: str) -> str:
    return f'<script type="text/plain" id="{name}">{content}</script>'
