from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.run.formats import file_name, html_file, markdown_file
from webwinnow.run.outputs import write_output

NAME = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)-[0-9a-f]{20}\.md")


def slug(**record: str) -> str:
    found = NAME.fullmatch(file_name(record, 0, ".md"))
    assert found is not None
    assert len(found[1]) <= 60
    return found[1]


def front_matter(text: str) -> dict[str, object]:
    opening, *lines, closing = text[: text.index("\n---\n", 4) + 4].split("\n")
    assert (opening, closing) == ("---", "---")
    pairs = [line.partition(": ") for line in lines]
    return {name: json.loads(value) for name, _, value in pairs}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Hello, World!", "hello-world"),
        ("Crème Brûlée", "creme-brulee"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\0b", "a-b"),
        ("C:\\con.txt", "c-con-txt"),
        ("😀😀", "page"),
        ("日本語", "page"),
        ("   ", "page"),
        ("x" * 10_000, "x" * 60),
        ("x" * 59 + " y", "x" * 59),
    ],
)
def test_a_title_becomes_a_harmless_slug(title: str, expected: str) -> None:
    assert slug(title=title) == expected


def test_without_a_title_the_url_gives_the_slug() -> None:
    assert slug(url="https://a.test/news/../x.html?id=1#y") == "a-test-news-x-html"
    assert slug(url="https://a.test/ok", title="😀") == "a-test-ok"


def test_no_two_pages_share_a_name() -> None:
    records = [{"url": url, "title": "same"} for url in ("http://a.test/1", "http://a.test/2", "http://a.test/2")]
    assert len({file_name(record, ordinal, ".md") for ordinal, record in enumerate(records)}) == 3


@given(st.text(), st.text())
def test_every_name_is_a_plain_name(title: str, url: str) -> None:
    slug(title=title, url=url)


def test_markdown_has_what_is_known_in_front() -> None:
    text = markdown_file(
        {"url": "http://a.test/", "title": "A: b", "keywords": ["x", "y"], "kept_words": 2, "markdown": "# A\n\ntext\n"}
    )
    assert text == (
        '---\nurl: "http://a.test/"\ntitle: "A: b"\nkeywords: ["x", "y"]\nkept_words: 2\n---\n\n# A\n\ntext\n'
    )


def test_without_markdown_the_text_is_written() -> None:
    assert markdown_file({"text": "plain"}).endswith("---\n\nplain\n")


@pytest.mark.parametrize(
    "hostile",
    [
        'x"\n---\nadmin: true\n---\n',
        "x\r\nadmin: true",
        "x\u2028admin: true\u2029\u0085y: 1",
        "!!python/object/apply:os.system ['id']",
        "{{ site.secret }}\\",
        "'\"\\\x00\x7f\ufeff\ud800",
    ],
)
def test_no_value_breaks_out_of_the_front_matter(hostile: str) -> None:
    text = markdown_file({"url": hostile, "title": hostile, "keywords": [hostile], "text": "body"})
    known = front_matter(text)
    assert list(known) == ["url", "title", "keywords"]
    assert known["title"] == hostile
    assert all(line.isprintable() for line in text.split("\n"))


@given(st.text())
def test_front_matter_keeps_every_title(title: str) -> None:
    known = front_matter(markdown_file({"url": "u", "title": title}))
    assert known["title"] == title


def test_a_failed_page_has_a_file_that_says_why(tmp_path: Path) -> None:
    record = {"url": "http://a.test/", "outcome": "failed", "reason": "too long"}
    write_output([record], tmp_path / "out", "markdown")
    [file] = (tmp_path / "out").iterdir()
    assert front_matter(file.read_text())["reason"] == "too long"


def test_html_is_a_document_that_says_what_is_known() -> None:
    text = html_file({"url": "http://a.test/?a=1&b", "title": "<A>", "lang": "en", "html": "<p>x</p>", "kept_words": 1})
    assert text == (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>&lt;A&gt;</title>\n'
        '<link rel="canonical" href="http://a.test/?a=1&amp;b">\n'
        '<meta name="webwinnow:url" content="http://a.test/?a=1&amp;b">\n'
        '<meta name="webwinnow:title" content="&lt;A&gt;">\n'
        '<meta name="webwinnow:lang" content="en">\n'
        '<meta name="webwinnow:kept_words" content="1">\n'
        "</head>\n<body>\n<p>x</p>\n</body>\n</html>\n"
    )


def test_no_value_breaks_out_of_the_head() -> None:
    hostile = '"><script>alert(1)</script>'
    text = html_file({"url": "javascript:alert(1)", "title": hostile, "lang": hostile, "reason": hostile})
    assert "<script" not in text
    assert "canonical" not in text


def test_html_that_is_a_document_is_left_alone() -> None:
    assert html_file({"url": "u", "html": "<!DOCTYPE html><title>x</title>"}) == "<!DOCTYPE html><title>x</title>"


def test_without_html_the_text_is_used() -> None:
    assert "<body>\n<pre>a &lt; b</pre>\n</body>" in html_file({"text": "a < b"})
