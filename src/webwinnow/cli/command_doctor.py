"""`webwinnow doctor`: what this installation can do and what it lacks."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from typing import Annotated

import typer

from webwinnow._version import __version__
from webwinnow.cli.installation import Examination, Finding, examine
from webwinnow.cli.terminal import finish
from webwinnow.counted import counted, printable
from webwinnow.settings import IN_AND_OUT

PANEL = "Help"

SIGNS = {"ok": "+", "missing": "-", "broken": "!"}
HEADS = {"required": "Required", "extras": "Extras", "programs": "Programs", "machine": "This machine"}


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, one object per line.", rich_help_panel=IN_AND_OUT)
    ] = False,
) -> None:
    """Report what this installation can do: versions, compiled parts, extras, programs, disk space, memory and cores.

    What is missing is listed with the commands that need it. Exit code 1 if something required is broken. Please add
    the output to a report of a problem.

    Examples:

        webwinnow doctor
        webwinnow doctor --json | jq .works
    """
    found = examine()
    if as_json:
        sys.stdout.write(json.dumps(found.to_plain()) + "\n")
    else:
        sys.stdout.writelines(f"{printable(line)}\n" for line in _lines(found))
    finish([], failed=found.broken)


def _lines(examined: Examination) -> list[str]:
    lines = [f"webwinnow {__version__}"]
    width = max(len(found.name) for found in examined.findings)
    order = list(HEADS)
    for group, findings in groupby(sorted(examined.findings, key=lambda one: order.index(one.group)), _group):
        lines += ["", HEADS[group]]
        for found in findings:
            lines.append(f"  {SIGNS[found.state]} {found.name:<{width}}  {found.found}")
            if found.about:
                lines.append(f"    {'':<{width}}  {found.about}")
    broken = examined.broken
    is_fine = "Everything required works."
    end = f"{counted(len(broken), 'required part is', 'required parts are')} broken; see ! above."
    return [*lines, "", "+ works, - is missing, ! is broken. " + (end if broken else is_fine)]


def _group(found: Finding) -> str:
    return found.group
