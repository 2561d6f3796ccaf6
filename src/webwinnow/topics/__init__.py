"""Topics of whole sites: learned from known sites, predicted for others, mined from the web."""

USES = ("crawl", "inspect")
