"""`webwinnow experiment mining` on a small hand-made collection: definitions, messages, the report and its tables."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import random
import re
import sys
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from mined_pairs import assignment_f, clustering_f, configuration_scores
from warmcommand import command

from webwinnow.cli.app import main
from webwinnow.cluster.clustering import agreement
from webwinnow.errors import InputError, SettingsError, WebwinnowError
from webwinnow.features.vectors import is_word, learn_weights
from webwinnow.page.parsing import parse
from webwinnow.papers.experiment import write_tables
from webwinnow.papers.jobpool import JobPool
from webwinnow.papers.mining import words as mined_words
from webwinnow.papers.mining.miners import ClusterRun, pair_trials, predicted_first, site_pairs
from webwinnow.papers.mining.report import Finding, finding, mining_html, sentences
from webwinnow.papers.mining.results import ClusterStatistics, tables_of
from webwinnow.papers.mining.run import MiningSettings, mining_experiment
from webwinnow.papers.mining.tasks import MOST_CLASSES, LabelledTask, TaskSettings
from webwinnow.papers.mining.words import MINED_METHODS, mined_methods, mined_rows, unit_rows
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.site.styletree import feature_names

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def made_words(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{a}{b}" for a, b in itertools.islice(itertools.product(LETTERS, repeat=2), count)]


def page(site: str, topic: str, number: int) -> str:
    """A page whose site has more words than its topic: menus and footers of 60 words, 12 words of the topic."""
    draw = random.Random(f"{site} {topic} {number}")
    menu = "".join(f"<li><a href=/{w}>{w}</a></li>" for w in made_words(f"menu{site[:1]}", 30))
    footer = " ".join(made_words(f"foot{site[:1]}", 30))
    words = " ".join(draw.choices(made_words(topic[-3:].strip("=<>"), 20), k=12))
    own = " ".join(draw.choices(made_words("any", 300), k=6))
    return (
        f"<html lang=en><body><div class=top><ul>{menu}</ul></div>"
        f"<div class=main><h1>{own}</h1><p>{words} {own}.</p></div><div class=foot><p>{footer}</p></div></body></html>"
    )


def collection(folder: Path, cells: dict[tuple[str, str], int], name: str = "pages.jsonl", **more: object) -> Path:
    """A file with a number of pages of each (site, topic)."""
    path = folder / name
    with path.open("w", encoding="utf-8") as out:
        for (site, topic), count in cells.items():
            for number in range(count):
                row = {"url": f"http://{site[:1]}.test/{topic}/{number}", "html": page(site, topic, number)}
                out.write(json.dumps(row | {"host": site, "topic": topic} | more) + "\n")
    return path


GRID = {(site, topic): 5 for site in ("alpha", "beta", "gamma") for topic in ("apple", "melon")}


def settings(*, tasks: str = "topic", **more: object) -> MiningSettings:
    fields = {"methods": ("N", "W"), "runs": 6, "jobs": 1, "site": "host"} | more
    return MiningSettings(tasks=tuple(TaskSettings.parse(task) for task in tasks.split(";")), **fields)  # type: ignore[arg-type]


run = partial(command, "experiment", "mining")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The results on three sites with two classes each, of all methods."""
    data = collection(tmp_path_factory.mktemp("grid"), GRID)
    return mining_experiment(data, settings(methods=tuple(MINED_METHODS)))


# Definitions


def random_rows(seed: int) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), 24)
    sites = np.tile(np.repeat(np.arange(4), 6), 3)
    counts = draw.poisson(0.3, (72, 40)) + 2 * (np.arange(40)[None, :] % 3 == labels[:, None]) * draw.poisson(
        0.3, (72, 40)
    )
    counts = counts + 3 * (np.arange(40)[None, :] % 4 == sites[:, None]) * draw.poisson(0.4, (72, 40))
    keep = ~((labels == 2) & (sites == 3))  # one class is absent from one site
    return mined_rows(sp.csr_matrix(counts[keep]), tfidf=True), labels[keep], sites[keep]


