"""Quality rules compared with datatrove's own filters on the same texts: decisions, reasons, the cost of signals."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

FILES = {"sites-news": "column", "pages-wcxb": "host"}
COSTED = 150
"""Texts and pages of which the cost is measured."""
COLUMNS = ("texts", "rules", "kept by datatrove", "kept here", "same decision", "same rule among both dropped")


def quality_rules(data: Path) -> list[tuple[str, ...]]:
    """Clean two files, then judge every kept text by both."""
    from webwinnow.run.tablefiles import read_records

    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, site_by in FILES.items():
            out = Path(folder) / f"{name}.jsonl"
            arguments = ["clean", str(data / f"{name}.parquet"), "-o", str(out), "--site-by", site_by, "-q"]
            subprocess.run([sys.executable, "-m", "webwinnow", *arguments], check=False)
            texts = [record["text"] for record in read_records([out], on_problem=print) if record["text"]]
            rows += compared(name, texts)
    return [*rows, *cleaning_costs(data / "pages-wcxb.parquet")]


def cleaning_costs(path: Path) -> list[tuple[str, ...]]:
    """Milliseconds of CPU to parse and clean a page, and with signals or rules, each page by each in turn."""
    from webwinnow.page.urls import SiteKey
    from webwinnow.run.corpusfilter import CorpusFilter
    from webwinnow.run.inputs import open_pages
    from webwinnow.run.pageworker import PageWorker
    from webwinnow.run.settings import RunSettings
    from webwinnow.run.workerjobs import ParsePage

    filters = {
        "clean": CorpusFilter(),
        "clean --signals": CorpusFilter(signals=True),
        "clean --quality gopher": CorpusFilter(quality="gopher"),
        "clean --quality fineweb": CorpusFilter(quality="fineweb"),
    }
    alone = SiteKey.parse("none")
    workers = {name: PageWorker(RunSettings(site_by=alone, corpus=wanted)) for name, wanted in filters.items()}
    spent = dict.fromkeys(workers, 0.0)
    pages = list(islice(open_pages([path], on_problem=print), COSTED))
    for is_counted in (False, True):
        for page in pages:
            for name, worker in workers.items():
                began = time.process_time()
                worker.parse(ParsePage(page.url, page.body, page.content_type, page.site, page.page_id))
                spent[name] += (time.process_time() - began) * is_counted
    plain = spent["clean"]
    return [
        (
            path.stem,
            f"`{name}`: ms of CPU per page",
            "",
            f"{1000 * each / len(pages):.2f}",
            f"{each / plain - 1:+.1%}",
            "",
        )
        for name, each in spent.items()
    ]


def compared(name: str, texts: list[str]) -> list[tuple[str, ...]]:
    """One row per set of rules, and one for the cost."""
    judges = _judges()
    decisions: dict[str, list[tuple[str | None, str | None]]] = {rules: [] for rules in judges}
    for text in texts:  # a text at a time, since datatrove's tokens of the last ones are cached
        for rules, (theirs, ours, _) in judges.items():
            decisions[rules].append((theirs(text), ours(text)))
    rows: list[tuple[str, ...]] = []
    for rules, (_, _, names) in judges.items():
        found = decisions[rules]
        agreed = sum((a is None) == (b is None) for a, b in found)
        dropped = [(a, b) for a, b in found if a is not None and b is not None]
        same = sum(names[a] == b.partition(": ")[2].partition(" ")[0] for a, b in dropped)
        kept = [sum(one[k] is None for one in found) for k in range(2)]
        reasons = f"{same / len(dropped):.3f}" if dropped else "-"
        shares = (f"{kept[0]:,} of {len(texts):,}", f"{kept[1]:,}", f"{agreed / len(texts):.4f}", reasons)
        rows.append((name, rules, *shares))
        if "-v" in sys.argv:
            print(Counter(pair for pair in found if (pair[0] is None) != (pair[1] is None)))
    rows.append((name, "ms of CPU per text: Gopher", *_cost(texts[:COSTED]), "", ""))
    return rows


def _judges() -> dict[str, tuple[Callable[[str], str | None], Callable[[str], str | None], dict[str, str]]]:
    """Per set of rules: datatrove's judgement, ours, and the names of ours by those of datatrove's."""
    from datatrove.data import Document
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
        GopherRepetitionFilter,
        fineweb_quality_filter,
        gopher_quality_filter,
        gopher_repetition_filter,
    )

    from webwinnow.record import textquality as tq

    split = lru_cache(maxsize=8)(gopher_quality_filter.split_into_words)
    for module in (fineweb_quality_filter, gopher_quality_filter, gopher_repetition_filter):
        module.split_into_words = split

    def theirs(*filters: Any) -> Callable[[str], str | None]:
        def judge(text: str) -> str | None:
            document = Document(text=text, id="")
            for one in filters:
                found = one.filter(document)
                if found is not True:
                    return str(found[1])
            return None

        return judge

    def ours(rules: tuple[tq.Rule, ...]) -> Callable[[str], str | None]:
        def judge(text: str) -> str | None:
            signals = tq.signals_of(text)
            broken = "no words" if signals is None else next(filter(None, (r.broken_by(signals) for r in rules)), None)
            return None if broken is None else f"rules: {broken}"

        return judge

    def whole(rules: tq.QualityRules) -> Callable[[str], str | None]:
        return lambda text: tq.broken_rule(rules, text, tq.signals_of(text))

    def c4(text: str) -> str | None:
        broken = tq.c4_lines(text)[0]
        return None if broken is None else f"c4: {broken.replace(' ', '_').removesuffix('_below_5')}"

    repetition, quality = GopherRepetitionFilter(), GopherQualityFilter()
    c4_filter, fineweb = C4QualityFilter(filter_no_terminal_punct=False), FineWebQualityFilter()
    names = _NAMES
    pipeline = (repetition, quality, c4_filter, fineweb)
    return {
        "Gopher, repetition": (theirs(repetition), ours(tq.GOPHER_REPETITION), names),
        "Gopher, quality": (theirs(quality), ours(tq.GOPHER_QUALITY), names),
        "C4 without line ends": (theirs(c4_filter), c4, names),
        "FineWeb, custom": (theirs(fineweb), ours(tq.FINEWEB_QUALITY), names),
        "`--quality gopher`": (theirs(repetition, quality), whole("gopher"), names),
        "`--quality fineweb`": (
            theirs(*pipeline),
            whole("fineweb"),
            names | {"curly_bracket": "curly", "lorem_ipsum": "lorem"},
        ),
    }


_NAMES = {
    "dup_para_frac": "duplicate_paragraphs",
    "dup_para_char_frac": "duplicate_paragraph_characters",
    "dup_line_frac": "duplicate_lines",
    "dup_line_char_frac": "duplicate_line_characters",
    **{f"top_{n}_gram": f"top_{n}gram" for n in (2, 3, 4)},
    **{f"duplicated_{n}_n_grams": f"duplicate_{n}grams" for n in range(5, 11)},
    "gopher_short_doc": "words",
    "gopher_long_doc": "words",
    "gopher_below_avg_threshold": "mean_word_length",
    "gopher_above_avg_threshold": "mean_word_length",
    "gopher_too_many_hashes": "hash_ratio",
    "gopher_too_many_ellipsis": "ellipsis_ratio",
    "gopher_too_many_bullets": "bullet_lines",
    "gopher_too_many_end_ellipsis": "ellipsis_lines",
    "gopher_below_alpha_threshold": "alphabetic_words",
    "gopher_enough_stop_words": "stop_words",
    "line_punct_ratio": "punctuated_lines",
    "short_line_ratio": "short_lines",
    "char_dup_ratio": "repeated_characters",
    "list_ratio": "newline_ratio",
    "lorem_ipsum": "lorem_ipsum",
    "curly_bracket": "curly_bracket",
    "too_few_sentences": "sentences",
    "empty": "no",
}
"""Our signals by the reasons of datatrove."""


def _cost(texts: list[str]) -> tuple[str, str]:
    """Milliseconds per text: datatrove's Gopher filters, and our signals."""
    judges = _judges()["`--quality gopher`"]
    spent = []
    for judge in judges[:2]:
        began = time.process_time()
        for text in texts:
            judge(text)
        spent.append(1000 * (time.process_time() - began) / len(texts))
    return f"{spent[0]:.2f}", f"{spent[1]:.3f}"
