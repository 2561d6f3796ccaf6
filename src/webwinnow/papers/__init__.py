"""The experiments of the four papers."""
