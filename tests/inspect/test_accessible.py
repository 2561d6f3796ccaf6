"""Reports under axe-core, in light and dark, on a desktop and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accessibility import axe_source, violations

from webwinnow.inspect.templating import Section, summary_page
from webwinnow.papers.mining.miners import ClusterRun, PairTrial, SitePair
from webwinnow.papers.mining.report import mining_html
from webwinnow.papers.mining.results import MiningResults, NeighbourScores, TaskResults
from webwinnow.papers.mining.tasks import LabelledTask, TaskSettings
from webwinnow.papers.mining.words import MINED_METHODS
from webwinnow.papers.sites.labelledsites import SiteAnswer
from webwinnow.papers.sites.likelihood import Curve
from webwinnow.papers.sites.report import sites_html
from webwinnow.papers.sites.results import DenoisingRow, PruningRow, SitesResults, SizeResults
from webwinnow.papers.sites.seeds import SeedComparison, SeedRow, seeds_html
from webwinnow.papers.sites.trials import RuleReading, RuleSettings

RULES = RuleSettings().names()


@pytest.fixture
def shown(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file in a tab that has axe-core."""
    source, tabs = axe_source(), []

    def show(path: Path, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        size = {"width": width, "height": height}
        tab = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        tabs.append(tab)
        tab.add_init_script(source)
        tab.goto(path.as_uri())
        return tab

    yield show
    for tab in tabs:
        tab.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_inspector_has_no_violations(report: Path, shown: Callable[..., Any], width: int, scheme: str) -> None:
    tab = shown(report, width=width, scheme=scheme)
    tab.wait_for_selector("html[data-ready]")
    tab.click("#legend-sum")
    tab.keyboard.press("j")
    assert violations(tab) == []
    tab.click("#show-tree")
    tab.wait_for_selector(".tree-item")
    assert violations(tab) == []
    tab.click("#help-open")
    assert violations(tab) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_summary_has_no_violations(tmp_path: Path, shown: Callable[..., Any], scheme: str) -> None:
    rows = [["one", "0.91"], ["two", "0.42"]]
    parts = [Section(title="Numbers", about="Two of them.", head=["Class", "F1"], rows=rows, left=[0])]
    path = tmp_path / "summary.html"
    path.write_text(
        summary_page("A summary", "classify", ["A line."], parts, figures={"Pages": "12"}), encoding="utf-8"
    )
    for width in (1280, 390):
        tab = shown(path, width=width, scheme=scheme)
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def mined() -> str:
    """The report of `experiment mining` on made-up numbers: two classes on two sites, two methods."""
    methods = (MINED_METHODS["N"], MINED_METHODS["W"])
    label, site = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    settings = TaskSettings(name="makes", label="make")
    task = LabelledTask(settings, np.arange(4), ("Audi", "Volvo"), label, ("a.example", "b.example"), site)
    trials = tuple(
        PairTrial(configuration, SitePair(0, 1, 0, second), 2, 2, 0.9 - 0.1 * configuration, 0.8)
        for configuration, second in ((1, 0), (2, 1), (3, 1))
    )
    found = TaskResults(
        task,
        methods,
        trials={one.letter: trials for one in methods},
        unit_trials={},
        runs={one.letter: (ClusterRun(1, 0.7, 0.7, 0.5), ClusterRun(2, 0.9, 0.9, 0.8)) for one in methods},
        neighbours={one.letter: (NeighbourScores(0.9, 0.8, 0.85), NeighbourScores(0.7, 0.6, 0.65)) for one in methods},
        emptied={"N": 1},
        folds_by="site",
    )
    return mining_html(
        MiningResults("cars.parquet", 4, 2, methods, "raw", 2, 0, (found,), (), ("A note.",), "webwinnow experiment")
    )


def placed() -> str:
    """The report of `experiment sites` on made-up numbers: two sites, two methods, every part."""
    answers = (SiteAnswer("one", "a", "a", 0.9), SiteAnswer("two", "b", "a", 0.8))
    left_out = dict.fromkeys(("superpage", "multiscale"), answers)
    return sites_html(
        SitesResults(
            data="sites.parquet",
            label="topic",
            command="webwinnow experiment sites",
            seed=0,
            repeats=1,
            folds=2,
            reading_method="multiscale",
            thesaurus="terms.txt",
            sites=(("one", "a", 3), ("two", "b", 4)),
            methods=tuple(left_out),
            left_out=left_out,
            deepest=0,
            notes=("A note.",),
            sizes=tuple(SizeResults(method, size, (0.5, 1.0)) for method in left_out for size in (2, 3)),
            denoising=(DenoisingRow("none", left_out, 1.0, 1.0, 0.1),),
            pruning=tuple(PruningRow(rule, tuple(RuleReading(rule, 5, 5, one) for one in answers)) for rule in RULES),
            drawn=(Curve(1, (-2.0, -1.0, -1.0)), Curve(3, (-2.0, -1.0))),
            learned=(),
            seconds={"parsing": 1.0},
        )
    )


def grown() -> str:
    """The report of `experiment sites --crawl --seed-counts 2,3` on made-up numbers."""
    rows = tuple(
        SeedRow(seeds, way, 4, 12, 3, 0.75, 1.5, 0.5, 3 if way == "mine" else None, 2 if way == "mine" else None)
        for seeds in (2, 3)
        for way in ("depth 0 to 2, superpage", "mine")
    )
    return seeds_html(SeedComparison("sites.parquet", "multiscale", 0.1, 6, rows, command="webwinnow experiment sites"))


@pytest.mark.parametrize("made", [mined, placed, grown])
def test_the_report_of_an_experiment_has_no_violations(
    made: Callable[[], str], tmp_path: Path, shown: Callable[..., Any]
) -> None:
    path = tmp_path / "report.html"
    path.write_text(made(), encoding="utf-8")
    for width, scheme in ((1280, "light"), (390, "dark")):
        tab = shown(path, width=width, scheme=scheme)
        tab.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
