"""`webwinnow serve`: the service, REST for programs and a web page for people, each a thin layer over the rest."""

USES = ("cluster", "crawl", "features", "inspect", "search")
