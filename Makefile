# `make submission` and `make test` work on a machine that has Python 3.11, git and make, and nothing else.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
PY     := $(VENV)/bin/python

.PHONY: help setup submission test test-slow check format benchmark cluster clean
help:
	@echo "make submission   set up, bundle the strongest agent into main.py, check it as Kaggle does, print its record"
	@echo "make test         set up and run every test and check"
	@echo "make test-slow    the proofs that take minutes"
	@echo "make benchmark    the speed ratios quoted in the README"
	@echo "make cluster      a scheduler and two workers on this machine, for tournaments with --cluster"
	@echo "make format       format the code and mend what ruff can mend"

# The environment is made once, and made anew when the requirements change.
$(VENV)/runtime: requirements.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or name it: make PYTHON=/path/to/python3.11"; exit 2; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is too old: Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 2; }
	@echo "Setting up $(VENV) (about two minutes, once)"
	@"$(PYTHON)" -m venv --clear $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/development: $(VENV)/runtime requirements-dev.txt requirements-cluster.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

setup: $(VENV)/development

submission: $(VENV)/runtime
	$(PY) -m submission

check: $(VENV)/development
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-cache

test: check
	$(PY) -m pytest

test-slow: $(VENV)/development
	$(PY) -m pytest -m slow

benchmark: $(VENV)/runtime
	$(PY) -m tests.benchmarks

cluster: $(VENV)/development
	@echo "python -m evaluation tournament ... --cluster tcp://127.0.0.1:8786   (Ctrl-C ends the cluster)"
	@export PYTHONPATH=.; $(VENV)/bin/dask scheduler --host 127.0.0.1 --port 8786 --no-dashboard & scheduler=$$!; \
	trap "kill $$scheduler" EXIT INT TERM; \
	$(VENV)/bin/dask worker tcp://127.0.0.1:8786 --nworkers 2 --nthreads 1 --no-dashboard

format: $(VENV)/development
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

clean:
	rm -rf $(VENV) main.py .mypy_cache .ruff_cache .pytest_cache .hypothesis
