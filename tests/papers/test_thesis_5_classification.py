"""Thesis 5.1.2, 5.2 and 5.5, Weights 4: the separating hyperplane, the data sets and the averages of the tables."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from webwinnow.classify.classifiers import LinearSVM
from webwinnow.papers.mining.miners import ClusterRun, PairTrial, SitePair, f_and_accuracy, predicted_first
from webwinnow.papers.mining.report import mining_html
from webwinnow.papers.mining.results import ClusterStatistics, MiningResults, TaskResults
from webwinnow.papers.mining.tasks import LabelledTask, TaskSettings
from webwinnow.papers.mining.words import mined_methods

# 5.1.2


def test_equations_6_4_to_6_7_the_hyperplane_has_the_widest_margin():
    """Two pages (1, 0) and (0, 1): the widest margin is their distance, so |w| = 2 / sqrt(2), w = (1, -1), b = 0."""
    rows = sp.csr_matrix(np.eye(2))
    machine = LinearSVM(cost=1e6, folds=0).fit(rows, ["printer", "camera"])
    printer = machine.classes_.tolist().index("printer")
    w, b = machine.weight_[printer], float(machine.bias_[printer])
    assert w == pytest.approx([1, -1], abs=1e-3)
    assert b == pytest.approx(0, abs=1e-3)
    margins = rows @ w + b
    assert np.abs(margins) == pytest.approx([1, 1], abs=1e-3)  # (6-6): the nearest pages have |<w, x> + b| = 1
    assert 2 / np.linalg.norm(w) == pytest.approx(np.sqrt(2), abs=1e-3)  # (6-7)


def test_pages_are_classified_by_the_side_of_the_hyperplane():
    train = sp.csr_matrix(np.array([[1.0, 0.1], [1.0, 0.2], [0.1, 1.0], [0.2, 1.0]]))
    tested = sp.csr_matrix(np.array([[1.0, 0.9], [0.9, 1.0]]))
    assert predicted_first(train, np.array([True, True, False, False]), tested).tolist() == [True, False]


# 5.2

TABLE_5_1 = {
    "Notebook": (434, 480, 51, 144, 143),
    "Camera": (402, 219, 80, 137, 151),
    "Mobile": (45, 109, 9, 43, 97),
    "Printer": (767, 500, 104, 107, 80),
    "TV": (719, 449, 199, 0, 0),
}
TABLE_5_2 = {
    "Business": (502, 497, 0, 370, 503),
    "Entertainment": (499, 500, 496, 495, 501),
    "Health": (506, 502, 505, 495, 502),
    "Politics": (505, 0, 0, 497, 252),
    "Technology": (489, 493, 506, 503, 492),
}


def task_of(table: dict[str, tuple[int, ...]], sites: str) -> LabelledTask:
    """The task of a data set: one row for each page that a table counts."""
    rows = [(name, site) for name, row in table.items() for site, n in zip(sites.split(), row, strict=True) if n]
    pages = [row for row in rows for _ in range(table[row[0]][sites.split().index(row[1])])]
    return LabelledTask.of(TaskSettings(label="x"), [c for c, _ in pages], [s for _, s in pages], [True] * len(pages))


@pytest.mark.parametrize(
    ("table", "sites", "total"),
    [(TABLE_5_1, "Amazon CNet JandR PCMag ZDnet", 5469), (TABLE_5_2, "ABC BBC CBS CNN USAToday", 10610)],
)
def test_tables_5_1_and_5_2_count_pages_by_class_and_site(table, sites, total):
    """The text has 5460 for Table 5-1, whose cells add up to 5469; Table 5-2 adds up to the 10610 of the text."""
    task = task_of(table, sites)
    assert len(task.page) == total
    assert {name: tuple(row) for name, row in zip(task.classes, task.counts.tolist(), strict=True)} == table


def test_f_is_the_harmonic_mean_of_precision_and_recall():
    truth, predicted = np.array([1, 1, 1, 1, 0, 0], bool), np.array([1, 1, 0, 0, 1, 0], bool)
    precision, recall = 2 / 3, 2 / 4
    f, accuracy = f_and_accuracy(truth, predicted)
    assert f == pytest.approx(2 * precision * recall / (precision + recall))
    assert accuracy == pytest.approx(3 / 6)


# 5.4, 5.5 and Weights 4.2

AVERAGES = {
    "Table 5-5": ((0.9829, 0.9939, 0.9847, 0.9920, 0.9421, 0.8240, 0.8086, 0.9787, 0.9960, 0.9736), 0.9477),
    "Table 5-9": ((0.9589, 0.9684, 0.9836, 0.9822, 0.7701, 0.8254, 0.8427, 0.9432, 0.9466, 0.9748), 0.9196),
    "Table 5-11": ((0.9224, 0.9362, 0.9227, 0.7993, 0.9602, 0.9828, 0.8631, 0.9804, 0.9336, 0.8849), 0.9186),
    "Weights, Table 2": ((0.946, 0.817, 0.933, 0.909, 0.962, 0.967, 0.982, 0.848, 0.851, 0.972), 0.919),
}
"""F of each pair of five classes as printed (N, W, N, C), and the average that is printed below."""


@pytest.mark.parametrize("name", AVERAGES)
def test_the_average_of_a_table_is_over_pairs_of_classes(name):
    """The last class lacks two sites, so its pairs have fewer experiments; a mean over experiments would differ."""
    printed, average = AVERAGES[name]
    task = task_of(TABLE_5_1, "Amazon CNet JandR PCMag ZDnet")
    trials = []
    for (first, second), f in zip(combinations(range(5), 2), printed, strict=True):
        for site in range(3 if second == 4 else 5):
            wobble = 0.01 * (site % 2 - (1 / 3 if second == 4 else 2 / 5))  # experiments differ, their mean is `f`
            trials.append(PairTrial(1, SitePair(first, second, site, site), 10, 10, f + wobble, 0.5))
    (method,) = mined_methods(["N"])
    found = TaskResults(
        task=task,
        methods=(method,),
        trials={"N": tuple(trials)},
        unit_trials={"N": ()},
        runs={"N": ()},
        neighbours={"N": ()},
        emptied={"N": 0},
        folds_by="",
    )
    results = MiningResults(
        data="x",
        pages=1,
        sites=5,
        methods=(method,),
        rows="raw",
        runs=0,
        seed=0,
        tasks=(found,),
        left_out=(),
        notes=(),
        command="",
    )
    page = mining_html(results)
    cells = re.search(r"mean over pairs.*?</tr>", page, re.DOTALL)
    assert cells is not None
    assert re.findall(r"\d\.\d+", cells[0])[0] == f"{average:.3f}"
    over_all = found.average("N", 1)
    assert over_all is not None
    assert f"{over_all.f:.3f}" != f"{average:.3f}"


def test_weights_4_2_counts_the_runs_above_and_below():
    """84.38 % of 800 runs have F of 0.7 or more and 4.63 % below 0.5: 675 and 37 runs."""
    runs = [ClusterRun(k, 0.7 if k < 675 else 0.49 if k < 712 else 0.5, 1.0, 1.0) for k in range(800)]
    found = ClusterStatistics.of(runs)
    assert found.at_least[0.7] == round(0.8438 * 800)
    assert found.below[0.5] == round(0.0463 * 800)
