"""Stages: what capabilities add to a run."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from webwinnow import plugins
from webwinnow.errors import SettingsError
from webwinnow.record.fields import Field, page_fields, record_line
from webwinnow.run.cleaning import run
from webwinnow.run.outputparts import with_values
from webwinnow.run.settings import STAGES, RunSettings
from webwinnow.run.stages import Stage, Stages


def test_every_stage_of_ours_is_a_field_of_the_settings() -> None:
    assert sorted(plugins.built_in("stage")) == sorted(STAGES)


def test_a_run_finds_replicas_and_nothing_else_by_default() -> None:
    assert list(RunSettings().all_stages) == ["replicas"]
    assert Stages.of(RunSettings(replicas=None)).every == ()


def test_settings_of_a_stage_are_plain_for_other_processes() -> None:
    settings = RunSettings(replicas={"threshold": 0.9}, stages={"other": {"a": [1]}})
    assert RunSettings.from_plain(json.loads(json.dumps(settings.to_plain()))) == settings


def test_an_unknown_stage_is_an_error() -> None:
    with pytest.raises(SettingsError, match="there is no stage 'replica'; did you mean 'replicas'"):
        Stages.of(RunSettings(stages={"replica": {}}))


def test_links_that_are_neither_kept_nor_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="expected kept, all or nothing"):
        run([tmp_path], tmp_path / "out.jsonl", RunSettings(links="some"))


class Joined:
    """Says that each second page repeats a page."""

    def values(self, place: int) -> dict[str, str]:
        return {"replica_of": 'http://a.test/"x"\\'} if place % 2 else {}

    def finding(self) -> Any:
        return None


def test_values_are_set_in_finished_lines() -> None:
    tricky = 'a text with "replica_of":null in it, and \\"replica_of\\":null'
    lines = [record_line({"url": "u", "text": tricky, "title": tricky}) for _ in range(2)]
    first, second = with_values(lines, [Joined()])
    assert first == lines[0]
    assert second == record_line({"url": "u", "text": tricky, "title": tricky, "replica_of": 'http://a.test/"x"\\'})


class Shouting(Stage):
    """A stage of another package."""

    fields = (Field("shout", after="title", about="the title in capitals"),)

    def fill(self, clean: Any, record: dict[str, Any]) -> None:
        record["shout"] = record["title"].upper()


def test_the_fields_of_a_stage_of_another_package_are_in_the_records_of_its_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = plugins.load
    monkeypatch.setattr(
        plugins, "load", lambda kind, name: SimpleNamespace(STAGE=Shouting) if name == "shout" else load(kind, name)
    )
    fields = Stages.of(RunSettings(stages={"shout": True})).fields
    names = [field.name for field in fields]
    assert names[names.index("title") + 1] == "shout"
    assert [name for name in names if name != "shout"] == [field.name for field in page_fields()]
    assert Stages.of(RunSettings(stages={"shout": True})).filling[0].name == "shout"
