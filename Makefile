# All targets use .venv, which `make setup` creates. `make help` lists the targets.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash

PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
# Once the virtual environment has what `make run` needs, and all of it.
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.installed
TARGET ?=
PYTEST_ARGS ?=
MACHINES = x86_64 aarch64 x86_64-macos aarch64-macos x86_64-windows
WITHOUT_OTHERS = not server and not browser and not cluster and not lakes and not iceberg and not wheels
VERSION_TESTS := $(addprefix tests/spark/test_,$(addsuffix .py,stream pipeline catalog read damage errors))
LAKE_TESTS := tests/lakes tests/lake tests/servers/test_busy_database.py
FUZZ_ARGS ?=
SUITES_ARGS ?=
# Delta and Iceberg have jars for the first; the newest one is in .venv.
LAKES_SPARK := 4.1
# Spark can apply changes itself since this one.
AUTO_CDC_SPARK := 4.2
LANGUAGES ?=
PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --durations 20
# A command with another PySpark, which is installed if a package index is there: $(call with_spark,VERSION,COMMAND)
with_spark = if tools/need_spark.sh $(BIN)/python $(1) build/spark-$(1); then \
		PYTHONPATH=$(CURDIR)/build/spark-$(1) $(2); \
	else [ $$? -eq 1 ] && echo "the tests on PySpark $(1) are skipped" >&2; fi
SAMPLES := $(wildcard $(addsuffix /binlog.0*,$(addprefix tests/corpus/, \
	mysql-5.6/mixed mysql-9.7/ddl mysql-9.7/gtid_tags mysql-9.7/payloads mariadb-11.8/domains)))
LAKE_SAMPLES := $(wildcard tests/corpus/mysql-9.7/ddl/binlog.0*)

export PATH := $(CURDIR)/$(BIN):$(PATH)
# Without bytecode, each process that the tests start compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test test-all test-servers test-cluster test-lakes test-spark-versions test-browser test-languages test-wheels test-emulated test-seeded test-suites check fuzz generate docs viewer vectors webide gallery bench bench-peers kernels wheel sdist

help: ## list these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP) ## create .venv with the package and its dependencies

$(RUNS): pyproject.toml tools/setup_venv.sh
	tools/setup_venv.sh $(VENV) spark,build $(PYTHON)
	@touch $@

$(STAMP): $(RUNS)
	tools/setup_venv.sh $(VENV) spark,build,dev $(PYTHON)
	@touch $@

kernels: setup ## compile edited kernels into the library of this checkout
	@$(BIN)/python -m tools.kernels

wheel: setup ## write dist/*.whl for Linux, macOS and Windows, with the kernels' machine code
	@for machine in $(MACHINES); do \
		echo "building the wheel for $$machine"; \
		BINLOG_KAITAI_MACHINE=$$machine $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist . || exit 1; \
	done

sdist: setup ## write dist/*.tar.gz, the sources, from which pip builds a wheel for its machine
	@$(BIN)/python -m hatchling build --target sdist --directory dist

run: $(RUNS) ## verify sample logs, then write some to a lake with a local Spark and query it
	@tools/need_java.sh
	@$(BIN)/binlog-kaitai verify $(SAMPLES)
	@$(BIN)/python examples/spark_lake.py build/lake $(LAKE_SAMPLES)

test: check kernels ## all checks, and all tests that need no database server
	@tools/need_java.sh
	$(PYTEST) -m "$(WITHOUT_OTHERS)" $(PYTEST_ARGS)

test-all: kernels ## the same tests with the whole corpus, and the thorough ones
	@tools/need_java.sh
	$(PYTEST) --whole-corpus -m "$(WITHOUT_OTHERS)" $(PYTEST_ARGS)

test-servers: kernels ## tests against real servers, started on this machine
	@tools/need_java.sh
	@tools/need_maven.sh
	$(PYTEST) -m "server and not iceberg" $(PYTEST_ARGS)

