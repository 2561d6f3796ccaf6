"""HTML from Jinja2 templates, with style sheets and scripts beside them.

A room has its own in `templates/`; those that all share are in `inspect/templates/` and `inspect/viewer/`.

Templates escape every value and reject undefined names. The content security policy of a page allows its own style
sheets and script by hash and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from webwinnow._version import __version__
from webwinnow.counted import counted

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def folders() -> tuple[Path, ...]:
    """The folders of templates, style sheets and scripts, in the order in which they are searched."""
    shared = Path(__file__).parent
    return (shared / "viewer", shared / "templates", *sorted(shared.parent.glob("*/templates")))


def asset(name: str) -> str:
    """Return the text of a style sheet or script."""
    return next(path for folder in folders() if (path := folder / name).is_file()).read_text(encoding="utf-8")


def render(template: str, **values: Any) -> Markup:
    """Render a template. Values are escaped unless they are `Markup` already."""
    return Markup(_environment().get_template(template).render(values))


def render_text(template: str, **values: Any) -> str:
    """Render a template of plain text or Markdown, not escaped."""
    return render(template, **values).unescape()


def render_paragraphs(template: str, **values: Any) -> list[str]:
    """Render a text template and return its paragraphs."""
    paragraphs = (" ".join(text.split()) for text in render_text(template, **values).split("\n\n"))
    return [paragraph for paragraph in paragraphs if paragraph]


def render_page(template: str, *styles: str, script: str = "", pictures: bool = False, **values: Any) -> str:
    """Render a whole page with its policy. The first of `styles` is its own, the others are those of its frames.

    Its own style sheet follows `design.css`, which all pages share. With `pictures` the script may show images that it
    makes itself (`blob:`).
    """
    styles = (asset("design.css") + styles[0], *styles[1:])
    policy = "default-src 'none'; base-uri 'none'; form-action 'none'; "
    policy += "img-src blob:; " if pictures else ""
    policy += f"script-src {_policy_hash(script)}; " if script else ""
    policy += f"style-src {' '.join(map(_policy_hash, styles))}"
    return str(render(template, policy=policy, style=Markup(styles[0]), script=Markup(script), **values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a summary page: a chart, a table, or both. The columns `left` contain words, the others numbers."""

    title: str
    about: str = ""
    chart: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    left: Sequence[int] = ()
    more: str = ""


def summary_page(
    title: str,
    command: str,
    lead: Sequence[str],
    sections: Sequence[Section | Sequence[Section]],
    *,
    figures: Mapping[str, str] | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """Render a page of figures, remarks and sections; a sequence of sections is shown side by side."""
    values: dict[str, Any] = {"title": title, "command": command, "lead": lead, "sections": sections}
    return render_page("summary.html.j2", asset("summary.css"), figures=figures or {}, remarks=remarks, **values)


def shortened(text: str, longest: int) -> str:
    """Return the text, cut to `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 (most commands write no HTML)

    environment = Environment(
        loader=FileSystemLoader(folders()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["version"] = __version__
    environment.filters["fmt"] = format
    environment.filters["counted"] = counted
    return environment


def _policy_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
