# Strata: one command for each thing one wants to do. `make` lists them.

# The first Python from 3.11 to 3.13 on the PATH; `make demo PYTHON=/path/to/python` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
STAGE := scripts/stage
JOBS ?= 2
export DAGSTER_HOME := $(CURDIR)/.dagster
export DBT_SEND_ANONYMOUS_USAGE_STATS := false

.DEFAULT_GOAL := help
.PHONY: help demo ui data parsed staged test editor lint format clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: .venv/.installed-demo .dagster/dagster.yaml parsed ## real data through dbt, Strata and Dagster (a few minutes the first time)
	@$(STAGE) "compile the Strata models" strata-compile $(BIN)/strata compile --manifest
	@$(STAGE) "materialize every asset" dagster $(BIN)/dagster asset materialize --select 'not key:"airport_days"' -m definitions
	@$(BIN)/python -m strata_dagster.summary
	@$(STAGE) "backfill the months of airport_days" backfill $(BIN)/dagster asset materialize --select airport_days \
		--partition-range 2013-01-01...2013-12-01 -m definitions
	@$(BIN)/python -m strata_dagster.summary
	@echo "Open the Dagster UI with: make ui"

# Dagster warns at each start that `dg dev` is newer; that is a package more, of no use to the demo.
ui: .venv/.installed-demo .dagster/dagster.yaml parsed ## the Dagster UI of the demo, on the loopback interface
	@PYTHONWARNINGS=ignore:Function $(BIN)/dagster dev -w workspace.yaml

data: .venv/.installed-demo
	@$(STAGE) "extract the flights data" data $(BIN)/python -m demo.fetch

parsed: data # dbt's manifest, from which Dagster knows the models; Dagster builds them
	@$(STAGE) "parse the dbt project" dbt-parse sh -c 'cd dbt_project && ../$(BIN)/dbt parse --quiet --no-use-colors'

staged: data ## the flights data, extracted and staged by dbt
	@$(STAGE) "stage it with dbt (build and tests)" dbt sh -c 'cd dbt_project && ../$(BIN)/dbt build --quiet --no-use-colors'

test: .venv/.installed-test lint staged ## lint, types, import rules and every test
	@$(BIN)/pytest -q -n $(JOBS) --dist worksteal

lint: .venv/.installed-test ## the checks that need no run: ruff, mypy, import-linter, strata fmt, contracts
	@$(STAGE) "ruff check" ruff-check $(BIN)/ruff check .
	@$(STAGE) "ruff format" ruff-format $(BIN)/ruff format --check .
	@$(STAGE) "mypy (strict)" mypy $(BIN)/mypy
	@$(STAGE) "import rules" imports $(BIN)/lint-imports
	@$(STAGE) "strata fmt" strata-fmt $(BIN)/strata fmt --check
	@$(STAGE) "data product contracts" contracts $(BIN)/contract-engine validate

editor: ## the VS Code extension, tested and packaged as editors/vscode/strata.vsix (needs Node.js)
	@$(STAGE) "install the extension's tools" npm-ci npm --prefix editors/vscode ci
	@$(STAGE) "test the extension's grammar" npm-test npm --prefix editors/vscode test
	@$(STAGE) "package the extension" npm-package npm --prefix editors/vscode run package

format: .venv/.installed-test ## lay out the Python and the Strata code, and make what is made of the grammar anew
	@$(BIN)/python -m strata_core.language.lark_tables
	@$(BIN)/strata grammar --format textmate > editors/vscode/syntaxes/strata.tmLanguage.json
	@$(BIN)/ruff check --fix-only -q . && $(BIN)/ruff format -q . && $(BIN)/strata fmt

clean: ## remove everything that the other commands made
	@rm -rf .venv .dagster .strata .generated data logs dbt_project/target dbt_project/logs \
		.mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache \
		editors/vscode/node_modules editors/vscode/out editors/vscode/strata.vsix
	@find . -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Strata needs Python 3.11, 3.12 or 3.13; none is on the PATH (make PYTHON=… names one)."; exit 2; }
	@$(STAGE) "create .venv with $(notdir $(PYTHON))" venv $(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

# One rule for both extras; the test extra holds the demo extra, so that it stamps both.
.venv/.installed-%: .venv/bin/python pyproject.toml constraints.txt
	@$(STAGE) "install what constraints.txt pins ($*)" install-$* \
		$(BIN)/python -m pip install --disable-pip-version-check --no-input -q -c constraints.txt -e '.[$*]'
	@touch $@ $(if $(filter test,$*),.venv/.installed-demo)

# Not at the root: Dagster would warn at each start that it does not read it there.
.dagster/dagster.yaml: deploy/dagster.yaml
	@mkdir -p .dagster && cp deploy/dagster.yaml $@
