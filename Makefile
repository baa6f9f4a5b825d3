# `make` sets up .venv and runs the example study; `make setup` sets up alone. `make test` adds what only tests and
# linters need, and runs the quick tests, `make test-all` all of them.
# Another Python than python3: make PYTHON=python3.12
# Without a package index, from what `make wheelhouse` collected: make WHEELHOUSE=path/to/wheelhouse.tar

# Images often forbid to write compiled modules, so that each step of a study would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin

# Which files say that a lock is installed: named after the lock and this folder, so that another lock, a moved checkout
# and an interrupted set-up all mean a fresh environment, whatever the time stamps say.
ready = .venv/$(1)-$(shell { pwd; cat $(2); } | cksum | cut -d' ' -f1)=$(2)

# Checked by each `make` in a few hundredths of a second: a package that was changed by hand, or another PYTHON that is
# asked for, mean a fresh environment too. Without PYTHON, it stays with the Python that it has.
ASKED := $(if $(filter file,$(origin PYTHON)),,--asked)
STARTER = $(if $(ASKED),'$(PYTHON)',$(or $(wildcard $(BIN)/python),'$(PYTHON)'))
SET_UP = @PYTHONPATH=workflow/lib $(STARTER) -m reident.archive.environment $(ASKED) \
	$(if $(WHEELHOUSE),--wheelhouse '$(WHEELHOUSE)')

.PHONY: example setup development test test-all lint docs benchmarks audit golden lock wheelhouse clean
.DELETE_ON_ERROR:

example: setup
	$(BIN)/snakemake --cores all

# What a study needs.
setup:
	$(SET_UP) $(call ready,ready,requirements.lock)

# What tests, linters and `make lock` need beside it.
development:
	$(SET_UP) $(call ready,ready,requirements.lock) $(call ready,development,requirements-dev.lock)

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

# A few minutes: the units, the properties on few examples, a whole study, and each guard once.
test: development
	$(PYTEST)

# All tests but those marked `long`: the quick ones, and then the rest, with the properties on many examples.
test-all: test
	HYPOTHESIS_PROFILE=many $(PYTEST) -m "not long and not quick and (slow or many)"

lint: development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules workflow/storage
	$(BIN)/snakemake --lint

# What is generated: config/README.md and workflow/schemas/ from the study model and the settings of a run,
# docs/DATA.md and the table of files with data in README.md from the declared tables.
docs: development
	$(BIN)/python -m reident.study.documentation
	$(BIN)/python -m reident.pipeline.documentation

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
	PYTHONPATH=tests:workflow/lib $(BIN)/python -m making.golden

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock" --quiet $(LOCK)

# The locks again, after a change to the dependencies in pyproject.toml: requirements.lock has what a study needs, and
# requirements-dev.lock what is added to it. What need not change keeps its version; `make lock LOCK=--upgrade` takes the
# newest of everything that pyproject.toml leaves open.
lock: development
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --group dev --constraints requirements.lock \
		$$(sed -n 's/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' requirements.lock) --output-file requirements-dev.lock

# All that set-up needs, in wheelhouse/wheelhouse.tar: by default for this machine and this Python, or for others:
# make wheelhouse PLATFORMS="manylinux_2_28_x86_64 macosx_14_0_arm64" PYTHONS="3.11 3.12"
wheelhouse: development
	@$(BIN)/python -m reident.archive.wheelhouse collect wheelhouse \
		$(if $(PLATFORMS),--platforms $(PLATFORMS)) $(if $(PYTHONS),--pythons $(PYTHONS))

# Everything that set-up and tools made; never results/ or reports/, which may hold weeks of work.
clean:
	rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find workflow tests -name __pycache__ -type d -prune -exec rm -rf {} +
