"""The command `webwinnow features`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pytest import approx


def test_features_of_a_crawl_leave_out_what_its_site_repeats(webwinnow, write_crawl, make_pages, tmp_path):
    out = tmp_path / "features.npz"
    pages = make_pages("a.example", 12) + make_pages("b.example", 3)
    pages[4]["html"] = ""
    done = webwinnow("features", write_crawl(pages), "-o", out, "--all-words", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    with np.load(out, allow_pickle=False) as found:
        assert found["page_ids"].tolist() == [page["page_id"] for page in pages]
        words = set(found["vocabulary"].tolist())
        assert "word7" in words
        assert "section" not in {found["vocabulary"][i] for i in found["indices"][: found["indptr"][12]]}
    assert "15 pages" in done.stderr


def test_same_bytes_with_one_and_two_workers(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(make_pages("a.example", 80))
    outs = [tmp_path / f"{jobs}.npz" for jobs in (1, 2)]
    for jobs, out in zip((1, 2), outs, strict=True):
        assert webwinnow("features", crawl, "-o", out, "--jobs", jobs, "-q").returncode == 0
    one, two = (dict(np.load(out, allow_pickle=False)) for out in outs)
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_page_that_cannot_be_read_has_an_empty_row_and_exit_code_1(webwinnow, write_crawl, make_pages, tmp_path):
    crawl, out = write_crawl(make_pages("a.example", 4)), tmp_path / "f.npz"
    with crawl.open("a") as lines:
        lines.write("no json\n")
    done = webwinnow("features", crawl, "-o", out)
    assert done.returncode == 1
    with np.load(out, allow_pickle=False) as found:
        assert len(found["page_ids"]) == 5


def test_unknown_weighting_is_exit_2(webwinnow, write_crawl, make_pages, tmp_path):
    done = webwinnow("features", write_crawl(make_pages("a.example", 3)), "-o", tmp_path / "f.npz", "--weighting", "x")
    assert done.returncode == 2
    assert "cst, wplus, tfidf" in done.stderr


MENU = "<div class=menu><p><b>home about contact</b></p></div>"


def site_of(pages: int, **first: str) -> list[dict[str, str]]:
    """A site whose pages differ in the number of rules, so that many sequences of children are seen once."""
    made = []
    for k in range(pages):
        story = f"<div class=story><p><b>story{k} tale{k}</b></p></div>"
        html = f"<body>{MENU}{'<hr>' * (k % 97)}{story}"
        made.append({"url": f"http://a.example/{k}", "html": html, "page_id": f"p{k}", "site": "a"})
    return made


def weights_in(path) -> list[dict[str, float]]:
    """The features of each page with their weights."""
    with np.load(path, allow_pickle=False) as found:
        bounds, names = found["indptr"].tolist(), found["vocabulary"][found["indices"]].tolist()
        data = found["data"].tolist()
    return [dict(zip(names[a:b], data[a:b], strict=True)) for a, b in pairwise(bounds)]


def test_pages_beyond_the_500_that_are_learned_have_the_same_weights(webwinnow, write_crawl, tmp_path):
    out = tmp_path / "f.npz"
    assert webwinnow("features", write_crawl(site_of(560)), "-o", out, "--all-words", "-q").returncode == 0
    rows = weights_in(out)
    assert len(rows) == 560
    assert not any(row.keys() & {"home", "about", "contact"} for row in rows)
    assert rows[559] == {"story559": 1.0, "tale559": 1.0}


def test_u_and_m_of_thesis_4_3_3_can_be_set(webwinnow, write_crawl, tmp_path):
    pages = [f"<body><div><p><b>{text}</b></p></div>" for text in ("menu red red red kiwi", "menu red")]
    crawl = write_crawl([{"url": f"http://a.example/{k}", "html": page} for k, page in enumerate(pages)])

    def found(*options: str) -> dict[str, float]:
        out = tmp_path / "f.npz"
        done = webwinnow("features", crawl, "-o", out, "-q", *options)
        assert done.returncode == 0, done.stderr
        return weights_in(out)[0]

    # PathImp = 1 - (1 + h) / 3 = 0.3962 with h = H(red) = 0.8113, and w(red) = 0.0748 (test_thesis_4_3.py)
    kiwi, red = approx(0.3962, abs=1e-4), approx(3 * 0.0748, abs=1e-3)
    assert found("--no-mapped") == {"kiwi": kiwi, "red": red}
    assert found() == {"kiwi": 1.0, "red": red}
    assert found("--set", "cst.informative=0.5") == {"kiwi": kiwi, "red": red}
    assert found("--set", "cst.meaningless=0.1") == {"kiwi": 1.0}
    assert found("--set", "cst.mapped=no") == found("--no-mapped")


def test_gamma_and_lambda_of_step_3_can_be_set(webwinnow, write_crawl, tmp_path):
    # The menu is at another position on each page, with one word of its own: 6 of 8 features are shared, 0.75.
    same = "one two three four five six"
    pages = [f"<body>{'<hr>' * k}<ul><li><b>{same} extra{k}</b></li></ul>" for k in range(2)]
    crawl = write_crawl([{"url": f"http://a.example/{k}", "html": page} for k, page in enumerate(pages)])
    found = []
    for options in ((), ("--set", "cst.overlap=0.7"), ("--set", "cst.gamma=0.5", "--set", "cst.overlap=0.7")):
        out = tmp_path / "f.npz"
        assert webwinnow("features", crawl, "-o", out, "-q", "--all-words", *options).returncode == 0
        found.append("one" in weights_in(out)[0])
    assert found == [True, False, False]


def test_an_element_seen_once_has_importance_0_or_1(webwinnow, write_crawl, tmp_path):
    # One page, so root and BODY are seen once. Step 3 merges both leaves: H(red) = 0.8113, NodeImp = 0.1887.
    html = "<body><div><p><b>red red red</b></p></div><div><p><b>red</b></p></div>"
    crawl = write_crawl([{"url": "http://a.example/", "html": html}])
    for alone, expected in ((0, 4 * 0.18872**2), (1, 4 * 0.18872)):  # thesis 5-6, Yi and Liu equation 1
        out = tmp_path / f"{alone}.npz"
        webwinnow("features", crawl, "-o", out, "-q", "--no-mapped", "--set", f"cst.alone={alone}")
        assert weights_in(out) == [{"red": approx(expected, abs=1e-4)}]


def test_a_setting_that_is_not_of_the_weights_is_exit_2(webwinnow, write_crawl, tmp_path):
    crawl = write_crawl(site_of(3))
    named = "expected one of cst.mapped=..., cst.informative=..."
    expected = {"sst.threshold=0.5": named, "cst.weight=0.5": named, "informative": "expected NAME=VALUE"}
    for given, answer in expected.items():
        done = webwinnow("features", crawl, "-o", tmp_path / "f.npz", "--set", given)
        assert done.returncode == 2
        assert answer in done.stderr
    done = webwinnow("features", crawl, "-o", tmp_path / "f.npz", "--set", "cst.meaningless=0.5")
    assert done.returncode == 2
    assert "meaningless is 0.5, above informative, which is 0.2" in done.stderr


def test_css_of_the_page_distinguishes_elements(webwinnow, write_crawl, tmp_path):
    # The menu is before or after the story. Only the style sheet distinguishes them: without it, both places hold both.
    sheet = "<style>#a { color: red } #b { color: green }</style>"

    def page(k: int) -> str:
        blocks = ["<div id=a><p><b>home</b></p></div>", f"<div id=b><p><b>word{k}</b></p></div>"]
        return f"{sheet}<body>{''.join(blocks[:: 1 if k % 2 else -1])}"

    crawl = write_crawl([{"url": f"http://a.example/{k}", "html": page(k)} for k in range(4)])
    found = []
    for options in ((), ("--css",)):
        done = webwinnow("features", crawl, "-o", tmp_path / "f.npz", "-q", "--all-words", *options)
        assert done.returncode == 0, done.stderr
        found.append(weights_in(tmp_path / "f.npz")[1])
    assert found == [{"home": 1.0, "word1": 1.0}, {"word1": 1.0}]
