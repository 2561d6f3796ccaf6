"""`webwinnow sites mine`: sites with the topics of given ones are found, read, classified and learned from."""
