"""Pages as a browser shows them: headless Chromium behind a guarding proxy (extra `render`).

`Renderer` renders; `RenderedPage` has the HTML that scripts made and its `PageLayout`. Nothing is started on import.
"""

from __future__ import annotations

from webwinnow.browser.capture import PageToRender, RenderedPage, RenderFailed
from webwinnow.browser.proxy import ProxiedRequest
from webwinnow.browser.renderer import Renderer, render_file
from webwinnow.browser.settings import RenderSettings

__all__ = [
    "PageToRender",
    "ProxiedRequest",
    "RenderFailed",
    "RenderSettings",
    "RenderedPage",
    "Renderer",
    "render_file",
]
