"""The table of cleaning methods, and their settings as text."""

from __future__ import annotations

import pytest

from webwinnow import CleaningSettings, SettingsError
from webwinnow.methods.registry import method_named, method_names


def test_a_setting_is_read_from_text() -> None:
    settings = CleaningSettings.from_pairs(["sst.threshold=0.9", "repeated.min_pages = 5", "page.comments=no"])
    assert settings.sst.threshold == 0.9
    assert settings.repeated.min_pages == 5
    assert settings.page.comments is False
    assert settings.cst == CleaningSettings().cst


def test_the_last_value_of_a_setting_wins_over_earlier_and_known_ones() -> None:
    settings = CleaningSettings.from_pairs(["page.favor=recall", "page.favor=none"], page={"favor": "precision"})
    assert settings.page.favor is None


def test_a_known_value_is_kept_unless_a_pair_sets_it() -> None:
    settings = CleaningSettings.from_pairs(["page.comments=true"], page={"favor": "precision"})
    assert (settings.page.favor, settings.page.comments) == ("precision", True)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("sst.nothing=1", r"no setting 'sst.nothing'; there are: sst.threshold, .*sst.whole_runs$"),
        ("sst.treshold=1", r"no setting 'sst.treshold'; did you mean 'sst.threshold'\?"),
        ("threshold=1", r"no setting 'threshold'; did you mean '\w+.threshold'\?"),
        ("=", r"no setting ''; there are: aligned.threshold, .*wholes.complete$"),
        ("sst.threshold", "setting 'sst.threshold' has no value; expected NAME=VALUE"),
        ("", "setting '' has no value"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_one_that_was_meant(pair: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        CleaningSettings.from_pairs([pair])


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("sst.threshold=2", "threshold is 2.0: expected a number from 0 to 1, or none"),
        ("sst.threshold=high", "threshold is 'high': expected a number from 0 to 1, or none"),
        ("repeated.share=none", "share is 'none': expected a number above 0, at most 1"),
        ("repeated.share=nan", "share is nan: expected"),
        ("segments.by=words", "by is 'words': expected tables or sections"),
        ("page.comments=maybe", "comments is 'maybe': expected true or false, or none"),
        ("cst.min_pages=0", "min_pages is 0: expected 1 or more"),
    ],
)
def test_a_value_out_of_range_is_refused_with_what_was_expected(pair: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        CleaningSettings.from_pairs([pair])


def test_a_file_name_becomes_absolute() -> None:
    found = CleaningSettings.from_pairs(["template.found=t.jsonl"]).template.found
    assert found is not None
    assert found.startswith("/")


@pytest.mark.parametrize("name", method_names())
def test_every_setting_of_a_method_is_listed_with_a_default_that_is_valid(name: str) -> None:
    for setting in method_named(name).listed():
        assert setting in CleaningSettings.listed()
        assert setting.help
        CleaningSettings.from_pairs([f"{setting.name}={setting.default}"])


def test_an_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="there are: aligned, combined, cst"):
        method_named("magic")
    with pytest.raises(SettingsError, match="did you mean 'combined'"):
        method_named("combine")
