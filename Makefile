# Everything runs in .venv, made here from locked versions. PYTHON names another interpreter (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Installs what a locked file names into an environment: by uv where there is one, which takes a part of pip's time;
# else, or if uv doesn't reach pip's index, by pip. It compiles only the environment whose commands the tests start
# without leave to write: others compile what they import.
locked = { command -v uv >/dev/null && uv pip install --quiet $(if $(filter $(VENV),$(1)),--compile-bytecode) \
	--python $(1)/bin/python --no-deps --require-hashes -r $(2) 2>/dev/null; } || \
	$(1)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes -r $(2)

# How many processes run the tests.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS)

# Python keeps its compiled files, whatever the machine says: each command that a test starts needs half as long then.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all test-beside test-page test-ragas test-live test-driver5 test-cluster test-wheel test-versions test-newest docs dist release lint format bench lock clean

demo: $(VENV)/.run
	$(BIN)/graphkit demo

# The fast suite, on the embedded database alone: it needs neither data sets nor a sandbox, browser, Java or Node.
test: $(VENV)/.test
	GRAPHKIT_TESTS=fast $(PYTEST)

# Everything: also on a real Neo4j, in browsers, on the data sets, with RAGAS and with the live libraries (LIVE= skips these).
LIVE ?= test-live
# Clusters of Dask and Ray, and an S3 server (CLUSTER= skips them).
CLUSTER ?= test-cluster
# The site and the distributions, checked by tools of an environment of their own (SITE= skips them).
SITE ?= docs test-wheel
# The modules of the report page, checked by Node and by what npm installs (PAGE= skips them).
PAGE ?= test-page
# What depends on Python, on the newest that the machine has (NEWEST= skips it).
NEWEST ?= test-newest
# The oldest driver, beside a library that needs it (DRIVER5= skips it).
DRIVER5 ?= test-driver5
# What is tested beside the main suite needs one core each: two at a time, those that take longest first, and what each
# says is kept together. The main suite then has the machine for itself, with a process more than cores: its tests wait
# for servers to start and to stop.
BESIDE := lint $(CLUSTER) $(LIVE) $(SITE) $(DRIVER5) test-ragas $(NEWEST) $(PAGE)
test-all: $(VENV)/.test
	$(MAKE) --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) test-beside
	$(BIN)/python -m pytest -n $$(($(WORKERS) + 1)) --durations=10 --durations-min=5

test-beside: $(BESIDE)

