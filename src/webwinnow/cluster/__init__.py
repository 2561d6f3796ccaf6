"""Clusters of pages by subject, their names, and a page to browse them."""

USES = ("features", "inspect")
