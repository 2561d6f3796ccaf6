"""`webwinnow classify`: learn classes from labelled pages, and predict those of other pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.classify.apply import Applied, Certainty, apply_classes
from webwinnow.classify.category import CategorySettings
from webwinnow.classify.classifiers import COST, NEIGHBOURS
from webwinnow.classify.classmodel import METHODS, SEPARATOR, ClassModel
from webwinnow.classify.report import classes_html
from webwinnow.classify.scores import ClassScores
from webwinnow.classify.train import ClassifySettings, Trained, train_categories, train_classes
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted, printable
from webwinnow.errors import SettingsError
from webwinnow.features.options import Kinds, Weighting, weight_settings
from webwinnow.features.vectors import VectorSettings
from webwinnow.judge.tasks import DEFAULT_TASK, task_of
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.page.urls import SiteKey
from webwinnow.run.outputs import check_apart, check_output, write_bytes
from webwinnow.run.settings import RunSettings
from webwinnow.site.modelstore import open_models

PANEL = "Mine"

SHOWN_CLASSES = 30
"""Classes in the table on stderr at most, those of the most pages; the report and --scores have all."""
LONGEST_NAME = 60
DOCVIEW = "docview"
_DOCVIEW = CategorySettings()

classify = typer.Typer(
    name="classify", help="Learn classes from labelled pages, and predict those of other pages.", no_args_is_help=True
)


@classify.command()
def train(
    context: typer.Context,
    inputs: opt.Inputs,
    out: Annotated[Path, opt.out("an .npz file, or - for standard output", callback=opt.written(".npz"))],
    label: Annotated[str | None, opt.label()] = None,
    labels: opt.Labels = None,
    classifier: Annotated[
        str, opt.setting(f"Classifier: {', '.join(METHODS)}, or {DOCVIEW} for the categories of clean --categories.")
    ] = "svm",
    features: Annotated[
        int | None, opt.setting("Features to keep, by chi-square. [default: svm 100,000, others 5,000]")
    ] = None,
    neighbours: Annotated[int, opt.setting("Training pages that vote (knn, docview).")] = NEIGHBOURS,
    cost: Annotated[float, opt.setting("svm: C, the cost of a training page on the wrong side.")] = COST,
    weighting: Weighting = "cst",
    kinds: Kinds = "words",
    stop_words: opt.StopWords = None,
    separator: Annotated[
        str, opt.setting("Separator of the names of a path in a label (science/physics); '' for none.")
    ] = SEPARATOR,
    report: Annotated[Path | None, opt.report(", with the scores")] = None,
    scores: Annotated[Path | None, opt.writing("Also write the scores as JSON.", callback=opt.written())] = None,
    method: opt.Method = DEFAULT_METHOD,
    favor: opt.Favoring = None,
    task: opt.Task = DEFAULT_TASK,
    comments: opt.Comments = None,
    models: opt.Models = None,
    set_: Annotated[
        list[str] | None,
        opt.cleaning(
            "Setting of a method, as in cst.informative=0.2 for the weights or, with docview, sst.threshold=0.9 for "
            "cleaning; repeatable. `webwinnow methods` lists them.",
            "--set",
            metavar="NAME=VALUE",
        ),
    ] = None,
    site_by: opt.SiteBy = "host",
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Learn classes from labelled pages, and measure the predictions on pages that were held out.

    Whole sites are held out in turn where there are enough of them, else pages; the table says which. Pages without a
    label help to learn their site, and are counted. Exit code 1 if any page failed.

    Classifier docview cleans the pages as `clean` does with the same cleaning options, which the model keeps: `clean
    --categories` cleans in the same way. It measures nothing. Other classifiers do not use the cleaning options.

    Examples:

        webwinnow classify train cars.parquet --label make -o cars.npz --report cars.html
        webwinnow classify train crawl.warc.gz --labels labels.csv -o topics.npz --classifier knn
        webwinnow classify train crawl.warc.gz --labels labels.tsv -o categories.npz --classifier docview
    """
    for path in filter(None, (out, report, scores)):
        check_output(path, "jsonl")
    check_apart([*inputs, *([] if labels is None else [labels])], out, report, scores)
    _check_options(context, classifier)
    if classifier == DOCVIEW:
        if report is not None or scores is not None:
            raise SettingsError(f"--classifier {DOCVIEW} measures nothing; leave out --report and --scores")
        chosen = CategorySettings(features=_DOCVIEW.features if features is None else features, neighbours=neighbours)
        cleaning = RunSettings(
            method=method,
            cleaning=opt.cleaning_settings(set_, favor, comments, stop_words, method=method),
            task=task_of(task),
            models=None if models is None else str(open_models(models).path.absolute()),
            site_by=SiteKey.parse(site_by),
            jobs=jobs,
        )
        with shown_progress(quiet=quiet) as progress:
            found = train_categories(
                inputs, chosen, cleaning, label=label, labels=labels, tmp=tmp, **progress.callbacks
            )
        write_bytes(out, found.model.to_bytes())
        names, features = counted(len(found.model.names), "category", "categories"), len(found.model.key)
        rest = f"{counted(found.without_label, 'page')} without a label, {found.failed:,} failed"
        summary = f"{counted(found.learned, 'page')}, {names}, {counted(features, 'feature')}; {rest}"
        finish([f"webwinnow: {summary}"], failed=found.failed or progress.partial_inputs)
        return
    settings = ClassifySettings(
        method=classifier,
        features=features,
        cost=cost,
        neighbours=neighbours,
        separator=separator,
        vectors=VectorSettings(
            kinds=opt.names_in(kinds),
            stop_list=opt.stop_list(stop_words),
            weighting=weighting,
            weights=weight_settings(set_, weighting),
        ),
        seed=seed,
    )
    run = opt.parsing_settings(site_by, jobs)
    with shown_progress(quiet=quiet) as progress:
        trained = train_classes(
            inputs, settings, run, label=label, labels=labels, site_by=site_by, tmp=tmp, **progress.callbacks
        )
    write_bytes(out, trained.model.to_bytes())
    if report is not None:
        write_bytes(report, classes_html(trained).encode("utf-8", "replace"))
    if scores is not None:
        write_bytes(scores, json.dumps(trained.to_plain(), indent=1).encode() + b"\n")
    lines = [f"webwinnow: {remark}" for remark in trained.remarks] if quiet else _training_summary(trained)
    finish(lines, failed=trained.pages["failed"] or progress.partial_inputs)


