# Every target works in .venv and makes it if need be. `make run` and `make test` are all that a newcomer needs.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
STAMP := $(VENV)/.installed
AXE := axe-core@4.14.0

# Pages with truth, for tests and benchmarks that want them; those that do not find them say that they skipped.
export WEBWINNOW_DATA ?= $(abspath $(wildcard ../shared/data))

# Tests start hundreds of interpreters: each would compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup docs browser axe run test test-engines test-all test-busy test-lowest test-sanitized fuzz lock audit lint types bench sample kinds pictures train train-items wheel clean

help:
	@echo "make run       clean the sample crawl and show what came out"
	@echo "make test      lint, types and tests"
	@echo "make test-engines  the tests of runs on Ray, Spark and datatrove, which it installs"
	@echo "make test-all  these and the slow tests too"
	@echo "make test-busy the tests while every core is busy with something else"
	@echo "make test-lowest  the tests with the lowest versions of the dependencies that pyproject.toml allows"
	@echo "make test-sanitized  the tests of the kernels, built with address and undefined-behaviour sanitizers"
	@echo "make fuzz      fuzz the readers of pages, archives and models for longer: FUZZ_INPUTS=20000 FUZZ_SEED=1"
	@echo "make lock      write requirements.lock, requirements-dev.lock and requirements-build.lock: the tested versions of all dependencies, with hashes"
	@echo "make audit     look for known vulnerabilities of these versions; needs a network"
	@echo "make wheel     build dist/webwinnow-*.whl; requires a C compiler"
	@echo "make bench     speed and quality beside peers; writes benchmarks/RESULTS.md"
	@echo "make train     train the page model and the recogniser of kinds again; writes their weights.npz and kinds.npz"
	@echo "make pictures  take the pictures of docs/inspect.md, docs/cluster.md and docs/serve.md anew"
	@echo "make train-items  train the trees of method items again; writes src/webwinnow/methods/itemtrees.npz"
	@echo "make docs      build the documentation site in site/; start with site/index.html"
	@echo "make sample    build samples/docs.warc.gz again from Debian packages"
	@echo "make kinds     build samples/kinds.warc.gz again from tools/kinds"

setup: $(STAMP)

# With the Python that requirements-dev.lock was resolved for, packages are installed by hash, pip first; with others, within the bounds of
# pyproject.toml and with the newest pip: older ones have no --group.
LOCKED_PYTHON := $(shell sed -n 's/^\# Resolved for Python \([0-9.]*[0-9]\)\.$$/\1/p' requirements-dev.lock)

$(STAMP): pyproject.toml setup.py requirements-build.lock requirements-dev.lock $(shell find src -name '*.pyx' -o -name '*.pxd')
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	if $(BIN)/python -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$(LOCKED_PYTHON)")'; then \
	  $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-build.lock && \
	  $(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock && \
	  $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .; \
	else \
	  $(BIN)/python -m pip install --quiet --upgrade pip && \
	  $(BIN)/python -m pip install --quiet --editable '.[parquet,cjk,mining,search,serve,crawl,thesaurus]' --group dev; \
	fi
	touch $@

# The report of `webwinnow inspect` is tested in a real browser, Debian's chromium. Where it cannot be installed those
# tests say that they skipped.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || (apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null) \
	  || echo "no Chromium here and none can be installed: tests in the browser will be skipped" >&2

# Tests check the pages for people with axe-core. Where it cannot be downloaded they say that they skipped.
axe: build/axe/package/axe.min.js

build/axe/package/axe.min.js:
	@mkdir -p build/axe && cd build/axe && npm pack --silent $(AXE) >/dev/null 2>&1 && tar xzf axe-core-*.tgz \
	  || echo "axe-core cannot be downloaded: tests that need it will be skipped" >&2

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
	@echo; echo "Three things to try next:"; echo
	@echo "  $(BIN)/webwinnow page samples/pages/sqlite-whentouse.html --format markdown --explain"
	@echo "  $(BIN)/webwinnow inspect samples/docs.warc.gz -o out/report.html   # then open out/report.html in a browser"
	@echo "  $(BIN)/webwinnow index out/docs.jsonl -o out/index && $(BIN)/webwinnow search out/index 'prepared statement'"

test: setup browser axe lint types
	$(BIN)/python -m pytest -m "not slow" --ignore tests/run/engines -n 3 --dist loadfile --no-loadscope-reorder

# Runs on Ray, Spark and datatrove, which are large: `make test-all` runs these tests too.
test-engines: setup $(VENV)/.engines
	$(BIN)/python -m pytest tests/run/engines

test-all: setup browser axe $(VENV)/.engines $(VENV)/.bench $(VENV)/.docs lint types test-sanitized
	WEBWINNOW_EXPLORE=1 $(BIN)/python -m pytest

# Every core has a process that computes as long as the tests run, so that a test that relies on time fails here.
test-busy: setup browser axe
	@spinners=(); trap 'kill "$${spinners[@]}" 2>/dev/null' EXIT; \
	for core in $$(seq $$(nproc)); do nice -n 1 $(BIN)/python -c 'while True: pass' & spinners+=($$!); done; \
	$(BIN)/python -m pytest -m "not slow" -n 3 --dist loadfile --no-loadscope-reorder

# `make test` has the newest versions that the lock files name, this the lowest that pyproject.toml allows. Tools of the
# tests are installed before them, because some need a newer pyarrow or Rich; they do not need it for the tests.
test-lowest: browser axe
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --upgrade pip uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST) --group dev
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST) --upgrade --resolution lowest-direct \
	  --editable '.[parquet,cjk,mining,search,serve,crawl,thesaurus,selectors]'
	$(LOWEST)/bin/python -m pytest -m "not slow" -n 3 --dist loadfile --no-loadscope-reorder

# Kernels that check every memory access and every undefined operation; the first run builds them, which takes minutes.
test-sanitized: setup
	$(BIN)/python tools/sanitized.py

FUZZ_INPUTS ?= 20000
FUZZ_SEED ?= 1

fuzz: setup
	$(BIN)/python tests/fuzz/fuzzing.py --inputs $(FUZZ_INPUTS) --seed $(FUZZ_SEED)

# `make setup`, and so CI, installs requirements-build.lock and requirements-dev.lock; the container builds with requirements-build.lock
# and installs requirements.lock: all with --require-hashes. uv, pip-audit and the other groups are not locked (docs/security.md).
lock: setup
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/python tools/lock_requirements.py

audit: setup
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip_audit --strict --require-hashes --disable-pip --requirement requirements-dev.lock --requirement requirements-build.lock

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

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# Needs no network once .venv has the dependency group docs. The variable silences the notice that support of the theme ends in May 2027.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --clean
	@echo "built: site/index.html; with search: $(BIN)/python -m http.server --directory site"

$(VENV)/.pictures: $(STAMP)
	$(BIN)/python -m pip install --quiet --group pictures
	touch $@

pictures: $(VENV)/.pictures browser
	$(BIN)/python tools/take_screenshots.py
	$(BIN)/python tools/take_service_screenshots.py

train-items: $(VENV)/.train
	$(BIN)/python tools/train_items.py

wheel: setup
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

sample: setup
	$(BIN)/python tools/make_sample.py

kinds: setup
	$(BIN)/python tools/make_kinds.py

clean:
	rm -rf $(VENV) out build dist site *.egg-info src/*.egg-info
	find src -name '*.so' -delete
