"""Clusters of pages by subject, their names, and a page to browse them."""

USES = ("classify", "features", "inspect")
