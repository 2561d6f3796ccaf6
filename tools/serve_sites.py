"""Serve the sites of a crawl on loopback, each under its host name: `python tools/serve_sites.py FILE [PORT]`.

Prints the commands that crawl them, then one line per request until it is stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "servers"))

from sitepages import linked, pages_of
from webserver import WebServer


def main() -> None:
    """Read the pages, serve them and print the log."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path, help="a WARC file, or Parquet with url, html and site")
    options.add_argument("port", type=int, nargs="?", default=8080)
    options.add_argument("--linked", action="store_true", help="add links between sites, for `sites mine` to follow")
    given = options.parse_args()
    sites = linked(pages_of(given.file)) if given.linked else pages_of(given.file)
    with WebServer(sites.pages, port=given.port) as server:
        print(
            f"{len(sites.pages):,} pages of {len(sites.starts)} sites on 127.0.0.1:{server.port}; for example",
            flush=True,
        )
        for start in sites.starts:
            host = start.split("/")[2]
            print(f"  webwinnow crawl {start} -o {host}.warc.gz --allow 127.0.0.1 --resolve {server.route(host)}")
        shown = 0
        while True:
            time.sleep(0.2)
            for line in server.log[shown:]:
                print(f"{line.asked.url}  {1000 * (line.ended - line.began):.0f} ms", flush=True)
                shown += 1


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