# The types of the page's modules, by their JSDoc, and their unit tests; Node 18 or newer. It also installs axe-core.
WEB := tests/web/node_modules
test-page: $(WEB)/.done
	$(WEB)/.bin/tsc -p tests/web/tsconfig.json
	node --test tests/web/*.test.js

# RAGAS wants versions of its own, so the tests that run it have an environment of their own.
test-ragas: .venv-ragas/.done
	GRAPHKIT_REQUIRE_RAGAS=1 .venv-ragas/bin/python -m pytest tests/plugins/ragas

# The libraries whose logs graphkit reads, run live: run it after `make lock`, to notice a version that logs differently.
test-live: .venv-live/.done
	GRAPHKIT_REQUIRE_LIVE=1 GRAPHKIT_REQUIRE_NEO4J_GRAPHRAG=1 \
		.venv-live/bin/python -m pytest tests/live tests/plugins/logs/test_neo4j_graphrag_searches.py

# The oldest driver that graphkit works with, which LlamaIndex's store in Neo4j needs: connections and errors, what is
# loaded on the embedded database, the graphs of others, and both libraries in one process.
test-driver5: .venv-driver5/.done
	GRAPHKIT_REQUIRE_LIVE=1 .venv-driver5/bin/python -m pytest -k "not newest_neo4j and not (neo4j and (test_loading or test_graph_database))" \
		tests/database/test_connection.py tests/database/test_routing.py tests/graph/test_loading.py \
		tests/plugins/graphs/test_graph_database.py tests/database/test_beside_llama_index.py

# Local clusters of Dask and Ray, a worker of each killed, and a real S3 server.
test-cluster: .venv-cluster/.done
	GRAPHKIT_REQUIRE_CLUSTER=1 .venv-cluster/bin/python -m pytest tests/plugins/cluster

# The fast suite on each Python that pyproject.toml names, and their results compared byte for byte. ARGS are pytest's.
test-versions: $(VENV)/.test
	WORKERS=$(WORKERS) $(BIN)/python -m tests.versions $(ARGS)

# On the newest of them: the rooms that have depended on the version of Python, and the results of every command.
test-newest: $(VENV)/.test
	$(BIN)/python -m tests.versions --newest -m "not database and not process" \
		tests/records tests/measures tests/files tests/plugins/sandbox tests/imports

# The wheel and the source distribution.
dist: $(VENV)/.run
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist >/dev/null
	@ls dist/*

# Both distributions are checked, and the wheel alone works in an empty environment of the oldest and the newest Python.
test-wheel: dist $(VENV)/.test .venv-docs/.done
	.venv-docs/bin/python -m twine check --strict dist/*
	$(BIN)/python -m tests.wheels dist

# The documentation as a site, in build/docs; a link that leads nowhere is an error.
docs: .venv-docs/.done
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs --quiet build --strict --config-file docs/site/mkdocs.yml
	@echo "build/docs/index.html"

# Everything that a release needs: a clean tree, one version, an entry in the changelog, the site, both distributions.
# It writes the message of the tag into build/, and says what a person does by hand.
release: $(VENV)/.test
	$(BIN)/python -m tests.release
	$(MAKE) docs test-wheel
	$(BIN)/python -m tests.release dist

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The peers that graphkit is compared with live in an environment of their own. ARGS="--help" shows what it can do.
bench: .venv-bench/.done
	.venv-bench/bin/python -m benchmarks $(ARGS)

# The locked files name every package, so pip resolves nothing (--no-deps): it would look at newer versions of a package
# that is locked with an extra, and refuse those as not locked.

# Installs the checkout into an environment, without the distribution of its former name.
define install
@$(1)/bin/python -m pip --disable-pip-version-check -qq uninstall --yes graphkit
@$(1)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
@touch $@
endef

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "graphkit needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 1; }
	@echo "Making $(VENV) (once; under a minute)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.python requirements/run.txt pyproject.toml
	@$(call locked,$(VENV),requirements/run.txt)
	$(call install,$(VENV))

$(VENV)/.test: $(VENV)/.run requirements/test.txt
	@echo "Adding what the tests need (once)"
	@$(call locked,$(VENV),requirements/test.txt)
	@touch $@

.venv-bench/.done: requirements/run.txt benchmarks/requirements.txt pyproject.toml
	@$(PYTHON) -m venv .venv-bench
	@$(call locked,.venv-bench,benchmarks/requirements.txt)
	$(call install,.venv-bench)

.venv-docs/.done: requirements/docs.txt
	@echo "Making .venv-docs (once)"
	@$(PYTHON) -m venv .venv-docs
	@$(call locked,.venv-docs,requirements/docs.txt)
	@touch $@

.venv-ragas/.done .venv-live/.done .venv-driver5/.done .venv-cluster/.done: .venv-%/.done: requirements/%.txt pyproject.toml
	@echo "Making .venv-$* (once; some minutes)"
	@$(PYTHON) -m venv .venv-$*
	@$(call locked,.venv-$*,requirements/$*.txt)
	$(call install,.venv-$*)

$(WEB)/.done: tests/web/package.json tests/web/package-lock.json
	@echo "Adding what the tests of the page need (once)"
	@npm --prefix tests/web --loglevel=error ci --ignore-scripts --no-audit --no-fund
	@touch $@

# Compiles the locked versions anew: with hashes, for every platform, without index addresses (npm's file, too).
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package graphkit-eval \
	--custom-compile-command "make lock"
lock:
	$(LOCK) requirements/run.in -o requirements/run.txt
	$(LOCK) requirements/test.in -o requirements/test.txt
	$(LOCK) requirements/ragas.in -o requirements/ragas.txt
	$(LOCK) requirements/docs.in -o requirements/docs.txt
	$(LOCK) requirements/driver5.in -o requirements/driver5.txt
	$(LOCK) requirements/cluster.in -o requirements/cluster.txt
	$(LOCK) --no-strip-extras requirements/live.in -o requirements/live.txt
	$(LOCK) benchmarks/requirements.in -o benchmarks/requirements.txt
	npm --prefix tests/web --loglevel=error install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund

clean:
	rm -rf $(VENV) .venv-bench .venv-docs .venv-ragas .venv-live .venv-driver5 .venv-cluster .venv-wheel-* .venv-python-* $(WEB) .mypy_cache .ruff_cache .pytest_cache build dist
