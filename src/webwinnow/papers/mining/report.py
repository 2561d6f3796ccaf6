"""The page of the mining experiment: findings in sentences that are computed from the results, charts and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from markupsafe import Markup

from webwinnow.classify.classifiers import FOLDS
from webwinnow.inspect.charts import Axis, Series, line_chart
from webwinnow.inspect.templating import render_paragraphs, shortened
from webwinnow.papers.experiment import MISSING, Report, Row, best_of_row, experiment_page
from webwinnow.papers.mining.results import Average, ClusterStatistics, MiningResults, TaskResults, tables_of
from webwinnow.papers.mining.tasks import LabelledTask

SHOWN_SITES = 60
"""Sites in the table of pages by class and site."""
SUMMARISED = ("N", "W", "W+")
"""Methods in the summary of tasks: no cleaning, the thesis's best, ours."""
COLOURED = ("N", "T", "S", "W", "C", "W+")
"""Methods with their own colour: those of the thesis and ours. The others are grey."""
STEPS = 200
"""Steps of F between 0 and 1 in the chart of runs."""
LONGEST_CLASS = 14
_MEASURES = (
    ("f", "F", "F scores", "Mean F (Figures 5-5, 5-7)"),
    ("accuracy", "A", "accuracies", "Mean accuracy (Figures 5-6, 5-8)"),
)


def mining_report(results: MiningResults) -> Report:
    """The report: a page, tables, and the findings of the thesis in each task as summary."""
    summary = []
    for found in results.tasks:
        summary.append(f"{found.task.name}: the thesis's finding: {finding(found).value}")
        summary += [f"{found.task.name}: {note}" for note in found.task.notes]
    summary += [f"{left.name}: nothing was mined. {' '.join(left.notes)}" for left in results.left_out]
    return Report(name="mining", summary=summary, page=mining_html(results), tables=tables_of(results))


def mining_html(results: MiningResults) -> str:
    """Return the whole page."""
    by_finding: dict[Finding, list[str]] = {found: [] for found in Finding}
    for task in results.tasks:
        by_finding[finding(task)].append(task.task.name)
    return experiment_page(
        "mining.html.j2",
        results,
        findings=[(found.value, names) for found, names in by_finding.items() if names],
        summary=_summary(results),
        tasks=[_task(task) for task in results.tasks],
        folds=FOLDS,
        methods=[
            [one.letter, one.name, one.about, "weights" if one.weighting else "tf-idf"] for one in results.methods
        ],
    )


def _summary(results: MiningResults) -> dict[str, Any]:
    """One row per task."""
    letters = [letter for letter in SUMMARISED if letter in results.letters]
    rows = []
    for number, task in enumerate(results.tasks):
        means = [task.mean_f(letter) for letter in letters]
        rows.append(
            [
                Markup('<a href="#task-{}">{}</a>').format(number, task.task.name),
                f"{len(task.task.classes)} / {len(task.task.sites)}",
                *(_change(task, letter) for letter in letters),
                *(MISSING if mean is None else f"{mean:.3f}" for mean in means),
            ]
        )
    head = [f"SVM F({letter}), 1 → 3" for letter in letters] + [f"k-means F({letter})" for letter in letters]
    return {"head": ["task", "classes / sites", *head], "rows": rows}


def _change(task: TaskResults, letter: str) -> str:
    """F in configurations 1 and 3, and the difference."""
    drop, third = task.drop(letter), task.third(letter)
    if drop is not None:
        return f"{drop[0]:.3f} → {drop[1]:.3f} ({drop[1] - drop[0]:+.3f})"
    return MISSING if third is None else f"{MISSING} → {third:.3f}"


def _task(task: TaskResults) -> dict[str, Any]:
    emptied = ", ".join(f"{letter} {count:,}" for letter, count in task.emptied.items() if count)
    notes = [f"Pages without a counted word, rows of zeros, by method: {emptied}."] if emptied else []
    return {
        "name": task.task.name,
        "classes": len(task.task.classes),
        "letters": task.letters,
        "folds_by": task.folds_by,
        "sentences": sentences(task),
        "notes": [*task.task.notes, *notes],
        "counts": _counts(task.task),
        "averages": _averages(task, unit=False) + (_averages(task, unit=True) if task.unit_trials else []),
        "charts": _configuration_charts(task),
        "drops": [
            {
                "row": row,
                "letter": one.letter,
                "name": one.name,
                "colour": _colour(one.letter),
                "f": {c: found.f for c in (1, 2, 3) if (found := task.average(one.letter, c)) is not None},
            }
            for row, one in enumerate(task.methods)
        ],
        "pairs": [
            (f"Configuration {c}: {name} of each pair of classes", *_pairs(task, c, measure))
            for c in task.configurations
            for measure, _, name, _ in _MEASURES
        ],
        "panels": list(_panels(task)),
        "clustering": _clustering(task),
        "neighbours": _neighbours(task) if any(task.neighbours.values()) else [],
        "bars": _bars(task),
    }


