"""Classes of pages: learned from labelled pages, predicted for others."""
