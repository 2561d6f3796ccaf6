# Every target works in .venv and makes it if need be. `make run` and `make test` are all that a newcomer needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Pages with truth, for tests and benchmarks that want them; those that do not find them say that they skipped.
export WEBWINNOW_DATA ?= $(abspath $(wildcard ../shared/data))

# Tests start hundreds of interpreters: each would compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup browser run test test-all lint types bench sample pictures train train-items wheel clean

help:
	@echo "make run       clean the sample crawl and show what came out"
	@echo "make test      lint, types and tests"
	@echo "make test-all  the slow tests too"
	@echo "make wheel     build dist/webwinnow-*.whl; requires a C compiler"
	@echo "make bench     speed and quality beside peers; writes benchmarks/RESULTS.md"
	@echo "make train     train the page model and the recogniser of kinds again; writes their weights.npz and kinds.npz"
	@echo "make pictures  take the pictures of docs/inspect.md and docs/serve.md anew"
	@echo "make train-items  train the trees of method items again; writes src/webwinnow/cleaning/itemtrees.npz"
	@echo "make sample    build samples/docs.warc.gz again from Debian packages"

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py $(shell find src -name '*.pyx' -o -name '*.pxd')
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[parquet,cjk,mining,search,serve,crawl,thesaurus]' --group dev
	touch $@

# The report of `webwinnow inspect` is tested in a real browser, Debian's chromium. Where it cannot be installed those
# tests say that they skipped.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || (apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null) \
	  || echo "no Chromium here and none can be installed: tests in the browser will be skipped" >&2

# Ray, Spark and datatrove are large: only `make test-all` and `make bench` want them. Spark needs Java 17 or later; where
# there is none and none can be installed, what needs it says so or is skipped.
$(VENV)/.engines: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[ray,spark,datatrove]'
	@command -v java >/dev/null \
	  || (apt-get update -qq && apt-get install -qq -y --no-install-recommends default-jre-headless >/dev/null) \
	  || echo "no Java here and none can be installed: tests of the engine spark will be skipped" >&2
	touch $@

$(VENV)/.bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --group bench --group train
	touch $@

run: setup
	@rm -rf out && mkdir -p out
	$(BIN)/webwinnow clean samples/docs.warc.gz -o out/docs.jsonl --rejected out/rejected.jsonl
	@echo; echo "One record of out/docs.jsonl:"; echo
	@$(BIN)/python tools/show_record.py out/docs.jsonl out/rejected.jsonl

test: setup browser lint types
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile --no-loadscope-reorder

test-all: setup browser $(VENV)/.engines lint types
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

bench: $(VENV)/.bench $(VENV)/.engines
	$(BIN)/python benchmarks/run.py

$(VENV)/.train: $(STAMP)
	$(BIN)/python -m pip install --quiet --group train
	touch $@

train: $(VENV)/.train
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/train_page_model.py
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/train_kinds.py

pictures: setup browser
	$(BIN)/python tools/take_screenshots.py
	$(BIN)/python tools/take_service_screenshots.py

train-items: $(VENV)/.train
	$(BIN)/python tools/train_items.py

wheel: setup
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

sample: setup
	$(BIN)/python tools/make_sample.py

clean:
	rm -rf $(VENV) out build dist *.egg-info src/*.egg-info
	find src -name '*.so' -delete