def _averages(task: TaskResults, *, unit: bool) -> list[Row]:
    """Mean F and accuracy of each configuration; with `unit`, those of the SVM on rows of length 1."""
    return [
        [
            f"{short}{c}{', rows of length 1' if unit else ''}",
            *best_of_row([_value(task.average(letter, c, unit=unit), measure) for letter in task.letters]),
        ]
        for c in task.configurations
        for measure, short, *_ in _MEASURES
    ]


def _counts(task: LabelledTask) -> dict[str, Any]:
    sites = task.sites[:SHOWN_SITES]
    rows = [
        [name, *(f"{count:,}" if count else MISSING for count in row[: len(sites)].tolist()), f"{row.sum():,}"]
        for name, row in zip(task.classes, task.counts, strict=True)
    ]
    more = "" if len(sites) == len(task.sites) else f"The first {len(sites)} of {len(task.sites):,} sites."
    return {"head": ["class", *sites, "all"], "rows": rows, "more": more}


def _pairs(task: TaskResults, configuration: int, measure: str) -> tuple[list[Row], int]:
    """One of Tables 5-5 to 5-16, and the number of its total rows."""
    classes, counts = task.task.classes, []
    rows: list[Row] = []
    by_pair: list[list[float | None]] = []
    for pair in task.class_pairs(configuration):
        found = [task.average(letter, configuration, pair) for letter in task.letters]
        counts.append(next((average.experiments for average in found if average is not None), 0))
        by_pair.append([_value(average, measure) for average in found])
        rows.append([classes[pair[0]], classes[pair[1]], f"{counts[-1]}", *best_of_row(by_pair[-1])])
    overall = [_value(task.average(letter, configuration), measure) for letter in task.letters]
    rows.append(["all experiments", "", f"{sum(counts)}", *best_of_row(overall)])
    if len(set(counts)) == 1:
        return rows, 1
    # the thesis averages over pairs; that differs if pairs have different numbers of sites
    known = [[value for value in column if value is not None] for column in zip(*by_pair, strict=True)]
    means = [sum(values) / len(values) if values else None for values in known]
    return [*rows, ["mean over pairs", "", "", *best_of_row(means)]], 2


def _clustering(task: TaskResults) -> dict[str, Any]:
    """Tables 5-3 and 5-4."""
    head = ["method", "cleaning", "runs", "Ave(F)", "deviation", "least", "most"]
    head += [f"F<{bound}" for bound in ClusterStatistics.BELOW]
    head += [f"F>={bound}" for bound in ClusterStatistics.AT_LEAST]
    found = [(one, statistics) for one in task.methods if (statistics := task.clustering(one.letter)) is not None]
    means = best_of_row([statistics.mean for _, statistics in found])
    rows = []
    for (one, statistics), mean in zip(found, means, strict=True):
        spread = [f"{value:.3f}" for value in (statistics.deviation, statistics.least, statistics.most)]
        counts = [f"{count:,}" for count in (*statistics.below.values(), *statistics.at_least.values())]
        agreement = [f"{statistics.purity:.3f}", f"{statistics.nmi:.3f}"]
        rows.append([f"F({one.letter})", one.name, f"{statistics.runs:,}", mean, *spread, *counts, *agreement])
    return {"head": [*head, "purity", "NMI"], "rows": rows}


def _neighbours(task: TaskResults) -> list[Row]:
    """DocView's Figure 5 as a table."""
    rows: list[Row] = []
    for number, name in enumerate(task.task.classes):
        values = [scores[number].f if (scores := task.neighbours[letter]) else None for letter in task.letters]
        rows.append([name, *best_of_row(values)])
    return [*rows, ["mean", *best_of_row([task.macro_f(letter) for letter in task.letters])]]


def _value(average: Average | None, measure: str) -> float | None:
    return None if average is None else float(getattr(average, measure))


# Charts


def _colour(letter: str) -> str:
    """The class of the style sheet with a method's colour."""
    return f"m-{letter.replace('+', 'plus')}" if letter in COLOURED else "m-other"


def _configuration_charts(task: TaskResults) -> list[Markup]:
    """Figures 5-5 to 5-8: mean F or accuracy over the configurations, one line per coloured method."""
    configurations = task.configurations
    if len(configurations) < 2:
        return []
    letters = [letter for letter in task.letters if letter in COLOURED] or task.letters[: len(COLOURED)]
    across = Axis("configuration", configurations[0], configurations[-1], whole=True)
    charts = []
    for measure, *_, title in _MEASURES:
        series = []
        for letter in letters:
            values = [(c, _value(task.average(letter, c), measure)) for c in configurations]
            series.append(Series(letter, [(c, v) for c, v in values if v is not None], _colour(letter)))
        charts.append(line_chart(title, series, across, Axis(measure, 0, 1)))
    return charts


def _panels(task: TaskResults) -> Iterator[dict[str, Any]]:
    """Figure 5-3: the runs of each method as one path of dots."""
    for one in task.methods:
        runs = task.runs[one.letter]
        if runs:
            path, last_x, last_y = [], 0, 0
            for run in runs:
                x, y = run.run, round(STEPS * (1 - run.f))
                path.append(f"m{x - last_x} {y - last_y}h0")
                last_x, last_y = x, y
            yield {
                "letter": one.letter,
                "name": one.name,
                "colour": _colour(one.letter),
                "runs": len(runs),
                "mean": sum(run.f for run in runs) / len(runs),
                "width": max(run.run for run in runs) + 1,
                "steps": STEPS,
                "path": "".join(path),
            }


