"""Sites, section 2 and Algorithm 1: what a context is (equations 2 to 4), and steps 3.5, 4.1 and 4.2 of the product."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from enumerated_trees import enumerate_states

from webwinnow import parse
from webwinnow.site.hmt.em import expectation
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.treemodel import Forest, TreeParameters
from webwinnow.topics.fusion import Neighbours, fuse, fuse_scales, site_context
from webwinnow.topics.methods import HmtMethod, Multiscale, TwoPhase
from webwinnow.topics.pages import SitePages
from webwinnow.topics.sitetopics import SiteTopics
from webwinnow.topics.training import TopicSettings, Training
from webwinnow.topics.treescale import Observed, TreeScale, _part, _tied, page_observations, shown_symbols

# A node (1) with a parent (0), two children (2, 3), a sibling (4) and a grandchild (5).
PARENT = [-1, 0, 1, 1, 0, 2]
NODE, PARENT_AND_CHILDREN, OTHERS = 1, (0, 2, 3), (4, 5)


def posterior(known: dict[int, int], evidence: np.ndarray) -> np.ndarray:
    """P(C_1 | known states, observations) of the node."""
    model = TreeParameters(root=[0.6, 0.4], transition=[[0.8, 0.2], [0.3, 0.7]])
    states = [known.get(u, -1) for u in range(len(PARENT))]
    return HiddenMarkovTree.of(model).predict_proba(Forest(PARENT, evidence=np.log(evidence)), states)[NODE]


@pytest.mark.parametrize("states", [(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1)])
def test_equations_2_3_and_6_parent_and_children_are_the_whole_context(states):
    """Given the states of parent and children, no other node says anything about a node, whatever it shows."""
    context = dict(zip(PARENT_AND_CHILDREN, states, strict=True))
    silent = np.ones((len(PARENT), 2))
    silent[NODE] = [0.9, 0.5]
    loud = silent.copy()
    loud[list(OTHERS)] = [0.01, 0.99]
    transition = np.array([[0.8, 0.2], [0.3, 0.7]])
    above, *below = states
    by_hand = transition[above] * np.prod([transition[:, child] for child in below], axis=0) * silent[NODE]
    np.testing.assert_allclose(posterior(context, silent), by_hand / by_hand.sum(), rtol=1e-12)
    np.testing.assert_allclose(posterior(context, loud), posterior(context, silent), rtol=1e-12)


@pytest.mark.parametrize("open_", PARENT_AND_CHILDREN[:2])
def test_a_context_with_a_gap_lets_other_nodes_through(open_):
    """The sibling speaks through the parent, the grandchild through the child."""
    context = {u: 0 for u in PARENT_AND_CHILDREN if u != open_}
    silent = np.ones((len(PARENT), 2))
    loud = silent.copy()
    loud[list(OTHERS)] = [0.01, 0.99]
    assert abs(posterior(context, loud)[0] - posterior(context, silent)[0]) > 0.01


def test_equation_4_the_context_of_a_block_is_its_own_page():
    """Another page of the site, or another block, changes nothing in the fused result of a block."""
    even = [0.5, 0.5]
    of_page = np.array([0, 0, 1])
    site, pages, blocks = [0.6, 0.4], [[0.4, 0.6], [0.5, 0.5]], [[0.3, 0.7], [0.5, 0.5], [0.1, 0.9]]
    fused = fuse_scales(site, pages, blocks, of_page, even, [even] * 3).blocks
    other = fuse_scales(site, [pages[0], [0.99, 0.01]], [blocks[0], [0.9, 0.1], blocks[2]], of_page, even, [even] * 3)
    own = fuse_scales(site, [[0.9, 0.1], pages[1]], blocks, of_page, even, [even] * 3)
    np.testing.assert_allclose(other.blocks[0], fused[0])
    assert other.blocks[2][0] > fused[2][0]
    assert own.blocks[0][0] > fused[0][0]


# The product: a small training set of two topics

TEXTS = {
    "farming": ["wheat harvest field vessel", "tractor plough field crew", "cattle harvest wheat harbour"],
    "shipping": ["harbour vessel crew wheat", "anchor vessel tide field", "captain crew harbour harvest"],
}


def site(name: str, texts: list[str]) -> SitePages:
    """A start page that links to the others, each with two blocks."""
    links = "".join(f"<a href='/{k}'>{name}{k}</a> " for k in range(1, len(texts)))
    trees = [
        parse(f"<body><div><p>{text}</p></div><div><p>{text.split()[0]} page</p>{links if k == 0 else ''}</div>",
              url=f"http://{name}.test/{k or ''}")
        for k, text in enumerate(texts)
    ]  # fmt: skip
    return SitePages.of(trees, name)


@pytest.fixture(scope="module")
def training() -> Training:
    named = [(f"{topic}{k}", topic) for topic, count in (("farming", 4), ("shipping", 3)) for k in range(count)]
    return Training(
        [site(name, [f"{text} {name}club" for text in TEXTS[topic]]) for name, topic in named],
        [topic for _, topic in named],
    )


MIXED = ["wheat harvest vessel crew field", "harbour field", "wheat vessel", "nobody knows"]


def plain(scale: TreeScale) -> TreeScale:
    """The scale with equation 8 as it is: slope and damping of 1."""
    return replace(scale, slope=1.0, damping=1.0)


def enumerated(scale: TreeScale, parent: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """P(topic | W) of every node by enumeration; `evidence` is log P(W_u | C_u)."""
    model = scale.parameters
    likelihood = np.exp(evidence).tolist()
    found = enumerate_states(parent.tolist(), likelihood, model.root.tolist(), model.transition.tolist())
    return np.array(found.posterior)


def with_text(found: np.ndarray, text: np.ndarray) -> np.ndarray:
    """Bayes' rule with P(topic | text) of the node itself, under equal priors, where it has text."""
    both = found * np.where(np.isnan(text), 1.0, text)
    return both / both.sum(axis=1, keepdims=True)


