"""The default method: page model, site evidence, wholes, kinds and the verdict with its reasons."""
