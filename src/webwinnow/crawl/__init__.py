"""Crawl pages of sites into a WARC file, politely, within limits, and resumable after a kill (extra `crawl`).

`guard`, which decides where a connection may go, can be used on its own.
"""
