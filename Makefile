# Everything that one types here. `make` alone lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help install demo up docs reference pictures test test-all lint browser bench chaos soak golden mutants messages lock format clean

# Compiled modules are kept, whatever the shell says: each process of the tests would compile them anew.
export PYTHONDONTWRITEBYTECODE :=

CHAOS_MINUTES ?= 60
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

install: $(STAMP) ## the environment in .venv, at the lock's versions

$(STAMP): requirements.lock constraints.txt pyproject.toml Makefile
	@for python in python3.14 python3.13 python3.12 python3.11 python3; do
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi
	  python=
	done
	if [ -z "$$python" ]; then
	  echo "CrowdRAG needs Python 3.11 or later, and there is none on PATH." >&2
	  exit 1
	fi
	if ! $(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
	  echo "Making $(VENV) with $$("$$python" --version) ..."
	  if ! "$$python" -m venv --clear $(VENV); then
	    echo "$$python cannot make environments. On Debian or Ubuntu: apt-get install python3-venv" >&2
	    exit 1
	  fi
	fi
	echo "Installing what requirements.lock names (a few minutes the first time) ..."
	# All of it by its hash, but for torch: its build is this machine's.
	$(PIP) install --quiet --require-hashes --no-deps --requirement requirements.lock
	$(PIP) install --quiet --constraint constraints.txt torch
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	# As pip does with what is not editable; otherwise each process of the tests does it at once.
	$(BIN)/python -m compileall -q crowdrag annotation writing analysis
	touch $@

# The sources of the documentation are read by no other file, so it is built again only when one of them changed. A broken
# link is no reason not to start: `make docs` and lint are strict.
SITE := build/docs/index.html
$(SITE): $(STAMP) mkdocs.yml $(shell find docs -type f)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet || echo "The documentation could not be built: see make docs" >&2

docs: install ## the documentation site in build/docs, checked; the running system serves it at /docs/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

reference: install ## write the pages of docs/reference that repeat what the code states
	@SECRET_KEY=docs CROWDRAG_PSEUDONYM_KEY=docs CROWDRAG_IDENTITY_KEY=docs $(BIN)/python manage.py reference

pictures: install browser ## take the pictures of the README from a running demo (`make demo` in another terminal)
	@CHROMIUM="$$(bash .ci/browser $(BIN) --path)" $(BIN)/python .ci/pictures.py

demo: install $(SITE) ## the whole system with its demo study; prints the address and a login
	@exec $(BIN)/crowdrag demo

up: install $(SITE) ## the whole system
	@exec $(BIN)/crowdrag up

lint: install ## style, import contracts, types, templates, migrations, deployment checks
	@bash .ci/lint $(BIN)

browser: install ## a browser for the tests, if there is none
	@bash .ci/browser $(BIN)

# "Call log:" and "waiting for navigation" stand where Playwright waited for something in vain. Three processes for two
# cores: tests wait for browsers, brokers and disks half of their time.
PARALLEL := --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 25 --durations-min 1 \
  --reruns 1 --only-rerun "Call log:" --only-rerun "waiting for navigation" --max-suite-reruns 3 -rR --rerun-show-tracebacks

test: browser ## all that a change can break, in minutes; what CI runs
	@$(call checked,not soak and not extended)

test-all: browser ## more: every role at every endpoint, every page by axe, processes that are killed, whole systems
	@export CROWDRAG_EXAMPLES=4
	$(call checked,not soak)

# Lint beside the tests, which wait often; what it says comes after them.
define checked
report="$$(mktemp)"
bash .ci/lint $(BIN) >"$$report" 2>&1 & lint=$$!
browser="$$(bash .ci/browser $(BIN) --path)"
status=0
CHROMIUM="$$browser" $(PYTEST) -m "$(1)" $(PARALLEL) || status=$$?
wait "$$lint" || status=1
cat "$$report"
rm "$$report"
exit "$$status"
endef

bench: install ## the figures of bench/, as ratios measured in one run
	@$(BIN)/python -m bench

chaos: install ## kill every part of a system under load for an hour, and compare what it acknowledged (CHAOS_MINUTES=10)
	@$(BIN)/python -m bench.chaos --minutes $(CHAOS_MINUTES) $(ARGS)

soak: install browser ## the long forms of the tests
	@browser="$$(bash .ci/browser $(BIN) --path)"
	CHROMIUM="$$browser" CROWDRAG_API_EXAMPLES=25 $(PYTEST) -m soak --timeout=7200

mutants: install ## put faults into the code and count those that the tests find (hours; ARGS="--part stats")
	@$(BIN)/uv tool run --quiet --from cosmic-ray==8.7.0 python .ci/mutants.py $(ARGS)

golden: install ## accept today's outputs of the demo and the sample as the golden ones, and show what changed
	@$(PYTEST) tests/golden --accept-golden -q
	git --no-pager diff --stat tests/golden
	git status --short tests/golden | grep '^??' || true

messages: install ## collect the texts of participants' pages for translation, and compile the catalogues (needs GNU gettext)
	@export SECRET_KEY=- CROWDRAG_PSEUDONYM_KEY=- CROWDRAG_IDENTITY_KEY=-
	$(BIN)/python manage.py makemessages --all --no-wrap --no-obsolete --add-location file --ignore $(VENV) --ignore tests
	$(BIN)/python manage.py compilemessages --ignore $(VENV)
	git --no-pager diff --stat crowdrag/locale

lock: install ## resolve pyproject.toml anew into constraints.txt and requirements.lock
	@bash .ci/lock $(BIN)

format: install ## put the code into its form
	@$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet . || true

clean: ## remove what is made here, but no data
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage test-results
