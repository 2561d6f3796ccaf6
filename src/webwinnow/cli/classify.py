"""`webwinnow classify`: learn classes from labelled pages, and tell those of others."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.classify import Applied, ClassifySettings, Trained, apply_classes, train_classes
from webwinnow.io import check_output
from webwinnow.mining.classifiers import COST, KNN_FEATURES, NEIGHBOURS, SVM_FEATURES
from webwinnow.mining.classmodel import METHODS, ClassModel
from webwinnow.mining.classscores import ClassScores
from webwinnow.mining.taxonomy import SEPARATOR
from webwinnow.report.classreport import classes_html
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.storage import write_file
from webwinnow.urls import SiteKey
from webwinnow.vectors import FEATURE_KINDS, VectorSettings

__all__ = ["classify"]

CLASSES_SHOWN = 30
"""Classes in the table on stderr at most, those of the most pages; the report and --scores have all."""

classify = typer.Typer(help="Learn classes from labelled pages, and tell those of others.", no_args_is_help=True)


@classify.callback()
def _classify() -> None:
    """Learn classes from labelled pages, and tell those of others."""


@classify.command()
def train(
    inputs: Annotated[
        list[str], typer.Argument(metavar="PAGES...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes, an .npz file.")],
    label: Annotated[str | None, typer.Option(help="The column of JSONL or Parquet that labels pages.")] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="A file of labels instead (CSV, TSV, JSONL, Parquet): page_id or url, and label."),
    ] = None,
    method: Annotated[
        str, typer.Option(help=f"Of {', '.join(METHODS)}: a linear SVM, or chi-square with the nearest neighbours.")
    ] = "svm",
    weighting: Annotated[
        str, typer.Option(help="How pages become vectors, as in webwinnow features: cst, tfidf, ...")
    ] = "cst",
    kinds: Annotated[str, typer.Option(help=f"Features to learn from, of {','.join(FEATURE_KINDS)}.")] = "words",
    features: Annotated[
        int | None,
        typer.Option(help=f"Features to keep, by chi-square; {SVM_FEATURES:,} (svm) or {KNN_FEATURES:,} (knn)."),
    ] = None,
    cost: Annotated[float, typer.Option(help="svm: C, what a training page on the wrong side costs.")] = COST,
    neighbours: Annotated[int, typer.Option(help="knn: training pages that vote.")] = NEIGHBOURS,
    separator: Annotated[
        str, typer.Option(help="What parts the names of a path in a label (science/physics); '' for no paths.")
    ] = SEPARATOR,
    report: Annotated[Path | None, typer.Option(help="Also write the scores as an HTML page with pictures.")] = None,
    scores: Annotated[Path | None, typer.Option(help="Also write the scores as JSON.")] = None,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    seed: Annotated[int, typer.Option(min=0, help="Of folds by page, and of the SVM.")] = 0,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no scores.")] = False,
) -> None:
    """Learn classes from labelled pages, and say how well pages are told that were held out.

    Whole sites are held out in turn where there are enough of them, else pages; the table says which. Pages without a
    label help to learn their site, and are counted. Exit code 1 if any page failed.

    Examples:

        webwinnow classify train cars.parquet --label make -o cars.npz --report cars.html

        webwinnow classify train crawl.warc.gz --labels labels.csv -o topics.npz --method knn
    """
    for path in (out, *(path for path in (report, scores) if path is not None)):
        check_output(path, "jsonl")
    settings = ClassifySettings(
        method=method,
        features=features,
        cost=cost,
        neighbours=neighbours,
        separator=separator,
        vectors=VectorSettings(
            kinds=tuple(kind.strip() for kind in kinds.split(",")),
            weighting=weighting,
            weights=CstWeightSettings(mapped=True),
        ),
        seed=seed,
    )
    run = RunSettings(method="none", site_by=SiteKey.parse(site_by), jobs=jobs, keep_trees=True)
    with shown_progress(quiet=quiet) as progress:
        trained = train_classes(
            inputs,
            settings,
            run,
            label=label,
            labels=labels,
            site_by=site_by,
            tmp=tmp,
            on_progress=progress.update,
            on_problem=progress.note,
        )
    written = {out: trained.model.to_bytes()}
    if report is not None:
        written[report] = classes_html(trained).encode("utf-8", "replace")
    if scores is not None:
        written[scores] = json.dumps(trained.to_plain(), indent=1).encode() + b"\n"
    for path, content in written.items():
        write_file(path, content)
    if not quiet:
        sys.stderr.write("\n".join(_told(trained)) + "\n")
    else:
        sys.stderr.writelines(f"webwinnow: {remark}\n" for remark in trained.remarks)
    if trained.pages["failed"]:
        raise typer.Exit(1)


@classify.command()
def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What webwinnow classify train wrote.")],
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the lines go: a file or -.")],
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="jsonl, csv or parquet; by the output's name if not given.")
    ] = None,
    site_by: Annotated[
        str | None,
        typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none; as in training."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Tell the class of each page and how likely it is; one line a page, empty and failed ones too.

    What the words of a site weigh is learned from the input itself, so the more pages of a site there are, the better.
    Exit code 1 if any page failed.

    Examples:

        webwinnow classify apply cars.npz crawl.warc.gz -o classes.jsonl

        webwinnow classify apply topics.npz pages.parquet -o - --format csv
    """
    known = ClassModel.load(model)
    key = SiteKey.parse(site_by or known.site_by)
    run = RunSettings(method="none", site_by=key, jobs=jobs, keep_trees=True)
    with shown_progress(quiet=quiet) as progress:
        applied = apply_classes(
            known, inputs, out, run, format=format, tmp=tmp, on_progress=progress.update, on_problem=progress.note
        )
    if not quiet:
        sys.stderr.write(_summary(applied))
    if applied.failed:
        raise typer.Exit(1)


