"""The papers' experiments, to be run again on any labelled pages; results as plain values and as Markdown."""
