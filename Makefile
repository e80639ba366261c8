# SPDX-License-Identifier: Apache-2.0
# make demo   set up .venv and run the main job on an example
# make test   set up .venv and run the whole test suite
# make lint   formatting, lint and types

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check
LOCKED := $(PIP) install --quiet --require-hashes --no-deps --only-binary :all:
LOCKS := $(wildcard requirements*.lock)
READY := $(VENV)/.ready
EXAMPLE := examples/modules/softmax.py
RESULT := npuforge-out/softmax

.PHONY: demo test lint
.DELETE_ON_ERROR:

demo: $(READY)
	$(VENV)/bin/npuforge generate $(EXAMPLE) --out $(RESULT)

# Neighbours share what they build, so each process starts with a half of the suite in its order, and
# takes what is left of the other's when it is done. Compiled once, our code is loaded by hundreds of
# processes.
test: $(READY)
	$(VENV)/bin/python -m compileall -q src
	$(VENV)/bin/python -m pytest -n auto --dist worksteal

lint: $(READY)
	$(VENV)/bin/ruff format --check src tests tools benchmarks
	$(VENV)/bin/ruff check src tests tools benchmarks
	$(VENV)/bin/mypy

# The lock files name every package and the hashes of its files, and nothing else is fetched: no
# dependencies, no source archives (which would fetch what builds them). torch is the build without GPU
# support where the package index in use offers a locked one, else the usual one.
$(READY): $(LOCKS) pyproject.toml
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(LOCKED) -r requirements.lock
	$(LOCKED) -r requirements-torch-cpu.lock 2>/dev/null || $(LOCKED) -r requirements-torch.lock
	$(LOCKED) -r requirements-embeddings.lock
	$(LOCKED) -r requirements-train.lock
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	touch $@
