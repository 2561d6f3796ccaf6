"""Record the output of every command and compare two recordings: checks that a refactoring changes no output.

    python tools/golden.py record FOLDER [--only NAME ...] [--data]
    python tools/golden.py compare BEFORE AFTER

`record` runs the `webwinnow` of this interpreter on the sample crawl, one folder for each case; `--data` adds every
cleaning method on sites-swde, pages-wcxb and sites-news, and the experiments, with the files under WEBWINNOW_DATA.
`compare` lists files that differ. A case keeps its name when the spelling of a command changes, so that recordings of
different commits can be compared. `crawl`, `serve` and `sites mine` are left to their tests: what they write has times.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRAWL = "samples/docs.warc.gz"
PAGE = "samples/pages/sqlite-whentouse.html"
METHODS = ("combined", "none", "repeated", "sst", "aligned", "cst", "page", "template", "segments", "items", "docview")

LABELLED = "{shared}/labelled.jsonl"
LABELS = "{shared}/labels.tsv"
HEADED = "{shared}/labels.csv"

CASES: dict[str, list[list[str]]] = {
    **{
        f"clean-{method}": [["clean", CRAWL, "-o", "{out}/o.jsonl", "--rejected", "{out}/r.jsonl", "--method", method]]
        for method in METHODS
    },
    **{
        f"clean-task-{task}": [["clean", CRAWL, "-o", "{out}/o.jsonl", "--rejected", "{out}/r.jsonl", "--task", task]]
        for task in ("classification", "structure", "archive")
    },
    **{
        f"clean-as-{name}": [["clean", CRAWL, "-o", f"{{out}}/o{suffix}", "--format", name]]
        for name, suffix in (
            ("parquet", ".parquet"),
            ("csv", ".csv"),
            ("markdown", ""),
            ("html", ""),
            ("dublin-core", ".xml"),
        )
    },
    "clean-also": [["clean", CRAWL, "-o", "{out}/o.jsonl", "--also", "markdown", "--also", "html", "--no-view"]],
    "clean-favor": [["clean", CRAWL, "-o", "{out}/o.jsonl", "--favor", "recall", "--no-comments", "--no-replicas"]],
    "clean-one-site": [["clean", CRAWL, "-o", "{out}/o.jsonl", "--site-by", "all"]],
    "clean-with-models": [
        ["learn", CRAWL, "-o", "{out}/models"],
        ["clean", CRAWL, "-o", "{out}/o.jsonl", "--models", "{out}/models"],
        ["models", "show", "{out}/models"],
    ],
    **{f"page-{name}": [["page", PAGE, "--format", name]] for name in ("text", "markdown", "html", "json")},
    "page-explain": [["page", PAGE, "--explain"]],
    "features-cst": [["features", CRAWL, "-o", "{out}/o.npz"]],
    "features-wplus": [
        ["features", CRAWL, "-o", "{out}/o.npz", "--weighting", "wplus", "--kinds", "words,images,links"]
    ],
    "features-tfidf": [["features", CRAWL, "-o", "{out}/o.npz", "--weighting", "tfidf"]],
    "features-exact": [["features", CRAWL, "-o", "{out}/o.npz", "--no-mapped"]],
    "replicas": [["replicas", CRAWL, "-o", "{out}/o.jsonl"]],
    "links": [["links", CRAWL, "-o", "{out}/o.jsonl", "--all"], ["links", CRAWL, "-o", "{out}/kept.graphml"]],
    "rank": [["rank", CRAWL, "-o", "{out}/o.jsonl"]],
    "clean-corpus": [
        [
            "clean",
            CRAWL,
            "-o",
            "{out}/o.jsonl",
            "--lang",
            "en",
            "--min-words",
            "50",
            "--quality",
            "fineweb",
            "--signals",
        ]
    ],
    "clean-selected": [["clean", CRAWL, "-o", "{out}/o.jsonl", "--keep", "h1", "--drop", "//pre", "--no-tables"]],
    "models": [
        ["learn", CRAWL, "-o", "{out}/models"],
        ["models", "pack", "{out}/models", "-o", "{out}/models.parquet"],
        ["clean", CRAWL, "-o", "{out}/o.jsonl", "--models", "{out}/models.parquet"],
        ["models", "merge", "{out}/models", "-o", "{out}/merged"],
        ["clean", CRAWL, "-o", "{out}/m.jsonl", "--method", "aligned", "--models", "{out}/merged"],
    ],
    "methods": [["methods"], ["methods", "combined"]],
    **{f"page-method-{name}": [["page", PAGE, "--method", name, "--explain"]] for name in METHODS},
    "kinds": [["clean", "samples/kinds.warc.gz", "-o", "{out}/o.jsonl", "--rejected", "{out}/r.jsonl"]],
    "templates": [["lists", "templates", CRAWL, "-o", "{out}/o.jsonl"]],
    "stopwords": [["lists", "stopwords", CRAWL]],
    "cluster": [["cluster", CRAWL, "-k", "4", "-o", "{out}/o.jsonl"]],
    "classify": [
        ["classify", "train", LABELLED, "--label", "label", "-o", "{out}/m.npz", "--scores", "{out}/s.json"],
        ["classify", "apply", "{out}/m.npz", CRAWL, "-o", "{out}/o.jsonl"],
    ],
    "classify-knn": [
        ["classify", "train", CRAWL, "--labels", HEADED, "-o", "{out}/m.npz", "--classifier", "knn"],
        ["classify", "apply", "{out}/m.npz", CRAWL, "-o", "{out}/o.jsonl"],
    ],
    "categories": [
        ["classify", "train", CRAWL, "--labels", LABELS, "-o", "{out}/m.npz", "--classifier", "docview"],
        ["clean", CRAWL, "-o", "{out}/o.jsonl", "--categories", "{out}/m.npz"],
    ],
    "inspect": [["inspect", CRAWL, "-o", "{out}/o.html"]],
    "index": [
        ["clean", CRAWL, "-o", "{out}/o.jsonl"],
        ["index", "{out}/o.jsonl", "-o", "{out}/index"],
        ["search", "{out}/index", "database file", "--json"],
    ],
    "sites": [
        ["sites", "train", LABELLED, "--label", "label", "-o", "{out}/m.npz"],
        ["sites", "classify", "{out}/m.npz", CRAWL, "-o", "{out}/o.jsonl"],
    ],
    "experiment-search": [
        ["clean", CRAWL, "-o", "{out}/o.jsonl"],
        ["experiment", "search", "{out}/o.jsonl", "-o", "{out}/x"],
    ],
}
NOT_COMPARED = re.compile(r"(^|/)(index|x)/.*\.(?!npz|csv|json|jsonl)|(^|/)models/|(^|/)m\.npz$|meta\.json$|\.log$")
REPORTS = re.compile(r"^(inspect|cluster)/.*\.html$")
"""HTML and Markdown reports: wording and white space may change, data may not."""
PACKED = re.compile(rb'<script type="text/plain" id="((?:tree|page)[^"]*)">([^<]*)<')
NUMBER = re.compile(rb"\d+\.\d+")
TIMES = re.compile(rb'\d+(\.\d+)? (pages/s|ms|s\b)|"(milliseconds|seconds|ms|took)[^,}]*|[0-9.]+ s, ')


def shared(folder: Path) -> dict[str, str]:
    """Write labelled copies of the sample crawl that some cases read."""
    folder.mkdir(parents=True, exist_ok=True)
    labelled = folder / "labelled.jsonl"
    if not labelled.exists():
        from webwinnow.run.inputs import open_pages  # noqa: PLC0415

        pages = [page for page in open_pages([ROOT / CRAWL], on_problem=sys.stderr.write) if page.refused is None]
        lines, tsv, csv = [], [], ["url,label\n"]
        for page in pages:
            host = page.url.split("/")[2]
            label = host.split(".")[0]
            html = page.body.decode("utf-8", "replace")
            lines.append(json.dumps({"url": page.url, "html": html, "label": label}) + "\n")
            tsv.append(f"{page.url}\t{label}\n")
            csv.append(f"{page.url},{label}\n")
        labelled.write_text("".join(lines), encoding="utf-8")
        (folder / "labels.tsv").write_text("".join(tsv), encoding="utf-8")
        (folder / "labels.csv").write_text("".join(csv), encoding="utf-8")
    return {"shared": str(folder)}


def data_cases() -> dict[str, list[list[str]]]:
    """Return the cases of every method on whole collections, and of the experiments."""
    data = Path(os.environ["WEBWINNOW_DATA"])
    cleaned = {
        f"{name}-{method}": [
            [
                "clean",
                str(data / file),
                "-o",
                "{out}/o.jsonl",
                "--rejected",
                "{out}/r.jsonl",
                "--method",
                method,
                *split,
            ]
        ]
        for name, file, split in (
            ("swde", "sites-swde.parquet", ["--site-by", "column"]),
            ("wcxb", "pages-wcxb.parquet", []),
            ("news", "sites-news.parquet", ["--site-by", "column"]),
        )
        for method in METHODS
    }
    replicas, news = (
        [str(data / file) for file in ("replicas-pairs.parquet", "replicas.parquet")],
        data / "sites-news.parquet",
    )
    return cleaned | {
        "experiment-replicas": [["experiment", "replicas", *replicas, "-o", "{out}/x"]],
        "news-features": [["features", str(news), "-o", "{out}/o.npz", "--site-by", "column"]],
        "news-inspect": [["inspect", str(news), "-o", "{out}/o.html", "--site-by", "column"]],
        "news-cluster": [["cluster", str(news), "-k", "8", "-o", "{out}/o.jsonl", "--site-by", "column"]],
        "ics-rank": [["rank", str(data / "crawl-ics.parquet"), "-o", "{out}/o.jsonl"]],
        "docs-sites": [
            ["sites", "train", str(data / "sites-docs.parquet"), "--label", "label", "-o", "{out}/m.npz"],
            ["sites", "classify", "{out}/m.npz", str(data / "sites-docs.parquet"), "-o", "{out}/o.jsonl"],
        ],
    }


def record(folder: Path, only: list[str], *, data: bool) -> int:
    """Run the cases; return the number of commands that failed."""
    cases = CASES | (data_cases() if data else {})
    failures = 0
    for name, commands in cases.items():
        if only and not any(name.startswith(start) for start in only):
            continue
        out = folder / name
        out.mkdir(parents=True, exist_ok=True)
        words = {"out": str(out), **shared(folder / "shared")}
        for number, command in enumerate(commands):
            argv = [word.format(**words) for word in command]
            done = subprocess.run(
                [sys.executable, "-m", "webwinnow", *argv], capture_output=True, cwd=ROOT, check=False
            )
            (out / f"stdout{number}.txt").write_bytes(done.stdout)
            (out / f"stderr{number}.log").write_bytes(done.stderr)
            if done.returncode not in (0, 1):
                failures += 1
                sys.stderr.write(f"{name}: exit {done.returncode}: {done.stderr.decode()[-400:]}\n")
        sys.stderr.write(f"{name}\n")
    return failures


def compare(before: Path, after: Path) -> int:
    """Print the files that differ, among the cases in both recordings; return their number."""
    names = sorted({path.name for path in before.iterdir()} & {path.name for path in after.iterdir()} - {"shared"})
    differing = 0
    for name in names:
        files = {p.relative_to(folder / name) for folder in (before, after) for p in (folder / name).rglob("*")}
        bad = []
        for file in sorted(files):
            old, new = before / name / file, after / name / file
            if old.is_dir() or new.is_dir() or NOT_COMPARED.search(str(file)):
                continue
            if not (old.exists() and new.exists()):
                bad.append(f"{file} (only in one)")
            elif _compared(f"{name}/{file}", old) != _compared(f"{name}/{file}", new):
                bad.append(str(file))
        differing += len(bad)
        sys.stdout.write(f"{'DIFFERS' if bad else 'same   '} {name}{': ' if bad else ''}{', '.join(bad[:6])}\n")
    return differing


def _compared(name: str, path: Path) -> object:
    """The compared part of a file: packed data or decimal numbers of a report; all but times of any other file."""
    written = path.read_bytes()
    if REPORTS.search(name):
        return PACKED.findall(written) or NUMBER.findall(re.sub(rb"<style>.*?</style>", b"", written, flags=re.DOTALL))
    return TIMES.sub(b"", written)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only", nargs="*", default=[])
    recording.add_argument("--data", action="store_true")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "record":
        return int(record(given.folder.resolve(), given.only, data=given.data) > 0)
    return int(compare(given.before, given.after) > 0)


if __name__ == "__main__":
    sys.exit(main())
