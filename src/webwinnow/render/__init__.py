"""A tree and a keep mask to plain text, Markdown or sanitised HTML.

The mask has one truth value a node. Text is shown if and only if the element that directly holds it is kept; what an
element itself says (a link's target, a picture, a heading's rank, a bullet) only if that element is kept. Nothing else
appears, everything kept does, in page order, once; words between which a block or a line break went stay apart. A
second mask, over runs, may silence single runs of kept elements (one line among several that a `<br>` parts).
"""

from __future__ import annotations

from webwinnow.render.flow import to_text
from webwinnow.render.html import to_html
from webwinnow.render.markdown import to_markdown

__all__ = ["to_html", "to_markdown", "to_text"]
