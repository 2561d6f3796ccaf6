"""`webwinnow methods`: the cleaning methods and their settings."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from webwinnow import plugins
from webwinnow.cli import options as opt
from webwinnow.methods.method_items import ItemModel
from webwinnow.methods.registry import DEFAULT_METHOD, CleaningSettings, Method, method_named, method_names
from webwinnow.run.settings import RunSettings
from webwinnow.settings import Listed, declared

PANEL = "Inspect"

RuleKind = Literal["link", "image", "all"]


def methods(
    names: Annotated[list[str] | None, typer.Argument(metavar="[METHOD]...", help="Only these methods.")] = None,
    rules: Annotated[
        RuleKind | None, opt.writing("Print the rules of method items for links or images instead.")
    ] = None,
    run: Annotated[
        bool, opt.writing("List the settings of a run instead: what --set of clean takes besides.", "--run")
    ] = False,
    set_: opt.Settings = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the cleaning methods, what each does, and its settings with default and meaning.

    Settings are given with --set, as in `--method sst --set sst.threshold=0.9`.

    Examples:

        webwinnow methods
        webwinnow methods sst --json
        webwinnow methods --run
        webwinnow methods items --rules link
        webwinnow methods items --rules all --set items.trees=trees.npz
    """
    if rules is not None:
        own = opt.cleaning_settings(set_, method="items").items.trees
        model = ItemModel.load(None if own is None else Path(own))
        for kind, tree in model.trees.items():
            if rules in ("all", kind):
                sys.stdout.write("\n".join([f"# {model.summary(kind)}", *tree.rules()]) + "\n")
        return
    if run:
        _list_run(as_json=as_json)
        return
    for method in map(method_named, names or method_names(ours=False)):
        if as_json:
            settings = [setting._asdict() for setting in method.listed()]
            described = {"name": method.name, "about": method.about, "learns": method.learns, "settings": settings}
            sys.stdout.write(json.dumps(described, ensure_ascii=False) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in _described(method))


def _list_run(*, as_json: bool) -> None:
    """List the settings of a run, without those of methods, with the options that some of them have."""
    groups = RunSettings.groups() | plugins.load("reader", "url").READER.settings.groups()
    for group in [group for group in groups if group not in CleaningSettings.groups()]:
        for one in declared(groups[group]).values():
            listed = Listed(f"{group}.{one.name}", one.setting.shown or one.default, one.expected, one.setting.help)
            if as_json:
                plain = listed._asdict() | {"options": one.setting.options}
                sys.stdout.write(json.dumps(plain, ensure_ascii=False, default=str) + "\n")
            else:
                sys.stdout.writelines(f"{line}\n" for line in _listed(listed, one.setting.options[:1]))


def _described(method: Method) -> list[str]:
    default = " (the default)" if method.name == DEFAULT_METHOD else ""
    lines = [f"{method.name}{default}: {method.about}"]
    return lines + [f"    {line}" for setting in method.listed() for line in _listed(setting)]


def _listed(setting: Listed, options: Sequence[str] = ()) -> list[str]:
    value = "none" if setting.default is None else setting.default
    also = "".join(f"; also {option}" for option in options)
    return [f"{setting.name}={value}", f"    {setting.help} ({setting.expected}{also})"]
