"""Blocks that begin as those of other pages do: an example of a package with plug-ins for webwinnow."""
