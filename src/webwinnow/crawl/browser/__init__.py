"""Pages rendered by a browser that is not trusted."""
