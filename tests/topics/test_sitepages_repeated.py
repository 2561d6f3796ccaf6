"""Text on half of a site's pages is no evidence of its topic, whatever its hashes."""

from __future__ import annotations

from webwinnow import parse
from webwinnow.topics.pages import SitePages


def test_every_repeated_block_is_left_out_and_nothing_else():
    repeated = [f"menu entry {k}" for k in range(20)]  # hashes above and below 2 ** 63
    trees = [
        parse(
            "".join(f"<p>{said}</p>" for said in [*repeated, f"only page {k} says this"]), url=f"http://a.example/{k}"
        )
        for k in range(4)
    ]
    site = SitePages.of(trees)
    kept = [site.kept[a:b].sum() for a, b in zip(site.first[:-1], site.first[1:], strict=True)]
    assert kept == [2, 2, 2, 2]  # the page itself, and its unique text