@pytest.mark.parametrize("configuration", [1, 2, 3])
def test_the_configurations_are_those_of_the_thesis(configuration):
    rows, labels, sites = random_rows(7)
    task = LabelledTask.of(
        TaskSettings(label="x"), [str(c) for c in labels], [str(s) for s in sites], [True] * len(labels)
    )
    expected = configuration_scores(rows, labels, sites, configuration)
    found = {
        tuple(trial.pair): (trial.f, trial.accuracy)
        for pair in site_pairs(task)
        for trial in pair_trials(rows, labels, sites, pair)
        if trial.configuration == configuration
    }
    assert found.keys() == expected.keys()
    assert len(found) > 5
    for pair, scores in expected.items():
        assert found[pair] == pytest.approx(scores, abs=1e-9), pair


@pytest.mark.parametrize("seed", range(5))
def test_f_of_a_clustering_is_that_of_the_best_assignment(seed):
    draw = np.random.default_rng(seed)
    labels, clusters = draw.integers(0, 4, 60), draw.integers(0, 4, 60)
    table = np.zeros((4, 4))
    np.add.at(table, (labels, clusters), 1)
    assert agreement(labels, clusters).f == pytest.approx(clustering_f(labels, clusters), abs=1e-12)
    assert agreement(labels, clusters).f == pytest.approx(assignment_f(table), abs=1e-8)


def test_tfidf_is_that_of_thesis_2_1_1_over_the_pages_of_the_task():
    # n(i, j) / max_k n(i, k) x log(N / N_j): N = 4 pages; the words are on 3, 2 and 1 of them, the last on none.
    counts = sp.csr_matrix(np.array([[4.0, 0, 2, 0], [1, 1, 0, 0], [1, 3, 0, 0], [0, 0, 0, 0]]))
    a, b, c = math.log(4 / 3), math.log(4 / 2), math.log(4 / 1)
    expected = [[a, 0, c / 2], [a, b, 0], [a / 3, b, 0], [0, 0, 0]]
    assert mined_rows(counts, tfidf=True).toarray() == pytest.approx(np.array(expected), abs=1e-12)
    assert mined_rows(counts, tfidf=False).toarray().tolist() == counts.toarray()[:, :3].tolist()


def test_rows_are_raw_by_default_unit_on_request_or_both(tmp_path):
    data = collection(tmp_path, GRID)
    (raw,), (unit,), (both,) = (
        mining_experiment(data, settings(methods=("N", "W", "W+"), runs=0, neighbours=False, **more)).tasks
        for more in ({}, {"rows": "unit"}, {"rows": "both"})
    )
    assert both.trials == raw.trials
    assert both.unit_trials == unit.trials
    assert raw.trials["N"] != unit.trials["N"]
    assert raw.trials["W+"] == unit.trials["W+"]
    assert not raw.unit_trials
    assert both.average("W", 1, unit=True) == unit.average("W", 1)
    with pytest.raises(SettingsError, match="no rows 'long'; there are: raw, unit, both"):
        settings(rows="long")


def test_column_w_has_exact_weights_over_all_pages_and_m_mapped_ones(tmp_path, monkeypatch):
    # one page of each site is learned for M: then nothing on it repeats, and the weights of its words are 1
    monkeypatch.setattr(mined_words, "LEARNED_PAGES", 1)
    data = collection(tmp_path, GRID)
    (task,) = mining_experiment(data, settings(methods=("W", "M"), neighbours=False)).tasks
    assert task.clustering("W").mean > task.clustering("M").mean + 0.2


def test_the_rows_of_w_are_exact_weights_and_those_of_m_mapped_ones(tmp_path, monkeypatch):
    data, rows = collection(tmp_path, GRID), []
    monkeypatch.setattr(
        mined_words, "mined_rows", lambda found, tfidf: rows.append(found) or mined_rows(found, tfidf=tfidf)
    )
    mining_experiment(data, settings(methods=("W", "M"), runs=1, configurations=(), neighbours=False))
    given = [json.loads(line) for line in data.read_text().splitlines()]
    trees = [parse(row["html"]) for row in given if row["host"] == given[0]["host"]]
    for found, mapped in zip(rows, (False, True), strict=True):
        words, weights = learn_weights(trees, CstWeightSettings(mapped=mapped)).weigh(trees[0])
        names = feature_names(trees[0])
        counted = [
            w for key, w in zip(words.tolist(), weights.tolist(), strict=True) if is_word(names[key], frozenset())
        ]
        assert sorted(found[0].data.tolist()) == pytest.approx(sorted(counted))
    assert rows[0][0].data.max() < rows[1][0].data.max()


