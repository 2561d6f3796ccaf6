"""One page as a service hands it to a worker: parse, clean with the model of its site, record or decisions."""

from __future__ import annotations

import json
from typing import Any

from webwinnow.cleaner import Cleaner
from webwinnow.cleaning.tasks import TASKS
from webwinnow.cleanpage import CleanPage
from webwinnow.io.rows import ordered
from webwinnow.methods import CleaningSettings
from webwinnow.parsing import ParseLimits, parse
from webwinnow.records import PageRecord
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import ModelFolder, ModelTable
from webwinnow.urls import SiteKey

__all__ = ["KnownSites", "PageDesk"]

OPEN_MODELS = 16
"""Models that a worker holds at a time."""


class KnownSites:
    """The models of a folder or table; those asked for last stay open, and one that changes on disk is read again."""

    def __init__(self, folder: ModelFolder | ModelTable) -> None:
        self.folder = folder
        self.open: dict[str, tuple[int, LearnedSite]] = {}

    def model(self, site: str) -> LearnedSite | None:
        """The model of a site; None for a site that the folder does not know."""
        written = self.folder.written(site)
        if written is None:
            return None
        held = self.open.pop(site, None)
        if held is None or held[0] != written:
            model = self.folder.find(site)
            if model is None:
                return None
            held = (written, model)
        self.open[site] = held
        if len(self.open) > OPEN_MODELS:
            del self.open[next(iter(self.open))]
        return held[1]


class PageDesk:
    """Cleans pages one at a time, each asked for in its own way."""

    def __init__(self, limits: ParseLimits, known: KnownSites) -> None:
        self.limits, self.known = limits, known

    def clean(self, url: str, body: bytes, content_type: str | None, asked: dict[str, Any]) -> bytes:
        """The record of a page as JSON; with `explain`, what was decided on each of its blocks beside it."""
        tree = parse(body, url=url, content_type=content_type, limits=self.limits)
        site_by = SiteKey.parse(asked["site_by"])
        site = site_by.of(PageRecord(url=url, body=b""))
        model = self.known.model(site) if asked["models"] and site else None
        settings = CleaningSettings.from_plain(asked["cleaning"])
        cleaner = Cleaner.of(asked["method"], settings, TASKS[asked["task"]], kinds=asked["explain"])
        clean = cleaner.clean(tree, model)
        record = ordered(clean.record(also=tuple(asked["also"])) | {"site": site_by.name(site, url)})
        if not asked["explain"]:
            return _json(record)
        return _json({"record": record, "decisions": _decisions(clean)})


def _decisions(clean: CleanPage) -> list[dict[str, Any]]:
    return [
        decision._asdict() | {"because": [{"push": round(push, 3), "says": says} for push, says in decision.because]}
        for decision in clean.decisions(explain=True)
    ]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
