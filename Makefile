# `make` sets up .venv and runs the example study; `make test` sets up the same way and runs the quick tests,
# `make test-all` all of them.
# Another Python than python3: make PYTHON=python3.12
# Without a package index, from what `make wheelhouse` collected: make WHEELHOUSE=path/to/wheelhouse.tar

PYTHON ?= python3
BIN := .venv/bin

# Written last, when the environment is whole, and named after the lock and this folder: another lock,
# a moved checkout or an interrupted set-up all mean a fresh environment, whatever the time stamps say.
READY := .venv/ready-$(shell { pwd; cat requirements.lock; } | cksum | cut -d' ' -f1)

ifdef WHEELHOUSE
INSTALL = PYTHONPATH=workflow/lib $(BIN)/python -m reident.archive.wheelhouse install '$(WHEELHOUSE)'
else
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
endif

.PHONY: example test test-all lint docs benchmarks audit golden lock wheelhouse clean
.DELETE_ON_ERROR:

example: $(READY)
	$(BIN)/snakemake --cores all

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

# A few minutes: the units, the properties on few examples, a whole study, and each guard once.
test: $(READY)
	$(PYTEST)

# All tests but those marked `long`: the quick ones, and then the rest, with the properties on many examples.
test-all: test
	HYPOTHESIS_PROFILE=many $(PYTEST) -m "not long and not quick and (slow or many)"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

# What is generated: config/README.md and workflow/schemas/study.schema.json from the study model,
# docs/DATA.md and the table of files with data in README.md from the declared tables.
docs: $(READY)
	$(BIN)/python -m reident.study.documentation
	$(BIN)/python -m reident.pipeline.documentation

# Our kernels and general tools on the same files; results/benchmarks/. The tools live in .venv-peers
# (see pyproject.toml); without it only ours is timed. It takes hours: BENCH="--sizes 1000,10000" is short.
benchmarks: $(READY)
	$(BIN)/python tests/benchmarks/run.py $(BENCH)

# Each bundled study run, sealed, and reproduced by one command in an empty folder, with times. It takes minutes:
# AUDIT="example winkler-basic" is short.
audit: $(READY)
	$(BIN)/python tests/workflow/audit.py $(AUDIT)

# tests/golden anew: the sealed bag of a small study that every later release must reproduce.
golden: $(READY)
	PYTHONPATH=tests:workflow/lib $(BIN)/python -m making.golden

# The lock again, after a change to the dependencies in pyproject.toml. What need not change keeps its
# version; `make lock LOCK=--upgrade` takes the newest of everything that pyproject.toml leaves open.
lock: $(READY)
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" \
		--quiet $(LOCK) --output-file requirements.lock

# All that set-up needs, in wheelhouse/wheelhouse.tar: by default for this machine and this Python, or for others:
# make wheelhouse PLATFORMS="manylinux_2_28_x86_64 macosx_14_0_arm64" PYTHONS="3.11 3.12"
wheelhouse: $(READY)
	@$(BIN)/python -m reident.archive.wheelhouse collect wheelhouse \
		$(if $(PLATFORMS),--platforms $(PLATFORMS)) $(if $(PYTHONS),--pythons $(PYTHONS))

# Everything that set-up and tools made; never results/ or reports/, which may hold weeks of work.
clean:
	rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find workflow tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo 'Python 3.11, 3.12 or 3.13 is needed; name one: make PYTHON=python3.12' >&2; exit 1; }
	@echo 'Setting up .venv from requirements.lock (once, about a minute) ...'
	@rm -f .venv/ready-*
	@rm -rf .venv
	$(PYTHON) -m venv .venv
	@$(INSTALL)
	$(BIN)/python -m pip check --disable-pip-version-check
	$(BIN)/python -c 'import pathlib, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "reident.pth").write_text("../../../../workflow/lib\n")'
	@printf '#!/bin/sh\nexec "$(CURDIR)/$(BIN)/python" -P -m reident.drafting "$$@"\n' > $(BIN)/reident
	@chmod +x $(BIN)/reident
	@touch $@
