"""The command `webwinnow features`."""

from __future__ import annotations

import numpy as np


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
