"""Classes of pages: learned from labelled pages, predicted for others."""

USES = ("features", "inspect")
