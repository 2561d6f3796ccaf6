"""The command `webwinnow classify` on small generated sites."""

from __future__ import annotations

import csv
import json
import random
import re

import pytest

from webwinnow import InputError, PageRecord, SettingsError, learn, parse
from webwinnow.classify.apply import apply_classes
from webwinnow.classify.classmodel import ClassModel
from webwinnow.classify.train import ClassifySettings, train_classes
from webwinnow.run.settings import CollectionSettings

SITES = ("a.example", "b.example", "c.example")
CARS = "=<script>cars"
"""A class name that a spreadsheet or a browser must not execute."""
WORDS = {
    "pets/cats": "kitten whisker purr meow tabby litter".split(),
    "pets/dogs": "puppy bark leash kennel terrier fetch".split(),
    CARS: "gearbox wheel motor clutch petrol axle".split(),
}


RUN = CollectionSettings(jobs=1)


def page(site: str, number: int, label: str | None) -> dict[str, object]:
    menu = "".join(f"<li><a href='/s{k}'>{site.replace('.', ' ')} menu</a>" for k in range(4))
    words = WORDS[label] if label is not None else []
    story = " ".join(words[(number + k) % 6] for k in range(4)) if words else "nothing known stands here"
    html = f"<title>t</title><body><ul>{menu}</ul><main><p>{story}</p></main><footer>About {site}</footer>"
    found = {"url": f"http://{site}/{number}", "page_id": f"{site}/{number}", "html": html}
    return found if label is None else found | {"topic": label}


def labelled(sites=SITES, each: int = 6) -> list[dict[str, object]]:
    """Pages of each class on each site, in turn."""
    return [
        page(site, number, label)
        for site in sites
        for number, label in enumerate(label for _ in range(each) for label in WORDS)
    ]


def test_a_page_of_none_of_the_classes_has_no_label(trained, webwinnow, write_crawl, records, tmp_path):
    _, model = trained
    mixed = " ".join(word for words in WORDS.values() for word in words[:2])
    new = [*labelled(["new.example"], 1), page("other.example", 1, None) | {"html": f"<p>{mixed} and more"}]
    crawl, out = write_crawl(new, "new.jsonl"), tmp_path / "o.jsonl"
    command = ("classify", "apply", model, crawl, "-o", out, "--jobs", 1)
    assert webwinnow(*command).returncode == 0
    plain = records(out)
    assert [line["outcome"] for line in plain] == ["labelled"] * 4
    assert plain[3]["none"] > max(line["none"] for line in plain[:3])
    least = str(plain[3]["none"])
    for options, reason in (
        (("--none", least), "none of these classes"),
        (("--min-probability", str(plain[3]["probability"] + 1e-4)), "the class has a probability below"),
    ):
        done = webwinnow(*command, *options)
        assert "3 labelled, 1 of none of the classes" in done.stderr
        line = records(out)[3]
        assert (line["outcome"], line["label"], line["second"]) == ("none", None, plain[3]["label"])
        assert line["reason"].startswith(reason)


def test_the_pages_of_errors_are_linked_in_the_report(webwinnow, write_crawl, tmp_path):
    pages = labelled()
    pages[0] |= {"topic": CARS}
    report = tmp_path / "r.html"
    done = webwinnow(
        *("classify", "train", write_crawl(pages), "--label", "topic", "-o", tmp_path / "m.npz"),
        *("--report", report, "--jobs", 1),
    )
    assert done.returncode == 0, done.stderr
    assert '<a href="http://a.example/0">a.example/0</a>' in report.read_text()


@pytest.mark.parametrize("classifier", ["svm", "knn"])
@pytest.mark.parametrize("cleaned", [False, True], ids=["pages", "records"])
def test_every_page_that_the_report_names_is_linked(webwinnow, write_crawl, tmp_path, classifier, cleaned):
    """Labels that mean nothing, so that many pages are named; cleaned records are input too."""
    chance, pages = random.Random(1), [page | {"page_id": None} for page in labelled()]
    labels = ["url,label", *(f"{page['url']},{chance.choice('xy')}" for page in pages)]
    (tmp_path / "labels.csv").write_text("\n".join(labels))
    given, report = write_crawl(pages), tmp_path / "r.html"
    if cleaned:
        assert webwinnow("clean", given, "-o", tmp_path / "clean.jsonl", "--method", "none", "-q").returncode == 0
        given = tmp_path / "clean.jsonl"
    done = webwinnow(
        *("classify", "train", given, "--labels", tmp_path / "labels.csv", "--weighting", "tfidf"),
        *("--classifier", classifier, "-o", tmp_path / "m.npz", "--report", report, "--jobs", 1),
    )
    assert done.returncode == 0, done.stderr
    rows = report.read_text().partition("<h2>Errors</h2>")[2].partition("</table>")[0].split("<tr>")[2:]
    assert len(rows) > 5
    for row in rows:
        linked = re.search(r'<a href="(http://[a-c]\.example/\d+)">(.*?)</a>', row)
        assert linked is not None, row
        assert linked[1] == linked[2]


