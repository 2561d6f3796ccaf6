"""Hooks of MkDocs: the parts of the documentation site that are written when it is built, so that they cannot go stale.

A page in docs/ has a mark where such a part belongs:

    <!-- site: commands -->             the help of every command, from the command line itself
    <!-- site: record -->               every field of a record, from docs/record.schema.json
    <!-- site: include CHANGELOG.md --> a document outside docs/, without its title

On the site, links to documents outside docs/ lead to the pages that include them.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import typer

from webwinnow.cli.app import app

ROOT = Path(__file__).parents[1]
INCLUDED = {
    "benchmarks/RESULTS.md": "results.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "samples/README.md": "samples.md",
    "README.md": "README.md",
}
"""Documents outside docs/ and the page of the site that has each."""
WIDE = {"papers.md"}
"""Pages with tables of many columns, which get the room of the navigation."""
_VALUES = {
    "int": "N",
    "integer": "N",
    "integer range": "N",
    "float": "X",
    "str": "TEXT",
    "int range": "N",
    "float range": "X",
}
_MARK = re.compile(r"^<!-- site: (\w+) ?(.*?) -->$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_TABLE_CODE = re.compile(r"(?<=[ ,])`[^`\n]*\\\|[^`\n]*`(?=.*\|$)", re.MULTILINE)
"""Code in a cell of a table: GitHub wants its bars escaped, Python-Markdown shows the escapes."""
_CODE = re.compile(r"^(?:```.*?^```|    .*?$)|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the generated parts in the place of their marks, and lead links of the repository to pages of the site."""
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["navigation", "toc"]
    source = f"docs/{page.file.src_uri}"
    written = site_links(markdown, source, source)
    written = _MARK.sub(lambda mark: generated(mark[1], mark[2], source), written)
    return _TABLE_CODE.sub(lambda code: code[0].replace("\\|", "|"), spaced_lists(written))


def generated(part: str, argument: str, source: str) -> str:
    """The Markdown that replaces a mark in the document `source`."""
    if part == "commands":
        return "\n".join(command_reference())
    if part == "record":
        return "\n".join(record_reference())
    if part == "include":
        text = (ROOT / argument).read_text(encoding="utf-8")
        return site_links(re.sub(r"\A# .*\n", "", text), argument, source)
    raise ValueError(f"{source}: there is no generated part {part!r}")


def site_links(text: str, origin: str, source: str) -> str:
    """Rewrite links of a document at `origin`, shown in `source`; a link to a file that the site lacks becomes text."""

    def linked(link: re.Match[str]) -> str:
        label, anchor = link[1], link[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link[2]))
        if target in INCLUDED:
            target = f"docs/{INCLUDED[target]}"
        if not target.startswith("docs/"):
            return label
        return f"[{label}]({posixpath.relpath(target, posixpath.dirname(source))}{anchor})"

    return "".join(part if code else _LINK.sub(linked, part) for part, code in _apart_from_code(text))


def spaced_lists(text: str) -> str:
    """Put a blank line before a list that directly follows a paragraph: Python-Markdown would see no list there."""
    lines: list[str] = []
    in_code = in_list = False
    for line in text.splitlines():
        in_code ^= line.lstrip().startswith("```")
        item = _ITEM.match(line) is not None
        if item and not in_code and not in_list and lines and lines[-1].strip():
            lines.append("")
        in_list = item or (in_list and bool(line.strip()))
        lines.append(line)
    return "\n".join(lines)


def _apart_from_code(text: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for code in _CODE.finditer(text):
        yield text[at : code.start()], False
        yield code[0], True
        at = code.end()
    yield text[at:], False


def command_reference() -> Iterator[str]:
    """Every command with its help, arguments and options, as Markdown."""
    root: Any = typer.main.get_command(app)
    for name in root.commands:
        yield from _command(root.commands[name], f"webwinnow {name}", level=2)


def _command(command: Any, path: str, level: int) -> Iterator[str]:
    yield f"{'#' * level} {path}\n"
    arguments = [option for option in command.params if not option.opts[0].startswith("-")]
    options = [option for option in command.params if option.opts[0].startswith("-") and not option.hidden]
    if hasattr(command, "commands"):
        yield f"{_sentences(command.help)}\n"
        for name in command.commands:
            yield from _command(command.commands[name], f"{path} {name}", level + 1)
        return
    usage = " ".join([path, *(_argument(argument) for argument in arguments), "[OPTIONS]" if options else ""])
    yield f"```text\n{usage.strip()}\n```\n"
    yield f"{_sentences(command.help)}\n"
    panels: dict[str, list[Any]] = {}
    for option in (*arguments, *options):
        panels.setdefault(option.rich_help_panel or ("Options" if option in options else "Arguments"), []).append(
            option
        )
    for panel, members in panels.items():
        yield f"| {panel} | meaning | default |"
        yield "|---|---|---|"
        yield from (f"| {_names(option)} | {_cell(option.help)} | {_default(option)} |" for option in members)
        yield ""


def _sentences(text: str | None) -> str:
    return re.sub(r"[\b\f]", "", text or "").strip()


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    name += "..." if argument.nargs == -1 and not name.endswith("...") else ""
    return str(name if argument.required else f"[{name}]")


def _names(option: Any) -> str:
    if not option.opts[0].startswith("-"):
        return f"`{_argument(option)}`"
    names = [*option.opts, *option.secondary_opts]
    value = "" if option.is_flag else f" {option.metavar or _value(option)}"
    return ", ".join(f"`{name}{value if name.startswith('--') else ''}`" for name in names)


def _value(option: Any) -> str:
    if hasattr(option, "type"):  # typer before 0.29
        choices = getattr(option.type, "choices", ())
        return "|".join(map(str, choices)) or _VALUES.get(option.type.name, option.type.name.upper())
    annotation = option.type_descriptor.annotation
    while get_origin(annotation) in (list, Union, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is Literal:
        return "|".join(map(str, get_args(annotation)))
    return _VALUES.get(annotation.__name__, annotation.__name__.upper())


def _cell(text: str | None) -> str:
    """Text in a cell of a table: bars and brackets outside code stand for themselves."""
    return re.sub(r"([|\[])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", " ".join(_sentences(text).split()))


def _default(option: Any) -> str:
    if option.required:
        return "required"
    value = option.default
    if (
        value is None
        or callable(value)
        or value is False
        or value in ((), [], "")
        or type(value).__name__ == "Sentinel"
    ):
        return ""
    return "yes" if value is True else f"`{getattr(value, 'value', value)}`"


def record_reference() -> Iterator[str]:
    """Every field of a record, with its type, as a table."""
    schema = json.loads((ROOT / "docs" / "record.schema.json").read_text(encoding="utf-8"))
    required = set(schema.get("required", ()))
    yield "| field | type | meaning | always there |"
    yield "|---|---|---|---|"
    for name, field in schema["properties"].items():
        meaning = _cell(field.get("description"))
        if "properties" in field:
            meaning += ": " + ", ".join(f"`{part}`" for part in field["properties"])
        yield f"| `{name}` | {_type(field)} | {meaning} | {'yes' if name in required else 'no'} |"


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    types = field.get("type", "any")
    named = " or ".join([types] if isinstance(types, str) else types)
    return f"{named} of {_type(field['items'])}" if "items" in field else named
