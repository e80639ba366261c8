# SPDX-License-Identifier: Apache-2.0
# make demo   set up .venv and run the main job on an example
# make test   set up .venv and run the whole test suite
# make lint   formatting, lint and types

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check
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

# torch first and by itself: whichever build of this version the package index in use offers (CPU
# only or with GPU support) decides about its own dependencies.
$(READY): requirements.lock requirements-embeddings.lock requirements-train.lock pyproject.toml
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet "$$(grep '^torch==' requirements.lock)"
	$(PIP) install --quiet -r requirements.lock
	$(PIP) install --quiet --no-deps -r requirements-embeddings.lock
	$(PIP) install --quiet --no-deps -r requirements-train.lock
	$(PIP) install --quiet --no-deps -e .
	touch $@
