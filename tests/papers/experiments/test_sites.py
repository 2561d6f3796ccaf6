"""`webwinnow experiment sites` on small generated sites: samples, reading, the report and its tables."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from functools import partial
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from warmcommand import command

pytest.importorskip("ahocorasick_rs")

from webwinnow.errors import InputError, SettingsError
from webwinnow.papers.experiment import write_tables
from webwinnow.papers.sites.labelledsites import Clock, SiteAnswer, read_sites
from webwinnow.papers.sites.likelihood import Curve, EmSettings, random_curves
from webwinnow.papers.sites.report import findings, sites_html
from webwinnow.papers.sites.results import (
    DenoisingRow,
    PruningRow,
    SitesResults,
    SizeResults,
    accuracy_of,
    tables_of,
)
from webwinnow.papers.sites.run import SitesSettings, sites_experiment
from webwinnow.papers.sites.trials import RuleReading, RuleSettings, each_left_out, folds, random_splits, sizes_of
from webwinnow.run.tablefiles import TableFile

TOPICS = {"physics": "quark proton neutron lepton boson photon", "cooking": "flour butter oven dough yeast sugar"}
HOSTILE = "<script>alert(1)</script>"
RULES = RuleSettings().names()


def page(site: str, topic: str, number: int, pages: int) -> str:
    """A page of a site: a menu that leads to the next pages, three paragraphs of its topic, one of anything."""
    draw = random.Random(f"{site} {number}")
    links = "".join(
        f"<li><a href='/{k}'>{site} part {k}</a></li>" for k in range(2 * number + 1, 2 * number + 3) if k < pages
    )
    prose = "".join(f"<p>{' '.join(draw.choices(TOPICS[topic].split(), k=8))}</p>" for _ in range(3))
    noise = " ".join(draw.choices([f"any{k}word" for k in "abcdefghij"], k=6))
    return f"<html><title>{site}</title><body><ul>{links}</ul>{prose}<p>{noise}</p><p>Terms of {site}</p></body></html>"


def collection(folder: Path, pages: int = 5, sites: int = 3) -> Path:
    path = folder / "sites.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for topic in TOPICS:
            for s in range(sites):
                name = f"{topic[:2]}{s}"
                for k in range(pages):
                    row = {"url": f"http://{name}.test/{k or ''}", "html": page(name, topic, k, pages)}
                    out.write(json.dumps(row | {"host": name, "topic": topic, "which": k}) + "\n")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return collection(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def results(data: Path) -> SitesResults:
    return sites_experiment(data, SitesSettings(label="topic", site="host", repeats=2), command="webwinnow x")


run = partial(command, "experiment", "sites")


# Training sites


def test_each_site_is_left_out_once():
    assert each_left_out(["a", "b", "a"]) == [((1, 2), (0,)), ((0, 2), (1,)), ((0, 1), (2,))]


def test_folds_spread_labels_and_cover_every_site_once():
    labels = ["a"] * 6 + ["b"] * 3
    found = folds(labels, 3, np.random.default_rng(0))
    assert sorted(s for _, part in found for s in part) == list(range(9))
    assert all(sorted(labels[s] for s in part) == ["a", "a", "b"] for _, part in found)
    assert all(set(learned) | set(part) == set(range(9)) and not set(learned) & set(part) for learned, part in found)
    assert len(folds(["a", "b"], 5, np.random.default_rng(0))) == 2


def test_samples_take_a_site_of_each_label_first_and_are_reproducible():
    labels = ["a"] * 4 + ["b"] * 4
    found = random_splits(labels, 2, 5, np.random.default_rng(1))
    assert all(sorted(labels[s] for s in learned) == ["a", "b"] for learned, _ in found)
    assert all(len(tested) == 6 for _, tested in found)
    assert found == random_splits(labels, 2, 5, np.random.default_rng(1))
    assert len(set(found)) > 1


def test_sizes_range_from_one_per_label_to_three_quarters():
    assert sizes_of(["a", "b", "c", "d"] * 4) == [4, 7, 9, 12]
    assert sizes_of(["a", "b"]) == [2]


# Measures


def test_sites_with_distinctive_words_are_classified_right(results):
    assert set(results.methods) == set(results.left_out)
    assert results.accuracy("multiscale") == 1.0
    assert results.right("superpage") == len(results.sites) == 6
    assert results.labels == {"cooking": 3, "physics": 3}
    assert {size.sites for size in results.sizes} == {2, 3, 4}
    assert all(len(size.accuracies) == 2 for size in results.sizes)


def test_every_denoising_method_is_reported_and_removes_what_it_should(results):
    rows = {row.choice: row for row in results.denoising}
    assert list(rows) == [
        *("none", "repeated", "thesaurus", "repeated, thesaurus", "centroid", "cleaner", "cleaner, thesaurus")
    ]
    assert rows["repeated, thesaurus"].words <= min(rows["repeated"].words, rows["thesaurus"].words)
    assert rows["none"].words == rows["none"].pages == 1.0
    assert 0 < rows["thesaurus"].words < 1
    assert all(accuracy_of(row.answers["hmt"]) == 1.0 for name, row in rows.items() if "cleaner" not in name)


def test_pages_are_read_breadth_first_by_depth_and_by_rules(results):
    read = {row.rule: row.read for row in results.pruning}
    assert list(read) == RULES
    # six sites of five pages: the start page leads to 1 and 2, page 1 to 3 and 4
    assert (read["everything"], read["depth 0"], read["depth 1"], read["depth 2"]) == (30, 6, 18, 30)
    assert read["first 5 pages"] == 30
    assert results.deepest == 2
    assert all(row.kept <= row.read <= 30 for row in results.pruning)
    assert next(row.accuracy for row in results.pruning if row.rule == "everything") == 1.0


def test_em_by_pass_never_falls_for_batch_and_all_end_alike():
    curves = random_curves(0, EmSettings())
    assert [curve.subsets for curve in curves] == [1, 3, 10]
    batch = curves[0].history
    assert all(after >= before - 1e-9 for before, after in pairwise(batch))
    assert batch[0] == pytest.approx(curves[2].history[0])
    assert curves[0].passes_to(batch[-1]) == len(batch)
    assert curves[0].passes_to(0.1) is None


def test_the_same_file_and_seed_give_the_same_results_whatever_the_workers(data, results):
    again = sites_experiment(
        data, SitesSettings(label="topic", site="host", repeats=2, choices=("none",), likelihood=False, jobs=2)
    )
    assert again.left_out == results.left_out
    assert again.sizes == results.sizes
    assert [(row.rule, row.read, row.kept) for row in again.pruning] == [
        (row.rule, row.read, row.kept) for row in results.pruning
    ]


def test_pages_of_a_site_can_be_limited(data):
    file = TableFile(data)
    sites = read_sites(
        file, "topic", "host", cleaning=None, clock=Clock(), most_pages=2, on_progress=lambda *_: None, on_problem=print
    )
    assert [len(one.pages) for one in sites] == [2] * 6


# The report


class Looked(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def looked(html: str) -> Looked:
    found = Looked()
    found.feed(html)
    return found


def made(accuracies: dict[str, bool], **more: object) -> SitesResults:
    """Results in which a method has the second of two sites right or not, and hostile names."""
    sites = ((HOSTILE, "=a", 3), ("two", "b", 4))
    left_out = {
        method: (SiteAnswer(HOSTILE, "=a", "=a", 0.9), SiteAnswer("two", "b", "b" if right else "=a", 0.8))
        for method, right in accuracies.items()
    }
    first = next(iter(left_out.values()))
    fields: dict[str, object] = {
        "data": HOSTILE, "label": HOSTILE, "command": HOSTILE, "seed": 0, "repeats": 1, "folds": 2,
        "reading_method": "multiscale", "thesaurus": HOSTILE, "sites": sites, "methods": tuple(accuracies),
        "left_out": left_out, "deepest": 0, "notes": (HOSTILE,),
        "sizes": tuple(SizeResults(m, n, (0.5, 1.0)) for m in accuracies for n in (2, 3)),
        "denoising": (
            DenoisingRow("none", left_out, 1.0, 1.0, 0.1), DenoisingRow("thesaurus", left_out, 0.5, 0.5, 0.1),
        ),
        "pruning": tuple(PruningRow(r, tuple(RuleReading(r, 5, 5, answer) for answer in first)) for r in RULES),
        "drawn": (Curve(1, (-2.0, -1.0, -1.0)), Curve(3, (-2.0, -1.0))), "learned": (), "seconds": {"parsing": 1.0},
    }  # fmt: skip
    return SitesResults(**(fields | more))  # type: ignore[arg-type]


def test_names_never_become_markup_and_nothing_is_loaded_or_run():
    html = sites_html(made({"superpage": True, "multiscale": False}))
    found = looked(html)
    assert "script" not in found.tags and "img" not in found.tags and "link" not in found.tags
    assert HOSTILE in "".join(found.said)
    assert "default-src 'none'" in html.replace("&#39;", "'")
    assert all(value.startswith("#") for value in re.findall(r"""(?:src|href)=["']?([^"'\s>]+)""", html))


def test_the_report_has_every_part_with_plots(results):
    html = sites_html(results)
    found = looked(html)
    assert found.tags.count("svg") == 4
    for anchor in ("accuracy", "sites", "denoising", "reading", "likelihood", "times", "how"):
        assert f'id="{anchor}"' in html
    assert "prefers-color-scheme: dark" in html


def test_findings_say_so_where_a_simpler_method_wins():
    said = " ".join(findings(made({"superpage": True, "multiscale": False})))
    assert "The paper's order does not hold here" in said
    assert "superpage, which is simpler" in said
    said = " ".join(findings(made({"superpage": False, "multiscale": True})))
    assert "does not hold" not in said
    assert "+0.500 beside the baseline" in said


def test_findings_say_where_no_rule_is_needed_and_where_trees_are_flat():
    said = " ".join(findings(made({"multiscale": True})))
    assert "No rule is needed for that" in said
    assert "tree is flat" in said
    assert "No denoising helps here" in said
    assert "incremental EM is faster" in said


def test_tables_quote_what_a_spreadsheet_would_run(tmp_path):
    written = write_tables(tables_of(made({"superpage": True, "multiscale": False})), tmp_path)
    assert [path.stem for path in written] == ["accuracy", "sites", "denoising", "reading", "likelihood", "times"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "sites.csv").read_text(encoding="utf-8"))))
    assert rows[0]["label"] == "'=a"
    assert [row["right"] for row in rows] == ["true", "true", "true", "false"]


