"""The command `webwinnow page`: a process with files, pipes and an exit code."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from warmcommand import run_command

import webwinnow

PAGE = """\
<!DOCTYPE html><html lang="en"><head><title>Grain &amp; chaff</title></head><body>
<nav><a href="/">Home</a></nav><h1>Größe</h1><p>Some <b>text</b> with a <a href="more.html">link</a>.</p>
<p hidden>unseen</p><script>run()</script></body></html>
"""
DONE, BAD_USAGE = 0, 2


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


class Ran(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def webwinnow_(*arguments: str | Path, given: bytes = b"", **environment: str) -> Ran:
    """Run the command, by default with method `none`; its output is read as UTF-8, whatever the locale."""
    if arguments[:1] == ("page",) and "--method" not in arguments:
        arguments = (*arguments, "--method", "none")
    ran = run_command(
        *arguments,
        input=given,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", **environment},
        capture_output=True,
    )
    return Ran(ran.returncode, ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8"))


def rendered(output: str) -> str:
    return webwinnow.extract(PAGE, output=output, method="none")


def test_a_file_becomes_text(page: Path) -> None:
    ran = webwinnow_("page", page)
    assert (ran.returncode, ran.stdout, ran.stderr) == (DONE, "Home\n\nGröße\n\nSome text with a link.\n", "")


def test_standard_input_becomes_text() -> None:
    ran = webwinnow_("page", "-", given=b"<p>From a pipe</p>")
    assert (ran.returncode, ran.stdout, ran.stderr) == (DONE, "From a pipe\n", "")


def test_the_default_leaves_navigation_and_hidden_text_out(page: Path) -> None:
    form = "<div class=modal hidden><p>Sign up for our newsletter</p></div>"
    page.write_text(PAGE.replace("<p hidden>unseen</p>", form), encoding="utf-8")
    ran = webwinnow_("page", page, "--method", "combined")
    assert (ran.returncode, ran.stdout) == (DONE, "Größe\n\nSome text with a link.\n")


@pytest.mark.parametrize("given", ["<p>From a pipe</p>", "ą", "<table><tr><td>7<td>8</table>", "<h1>Only a title</h1>"])
def test_a_page_of_a_few_words_is_never_empty(given: str) -> None:
    assert webwinnow_("page", "-", "--method", "combined", given=given.encode()).stdout.strip()


def test_text_can_be_asked_for_by_name(page: Path) -> None:
    assert webwinnow_("page", page, "--format", "text").stdout == rendered("text")


def test_markdown_is_the_page_as_markdown(page: Path) -> None:
    ran = webwinnow_("page", page, "--format", "markdown", "--url", "https://x.org/a/b.html")
    assert (ran.returncode, ran.stderr) == (DONE, "")
    assert ran.stdout.endswith("# Größe\n\nSome **text** with a [link](https://x.org/a/more.html).\n")


def test_html_is_a_document_without_scripts(page: Path) -> None:
    ran = webwinnow_("page", page, "-f", "html")
    assert (ran.returncode, ran.stderr) == (DONE, "")
    assert ran.stdout.startswith("<!DOCTYPE html>")
    assert "<h1>Größe</h1>" in ran.stdout
    assert "script" not in ran.stdout


def test_json_is_one_record_on_one_line(page: Path) -> None:
    ran = webwinnow_("page", page, "--format", "json", "--url", "https://x.org/a/")
    assert (ran.returncode, ran.stderr, ran.stdout.count("\n")) == (DONE, "", 1)
    record = json.loads(ran.stdout)
    assert record["title"] == "Grain & chaff"
    assert record["text"] == "Home\n\nGröße\n\nSome text with a link.\n"
    assert record["links"] == ["https://x.org/", "https://x.org/a/more.html"]
    assert (record["url"], record["outcome"], record["method"], record["lang"]) == (
        "https://x.org/a/",
        "kept",
        "none",
        "en",
    )


def test_links_that_lead_nowhere_without_a_url_are_text(page: Path) -> None:
    assert "](" not in webwinnow_("page", page, "--format", "markdown").stdout


def test_the_content_type_names_the_charset() -> None:
    ran = webwinnow_("page", "-", "--content-type", "text/html; charset=iso-8859-2", given=b"<p>\xb1</p>")
    assert ran.stdout == "ą\n"


def test_explain_shows_on_stderr_what_stayed_and_what_went(page: Path) -> None:
    ran = webwinnow_("page", page, "--explain")
    assert ran.returncode == DONE
    assert ran.stdout == rendered("text")
    assert re.search(r"^\+ /html/body/h1\[1\]  kept.*\n    Größe$", ran.stderr, re.MULTILINE)
    assert re.search(r"^- /html/body/p\[2\]  hidden.*\n    unseen$", ran.stderr, re.MULTILINE)


def test_explain_sends_a_terminal_nothing_to_obey() -> None:
    ran = webwinnow_("page", "-", "--explain", given=b"<x\x1b[31m><p>a\x1b[2Jb\x07</p>")
    assert ran.returncode == DONE
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", ran.stdout + ran.stderr) is None


def test_explain_cuts_long_text_short() -> None:
    ran = webwinnow_("page", "-", "--explain", given=b"<p>" + b"word " * 100)
    assert max(map(len, ran.stderr.splitlines())) < 80


def test_what_is_written_is_utf_8_in_any_locale(page: Path) -> None:
    ran = webwinnow_("page", page, PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (DONE, "")
    assert "Größe" in ran.stdout


@pytest.mark.parametrize("output", ["text", "markdown", "html"])
def test_nothing_but_the_page_goes_to_stdout(page: Path, output: str) -> None:
    assert webwinnow_("page", page, "--format", output, "--explain").stdout == rendered(output)


# Errors


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    ran = webwinnow_("page", tmp_path / "nowhere.html")
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    assert "nowhere.html: No such file or directory; expected an HTML file or -" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_folder_is_refused_with_advice(tmp_path: Path) -> None:
    ran = webwinnow_("page", tmp_path)
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    assert f"{tmp_path} is a folder" in ran.stderr
    assert "webwinnow clean" in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(page: Path) -> None:
    page.chmod(0)
    ran = webwinnow_("page", page)
    assert ran.returncode == BAD_USAGE
    assert "page.html: Permission denied" in ran.stderr


@pytest.mark.parametrize("from_stdin", [False, True])
def test_a_page_over_the_limit_is_refused(page: Path, from_stdin: bool) -> None:
    name = "-" if from_stdin else str(page)
    ran = webwinnow_("page", name, "--max-bytes", "100", given=PAGE.encode("latin-1"))
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    assert f"{name} is longer than 100 bytes; raise --max-bytes" in ran.stderr


def test_a_page_at_the_limit_is_read() -> None:
    assert webwinnow_("page", "-", "--max-bytes", "4", given=b"<p>a").stdout == "a\n"


@pytest.mark.parametrize("limit", ["-1", "many"])
def test_a_limit_that_is_none_is_bad_usage(page: Path, limit: str) -> None:
    ran = webwinnow_("page", page, "--max-bytes", limit)
    assert ran.returncode == BAD_USAGE
    assert "--max-bytes" in ran.stderr


def test_an_unknown_method_is_answered_with_the_methods_there_are(page: Path) -> None:
    ran = webwinnow_("page", page, "--method", "magic")
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    assert "there is no method 'magic'; there are: aligned, combined, cst" in ran.stderr


def test_an_unknown_format_is_answered_with_the_formats_there_are(page: Path) -> None:
    ran = webwinnow_("page", page, "--format", "pdf")
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    for known in ("text", "markdown", "html", "json"):
        assert known in ran.stderr


def test_no_file_at_all_is_bad_usage() -> None:
    ran = webwinnow_("page")
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (b"<frameset><frame src=a.html></frameset>", "frameset"),
        (b"", "empty"),
        (b"<p> </p>", "no main content: no text in the HTML"),
    ],
)
def test_a_page_without_text_is_done_and_says_why(given: bytes, reason: str) -> None:
    ran = webwinnow_("page", "-", given=given)
    assert (ran.returncode, ran.stdout) == (DONE, "")
    assert ran.stderr == f"webwinnow: -: nothing to show: {reason}\n"


def test_a_record_says_itself_that_there_is_nothing() -> None:
    ran = webwinnow_("page", "-", "--format", "json", given=b"<p> </p>")
    assert (json.loads(ran.stdout)["reason"], ran.stderr) == ("no main content: no text in the HTML", "")


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"WARC/1.0\r\n", "WARC"),
        (gzip.compress(b"WARC/1.0\r\n"), "WARC"),
        (b'{"url": "http://a.example/", "html": "<p>x"}\n', "JSONL"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"PK\x03\x04", "WACZ or another zip archive"),
        (b"%PDF-1.7", "a PDF document"),
    ],
)
def test_what_is_no_page_is_refused(head: bytes, kind: str) -> None:
    ran = webwinnow_("page", "-", given=head)
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    assert ran.stderr == f"webwinnow: - is {kind}; expected one HTML page (webwinnow clean takes crawls)\n"


def test_a_packed_page_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "page.html.gz"
    path.write_bytes(gzip.compress(PAGE.encode()))
    assert "Some text with a link." in webwinnow_("page", path).stdout


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--site-by", "column", "expected host, domain, prefix:N, all or none"),
        ("--site-by", "foo", "no site key 'foo'"),
    ],
)
def test_a_way_to_group_pages_is_checked_without_models_too(page: Path, option: str, value: str, message: str) -> None:
    ran = webwinnow_("page", page, option, value)
    assert (ran.returncode, ran.stdout) == (BAD_USAGE, "")
    assert message in ran.stderr


def test_a_disk_that_is_full_is_reported(page: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("wb") as out:
        ran = subprocess.run(
            [sys.executable, "-m", "webwinnow", "page", page],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == BAD_USAGE
    assert "No space left" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("length", [10, 500_000])
@pytest.mark.parametrize("read_first", [0, 10])
def test_a_reader_that_disconnects_is_not_reported(tmp_path: Path, length: int, read_first: int) -> None:
    path = tmp_path / "long.html"
    path.write_text("<p>" + "word " * length)
    running = subprocess.Popen(
        [sys.executable, "-m", "webwinnow", "page", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.read(read_first)
    running.stdout.close()
    _, message = running.communicate(timeout=240)
    assert message == b""
    assert running.returncode != BAD_USAGE


# The command itself


def test_version_is_the_package_s() -> None:
    ran = webwinnow_("--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (DONE, f"webwinnow {webwinnow.__version__}\n", "")


def test_help_shows_an_example() -> None:
    ran = webwinnow_("page", "--help")
    assert ran.returncode == DONE
    assert "webwinnow page article.html" in ran.stdout


def test_help_of_the_command_lists_page() -> None:
    ran = webwinnow_("--help")
    assert ran.returncode == DONE
    assert re.search(r"\bpage\b", ran.stdout)


def test_the_installed_script_is_the_same_command(page: Path) -> None:
    script = Path(sys.executable).with_name("webwinnow")
    if not script.exists():
        pytest.skip("webwinnow is not installed as a script beside this Python")
    ran = subprocess.run([script, "page", page, "--method", "none"], capture_output=True, encoding="utf-8", check=True)
    assert ran.stdout == rendered("text")


def test_method_page_reports_genre_and_confidence_and_explains_with_probabilities(page: Path) -> None:
    ran = webwinnow_("page", page, "--method", "page", "--favor", "recall", "--format", "json", "--explain")
    assert ran.returncode == DONE
    record = json.loads(ran.stdout)
    assert record["method"] == "page"
    assert record["genre"]
    assert 0.0 <= record["confidence"] <= 1.0
    assert re.search(r"\(\d\.\d\d\)\n", ran.stderr)


# Readers' posts, and the model of a site

SENTENCE = "The harvest was late this year, and the farmers waited for the rain to stop before they went out again. "


def story(n: int) -> str:
    comments = "".join(
        f"<li class=comment id=comment-{k}><div class=comment-body><b>Reader {k}</b><p>Wet barley in year {k}.</p>"
        "</div></li>"
        for k in range(5)
    )
    return (
        f"<html lang=en><title>Late harvest {n}</title><nav><ul><li><a href=/>Home</a><li><a href=/a>Old</a></ul></nav>"
        f"<article class=entry-content><h1>Late harvest {n}</h1>{f'<p>{SENTENCE} It was day {n}.</p>' * 6}</article>"
        f"<ol class=comment-list>{comments}</ol><p class=promise>Subscribe to the paper of the mill and farm.</p>"
    )


@pytest.mark.parametrize("method", ["page", "combined"])
def test_comments_are_kept_on_request(tmp_path: Path, method: str) -> None:
    path = tmp_path / "story.html"
    path.write_text(story(1), encoding="utf-8")
    assert "barley" not in webwinnow_("page", path, "--method", method).stdout
    assert "barley" not in webwinnow_("page", path, "--method", method, "--no-comments").stdout
    assert webwinnow_("page", path, "--method", method, "--comments").stdout.count("barley") == 5
    record = json.loads(webwinnow_("page", path, "--method", method, "--comments", "--format", "json").stdout)
    assert record["comments"].count("barley") == 5
    assert "barley" not in record["text"]


def test_explain_shows_up_to_three_reasons_for_a_score(tmp_path: Path) -> None:
    path = tmp_path / "story.html"
    path.write_text(story(1), encoding="utf-8")
    lines = webwinnow_("page", path, "--method", "page", "--explain").stderr.splitlines()
    causes = [line for line in lines if re.match(r"    [+-]\d+\.\d ", line)]
    blocks = [line for line in lines if line.startswith(("+ ", "- "))]
    assert len(blocks) < len(causes) <= 3 * len(blocks)
    assert any("posts: readers wrote it" in line for line in blocks)


def test_a_model_of_the_site_is_found_by_the_url(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl.jsonl"
    rows = [{"url": f"http://farm.example/{n}", "html": story(n)} for n in range(8)]
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    models, path = tmp_path / "models", tmp_path / "story.html"
    assert webwinnow_("learn", crawl, "-o", models, "--quiet").returncode == DONE
    path.write_text(story(99), encoding="utf-8")
    known = ("page", path, "--method", "combined", "--models", models, "--explain", "--url")
    ran = webwinnow_(*known, "http://farm.example/99")
    assert ran.returncode == DONE
    assert "the site says this on 100% of its other pages" in ran.stderr
    unknown = webwinnow_(*known, "http://mill.example/99")
    assert unknown.returncode == DONE
    assert "has no model of the site 'mill.example'" in unknown.stderr
    assert "the site says this" not in unknown.stderr


def test_a_folder_without_models_is_bad_usage(tmp_path: Path, page: Path) -> None:
    ran = webwinnow_("page", page, "--models", tmp_path / "nowhere", "--method", "sst")
    assert ran.returncode == BAD_USAGE
    assert "not a folder of models" in ran.stderr


NOISY = """<!doctype html><html lang="en"><title>Sowing rye - The Mill</title><body>
<nav class="breadcrumbs"><a href="/">Home</a> &gt; <a href="/grain/">Grain</a> &gt; <a href="/grain/rye/">Rye</a></nav>
<main><article><h1>Sowing rye</h1>{story}</article></main>
<div id="cookie-consent" class="cookie-banner"><p>We use cookies to improve your experience on our website. By clicking
accept you agree to our use of cookies.</p><button>Accept cookies</button><button>Reject</button></div></body></html>
""".replace("{story}", "<p>Rye is sown late in the year, when the barley is in and the nights grow cold.</p>" * 12)
MILL = "https://www.mill.example/grain/rye/sowing.html"


def test_explain_shows_the_kind_of_what_went() -> None:
    ran = webwinnow_("page", "-", "--explain", "--method", "combined", "--url", MILL, given=NOISY.encode())
    assert ran.returncode == DONE
    assert "[consent]" in ran.stderr
    assert "cookies" not in ran.stdout


def test_a_task_brings_its_kinds_back(tmp_path: Path) -> None:
    task = tmp_path / "consent.json"
    task.write_text('{"keeps": ["consent"]}', encoding="utf-8")
    given = NOISY.encode()
    ran = webwinnow_("page", "-", "--method", "combined", "--url", MILL, "--task", str(task), "--explain", given=given)
    assert "We use cookies" in ran.stdout
    assert "kept: the task wants this kind" in ran.stderr


def test_an_unknown_task_is_bad_usage() -> None:
    ran = webwinnow_("page", "-", "--task", "cooking", given=b"<p>x")
    assert ran.returncode == BAD_USAGE
    assert "there is no task 'cooking'" in ran.stderr
