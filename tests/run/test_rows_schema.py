"""The JSON Schema of a record, as users find it in docs/."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from webwinnow import clean_page, parse
from webwinnow.record.fields import json_schema, page_fields, record_line

SCHEMA = Path(__file__).parents[2] / "docs" / "record.schema.json"
PAGE = "<html lang=en><title>Grain</title><body><p>The wind takes the chaff away. <a href=/x>More</a> of it stays here."


def record(**changes: object) -> dict[str, object]:
    clean = clean_page(parse(PAGE, url="https://grain.test/"), "none")
    line = record_line(clean.record(also=("markdown", "html")) | {"page_id": "1", "site": "grain.test"})
    return json.loads(line) | changes


def test_the_schema_in_docs_is_that_of_the_fields():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema(), "run python tools/make_schema.py"


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_records_are_valid():
    jsonschema.validate(record(), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_every_field_says_what_it_holds():
    assert all(field.about for field in page_fields())


@pytest.mark.parametrize(
    "wrong", [{"type": "portal"}, {"outcome": "lost"}, {"keywords": "grain"}, {"kept_words": 1.5}, {"colour": "red"}]
)
def test_other_records_are_not(wrong: dict[str, object]):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(record(**wrong), json_schema())


def test_a_record_without_a_field_is_not():
    short = record()
    del short["abstract"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(short, json_schema())