def test_parts_that_were_not_run_are_left_out():
    html = sites_html(made({"hmt": True}, sizes=(), denoising=(), pruning=(), drawn=()))
    assert 'id="accuracy"' not in html and 'id="denoising"' not in html and 'id="reading"' not in html
    assert 'id="sites"' in html


# The command


def test_the_command_writes_a_report_and_tables(data, tmp_path):
    terms = tmp_path / "terms.txt"
    terms.write_text("\n".join(word for words in TOPICS.values() for word in words.split()), encoding="utf-8")
    found = run(
        *(
            "--data",
            data,
            "--label",
            "topic",
            "--site-column",
            "host",
            "-o",
            tmp_path / "out",
            "--repeats",
            1,
            "--jobs",
            1,
        ),
        *("--methods", "superpage,hmt", "--thesaurus", terms, "--no-likelihood", "--denoise-with", "repeated"),
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout == ""
    assert "With every site left out once" in found.stderr
    html = (tmp_path / "out" / "sites.html").read_text(encoding="utf-8")
    assert "those of terms.txt" in html
    assert "webwinnow experiment sites" in html
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["accuracy.csv", "denoising.csv", "reading.csv", "sites.csv", "sites.html", "times.csv"]


def test_parameters_are_set_from_the_command_line(data, tmp_path):
    """The rules of Figure 11, the subsets and passes of Figure 6, and the majority of denoising."""
    given = ["rules.depths=1", "rules.first_pages=2", "rules.deltas=1e-5,0.5", "rules.omegas=3"]
    given += ["em.subsets=1,2", "em.passes=3", "em.tolerance=0", "denoising.majority=1", "denoising.least_pertinence=1"]
    found = run(
        *("--data", data, "--label", "topic", "--site-column", "host", "-o", tmp_path, "--repeats", 0, "--jobs", 1),
        *("--methods", "hmt", "--denoise-with", "repeated"),
        *(word for pair in given for word in ("--set", pair)),
    )
    assert found.returncode == 0, found.stderr
    tables = {
        name: list(csv.DictReader(io.StringIO((tmp_path / f"{name}.csv").read_text(encoding="utf-8"))))
        for name in ("reading", "denoising", "likelihood")
    }
    rules = list(dict.fromkeys(row["way"] for row in tables["reading"]))
    assert rules == ["everything", "depth 1", "first 2 pages", "KL, delta 1e-05", "KL, delta 0.5", "variance, omega 3"]
    assert {row["em"] for row in tables["likelihood"]} == {"batch", "2 subsets"}
    assert len(tables["likelihood"]) == 2 * 2 * 3
    pages = {row["denoising"]: float(row["pages_taking_part"]) for row in tables["denoising"]}
    assert pages["thesaurus"] == 1.0


def test_wrong_usage_is_reported(data, tmp_path):
    def refused(**more: object) -> str:
        fields = {"label": "topic", "site": "host"} | more
        with pytest.raises((InputError, SettingsError)) as caught:
            sites_experiment(data, SitesSettings(**fields))  # type: ignore[arg-type]
        return str(caught.value)

    assert "has no column nothing" in refused(label="nothing")
    assert "expected the topic of the whole site" in refused(label="which")
    assert "there is no method 'magic'" in refused(methods=("magic",))
    assert "there is no denoising" in refused(choices=("magic",))
    assert "repeats is -1" in refused(repeats=-1)
    assert "expected 4 sites" in str(refused(site="topic"))
    bad = tmp_path / "a.rdf"
    bad.write_text('<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><r>&c;</r>', encoding="utf-8")
    assert "made of others" in refused(thesaurus=bad)
