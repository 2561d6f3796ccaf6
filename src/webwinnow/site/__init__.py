"""The structure of a site, learned from its own pages."""
