"""JSON by msgspec says the same as the standard library, and what msgspec refuses is read and written too."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.storage.encoding import from_json, to_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(VALUES)
def test_values_survive_and_are_plain_json(value):
    written = to_json(value)
    assert json.loads(written) == value
    assert from_json(written) == value
    assert from_json(json.dumps(value)) == value


@given(st.text(st.characters(), max_size=9))
def test_surrogates_are_replaced_or_kept(text: str):
    assert from_json(to_json({"a": text}))["a"] == text.encode("utf-8", "replace").decode()
    assert from_json(to_json({"a": text}, surrogates="keep"))["a"] == text


@pytest.mark.parametrize(
    "text", ['{"a": "x\ny"}', '{"a": NaN}', "[1e400]", '"\\ud800"', "[-0.0, 123456789012345678901234567890]"]
)
def test_sloppy_scripts_are_read_as_the_standard_library_reads_them(text: str):
    assert repr(from_json(text)) == repr(json.loads(text, strict=False))


@pytest.mark.parametrize(("text", "error"), [("{", ValueError), ("", ValueError), ("[" * 100_000, RecursionError)])
def test_what_is_no_json_raises(text: str, error: type[Exception]):
    with pytest.raises(error):
        from_json(text)
