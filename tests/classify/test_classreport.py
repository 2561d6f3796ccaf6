"""The report on classes: charts of any number of classes, labels and pages escaped."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from webwinnow.classify.charts import MOST_CLASSES, confusion_chart, reliability_chart
from webwinnow.classify.classifiers import Folds, LinearSVM, sparse_rows
from webwinnow.classify.classmodel import ClassModel
from webwinnow.classify.report import classes_html
from webwinnow.classify.scores import ClassScores, Reliability
from webwinnow.classify.train import Mistake, Trained
from webwinnow.features.vectors import FeatureMatrix, VectorSettings

HOSTILE = "</title><script>alert(1)</script>\"' onload=x"


@pytest.fixture
def trained() -> Trained:
    cells = np.ones(4), np.array([0, 1, 0, 1], np.int32), np.arange(5)
    matrix = FeatureMatrix(*cells, [], [HOSTILE, "plain"], np.arange(2, dtype=np.uint64))
    labels = [HOSTILE, "b", HOSTILE, "b"]
    classifier = LinearSVM(folds=0).fit(sparse_rows(*cells, 2), labels)
    return Trained(
        model=ClassModel.of("svm", classifier, matrix, VectorSettings()),
        pages=Counter(all=4, learned=4),
        sites=3,
        folds=Folds(np.arange(4), 4, "site", HOSTILE),
        scores=(ClassScores.of(labels, ["b", "b", HOSTILE, "b"]),),
        reliability=Reliability.of(np.full((4, 2), 0.5), np.array([0, 1, 0, 1])),
        mistakes=(Mistake(HOSTILE, HOSTILE, HOSTILE, HOSTILE, "b", 0.5),),
        remarks=(HOSTILE,),
    )


def test_nothing_of_labels_pages_or_words_is_read_as_html(trained):
    report = classes_html(trained)
    assert "<script" not in report
    assert report.count("&lt;script&gt;") >= 7
    assert "default-src &#39;none&#39;" in report
    assert not re.search(r"(?:src|href)\s*=", report)


def test_report_without_scores_is_a_page_too(trained):
    bare = replace(trained, folds=None, scores=(), reliability=None, mistakes=(), remarks=("one class only",))
    report = classes_html(bare)
    assert "one class only" in report
    assert "Confusion" not in report


@pytest.mark.parametrize("count", [1, 2, 6, 20, 30, MOST_CLASSES, MOST_CLASSES + 30])
def test_picture_of_any_number_of_classes_is_well_formed(count):
    names = [f"class & {n:03}" for n in range(count)]
    picture = ElementTree.fromstring(confusion_chart(ClassScores.of(names, names)))
    squares = [element for element in picture.iter("rect") if element.get("class") == "cell"]
    assert len(squares) == min(count, MOST_CLASSES) ** 2


def test_picture_of_no_page_is_well_formed():
    ElementTree.fromstring(confusion_chart(ClassScores.of([], [])))
    ElementTree.fromstring(reliability_chart(Reliability.of(np.zeros((0, 2)), np.zeros(0, np.int64))))


def test_deeper_squares_have_greater_shares():
    picture = ElementTree.fromstring(confusion_chart(ClassScores.of(list("aaaab"), list("aaabb"))))
    depth = {
        (square.get("class"), title.text): float(square.get("fill-opacity"))
        for group in picture.iter("g")
        for title, square in [(group.find("title"), group.find("rect"))]
    }
    assert depth["right", "a: 3 of 4 pages classified as a"] > depth["wrong", "a: 1 of 4 pages classified as b"]
