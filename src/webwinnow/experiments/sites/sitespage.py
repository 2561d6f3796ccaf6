"""The report: one HTML page with findings, plots and tables. It loads nothing, runs nothing, escapes all names."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from webwinnow._version import __version__
from webwinnow.experiments.sites.likelihood import Curve
from webwinnow.experiments.sites.sitesfindings import findings
from webwinnow.experiments.sites.sitesresults import SitesResults, accuracy_of
from webwinnow.report.charts import Axis, Series, line_chart, point_chart

__all__ = ["sites_html"]

_PARTS = (
    ("accuracy", "Accuracy by training sites"),
    ("sites", "Every site left out"),
    ("denoising", "Denoising"),
    ("reading", "Reading less"),
    ("likelihood", "Learning, pass by pass"),
    ("times", "Time by stage"),
    ("how", "How it was done"),
)


def sites_html(results: SitesResults) -> str:
    """The whole page."""
    style = (files("webwinnow.experiments.sites") / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    contents = {
        "accuracy": _accuracy(results),
        "sites": _sites(results),
        "denoising": _denoising(results),
        "reading": _reading(results),
        "likelihood": _likelihood(results),
        "times": _times(results),
        "how": _how(results),
    }
    shown = [(anchor, title) for anchor, title in _PARTS if contents[anchor]]
    body = [_head(results, shown)]
    body += [f'<h2 id="{anchor}">{escape(title)}</h2>{contents[anchor]}' for anchor, title in shown]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        f"<title>Topics of whole sites: {escape(results.data)}</title><style>{style}</style></head>"
        f"<body><main>{''.join(body)}</main></body></html>\n"
    )


def _head(results: SitesResults, shown: Sequence[tuple[str, str]]) -> str:
    labels = ", ".join(f"{escape(name)} {count}" for name, count in results.labels.items())
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in results.notes)
    links = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in shown)
    told = "".join(f"<p>{escape(said)}</p>" for said in findings(results))
    return (
        "<h1>Topics of whole sites</h1>"
        f"<p>{len(results.sites)} sites with {results.pages:,} pages in <code>{escape(results.data)}</code>, column "
        f"<code>{escape(results.label)}</code> ({labels}): the experiments of section 5 of Tian, Huang and Gao (2003). "
        f"A site is classified by models that never saw it.</p>{notes}<nav><ul>{links}</ul></nav>"
        f"<h2>Findings</h2>{told}"
    )


def _accuracy(results: SitesResults) -> str:
    """Figure 9."""
    if not results.sizes:
        return ""
    counts = sorted({size.sites for size in results.sizes})
    series = [
        Series(method, [(size.sites, size.mean) for size in results.of_size(method)]) for method in results.methods
    ]
    across = Axis("training sites", counts[0], counts[-1], whole=True)
    rows = []
    for method in results.methods:
        found = {size.sites: size for size in results.of_size(method)}
        rows.append([method, *(f"{found[n].mean:.3f} ± {found[n].deviation:.3f}" for n in counts)])
    return (
        "<p>Accuracy (16): the mean over topics of the share of right sites. Means and deviations over "
        f"{results.repeats} draws; in each, training sites are drawn topic by topic in turn, and all others are "
        "classified (Figure 9).</p>"
        + line_chart("Accuracy by number of training sites", series, across, Axis("accuracy", 0, 1, percent=True))
        + _table(["method", *(f"{n} sites" for n in counts)], _marked(rows))
    )


def _sites(results: SitesResults) -> str:
    """Leave one site out: the sums, and every error."""
    sums = [
        [method, f"{results.accuracy(method):.3f}", f"{results.right(method)} of {len(results.sites)}"]
        for method in results.methods
    ]
    by_site: dict[str, dict[str, str]] = {name: {} for name, *_ in results.sites}
    for method, answers in results.left_out.items():
        for answer in answers:
            said = f"{escape(answer.topic)} {answer.probability:.2f}"
            by_site[answer.site][method] = "" if answer.right else f"<i>{said}</i>"
    rows = [
        [escape(name), escape(label), f"{pages:,}", *(by_site[name][method] for method in results.methods)]
        for name, label, pages in results.sites
        if any(by_site[name].values())
    ]
    wrong = (
        _table(["site", "label", "pages", *results.methods], rows, left=(1, *range(3, 3 + len(results.methods))))
        if rows
        else "<p>There are none.</p>"
    )
    every = [[escape(name), escape(label), f"{pages:,}"] for name, label, pages in results.sites]
    return (
        "<p>Each site is classified by models learned from all others.</p>"
        + _table(["method", "accuracy (16)", "right"], _marked(sums))
        + "<h3>Every error: the topic found, and how likely the method found it</h3>"
        + wrong
        + _details("All sites", _table(["site", "label", "pages"], every, left=(1,)))
    )


def _denoising(results: SitesResults) -> str:
    """Section 4.2."""
    if not results.denoising:
        return ""
    rows = []
    for row in results.denoising:
        shares = [f"{row.words:.0%}", f"{row.pages:.0%}", f"{row.seconds:.1f}"]
        rows.append([escape(row.choice), *shares, *(f"{accuracy_of(row.answers[m]):.3f}" for m in results.methods)])
    terms = (
        "learned from the training sites by chi-square"
        if results.thesaurus is None
        else f"those of {escape(results.thesaurus)}"
    )
    return (
        f"<p>Accuracy (16) with {results.folds} parts of the sites, each left out once (section 4.2). Terms are "
        f"{terms}; centroids are learned from the training sites. “repeated” leaves out blocks that half of a site's "
        "pages share, which is what the methods do in all other parts of this report; “superpage” reads everything by "
        "definition. "
        "Words and pages: the share that takes part in the tested sites. Seconds of processor time for all parts; what "
        "a cleaner takes is under times.</p>"
        + _table(["denoising", "words", "pages", "seconds", *results.methods], _marked(rows, first=4))
    )


def _reading(results: SitesResults) -> str:
    """Figure 11."""
    if not results.pruning:
        return ""
    whole = max(results.pruning[0].read, 1)
    kinds = {"everything": 0, "depth": 1, "first": 2, "KL,": 3, "variance,": 4}
    points = [(row.way, row.read / whole, row.accuracy, kinds[row.way.split()[0]]) for row in results.pruning]
    rows = [
        [row.way, f"{row.read:,}", f"{row.read / whole:.0%}", f"{row.kept:,}", f"{row.accuracy:.3f}"]
        for row in results.pruning
    ]
    return (
        "<p>Each site is read breadth-first through its stored links, then classified by "
        f"{results.reading_method} as if the pages that were kept were all of it; every site is left out once (Figure "
        "11). A rule sees a page when it is read, decides whether it stays, and nothing below a page that does not is "
        "read. The depth of a start page is 0.</p>"
        + point_chart(
            "Accuracy by share of pages read",
            points,
            Axis("pages read", 0, 1, percent=True),
            Axis("accuracy", 0, 1, percent=True),
        )
        + _table(["way", "pages read", "share", "kept", "accuracy (16)"], _marked(rows, first=4))
    )


def _likelihood(results: SitesResults) -> str:
    """Figure 6."""
    drawn = [
        _curves("Trees drawn at random (the paper's check)", results.drawn),
        _curves("Page trees of these sites", results.own),
    ]
    if not any(drawn):
        return ""
    rows = []
    for name, curves in (("drawn", results.drawn), ("sites", results.own)):
        rows += [
            [f"{name}: {curve.name}", str(len(curve.history)), f"{curve.history[0]:.4f}", f"{curve.history[-1]:.4f}"]
            for curve in curves
        ]
    return (
        "<p>Log-likelihood, with the smoothing's share, in nats a node, before each pass (Figure 6); learning stops "
        "where a pass gains less than a millionth of a nat.</p>"
        f'<div class="plots">{"".join(drawn)}</div>' + _table(["trees and EM", "passes", "first", "last"], rows)
    )


def _curves(title: str, curves: Sequence[Curve]) -> str:
    if not curves:
        return ""
    values = [value for curve in curves for value in curve.history]
    series = [Series(curve.name, list(enumerate(curve.history, start=1))) for curve in curves]
    most = max(len(curve.history) for curve in curves)
    return line_chart(title, series, Axis("pass", 1, most, whole=True), Axis("nats a node", min(values), max(values)))


def _times(results: SitesResults) -> str:
    rows = [[escape(stage), f"{seconds:.2f}"] for stage, seconds in results.seconds.items()]
    return (
        "<p>Seconds of processor time: reading and preparing all pages once, then learning and classifying with every "
        "site left out once. twophase is a part of multiscale and is learned with it.</p>"
        + _table(["stage", "seconds"], rows)
    )


def _how(results: SitesResults) -> str:
    command = f"<pre>{escape(results.command)}</pre>" if results.command else ""
    return (
        "<p>Methods, from the simplest: <b>superpage</b>, all words of a site as one page, nearest sites vote; "
        "<b>topicvector</b>, how many pages have which topic; <b>markovtree</b>, the 0-order Markov tree of Ester, "
        "Kriegel and Schubert; <b>hmt</b>, a hidden Markov tree over pages; <b>twophase</b>, one over the blocks of "
        "each page "
        "first; <b>multiscale</b>, both with interscale fusion. In the paper multiscale has 0.757, markovtree 0.693,"
        " hmt 0.649 and superpage 0.590 (from the differences that it prints).</p>"
        f"<p>Seed {results.seed}. Made by webwinnow {escape(__version__)}{' with' if command else '.'}</p>{command}"
    )


# Tables


def _marked(rows: Sequence[Sequence[str]], first: int = 1) -> list[list[str]]:
    """Rows with the greatest number of each column from `first` on marked; names escaped already."""
    found = [list(row) for row in rows]
    for column in range(first, len(found[0]) if found else 0):
        values = [row[column].split()[0] for row in found]
        if len(set(values)) > 1:
            top = max(values, key=float)
            for row, value in zip(found, values, strict=True):
                row[column] = f"<b>{row[column]}</b>" if value == top else row[column]
    return found


def _table(head: Iterable[str], rows: Iterable[Sequence[str]], left: tuple[int, ...] = ()) -> str:
    """A table; cells are HTML already, columns in `left` hold words."""
    names = list(head)
    cells_of_head = "".join(
        f"<th{' class=left' if k in left else ''}>{escape(name)}</th>" for k, name in enumerate(names)
    )
    body = []
    for row in rows:
        cells = []
        for column, cell in enumerate(row):
            kinds = [kind for kind, mark in (("best", "<b>"), ("wrong", "<i>")) if cell.startswith(mark)]
            kinds += ["left"] * (column in left)
            cells.append(f'<td class="{" ".join(kinds)}">{cell}</td>' if kinds else f"<td>{cell}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    top = f"<thead><tr>{cells_of_head}</tr></thead>"
    return f'<div class="scroll"><table>{top}<tbody>{"".join(body)}</tbody></table></div>'


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
