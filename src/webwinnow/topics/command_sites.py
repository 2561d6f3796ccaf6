"""`webwinnow sites`: learn the topics of whole sites, predict those of others, find more."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress, stoppable
from webwinnow.counted import counted
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import SettingsError
from webwinnow.page.words import StopList
from webwinnow.run.outputs import check_apart, check_output, write_bytes
from webwinnow.storage.atomic import write_file
from webwinnow.topics.denoising import DenoisingSettings, TermDenoiser
from webwinnow.topics.discovery import DiscoverySettings
from webwinnow.topics.mining.report import mined_html
from webwinnow.topics.mining.run import mine_sites
from webwinnow.topics.run import SITE_PAGES, SiteRun, classify_sites, train_sites
from webwinnow.topics.settings import SITE_PAGES as MINED_PAGES
from webwinnow.topics.settings import LearningSettings, MineSettings, SiteSettings
from webwinnow.topics.sitetopics import DEFAULT_METHOD, LEAST_NONE, METHODS, SiteTopics
from webwinnow.topics.thesaurus import Thesaurus

PANEL = "Sites"

TopicMethod = Annotated[str, opt.setting(f"Topic method: {', '.join(METHODS)}.", "--method")]
NoneOfThese = Annotated[float, opt.setting("Least probability of none of the topics for that answer.", "--none", min=0)]

sites = typer.Typer(
    name="sites", help="Learn the topics of whole sites, predict those of others, find more.", no_args_is_help=True
)


@sites.command()
def train(
    inputs: opt.Inputs,
    label: Annotated[str, opt.label(": the topic of its site")],
    out: Annotated[Path, opt.out("an .npz file, or - for standard output", callback=opt.written(".npz"))],
    method: TopicMethod = DEFAULT_METHOD,
    stop_words: opt.StopWords = None,
    thesaurus: opt.Thesaurus = None,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    pages: Annotated[int, opt.most_pages()] = SITE_PAGES,
    score: Annotated[bool, opt.running("Leave each site out once and report how many are right.")] = True,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Learn topics from sites whose topic is known: all pages of a site have the same label.

    Pages without a label belong to their site too; sites without one are left out. Labels like computing/databases
    are topics of several levels, each of which is scored. Exit code 1 if any page failed.

    With --thesaurus only text about the topics counts: blocks with few of the terms are removed, then pages of which
    most blocks are. The model has the terms: sites classify removes the same. Needs the extra thesaurus.

    Settings: topics.nearest=3 (superpage, topicvector), topics.link_smoothing=1 (multiscale), topics.tolerance=0.0001
    and topics.passes=50 (EM of trees); with --thesaurus denoising.least_pertinence=0.1 (share of a block's words in
    terms) and denoising.majority=0.5 (a page is removed if a larger share of its blocks is).

    Examples:

        webwinnow sites train sites.parquet --label topic -o topics.npz
        webwinnow sites train sites.parquet --label topic -o topics.npz --thesaurus terms.txt
        webwinnow sites train sites.parquet --label topic -o topics.npz --method superpage --set topics.nearest=1
    """
    check_output(out, "jsonl")
    check_apart(inputs, out)
    chosen, stop_list = LearningSettings.from_pairs(set_ or ()), opt.stop_list(stop_words)
    denoiser = _denoiser(thesaurus, chosen.denoising, stop_list)
    model = SiteTopics(method, site_by=site_by, stop_list=stop_list, settings=chosen.topics, denoiser=denoiser)
    settings = opt.parsing_settings(site_by, jobs)
    with shown_progress(quiet=quiet) as progress:
        run = train_sites(inputs, model, settings, label=label, most=pages, score=score, tmp=tmp, **progress.callbacks)
    write_bytes(out, model.to_bytes())
    summary = [_summary(run, "learned")]
    if run.unlabelled:
        summary.append(f"{counted(len(run.unlabelled), 'site')} without a topic: {', '.join(run.unlabelled[:5])}")
    summary += run.score.lines() if run.score else []
    finish(summary, quiet=quiet, failed=run.failed or progress.partial_inputs)


