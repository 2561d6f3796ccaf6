"""`sst` and `aligned`: uniform parts of a site are removed, varying ones are kept, unknown ones may be meaningful."""

from __future__ import annotations

from itertools import pairwise

import pytest

from webwinnow import ModelError, SettingsError, SiteModel, clean_page, parse
from webwinnow.methods.method_sst import AlignedSettings, SstSettings, shown_trials, try_thresholds
from webwinnow.methods.registry import CleaningSettings

STORIES = [
    " ".join(f"{word}{n}x{k}" for k, word in enumerate("rain wind river stone cloud".split() * 6)) for n in range(6)
]
MENU = "<ul class=menu><li><a href=/>Home</a></li><li><a href=/news>News</a></li></ul>"


def page(n: int, extra: str = "", body: str = "") -> str:
    story = (
        f"<div class=story><h1><b>Title{n}</b></h1><p><span>By</span> <i>author{n}</i></p><p>{STORIES[n % 6]}</p></div>"
    )
    return (
        f"<body{body}><div class=top>{MENU}</div>{extra}{story}<div class=foot><p>All rights <b>reserved</b></p></div>"
    )


SITE = SiteModel.learn([parse(page(n)) for n in range(6)], "a.example")


BOTH = pytest.mark.parametrize("method", ["sst", "aligned"])


def settings_of(threshold: float) -> CleaningSettings:
    return CleaningSettings(sst=SstSettings(threshold=threshold), aligned=AlignedSettings(threshold=threshold))


def reasons(html: str, method: str) -> dict[str, str]:
    clean = clean_page(parse(html), method, SITE)
    return {decision.text: decision.reason.partition(",")[0] for decision in clean.decisions()}


@BOTH
def test_menu_and_footer_are_noise_and_the_story_is_meaningful(method):
    found = reasons(page(2), method)
    assert found["Home"].startswith("noisy")
    assert found["All rights reserved"].startswith("noisy")
    assert found["Title2"] == "kept: meaningful"
    assert found[STORIES[2]] == "kept: meaningful"


@BOTH
def test_text_of_a_learned_page_is_its_story(method):
    assert SITE.clean(page(1), method).text == f"Title1\n\n{STORIES[1]}\n"


@BOTH
def test_words_of_every_page_are_removed_run_by_run(method):
    clean = SITE.clean(page(3), method, settings_of(0.5))
    tree, verdict = clean.tree, clean.verdict
    kept = {tree.run(r).strip(): bool(verdict.keep_runs[r]) for r in range(tree.run_count)}
    assert not kept["By"]
    assert kept["author3"]


@BOTH
def test_a_page_that_was_not_learned_is_mapped(method):
    assert SITE.clean(page(4).replace("Title4", "Unheard"), method).text.startswith("Unheard")
    assert "Home" not in SITE.clean(page(4).replace("Title4", "Unheard"), method).text


@pytest.mark.parametrize(("method", "aligns"), [("sst", False), ("aligned", True)])
def test_only_aligned_finds_the_menu_under_another_body_and_beside_one_more_box(method, aligns):
    new = page(4, extra="<section><p>Breaking <b>now</b></p></section>", body=" class=special")
    text = SITE.clean(new, method).text
    assert ("Home" not in text) == aligns
    assert "Breaking now" in text


@BOTH
def test_what_the_tree_does_not_have_is_possibly_meaningful(method):
    found = reasons(page(4, extra="<section><p>Breaking <b>now</b></p></section>"), method)
    assert found["Breaking now"] == "kept: possibly meaningful"


@BOTH
def test_threshold_0_removes_only_what_never_varies_and_1_nearly_all(method):
    assert STORIES[0] in SITE.clean(page(0), method, settings_of(0.0)).text
    assert SITE.clean(page(0), method, settings_of(1.0)).text == ""


@pytest.mark.parametrize("threshold", [-0.1, 1.1])
def test_senseless_threshold_is_refused(threshold):
    with pytest.raises(SettingsError, match="threshold"):
        SstSettings(threshold=threshold)


@pytest.mark.parametrize(
    ("model", "note"),
    [(None, "nothing is known of this site"), (SiteModel.learn([parse(page(0)), parse(page(1))]), "too few pages")],
)
@BOTH
def test_unknown_site_and_too_few_pages_keep_all_and_say_so(method, model, note):
    clean = clean_page(parse(page(0)), method, model)
    assert "Home" in clean.text
    assert clean.record()["reason"].startswith(note)


@BOTH
def test_hidden_text_stays_hidden(method):
    assert "secret" not in SITE.clean(page(2).replace("</h1>", "</h1><p hidden>secret</p>"), method).text


@pytest.mark.parametrize("settings", [SstSettings(), AlignedSettings()])
def test_trials_show_what_is_removed_at_each_threshold(settings):
    trees = [parse(page(n), url=f"http://a.example/{n}") for n in range(3)]
    trials = try_thresholds(SITE, trees, (0.0, 0.5, 1.0), settings)
    assert [trial.threshold for trial in trials] == sorted({0.0, 0.5, 1.0, SITE.thresholds[settings.TREE]})
    assert all(
        one >= other
        for before, after in pairwise(trials)
        for one, other in zip(before.kept_words, after.kept_words, strict=True)
    )
    lines = list(shown_trials(SITE, trees, trials, settings.TREE))
    assert any("removed: All rights reserved" in line for line in lines)
    assert any("http://a.example/2" in line for line in lines)


@pytest.mark.parametrize("part", ["sst", "aligned"])
def test_a_model_with_one_of_the_trees_cleans_with_its_method_only(part):
    model = SiteModel.learn([parse(page(n)) for n in range(6)], "a.example", frozenset({part}))
    assert model.noise_trees == (part,)
    assert model.clean(page(1), part).text == SITE.clean(page(1), part).text
    other = "aligned" if part == "sst" else "sst"
    with pytest.raises(ModelError, match=f"site style tree of method {other}"):
        model.clean(page(1), other)