def _told(trained: Trained) -> list[str]:
    """The scores for people."""
    pages, model = trained.pages, trained.model
    lines = [
        f"{pages['learned']:,} of {pages['all']:,} pages learned, {trained.sites:,} sites, "
        f"{len(model.classifier.classes_):,} classes, {len(model.keys):,} features"
    ]
    lines += [f"! {remark}" for remark in trained.remarks]
    if trained.folds is None or trained.reliability is None:
        return lines
    lines.append(f"cross-validated, {trained.folds.count} folds by {trained.folds.by} ({trained.folds.why}):")
    last = trained.scores[-1]
    lines += _table(last)
    for level, found in enumerate(trained.scores[:-1], start=1):
        lines.append(
            f"level {level}: accuracy {found.accuracy:.3f}, macro F {found.macro_f:.3f}, "
            f"{int((found.pages > 0).sum()):,} topics"
        )
    named = f"level {len(trained.scores)}: " if len(trained.scores) > 1 else ""
    lines.append(
        f"{named}accuracy {last.accuracy:.3f}, macro F {last.macro_f:.3f}; probabilities: Brier score "
        f"{trained.reliability.brier:.3f}, expected calibration error {trained.reliability.expected_error:.3f}"
    )
    return lines


def _table(scores: ClassScores) -> list[str]:
    order = sorted(range(len(scores.classes)), key=lambda c: (-int(scores.pages[c]), scores.classes[c]))
    shown = sorted(order[:CLASSES_SHOWN], key=lambda c: scores.classes[c])
    names = [_printable(scores.classes[c]) for c in shown]
    width = max([5, *map(len, names)])
    lines = [f"  {'class':<{width}}  {'pages':>7}  precision  recall      F"]
    for c, name in zip(shown, names, strict=True):
        told = f"{scores.precision[c]:>9.3f}  {scores.recall[c]:>6.3f}  {scores.f[c]:.3f}"
        lines.append(f"  {name:<{width}}  {int(scores.pages[c]):>7,}  {told}")
    if len(order) > CLASSES_SHOWN:
        lines.append(f"  and {len(order) - CLASSES_SHOWN:,} more classes, of fewer pages (--report, --scores)")
    return lines


def _summary(applied: Applied) -> str:
    lines = [
        f"{applied.pages:,} pages: {sum(applied.labels.values()):,} labelled, {applied.empty:,} empty, "
        f"{applied.failed:,} failed"
    ]
    most = applied.labels.most_common(CLASSES_SHOWN)
    lines += [f"  {pages:>9,}  {_printable(name)}" for name, pages in most]
    if len(applied.labels) > len(most):
        lines.append(f"  and {len(applied.labels) - len(most):,} more classes")
    return "\n".join(lines) + "\n"


def _printable(text: str) -> str:
    """Text with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)[:60]