@sites.command()
@opt.settings_options(
    CrawlSettings,
    DiscoverySettings,
    only="mining.topics mining.confidence mining.none mining.taught mining.sites mining.fruitless crawl.delay "
    "crawl.hosts crawl.robots crawl.user_agent guard.allow_private guard.allow guard.routes",
)
def mine(
    context: typer.Context,
    seeds: Annotated[Path, opt.reading("Sites with topics: a table of start pages and labels, or stored pages.")],
    out: Annotated[Path, opt.out_folder("the folder of the run; a stopped run in it is continued")],
    label: Annotated[str, opt.label(": the topic of its site")] = "label",
    method: TopicMethod = DEFAULT_METHOD,
    stop_words: opt.StopWords = None,
    thesaurus: opt.Thesaurus = None,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    scope: Annotated[
        str, opt.crawling("Pages to crawl: below the start page's folder of a site, of its host, or of its domain.")
    ] = "below",
    pages: Annotated[int, opt.most_pages()] = MINED_PAGES,
    seconds: Annotated[float | None, opt.of(CrawlSettings, "seconds")] = None,
    search: Annotated[bool, opt.running("When no candidate is left, read more of the sites on topic.")] = True,
    delta: Annotated[
        float | None, opt.running("KL rule: least change of probabilities for reading on. [default: 0.001]", min=0)
    ] = None,
    quiet: opt.Quiet = False,
    **_: Any,
) -> None:
    """Find sites with the topics of some seeds: follow links between sites, read each as far as needed.

    Certain sites that were found are added to the model by incremental EM. The folder gets report.html, sites.jsonl,
    rounds.jsonl (how the model moved), topics.npz (a model as of sites train) and the pages as WARC. A stopped run is
    continued by the same command. Sites are distinguished by host or domain. Exit code 1 if no site was found.

    Settings: those of sites train; reading.delta=0.001 (as --delta), reading.least=10 (first pages of a site, which are
    read whatever the rule says) and reading.unchanged=5 (unchanging pages that settle a topic, 0 for never);
    reading.published=true for the paper's values, where these are not given: topics.tolerance, 1 and 0.

    Examples:

        webwinnow sites mine --seeds seeds.csv -o run --sites 200 --time 3600
        webwinnow sites mine --seeds sites.parquet --label topic --topic databases -o run
    """
    options = opt.Chosen(context, CrawlSettings, DiscoverySettings)
    crawling = options.settings(CrawlSettings)
    mining = options.settings(DiscoverySettings, batch=crawling.hosts)
    chosen = SiteSettings.from_pairs(set_ or (), reading={"delta": delta})
    reading, learning = chosen.reading, chosen.topics
    stop_list = opt.stop_list(stop_words)
    denoiser = _denoiser(thesaurus, chosen.denoising, stop_list)
    settings = MineSettings(**opt.fields_of(MineSettings, locals()))
    with stoppable(f"{out} has what was found; the same command continues"), shown_progress(quiet=quiet) as progress:
        run = mine_sites(seeds, out, settings, crawling, **progress.callbacks)
    html = mined_html(run, shlex.join(["webwinnow", *sys.argv[1:]]))
    write_file(out / "report.html", html.encode("utf-8", "replace"))
    rest = [] if run.finished else ["  the same command continues"]
    finish([*run.lines(), *rest, f"  the report is {out / 'report.html'}"], quiet=quiet, failed=not run.found)


@sites.command()
def classify(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model of webwinnow sites train.")],
    inputs: opt.Inputs,
    out: Annotated[str, opt.out("a JSONL file, or - for standard output")],
    site_by: opt.SiteByOfModel = None,
    pages: Annotated[int, opt.most_pages()] = SITE_PAGES,
    none: NoneOfThese = LEAST_NONE,
    thesaurus: Annotated[Path | None, opt.thesaurus("that of the model, if it has one")] = None,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Predict the topic of each site, with the probability of each topic, and the pages and blocks that decided most.

    One line of JSON per site. Exit code 1 if any page failed.

    Example:

        webwinnow sites classify topics.npz crawl.warc.gz -o topics.jsonl
    """
    check_apart([model], out)
    learned = SiteTopics.load(model)
    if thesaurus is not None:
        learned.denoise_by(Thesaurus.read(thesaurus, stop_list=learned.stop_list))
    settings = opt.parsing_settings(learned.site_by if site_by is None else site_by, jobs)
    with shown_progress(quiet=quiet) as progress:
        run = classify_sites(learned, inputs, out, settings, most=pages, none=none, tmp=tmp, **progress.callbacks)
    rest = [f"{counted(run.unanswered, 'site')} without an answer: see reason"] if run.unanswered else []
    finish([_summary(run, "classified"), *rest], quiet=quiet, failed=run.failed or progress.partial_inputs)


def _denoiser(path: Path | None, settings: DenoisingSettings, stop_list: StopList) -> TermDenoiser | None:
    """Denoising as --thesaurus and the settings say."""
    if path is not None:
        return TermDenoiser(Thesaurus.read(path, stop_list=stop_list), settings)
    if settings != DenoisingSettings():
        raise SettingsError("settings of denoising have no effect without --thesaurus")
    return None


def _summary(run: SiteRun, done: str) -> str:
    topics = ", ".join(f"{name} {count:,}" for name, count in sorted(run.topics.items()))
    pages = counted(run.pages, "page")
    return f"{counted(run.sites, 'site')} {done} ({topics or 'none'}); {pages}, {run.failed:,} failed"
