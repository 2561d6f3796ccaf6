"""`webwinnow leads`: how many leads the model of a site has."""

from __future__ import annotations

from pathlib import Path

import typer

from webwinnow.site.learned import LearnedSite

PANEL = "Leads"


def leads(model: Path) -> None:
    """Count the leads that a site repeats."""
    typer.echo(f"{len(LearnedSite.load(model).part('leads').key)} leads")
