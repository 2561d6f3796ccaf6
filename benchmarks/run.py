"""Run benchmarks and write RESULTS.md: `python benchmarks/run.py [NAME...]`. Without names, all but the long ones."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import classify
import clusters
import costs
import crawling
import docview
import engines
import epochs
import hmt
import kmeans
import link_graph
import memory
import metadata
import mining
import noise
import page_quality
import peers
import quality
import rendering
import replicas
import rivals
import scale
import search
import service
import site_cost
import site_topics
import speed
import stages
import styletree
import unseen

RESULTS = Path(__file__).with_name("RESULTS.md")


class Benchmark(NamedTuple):
    """A benchmark with its target."""

    name: str
    target: str
    measure: Callable[[Path], Sequence[tuple[str, ...]]]
    columns: tuple[str, ...] = ("what", "measured")
    long: bool = False
    """Takes an hour or more: runs only when named."""


def _sites(data: Path) -> list[tuple[str, ...]]:
    import site_quality  # needs the dependency group `train`

    return site_quality.sites(data)


def _more(data: Path) -> list[tuple[str, ...]]:
    import more  # needs the dependency group `train`

    return [*more.more(data)]


def _quality_rules(data: Path) -> list[tuple[str, ...]]:
    import quality_rules  # needs datatrove, spacy and regex

    return quality_rules.quality_rules(data)


def _tails(data: Path) -> list[tuple[str, ...]]:
    import tails  # needs the dependency group `train`

    return tails.tails(data)


def _empty(data: Path) -> list[tuple[str, ...]]:
    import empty  # needs the dependency group `train`

    return empty.empty(data)


def _structures(data: Path) -> list[tuple[str, ...]]:
    import structures  # needs the dependency group `train`

    return structures.structures(data)


BENCHMARKS = (
    Benchmark("parse", "PageTree at least 0.55 of the speed of turbohtml's bare parse; CPU time", speed.parse),
    Benchmark(
        "extract",
        "`extract` at least 1.0 of the speed of resiliparse's main content and 0.22 of the bare parse's, 0.3 wanted; "
        "CPU time",
        speed.extract,
    ),
    Benchmark(
        "clean",
        "one worker, CPU time of all processes: `combined` at least 8 times the speed of trafilatura and 0.5 of "
        "resiliparse's, without views and replicas 10 times",
        speed.clean,
    ),
    Benchmark("start", "`webwinnow page FILE` at most 3 times as long as `python -c 'import numpy'`; CPU", speed.start),
    Benchmark("stages", "time of `combined` by stage on pages-wcxb, CPU of one worker", stages.stages),
    Benchmark("workers", "two workers at least 1.85 times one", speed.workers),
    Benchmark("memory", "50,000 pages of one site, and 50,000 sites of one page: peak under 1 GB", memory.peak),
    Benchmark(
        "engines",
        "local, Ray and Spark on sites-swde: the same bytes; Ray and Spark at least 0.65 of local with the same cores",
        engines.same_bytes,
    ),
    Benchmark("costs", "cost of a run by stage; CPU of one core", costs.costs, costs.COLUMNS),
    Benchmark(
        "scale",
        "100,000 sites with the skew of the web and one site of 50,000 pages in one run: memory bounded, time linear",
        scale.skewed,
        scale.COLUMNS,
        long=True,
    ),
    Benchmark("epochs", "redesigned sites are detected, unchanged sites are not flagged", epochs.redesigns),
    Benchmark(
        "site",
        "learning a page at most 1.0 times building its tree, mapping at most 0.5; cost per page at 2,000 pages "
        "at most 1.3 times that at 100",
        site_cost.costs,
    ),
    Benchmark(
        "sst",
        "`aligned` on sites-news: word F1 0.86 with the automatic threshold, within 0.02 of the best for each site",
        styletree.news,
    ),
    Benchmark(
        "unseen",
        "half of each site learned: repeated lines left by `cst` on unseen pages at most 1.2 times as on learned ones",
        unseen.unseen,
        unseen.COLUMNS,
    ),
    Benchmark("css", "cost of the cascade of style sheets (`--css`), one core", speed.css),
    Benchmark(
        "rivals", "the rival cleaners of thesis chapter 3 on sites-news, mean over sites", rivals.news, rivals.COLUMNS
    ),
    Benchmark("model", "the model of a shop site of 200 pages: at most 2 MB", styletree.sizes),
    Benchmark(
        "svm",
        "SVM configuration 3 (thesis 5.5): F 0.93 on car makes, 0.70 on cuisines and job roles; `wplus` 0.97 on makes, "
        "0.80 on roles and cuisines, 0.50 on genres, k-means on makes 0.80",
        mining.svm,
    ),
    Benchmark(
        "classify",
        "classes of held-out sites of sites-swde: 0.97 of car makes right with `svm`, calibration error at most 0.05",
        classify.held_out,
        classify.COLUMNS,
    ),
    Benchmark(
        "kmeans",
        "k-means (thesis 5.4): 800 runs of five clusters over 5,473 pages in minutes on two cores; faster than "
        "scikit-learn",
        kmeans.kmeans,
    ),
    Benchmark(
        "clusters",
        "`cluster` groups by subject: on sites-news at k = 8 NMI with the site below 0.15, largest cluster at most "
        "40 %, outliers at most 20 %, no site names in names; NPMI and purity by vertical no worse than before",
        lambda data: [*clusters.clusters(data)],
        clusters.COLUMNS,
    ),
    Benchmark("repeated", "`repeated` on sites-swde: attribute recall 0.97, no repeated text left", quality.repeated),
    Benchmark(
        "metadata",
        "title, author and date on pages-wcxb: better than trafilatura; at most 0.2 ms per page in addition to parsing",
        metadata.accuracy,
    ),
    Benchmark(
        "docview",
        "page type 0.90 right; abstracts on 95 % of pages with three true sentences, 0.95 of their sentences in the "
        "true text; title word F1 of 0.8 on 85 % of pages; a view costs at most 15 % of a page",
        docview.docview,
    ),
    Benchmark(
        "peers",
        "word F1 on pages-wcxb, by page type, and on sites-news (mean over sites); pages/s on one core",
        peers.compare,
        peers.COLUMNS,
    ),
    Benchmark(
        "sites",
        "`combined` next to `page` on sites that no page model has seen: on sites-news 0.965 and above `page`; with 2, "
        "3 or 5 pages per site not below it, nor on sites of pages-wcxb and pages-more; recall 0.978 on sites-swde",
        _sites,
        ("what", "page", "combined"),
    ),
    Benchmark(
        "structures",
        "wholes, before (`page.wholes=false`) and after: no kept data table ragged unless its source is; recall on "
        "sites-swde 0.975, kept at most 0.47, repeated at most 0.01 not counting headings, headers and labels; 0.95 of "
        "kept values keep their label; 0.99 of headings stay where their section stays, 0.97 go where it goes; 0.97 of "
        "headlines; recipes 0.90; 0.886 on pages-wcxb; at most 15 % extra cost",
        _structures,
        ("what", "before", "after"),
        long=True,
    ),
    Benchmark(
        "tails",
        "words kept behind the end of the true text, without `page.tails` and with it; hardly any true word is lost",
        _tails,
        ("set", "pages", "words behind the end, before", "with tails", "true words lost", "F1 before", "with tails"),
    ),
    Benchmark(
        "empty",
        "pages with a true text that come out empty, page models that saw no page of their site: only those without "
        "text in their HTML",
        _empty,
        (
            "set",
            "pages",
            "no text in the HTML",
            "empty by confidence alone",
            "empty as `no main content`",
            "empty by `combined`",
            "reasons",
        ),
        long=True,
    ),
    Benchmark(
        "replicas",
        "5,000 fingerprints/s per core from parsed trees; replicas among 1,000,000 sketches in seconds, memory bounded",
        replicas.find,
    ),
    Benchmark(
        "search",
        "known-item search over all pages of the data: a few milliseconds per query, memory of building bounded",
        search.known_items,
    ),
    Benchmark(
        "noise",
        "kinds of removed regions, domains not seen: macro F1 0.75 over kinds with ten examples, 0.85 over the three "
        "families, recall 0.9 on consent banners and breadcrumbs",
        noise.kinds,
    ),
    Benchmark(
        "links",
        "the top 20 pages of crawl-ics by PageRank, over all links and over the cleaned graph (`--task structure`)",
        link_graph.top_pages,
        ("what", "all links", "cleaned graph"),
    ),
    Benchmark(
        "crawl",
        "the crawler on loopback without delay, 16 sites in parallel: CPU per page at most twice that of bare Scrapy, "
        "which keeps bodies only; start-up included; pages/s of wall-clock time",
        crawling.crawling,
        crawling.COLUMNS,
    ),
    Benchmark(
        "rendering",
        "recall of the known text of client-rendered sites 0.98 with --render=auto and 0 without; manuals with and "
        "without rendering within 0.01 word F1; what a layout adds on 100 labelled pages and on pages with truth; "
        "cost; hostile pages: nothing past the guard, no time or memory beyond the limits, no process left",
        rendering.rendering,
        rendering.COLUMNS,
        long=True,
    ),
    Benchmark("page", "`page`, sites not seen: word F1 0.900 on pages-wcxb, above the best peers", page_quality.page),
    Benchmark(
        "more",
        "pages-more, sites not seen: zh 0.93, fundus 0.957, dragnet 0.91, harvest 0.86, readability 0.93; have: recipe "
        "0.92, product 0.80; all other sets at least as good as before",
        _more,
        ("set", "`page`, sites held out", "trafilatura, without comments", "resiliparse, main content"),
        long=True,
    ),
    Benchmark(
        "qualityrules",
        "`clean --quality`: decisions by the rules of Gopher, C4 and FineWeb as in datatrove's own filters on "
        "at least 0.99 of the texts",
        _quality_rules,
        ("texts", "rules", "kept by datatrove", "kept here", "same decision", "same rule among both dropped"),
    ),
    Benchmark(
        "hmt",
        "hidden Markov trees: 100,000 nodes and 10 states under 1 s of one core, memory linear; a known model "
        "recovered within 0.05; incremental EM within 0.5 % of batch",
        hmt.trees,
    ),
    Benchmark(
        "service",
        "`webwinnow serve` on loopback: 50 clients for a minute on /page, no error, flat memory; CPU of server and "
        "workers per page at most 1.7 times the library's",
        service.load,
    ),
    Benchmark(
        "sitetopics",
        "the topic of each whole site, predicted by a model of the others: `multiscale` right on all of sites-swde, "
        "on 13 or more of sites-docs and not below a simpler method; trained on half of sites-docs above `superpage`. "
        "The cost of the words of topics, which five methods share, is counted in `topicvector`",
        site_topics.leave_one_out,
        site_topics.COLUMNS,
    ),
    Benchmark(
        "siterounds",
        "`sites mine`: a round that adds a site to the model by incremental EM is at least twice as fast as training "
        "again and gives the same topics to other sites",
        site_topics.incremental,
        site_topics.GROWN_COLUMNS,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="\n".join(f"{benchmark.name:12}{benchmark.target}" for benchmark in BENCHMARKS).replace("%", "%%"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="sections of RESULTS.md to measure, listed below")
    wanted = parser.parse_args().names or [benchmark.name for benchmark in BENCHMARKS if not benchmark.long]
    unknown = set(wanted) - {benchmark.name for benchmark in BENCHMARKS}
    if unknown:
        parser.error(f"unknown benchmarks: {', '.join(sorted(unknown))}")
    found = os.environ.get("WEBWINNOW_DATA")
    if not found or not Path(found).is_dir():
        sys.exit("benchmarks: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet and sites-swde.parquet")
    sections = _known_sections()
    for benchmark in BENCHMARKS:
        if benchmark.name in wanted:
            print(f"{benchmark.name}: {benchmark.target}", flush=True)
            rows = benchmark.measure(Path(found))
            for what, *values in rows:
                print(f"  {what}: {', '.join(values)}", flush=True)
            lines = [benchmark.columns, ["---"] * len(benchmark.columns), *rows]
            table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
            sections[benchmark.name] = f"{benchmark.target}.\n\n{table}\n"
    RESULTS.write_text(_page(sections), encoding="utf-8")


def _known_sections() -> dict[str, str]:
    """The sections of earlier runs, so that one benchmark can be run alone."""
    if not RESULTS.exists():
        return {}
    parts = RESULTS.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() + "\n" for part in parts}


def _page(sections: dict[str, str]) -> str:
    machine = f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"
    head = f"# Results\n\nMeasured by `make bench` on {machine}.\n"
    order = dict.fromkeys([*(benchmark.name for benchmark in BENCHMARKS), *sections])  # others are written by hand
    return head + "".join(f"\n## {name}\n\n{sections[name]}" for name in order if name in sections)


if __name__ == "__main__":
    main()
