"""One page: its parser, tree, styles, blocks, structures, words, head metadata and layout."""
