# Each target makes what it needs; `make` alone tells what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test e2e lint gen cluster bench clean lock

help: ## Tell what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

$(READY): requirements-dev.lock pyproject.toml
	@echo "Setting up $(VENV) (about a minute)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

demo: $(READY) ## Watch the operator run Instances on a real control plane (KEEP=1 leaves it up)
	@$(BIN)/python -m e2e.demo $(if $(KEEP),--keep)

# Static, from Debian's sources. Where they cannot be built, the tests of them are skipped.
SSH_PROGRAMS := $(HOME)/.cache/gpustack-ctrl/ssh-server
SFTP_SERVER := $(SSH_PROGRAMS)/sftp-server
SSHD := $(SSH_PROGRAMS)/inside/sshd
$(SFTP_SERVER): ssh-server/build.sh
	@echo "Building an sftp server (a minute, once)"
	-@sh ssh-server/build.sh sftp-server $(SSH_PROGRAMS) >/dev/null 2>&1
$(SSHD): ssh-server/build.sh ssh-server/src/sshd_names.c ssh-server/src/inside.h
	@echo "Building an SSH server (two minutes, once)"
	-@sh ssh-server/build.sh sshd $(SSH_PROGRAMS) >/dev/null 2>&1

test: $(READY) $(SFTP_SERVER) $(SSHD) ## Prove every promise, on the embedded cluster
	@$(BIN)/python -m e2e.cluster build --with helm
	@$(BIN)/pytest $(ARGS)

e2e: $(READY) ## Prove it on a real node: real Pods, real packets, real logins (takes root)
	@e2e/install-packages.sh $$($(BIN)/python -m e2e.node lacking) || true
	@$(BIN)/python -m e2e.node prepare
	@$(BIN)/pytest e2e/tests $(ARGS)

lint: $(READY) ## Check style, types, layers, and that generated files are fresh
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m gpustack_ctrl.gen --check
	@$(BIN)/python -m monitoring --check

gen: $(READY) ## Write the CRDs, the roles, the chart's copies, the reference and what monitors
	@$(BIN)/python -m gpustack_ctrl.gen
	@$(BIN)/python -m monitoring

cluster: $(READY) ## Build the embedded cluster (about nine minutes the first time, then at once)
	@$(BIN)/python -m e2e.cluster build

bench: $(READY) cluster ## Measure, as ratios in one run
	@$(BIN)/python -m benchmarks

lock: $(READY) ## Resolve the dependencies anew
	@$(BIN)/pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --python-version 3.11 pyproject.toml --group dev -o requirements-dev.lock
	@echo 'hatchling>=1.27' | $(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --python-version 3.11 - -o packaging/backend.lock

clean: ## Remove what was made in this folder
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis e2e/reports build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
