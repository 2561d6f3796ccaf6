"""`Selection`: parts of pages that the user names by selectors, and data tables, as a step after the cleaning method.

A selector is an XPath (it starts with `/`, `./` or `(`) or a CSS selector. It is evaluated on the elements of a
`PageTree` below BODY with the attributes that a tree has (`markup.ATTRIBUTES`: id, class, role, itemprop, href and so
on), by lxml and cssselect (extra `selectors`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.judge.verdict import Reason, Verdict
from webwinnow.lazy import lazy_pattern
from webwinnow.page.markup import ATTRIBUTES, BOX_ATTRIBUTE
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.settings import KEEP, Setting, Settings, setting

_XPATH: Final = re.compile(r"\s*(?:\.?/|\()")
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*")
_NOT_IN_XML: Final = lazy_pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLACE: Final = "ww-place"
_ENDS_IN_TEXT: Final = re.compile(r"(?:/|::)\s*(?:text\(\)|comment\(\)|@[\w:*-]+)\s*\)*$")
"""An XPath whose last step selects text, comments or attributes."""
_LITERAL: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_ATTRIBUTE: Final = re.compile(r"@\s*([\w-]+)")


def _selectors(help: str, option: str) -> Setting:
    return setting(help, option, metavar="SELECTOR", read=lambda text: (text,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Settings):
    """What is kept and removed whatever the cleaning method says.

    - `tables`: whether data tables are kept where the method keeps them.
    - `keep`: elements that are kept with everything in them that browsers show, also in tables.
    - `drop`: elements that are removed, also inside kept ones.
    """

    PANEL = KEEP

    keep: Annotated[
        tuple[str, ...], _selectors("Keep the elements that a CSS selector or XPath selects; repeatable.", "--keep")
    ] = ()
    drop: Annotated[
        tuple[str, ...], _selectors("Remove the elements that a CSS selector or XPath selects; repeatable.", "--drop")
    ] = ()
    tables: Annotated[bool, setting("Keep data tables that are content.", "--tables/--no-tables")] = True

    def validate(self) -> None:
        """Raise `SettingsError` for what is no selector."""
        for selector in (*self.keep, *self.drop):
            _compiled(selector)

    @property
    def is_everything(self) -> bool:
        """Whether nothing is selected, so that pages stay as the method cleaned them."""
        return self.tables and not self.keep and not self.drop

    def applied(self, page: Page, verdict: Verdict) -> Verdict:
        """The verdict with the selected parts kept or removed."""
        tree = page.tree
        if self.is_everything or not tree.run_count:
            return verdict
        document = _document(tree) if self.keep or self.drop else None
        steps: list[tuple[NDArray[np.bool_], bool, int]] = []
        if not self.tables:
            steps.append((page.structures.table_of >= 0, False, Reason.NO_TABLES))
        if self.keep:
            steps.append((_inside(tree, document, self.keep) & tree.visible, True, Reason.KEEP_SELECTED))
        if self.drop:
            steps.append((_inside(tree, document, self.drop), False, Reason.REMOVE_SELECTED))
        keep, keep_runs = verdict.keep.copy(), verdict.keep_runs.copy()
        reason, run_reason = verdict.reason.copy(), verdict.run_reason.copy()
        for nodes, kept, why in steps:
            runs = nodes[tree.run_owner]
            run_reason[runs & (keep_runs != kept)] = why
            reason[nodes & (keep != kept)] = why
            keep_runs[runs], keep[nodes] = kept, kept
            if kept:
                keep |= _around(tree, nodes)
        posts = None if verdict.post_runs is None else verdict.post_runs & keep_runs
        weight = np.where(keep, np.where(verdict.keep, verdict.weight, 1), 0).astype(np.float32)
        return replace(
            verdict,
            keep=keep,
            keep_runs=keep_runs,
            reason=reason,
            run_reason=run_reason,
            weight=weight,
            post_runs=posts,
        )


def _around(tree: PageTree, nodes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The ancestors of some nodes."""
    found = np.zeros(len(tree), np.bool_)
    at = np.unique(tree.parent[nodes])
    while (at := at[(at >= 0) & ~found[at]]).size:
        found[at] = True
        at = np.unique(tree.parent[at])
    return found