def test_what_a_text_shows_is_evidence_by_the_learned_emissions(training):
    scale = training.learned(HmtMethod).pages
    shown = np.array([[0.9, 0.1], [0.3, 0.7], [np.nan, np.nan]])
    expected = [np.log(scale.parameters.emission[:, 2]), np.log(scale.parameters.emission[:, 4]), np.zeros(2)]
    np.testing.assert_allclose(scale.evidence(shown), expected)
    assert scale.parameters.emission[0, :3].sum() > scale.parameters.emission[0, 3:].sum()


def test_steps_3_5_1_to_3_5_3_are_inference_in_the_trees(training):
    """Blocks by words, a page from its block tree, the site from its page tree: (8), with slope and damping of 1."""
    learned = training.learned(TwoPhase)
    blocks_scale, pages_scale = plain(learned.blocks), plain(learned.pages)
    method = TwoPhase(learned.words, blocks_scale, pages_scale)
    given = site("new", MIXED)
    text, pages, blocks = method.preclassified(given)
    np.testing.assert_array_equal(blocks, learned.words.of_blocks(given.node_words))
    found = method.predict(given)
    roots = np.flatnonzero(given.parent < 0)
    from_blocks = enumerated(blocks_scale, given.parent, blocks_scale.evidence(blocks))[roots]
    np.testing.assert_allclose(found.pages, with_text(from_blocks, pages), rtol=1e-9)
    parent, observed = page_observations(given.page_tree, found.pages)
    of_site = enumerated(pages_scale, parent, pages_scale.evidence(observed))[:1]
    np.testing.assert_allclose(found.site, with_text(of_site, text)[0], rtol=1e-9)


def test_method_hmt_is_inference_in_the_page_tree(training):
    """Figure 2b: words of pages, then (8) at every page; the site's topic is the state of the root."""
    learned = training.learned(HmtMethod)
    method = HmtMethod(learned.words, plain(learned.pages))
    given = site("new", MIXED)
    parent, observed = page_observations(given.page_tree, learned.words.of_pages(given.page_words))
    expected = enumerated(method.pages, parent, method.pages.evidence(observed))
    found = method.predict(given)
    np.testing.assert_allclose(found.pages[given.page_tree.page], expected, rtol=1e-9)
    np.testing.assert_allclose(found.site, expected[0], rtol=1e-9)


def test_step_1_learns_by_em_what_enumeration_finds(training):
    """One more pass of EM, its expected counts by enumeration of all states, does not move the parameters."""
    scale = training.learned(HmtMethod).pages
    held = training.held_out_sites()
    transition, emission = np.zeros((2, 2)), np.zeros((2, 6))
    for given, found, topic in held:
        parent, observed = page_observations(given.page_tree, found.pages)
        model, shown = scale.parameters, shown_symbols(observed)
        likelihood = np.exp(scale.evidence(observed))
        root = np.eye(2)[topic].tolist()  # the topic of the site is known
        states = enumerate_states(parent.tolist(), likelihood.tolist(), root, model.transition.tolist())
        np.add.at(emission.T, shown, np.array(states.posterior) / len(parent))
        transition += np.array(states.pairs) / len(parent)
    np.testing.assert_allclose(scale.counts.transition, transition, atol=1e-3)
    np.testing.assert_allclose(scale.counts.emission, emission, atol=1e-3)
    assert scale.counts.root.tolist() == [4.0, 3.0]
    np.testing.assert_allclose(scale.parameters.root, [14 / 27, 13 / 27])  # with the prior of ten sites each


