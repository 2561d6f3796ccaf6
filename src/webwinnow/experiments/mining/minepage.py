"""The report: one HTML page with findings, plots and tables. It loads nothing, runs nothing, escapes all names."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from webwinnow._version import __version__
from webwinnow.experiments.mining import minecharts as plots
from webwinnow.experiments.mining.minefindings import Finding, finding, sentences
from webwinnow.experiments.mining.mineresults import Average, ClusterStatistics, MiningResults, TaskResults
from webwinnow.experiments.mining.minetasks import LabelledTask
from webwinnow.mining.folds import FOLDS

__all__ = ["mining_html"]

SHOWN_SITES = 60
"""Sites in the table of pages by class and site; a wider table is of no use to anybody."""
SUMMED = ("N", "W", "W+")
"""Methods in the summary of tasks: before, the thesis's best, ours."""
_MISSING = "–"


def mining_html(results: MiningResults) -> str:
    """The whole page."""
    style = (files("webwinnow.experiments.mining") / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    body = [_head(results), _summary(results)]
    body += [_task(number, task) for number, task in enumerate(results.tasks)]
    body += [_left_out(task) for task in results.left_out]
    body.append(_definitions(results))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        f"<title>Mining before and after cleaning: {escape(results.data)}</title><style>{style}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


# Parts of the page


def _head(results: MiningResults) -> str:
    tasks = "".join(
        f'<li><a href="#task-{number}">{escape(task.task.name)}</a></li>' for number, task in enumerate(results.tasks)
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in results.notes)
    return (
        "<h1>Mining before and after cleaning</h1>"
        f"<p>{results.pages:,} pages of {results.sites:,} sites in <code>{escape(results.data)}</code>, cleaned in "
        f"{len(results.methods)} ways, then classified and clustered by the same miners: the experiments of chapter 5 "
        "of the thesis (SVM in three configurations, k-means) and of the DocView paper's Figure 5 (chi-square and "
        "k-NN).</p>"
        f"{notes}<nav><ul>{tasks}<li><a href='#how'>How it was done</a></li></ul></nav>"
    )


def _summary(results: MiningResults) -> str:
    """What the thesis found, whether it holds, and one line a task."""
    rows = []
    for number, task in enumerate(results.tasks):
        cells = [f'<a href="#task-{number}">{escape(task.task.name)}</a>']
        cells.append(f"{len(task.task.classes)} / {len(task.task.sites)}")
        cells += [_change(task, letter) for letter in SUMMED if letter in results.letters]
        for letter in SUMMED:
            if letter in results.letters:
                clusters = task.clustering(letter)
                cells.append(_MISSING if clusters is None else f"{clusters.mean:.3f}")
        rows.append(cells)
    there = [letter for letter in SUMMED if letter in results.letters]
    head = ["task", "classes / sites"]
    head += [f"SVM F({letter}), 1 → 3" for letter in there] + [f"k-means F({letter})" for letter in there]
    return (
        "<h2>Findings</h2><p>The thesis found that from configuration 1 (both classes of the training pages from one "
        "site) to configuration 3 (each from another site) classification gets dramatically worse on uncleaned pages "
        f"(N), and little worse on features weighted by the site (W).</p>{_overall(results)}"
        + _table(head, rows, escaped=True)
    )


def _overall(results: MiningResults) -> str:
    """In which tasks the finding holds."""
    by_finding: dict[Finding, list[str]] = {found: [] for found in Finding}
    for task in results.tasks:
        by_finding[finding(task)].append(task.task.name)
    told = "".join(
        f"<li><b>{escape(found.value)}</b>: {escape(', '.join(names))}</li>"
        for found, names in by_finding.items()
        if names
    )
    return f"<p>On these pages the finding</p><ul>{told}</ul>"


def _change(task: TaskResults, letter: str) -> str:
    """F in configurations 1 and 3, and the difference."""
    drop, third = task.drop(letter), task.average(letter, 3)
    if drop is not None:
        return f"{drop[0]:.3f} → {drop[1]:.3f} ({drop[1] - drop[0]:+.3f})"
    return _MISSING if third is None else f"– → {third.f:.3f}"


def _task(number: int, task: TaskResults) -> str:
    parts = [f'<h2 id="task-{number}">{escape(task.task.name)}</h2>']
    parts += [f'<p class="finding">{escape(said)}</p>' for said in sentences(task)]
    parts += [f'<p class="note">{escape(note)}</p>' for note in [*task.task.notes, *_emptied(task)]]
    parts.append(_details("Pages by class and site (Tables 5-1, 5-2)", _counts(task.task)))
    if task.configurations:
        parts.append(_classification(task))
    if any(task.runs.values()):
        parts.append(_clustering(task))
    if any(task.neighbours.values()):
        parts.append(_neighbours(task))
    return "".join(parts)


def _emptied(task: TaskResults) -> list[str]:
    told = [f"{letter} {count:,}" for letter, count in task.emptied.items() if count]
    return [f"Pages without a word that counts, rows of zeros, by method: {', '.join(told)}."] if told else []


def _left_out(task: LabelledTask) -> str:
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in task.notes)
    return f"<h2>{escape(task.name)}</h2><p>Nothing was mined.</p>{notes}"


