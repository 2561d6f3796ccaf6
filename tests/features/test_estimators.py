"""The estimators follow the conventions of scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from webwinnow import PageRecord, SettingsError, parse

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed: webwinnow[mining]")

from scipy.sparse import csr_matrix  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

from webwinnow.cli.app import app  # noqa: E402
from webwinnow.features.estimators import SiteFeatureWeighter, SiteTextCleaner  # noqa: E402
from webwinnow.site.featureweights import CstWeightSettings  # noqa: E402

TOPICS = {"cats": "cat purrs whiskers kitten", "cars": "engine wheel gearbox motor"}


def page(site: str, number: int) -> PageRecord:
    topic = sorted(TOPICS)[number % 2]
    said = f"<div><h1>{topic} number{number}</h1><p>{TOPICS[topic]} story{number} plain</p></div>"
    menu = "<ul><li><a href=/>Home menu</a></li><li><a href=/b>Contact</a></li></ul>"
    return PageRecord(url=f"http://{site}/{number}", body=f"<body>{menu}{said}".encode(), ordinal=number)


PAGES = [page(site, number) for site in ("a.example", "b.example") for number in range(8)]
LABELS = [sorted(TOPICS)[number % 2] for _ in range(2) for number in range(8)]


ESTIMATORS = [SiteFeatureWeighter(), SiteTextCleaner()]
WITHOUT_ARRAYS = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
]
"""The checks that feed an estimator no arrays; scikit-learn runs only the first on estimators that take texts."""


@pytest.mark.filterwarnings("ignore:Can't test estimator")  # with arrays, which are not pages
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_what_scikit_learn_checks_passes(estimator):
    for checked, check in estimator_checks_generator(estimator):
        check(checked)


@pytest.mark.parametrize("check", WITHOUT_ARRAYS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_the_checks_that_need_no_arrays_pass(estimator, check):
    getattr(estimator_checks, check)(type(estimator).__name__, clone(estimator))


def test_rows_weigh_words_and_not_what_the_site_repeats():
    weighter = SiteFeatureWeighter()
    rows = weighter.fit_transform(PAGES)
    names = weighter.get_feature_names_out().tolist()
    assert rows.shape == (len(PAGES), len(names))
    assert "cat" in names
    assert "home" not in names
    assert "contact" not in names


def test_pages_that_were_not_learned_get_the_same_columns():
    weighter = SiteFeatureWeighter().fit(PAGES)
    rows = weighter.transform([page("a.example", 99), page("unknown.example", 1), b"<p>kitten"])
    assert rows.shape == (3, len(weighter.vocabulary_))
    kitten = weighter.get_feature_names_out().tolist().index("kitten")
    assert rows[2, kitten] == 1


def test_nothing_to_weigh_gives_no_columns():
    assert SiteFeatureWeighter().fit_transform([b""]).shape == (1, 0)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_no_pages_are_refused(estimator):
    with pytest.raises(SettingsError, match="no pages to learn from"):
        clone(estimator).fit([])


def written(tmp_path, pages, command, *options):
    """The output of a command over pages."""
    crawl, out = tmp_path / "crawl.jsonl", tmp_path / f"out.{'npz' if command == 'features' else 'jsonl'}"
    lines = [{"url": page.url, "page_id": page.url, "html": page.body.decode()} for page in pages]
    crawl.write_text("\n".join(json.dumps(line) for line in lines))
    done = CliRunner().invoke(app, [command, str(crawl), "-o", str(out), "--jobs", "1", "-q", *options])
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.parametrize("weighting", ["cst", "wplus", "tfidf"])
def test_the_weighter_has_the_numbers_of_the_command(tmp_path, weighting):
    pages = [*PAGES, page("alone.example", 5)]
    with np.load(written(tmp_path, pages, "features", "--weighting", weighting)) as file:
        expected = csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).toarray()
        ids, names = file["page_ids"].tolist(), file["vocabulary"].tolist()
    weighter = SiteFeatureWeighter(weighting=weighting)
    rows = weighter.fit_transform(pages).toarray()
    assert weighter.get_feature_names_out().tolist() == names
    order = [ids.index(page.url) for page in pages]
    assert np.array_equal(rows, expected[order])


def test_a_new_site_is_weighted_from_its_own_pages_as_by_the_command(tmp_path):
    new = [page("new.example", number) for number in range(6)]
    with np.load(written(tmp_path, new, "features")) as file:
        expected = csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).toarray()
        ids, names = file["page_ids"].tolist(), file["vocabulary"].tolist()
    weighter = SiteFeatureWeighter().fit([*PAGES, *new])
    fitted = weighter.get_feature_names_out().tolist()
    other = SiteFeatureWeighter().fit(PAGES)
    known = other.get_feature_names_out().tolist()
    rows = other.transform(new).toarray()
    assert "home" not in fitted
    for name in set(names) & set(known):
        column = [expected[ids.index(page.url), names.index(name)] for page in new]
        assert rows[:, known.index(name)].tolist() == column


def test_the_cleaner_has_the_texts_of_the_command(tmp_path):
    out = written(tmp_path, PAGES, "clean")
    texts = {line["url"]: line["text"] for line in map(json.loads, out.read_text().splitlines())}
    assert SiteTextCleaner().fit_transform(PAGES).tolist() == [texts[page.url] for page in PAGES]
    assert SiteTextCleaner().fit(PAGES[8:]).transform(PAGES[:8]).tolist() == [texts[page.url] for page in PAGES[:8]]


def test_weighter_in_a_pipeline_predicts_classes_of_another_site():
    pipeline = make_pipeline(SiteFeatureWeighter(), LinearSVC())
    pipeline.fit(PAGES[:8], LABELS[:8])
    assert pipeline.predict(PAGES[8:]).tolist() == LABELS[8:]


def test_cleaner_gives_the_text_without_what_the_site_repeats():
    texts = SiteTextCleaner(method="repeated").fit_transform(PAGES)
    assert texts[1] == "cats number1\n\ncat purrs whiskers kitten story1 plain\n"


def test_cleaner_stands_before_any_vectoriser():
    pipeline = make_pipeline(SiteTextCleaner(method="repeated"), TfidfVectorizer(), LinearSVC())
    pipeline.fit(PAGES[:8], LABELS[:8])
    assert pipeline.predict(PAGES[8:]).tolist() == LABELS[8:]


@pytest.mark.parametrize("estimator", [SiteFeatureWeighter(mapped=False), SiteTextCleaner(method="cst")])
def test_a_clone_has_the_settings_and_nothing_that_was_learned(estimator):
    again = clone(estimator.fit(PAGES))
    assert again.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        again.transform(PAGES)


def test_trees_and_markup_are_pages_too():
    trees = [parse(page.body, url=page.url) for page in PAGES]
    cleaner = SiteTextCleaner(method="repeated").fit(PAGES)
    assert np.array_equal(cleaner.transform(trees), cleaner.transform(PAGES))
    assert cleaner.transform(["<p>hello"]).tolist() == ["hello\n"]


def test_the_estimators_are_found_under_webwinnow():
    import webwinnow

    assert webwinnow.SiteTextCleaner is SiteTextCleaner
    assert webwinnow.SiteFeatureWeighter is SiteFeatureWeighter


def test_one_page_instead_of_a_list_is_refused():
    with pytest.raises(SettingsError, match="list of pages"):
        SiteTextCleaner().fit("<p>hello")


def test_an_estimator_that_may_learn_nothing_is_refused():
    with pytest.raises(SettingsError, match="learn_pages is 0"):
        SiteFeatureWeighter(learn_pages=0).fit(PAGES)


def bare(number: int) -> PageRecord:
    """A page whose sequence of children no other page has."""
    menu, story = (
        f"<div class={name}><p><b>{said}</b></p></div>"
        for name, said in (("menu", "menu contact"), ("story", f"tale cat{'abcdefgh'[number % 8]}"))
    )
    return PageRecord(url=f"http://a.example/{number}", body=f"<body>{menu}{'<hr>' * number}{story}".encode())


def test_transform_gives_unseen_pages_the_weights_of_learned_ones():
    pages = [bare(number) for number in range(6)]
    weighter = SiteFeatureWeighter(learn_pages=3)  # the other three are unseen, in `fit` too
    weighter.fit(pages)
    assert not {"menu", "contact"} & set(weighter.get_feature_names_out().tolist())
    all_learned = SiteFeatureWeighter().fit(pages)
    row = all_learned.transform([bare(9)]).toarray()[0]
    assert all_learned.get_feature_names_out()[row > 0].tolist() == ["catb", "tale"]


def test_settings_of_the_weights_can_be_given():
    pages = [bare(number) for number in range(6)]
    fitted = [
        SiteFeatureWeighter(**given).fit(pages)
        for given in (
            {"mapped": False},
            {"weights": CstWeightSettings()},
            {"weights": CstWeightSettings(mapped=True, informative=0.0, meaningless=0.0)},
        )
    ]
    names = [one.get_feature_names_out().tolist() for one in fitted]
    assert names[0] == names[1]
    assert set(names[2]) - set(names[0]) == {"menu", "contact"}  # with u = m = 0 every weight is 1
