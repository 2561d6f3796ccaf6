#!/usr/bin/env bash
# Follow the guides as a newcomer: a clean clone, a new virtual environment, and every example as written.
# Usage: tools/newcomer.sh [FOLDER]; the table of docs/newcomer.md is replaced by what happened.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
unset PYTHONPATH

began=$SECONDS
git clone --quiet "$root" "$folder/webwinnow"
cd "$folder/webwinnow"
python3 -m venv .venv
.venv/bin/python -m pip install --quiet --upgrade pip
.venv/bin/python -m pip install --quiet '.[parquet,cjk,mining,search,serve,crawl,thesaurus,datatrove]' --group bench
echo "cloned, built and installed in $((SECONDS - began)) s"

status=0
.venv/bin/python tools/run_examples.py --table "$root/docs/newcomer.md" docs/start.md docs/guides/*.md docs/from-*.md docs/concepts/*.md || status=$?
exit $status