def _bars(task: TaskResults) -> list[dict[str, Any]]:
    """DocView's Figure 5 as a bar chart of the coloured methods and `docview`."""
    shown = [letter for letter in task.letters if letter in (*COLOURED, "D") and task.neighbours[letter]]
    if not shown:
        return []
    return [
        {
            "name": name,
            "short": shortened(name, LONGEST_CLASS),
            "bars": [(letter, _colour(letter), task.neighbours[letter][c].f) for letter in shown],
        }
        for c, name in enumerate(task.task.classes)
    ]


DRAMATIC = 0.1
"""A drop of F from configuration 1 to 3 that we call dramatic; the thesis has 0.39 and 0.32 (Tables 5-5 to 5-15)."""
SMALL_SHARE = 0.5
"""A drop is small beside one that is at least twice as large; the thesis has 0.03 and 0.02 for W."""
WEAK = 0.7
"""A mean F below it in configuration 1 shows that the words separate the classes poorly, whatever the cleaning."""
BEST_SHOWN = 3
UNCLEANED, WEIGHTED, PLUS = "N", "W", "W+"


class Finding(Enum):
    """Whether the thesis's finding, a dramatic drop for N and a small one for W, holds in a task."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    NOT = "does not hold"
    CANNOT_HELP = "does not apply: one class per site, where cleaning cannot help (5.6)"
    UNTESTED = "was not tested"


def finding(results: TaskResults) -> Finding:
    """Compare the drops from configuration 1 to 3; without sites of several classes there are none (5.6)."""
    if _has_one_class_per_site(results):
        return Finding.CANNOT_HELP
    if not {UNCLEANED, WEIGHTED} <= set(results.letters):
        return Finding.UNTESTED
    without, weighted = results.drop(UNCLEANED), results.drop(WEIGHTED)
    if without is None or weighted is None:
        return Finding.UNTESTED
    lost, kept = without[0] - without[1], weighted[0] - weighted[1]
    if lost >= DRAMATIC and kept <= SMALL_SHARE * lost:
        return Finding.HOLDS
    return Finding.IN_PART if lost > kept and weighted[1] > without[1] else Finding.NOT


def sentences(results: TaskResults) -> list[str]:
    """Return the findings of a task, one paragraph each."""
    shown = [letter for letter in (UNCLEANED, WEIGHTED, PLUS) if letter in results.letters]
    without = results.neighbours.get(UNCLEANED, ())
    gains = [
        f"{letter} {sum(scores.f > raw.f for scores, raw in zip(results.neighbours[letter], without, strict=True))}"
        for letter in results.letters
        if letter != UNCLEANED and len(results.neighbours[letter]) == len(without)
    ]
    return render_paragraphs(
        "miningfindings.txt.j2",
        finding=finding(results).name,
        drops={letter: drop for letter in shown if (drop := results.drop(letter)) is not None},
        weak=WEAK,
        sites=len(results.task.sites),
        alone=results.task.single_class_sites,
        gains_by_miner=_gains(results) if UNCLEANED in results.letters else [],
        dramatic=DRAMATIC,
        third=_ranked(results, results.third),
        clusters=_ranked(results, results.mean_f),
        runs=max((len(runs) for runs in results.runs.values()), default=0),
        neighbours=_ranked(results, results.macro_f),
        folds_by=results.folds_by,
        classes=len(without),
        class_gains=gains if UNCLEANED in results.letters else None,
    )


def _has_one_class_per_site(results: TaskResults) -> bool:
    return results.task.single_class_sites == len(results.task.sites)


def _gains(results: TaskResults) -> list[dict[str, Any]]:
    """The best cleaning against none, by miner."""
    gains = []
    miners = (("k-means", results.mean_f), ("SVM in configuration 3", results.third), ("k-NN", results.macro_f))
    for miner, score in miners:
        without = score(UNCLEANED)
        cleaned = (letter for letter in results.letters if letter != UNCLEANED)
        others = [(value, letter) for letter in cleaned if (value := score(letter)) is not None]
        if without is not None and others:
            better = sum(value > without for value, _ in others)
            best = {"best": max(others)[0], "letter": max(others)[1], "better": better, "others": len(others)}
            gains.append({"miner": miner, "without": without} | best)
    return gains


def _ranked(results: TaskResults, score: Callable[[str], float | None]) -> str:
    """The best methods with their scores, and N."""
    scored = [(value, letter) for letter in results.letters if (value := score(letter)) is not None]
    best = sorted(scored, key=lambda entry: -entry[0])[:BEST_SHOWN]
    raw = [entry for entry in scored if entry[1] == UNCLEANED and entry not in best]
    return ", ".join(f"{letter} {value:.3f}" for value, letter in [*best, *raw])