def _classification(task: TaskResults) -> str:
    """Figures 5-5 to 5-8 and Tables 5-5 to 5-16."""
    lines = plots.configuration_lines(task, "f", "Mean F (Figures 5-5, 5-7)")
    lines += plots.configuration_lines(task, "accuracy", "Mean accuracy (Figures 5-6, 5-8)")
    parts = ["<h3>Classification: linear SVM</h3>", f'<div class="figures">{lines}</div>' if lines else ""]
    parts.append(plots.drops(task))
    averages = []
    for configuration in task.configurations:
        for measure, name in (("f", "F"), ("accuracy", "A")):
            values = [_value(task.average(letter, configuration), measure) for letter in task.letters]
            averages.append([f"{name}{configuration}", *_shown(values)])
    parts.append("<p>Averages over all experiments:</p>")
    parts.append(_table(["", *task.letters], averages, escaped=True))
    for configuration in task.configurations:
        for measure, name in (("f", "F scores"), ("accuracy", "accuracies")):
            title = f"Configuration {configuration}: {name} of each pair of classes"
            parts.append(_details(title, _pairs(task, configuration, measure)))
    return "".join(parts)


def _pairs(task: TaskResults, configuration: int, measure: str) -> str:
    """One of Tables 5-5 to 5-16."""
    classes = task.task.classes
    rows = []
    counts = []
    for pair in task.class_pairs(configuration):
        found = [task.average(letter, configuration, pair) for letter in task.letters]
        counts.append(next((average.experiments for average in found if average is not None), 0))
        names = [escape(classes[pair[0]]), escape(classes[pair[1]]), f"{counts[-1]}"]
        rows.append([*names, *_shown([_value(average, measure) for average in found])])
    overall = [_value(task.average(letter, configuration), measure) for letter in task.letters]
    rows.append(["all experiments", "", f"{sum(counts)}", *_shown(overall)])
    if len(set(counts)) > 1:  # the thesis's averages are over pairs; they differ where pairs have more or fewer sites
        of_pairs = []
        for letter in task.letters:
            found = [task.average(letter, configuration, pair) for pair in task.class_pairs(configuration)]
            values = [getattr(average, measure) for average in found if average is not None]
            of_pairs.append(sum(values) / len(values) if values else None)
        rows.append(["all pairs alike", "", "", *_shown(of_pairs)])
    sums = 1 + (len(set(counts)) > 1)
    return _table(["class 1", "class 2", "experiments", *task.letters], rows, escaped=True, last=sums, left=(1,))


def _clustering(task: TaskResults) -> str:
    """Figure 5-3 and Tables 5-3, 5-4."""
    found = [(way, task.clustering(way.letter)) for way in task.methods]
    means = _shown([None if told is None else told.mean for _, told in found])
    head = ["", "cleaning", "runs", "Ave(F)", "deviation", "least", "most"]
    head += [f"F<{bound}" for bound in ClusterStatistics.BELOW]
    head += [f"F>={bound}" for bound in ClusterStatistics.AT_LEAST]
    rows = []
    for (way, told), mean in zip(found, means, strict=True):
        if told is not None:
            counts = [*told.below.values(), *told.at_least.values()]
            spread = [f"{value:.3f}" for value in (told.deviation, told.least, told.most)]
            agree = [f"{told.purity:.3f}", f"{told.nmi:.3f}"]
            name = [f"F({escape(way.letter)})", escape(way.name), f"{told.runs:,}"]
            rows.append([*name, mean, *spread, *(f"{count:,}" for count in counts), *agree])
    return (
        f"<h3>Clustering: k-means into {len(task.task.classes)} clusters</h3>"
        "<p>F of every run (Figure 5-3), a panel a method; the dashed line is the mean.</p>"
        f'<div class="panels">{plots.run_panels(task)}</div>'
        "<p>Statistics over the runs (Tables 5-3, 5-4): the mean, and in how many runs F is below or at least so much; "
        "purity and normalised mutual information, means over the runs, are ours.</p>"
        + _table([*head, "purity", "NMI"], rows, escaped=True)
    )


