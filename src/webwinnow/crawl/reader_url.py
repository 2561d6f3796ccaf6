"""URLs as inputs: the pages below them are crawled first, into a WARC file that is read in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from webwinnow.crawl.settings import CrawlSettings
from webwinnow.page.records import PageRecord
from webwinnow.page.urls import is_web_link
from webwinnow.run.readers import Reader
from webwinnow.storage.atomic import scratch_folder

STDOUT: Final = "-"


class UrlReader(Reader):
    """Crawls sites."""

    settings = CrawlSettings

    def takes(self, given: str) -> bool:
        """Whether an input is an http(s) URL."""
        return is_web_link(given)

    def kept_file(self, out: str) -> Path:
        """The WARC file beside the output of a run that is given URLs."""
        return Path(out).with_name(f"{Path(out).name}.warc.gz")

    @contextmanager
    def fetched(
        self, inputs: Sequence[str], out: str, settings: CrawlSettings, *, resume: bool, **callbacks: Any
    ) -> Iterator[list[str]]:
        """The inputs with a WARC file in place of URLs, which is kept unless the output is standard output."""
        starts = [given for given in inputs if is_web_link(given)]
        if not starts:
            yield list(inputs)
            return
        from webwinnow.crawl.crawling import crawled_once  # noqa: PLC0415 (an optional extra)

        with ExitStack() as folders:
            warc = folders.enter_context(scratch_folder()) / "crawl.warc.gz" if out == STDOUT else self.kept_file(out)
            crawled_once(starts, warc, settings, resume=resume, **callbacks)
            yield [str(warc), *(given for given in inputs if not is_web_link(given))]

    def page(self, given: str, settings: CrawlSettings) -> PageRecord:
        """Fetch a page."""
        from webwinnow.crawl.crawling import fetch_page  # noqa: PLC0415 (an optional extra)

        return fetch_page(given, settings)

    def rendered(self, page: PageRecord, settings: CrawlSettings) -> PageRecord:
        """Render a page of a file. Its other files are requested if it has a URL."""
        from webwinnow.crawl.browser.renderer import render_file  # noqa: PLC0415 (an optional extra)
        from webwinnow.crawl.browser.settings import RenderSettings  # noqa: PLC0415 (an optional extra)

        chosen = RenderSettings.of_pairs(settings.render_set, browsers=1)
        return render_file(page, settings.guard, always=settings.render == "all", settings=chosen)

    def after_stop(self, out: str) -> str | None:
        """What is kept of a crawl that was stopped, and how to go on; None if there is nothing."""
        from webwinnow.crawl.crawling import state_folder  # noqa: PLC0415 (an optional extra)

        warc = self.kept_file(out)
        if state_folder(warc).is_dir():
            return (
                f"{warc} has what was fetched, {state_folder(warc)} the state of the crawl; "
                "the same command with --resume continues"
            )
        if warc.exists():
            return f"{warc} has the pages of the crawl; the same command with --resume cleans them without another"
        return None


READER = UrlReader()
