"""DocView on pages with truth: page types labelled by hand, abstracts and titles, and the cost of a view per page.

`python benchmarks/docview.py --held-out` measures abstracts with page models that have not seen the page's site. It
trains five models, which takes long.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from metadata import _word_f1

LABELS = Path(__file__).parents[1] / "tools" / "labels"
TRUE_SENTENCES = 3
"""Pages whose true text has fewer sentences need no abstract."""
GOOD_TITLE = 0.8
ROUNDS = 4
TIMED_PAGES = 200
_WORD = re.compile(r"\w+")


def docview(data: Path) -> list[tuple[str, str]]:
    """Types, abstracts, titles, cost."""
    return [*_types(data), *_texts(data), *_cost(data)]


# Page types


def _types(data: Path) -> Iterator[tuple[str, str]]:
    """Accuracy of the page type: on what `combined` keeps after learning each site, and with method `docview`."""
    labels = {name: _labels(LABELS / f"{name}.tsv") for name in ("page-types", "page-types-later")}
    wanted = set().union(*labels.values())
    found: dict[str, dict[str, str | None]] = defaultdict(dict)
    for page_id, method, predicted in _typed(data, wanted):
        found[method][page_id] = predicted
    for name, true in labels.items():
        when = "labelled before anything was tuned" if name == "page-types" else "labelled when all was fixed"
        for method, predicted in found.items():
            right = sum(predicted[page_id] == label for page_id, label in true.items())
            wrong = Counter(
                f"{label} as {predicted[page_id]}" for page_id, label in true.items() if predicted[page_id] != label
            )
            errors = ", ".join(f"{what} {count}" for what, count in wrong.most_common()) or "none"
            yield (
                f"page type, {len(true)} pages of crawl-ics {when}, `{method}`",
                f"**{right / len(true):.3f}** right; wrong: {errors}",
            )


def _labels(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return {row["page_id"]: row["type"] for row in csv.DictReader(lines, delimiter="\t")}


def _typed(data: Path, wanted: set[str]) -> Iterator[tuple[str, str, str | None]]:
    import webwinnow

    by_site = defaultdict(list)
    for page in pq.read_table(data / "crawl-ics.parquet").to_pylist():
        by_site[page["site"]].append(page)
    for site, pages in by_site.items():
        trees = [webwinnow.parse(page["html"], url=page["url"]) for page in pages]
        model = webwinnow.learn(trees, site)
        for page, tree in zip(pages, trees, strict=True):
            if page["page_id"] in wanted:
                for method in ("combined", "docview"):
                    yield page["page_id"], method, model.clean(tree, method).view.type


# Abstracts and titles


def _texts(data: Path) -> Iterator[tuple[str, str]]:
    """Abstracts and titles of single pages."""
    import webwinnow

    pages = _pages(data)
    views = [webwinnow.clean_page(webwinnow.parse(page["html"], url=page["url"])).view for page in pages]
    yield from abstracts([(page, view.abstract) for page, view in zip(pages, views, strict=True)], "in-sample")
    titled = [(page["title"], view.title) for page, view in zip(pages, views, strict=True) if page["title"]]
    good = statistics.mean(_word_f1(true, title) >= GOOD_TITLE for true, title in titled)
    yield f"titles with word F1 of {GOOD_TITLE} or more ({len(titled)} pages)", f"**{good:.3f}**"
    kinds = defaultdict(Counter)
    for page, view in zip(pages, views, strict=True):
        kinds[page["page_type"]][str(view.type)] += 1
    counts = "; ".join(f"{kind} {dict(found.most_common())}" for kind, found in sorted(kinds.items()))
    yield "types by WCXB's page types (no truth: seven kinds of page against three)", counts


def _pages(data: Path) -> list[dict[str, Any]]:
    return pq.read_table(data / "pages-wcxb.parquet").to_pylist()


def abstracts(found: list[tuple[dict[str, Any], str]], how: str) -> Iterator[tuple[str, str]]:
    """Count the pages that need an abstract and have one, and the sentences of abstracts that the true text contains.

    Letters and digits of a sentence must occur in sequence; blanks and punctuation are ignored.
    """
    needed = [abstract for page, abstract in found if _true_sentences(page["text"]) >= TRUE_SENTENCES]
    yield (
        f"abstracts that are not empty ({len(needed)} pages with {TRUE_SENTENCES} true sentences or more; {how})",
        f"**{statistics.mean(map(bool, needed)):.3f}**",
    )
    right = Counter()
    by_page = []
    for page, abstract in found:
        truth = _squeezed(page["text"])
        inside = [_squeezed(sentence) in truth for sentence in abstract.split("\n") if _squeezed(sentence)]
        right.update(inside)
        by_page += [statistics.mean(inside)] if inside else []
    yield (
        f"sentences of abstracts that are in the true text ({right.total():,} sentences; {how})",
        f"**{right[True] / right.total():.3f}**; mean over pages {statistics.mean(by_page):.3f}",
    )


def _true_sentences(text: str) -> int:
    from webwinnow.record.view import is_sentence, sentences

    return sum(is_sentence(sentence) for _, sentence in sentences(text.split("\n")))


def _squeezed(text: str) -> str:
    return "".join(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def held_out(data: Path, progress: Callable[[str], None] = print) -> Iterator[tuple[str, str]]:
    """Abstracts of pages cleaned by models that saw neither the page nor its site."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
    from training.fit import fit, folds_of
    from training.pages import load

    from webwinnow.judge.evidence import page_with
    from webwinnow.judge.page import PageSettings, clean
    from webwinnow.record.cleaner import CleanPage

    pages = load(data)
    fold = folds_of(pages, 5, 0)
    found = []
    for k in range(5):
        model = fit([page for page, f in zip(pages, fold, strict=True) if f != k], seed=0, progress=lambda _: None)
        progress(f"fold {k + 1} of 5")
        for page, f in zip(pages, fold, strict=True):
            if f == k and page.source == "pages-wcxb":
                judged = page_with(page.tree, model=model)
                view = CleanPage(judged, clean(judged, None, PageSettings())).view
                found.append(({"text": page.truth}, view.abstract))
    yield from abstracts(found, "sites not seen")