def _neighbours(task: TaskResults) -> str:
    """DocView's Figure 5."""
    rows = []
    for number, name in enumerate(task.task.classes):
        values = [scores[number].f if (scores := task.neighbours[letter]) else None for letter in task.letters]
        rows.append([escape(name), *_shown(values)])
    rows.append(["mean", *_shown([task.macro_f(letter) for letter in task.letters])])
    return (
        "<h3>Classification: chi-square and k-NN</h3>"
        f"<p>Every {escape(task.folds_by)} is held out once, in {FOLDS} folds at most; features are chosen without "
        "those held out.</p>"
        + plots.neighbour_bars(task)
        + _details("F1 of each class (DocView, Figure 5)", _table(["class", *task.letters], rows, escaped=True, last=1))
    )


def _definitions(results: MiningResults) -> str:
    ways = [
        [way.letter, way.name, way.about, "weights as they are" if way.weighting else "tf-idf"]
        for way in results.methods
    ]
    command = f"<pre>{escape(results.command)}</pre>" if results.command else ""
    return (
        '<h2 id="how">How it was done</h2>'
        + _table(["method", "name", "what is done to a page", "features"], ways, left=(1, 2, 3))
        + "<p>All methods share words (letters only, two at least, no stop words), miners and settings; only the "
        "cleaning differs. Rows have length 1. Inverse document frequencies are taken over the pages of the task "
        "(thesis 5.5). A site is learned from all its pages in the file, labelled or not, and never from labels.</p>"
        "<ul><li>Configuration 1: trained on C1 and C2 of site i, tested on those of all other sites.</li>"
        "<li>Configuration 2: trained on C1 of site i and C2 of site j, tested on those of the other sites.</li>"
        "<li>Configuration 3: trained as in 2, tested on all C1 and C2 pages but those trained on.</li></ul>"
        "<p>F is that of C1, the first class in alphabetical order; all pairs of classes and all pairs of sites that "
        "have pages for it are tried, and means are over these experiments. The SVM is linear (scikit-learn's "
        "LinearSVC as it comes). k-means is by cosine, at most 30 iterations from k random pages; the F of a run is "
        "the mean over classes under the assignment of classes to clusters that makes it best. "
        f"Seed {results.seed}. Made by webwinnow "
        f"{escape(__version__)}"
        f"{' with' if command else '.'}</p>{command}"
    )


# Tables


def _counts(task: LabelledTask) -> str:
    counts = task.counts
    sites = task.sites[:SHOWN_SITES]
    rows = [
        [name, *(f"{count:,}" if count else _MISSING for count in row[: len(sites)].tolist()), f"{row.sum():,}"]
        for name, row in zip(task.classes, counts, strict=True)
    ]
    more = "" if len(sites) == len(task.sites) else f"<p>The first {len(sites)} of {len(task.sites):,} sites.</p>"
    return _table(["", *sites, "all"], rows) + more


def _value(average: Average | None, measure: str) -> float | None:
    return None if average is None else float(getattr(average, measure))


def _shown(values: Sequence[float | None]) -> list[str]:
    """Values with three decimals, the greatest marked."""
    known = [round(value, 3) for value in values if value is not None]
    top = max(known, default=None)
    return [
        _MISSING if value is None else f"<b>{value:.3f}</b>" if round(value, 3) == top else f"{value:.3f}"
        for value in values
    ]


def _table(
    head: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    escaped: bool = False,
    last: int = 0,
    left: tuple[int, ...] = (),
) -> str:
    """A table; `escaped` cells are HTML already, `last` rows sum up the others, `left` columns hold words."""
    lines = list(rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = []
    for number, row in enumerate(lines):
        cells = []
        for column, cell in enumerate(row):
            said = cell if escaped else escape(cell)
            kind = ' class="best"' if said.startswith("<b>") else ' class="left"' if column in left else ""
            cells.append(f"<td{kind}>{said}</td>")
        kind = ' class="all"' if number >= len(lines) - last else ""
        body.append(f"<tr{kind}>{''.join(cells)}</tr>")
    written = "".join(body)
    return f'<div class="scroll"><table><thead><tr>{names}</tr></thead><tbody>{written}</tbody></table></div>'


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
