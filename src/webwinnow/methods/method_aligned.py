"""Method `aligned`: as `sst`, with our variant of the site style tree, whose pages are aligned (`site.alignedtree`)."""

from __future__ import annotations

from webwinnow.methods.method_sst import AlignedSettings, clean
from webwinnow.methods.registry import Method

METHOD = Method(
    "aligned",
    "remove what is noise in our variant of the site style tree, whose pages are aligned by tag and role",
    clean,
    parts=frozenset({"aligned"}),
    settings=AlignedSettings,
)
