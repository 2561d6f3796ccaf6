"""The report as a file: its contents, and writing it from the command line and from Python."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from webwinnow.cli.app import app
from webwinnow.errors import SettingsError
from webwinnow.inspect.inspector import MOST_BYTES, ReportSettings, _signs, report_html, share_out, write_report
from webwinnow.inspect.shownpage import CLOSE, NEXT_REGION, SHOWN_TAGS, _parts
from webwinnow.inspect.sitereport import SiteReport, packed
from webwinnow.judge.kinds import KINDS
from webwinnow.page.layout import PageLayout
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import learn

METHODS = ("combined", "sst", "repeated")


def unpacked(blob):
    return json.loads(zlib.decompress(base64.b64decode(blob), -zlib.MAX_WBITS))


def blob_of(html, name):
    return unpacked(re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', html)[1])


def test_words_kept_are_those_that_clean_keeps(model, trees):
    report = SiteReport.of(model, trees, METHODS)
    for listed, tree in zip(report.about["pages"], trees, strict=True):
        for name in METHODS:
            assert listed["kept"][name] == clean_page(tree, name, model).kept_words
        assert listed["words"] == clean_page(tree, "none").all_words
    for name in METHODS:
        assert report.about["totals"][name]["own"] == sum(page["kept"][name] for page in report.about["pages"])


def test_regions_add_up_to_the_page_and_stand_where_rejected_blocks_do(model, trees):
    page = unpacked(SiteReport.of(model, trees[:1], METHODS).pages[0])
    clean = clean_page(trees[0], "combined", model)
    hidden = set(page["hidden"])
    assert sum(words for r, words in enumerate(page["words"]) if r not in hidden) == clean.all_words
    assert page["tokens"].count(NEXT_REGION) == len(page["words"])
    xpaths = set()
    for last in page["xpath"]["at"]:
        at, steps = last, []
        while at >= 0:
            steps.append(page["xpath"]["step"][at])
            at = page["xpath"]["up"][at]
        xpaths.add("/".join(["/html", *reversed(steps)]))
    assert xpaths == {decision.xpath for decision in clean.decisions()}


def test_a_repeated_text_is_reported_with_its_share_of_pages(model, trees):
    page = unpacked(SiteReport.of(model, trees[:1], METHODS).pages[0])
    said = [token for token in page["tokens"] if isinstance(token, str) and token != "The logo"]
    by_text = dict(zip(said, range(len(said)), strict=True))
    assert "Home" in by_text
    assert Counter(page["pages"])[12] >= 5  # four links above, one line below
    assert 1 in page["pages"]


@given(st.data())
def test_tokens_hold_known_tags_and_every_element_is_closed(soup, data):
    tree = parse(data.draw(soup))
    page = unpacked(SiteReport.of(learn([tree]), [tree], ("none",)).pages[0])
    depth = 0
    for token in page["tokens"]:
        if isinstance(token, int):
            assert -3 <= token < len(SHOWN_TAGS)
            depth += 1 if token >= 0 else -1 if token == CLOSE else 0
            assert depth >= 0
    assert depth == 0
    assert page["tokens"].count(NEXT_REGION) == len(page["words"])


def tags_of(html):
    tree = parse(html)
    page = unpacked(SiteReport.of(learn([tree]), [tree], ("none",)).pages[0])
    return [SHOWN_TAGS[token] for token in page["tokens"] if isinstance(token, int) and token >= 0]


def test_tables_of_data_stay_tables_and_tables_of_layout_do_not():
    assert "table" in tags_of("<table><tr><td>one<td>two</table>")
    nested = tags_of("<table><tr><td>menu<td><table><tr><td>one<td>two</table></table>")
    assert nested.count("table") == 1
    assert "td" not in tags_of(f"<table><tr><td>menu<td>{'long text ' * 50}</table>")


def test_a_list_of_short_links_is_a_menu_and_a_list_of_sentences_is_not():
    assert "menu" in tags_of("<ul>" + "<li><a href=/>Home</a>" * 4 + "</ul>")
    assert "menu" not in tags_of("<ul>" + "<li>A sentence that holds no link." * 4 + "</ul>")


def test_the_same_input_gives_the_same_report(model, trees):
    first, second = (report_html([SiteReport.of(model, trees, METHODS)], METHODS) for _ in range(2))
    assert first == second


def test_no_text_of_a_page_is_html_in_the_report(trees):
    evil = "</script><script>alert(1)</script><!--\u2028{{script}}"
    tree = parse(
        f"<title>{evil.replace('<', '&lt;')}</title><p class='</style><b>'>{evil.replace('<', '&lt;')}</p>",
        url="http://x.example/</script><img src=x>",
    )
    html = report_html([SiteReport.of(learn([tree], "</title><script>evil()"), [tree], METHODS)], METHODS)
    assert "alert(1)" not in html
    assert "<script>evil" not in html
    assert html.count("<script>") == 1
    assert "\u2028" not in html


def test_the_policy_allows_the_viewers_own_parts_and_nothing_else(model, trees):
    html = report_html([SiteReport.of(model, trees[:1], METHODS)], METHODS)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert re.findall(r"(?:src|href)=\"(?!#)[^\"]*", html.split("<script")[0]) == []


def test_pages_without_room_are_left_out_and_counted(model, trees):
    whole = SiteReport.of(model, trees, METHODS)
    half = SiteReport.of(model, trees, METHODS, room=sum(map(len, whole.pages)) // 2)
    assert 0 < len(half.pages) < len(whole.pages)
    assert half.about["left_out"] == len(whole.pages) - len(half.pages)


def test_signs_of_kinds_are_distinct():
    signs = _signs([kind.name for kind in KINDS])
    assert len(set(signs)) == len(KINDS)


def test_pages_are_shared_out_evenly_and_no_site_gets_more_than_it_has():
    assert share_out({"a": 100, "b": 3, "c": 100}, 43) == {"a": 20, "b": 3, "c": 20}
    assert share_out({"a": 1, "b": 2, "c": 3}, 2) == {"c": 1, "b": 1}
    assert share_out({"a": 5}, 200) == {"a": 5}


def test_packed_text_may_stand_in_any_html():
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", packed({"a": "</script>\u2028\ud800"}))


@pytest.mark.parametrize("given", [{"methods": ()}, {"methods": ("sst", "sst")}, {"methods": ("magic",)}, {"pages": 0}])
def test_settings_that_cannot_be_are_refused(given):
    with pytest.raises(SettingsError):
        ReportSettings(**given)


# From the command line


@pytest.fixture
def site_folder(tmp_path, page):
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.html").write_text(page(number), encoding="utf-8")
    return folder


def test_inspect_writes_a_report_and_says_what_is_in_it(site_folder, tmp_path):
    out = tmp_path / "report.html"
    result = CliRunner().invoke(
        app, ["inspect", str(site_folder), "-o", str(out), "--methods", "combined,sst,cst", "--jobs", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "8 pages of 1 site" in result.output
    index = blob_of(out.read_text(encoding="utf-8"), "index")
    assert [method["name"] for method in index["methods"]] == ["combined", "sst", "cst"]
    assert index["command"] == f"webwinnow clean {site_folder}"
    assert len(index["sites"][0]["pages"]) == 8
    assert out.stat().st_size < MOST_BYTES


def test_a_smaller_sample_is_the_same_pages_every_time(site_folder, tmp_path):
    found = []
    for number in range(2):
        out = tmp_path / f"{number}.html"
        shown = write_report([site_folder], out, ReportSettings(pages=3, jobs=1))
        assert (shown.sites, shown.pages, shown.failed, shown.left_out) == (1, 3, 0, 0)
        found.append(out.read_bytes())
    assert found[0] == found[1]


def test_a_missing_site_is_reported(site_folder, tmp_path):
    with pytest.raises(Exception, match=r"there is no page of other\.example"):
        write_report([site_folder], tmp_path / "r.html", ReportSettings(sites=("other.example",), jobs=1))


def test_other_site_keys_are_in_the_command_line(site_folder, tmp_path):
    out = tmp_path / "r.html"
    CliRunner().invoke(app, ["inspect", str(site_folder), "-o", str(out), "--site-by", "prefix:1", "-q", "--jobs", "1"])
    assert blob_of(out.read_text(encoding="utf-8"), "index")["command"].endswith(" --site-by prefix:1")


def test_the_lists_of_a_rendered_page_are_where_their_items_are():
    tree = parse("".join(f"<p>{k}<ul><li>one<li>two</ul>" for k in range(2)))
    columns = {name: [1] * len(tree) for name in PageLayout.dtypes()} | {"left": list(range(len(tree)))}
    layout = PageLayout.of_columns(columns, [1280, 900], [1280, 3000])
    assert _parts(Page(tree), layout) == [["list", "list 1", 4, 1, 2, 1], ["list", "list 2", 8, 1, 2, 1]]