@classify.command()
def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model of webwinnow classify train.")],
    inputs: opt.Inputs,
    out: Annotated[str, opt.out("a file, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl, csv or parquet")] = None,
    none: Annotated[
        float | None,
        opt.setting(
            "Least probability of none of the classes for that answer. [default: every page has a class]", min=0, max=1
        ),
    ] = None,
    least: Annotated[
        float, opt.setting("Least probability of a class; pages below have none.", "--min-probability", min=0, max=1)
    ] = 0.0,
    site_by: opt.SiteByOfModel = None,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Predict the class of each page and its probability; one line per page, empty and failed ones too.

    The weights of a site's words are learned from the input itself, so more pages of a site give better predictions.
    Exit code 1 if any page failed.

    Examples:

        webwinnow classify apply cars.npz crawl.warc.gz -o classes.jsonl
        webwinnow classify apply topics.npz pages.parquet -o - --format csv
        webwinnow classify apply topics.npz pages.parquet -o classes.jsonl --none 0.67 --min-probability 0.5
    """
    check_apart([model], out)
    known = ClassModel.load(model)
    run = opt.parsing_settings(site_by or known.site_by, jobs)
    with shown_progress(quiet=quiet) as progress:
        applied = apply_classes(
            known,
            inputs,
            out,
            run,
            certainty=Certainty(none=none, least=least),
            format=format,
            tmp=tmp,
            **progress.callbacks,
        )
    finish(_applied_summary(applied), quiet=quiet, failed=applied.failed or progress.partial_inputs)


def _check_options(context: typer.Context, classifier: str) -> None:
    """Reject options that the classifier does not read."""
    cleaning = ("method", "favor", "task", "comments", "models")
    ignored = {
        DOCVIEW: ("cost", "weighting", "kinds", "separator", "seed"),
        "knn": ("cost", *cleaning),
        "svm": ("neighbours", *cleaning),
    }
    opt.check_read(context, f"--classifier {classifier}", *ignored.get(classifier, ()))


def _training_summary(trained: Trained) -> list[str]:
    pages, model = trained.pages, trained.model
    lines = [
        f"{pages['learned']:,} of {counted(pages['all'], 'page')} learned, {counted(trained.sites, 'site')}, "
        f"{counted(len(model.classifier.classes_), 'class', 'classes')}, {counted(len(model.keys), 'feature')}"
    ]
    lines += [f"! {remark}" for remark in trained.remarks]
    if trained.folds is None or trained.reliability is None:
        return lines
    folds = trained.folds
    lines.append(f"cross-validated, {counted(folds.count, 'fold')} by {folds.by} ({folds.why}):")
    last = trained.scores[-1]
    lines += _table(last)
    for level, found in enumerate(trained.scores[:-1], start=1):
        lines.append(
            f"level {level}: accuracy {found.accuracy:.3f}, macro F {found.macro_f:.3f}, "
            f"{counted(int((found.pages > 0).sum()), 'topic')}"
        )
    named = f"level {len(trained.scores)}: " if len(trained.scores) > 1 else ""
    lines.append(
        f"{named}accuracy {last.accuracy:.3f}, macro F {last.macro_f:.3f}; probabilities: Brier score "
        f"{trained.reliability.brier:.3f}, expected calibration error {trained.reliability.expected_error:.3f}"
    )
    return lines


def _table(scores: ClassScores) -> list[str]:
    shown = sorted(scores.largest(SHOWN_CLASSES), key=lambda c: scores.classes[c])
    names = [printable(scores.classes[c])[:LONGEST_NAME] for c in shown]
    width = max([5, *map(len, names)])
    lines = [f"  {'class':<{width}}  {'pages':>7}  precision  recall      F"]
    for c, name in zip(shown, names, strict=True):
        row = f"{scores.precision[c]:>9.3f}  {scores.recall[c]:>6.3f}  {scores.f[c]:.3f}"
        lines.append(f"  {name:<{width}}  {int(scores.pages[c]):>7,}  {row}")
    if len(scores.classes) > SHOWN_CLASSES:
        more = counted(len(scores.classes) - SHOWN_CLASSES, "more class", "more classes")
        lines.append(f"  and {more}, of fewer pages (--report, --scores)")
    return lines


def _applied_summary(applied: Applied) -> list[str]:
    none = f"{applied.none:,} of none of the classes, " if applied.none else ""
    lines = [
        f"{counted(applied.pages, 'page')}: {sum(applied.labels.values()):,} labelled, {none}{applied.empty:,} empty, "
        f"{applied.failed:,} failed"
    ]
    most = applied.labels.most_common(SHOWN_CLASSES)
    lines += [f"  {pages:>9,}  {printable(name)[:LONGEST_NAME]}" for name, pages in most]
    if len(applied.labels) > len(most):
        lines.append(f"  and {counted(len(applied.labels) - len(most), 'more class', 'more classes')}")
    return lines
