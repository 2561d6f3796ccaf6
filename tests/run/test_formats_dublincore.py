"""Records as Dublin Core."""

from __future__ import annotations

import gzip
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from webwinnow.run.formats import dublin_core, write_dublin_core
from webwinnow.run.outputs import write_output

DC = "{http://purl.org/dc/elements/1.1/}"
RECORD = {
    "url": "https://grain.test/a?b=1&c=2",
    "outcome": "kept",
    "type": "topic",
    "category": "farming",
    "title": "Grain <and> chaff",
    "author": "Ann Miller; Bo Li",
    "date": "2020-05-06",
    "keywords": ["grain", "chaff"],
    "abstract": "The wind takes it away.",
    "links": ["https://grain.test/b"],
    "lang": "en",
    "site_name": "The Grain Post",
    "text": "not described",
}


def elements(data: bytes) -> list[list[tuple[str, str]]]:
    return [[(one.tag.removeprefix(DC), one.text or "") for one in page] for page in ET.fromstring(data)]


class Gathered:
    def __init__(self) -> None:
        self.data = b""

    def write(self, line: bytes) -> None:
        self.data += line


def test_a_record_is_described_by_its_elements():
    assert dublin_core(RECORD) == [
        ("title", "Grain <and> chaff"),
        ("creator", "Ann Miller"),
        ("creator", "Bo Li"),
        ("subject", "grain"),
        ("subject", "chaff"),
        ("subject", "farming"),
        ("description", "The wind takes it away."),
        ("publisher", "The Grain Post"),
        ("date", "2020-05-06"),
        ("type", "Text"),
        ("format", "text/html"),
        ("identifier", "https://grain.test/a?b=1&c=2"),
        ("language", "en"),
        ("relation", "https://grain.test/b"),
    ]


def test_a_file_holds_one_description_for_each_kept_page(tmp_path):
    out = tmp_path / "records.xml"
    write_output([RECORD, {"url": "x", "outcome": "failed"}, RECORD], out, "dublin-core")
    assert elements(out.read_bytes()) == [dublin_core(RECORD)] * 2


def test_a_file_is_packed_by_its_name(tmp_path):
    out = tmp_path / "records.xml.gz"
    write_output([RECORD], out, "dublin-core")
    assert elements(gzip.decompress(out.read_bytes())) == [dublin_core(RECORD)]


@given(st.text())
def test_any_text_gives_xml_that_can_be_read(text: str):
    out = Gathered()
    write_dublin_core([{"outcome": "kept", "url": "u", "title": text, "keywords": [text]}], out)
    assert len(elements(out.data)) == 1
