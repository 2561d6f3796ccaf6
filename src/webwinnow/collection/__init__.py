"""A collection of parsed pages: the store on disk, the workers, and the messages between them."""