def test_a_word_of_every_page_has_no_tfidf():
    assert mined_rows(sp.csr_matrix(np.array([[1.0, 1], [2, 0]])), tfidf=True).toarray().shape == (2, 1)


def test_unit_rows_have_length_one_and_empty_rows_stay_empty():
    found = unit_rows(sp.csr_matrix(np.array([[3.0, 4.0], [0, 0]])))
    assert found.toarray() == pytest.approx(np.array([[0.6, 0.8], [0, 0]]), abs=1e-12)


def test_the_svm_has_the_c_of_svm_light_so_that_the_scale_of_rows_does_not_matter():
    rows, labels, _ = random_rows(3)
    train, is_first = np.flatnonzero(labels < 2)[::2], labels[labels < 2][::2] == 0
    one = predicted_first(rows[train], is_first, rows)
    assert predicted_first(rows[train] * 1000, is_first, rows * 1000).tolist() == one.tolist()


def test_the_statistics_of_clustering_are_those_of_tables_5_3_and_5_4():
    found = ClusterStatistics.of([ClusterRun(k, f, 1.0, 0.5) for k, f in enumerate((0.4, 0.5, 0.59, 0.7, 0.8, 0.95))])
    assert found.mean == pytest.approx(3.94 / 6)
    assert found.below == {0.5: 1, 0.6: 3}
    assert found.at_least == {0.7: 3, 0.8: 2, 0.9: 1}


def test_the_grid_of_table_5_1_allows_so_many_experiments():
    # Five sites, five classes, no TV on two of them: 6 pairs x 5 sites and 4 pairs x 3 sites in configuration 1.
    cells = [(c, s) for c in range(5) for s in range(5) if not (c == 4 and s >= 3)]
    task = LabelledTask.of(
        TaskSettings(label="x"), [str(c) for c, _ in cells], [str(s) for _, s in cells], [True] * len(cells)
    )
    pairs = list(site_pairs(task))
    assert sum(pair.site_i == pair.site_j for pair in pairs) == 6 * 5 + 4 * 3
    assert sum(pair.site_i != pair.site_j for pair in pairs) == 6 * 20 + 4 * 12


# Findings


def test_site_noise_misleads_the_miners_without_cleaning_and_not_with_weights(small):
    (task,) = small.tasks
    without, weighted = task.drop("N"), task.drop("W")
    assert without[0] - without[1] > 0.2
    assert weighted[1] > 0.9
    assert finding(task) is Finding.HOLDS
    assert task.clustering("W").mean > task.clustering("N").mean + 0.2
    assert "The finding of thesis 5.5 holds:" in sentences(task)[0]


def test_every_method_is_mined(small):
    (task,) = small.tasks
    assert task.letters == list(MINED_METHODS)
    for letter in task.letters:
        assert [task.average(letter, c).experiments for c in (1, 2, 3)] == [3, 6, 6]
        assert len(task.runs[letter]) == 6
        assert len(task.neighbours[letter]) == 2


def test_where_each_site_has_one_class_the_report_says_that_cleaning_cannot_help(tmp_path):
    cells = {(site, ("apple", "melon")[k % 2]): 4 for k, site in enumerate(("alpha", "beta", "gamma", "delta"))}
    results = mining_experiment(collection(tmp_path, cells), settings())
    (task,) = results.tasks
    assert finding(task) is Finding.CANNOT_HELP
    assert task.configurations == [2, 3]
    said = " ".join(sentences(task))
    assert "Each of the 4 sites has pages of one class only" in said
    assert "thesis 5.6" in said
    assert "configuration 1, both classes of one site, has no experiment" in " ".join(task.task.notes)
    assert "one class per site, where cleaning cannot help (5.6)" in mining_html(results)


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    data = collection(tmp_path, GRID)
    written = []
    for jobs in (1, 2):
        results = mining_experiment(data, settings(jobs=jobs))
        folder = tmp_path / str(jobs)
        folder.mkdir()
        tables = {path.name: path.read_bytes() for path in write_tables(tables_of(results), folder)}
        written.append((mining_html(results), tables))
    assert written[0] == written[1]
    assert len(written[0][1]) == 5