# Cost


def _cost(data: Path) -> Iterator[tuple[str, str]]:
    """Measure what a view adds to parsing, cleaning, metadata and text: minimum of several rounds for each page."""
    import webwinnow
    from webwinnow.record.view import view_of

    spent: dict[str, float] = defaultdict(float)
    for page in _pages(data)[:TIMED_PAGES]:
        least: dict[str, float] = defaultdict(lambda: np.inf)

        def timed(what: str, work: Callable[[], Any], least: dict[str, float] = least) -> Any:
            started = time.process_time()
            done = work()
            least[what] = min(least[what], time.process_time() - started)
            return done

        for _ in range(ROUNDS):
            tree = timed("parse", lambda page=page: webwinnow.parse(page["html"], url=page["url"]))
            clean = timed("clean", lambda tree=tree: webwinnow.clean_page(tree))
            about = timed("metadata", lambda tree=tree: webwinnow.metadata(tree))
            text = timed("text", lambda clean=clean: clean.text)
            timed("links", lambda clean=clean: clean.links)
            timed("view", lambda t=tree, c=clean, a=about, x=text: view_of(t, c.verdict, a, x, "en"))
        for what, seconds in least.items():
            spent[what] += seconds
    added = spent["view"] - spent["links"]  # a record had its links before
    whole = sum(spent.values()) - added - spent["links"]
    yield "a view, ms per page", f"{1000 * added / TIMED_PAGES:.2f}"
    yield "a view / parsing the page", f"**{added / spent['parse']:.2f}**"
    yield "a view / parsing, cleaning, metadata, text and links", f"**{added / whole:.2f}**"


if __name__ == "__main__":
    import os

    for what, measured in (held_out if "--held-out" in sys.argv else docview)(Path(os.environ["WEBWINNOW_DATA"])):
        print(f"{what}: {measured}")