def test_steps_4_1_and_4_2_fuse_coarse_to_fine_and_classify_again(training):
    """Figure 7: the raw result of each scale is fused with the one above, and pages and site are inferred again."""
    learned = training.learned(Multiscale)
    scales = [plain(scale) for scale in (learned.raw.blocks, learned.raw.pages, learned.final)]
    raw = TwoPhase(learned.raw.words, scales[0], scales[1])
    method = Multiscale(raw, scales[2], learned.links)
    given = site("new", MIXED)
    of_sites, of_pages, of_blocks = scales[1].parameters.root, scales[1].prior, scales[0].prior  # P(C)
    beside = Neighbours(linked=(0,), count=1)
    first = raw.predict(given)
    context = site_context(beside, learned.links, of_sites)
    fused_site = fuse(first.site, context, of_sites)  # 4.1, l = 1
    fused_pages = fuse(first.pages, fused_site, of_pages)  # l = 2
    said = np.exp(scales[0].evidence(first.blocks)) * of_blocks  # P(C | W) of a block, by Bayes' rule
    fused_blocks = fuse(said / said.sum(axis=1, keepdims=True), fused_pages[given.page_of_node], of_blocks)  # l = 3
    seen = np.where(np.isnan(first.blocks), 0.0, np.log(fused_blocks / of_blocks))
    from_blocks = enumerated(scales[0], given.parent, seen)[given.parent < 0]
    again = with_text(from_blocks, fuse(first.texts, fused_site, of_pages))  # 4.2.1
    found = method.predict(given, beside)
    np.testing.assert_allclose(found.pages, again, rtol=1e-9)
    parent, observed = page_observations(given.page_tree, again)
    text = fuse(raw.words.of_site(given.page_words), context, of_sites)
    expected = with_text(enumerated(scales[2], parent, scales[2].evidence(observed))[:1], text)
    np.testing.assert_allclose(found.site, expected[0], rtol=1e-9)  # 4.2.2
    assert not np.allclose(found.site, first.site)


def test_step_4_the_site_decides_for_a_page_that_says_nothing(training):
    """A page without known words gets the topic of its site, which the raw classification cannot give it."""
    given = site("new", [*TEXTS["shipping"], "nobody knows"])
    raw = SiteTopics("twophase").learn(training).classify(given).prediction.pages[-1]
    fused = SiteTopics("multiscale").learn(training).classify(given)
    np.testing.assert_allclose(raw, training.learned(TwoPhase).blocks.parameters.root)
    assert fused.topic == "shipping"
    assert fused.prediction.pages[-1].argmax() == fused.number
    assert fused.prediction.pages[-1].max() > 0.6


# Steps 1.1 and 1.2: a site is added by incremental EM

FIRST = [
    ([-1, 0, 0, 1], [[0.6, 0.4], [0.9, 0.1], [0.3, 0.7], [np.nan, np.nan]], 0),
    ([-1, 0, 0], [[0.2, 0.8], [0.1, 0.9], [0.55, 0.45]], 1),
]
ADDED = ([-1, 0, 1, 1, 0], [[np.nan, np.nan], [0.7, 0.3], [0.95, 0.05], [0.4, 0.6], [0.15, 0.85]], 0)
ONE_STEP = TopicSettings(passes=1)


def trees(*given: tuple) -> tuple[list[Observed], list[int]]:
    found = [Observed(np.array(parent, np.int32), np.array(shown)) for parent, shown, _ in given]
    return found, [topic for *_, topic in given]


def counts_by_enumeration(given: tuple, model: TreeParameters) -> tuple[np.ndarray, np.ndarray]:
    """The E-step on one site: expected pairs of states and symbols by state, each site counted as one."""
    parent, shown, topic = given
    symbols = shown_symbols(np.array(shown))
    likelihood = np.where((symbols < 0)[:, None], 1.0, model.emission.T[symbols])
    root = np.eye(model.states)[topic].tolist()  # the topic of the site is known
    found = enumerate_states(parent, likelihood.tolist(), root, model.transition.tolist())
    emission = np.zeros_like(model.emission)
    for row, symbol in zip(found.posterior, symbols.tolist(), strict=True):
        if symbol >= 0:
            emission[:, symbol] += row
    seen = sum(symbol >= 0 or u in parent for u, symbol in enumerate(symbols))  # without leaves that show nothing
    return np.array(found.pairs) / seen, emission / seen