def test_one_clean_page_has_the_class_of_the_command(trained, webwinnow, write_crawl, records, tmp_path):
    known = ClassModel.load(trained[1])
    new, out = labelled(["new.example"], 2), tmp_path / "o.jsonl"
    webwinnow("classify", "apply", trained[1], write_crawl(new, "new.jsonl"), "-o", out, "--jobs", 1)
    pages = [PageRecord(url=one["url"], body=one["html"].encode()) for one in new]
    site = learn(pages)
    for page, line in zip(pages, records(out), strict=True):
        found = known.classify(site.clean(page))
        assert found == (line["label"], line["probability"], line["none"])
    assert known.classify(parse("<p>zzyzx")) == (None, 0.0, 1.0)


def test_clean_fills_the_category_with_the_class_of_the_command(trained, webwinnow, write_crawl, records, tmp_path):
    crawl = write_crawl(labelled(["new.example", "other.example"], 3), "new.jsonl")
    outs = [tmp_path / "classes.jsonl", tmp_path / "clean.jsonl"]
    assert webwinnow("classify", "apply", trained[1], crawl, "-o", outs[0], "--jobs", 1).returncode == 0
    done = webwinnow("clean", crawl, "-o", outs[1], "--classes", trained[1], "--jobs", 2)
    assert done.returncode == 0, done.stderr
    classes, clean = ({line["page_id"]: line for line in records(out)} for out in outs)
    assert {name: line["category"] for name, line in clean.items()} == {n: one["label"] for n, one in classes.items()}
    refused = webwinnow("clean", crawl, "-o", outs[1], "--classes", trained[1], "--method", "page")
    assert refused.returncode == 2
    assert "expected a method that learns sites" in refused.stderr


@pytest.fixture
def trained(webwinnow, write_crawl, tmp_path):
    """A trained model, its report and scores; some pages have no label or no text, or are invalid."""
    pages = labelled()
    pages.append(page("a.example", 90, None))
    pages.append(page("a.example", 91, CARS) | {"html": "<body>"})
    crawl = write_crawl(pages)
    with crawl.open("a") as lines:
        lines.write("no json\n")
    done = webwinnow(
        *("classify", "train", crawl, "--label", "topic", "-o", tmp_path / "m.npz"),
        *("--report", tmp_path / "r.html", "--scores", tmp_path / "s.json", "--jobs", 1),
    )
    return done, tmp_path / "m.npz"


def test_classes_are_learned_scored_by_site_and_predicted_for_new_sites(
    trained, webwinnow, write_crawl, records, tmp_path
):
    done, model = trained
    assert done.returncode == 1  # one line is not a page
    assert "5 folds" not in done.stderr
    assert "3 folds by site" in done.stderr
    assert "1 page without a label" in done.stderr
    assert "1 page with a label and without features" in done.stderr
    assert "1 page could not be read" in done.stderr
    scores = json.loads((tmp_path / "s.json").read_text())
    assert scores["pages"] == {"failed": 1, "without_label": 1, "all": 57, "empty": 1, "learned": 54}
    assert [len(level["classes"]) for level in scores["levels"]] == [2, 3]
    assert all(level["accuracy"] == 1 for level in scores["levels"])
    assert 0 <= scores["probabilities"]["brier"] < 0.5

    report = (tmp_path / "r.html").read_text()
    assert "<svg" in report
    assert "<script" not in report.lower()
    assert "=&lt;script&gt;cars" in report
    assert "Confusion matrix, level 2" in report

    new = [*labelled(["new.example"], 2), page("new.example", 50, CARS) | {"html": ""}, {"url": "http://new.example/x"}]
    new.append(page("other.example", 1, None) | {"html": "<p>zzyzx</p>"})
    out = tmp_path / "o.jsonl"
    applied = webwinnow("classify", "apply", model, write_crawl(new, "new.jsonl"), "-o", out, "--jobs", 1)
    assert applied.returncode == 1
    assert "9 pages: 6 labelled, 2 empty, 1 failed" in applied.stderr
    found = records(out)
    assert [line["url"] for line in found] == [line["url"] for line in new]
    for line, truth in zip(found, new, strict=True):
        if line["outcome"] == "labelled":
            assert line["label"] == truth["topic"]
            assert 0.5 < line["probability"] <= line["level_1_probability"] <= 1
            assert line["level_1"] == truth["topic"].split("/")[0]
            assert line["level_2"] == line["label"]
            assert line["second"] != line["label"]
    outcomes = [(line["outcome"], line["label"], line["reason"]) for line in found[6:]]
    assert outcomes[0] == ("empty", None, "the page says nothing that counts")
    assert outcomes[1][0] == "failed"
    assert outcomes[2] == ("empty", None, "nothing that the page says was met in training")

    table = tmp_path / "o.csv"
    assert apply_classes(ClassModel.load(model), [tmp_path / "new.jsonl"], table, RUN).failed == 1
    with table.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 9
    assert rows[2]["label"] == f"'{CARS}"