def test_what_is_kept_is_not_done_again_and_changes_nothing(tmp_path, monkeypatch):
    data = collection(tmp_path, GRID)
    chosen, kept = settings(runs=3), tmp_path / "kept"
    first = mining_html(mining_experiment(data, chosen, keep=kept))
    count = len(list(kept.iterdir()))
    assert count > 6
    monkeypatch.setattr("webwinnow.papers.mining.miners.mine", None)  # nothing is mined again
    assert mining_html(mining_experiment(data, chosen, keep=kept)) == first
    assert len(list(kept.iterdir())) == count
    monkeypatch.undo()
    for path in kept.iterdir():  # damaged files are recomputed
        path.write_bytes(path.read_bytes()[:-20])
    assert mining_html(mining_experiment(data, chosen, keep=kept)) == first


@pytest.mark.slow
def test_a_worker_that_dies_is_reported():
    with JobPool(2) as workers, pytest.raises(WebwinnowError, match="a worker process died"):
        list(workers.run(os._exit, [9, 9]))


# Messages


def notes_of(results) -> str:
    return " ".join(note for task in (*[t.task for t in results.tasks], *results.left_out) for note in task.notes)


def test_missing_labels_and_sites_are_reported_and_the_rest_is_computed(tmp_path):
    data = collection(tmp_path, GRID)
    with data.open("a") as out:
        for topic, host in ((None, "alpha"), ("", "beta"), ("apple", None)):
            out.write(json.dumps({"url": "u", "html": page("alpha", "apple", 99), "topic": topic, "host": host}) + "\n")
    results = mining_experiment(data, settings(runs=0, configurations=(3,), neighbours=False))
    assert "2 pages have no label and are left out (of 33 pages)." in notes_of(results)
    assert "1 page has no site and is left out." in notes_of(results)
    assert len(results.tasks[0].task.page) == 30


def test_one_class_only_is_reported_and_other_tasks_are_mined(tmp_path):
    data = collection(tmp_path, GRID, kind="fruit")
    results = mining_experiment(
        data, settings(tasks="topic;kind;none: topic where kind=nut", runs=2, configurations=(), neighbours=False)
    )
    assert [task.task.name for task in results.tasks] == ["topic"]
    assert "All pages are of one class (fruit): there is nothing to classify." in notes_of(results)
    assert "No page meets the conditions of this task." in notes_of(results)
    assert "Nothing was mined." in mining_html(results)


def test_no_task_with_two_classes_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no task can be mined; topic: All pages are of one class \(apple\)"):
        mining_experiment(collection(tmp_path, {("alpha", "apple"): 3}), settings())


def test_a_column_of_far_too_many_classes_is_reported():
    names = [str(k) for k in range(MOST_CLASSES + 1)]
    task = LabelledTask.of(TaskSettings(label="url"), names, ["a"] * len(names), [True] * len(names))
    assert not task.ready
    assert task.notes == (
        "There are 201 classes, more than the 200 that are compared pair by pair: is url a column of classes?",
    )


def test_a_class_that_a_site_lacks_is_reported_and_the_possible_experiments_are_made(tmp_path):
    cells = {cell: 3 for cell in GRID if cell != ("gamma", "melon")}
    results = mining_experiment(collection(tmp_path, cells), settings(runs=2))
    (task,) = results.tasks
    assert "Classes absent from sites (number of sites): melon (1)" in notes_of(results)
    assert task.average("N", 1).experiments == 2
    assert task.average("N", 3).experiments == 4
    assert "1 of 3 sites have pages of one class only" in " ".join(sentences(task))


def test_one_site_alone_is_clustered_and_not_classified(tmp_path):
    results = mining_experiment(
        collection(tmp_path, {("alpha", "apple"): 5, ("alpha", "melon"): 5}), settings(runs=3, neighbours=False)
    )
    (task,) = results.tasks
    assert "All pages are of one site" in notes_of(results)
    assert task.configurations == []
    assert len(task.runs["W"]) == 3
    assert finding(task) is Finding.UNTESTED


