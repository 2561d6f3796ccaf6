"""The experiments of the four papers."""

USES = ("classify", "cluster", "crawl", "features", "inspect", "replicas", "search", "topics")
