"""DocView as published, through `webwinnow page --format json --method docview`: sections 3, 4 and 6, by hand.

`record` takes the path of that command: settings as in `--set`, then the record of the cleaned page; the first test
compares it with what the command prints.
"""

from __future__ import annotations

import json
from math import sqrt
from typing import Any

import pytest
from warmcommand import run_command

from webwinnow import Cleaner, CleaningSettings, CleanPage, extract, parse
from webwinnow.page._words import name_hash
from webwinnow.record.fields import ordered

URL = "https://grain.test/wheat/"


def cleaned(body: str, *settings: str, method: str = "docview") -> CleanPage:
    """A page of this body, cleaned with settings as in `--set`."""
    html = f"<html lang=en><head><title>A title</title></head><body>{body}</body></html>"
    return Cleaner.of(method, CleaningSettings.from_pairs(settings)).clean(parse(html, url=URL))


def record(body: str, *settings: str, method: str = "docview") -> dict[str, Any]:
    """What `webwinnow page --format json` prints of that page."""
    return ordered(cleaned(body, *settings, method=method).record())


def weights(body: str, *settings: str) -> dict[str, float]:
    """The weight of each word of the page's feature vector, relative to that of the word `unit`."""
    page = cleaned(body, *settings)
    found = {}
    for key, weight in zip(page.features.key.tolist(), page.features.weight.tolist(), strict=True):
        found[next(word for word in set(page.text.lower().replace(".", " ").split()) if name_hash(word) == key)] = (
            weight
        )
    return {word: pytest.approx(weight / found["unit"], rel=1e-9) for word, weight in found.items()}


