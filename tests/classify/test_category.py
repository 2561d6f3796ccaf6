"""Content categories: what is learned, kept and refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from modelfiles import members, with_about, with_arrays

from webwinnow import CleaningSettings, ModelError, SettingsError, clean_page, parse
from webwinnow.classify.category import CategoryModel, CategorySettings
from webwinnow.methods.method_docview import FeatureVector
from webwinnow.record.view import features_of

GRAIN = "wheat rye barley oats harvest barn field".split()
SEA = "ship harbour sail anchor tide captain wave".split()


def features(words: list[str]) -> FeatureVector:
    clean = clean_page(parse(f"<body><p>{' '.join(words)}"), "none")
    return features_of(clean.tree, clean.verdict, "en")


def trained(**settings: int) -> CategoryModel:
    pages = [features([*topic[k:], "common", topic[0]]) for topic in (GRAIN, SEA) for k in range(4)]
    return CategoryModel.train(pages, ["farming"] * 4 + ["shipping"] * 4, CategorySettings(**settings))


def test_the_nearest_pages_name_the_category():
    model = trained(neighbours=3)
    assert model.category_of(features(["oats", "barn", "common"])) == "farming"
    assert model.category_of(features(["sail", "wave", "common"])) == "shipping"


def test_a_page_without_known_features_has_no_category():
    assert trained().category_of(features(["quantum"])) is None
    assert trained().category_of(features([])) is None


def test_chi_square_leaves_out_what_all_categories_share():
    model = trained(features=4)
    assert len(model.key) == 4
    common = features(["common"]).key[0]
    assert common not in model.key


def test_the_view_names_the_category():
    clean = clean_page(parse(f"<body><p>{' '.join(GRAIN)}."), "none")
    assert clean.view.category is None
    assert clean.docview(categories=trained()).category == "farming"


def test_a_page_is_classified_by_the_features_that_training_takes():
    class Seen(CategoryModel):
        def category_of(self, page: FeatureVector) -> str | None:
            seen.append(page)
            return None

    seen: list[FeatureVector] = []
    model = trained()
    spy = Seen(*(getattr(model, name) for name in model.__slots__))
    settings = CleaningSettings.from_pairs(["docview.force=b=7", "page.comments=true"])
    for method in ("combined", "page", "docview", "none"):
        page = parse(f"<body><h1>Barn</h1><p><b>{GRAIN[0]}</b> and the {' '.join(GRAIN)}.")
        clean = clean_page(page, method, settings=settings)
        clean.docview(categories=spy)
        assert seen[-1].key.tolist() == clean.features.key.tolist()
        assert seen[-1].weight.tolist() == clean.features.weight.tolist()


def test_a_page_cleaned_by_another_method_is_refused():
    model = replace(trained(), cleaning={"method": "docview"})
    page = parse(f"<body><p>{' '.join(GRAIN)}.")
    assert clean_page(page, "docview").docview(categories=model).category == "farming"
    with pytest.raises(SettingsError, match="cleaned by method docview, not none"):
        clean_page(page, "none").docview(categories=model)


def test_a_model_is_kept_as_arrays(tmp_path):
    path = tmp_path / "categories.npz"
    model = trained()
    model.save(path)
    again = CategoryModel.load(path)
    assert again.names == model.names
    assert again.cleaning == model.cleaning == {}
    page = features(["oats", "barn"])
    assert again.scores(page).tolist() == model.scores(page).tolist()
    model.save(tmp_path / "twice.npz")
    assert path.read_bytes() == (tmp_path / "twice.npz").read_bytes()
    assert all(name.endswith((".npy", ".json")) for name in members(path.read_bytes()))


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x03\x04"])
def test_a_file_that_is_no_model_is_refused(damage: bytes, tmp_path):
    path = tmp_path / "categories.npz"
    path.write_bytes(damage)
    with pytest.raises(ModelError, match="is not a webwinnow model of categories"):
        CategoryModel.load(path)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        CategoryModel.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("row", np.array([99], np.int32)),
        ("feature", np.array([-1], np.int32)),
        ("category", np.array([7] * 8, np.int32)),
        ("key", np.array([2, 1], np.uint64)),
        ("weight", np.array([np.nan], np.float32)),
        ("row", np.array([0.5])),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(column: str, value: np.ndarray, tmp_path):
    path = tmp_path / "categories.npz"
    trained().save(path)
    path.write_bytes(with_arrays(path.read_bytes(), **{column: value}))
    with pytest.raises(ModelError):
        CategoryModel.load(path)


@pytest.mark.parametrize(
    "about", [{"names": "farm"}, {"names": [1]}, {"neighbours": 0}, {"neighbours": "x"}, {"cleaning": 1}]
)
def test_metadata_of_a_model_is_validated(about: dict[str, object], tmp_path):
    path = tmp_path / "categories.npz"
    trained().save(path)
    path.write_bytes(with_about(path.read_bytes(), **about))
    with pytest.raises(ModelError):
        CategoryModel.load(path)


@pytest.mark.parametrize("settings", [{"features": 0}, {"neighbours": 0}])
def test_settings_without_meaning_are_refused(settings: dict[str, int]):
    with pytest.raises(SettingsError):
        CategorySettings(**settings)


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(SettingsError):
        CategoryModel.train([], [])
