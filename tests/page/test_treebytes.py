"""A tree survives the spool, and a damaged one is detected."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import InputError, parse
from webwinnow.page.tree import PageTree
from webwinnow.page.treebytes import tree_from_bytes, tree_to_bytes

PAGE = """<html lang=en><title>T</title><meta name=author content=Ann><base href=/b/><body class=x>
<p hidden>a<b>b</b></p><my-tag id=1>ü — 日本</my-tag><pre>
 code</pre><script type=application/ld+json>{"@type": "Article"}</script>"""

ARRAYS = [name for name, kind in PageTree.__annotations__.items() if "NDArray" in kind]


def assert_same(one: PageTree, other: PageTree) -> None:
    for name in PageTree.__annotations__:
        if name in ARRAYS:
            mine, theirs = getattr(one, name), getattr(other, name)
            assert mine.dtype == theirs.dtype, name
            assert np.array_equal(mine, theirs), name
            assert not theirs.flags.writeable, name
        else:
            assert getattr(one, name) == getattr(other, name), name


@pytest.mark.parametrize("page", [PAGE, "", "<frameset>", "<p>" * 2000 + "deep"])
def test_tree_comes_back_as_it_was(page):
    tree = parse(page, url="http://a.example/x")
    assert_same(tree, tree_from_bytes(tree_to_bytes(tree)))


@given(st.text(alphabet="<>/ab =\"'pdivul\n é", max_size=200))
def test_any_tree_comes_back_as_it_was(page):
    tree = parse(page)
    assert_same(tree, tree_from_bytes(tree_to_bytes(tree)))


def test_same_tree_gives_the_same_bytes():
    assert tree_to_bytes(parse(PAGE)) == tree_to_bytes(parse(PAGE))


@given(st.data())
def test_damaged_bytes_are_refused_or_give_a_sound_tree(data):
    whole = bytearray(zstandard.ZstdDecompressor().decompress(tree_to_bytes(parse(PAGE))))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    packed = zstandard.ZstdCompressor().compress(bytes(whole))
    try:
        tree = tree_from_bytes(packed)
    except InputError as error:
        assert "damaged" in str(error)
    else:
        assert [node.text for node in tree]
        assert [node.attributes for node in tree]


@pytest.mark.parametrize("packed", [b"", b"x", b"\x28\xb5\x2f\xfd", zstandard.ZstdCompressor().compress(b"other")])
def test_foreign_bytes_are_refused(packed):
    with pytest.raises(InputError, match="damaged"):
        tree_from_bytes(packed)