def test_empty_and_unreadable_pages_are_reported_and_the_rest_is_computed(tmp_path):
    data = collection(tmp_path, GRID)
    with data.open("a") as out:
        out.write(json.dumps({"url": "e", "html": "", "topic": "apple", "host": "alpha"}) + "\n")
        out.write(json.dumps({"url": "n", "html": None, "topic": "apple", "host": "alpha"}) + "\n")
        out.write("no json\n")
    problems: list[str] = []
    results = mining_experiment(data, settings(runs=2), on_problem=problems.append)
    (task,) = results.tasks
    assert task.emptied == {"N": 1, "W": 1}
    assert len(task.task.page) == 31
    assert any("could not be read and is left out" in note for note in problems)
    assert any("line 33 is no JSON object" in note for note in problems)
    assert "rows of zeros, by method: N 1, W 1." in mining_html(results)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "colour"], "has no column colour; the columns are: url, html, host, topic"),
        ([], "there are no classes to predict: give --label COLUMN, or --target"),
        (["--label", "topic", "--methods", "N,Q"], "there is no method 'Q' to mine with; there are: N (none)"),
        (["--label", "topic", "--configurations", "4"], "no configurations '4'"),
        (["--target", "topic", "--where", "a=b"], "--where goes with --label"),
        (["--label", "topic", "--where", "ab"], "no condition 'ab': expected COLUMN=VALUE"),
        (["--label", "topic", "--target", "topic"], "two tasks have one name"),
    ],
)
def test_bad_usage_is_reported_in_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    data = collection(tmp_path, {("alpha", "apple"): 1})
    given = ["experiment", "mining", "--data", data, "--site-column", "host", "-o", tmp_path / "out", *arguments]
    monkeypatch.setattr(sys, "argv", ["webwinnow", *map(str, given)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith("webwinnow: ")
    assert message in stderr
    assert stderr.count("\n") == 1


def test_a_file_that_is_no_table_is_reported(tmp_path):
    (tmp_path / "page.html").write_text("<p>one page")
    with pytest.raises(InputError, match="expected Parquet or JSONL"):
        mining_experiment(tmp_path / "page.html", settings())
    with pytest.raises(InputError, match="cannot be read"):
        mining_experiment(tmp_path / "nowhere.parquet", settings())


# Settings


def test_tasks_are_read_from_their_short_form():
    assert TaskSettings.parse("topic") == TaskSettings(label="topic")
    assert TaskSettings.parse(" car makes: label where vertical=auto and year = 2011 ") == TaskSettings(
        name="car makes", label="label", where=(("vertical", "auto"), ("year", "2011"))
    )
    assert TaskSettings.parse("all: vertical runs 200") == TaskSettings(name="all", label="vertical", runs=200)
    assert TaskSettings.parse("label where a=b runs 5") == TaskSettings(label="label", where=(("a", "b"),), runs=5)
    assert TaskSettings.parse("label where vertical=auto").shown_name == "label of vertical auto"
    with pytest.raises(SettingsError, match="no condition"):
        TaskSettings.parse("label where vertical")


def test_methods_go_by_letter_or_name():
    assert [method.letter for method in mined_methods(["n", "weights", "W", " C"])] == ["N", "W", "C"]


# Output


class Checker(HTMLParser):
    """Every start tag, and whether tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


HOSTILE = "<script>alert(1)</script>"


def test_hostile_names_are_text_in_the_page_and_no_formulas_in_the_tables(tmp_path):
    cells = {(site, topic): 3 for site in ("=SUM(A1)", "+1 site", "@site") for topic in ("-2+3", HOSTILE)}
    data = collection(tmp_path, cells)
    results = mining_experiment(data, settings(tasks=f"=x{HOSTILE}: topic", runs=2), command=f"webwinnow '{HOSTILE}'")
    written = mining_html(results)
    checker = Checker()
    checker.feed(written)
    assert not checker.open
    assert "script" not in {tag for tag, _ in checker.tags}
    assert not [name for _, attributes in checker.tags for name in attributes if name.startswith("on")]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in written
    for path in write_tables(tables_of(results), tmp_path):
        for row in csv.reader(path.read_text(encoding="utf-8").splitlines()):
            for cell in row:
                assert not cell.startswith(("+", "@", "=")), (path, cell)
                assert not cell.startswith("-") or re.fullmatch(r"-[\d.]+", cell), (path, cell)
    quoted = (tmp_path / "experiments.csv").read_text(encoding="utf-8")
    assert "'=SUM(A1)" in quoted
    assert "'-2+3" in quoted


def test_the_page_is_self_contained_and_has_all_plots(small):
    written = mining_html(small)
    checker = Checker()
    checker.feed(written)
    assert not checker.open
    loads = [a for _, attributes in checker.tags for a in attributes if a in ("src", "srcset", "data", "action")]
    assert not loads
    assert all(a["href"].startswith("#") for tag, a in checker.tags if tag == "a")
    assert "default-src 'none'" in written.replace("&#39;", "'")
    assert written.count('class="panel ') == len(MINED_METHODS)
    assert written.count('class="dots"') == len(MINED_METHODS)
    for words in ("Figures 5-5, 5-7", "Figures 5-6, 5-8", "Tables 5-3, 5-4", "DocView, Figure 5", "Tables 5-1, 5-2"):
        assert words in written
    assert len(written) < 150_000


def test_the_tables_hold_what_the_papers_print(small, tmp_path):
    tables = {}
    for path in write_tables(tables_of(small), tmp_path):
        with path.open(encoding="utf-8", newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))
    (task,) = small.tasks
    overall = [row for row in tables["averages"] if not row["class_1"] and row["configuration"] == "3"]
    assert {row["method"]: float(row["f"]) for row in overall} == {
        letter: round(task.average(letter, 3).f, 4) for letter in task.letters
    }
    assert len(tables["experiments"]) == 3 + 6 + 6
    assert len(tables["runs"]) == 6
    assert [row["method"] for row in tables["clustering"]] == list(MINED_METHODS)
    assert {"Ave", "F<0.5", "F>=0.9"} - set(tables["clustering"][0]) == {"Ave"}
    assert len(tables["neighbours"]) == 2 * len(MINED_METHODS)


def test_one_line_runs_it_on_ones_own_pages(tmp_path):
    data = collection(tmp_path, GRID)
    arguments = ("--data", data, "--label", "topic", "--site-column", "host", "-o", tmp_path / "out")
    done = run(*arguments, "--methods", "N,W", "--runs", "4", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "topic: the thesis's finding: holds" in done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "averages.csv",
        "clustering.csv",
        "experiments.csv",
        "mining.html",
        "neighbours.csv",
        "runs.csv",
    ]
    assert "--label topic --site-column host" in (tmp_path / "out" / "mining.html").read_text(encoding="utf-8")


def test_the_committed_report_shows_the_finding_and_stays_small():
    folder = Path(__file__).parents[3] / "docs" / "experiments" / "mining"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
    with (folder / "averages.csv").open(encoding="utf-8", newline="") as file:
        overall = {
            (row["task"], row["method"], row["configuration"]): float(row["f"])
            for row in csv.DictReader(file)
            if not row["class_1"] and row.get("rows", "unit") == "unit"
        }
    for task in ("car makes", "cuisines", "job roles"):
        lost, kept = (overall[task, letter, "1"] - overall[task, letter, "3"] for letter in ("N", "W"))
        assert lost > 0.3
        assert kept <= lost / 2
    assert ("verticals", "N", "1") not in overall
    written = (folder / "mining.html").read_text(encoding="utf-8")
    assert "Where the site itself determines the class cleaning cannot help" in written
    checker = Checker()
    checker.feed(written)
    assert "script" not in {tag for tag, _ in checker.tags}


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "sites-swde.parquet").exists(), reason="WEBWINNOW_DATA has no sites-swde.parquet")
def test_the_finding_of_the_thesis_holds_on_car_makes_with_rows_of_length_1_and_in_part_without():
    chosen = settings(
        tasks="makes: label where vertical=auto", site="site", runs=0, jobs=0, neighbours=False, rows="both"
    )
    (task,) = mining_experiment(DATA / "sites-swde.parquet", chosen).tasks
    assert finding(task) in (Finding.HOLDS, Finding.IN_PART)
    assert task.average("W", 3).f > task.average("N", 3).f + 0.25
    assert finding(replace(task, trials=task.unit_trials)) is Finding.HOLDS
    assert task.average("W", 3, unit=True).f > 0.9
