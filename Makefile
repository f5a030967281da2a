# Daily commands. Everything lives in .venv; `make clean` removes what was made here.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SETS ?= $(wildcard ../shared/eval)

.PHONY: demo test lint eval baseline bench clients axe docs format clean

demo: $(VENV)/.brain ## index the example vault and ask it a few questions
	@sh scripts/demo.sh $(BIN)

test: $(VENV)/.test ## run all tests
	$(BIN)/python -m pytest -n 2 --dist loadscope

lint: $(VENV)/.test ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

eval: $(VENV)/.test ## quality on the golden set, and on the held half of the sets in SETS, with public peers
	$(BIN)/brain eval --peers --tokens --baseline eval/baseline.json
	$(if $(SETS),$(BIN)/brain eval --peers --half held --sets $(SETS))

baseline: $(VENV)/.test ## move the baseline of the quality gate: for a commit of its own
	$(BIN)/brain eval --save eval/baseline.json

bench: $(VENV)/.bench ## speed and memory, as ratios, in one run
	$(BIN)/python bench/run.py
	$(BIN)/python bench/servers.py
	$(BIN)/python bench/qdrant.py

clients: tests/clients/node_modules ## another SDK's client, which tests try the servers with; needs npm

tests/clients/node_modules: tests/clients/package.json
	@cd tests/clients && npm install --no-package-lock --no-audit --no-fund --silent && touch node_modules

axe: tests/browser/node_modules ## the accessibility check that browser tests run; needs npm

tests/browser/node_modules: tests/browser/package.json
	@cd tests/browser && npm install --no-package-lock --no-audit --no-fund --silent && touch node_modules

docs: $(VENV)/.test ## write the generated reference
	$(BIN)/python -m second_brain.cli.reference docs/reference
	$(BIN)/python -m second_brain.servers.api.openapi docs/reference/openapi.json
	$(BIN)/python scripts/scale_model.py docs

format: $(VENV)/.test
	$(BIN)/ruff check --fix -q .
	$(BIN)/ruff format -q .

clean:
	rm -rf $(VENV) .demo .eval .bench build dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "second-brain needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.brain: pyproject.toml | $(BIN)/python
	@echo "installing second-brain into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . && touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "installing second-brain and its test tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]' && touch $@ $(VENV)/.brain

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' && touch $@
