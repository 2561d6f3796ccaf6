"""What a model knows, and what it refuses to read."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

import webwinnow
from webwinnow import ModelError, PageRecord, SiteModel, parse
from webwinnow.blocks import cut
from webwinnow.site.model import FORMAT_VERSION, block_keys


def pages(count: int) -> list[PageRecord]:
    return [
        PageRecord(url=f"http://a.example/{n}", body=f"<p>Menu</p><p>own text {n}</p>".encode(), ordinal=n)
        for n in range(count)
    ]


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def column(values: object, dtype: object) -> bytes:
    out = io.BytesIO()
    np.save(out, np.array(values, dtype))
    return out.getvalue()


def test_model_counts_the_pages_that_say_a_text():
    model = webwinnow.learn(pages(5))
    keys = block_keys(cut(parse("<p>menu!</p><p>own text 3</p><p>never said</p>")))
    assert model.pages == 5
    assert model.pages_that_say(keys).tolist() == [5, 1, 1]


def test_text_said_twice_on_one_page_counts_once():
    model = SiteModel.learn([parse("<p>x</p><p>x</p>"), parse("<p>x</p>")])
    assert model.pages_that_say(block_keys(cut(parse("<p>x</p>")))).tolist() == [2]


def test_replicas_are_learned_once():
    copies = [PageRecord(url=f"http://a.example/copy{n}", body=b"<p>Menu</p><p>the same</p>") for n in range(9)]
    model = webwinnow.learn(pages(3) + copies)
    assert model.pages == 4
    assert model.pages_that_say(block_keys(cut(parse("<p>the same</p>")))).tolist() == [1]


def test_learning_does_not_depend_on_the_order_of_pages():
    assert webwinnow.learn(pages(7)).to_bytes() == webwinnow.learn(pages(7)[::-1]).to_bytes()


def test_model_comes_back_as_it_was(tmp_path):
    model = webwinnow.learn(pages(4), site="a.example")
    model.save(tmp_path / "m.npz")
    again = SiteModel.load(tmp_path / "m.npz")
    assert (again.site, again.pages) == ("a.example", 4)
    assert again.to_bytes() == model.to_bytes()


def test_newer_model_is_refused_with_the_advice_to_upgrade():
    parts = members(webwinnow.learn(pages(3)).to_bytes())
    about = json.dumps({"format_version": FORMAT_VERSION + 1, "site": "", "pages": 3}).encode()
    parts["about.npy"] = column(np.frombuffer(about, np.uint8), np.uint8)
    with pytest.raises(ModelError, match="upgrade"):
        SiteModel.from_bytes(archive_of(parts))


@pytest.mark.parametrize(
    "change",
    [
        {"text_key.npy": column([3, 1], np.uint64)},
        {"text_key.npy": column([1, 2, 3], np.uint64)},
        {"text_key.npy": column([[1], [2]], np.uint64)},
        {"text_key.npy": column([1.0], np.float64)},
        {"text_pages.npy": column([99], np.int32)},
        {"text_pages.npy": column([0], np.int32)},
        {"about.npy": column(np.frombuffer(b"[]", np.uint8), np.uint8)},
        {"about.npy": column(np.frombuffer(b"{", np.uint8), np.uint8)},
        {"text_pages.npy": b"rubbish"},
    ],
)
def test_damaged_model_is_refused(change):
    parts = members(webwinnow.learn(pages(3)).to_bytes()) | change
    with pytest.raises(ModelError):
        SiteModel.from_bytes(archive_of(parts))


@pytest.mark.parametrize("data", [b"", b"PK", b"\x80\x04N.", b"<html>"])
def test_foreign_file_is_refused(data):
    with pytest.raises(ModelError, match="not a webwinnow model"):
        SiteModel.from_bytes(data)


def test_pickled_array_in_a_model_is_never_loaded():
    out = io.BytesIO()
    np.save(out, np.array([object()], object), allow_pickle=True)
    parts = members(webwinnow.learn(pages(3)).to_bytes()) | {"text_key.npy": out.getvalue()}
    with pytest.raises(ModelError):
        SiteModel.from_bytes(archive_of(parts))