@functools.lru_cache(maxsize=256)
def _compiled(selector: str) -> Callable[[Any], Any]:
    """A selector as a function of a document. Raises `SettingsError`, or `MissingExtra` without lxml."""
    try:
        import cssselect  # noqa: PLC0415 (an optional extra)
        from lxml import etree  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("a selector", "selectors") from error
    try:
        xpath = selector if _XPATH.match(selector) else cssselect.HTMLTranslator().css_to_xpath(selector)
        compiled: Callable[[Any], Any] = etree.XPath(xpath)
        _check_selects(selector, xpath, compiled(etree.Element("html")))
        return compiled
    except (etree.XPathError, cssselect.SelectorError, ValueError) as error:  # the last for what is not UTF-8
        raise SettingsError(
            f"{selector!r} is no selector ({error}); expected CSS, or an XPath such as //div[@id]"
        ) from None


def _check_selects(selector: str, xpath: str, of_nothing: Any) -> None:
    """Raise `SettingsError` for a selector that no element of any page can match."""
    plain = _LITERAL.sub("''", xpath)
    if not isinstance(of_nothing, list) or _ENDS_IN_TEXT.search(plain):
        raise SettingsError(f"{selector!r} selects text or a value; expected elements, as in //p or //a[@href]")
    unknown = sorted(set(_ATTRIBUTE.findall(plain)) - set(ATTRIBUTES))
    if unknown:
        raise SettingsError(
            f"{selector!r} asks for the attribute {', '.join(unknown)}, which is not kept of a page; "
            f"there are: {', '.join(sorted(set(ATTRIBUTES) - {BOX_ATTRIBUTE}))}"
        )


def _inside(tree: PageTree, document: Any, selectors: tuple[str, ...]) -> NDArray[np.bool_]:
    """The nodes that some selectors match, and everything inside them."""
    found = np.zeros(len(tree), np.bool_)
    for selector in selectors:
        try:
            matched = _compiled(selector)(document)
        except _xpath_error() as error:
            raise SettingsError(f"{selector!r} cannot be evaluated ({error}); expected it to select elements") from None
        for element in matched if isinstance(matched, list) else ():
            place = element.get(_PLACE) if hasattr(element, "get") else None
            if place is not None:
                node = int(place)
                found[node : int(tree.end[node])] = True
    return found


def _xpath_error() -> type[Exception]:
    from lxml import etree  # noqa: PLC0415

    found: type[Exception] = etree.XPathError
    return found


def _document(tree: PageTree) -> Any:
    """The page as an lxml document: an element `html` around the nodes, which know their places in the tree."""
    from lxml import etree  # noqa: PLC0415

    root = etree.Element("html")
    elements = [root]
    runs, before, run = tree.run_count, tree.run_before.tolist(), 0
    owners, parents = tree.run_owner.tolist(), tree.parent.tolist()
    for i in range(1, len(tree)):
        while run < runs and before[run] <= i:
            _add_text(elements[owners[run]], tree.run(run))
            run += 1
        name = tree.tag_name(i)
        element = etree.SubElement(elements[parents[i]], name if _NAME.fullmatch(name) else "unknown")
        element.set(_PLACE, str(i))
        for attribute, value in tree.attributes(i).items():
            element.set(attribute, _NOT_IN_XML.sub(" ", value))
        elements.append(element)
    for rest in range(run, runs):
        _add_text(elements[owners[rest]], tree.run(rest))
    return root


def _add_text(owner: Any, text: str) -> None:
    text = _NOT_IN_XML.sub(" ", text)
    if len(owner):
        owner[-1].tail = (owner[-1].tail or "") + text
    else:
        owner.text = (owner.text or "") + text
