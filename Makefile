# Everything a developer needs, from nothing but Python 3.11 or newer and make:
#
#   make run         the default job: qkv-gemm on the default topology, numbers verified
#   make test        the tests that a developer waits for
#   make slow        all the others: slow ones, those on a Neo4j server, dear property tests with all examples
#   make pure        the tests of exact times and kept results, where nothing is compiled (KERNBENCH_PURE=1)
#   make coverage    which lines of the product `make test` runs, of each folder and all; nothing is compiled
#   make core        compile the engine again, after a change of it; needs a C compiler, or the package ziglang
#   make golden      rewrite the kept results under tests/golden, after a decision to change them
#   make lock        write requirements-dev.txt: the versions of all packages with which this environment's tests pass
#   make lint        ruff: rules and format
#   make types       mypy, strict
#   make contracts   import-linter: which package may import which
#   make wheel-test  a wheel, installed in an empty environment, runs the default job and a query
#   make docs        rewrite the pages under docs/reference that are made from the code
#   make site        build the documentation as a site into site/, with strict links
#   make pictures    redraw docs/pictures: the machine, the way from a file to an answer
#   make validation  measure the model beside references, write docs/reference/validation.md
#   make measure     run every bench and question, write docs/reference/measured.md
#   make measure-store  measure the stores on a million hops, write docs/reference/measured-stores.md (as make neo4j)
#   make diagrams    redraw docs/diagrams, the pictures of the default and the smallest machine
#   make screens     redraw docs/screens: pictures of the terminal UI, the time line and the page (needs a Chromium)
#   make neo4j       a Neo4j server without Docker, at neo4j://127.0.0.1:7687 (needs a JDK 17 and Maven)
#   make clean       remove the environment and all caches

# Compiled modules are kept, whatever the caller's environment says: hundreds of processes of the tests start faster.
unexport PYTHONDONTWRITEBYTECODE
# Threads of a process share one heap of glibc's: hundreds of databases reuse what those before have freed.
export MALLOC_ARENA_MAX := 1
# Python keeps byte code of what is imported; pip need not make it of all that is installed.
export PIP_COMPILE := 0

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
# Of the property tests of `make slow`: `full` makes the same examples each time, `search` others.
PROFILE ?= full

BIN := $(VENV)/bin
# Stamps lie inside the environment, so that removing it removes them.
PLAIN := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
# compiled when KernBench is installed
CORE := hatch_build.py $(wildcard kernbench/*/*.pyx kernbench/*/*.pxd kernbench/*/*/*.pyx kernbench/*/*/*.pxd) kernbench/support/compiled/digest.py
INSTALL = @$(BIN)/python tools/install.py
SAY := $(BIN)/python -c 'from kernbench.support.compiled import state; print("compiled engine:", state)'
# What the engine computes, and what is kept of it.
PURE := tests/golden tests/exact/test_fabric.py tests/exact/test_reference_agreement.py tests/unit/test_sim_server.py

.PHONY: run test slow pure coverage core golden lock lint types contracts wheel-test docs site pictures validation measure measure-store diagrams screens neo4j clean help
.DEFAULT_GOAL := help

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' $(MAKEFILE_LIST)

run: $(PLAIN)
	$(BIN)/kernbench run qkv-gemm --topology configs/topologies/default.yaml --verify-data

test: $(DEV)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

slow: $(DEV)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'slow or neo4j or $(if $(filter search,$(PROFILE)),hypothesis,dear)' --hypothesis-profile $(PROFILE)

pure: $(DEV)
	KERNBENCH_PURE=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PURE)

# Three times as long as the tests alone; WHAT=tests/unit asks some of them.
coverage: $(DEV)
	$(BIN)/python -m coverage erase
	-KERNBENCH_PURE=1 $(BIN)/python -m coverage run -m pytest -n $(JOBS) --dist worksteal $(WHAT)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python tools/coverage_by_folder.py

core: $(DEV)
	$(BIN)/python hatch_build.py

golden: $(DEV)
	$(BIN)/python tests/golden/archives.py
	$(BIN)/python tests/golden/test_probe_golden.py
	$(BIN)/python tests/golden/test_topology_counts.py

lock: $(DEV)
	$(BIN)/python -m pip --disable-pip-version-check freeze --exclude-editable > requirements-dev.txt

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

contracts: $(DEV)
	$(BIN)/lint-imports

wheel-test: $(DEV)
	$(BIN)/python -m pytest -m slow tests/e2e/test_wheel.py

docs: $(DEV)
	$(BIN)/python -m tools.reference.tl docs/reference/tl.md
	$(BIN)/python -m tools.reference.topology_keys docs/reference/topology-keys.md
	$(BIN)/python -m tools.reference.graph docs/reference

site: $(DEV)
	DISABLE_MKDOCS_2_WARNING=true NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir site

pictures: $(DEV)
	$(BIN)/python tools/draw_docs.py docs/pictures

validation: $(DEV)
	$(BIN)/python -m tools.reference.validation docs/reference/validation.md

measure: $(DEV)
	$(BIN)/python -m tools.measure

measure-store: $(DEV)
	$(BIN)/python -m tools.measure_store

diagrams: $(DEV)
	$(BIN)/kernbench topology diagram default --out docs/diagrams/default
	$(BIN)/kernbench topology diagram minimal --out docs/diagrams/minimal

screens: $(DEV)
	$(BIN)/python tools/draw_screens.py docs/screens
	$(BIN)/python -m tools.draw_page docs/screens/page

neo4j: $(DEV)
	$(BIN)/python tools/run_neo4j.py $(NEO4J_OPTIONS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "KernBench needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(PLAIN): pyproject.toml $(CORE) | $(VENV)/bin/python
	$(INSTALL) cypher
	@$(SAY)
	touch $@

$(DEV): pyproject.toml $(CORE) | $(VENV)/bin/python
	$(INSTALL) dev $$($(MAKE_COMMAND) --silent --question $(PLAIN) && echo --no-compile)
	@$(SAY)
	touch $(PLAIN) $@
