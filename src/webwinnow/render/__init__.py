"""A tree and a keep mask to plain text, Markdown or sanitised HTML.

The mask has one truth value per node. Text is shown if and only if the element that directly contains it is kept; the
meaning of an element itself (a link's target, a picture, a heading's rank, a bullet) only if that element is kept. All
that is kept appears once, in page order; words that a removed block or line break splits stay separate. A second mask,
over runs, removes single runs of kept elements (one line among several that a `<br>` splits).
"""

from __future__ import annotations

from webwinnow.render.flow import to_text
from webwinnow.render.html import to_html
from webwinnow.render.markdown import to_markdown

__all__ = ["to_html", "to_markdown", "to_text"]
