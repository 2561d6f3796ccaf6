"""The contents of a model, and files that it refuses to load."""

from __future__ import annotations

import io

import numpy as np
import pytest
from modelfiles import HEADER, archive_of, members, npy, with_about, with_header

import webwinnow
from webwinnow import ModelError, PageRecord, PageTree, SiteModel, parse
from webwinnow.page.blocks import cut
from webwinnow.site.learned import FORMAT
from webwinnow.site.part_texts import block_keys
from webwinnow.site.sums import SiteSums


def pages(count: int) -> list[PageRecord]:
    return [
        PageRecord(url=f"http://a.example/{n}", body=f"<p>Menu</p><p>own text {n}</p>".encode(), ordinal=n)
        for n in range(count)
    ]


def column(values: object, dtype: object) -> bytes:
    return npy(values, dtype)


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
    with pytest.raises(ModelError, match="upgrade"):
        SiteModel.from_bytes(with_header(webwinnow.learn(pages(3)).to_bytes(), version=FORMAT.version + 1))


def test_model_of_other_style_hashes_is_refused():
    with pytest.raises(ModelError, match="styles of version 0"):
        SiteModel.from_bytes(with_about(webwinnow.learn(pages(3)).to_bytes(), style_version=0))


def test_old_format_is_refused_with_the_advice_to_learn_again():
    with pytest.raises(ModelError, match="learn the site again"):
        SiteModel.from_bytes(with_header(webwinnow.learn(pages(3)).to_bytes(), version=FORMAT.version - 1))


def test_sums_are_not_a_model_and_a_model_is_not_sums():
    sums = SiteSums("a.example")
    sums.add(parse("<p>x"))
    with pytest.raises(ModelError, match="site sums"):
        SiteModel.from_bytes(sums.to_bytes())
    with pytest.raises(ModelError, match="site model"):
        SiteSums.from_bytes(webwinnow.learn(pages(3)).to_bytes())


@pytest.mark.parametrize(
    "change",
    [
        {"text_key.npy": column([3, 1], np.uint64)},
        {"text_key.npy": column([1, 2, 3], np.uint64)},
        {"text_key.npy": column([[1], [2]], np.uint64)},
        {"text_key.npy": column([1.0], np.float64)},
        {"text_pages.npy": column([0], np.int32)},
        {HEADER: b"[]"},
        {HEADER: b"{"},
        {HEADER: b'{"kind": "site model", "version": 5, "about": {}}'},
        {"text_pages.npy": b"rubbish"},
        {"sst_parent.npy": column([-1, 5], np.int32)},
        {"sst_kind.npy": column([9], np.uint8)},
        {"sst_path_child.npy": column([1 << 40], np.int64)},
        {"cst_feature_element.npy": column([-1], np.int64)},
        {"cst_total.npy": b""},
        {"pagelets_pages.npy": column([9], np.int32)},
        {"pagelets_key.npy": column([2, 1], np.uint64), "pagelets_pages.npy": column([2, 2], np.int32)},
        {"pagelets_how.npy": column([3, 5], np.int32)},
        {"pagelets_how.npy": column([3, 5, 0], np.int32)},
        {"segments_entropy.npy": column([2.0], np.float64)},
        {"segments_entropy.npy": column([np.nan], np.float64)},
        {"segments_included.npy": column([5], np.int32)},
        {"segments_included.npy": column([-1] * 202, np.int32)},
    ],
)
def test_damaged_model_is_refused(change):
    parts = members(webwinnow.learn(pages(3)).to_bytes()) | change
    with pytest.raises(ModelError):
        SiteModel.from_bytes(archive_of(parts))


@pytest.mark.parametrize("data", [b"", b"PK", b"\x80\x04N.", b"<html>"])
def test_foreign_file_is_refused(data):
    with pytest.raises(ModelError, match="not a webwinnow site model"):
        SiteModel.from_bytes(data)


def test_pickled_array_in_a_model_is_never_loaded():
    out = io.BytesIO()
    np.save(out, np.array([object()], object), allow_pickle=True)
    parts = members(webwinnow.learn(pages(3)).to_bytes()) | {"text_key.npy": out.getvalue()}
    with pytest.raises(ModelError):
        SiteModel.from_bytes(archive_of(parts))


@pytest.mark.parametrize("seed", range(40))
def test_a_model_with_one_number_changed_is_refused_or_still_cleans(seed):
    """No index of a damaged file is used outside its array."""
    chance = np.random.default_rng(seed)
    parts = members(webwinnow.learn(pages(5), "a.example").to_bytes())
    name = sorted(parts)[int(chance.integers(len(parts)))]
    if name == HEADER or not len(array := np.load(io.BytesIO(parts[name]))):
        return
    changed = array.copy()
    largest = (np.finfo if array.dtype.kind == "f" else np.iinfo)(array.dtype).max
    changed[int(chance.integers(len(array)))] = np.array([0, 1, 7, largest], array.dtype)[chance.integers(4)]
    try:
        model = SiteModel.from_bytes(archive_of(parts | {name: column(changed, array.dtype)}))
    except ModelError:
        return
    for method in ("repeated", "sst", "combined", "template", "segments"):
        assert isinstance(model.clean(pages(1)[0], method).text, str)


def test_merged_sums_are_the_sums_of_all_pages_in_any_order():
    trees = [parse(page.body, url=page.url) for page in pages(7)]

    def sums(some: list[PageTree]) -> SiteSums:
        found = SiteSums("a.example")
        for tree in some:
            found.add(tree)
        return found

    whole = sums(trees).to_bytes()
    parts = [sums(trees[:2]), sums(trees[2:3]), sums(trees[3:])]
    assert SiteSums.merge(parts).to_bytes() == whole
    assert SiteSums.merge([SiteSums.from_bytes(part.to_bytes()) for part in parts[::-1]]).to_bytes() == whole
    assert SiteModel.of(SiteSums.merge(parts)).to_bytes() == SiteModel.learn(trees, "a.example").to_bytes()


def test_sums_that_share_a_page_are_not_merged():
    one = SiteSums("a.example")
    one.add(parse("<p>x"))
    with pytest.raises(ModelError, match="share pages"):
        SiteSums.merge([one, one])


def test_sums_of_two_sites_are_not_merged():
    with pytest.raises(ModelError, match="one site"):
        SiteSums.merge([SiteSums("a.example"), SiteSums("b.example")])


@pytest.mark.parametrize(
    "change",
    [
        {"sst_key.npy": column([5], np.uint64)},
        {"sst_m.npy": column([0], np.int64)},
        {"cst_df.npy": b"rubbish"},
        {"segments_page.npy": column([1, 0], np.int32)},
        {"segments_count.npy": column([0, 1], np.int32)},
        {"segments_tables.npy": column([-1, 0], np.int32)},
        {"segments_feature.npy": column([1], np.uint64)},
    ],
)
def test_damaged_sums_are_refused(change):
    sums = SiteSums("a.example")
    sums.add(parse("<p>x<p>y"))
    with pytest.raises(ModelError):
        SiteSums.from_bytes(archive_of(members(sums.to_bytes()) | change))
