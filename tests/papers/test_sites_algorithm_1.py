"""Sites, section 2 and Algorithm 1: what a context is (equations 2 to 4), and steps 3.5, 4.1 and 4.2 of the product."""

from __future__ import annotations

import numpy as np
import pytest
from enumerated_trees import enumerate_states

from webwinnow import parse
from webwinnow.sitemining.fusion import Neighbours, fuse, fuse_scales, site_context
from webwinnow.sitemining.hmt import Forest, HiddenMarkovTree, TreeParameters
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics import SiteTopics, Training
from webwinnow.sitemining.topics.treemethods import HmtMethod, Multiscale, TwoPhase
from webwinnow.sitemining.topics.treescale import TreeScale, page_observations

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
    named = [(f"{topic}{k}", topic) for topic in TEXTS for k in range(3)]
    return Training(
        [site(name, [f"{text} {name}club" for text in TEXTS[topic]]) for name, topic in named],
        [topic for _, topic in named],
    )


MIXED = ["wheat harvest vessel crew field", "harbour field", "wheat vessel", "nobody knows"]


def enumerated(scale: TreeScale, parent: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """P(topic | W) of every node by enumeration, where P(W_u | C_u) is P(topic | text), 1 where nothing is shown."""
    model = scale.parameters
    likelihood = np.where(np.isnan(shown), 1.0, np.maximum(shown, 1e-12)).tolist()
    found = enumerate_states(parent.tolist(), likelihood, model.root.tolist(), model.transition.tolist())
    return np.array(found.posterior)


def test_steps_3_5_1_to_3_5_3_are_inference_in_the_trees(training):
    """Blocks by words, a page from its block tree, the site from its page tree: (8), with slope and damping of 1."""
    learned = training.learned(TwoPhase)
    plain = [TreeScale(2, stay=scale.stay) for scale in (learned.blocks, learned.pages)]
    method = TwoPhase(learned.words, *plain)
    given = site("new", MIXED)
    pages, blocks = method.preclassified(given)
    np.testing.assert_array_equal(blocks, learned.words.of_blocks(given.node_words))
    found = method.predict(given)
    roots = np.flatnonzero(given.parent < 0)
    from_blocks = enumerated(plain[0], given.parent, blocks)[roots]
    with_text = from_blocks * np.where(np.isnan(pages), 1.0, pages)  # a page is observed with its whole text as well
    np.testing.assert_allclose(found.pages, with_text / with_text.sum(axis=1, keepdims=True), rtol=1e-9)
    parent, observed = page_observations(given.page_tree, found.pages)
    np.testing.assert_allclose(found.site, enumerated(plain[1], parent, observed)[0], rtol=1e-9)


def test_method_hmt_is_inference_in_the_page_tree(training):
    """Figure 2b: words of pages, then (8) at every page; the site's topic is the state of the root."""
    learned = training.learned(HmtMethod)
    method = HmtMethod(learned.words, TreeScale(2, stay=learned.pages.stay))
    given = site("new", MIXED)
    parent, observed = page_observations(given.page_tree, learned.words.of_pages(given.page_words))
    expected = enumerated(method.pages, parent, observed)
    found = method.predict(given)
    np.testing.assert_allclose(found.pages[given.page_tree.page], expected, rtol=1e-9)
    np.testing.assert_allclose(found.site, expected[0], rtol=1e-9)


def test_steps_4_1_and_4_2_fuse_coarse_to_fine_and_classify_again(training):
    """Figure 7: the raw result of each scale is fused with the one above, and pages and site are inferred again."""
    learned = training.learned(Multiscale)
    plain = [TreeScale(2, stay=scale.stay) for scale in (learned.raw.blocks, learned.raw.pages, learned.final)]
    raw = TwoPhase(learned.raw.words, plain[0], plain[1])
    method = Multiscale(raw, plain[2], learned.links)
    given, even = site("new", MIXED), np.array([0.5, 0.5])
    beside = Neighbours(linked=(0,), count=1)
    first = raw.predict(given)
    of_site = fuse(first.site, site_context(beside, learned.links, even), even)  # 4.1, l = 1
    of_pages = fuse(first.pages, of_site, even)  # l = 2
    of_blocks = fuse(first.blocks, of_pages[given.page_of_node], even)  # l = 3
    seen = np.where(np.isnan(first.blocks), np.nan, of_blocks)
    from_blocks = enumerated(plain[0], given.parent, seen)[given.parent < 0]
    again = from_blocks * fuse(first.texts, of_site, even)  # 4.2.1
    again /= again.sum(axis=1, keepdims=True)
    found = method.predict(given, beside)
    np.testing.assert_allclose(found.pages, again, rtol=1e-9)
    parent, observed = page_observations(given.page_tree, again)
    np.testing.assert_allclose(found.site, enumerated(plain[2], parent, observed)[0], rtol=1e-9)  # 4.2.2
    assert not np.allclose(found.site, first.site)


def test_step_4_the_site_decides_for_a_page_that_says_nothing(training):
    """A page without known words gets the topic of its site, which the raw classification cannot give it."""
    given = site("new", [*TEXTS["shipping"], "nobody knows"])
    raw = SiteTopics("twophase").learn(training).classify(given).prediction.pages[-1]
    fused = SiteTopics("multiscale").learn(training).classify(given)
    np.testing.assert_allclose(raw, 0.5)
    assert fused.topic == "shipping"
    assert fused.prediction.pages[-1].argmax() == fused.number
    assert fused.prediction.pages[-1].max() > 0.6
