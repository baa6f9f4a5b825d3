# `make` sets up .venv and runs the example study; `make setup` sets up alone. `make test` adds what only tests and
# linters need, and runs the quick tests, `make test-all` all of them.
# Another Python than python3: make PYTHON=python3.12
# Without a package index, from the folder that `make wheelhouse` filled: make WHEELHOUSE=path/to/wheelhouse

# Images often forbid to write compiled modules, so that each step of a study would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
OPTIONS = --quiet --require-hashes $(if $(WHEELHOUSE),--no-index --find-links '$(abspath $(WHEELHOUSE))')

# The Python of which the environment is made. Without PYTHON, it stays with the Python that it has.
WHICH := -c 'import os, sys; (3, 11) <= sys.version_info < (3, 14) and print(os.path.realpath(sys.executable))'
BASE := $(shell for python in $(if $(PYTHON),'$(PYTHON)',$(BIN)/python python3); do "$$python" $(WHICH) && break; done 2>&-)

# Files that say what is installed, named after its locks, this folder and the Python: another lock, a moved checkout,
# another Python and an interrupted set-up all mean a fresh environment, whatever the time stamps say.
sum = $(shell { pwd; echo '$(BASE)'; cat $(1); } | cksum | cut -d' ' -f1)
LOCKED := .venv/locked-$(call sum,requirements.lock)
READY := .venv/ready-$(call sum,requirements.lock pyproject.toml)
DEVELOPMENT := .venv/development-$(call sum,requirements.lock requirements-dev.lock)

.PHONY: example setup development test test-all lint docs docs-site benchmarks audit golden lock storage wheelhouse clean
.DELETE_ON_ERROR:

example: setup
	$(BIN)/snakemake --cores all

# What a study needs.
setup: $(READY)
	@:

# What tests, linters and `make lock` need beside it.
development: $(READY) $(DEVELOPMENT)
	@:

$(LOCKED):
	@test -n '$(BASE)' || { echo "Error: Python 3.11, 3.12 or 3.13 is needed. Name one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up .venv from requirements.lock ..."
	@rm -rf .venv && '$(BASE)' -m venv .venv
	@sed -n '/^uv==/,/# via/p' requirements-dev.lock >.venv/uv.lock
	@$(BIN)/pip install --disable-pip-version-check $(OPTIONS) --requirement .venv/uv.lock
	@# Python brings its own, old ones, of which scanners warn.
	@$(BIN)/uv pip uninstall --python $(BIN)/python --quiet pip setuptools
	@$(BIN)/uv pip sync --python $(BIN)/python $(OPTIONS) requirements.lock .venv/uv.lock
	@touch $@

$(READY): $(LOCKED)
	@$(BIN)/uv pip install --python $(BIN)/python --quiet --no-deps --no-index --editable .
	@touch $@

$(DEVELOPMENT): $(LOCKED)
	@$(BIN)/uv pip install --python $(BIN)/python --no-deps $(OPTIONS) --requirement requirements-dev.lock
	@touch $@

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

# A few minutes: the units, the properties on few examples, a whole study, and each guard once.
test: development
	$(PYTEST)

# All tests but those marked `long`: the quick ones, and then the rest, with the properties on many examples.
test-all: test
	HYPOTHESIS_PROFILE=many $(PYTEST) --durations=40 --durations-min=10 -m "not long and not quick and (slow or many)"

lint: development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules workflow/storage
	$(BIN)/snakemake --lint

# What is generated: config/README.md and workflow/schemas/ from the study model and the settings of a run,
# docs/DATA.md and the table of files with data in docs/explanation/confidentiality.md from the declared tables.
docs: development
	$(BIN)/python -m reident.pipeline.documentation

# The site of docs/, in the folder site; no network is asked. A link to a page or a heading that is not there is an error.
docs-site: development
	$(BIN)/python docs/site.py .pages
	$(BIN)/zensical build --clean --strict

# Our kernels and general tools on the same files; results/benchmarks/. The tools live in .venv-peers
# (see pyproject.toml); without it only ours is timed. It takes hours: BENCH="--sizes 1000,10000" is short.
benchmarks: development
	$(BIN)/python tests/benchmarks/run.py $(BENCH)

# Each bundled study run, sealed, and reproduced by one command in an empty folder, with times. It takes minutes:
# AUDIT="example winkler-basic" is short.
audit: development
	$(BIN)/python tests/workflow/audit.py $(AUDIT)

# tests/golden anew: the sealed bag of a small study that every later release must reproduce.
golden: development
	PYTHONPATH=tests $(BIN)/python -m making.golden

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock" --quiet $(LOCK)

# The locks again, after a change to the dependencies in pyproject.toml: requirements.lock has what a study needs, and
# requirements-dev.lock what is added to it. What need not change keeps its version; `make lock LOCK=--upgrade` takes the
# newest of everything that pyproject.toml leaves open.
lock: development
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --group dev --constraints requirements.lock \
		$$(sed -n 's/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' requirements.lock) --output-file requirements-dev.lock

# Object storage (docs/CLUSTER.md), in the locked versions but for one, since botocore needs an older python-dateutil.
storage: setup
	$(BIN)/uv venv --quiet --clear .venv-storage
	@sed -n '/^python-dateutil/d; s/^\([a-z0-9].*\) \\$$/\1/p' requirements.lock >.venv-storage/constraints.txt
	$(BIN)/uv pip install --quiet --python .venv-storage --constraints .venv-storage/constraints.txt \
		--group $(or $(GROUP),storage) --editable .

# All that set-up needs on a machine like this one, with this Python: the folder wheelhouse.
wheelhouse: setup
	'$(BASE)' -m venv --clear .venv-wheelhouse
	.venv-wheelhouse/bin/pip download --quiet --no-deps --require-hashes --dest wheelhouse --requirement requirements.lock
	.venv-wheelhouse/bin/pip download --quiet --no-deps --require-hashes --dest wheelhouse --requirement requirements-dev.lock

# Everything that set-up and tools made; never results/ or reports/, which may hold weeks of work.
clean:
	rm -rf .venv .cache .pages site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find workflow tests -name __pycache__ -type d -prune -exec rm -rf {} +