def test_steps_1_1_and_1_2_add_the_expected_counts_of_the_new_site_alone():
    """E-step on the new site under the present model, by enumeration; its counts join those kept of the others; M-step:
    rows in proportion to the counts with those of the prior.
    """
    before = TreeScale.usual(2).grown(*trees(*FIRST))
    after = before.grown(*trees(ADDED), ONE_STEP)
    transition, emission = counts_by_enumeration(ADDED, before.parameters)
    np.testing.assert_allclose(after.counts.transition, before.counts.transition + transition, rtol=1e-9)
    np.testing.assert_allclose(after.counts.emission, before.counts.emission + emission, rtol=1e-9)
    assert after.counts.root.tolist() == [2.0, 1.0]
    # the prior: ten sites per topic, one probability of staying and of each level of being right and wrong
    common = _tied(before.tied, 2)
    tied_transition, tied_emission = counts_by_enumeration(ADDED, common)
    np.testing.assert_allclose(after.tied.transition, before.tied.transition + tied_transition, rtol=1e-9)
    np.testing.assert_allclose(after.tied.emission, before.tied.emission + tied_emission, rtol=1e-9)
    pairs = after.tied.transition
    stay = (np.trace(pairs) + 0.75) / (pairs.sum() + 1.0)
    prior = 10 * np.array([[stay, 1 - stay], [1 - stay, stay]])
    expected = prior + after.counts.transition
    np.testing.assert_allclose(after.parameters.transition, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    shown = after.tied.emission.reshape(2, 2, 3)
    right = shown[0, 0] + shown[1, 1] + 0.75 / 3
    wrong = shown[0, 1] + shown[1, 0] + 0.25 / 3
    rows = np.array([[*right, *wrong], [*wrong, *right]])
    expected = 10 * rows / rows.sum(axis=1, keepdims=True) + after.counts.emission
    np.testing.assert_allclose(after.parameters.emission, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(after.parameters.root, [12 / 23, 11 / 23])


def test_more_passes_over_the_new_site_end_where_another_changes_nothing():
    before = TreeScale.usual(2).grown(*trees(*FIRST))
    after = before.grown(*trees(ADDED), TopicSettings(tolerance=1e-12, passes=500))
    transition, emission = counts_by_enumeration(ADDED, after.parameters)
    np.testing.assert_allclose(after.counts.transition, before.counts.transition + transition, atol=1e-6)
    np.testing.assert_allclose(after.counts.emission, before.counts.emission + emission, atol=1e-6)


def test_sites_added_one_by_one_end_near_those_learned_together():
    together = TreeScale.usual(2).grown(*trees(*FIRST, ADDED))
    one_by_one = TreeScale.usual(2)
    for one in (*FIRST, ADDED):
        one_by_one = one_by_one.grown(*trees(one))
    np.testing.assert_allclose(one_by_one.parameters.transition, together.parameters.transition, atol=0.02)
    np.testing.assert_allclose(one_by_one.parameters.emission, together.parameters.emission, atol=0.02)
    np.testing.assert_allclose(one_by_one.parameters.root, together.parameters.root)


def test_a_site_is_added_at_both_scales(training, monkeypatch):
    """Steps 1.1 and 1.2 in the product: the trees of the sites learned before are not read again."""
    learned = {method: training.learned(method) for method in (HmtMethod, Multiscale)}
    new = site("new", TEXTS["farming"])
    seen: list[int] = []

    def counting(part, parameters):
        seen.append(len(part[0]))
        return expectation(part, parameters)

    monkeypatch.setattr("webwinnow.site.hmt.em.expectation", counting)
    monkeypatch.setattr("webwinnow.topics.treescale.expectation", counting)
    grown = training.grown([new], ["farming"])
    blocks, pages = (len(_part(one, 0)[0]) for one in (
        Observed(new.parent, grown.held_out[-1].blocks), page_observations(new.page_tree, grown.held_out[-1].pages)
    ))  # fmt: skip
    assert set(seen) <= {blocks, pages}
    after = grown.learned(Multiscale)
    for scale in ("blocks", "pages"):
        old, found = (getattr(one.raw, scale).counts for one in (learned[Multiscale], after))
        assert found.root.tolist() == [5.0, 3.0]
        assert 0.5 < found.emission.sum() - old.emission.sum() <= 1 + 1e-9  # every site counts as one
    assert grown.learned(HmtMethod).pages.counts.root.tolist() == [5.0, 3.0]
    assert after.final.parameters is after.raw.pages.parameters