def test_the_command_prints_this_record():
    page = f"<html lang=en><title>A title</title><body><p>{'Wheat grows. ' * 20}<ul><li><a href=/a>Wheat</a></ul>"
    command = ["page", "-", "--format", "json", "--method", "docview", "--url", URL]
    options = ["--set", "docview.keywords=1", "--set", "docview.most=3"]
    done = run_command(*command, *options, input=page, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    settings = CleaningSettings.from_pairs(["docview.keywords=1", "docview.most=3"])
    assert json.loads(done.stdout) == ordered(Cleaner.of("docview", settings).clean(parse(page, url=URL)).record())


# 3.1: the type of a block

STORY = "<p>" + "Wheat grows on the field behind the barn. " * 4 + "</p>"


@pytest.mark.parametrize(
    ("settings", "is_hub"), [([], True), (["docview.hub_share=0.6"], False), (["docview.hub_share=0.59"], True)]
)
def test_a_block_is_a_hub_above_a_share_of_terms_in_links(settings: list[str], is_hub: bool):
    # 3 of 5 terms are in links: 0.6. Method docview removes hub blocks from a topic page.
    text = record(f"<div>{STORY}<p>alpha beta <a href=/x>gamma delta epsilon</a></p></div>", *settings)["text"]
    assert ("alpha" not in text) == is_hub


@pytest.mark.parametrize(
    ("terms", "settings", "is_image"), [(9, [], True), (10, [], False), (10, ["docview.image_share=0.09"], True)]
)
def test_a_block_is_an_image_block_above_a_number_of_images_per_term(terms: int, settings: list[str], is_image: bool):
    # 1 image for 9 terms is above 0.1, for 10 terms it is not.
    words = " ".join(f"alpha{k}" for k in range(terms))
    text = record(f"<div>{STORY}<p><img src=a.jpg width=300>{words}</p></div>", *settings)["text"]
    assert ("alpha0" not in text) == is_image


def test_a_block_of_links_and_images_is_a_hub():
    # 3.1 tests for a hub first: the type of the block decides whether a relevant link can be in it.
    links = record(f"<div>{STORY}<p><img src=a.jpg width=300><a href=/x>wheat field barn</a></p></div>")
    assert links["relevant_links"] == ["https://grain.test/x"]


# 3.2: Algorithm 1 and equation 2


def test_a_leaf_weighs_its_force_and_its_siblings_the_passed_on_force():
    # The paragraphs are leaves of one parent. The first has force 1.5 (b): it weighs 1.5, the others 1.5 ** 0.5.
    body = "<div><p><b>rye</b> oats and the hay barley chaff</p><p>wheat unit wheat</p><p>straw</p></div>"
    passed = sqrt(1.5)
    heavy = dict.fromkeys(("rye", "oats", "hay", "barley", "chaff"), 1.5 / passed)
    assert weights(body) == heavy | {"wheat": 2.0, "unit": 1.0, "straw": 1.0}
    heavy = dict.fromkeys(heavy, 1.5)
    assert weights(body, "docview.passed_on=0") == heavy | {"wheat": 2.0, "unit": 1.0, "straw": 1.0}


def test_text_of_the_parent_weighs_the_passed_on_force_of_its_leaves():
    # Line 13: the parent, which is no leaf, gets 1.5 ** 0.5 from the first leaf and 3 ** 0.5 from the second, which has
    # two weighty tags. Line 15: each leaf gets that of the other.
    second_leaf = "<p><strong>wheat</strong> <mark>corn</mark> chaff straw grass</p>"
    body = f"<div>unit<p><b>rye</b> oats hay barley</p>{second_leaf}</div>"
    first, second = 1.5, 3.0
    unit = sqrt(first * second)
    one = dict.fromkeys(("rye", "oats", "hay", "barley"), first * sqrt(second) / unit)
    other = dict.fromkeys(("wheat", "corn", "chaff", "straw", "grass"), second * sqrt(first) / unit)
    assert weights(body) == {"unit": 1.0} | one | other


def test_forces_are_a_setting():
    body = "<div><p><b>rye</b> oats hay barley chaff</p><p>wheat wheat unit</p></div>"
    assert weights(body, "docview.force=b=9")["rye"] == 9 / 3
    assert weights(body, "docview.force=b=0")["rye"] == 1.0
    # 9 against 2 * 3, and 1.5 against 2 * 1.5 ** 0.5
    assert record(body, "docview.force=b=9")["keywords"][0] == "rye"
    assert record(body)["keywords"][0] == "wheat"


@pytest.mark.parametrize(("settings", "expected"), [([], 1.5 ** (20 / 2)), (["docview.most=8"], 8.0)])
def test_passed_on_forces_multiply_without_a_limit_as_published(settings: list[str], expected: float):
    # Twenty siblings of force 1.5 each pass on 1.5 ** 0.5; a table of its own is not their sibling.
    rows = "".join(f"<p><b>rye{k}</b> oats{k} hay{k} barley{k}</p>" for k in range(20))
    found = weights(f"<div>{rows}<p>wheat</p></div><table><tr><td>unit</td></tr></table>", *settings)
    assert found["wheat"] == expected


@pytest.mark.parametrize(("settings", "expected"), [([], 1.0), (["docview.headings=true"], 4 / 2)])
def test_a_heading_is_weighty_but_no_block_as_published(settings: list[str], expected: float):
    # The div around it is no leaf, and Algorithm 1 does not use its force. As a leaf h1 weighs 4, its sibling 4 ** 0.5.
    assert weights("<div><h1>rye</h1><p>unit oats</p></div>", *settings)["rye"] == expected


def test_weighty_tags_that_say_nothing_of_the_topic_have_no_force():
    # Pseudo-weighty: in a hub, and around nearly all of a long block.
    long = "<b>" + " ".join(f"rye{k}" for k in range(20)) + "</b>"
    assert weights(f"<div><p>{long}</p><p>unit</p></div>")["rye0"] == 1.0


def test_stop_words_are_no_features_of_a_record():
    assert record("<div><p>the the the and and and wheat of of</p></div>")["keywords"] == ["wheat"]


# 4.1: the type of a page

LINKED_GALLERY = "".join(f"<p><a href=/{k}><img src={k}.jpg width=300>Field number {k}</a></p>" for k in range(6))


@pytest.mark.parametrize(
    ("method", "settings", "expected"),
    [
        ("docview", [], "hub"),
        ("docview", ["docview.first_test=image"], "image"),
        ("docview", ["docview.published=false"], "image"),
        ("none", [], "image"),
        ("none", ["docview.first_test=hub"], "hub"),
        ("none", ["docview.published=true"], "hub"),
        ("docview", ["docview.page_hub_share=1"], "image"),
        ("docview", ["docview.page_hub_share=1", "docview.page_image_share=1"], "topic"),
    ],
)
def test_a_page_is_tested_for_a_hub_before_images_as_published(method: str, settings: list[str], expected: str):
    # All 18 terms are in hub blocks, and there are 6 images: both rules of 4.1 apply.
    assert record(f"<div>{LINKED_GALLERY}</div>", *settings, method=method)["type"] == expected


@pytest.mark.parametrize(
    ("linked", "settings", "expected"),
    [
        (5, [], "topic"),
        (6, [], "hub"),
        (6, ["docview.page_hub_share=0.6"], "topic"),
        (4, ["docview.page_hub_share=0.3"], "hub"),
    ],
)
def test_a_page_is_a_hub_above_a_share_of_terms_in_hub_blocks(linked: int, settings: list[str], expected: str):
    hubs = "".join(f"<p><a href=/{k}>alpha</a></p>" for k in range(linked))
    text = "".join("<p>beta</p>" for _ in range(10 - linked))
    assert record(f"<div>{hubs}{text}</div>", *settings)["type"] == expected


@pytest.mark.parametrize(("settings", "expected"), [([], "topic"), (["docview.teasers=true"], "hub")])
def test_text_under_linked_headings_is_no_hub_as_published(settings: list[str], expected: str):
    teasers = "".join(f"<h2><a href=/s/{k}>Story {k}</a></h2><p>Wheat grows on field {k} here.</p>" for k in range(5))
    assert record(f"<div>{teasers}</div>", "docview.headings=true", *settings)["type"] == expected


@pytest.mark.parametrize(("settings", "expected"), [([], "image"), (["docview.image_terms=60"], "topic")])
def test_an_image_page_may_have_many_terms_as_published(settings: list[str], expected: str):
    pictures = ("<div>" + "<img src=a.jpg width=300>" * 8 + "</div>") * 2
    words = " ".join(f"alpha{k}" for k in range(70))
    assert record(f"<div>{pictures}<p>{words}</p></div>", *settings)["type"] == expected


def test_the_type_is_that_of_the_central_area():
    # The menus around it have more terms than the text, all of them in links.
    menu = "<nav>" + "".join(f"<p><a href=/{k}>Section number {k}</a></p>" for k in range(40)) + "</nav>"
    assert record(f"{menu}<div>{STORY}</div>{menu}")["type"] == "topic"


# 4.2: cleaning by the type


def test_extract_keeps_topic_blocks_in_their_places():
    page = f"<body><div class=a>{STORY}<ul><li><a href=/x>Elsewhere</a></ul><table><tr><td>A cell</table></div>"
    kept = extract(page, URL, "html", method="docview")
    assert "Elsewhere" not in kept
    assert kept.index("<div") < kept.index("Wheat grows") < kept.index("<table") < kept.index("A cell")


# 6: keywords, title, abstract, relevant links

PARAGRAPHS = """<div><p>Wheat is a grass that people grow. Rye is another grass of theirs. Wheat gives grain, and the
grain gives flour. Nobody looks at the sky. Grain and wheat are old.</p><p>Barley is not wheat at all. The sun was
shining that day.</p></div>"""


@pytest.mark.parametrize("count", [0, 1, 3])
def test_lambda_is_the_number_of_keywords(count: int):
    # wheat 4, grain 3, and grass 2 times; stop words are none
    assert record(PARAGRAPHS, f"docview.keywords={count}")["keywords"] == ["wheat", "grain", "grass"][:count]


@pytest.mark.parametrize(("count", "expected"), [(2, "wheat grain"), (1, "wheat")])
def test_a_placeholder_is_replaced_by_one_or_two_keywords(count: int, expected: str):
    settings = CleaningSettings.from_pairs([f"docview.title_keywords={count}"])
    page = parse(f"<html lang=en><title>Untitled Document</title><body>{PARAGRAPHS}", url=URL)
    assert Cleaner.of("docview", settings).clean(page).record()["title"] == expected


def test_delta_sentences_are_taken_from_paragraphs_by_size():
    # The first paragraph has three times the terms of the second: 3 of 4 sentences, those with most weight.
    found = record(PARAGRAPHS, "docview.sentences=4")["abstract"].split("\n")
    assert found == [
        "Wheat is a grass that people grow.",
        "Wheat gives grain, and the grain gives flour.",
        "Grain and wheat are old.",
        "Barley is not wheat at all.",
    ]
    assert record(PARAGRAPHS, "docview.sentences=1")["abstract"].count("\n") == 0


def test_theta_keywords_weigh_the_sentences():
    # Of one keyword, wheat, the first sentence that has it is the heaviest; of two, that with wheat and grain.
    body = "<p>Wheat is what we grow. Grain of wheat is what we eat. Wheat grows in rows. Grain is dry here.</p>"
    one, two = (record(body, "docview.sentences=1", f"docview.sentence_keywords={n}")["abstract"] for n in (1, 2))
    assert one == "Wheat is what we grow."
    assert two == "Grain of wheat is what we eat."


@pytest.mark.parametrize(("settings", "is_found"), [([], True), (["docview.searched=30"], False)])
def test_every_paragraph_is_searched_for_sentences_as_published(settings: list[str], is_found: bool):
    # 40 paragraphs with two keywords each, and one with a single keyword, which is most of the text.
    rows = "".join(f"<div><p>Wheat field number {k} is good.</p></div>" for k in range(40))
    large = f"<div><p>Wheat is all. {'Nothing of that sort was ever seen again. ' * 40}</p></div>"
    text = record(f"{rows}{large}", "docview.sentence_keywords=2", "docview.sentences=15", *settings)["abstract"]
    assert ("Nothing of that sort" in text) == is_found


TOPIC = "<div><p>Wheat grain wheat grain wheat grain.</p></div>"
LISTS = """<ul><li><a href=/a>Wheat grain</a></li></ul>
<ul><li><a href=/b>Wheat</a></li><li><a href=/c>Sign in here now</a></li></ul>"""


def relevant(body: str, *settings: str) -> list[str]:
    return [link.rpartition("/")[2] for link in record(body, *settings)["relevant_links"]]


def test_relevant_links_are_in_leaf_hubs_whose_cosine_exceeds_beta():
    # The topic is (1, 1) / sqrt 2 over wheat and grain: the cosine of "Wheat grain" is 1, of "Wheat" 0.707.
    assert relevant(TOPIC + LISTS) == ["a", "b"]
    assert relevant(TOPIC + LISTS, "docview.similarity=0.7") == ["a", "b"]
    assert relevant(TOPIC + LISTS, "docview.similarity=0.71") == ["a"]
    assert relevant(TOPIC + LISTS, "docview.similarity=1") == []


def test_blocks_of_one_list_are_judged_alone_as_published():
    # Together the second list has wheat, and sign in here now: sign is its only other feature, so the cosine is 0.5.
    together = relevant(TOPIC + LISTS, "docview.grouped=true", "docview.similarity=0.49")
    assert together == ["a", "b", "c"]
    assert relevant(TOPIC + LISTS, "docview.grouped=true", "docview.similarity=0.51") == ["a"]
    assert relevant(TOPIC + LISTS, "docview.similarity=0.51") == ["a", "b"]


def test_links_of_menus_can_be_relevant_as_published():
    menu = "<nav><p><a href=/m>Wheat</a></p></nav>"
    assert relevant(TOPIC + menu) == ["m"]
    assert relevant(TOPIC + menu, "docview.menus=false") == []


def test_relevant_links_are_apart_from_links_in_the_text():
    body = f"<div><p>{'Wheat grain on the field. ' * 5}<a href=/text>More</a></p></div>{LISTS}"
    for method in ("docview", "page"):
        found = record(body, "docview.published=true", method=method)
        assert found["links"] == [f"https://grain.test/{name}" for name in ("text", "a", "b")]
        assert found["relevant_links"] == [f"https://grain.test/{name}" for name in ("a", "b")]


def test_a_hub_page_has_its_links_in_the_content():
    found = record("<ul>" + "".join(f"<li><a href=/{k}>Wheat {k}</a></li>" for k in range(9)) + "</ul>")
    assert (found["type"], len(found["links"]), found["relevant_links"]) == ("hub", 9, [])
