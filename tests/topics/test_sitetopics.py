"""Topics of whole sites: distinctive words, trees of pages and blocks, the six methods, model files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from webwinnow import parse
from webwinnow.errors import InputError, ModelError, SettingsError
from webwinnow.site.hmt.treemodel import TreeParameters
from webwinnow.storage.modelfile import ModelFormat, pack_arrays
from webwinnow.topics.fusion import Neighbours
from webwinnow.topics.methods import HmtMethod
from webwinnow.topics.pages import PageWords, SitePages
from webwinnow.topics.pruning import Everything, GrowingTree
from webwinnow.topics.sitetopics import METHODS, SiteTopics
from webwinnow.topics.topicwords import known_odds, lead, leads_of, learn_words, probabilities, slope_of
from webwinnow.topics.training import TopicSettings, Training
from webwinnow.topics.treescale import Observed, TreeScale, shown_symbols

FORMAT = SiteTopics.file_format
TEXTS = {
    "farming": [
        "wheat harvest field barley",
        "tractor plough field soil",
        "cattle barn milk harvest",
        "soil seed wheat",
    ],
    "shipping": [
        "harbour vessel cargo crew",
        "anchor vessel sail tide",
        "captain crew harbour",
        "cargo tide port vessel",
    ],
    "music": ["violin concert orchestra", "piano sonata concert", "orchestra conductor violin", "opera singer sonata"],
}
MENU = "<nav><a href='/'>Home</a> <a href='/about'>About this site and its cookies</a></nav>"


def page(url: str, text: str, links: str = "") -> str:
    return f"<html lang=en><title>{url}</title><body>{MENU}<div><p>{text}</p>{links}</div></body></html>"


def site(name: str, topic: str, *, flavour: str = "", pages: int = 6, extra: str = "") -> SitePages:
    host = f"http://{name}.test"
    texts = TEXTS[topic]
    trees = [
        parse(
            page(
                f"{host}/{k}", f"{texts[k % len(texts)]} {flavour} page", f"<p><a href='/{k + 1}'>next</a></p>{extra}"
            ),
            url=f"{host}/{k}" if k else f"{host}/",
        )
        for k in range(pages)
    ]
    return SitePages.of(trees, name)


def training(per_topic: int = 3) -> Training:
    sites, labels = [], []
    for topic in TEXTS:
        for k in range(per_topic):
            sites.append(site(f"{topic}{k}", topic, flavour=f"brand{k} {topic}{k}club"))
            labels.append(topic)
    return Training(sites, labels)


@pytest.fixture(scope="module")
def learned() -> Training:
    return training()


# Sites as classifiers see them


def test_words_of_a_page_stand_at_its_blocks_and_its_title():
    words = PageWords.of(parse("<title>Wheat</title><p>The harvest of 1999</p><p>A barn</p>", url="http://a.test/"))
    assert words.parent.tolist() == [-1, 0, 0, 0]
    assert words.element[-1] == -1  # the title
    assert np.bincount(words.words.row, minlength=4).tolist() == [0, 1, 1, 1]  # no stop words, no numbers


def test_what_a_site_repeats_on_half_its_pages_does_not_count():
    found = site("a", "farming")
    menu = parse(MENU)
    key = PageWords.of(menu).words.key
    assert len(key)
    assert not np.isin(key, found.page_words.key).any()
    assert np.isin(key, found.all_words.key).all()  # but in the superpage it does


def test_a_mask_leaves_the_trees_and_takes_the_words():
    found = site("a", "farming")
    none = found.keeping(np.zeros(len(found.parent), np.bool_))
    assert len(none.page_words.key) == 0
    assert none.parent is found.parent


def test_a_site_knows_its_hosts_and_those_it_links_to():
    found = site("a", "farming", extra="<a href='http://b.test/x'>b</a>")
    assert (found.hosts, found.linked) == ({"a.test"}, {"b.test"})


def test_an_unknown_start_page_is_refused():
    with pytest.raises(InputError, match="start page"):
        SitePages.of([parse("<p>wheat", url="http://a.test/")], "a", start="http://a.test/elsewhere")


# Words


def test_a_large_site_counts_as_much_as_a_small_one():
    few = [site("a", "farming", pages=4), site("b", "shipping", pages=4), site("c", "farming", pages=4)]
    many = [*few[:2], site("c", "farming", pages=16)]
    small, large = (learn_words(sites, np.array([0, 1, 0]), 2).words for sites in (few, many))
    np.testing.assert_allclose(small.direction, large.direction, atol=0.05)


def test_a_held_out_site_is_not_classified_by_its_own_words(learned: Training):
    alone = learned.held_out[0]
    assert alone is not None
    assert (alone.pages.argmax(axis=1) == learned.topic[0]).mean() > 0.5
    without = learn_words(learned.sites[1:], learned.topic[1:], 3).words
    predicted = without.of_pages(learned.sites[0].page_words)
    assert (predicted.argmax(axis=1) == alone.pages.argmax(axis=1)).mean() > 0.8


def test_a_site_alone_with_its_topic_is_not_held_out():
    sites = [site("a", "farming"), site("b", "shipping"), site("c", "shipping")]
    held = learn_words(sites, np.array([0, 1, 1]), 2).held_out
    assert [one is None for one in held] == [True, False, False]


def test_the_slope_is_where_the_expected_score_is_the_true_one():
    # scores 1 and 0; the true class has 1 in three rows of four. One site: it counts as true with 2/3 (Platt), so that
    # P = 3/4 * 2/3 + 1/4 * 1/3 = 7/12 and exp(slope) = 7/5
    scores = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])
    assert slope_of([(scores, None, 0)]) == pytest.approx(np.log(7 / 5), abs=1e-3)
    assert slope_of([(scores, None, 0)] * 98) == pytest.approx(np.log(0.745 / 0.255), abs=1e-3)
    assert slope_of([]) is None
    assert slope_of([(scores, None, 1)]) == pytest.approx(0.0, abs=1e-3)
    np.testing.assert_allclose(probabilities(np.array([[np.log(3), 0.0]])), [[0.75, 0.25]])


def test_no_row_of_a_site_counts_more_for_being_many():
    scores = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])
    both = slope_of([(scores, None, 0)] * 2)
    assert slope_of([(np.repeat(scores, 5, axis=0), None, 0), (scores, None, 0)]) == pytest.approx(both, abs=1e-3)


def test_the_odds_of_a_known_topic_separate_sites_with_their_topic_from_those_without():
    slope, intercept = known_odds([(0.5, 0.0), (0.4, 0.1), (0.6, 0.1)])
    assert slope * 0.5 + intercept > 0 > slope * 0.05 + intercept
    share = 1 / (1 + np.exp(-(slope * np.array([0.5, 0.0, 0.4, 0.1, 0.6, 0.1]) + intercept)))
    assert share.sum() == pytest.approx(3, abs=0.01)  # an intercept makes the expected number the true one


def test_the_lead_of_the_nearest_topic_by_hand():
    near, offset = np.array([0.3, 0.1, 0.05]), np.array([0.2, 0.3, 0.25])
    # cosines 0.5, 0.4, 0.3, their mean 0.4; nearness 0.3 and on average 0.15; without topic 0: 0.1, 0.075, mean 0.35
    assert lead(near, offset) == pytest.approx(0.15 / 0.4)
    with_topic, without = leads_of(near, offset, 0)
    assert (with_topic, without) == (pytest.approx(0.375), pytest.approx(0.025 / 0.35))
    # the only site of its topic: twice as much with it; of two topics: (5 c - 4 c) / 4 c without
    assert leads_of(near, offset, 0, is_alone=True) == (2 * without, without)
    assert leads_of(near[:2], offset[:2], 0, is_alone=True) == (0.5, 0.25)


def test_one_site_per_topic_predicts_that_a_site_between_topics_has_none_of_them():
    model = SiteTopics("hmt").fit([site(topic, topic) for topic in TEXTS], list(TEXTS))
    between = texts_site("between", *(texts[k] for k in range(4) for texts in TEXTS.values()))
    assert model.classify(between).why_none() is not None
    for topic in TEXTS:
        assert model.classify(site("new", topic)).why_none() is None


# Trees


def test_staying_is_learned_from_trees_that_stay():
    parent = np.array([-1, 0, 0, 0], np.int32)
    sure, other = [0.99, 0.01], [0.01, 0.99]
    stays = [
        Observed(parent, np.array([[np.nan] * 2, sure, sure, sure])),
        Observed(parent, np.array([[np.nan] * 2, other, other, other])),
    ]
    leaves = [
        Observed(parent, np.array([[np.nan] * 2, sure, other, sure])),
        Observed(parent, np.array([[np.nan] * 2, other, sure, other])),
    ]
    staying, leaving = (TreeScale.usual(2).grown(trees, [0, 1]).parameters for trees in (stays, leaves))
    assert staying.transition[0, 0] > leaving.transition[0, 0]
    assert staying.emission[0, 2] > leaving.emission[0, 2]  # topic 0, with a probability above 0.8
    np.testing.assert_allclose(TreeScale.usual(2).parameters.transition, [[0.75, 0.25], [0.25, 0.75]])


def test_a_text_shows_its_topic_and_how_certain_it_is():
    shown = shown_symbols(np.array([[0.4, 0.6], [0.9, 0.1], [np.nan, np.nan], [0.49, 0.51]]))
    assert shown.tolist() == [4, 2, -1, 4]  # three levels each: topic 1 between 0.5 and 0.8, topic 0 above, nothing


def test_what_a_root_shows_by_itself_counts_in_full_and_the_tree_by_its_slope():
    parent, evidence = np.array([-1, 0], np.int32), np.log(np.array([[1.0, 1.0], [0.9, 0.1]]))
    stay = replace(TreeScale.usual(2), parameters=TreeParameters(root=[0.5, 0.5], transition=np.eye(2)))
    own = np.array([[0.2, 0.8]])
    np.testing.assert_allclose(replace(stay, slope=0.0).roots(parent, evidence, own), own)
    np.testing.assert_allclose(stay.roots(parent, evidence), [[0.9, 0.1]])
    np.testing.assert_allclose(replace(stay, slope=0.5).roots(parent, evidence), [[0.75, 0.25]])


def texts_site(name: str, *texts: str) -> SitePages:
    return SitePages.of([parse(f"<p>{text}", url=f"http://{name}.test/{k}") for k, text in enumerate(texts)], name)


def test_a_topic_that_is_near_to_every_site_gets_no_more_sites_for_it():
    """All sites use the words of topic 0 on most pages: a site must be nearer to it than the sites of topic 1 are."""
    everyday = ["alpha beta", "beta gamma", "gamma delta", "delta alpha"]
    hubs = [texts_site(f"hub{k}", *everyday, "epsilon") for k in range(2)]
    others = [texts_site(f"other{k}", *everyday[k : k + 3], "violin") for k in range(2)]
    words = learn_words([*hubs, *others], np.array([0, 0, 1, 1]), 2).words
    means = np.stack([words.rows(one.page_words).mean(len(words.key)) for one in (*hubs, *others)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    near = means @ words.direction
    np.testing.assert_allclose(words.offset, [near[2:, 0].mean(), near[:2, 1].mean()])
    assert (words.offset > 0.5).all()
    mean = words.rows(others[0].page_words).mean(len(words.key))
    nearer = mean @ words.direction / np.linalg.norm(mean) - words.offset
    np.testing.assert_allclose(
        words.of_site(others[0].page_words)[0], probabilities(words.site_slope * nearer[None])[0]
    )


# Sites that are added


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_grew_gives_the_same_answers_as_one_trained_again(method: str):
    whole = training(4)
    chosen = [s for s in range(len(whole.sites)) if s % 4 < 2]
    grown = Training([whole.sites[s] for s in chosen], [whole.names[whole.topic[s]] for s in chosen])
    SiteTopics(method).learn(grown)
    for k in (2, 3):  # two rounds of a site per topic
        added = [s for s in range(len(whole.sites)) if s % 4 == k]
        grown = grown.grown([whole.sites[s] for s in added], [whole.names[whole.topic[s]] for s in added])
    by_growth, by_training = SiteTopics(method).learn(grown), SiteTopics(method).learn(whole)
    assert set(by_growth.hosts_) == set(by_training.hosts_)
    mixed = texts_site("mixed", *TEXTS["farming"], *TEXTS["music"][:3])
    for new in (*(site(f"new-{topic}", topic, flavour="unseen") for topic in TEXTS), mixed):
        found, expected = by_growth.classify(new), by_training.classify(new)
        assert found.topic == expected.topic
        assert found.probability == pytest.approx(expected.probability, abs=0.1)
        assert (found.why_none() is None) == (expected.why_none() is None)


def test_weights_of_words_are_those_of_training_again_and_directions_nearly():
    whole = training(3)
    first = [s for s in range(9) if s % 3]
    added = [s for s in range(9) if not s % 3]
    grown = learn_words([whole.sites[s] for s in first], whole.topic[first], 3)
    grown = grown.grown([whole.sites[s] for s in added], whole.topic[added])
    again = learn_words([whole.sites[s] for s in (*first, *added)], whole.topic[[*first, *added]], 3)
    np.testing.assert_array_equal(grown.words.key, again.words.key)
    np.testing.assert_allclose(grown.words.weight, again.words.weight, rtol=1e-12)
    assert ((grown.words.direction * again.words.direction).sum(axis=0) > 0.99).all()
    np.testing.assert_allclose(grown.words.offset, again.words.offset, atol=0.01)
    assert grown.sums.sites.tolist() == [3, 3, 3]


def test_a_new_site_is_predicted_by_words_that_were_not_learned_from_it():
    before = training(2)
    new = site("new", "music", flavour="unseen")
    held = before.grown([new], ["music"]).held_out[-1]
    assert held is not None
    predicted = before.words.of_pages(new.page_words)
    np.testing.assert_array_equal(held.pages.argmax(axis=1), predicted.argmax(axis=1))
    with pytest.raises(InputError, match="no site has the topic maps so far"):
        before.grown([new], ["maps"])


def test_the_only_site_of_a_topic_is_held_out_and_counted_as_soon_as_the_topic_grows():
    whole = training(2)
    names = [whole.names[k] for k in whole.topic]
    first = [s for s in range(len(names)) if names[s] != "music" or s == names.index("music")]
    (added,) = set(range(len(names))) - set(first)
    before = Training([whole.sites[s] for s in first], [names[s] for s in first])
    SiteTopics("hmt").learn(before)
    assert [held is None for held in before.held_out] == [names[s] == "music" for s in first]
    grown = before.grown([whole.sites[added]], ["music"])
    again = Training([*before.sites, whole.sites[added]], [*(names[s] for s in first), "music"])
    assert None not in grown.held_out
    for found, expected in zip(grown.held_out, again.held_out, strict=True):
        assert found is not None
        assert expected is not None
        np.testing.assert_array_equal(found.pages.argmax(axis=1), expected.pages.argmax(axis=1))
    counts = [one.learned(HmtMethod).pages.counts for one in (grown, again)]
    np.testing.assert_array_equal(counts[0].root, counts[1].root)
    np.testing.assert_allclose(counts[0].emission.sum(axis=1), counts[1].emission.sum(axis=1), atol=0.2)
    lead = {one: one._words.sums.leads[first.index(names.index("music"))] for one in (grown, again)}
    np.testing.assert_allclose(lead[grown], lead[again], rtol=0.1, atol=0.01)


def test_the_words_of_a_topic_that_are_its_own_come_first():
    spelled: dict[int, str] = {}
    for topic, texts in TEXTS.items():
        for text in texts:
            PageWords.of(parse(f"<p>{text}", url=f"http://{topic}.test/"), spelled=spelled)
    words = training(3).words
    for number, keys in enumerate(words.distinctive(5)):
        own = " ".join(TEXTS[sorted(TEXTS)[number]])
        assert sum(spelled.get(key, "?") in own for key in keys) >= 4


# The six methods


@pytest.mark.parametrize("method", METHODS)
def test_a_method_predicts_the_topic_of_an_unseen_site(learned: Training, method: str):
    model = SiteTopics(method).learn(learned)
    for topic in TEXTS:
        found = model.classify(site("new", topic, flavour="nobody knows this"))
        assert found.topic == topic
        assert sum(found.posterior.values()) == pytest.approx(1.0)
        assert found.probability == max(found.posterior.values())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "bodies", [[], [""], ["<p>zzz qqq"], ["", "", ""], ["<frameset><frame src=a></frameset>"], ["<p>wheat"]]
)
def test_a_site_of_little_or_nothing_gets_probabilities(learned: Training, method: str, bodies: list[str]):
    trees = [parse(body, url=f"http://new.test/{k}") for k, body in enumerate(bodies)]
    found = SiteTopics(method).learn(learned).classify(SitePages.of(trees, "new"))
    assert sum(found.posterior.values()) == pytest.approx(1.0)
    assert all(np.isfinite(list(found.posterior.values())))


@pytest.mark.parametrize("method", METHODS)
def test_one_site_a_topic_is_enough_to_learn(method: str):
    model = SiteTopics(method).fit([site("a", "farming"), site("b", "shipping")], ["farming", "shipping"])
    assert model.classify(site("c", "farming")).topic == "farming"


def test_sites_without_links_hang_from_a_virtual_root(learned: Training):
    trees = [parse(page("x", text), url=f"http://new.test/{k}") for k, text in enumerate(TEXTS["music"])]
    assert SiteTopics("hmt").learn(learned).classify(SitePages.of(trees, "new")).topic == "music"


def test_a_linked_site_whose_topic_is_known_moves_the_belief():
    linked = [
        site(f"{topic}{k}", topic, extra=f"<a href='http://{topic}{1 - k}.test/'>friend</a>")
        for topic in TEXTS
        for k in (0, 1)
    ]
    model = SiteTopics("multiscale").fit(linked, [topic for topic in TEXTS for _ in (0, 1)])
    unclear = SitePages.of([parse("<p>nothing known", url="http://new.test/")], "new")
    apart = model.classify(unclear, Neighbours()).posterior
    beside = model.classify(unclear, Neighbours(linked=(model.names_.index("music"),) * 3, count=3)).posterior
    assert beside["music"] > apart["music"]


def test_neighbours_are_the_training_sites_that_are_linked():
    sites = [site("a", "farming", extra="<a href='http://new.test/'>n</a>"), site("b", "shipping"), site("c", "music")]
    model = SiteTopics("multiscale").fit(sites, ["farming", "shipping", "music"])
    new = site("new", "farming", extra="<a href='http://b.test/'>b</a><a href='http://elsewhere.test/'>e</a>")
    around = model.neighbours(new)
    assert [model.names_[k] for k in (*around.linking, *around.linked)] == ["farming", "shipping"]
    assert around.count == 3


def test_the_deciding_pages_are_those_that_speak_for_the_topic(learned: Training):
    trees = [
        parse(page("x", text), url=f"http://new.test/{k}")
        for k, text in enumerate(["violin concert orchestra opera", "vessel", "violin sonata concert"])
    ]
    found = SiteTopics("multiscale").learn(learned).classify(SitePages.of(trees, "new"))
    assert found.topic == "music"
    assert set(found.deciding_pages(2)) <= {0, 2}
    assert len(found.deciding_blocks(2)) == 2


def test_topics_and_sites_must_fit():
    with pytest.raises(InputError, match="two or more"):
        Training([site("a", "farming")], ["farming"])
    with pytest.raises(InputError, match="one for each"):
        Training([site("a", "farming")], [])
    with pytest.raises(InputError, match="fit"):
        SiteTopics().classify(site("a", "farming"))
    with pytest.raises(SettingsError, match="multiscale"):
        SiteTopics("unheard")


def test_a_growing_page_tree_ends_where_the_whole_one_does(learned: Training):
    model = SiteTopics("hmt").learn(learned).method_
    new = site("new", "music")
    growing = GrowingTree(model.pages.parameters)
    shown = model.pages.evidence(model.words.of_pages(new.page_words))
    place = {-1: -1}
    for node, (number, above) in enumerate(zip(new.page_tree.page, new.page_tree.parent, strict=True)):
        place[node] = growing.offer(place[int(above)], shown[number], Everything())
    whole = model.pages.nodes(new.page_tree.parent, shown[new.page_tree.page])[0]
    np.testing.assert_allclose(growing.posterior, whole, atol=1e-9)


# Files


@pytest.mark.parametrize("method", METHODS)
def test_a_model_comes_back_from_its_file(learned: Training, method: str, tmp_path: Path):
    model = SiteTopics(method, site_by="column").learn(learned)
    model.save(tmp_path / "m.npz")
    back = SiteTopics.load(tmp_path / "m.npz")
    new = site("new", "shipping", extra="<a href='http://farming0.test/'>f</a>")
    assert back.classify(new).posterior == model.classify(new).posterior
    assert (back.site_by, back.to_bytes()) == ("column", model.to_bytes())


def contents(data: bytes) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    with FORMAT.reading(data, "m") as file:
        return file.about, file.arrays


@pytest.mark.parametrize("method", METHODS)
def test_a_model_file_that_was_tampered_with_is_refused(learned: Training, method: str):
    about, arrays = contents(SiteTopics(method).learn(learned).to_bytes())
    for name, column in arrays.items():
        for wrong in (column[:-1], column.astype(np.float32), np.array(["x"]), np.full_like(column, 7)[:0]):
            with pytest.raises(ModelError):
                SiteTopics.from_bytes(FORMAT.pack(about, arrays | {name: wrong}))
        with pytest.raises(ModelError):
            SiteTopics.from_bytes(FORMAT.pack(about, {n: c for n, c in arrays.items() if n != name}))


@pytest.mark.parametrize(
    "change",
    [
        {"method": "unheard"},
        {"method": 3},
        {"site_by": "moon"},
        {"names": ["a"]},
        {"names": ["a", "a", "b"]},
        {"names": "abc"},
        {"hosts": {"a": 9}},
        {"hosts": [1]},
        {"linking": {"a": [True]}},
        {"linking": {"a": 1}},
    ],
)
def test_what_a_model_file_says_of_itself_is_checked(learned: Training, change: dict[str, object]):
    about, arrays = contents(SiteTopics("multiscale").learn(learned).to_bytes())
    with pytest.raises(ModelError):
        SiteTopics.from_bytes(FORMAT.pack(about | change, arrays))


@pytest.mark.parametrize("other", [ModelFormat("something else", 2, ""), ModelFormat(FORMAT.kind, 99, "")])
def test_a_file_of_another_kind_or_version_is_refused(learned: Training, other: ModelFormat):
    with pytest.raises(ModelError):
        SiteTopics.from_bytes(other.pack(*contents(SiteTopics("multiscale").learn(learned).to_bytes())))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x80\x04K\x01.", pack_arrays({"about": np.zeros(3)})])
def test_what_is_no_model_file_is_refused(data: bytes):
    with pytest.raises(ModelError, match="train it again"):
        SiteTopics.from_bytes(data)


def test_the_example_of_the_docs_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]):
    text = (Path(__file__).parents[2] / "docs" / "sites.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(block, {})
        said = re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == said


@pytest.mark.parametrize("method", list(METHODS))
def test_one_site_of_each_of_two_topics_is_enough_to_classify(method):
    topics = ("farming", "music")
    lone = Training([site(topic, topic) for topic in topics], topics)
    model = SiteTopics(method).learn(lone)
    for topic in topics:
        found = model.classify(site(f"other-{topic}", topic, flavour="new"))
        assert found.topic == topic, (method, found)


def test_a_site_without_pages_teaches_nothing():
    with pytest.raises(InputError, match="no pages"):
        Training([site("a", "farming"), SitePages.of([], "empty")], ("farming", "music"))


def test_each_setting_of_learning_changes_what_is_learned():
    """`link_smoothing` the links between topics, `passes` and `tolerance` the trees, `nearest` the votes."""
    linked = [
        site(f"{topic}{k}", topic, extra=f"<a href='http://{topic}{1 - k}.test/'>friend</a>")
        for topic in TEXTS
        for k in (0, 1)
    ]
    labels = [topic for topic in TEXTS for _ in (0, 1)]

    def learned(method: str, **settings: float) -> Mapping[str, np.ndarray]:
        return SiteTopics(method, settings=TopicSettings(**settings)).fit(linked, labels).method_.to_arrays()

    # two links from topic to topic: (2 + s) / (2 + 3 s)
    for smoothing in (1.0, 0.5):
        found = learned("multiscale", link_smoothing=smoothing)["linked"]
        assert found[0, 0] == pytest.approx((2 + smoothing) / (2 + 3 * smoothing))
    for method, name in (("hmt", "page"), ("twophase", "block")):
        once, usual, rough = (learned(method, **settings) for settings in ({"passes": 1}, {}, {"tolerance": 1}))
        for row in (f"{name}_transition", f"{name}_emission"):
            assert not np.allclose(once[row], usual[row], atol=1e-3)
            assert not np.allclose(rough[row], usual[row], atol=1e-3)  # EM ends when it has a gain to compare
    assert "nearest" not in learned("superpage")
    assert learned("superpage", nearest=5)["nearest"].tolist() == [5]
