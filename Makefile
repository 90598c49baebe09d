# Every target sets up what it needs: a virtual environment in .venv and the packages in it.
PYTHON ?= python3
BIN := .venv/bin
DEPTHGAUGE := $(BIN)/depthgauge

.PHONY: demo test lint perf evidence docs clean

.venv/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "depthgauge needs Python 3.11 or newer; say: make PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# The report is tried in a browser. Where it cannot be installed, those tests skip and say so.
.venv/.browser: .venv/.dev
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq chromium >/dev/null) || \
	  echo "chromium could not be installed: the tests that need a browser are skipped"
	touch $@

# Passive images of simulated sessions render 2 to 3 times faster with an LLVM that Mitsuba can use.
.venv/.llvm: .venv/.dev
	ls /usr/lib/*/libLLVM*19* >/dev/null 2>&1 || (apt-get update -qq && apt-get install -y -qq libllvm19 >/dev/null) || \
	  echo "libllvm19 could not be installed: passive images are rendered more slowly"
	touch $@

.venv/.dev: .venv/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: .venv/.ready  ## the main job, from nothing to numbers
	$(DEPTHGAUGE) demo --out out/demo

test: .venv/.dev .venv/.browser .venv/.llvm lint  ## what must never break
	$(BIN)/python -m pytest -q -n 2

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

perf: .venv/.dev  ## us beside what people use today, in one run
	$(BIN)/python -m perf

evidence: .venv/.dev .venv/.llvm  ## accuracy figures of the docs, recorded in docs/evidence
	$(BIN)/python -m docs.evidence

docs: .venv/.dev  ## regenerates the pages that are made from the declarations
	$(BIN)/python -m docs.generate

clean:
	rm -rf .venv out .pytest_cache .mypy_cache .ruff_cache
