# Everything runs in .venv, made from the hash-pinned lock in requirements/. The first run needs the
# network, later ones do not. `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
IMAGE ?= krmfn
RUNS ?= 1
SECONDS ?= 60
REGISTRY ?= registry.example.com
CONTAINERS ?= $(shell command -v docker || command -v podman)

READY := .venv/.ready
RELEASE := .venv/release/.ready
RELEASE_PYTHON := env PYTHONPATH=tools .venv/release/bin/python
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# `make test` has to pass where the engines are not yet, as on a fresh machine.
e2e fuzz conformance bench release: export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.tools/bin:$(PATH)
# With it each of the thousands of processes of the tests compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test interpreters e2e fuzz lint hook conformance bench facts goldens image release release-check lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## render an example, and see a conflict refused
	@printf '\n=== A DeviceConfig as it stands in Git ===\n\n'
	@cat examples/quickstart/deviceconfig.yaml
	@printf '\n=== krmfn render examples/quickstart ===\n\n'
	@krmfn render examples/quickstart
	@printf '\n=== krmfn check examples/conflict ===\n\n'
	@krmfn check examples/conflict; code=$$?; \
	  [ $$code = 1 ] || { echo "expected to be refused with exit code 1, not $$code" >&2; exit 1; }
	@printf '\nRefused with exit code 1, as it should be: nothing of it would reach a cluster.\n'
	@printf '\n. .venv/bin/activate puts krmfn on the PATH of your shell.\n\n'

test: $(READY) ## every test that needs no other program
	pytest -n auto --dist worksteal --ignore tests/e2e

interpreters: $(RELEASE) ## the same on every Python that pyproject.toml supports, by nox; each has to be on PATH or made by pyenv
	PATH="$$PATH:$(subst $() ,:,$(wildcard $(HOME)/.pyenv/versions/*/bin))" .venv/release/bin/nox $(if $(TESTS),-- $(TESTS))

e2e: $(READY) ## the same functions under real kustomize, kpt and containers; TESTS="FILE FILE" runs some of them
	$(if $(filter installed,$(ENGINES)),,tests/e2e/install)
	pytest $(or $(TESTS),tests/e2e)

fuzz: $(READY) ## hold krmfn against the real readers on inputs made at random; SECONDS=1800 for each target
	tests/e2e/fuzzer/build
	tests/e2e/apiserver/build
	@pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
	  -r requirements/fuzz.txt || echo 'atheris does not install here, so coverage guides nothing'
	python -m tests.fuzz --seconds $(SECONDS)

lint: $(READY) ## style, types, import directions
	ruff check .
	ruff format --check .
	mypy --strict krmfn functions tools tests benchmark
	lint-imports

hook: $(READY) ## check style, names and import directions before each commit in this clone
	git config core.hooksPath tools/hooks

conformance: $(READY) ## run kpt's function catalogue's own cases (CASES=DIR) over examples/catalog, with the real kpt
	python tools/conformance.py $(or $(CASES),$(error say where the cases are: CASES=DIR))

bench: $(READY) ## speed and memory, with the peers in the same run; RUNS=3 puts the worst into docs/internals/numbers.md, CASE=fleet measures fleets
	python benchmark/run.py --fresh $(if $(CASE),--case $(CASE)) --runs $(RUNS) $(if $(filter-out 1 2,$(RUNS)),--write docs/internals/numbers.md)

facts: $(READY) ## derive the tables of KMM's facts anew from its CRDs (CRDS=DIR, laid out as functions/kmm/crd/README.md says)
	python tools/derive_module_structure.py $(or $(CRDS),$(error say where KMM's CRDs are: CRDS=DIR))

goldens: $(READY) ## rewrite the expected outputs of the tests; read the diff before you commit it
	KRMFN_UPDATE=1 pytest -q --ignore tests/e2e

image: ## the function as a container image, made from BASE, an image with python3
	$(CONTAINERS) build --build-arg BASE=$(or $(BASE),$(error BASE=... must name an image with python3)) --tag $(IMAGE) .

release: $(RELEASE) ## fill dist/ from a clean checkout; BASE=NAME@DIGEST is what images are made from, REGISTRY where they will be
	$(RELEASE_PYTHON) -m release --registry '$(REGISTRY)' --base '$(BASE)' $(if $(filter no,$(IMAGES)),--without-images)

release-check: $(RELEASE) ## make the release, but for the images, in two clones that have nothing in common, and compare
	$(RELEASE_PYTHON) -m release.check REGISTRY='$(REGISTRY)' IMAGES=no

# An editable install: a change in the sources counts at once. --no-deps: the lock has them all.
# --no-compile: a module is compiled when it is first used, and most of them never are.
$(READY): requirements/dev.txt pyproject.toml sdk/pyproject.toml
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
	  || { echo 'krmfn needs Python 3.10 or newer with venv (Debian, Ubuntu: apt-get install python3-venv)' >&2; exit 1; }
	@echo 'setting up .venv, once'
	@$(PYTHON) -m venv .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable ./sdk --editable .
	@mkdir -p .venv/types && ln -sfn ../../functions .venv/types/krmfn_functions
	@touch $@

$(RELEASE): requirements/release.txt
	@$(PYTHON) -m venv --clear .venv/release
	@.venv/release/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/release.txt
	@touch $@

# On the oldest Python, so that the versions serve every Python; needs pip-tools.
COMPILE = CUSTOM_COMPILE_COMMAND='make lock' pip-compile --quiet --upgrade --generate-hashes --allow-unsafe \
  --no-strip-extras --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host
lock: ## pin the newest dependencies in requirements/ (Python 3.10 with pip-tools on PATH)
	@mkdir -p build
	python tools/dependencies.py > build/needed.in
	$(COMPILE) build/needed.in requirements/dev.in --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt build/needed.in --output-file requirements/run.txt
	$(COMPILE) --constraint requirements/dev.txt requirements/release.in --output-file requirements/release.txt
	$(COMPILE) --constraint requirements/dev.txt --all-build-deps --only-build-deps pyproject.toml --output-file requirements/build.txt

clean: ## remove what was made here, the environment included
	rm -rf .venv .tools build dist *.egg-info .coverage .*_cache .hypothesis
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