test-cluster: kernels ## tests on a Spark cluster and Spark Connect, started on this machine; packages come from PyPI
	@tools/need_java.sh
	@if tools/need_packages.sh $(BIN)/python; then \
		$(BIN)/python -m pytest -m "not iceberg" --durations 20 $(PYTEST_ARGS) tests/cluster; \
	else echo "the tests on a cluster are skipped" >&2; fi
	@$(call with_spark,$(LAKES_SPARK),$(BIN)/python -m pytest -m iceberg $(PYTEST_ARGS) tests/cluster)

test-lakes: kernels ## tests with Delta and Iceberg, on the PySpark they are made for; packages come from PyPI and Maven
	@tools/need_java.sh
	@$(call with_spark,$(LAKES_SPARK),$(PYTEST) -m "lakes or iceberg" $(PYTEST_ARGS) $(LAKE_TESTS))
	@$(call with_spark,$(AUTO_CDC_SPARK),$(BIN)/python -m pytest $(PYTEST_ARGS) tests/lakes/test_auto_cdc.py)

test-spark-versions: kernels ## some tests of the Spark source on older versions of PySpark; packages come from PyPI
	@tools/need_java.sh
	@$(call with_spark,4.1,$(BIN)/python -m pytest --durations 20 $(PYTEST_ARGS) $(VERSION_TESTS))
	@$(call with_spark,4.2,$(BIN)/python -m pytest --durations 20 $(PYTEST_ARGS) $(VERSION_TESTS))

test-browser: setup ## tests in a headless browser; skipped if there is none
	@tools/need_browser.sh || echo "the browser tests are skipped" >&2
	$(PYTEST) -m browser $(PYTEST_ARGS)

test-languages: setup ## build the grammar in other languages and compare their trees of all logs with Python's
	$(BIN)/python -m tools.conformance $(LANGUAGES)

test-wheels: wheel sdist ## build all wheels (or MACHINES="x86_64 ..."), install and use the one for x86-64, and one from sources; packages come from PyPI
	MACHINES="$(MACHINES)" $(BIN)/python -m pytest -m wheels $(PYTEST_ARGS)

test-emulated: wheel ## run the kernels of the wheels for other systems, under Wine and QEMU and with musl
	@tools/need_emulators.sh $(BIN)/python
	$(BIN)/python -m pytest -m wheels -k other_systems $(PYTEST_ARGS)

test-seeded: kernels ## put bugs into copies of the package, one at a time: the tests must find each
	$(BIN)/python -m tools.seeded_bugs

test-suites: kernels ## run the servers' own test suites, and compare their logs with the servers; SUITES_ARGS="--whole --server mariadb-11.8 ..."
	$(BIN)/python -m tools.suites $(SUITES_ARGS)

check: setup ## style, types, import order, and that generated/ fits formats/
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.generate --check
	$(BIN)/python -m tools.reference --check

fuzz: setup ## run every entry point on mutated logs; FUZZ_ARGS="--logs N --seed S --kernels python|checked|compiled ..."
	$(BIN)/python -m tools.fuzz $(FUZZ_ARGS)

generate: setup ## write generated/ from formats/; TARGET=java (go, rust ...) writes build/java instead
	$(BIN)/python -m tools.generate $(if $(TARGET),--target $(TARGET))
	$(if $(TARGET),,$(BIN)/python -m tools.reference)

docs: setup ## write build/docs/index.html, the documents and the format reference as a static site
	$(BIN)/python -m tools.reference --site

viewer: setup ## write build/viewer/index.html, the page on which binary logs are opened
	$(BIN)/python -m tools.viewer

vectors: setup ## write build/vectors/, a small real log for each event type and its tree as JSON
	$(BIN)/python -m tools.vectors

webide: setup ## write build/webide/mysql_binlog.ksy, one file for the Kaitai Web IDE
	$(BIN)/python -m tools.generate --webide

gallery: setup ## write build/collection/, what a pull request to Kaitai's collection of formats needs
	$(BIN)/python -m tools.generate --collection

bench: kernels ## measure throughput on this machine and write the tables to docs/performance.md
	$(BIN)/python -m tools.bench --write docs/performance.md

bench-peers: kernels ## measure other programs on the same logs: Rust, Java, Go, the servers' clients; packages come from their registries
	$(BIN)/python -m tools.peers --write docs/performance.md
