"""Runs over many pages: inputs, the parsed collection, workers, outputs, and the engines that spread them."""
