"""Settings that are declared once: checks, plain values, text, JSON schema and lists follow from the declaration."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest

from webwinnow.errors import SettingsError
from webwinnow.settings import Settings, declared, json_schema, setting, share


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching(Settings):
    """A group."""

    delay: Annotated[float, setting("Seconds between requests.", "--delay", least=0)] = 1.0
    scope: Annotated[Literal["below", "host", "any"], setting("Pages to fetch.")] = "below"
    depth: Annotated[int | None, setting("Links from the start.", least=0)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning(Settings):
    """A class with settings of its own and a group."""

    GROUP: ClassVar[str] = "learning"

    pages: Annotated[int, setting("Pages of a site.", least=1, most=1000)] = 500
    part: Annotated[float, share("Share of the pages.")] = 0.5
    cost: Annotated[float, setting("Cost.", above=0)] = 1.0
    damping: Annotated[float, setting("Damping.", least=0, below=1)] = 0.85
    fast: Annotated[bool, setting("Whether to hurry.")] = False
    depths: Annotated[tuple[int, ...], setting("Depths.", least=0)] = (0, 1)
    names: Annotated[tuple[str, ...], setting("Names.")] = ()
    out: Annotated[Path | None, setting("Where to write.")] = None
    shape: Annotated[str, setting("A shape.", known=lambda: ("round", "square"))] = "round"
    fetching: Fetching = field(default_factory=Fetching)
    secret: str = "not declared"

    def validate(self) -> None:
        """Fast learning takes few pages."""
        if self.fast and self.pages > 500:
            raise SettingsError(f"pages is {self.pages}: expected 500 at most, as fast is true")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pages": 0}, "pages is 0: expected from 1 to 1,000"),
        ({"pages": 2.5}, "pages is 2.5: expected from 1 to 1,000"),
        ({"pages": "7"}, "pages is '7': expected from 1 to 1,000"),
        ({"part": 1.5}, "part is 1.5: expected a number from 0 to 1"),
        ({"part": float("nan")}, "part is nan: expected a number from 0 to 1"),
        ({"part": None}, "part is None: expected a number from 0 to 1"),
        ({"cost": 0}, "cost is 0: expected a number above 0"),
        ({"damping": 1.0}, "damping is 1.0: expected at least 0 and less than 1"),
        ({"fast": 1}, "fast is 1: expected true or false"),
        ({"depths": (0, -1)}, "depths is (0, -1): expected numbers of 0 or more, separated by commas"),
        ({"depths": ()}, "depths is (): expected numbers of 0 or more, separated by commas"),
        ({"shape": "rund"}, "there is no shape 'rund'; did you mean 'round'?"),
        ({"shape": "flat"}, "there is no shape 'flat'; there are: round, square"),
        ({"fast": True, "pages": 501}, "pages is 501: expected 500 at most, as fast is true"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_given_and_expected(given: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Learning(**given)  # type: ignore[arg-type]
    assert str(refused.value) == message


def test_settings_stay_dataclasses() -> None:
    settings = replace(Learning(pages=3), part=1)
    assert settings == Learning(pages=3, part=1.0)
    assert asdict(settings)["fetching"] == {"delay": 1.0, "scope": "below", "depth": None}
    with pytest.raises(SettingsError, match="pages is 0"):
        replace(settings, pages=0)


def test_plain_values_pass_through_json() -> None:
    settings = Learning(depths=(2, 3), names=("a",), out=Path("x"), fetching=Fetching(delay=0.5))
    assert Learning.from_plain(json.loads(json.dumps(settings.to_plain()))) == settings
    assert Learning.from_plain(asdict(settings)) == settings


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"page": 3}, "there is no setting 'page'; did you mean 'pages'?"),
        ({"fetching": {"delay": -1}}, "delay is -1.0: expected 0 or more"),
        ({"fetching": 3}, "these are no Learning: Expected `object`, got `int`"),
        ({"secret": 3}, "these are no Learning: Expected `str`, got `int`"),
    ],
)
def test_wrong_plain_values_are_refused(plain: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Learning.from_plain(plain)
    assert str(refused.value).startswith(message)


def test_values_are_read_from_text() -> None:
    found = Learning.from_pairs(
        "learning.pages= 7;learning.fast=yes;learning.depths=1, 2;learning.names=a,b;learning.out=x/y;"
        "fetching.scope=any;fetching.depth=3;fetching.depth=none".split(";"),
        fetching={"delay": 2.0, "scope": "host"},
    )
    assert found == Learning(
        pages=7, fast=True, depths=(1, 2), names=("a", "b"), out=Path("x/y"), fetching=Fetching(delay=2.0, scope="any")
    )


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("learning.pages=many", "pages is 'many': expected from 1 to 1,000"),
        ("learning.fast=1", "fast is '1': expected true or false"),
        ("fetching.scope=all", "scope is 'all': expected below, host or any"),
        ("fetching.depth=x", "depth is 'x': expected 0 or more, or none"),
        ("fetching.dely=1", "there is no setting 'fetching.dely'; did you mean 'fetching.delay'?"),
        ("secret=x", "there is no setting 'secret'; there are: learning.pages, learning.part"),
        ("learning.pages", "setting 'learning.pages' has no value; expected NAME=VALUE"),
    ],
)
def test_wrong_text_is_refused(pair: str, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        Learning.from_pairs([pair])
    assert str(refused.value).startswith(message)


def test_settings_are_listed_with_their_groups() -> None:
    listed = {one.name: one for one in Learning.listed()}
    assert [name for name in listed if name.startswith("fetching")] == [
        "fetching.delay",
        "fetching.scope",
        "fetching.depth",
    ]
    assert listed["learning.pages"] == ("learning.pages", 500, "from 1 to 1,000", "Pages of a site.")
    assert Fetching.listed("crawl")[0].name == "crawl.delay"
    assert "secret" not in declared(Learning)


def test_the_schema_of_requests_has_types_ranges_and_defaults() -> None:
    schema = json_schema(Fetching, Learning)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["pages"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "description": "Pages of a site.",
        "default": 500,
    }
    assert schema["properties"]["depth"]["anyOf"] == [{"type": "integer", "minimum": 0}, {"type": "null"}]
    assert schema["properties"]["shape"]["enum"] == ["round", "square"]
    assert json.loads(json.dumps(schema)) == schema | {"properties": json.loads(json.dumps(schema["properties"]))}