def test_labels_may_stand_in_a_file_and_neighbours_vote(webwinnow, write_crawl, records, tmp_path):
    pages = labelled()
    named = tmp_path / "labels.csv"
    with named.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["url", "label"])
        writer.writerows((found["url"], found.pop("topic")) for found in pages)
    crawl, model, out = write_crawl(pages), tmp_path / "m.npz", tmp_path / "o.jsonl"
    done = webwinnow(
        *("classify", "train", crawl, "--labels", named, "-o", model, "--classifier", "knn"),
        *("--separator", "", "--weighting", "tfidf", "--jobs", 1),
    )
    assert done.returncode == 0, done.stderr
    assert "accuracy 1.000" in done.stderr
    apply_classes(ClassModel.load(model), [crawl], out, RUN)
    found = records(out)
    assert "level_1" not in found[0]
    assert {line["label"] for line in found} == set(WORDS)


def test_one_class_only_is_reported_and_learned(write_crawl):
    pages = [found for found in labelled() if found["topic"] == "pets/cats"]
    done = train_classes([write_crawl(pages)], ClassifySettings(), RUN, label="topic")
    assert "one class only, 'pets/cats'" in done.remarks[0]
    assert done.model.classifier.classes_.tolist() == ["pets/cats"]
    assert (done.folds, done.scores) == (None, ())


def test_classes_of_one_page_and_of_one_site_are_reported(write_crawl):
    pages = [*labelled(each=2), page("a.example", 80, CARS) | {"topic": "rare"}]
    pages += [page("b.example", n, CARS) | {"topic": "local"} for n in (81, 82)]
    done = train_classes([write_crawl(pages)], ClassifySettings(), RUN, label="topic")
    assert done.remarks[0].startswith("1 class (rare) of one page")
    assert done.remarks[1].startswith("1 class (local) on one site only")
    assert done.folds is not None
    assert done.folds.by == "site"


def test_column_that_is_not_there_is_exit_2_and_lists_those_that_are(webwinnow, write_crawl, tmp_path):
    done = webwinnow("classify", "train", write_crawl(labelled(each=1)), "--label", "tpoic", "-o", tmp_path / "m.npz")
    assert done.returncode == 2
    assert "no column 'tpoic'" in done.stderr
    assert "url, page_id, html, topic" in done.stderr
    assert not (tmp_path / "m.npz").exists()


def test_no_page_with_a_label_is_an_error_that_counts(write_crawl, tmp_path):
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"url": "http://elsewhere.example/", "label": "x"}\n')
    with pytest.raises(InputError, match=r"of 9 pages 9 have no label in .*labels\.jsonl"):
        train_classes([write_crawl(labelled(each=1))], ClassifySettings(), RUN, labels=labels)


def test_senseless_settings_are_refused(tmp_path):
    with pytest.raises(
        SettingsError, match=r"the name of a column of labels \(--label\) or a file of labels \(--labels\)"
    ):
        train_classes([tmp_path], ClassifySettings(), RUN)
    with pytest.raises(SettingsError, match="there are: svm, knn"):
        ClassifySettings(method="oracle")
    with pytest.raises(SettingsError, match="expected 1 or more"):
        ClassifySettings(method="knn", neighbours=0)


def test_file_that_is_no_model_is_exit_2(webwinnow, write_crawl, tmp_path):
    crawl = write_crawl(labelled(each=1))
    done = webwinnow("classify", "apply", crawl, crawl, "-o", tmp_path / "o.jsonl")
    assert done.returncode == 2
    assert "not a webwinnow classifier" in done.stderr
    assert "Traceback" not in done.stderr
