"""Trees of method `items` learned from labels: what separates the items is what the rules test."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow import parse
from webwinnow.errors import InputError, SettingsError
from webwinnow.methods.itemfeatures import items_of
from webwinnow.methods.itemtraining import ItemScores, LabelledItems, TreeSettings, cross_validated, fit, train

SITES = range(12)
SMALL = TreeSettings(leaves=4, leaf_items=2)


def labelled(html: list[str], kind: str, noisy: bool) -> list[LabelledItems]:
    """The one item of each page, each page of its own site."""
    pages = []
    for n, body in enumerate(html):
        items = items_of(parse(body, url=f"http://www.site{n}.com/stories/{n}.html"), kind)
        assert len(items.node) == 1
        pages.append(LabelledItems(f"site{n}.example", items, np.array([noisy])))
    return pages


def rules(pages: list[LabelledItems], kind: str, settings: TreeSettings = SMALL) -> list[str]:
    return list(fit(pages, kind, settings).rules())


def test_adeater_learns_a_phrase_of_two_neighbours():
    """All images have the words `click` and `here`: only their order separates them."""
    ads = [f"<img src=a{n}.gif alt='click here'>" for n in SITES]
    others = [f"<img src=a{n}.gif alt='here click'>" for n in SITES]
    found = rules(labelled(ads, "image", True) + labelled(others, "image", False), "image")
    assert sorted(found) == [
        "If alt contains 'click+here', then the image is an advertisement (100% of 12).",
        "If alt does not contain 'click+here', then the image is no advertisement (100% of 12).",
    ] or sorted(found) == [
        "If alt contains 'here+click', then the image is no advertisement (100% of 12).",
        "If alt does not contain 'here+click', then the image is an advertisement (100% of 12).",
    ]


def test_adeater_learns_the_aspect_ratio():
    """Both have sides of 60 to 468: only the ratio separates them."""
    ads = [f"<img src=a.gif width={60 * 7 + n} height=60>" for n in SITES]
    others = [f"<img src=a.gif width={60 + n * 34} height={60 + n * 34}>" for n in SITES]
    found = rules(labelled(ads, "image", True) + labelled(others, "image", False), "image")
    assert found[0].startswith("If aspect ratio ")
    assert len(found) == 2


def test_davison_learns_that_links_within_a_domain_are_nepotistic():
    """The host differs everywhere; targets and words are the same."""
    own = [f"<a href='http://shop.site{n}.com/x'>see</a>" for n in SITES]
    others = [f"<a href='http://shop.site{n + 50}.com/x'>see</a>" for n in SITES]
    found = rules(labelled(own, "link", True) + labelled(others, "link", False), "link")
    assert found == [
        "If to this domain <= 0.5, then the link is editorial (100% of 12).",
        "If to this domain > 0.5, then the link is nepotistic (100% of 12).",
    ]


def test_the_split_with_the_highest_information_gain_is_chosen():
    """By hand: of 5 noisy and 3 other links, 2 and 0 have a picture, 1 and 2 a query.

    Gains H(5/8) - 6/8 H(3/6) = 0.204 and H(5/8) - 3/8 H(1/3) - 5/8 H(4/5) = 0.159. The Gini index (CART) would choose
    the query: 0.094 and 0.102.
    """
    pages = []
    for n in range(8):
        picture = "<img src=i.gif>" if n in (0, 1) else ""
        query = "?q" if n in (2, 5, 6) else ""
        pages += labelled([f"<a href='http://other.example/x{query}'>{picture}</a>"], "link", n < 5)
    tree = fit(pages, "link", TreeSettings(leaves=2, leaf_items=1))
    assert tree.names == ("has a picture",)
    assert tree.noisy.tolist() == [0.625, 0.5, 1.0]


def test_sites_are_left_out_whole():
    """Labels follow the site and nothing else: another page of the site shows them, other sites do not."""
    pages = []
    for n in SITES:
        for k in range(4):
            url = f"http://www.site{n}.example/"
            target = f"http://{chr(97 + n) * 3}.example/{k}"
            items = items_of(parse(f"<a href='{target}'>go</a>", url=url), "link")
            pages.append(LabelledItems(f"site{n}.example", items, np.array([n % 2 == 0])))
    settings = TreeSettings(leaves=24, leaf_items=1, phrase_sites=1)
    tree = fit(pages, "link", settings)
    assert all((tree.noisy_share(page.items) > 0.5) == page.noisy for page in pages)
    scores = cross_validated(pages, "link", settings)
    assert scores is not None
    assert scores.accuracy <= 0.6


def test_a_phrase_of_too_few_sites_is_not_tested():
    ads = [f"<img src=a.gif alt='prize{chr(97 + n % 2)}'>" for n in range(4)]
    pages = labelled(ads, "image", True) + labelled(["<img src=a.gif alt=fish>"] * 4, "image", False)
    assert len(rules(pages, "image", TreeSettings(leaves=4, leaf_items=1, phrase_sites=5))) == 1
    assert len(rules(pages, "image", TreeSettings(leaves=4, leaf_items=1, phrase_sites=4))) == 2


def test_scores_by_hand():
    found, truth = np.array([True, True, True, False, False]), np.array([True, False, True, True, False])
    assert ItemScores.of(found, truth) == ItemScores(accuracy=0.6, majority=0.6, precision=0.667, recall=0.667, f=0.667)


def test_one_site_has_no_scores():
    pages = labelled(["<img src=a.gif alt=a>"], "image", True) + labelled(["<img src=a.gif alt=b>"], "image", False)
    model = train({"image": pages}, TreeSettings(leaf_items=1), "test")
    assert model.about["image"]["unseen sites"] is None
    assert "not measured" in model.summary("image")


def test_labels_of_one_sort_are_refused():
    with pytest.raises(InputError, match="every labelled image is 'ad'; expected some of each of other and ad"):
        train({"image": labelled(["<img src=a.gif>"], "image", True)}, TreeSettings(), "test")


@pytest.mark.parametrize("settings", [{"leaves": 1}, {"leaf_items": 0}, {"phrase_sites": 0}, {"folds": 1}])
def test_senseless_settings_are_refused(settings):
    with pytest.raises(SettingsError):
        TreeSettings(**settings)
