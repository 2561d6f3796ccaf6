"""Topics of whole sites by six methods (Sites, section 5)."""
