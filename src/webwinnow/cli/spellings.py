"""Old spellings of commands and options, what they are called now, and options with an optional value."""

from __future__ import annotations

from itertools import takewhile

from webwinnow.errors import SettingsError

OLD_SPELLINGS = {
    "categories": "classify train --classifier docview",
    "items": "methods items --rules all",
    "stopwords": "lists stopwords",
    "templates": "lists templates",
    "classify train --method knn": "--classifier knn",
    "classify train --method svm": "--classifier svm",
    "clean --blocks": "--set segments.by=VALUE",
    "clean --entropy": "--set segments.threshold=VALUE",
    "clean --share": "--set repeated.share=VALUE",
    "clean --templates": "--set template.found=FILE",
    "clean --threshold": "--set sst.threshold=VALUE",
    "clean --weight": "--set cst.weight=VALUE",
    "crawl --max-bytes": "--total-bytes",
    "crawl --page-seconds": "--fetch-seconds",
    "experiment mining --neighbours": "--knn",
    "experiment mining --no-neighbours": "--no-knn",
    "experiment mining --site": "--site-column",
    "experiment mining --task": "--target",
    "experiment replicas --clean": "--method",
    "experiment sites --clean": "--denoise-with",
    "experiment sites --site": "--site-column",
    "index --replicas": "--with-replicas",
    "inspect --pages": "--sample",
    "learn --threshold": "--set sst.threshold=VALUE",
    "models show --depth": "--levels",
    "replicas --clean": "--method",
    "replicas --method modern": "--fingerprint modern",
    "replicas --method published": "--fingerprint published",
    "serve --page-bytes": "--max-bytes",
    "serve --workers": "--jobs",
    "sites mine --pages-per-site": "--pages",
}
"""A command, or a command with an option and perhaps its value, and the new spelling."""


def check_spelling(arguments: list[str]) -> None:
    """Raise `SettingsError` with the new spelling if the command line has an old one."""
    words = [word for argument in takewhile(lambda given: given != "--", arguments) for word in _split(argument)]
    given = f"{' '.join(words)} "
    for old, new in OLD_SPELLINGS.items():
        command, dashes, option = old.partition(" --")
        if not given.startswith(f"{command} "):
            continue
        if not dashes:
            raise SettingsError(f"webwinnow {old} is now webwinnow {new}")
        if f" --{option} " in given:
            raise SettingsError(f"webwinnow {old} is now webwinnow {command} {new}")


def spelled_out(arguments: list[str]) -> list[str]:
    """The command line with the value of an option that may be given without one: `--render` means `--render=all`."""
    own = len(list(takewhile(lambda given: given != "--", arguments)))
    return ["--render=all" if given == "--render" and at < own else given for at, given in enumerate(arguments)]


def _split(argument: str) -> list[str]:
    """An option and its value, where they are one argument."""
    return argument.split("=", 1) if argument.startswith("--") else [argument]
