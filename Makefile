# Slipstream: every command of the repository. `make` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

CPP := $(shell find core bindings tests/core -name '*.cpp' -o -name '*.h')
NATIVE := $(CPP) $(shell find core bindings tests/core -name '*.def' -o -name CMakeLists.txt) CMakeLists.txt pyproject.toml
PY_DIRS := $(wildcard python tests benchmarks examples tools)
PYTEST := $(BIN)/python -m pytest
T ?=

.PHONY: help tour test build lint generated format test-core test-async test-sync sanitize sanitize-quick coverage \
        soak flat ecosystem peers bench wheel aarch64 clean
.NOTPARALLEL:

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s%s\n", $$1, $$2 }' Makefile

# ---- for everybody ----------------------------------------------------------------------------------------------------

tour: $(VENV)/.installed  ## run the tour of asynchronous computation, write tour.html
	$(BIN)/slipstream tour

test: lint test-core test-async test-sync sanitize-quick coverage  ## everything that must be green

build: $(VENV)/.installed  ## compile what changed and install it into .venv

# ---- set-up -----------------------------------------------------------------------------------------------------------

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "Python's venv is missing: sudo apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The first build is what any user's `pip install` does, with its tools in build isolation. Once the tools are in .venv
# too, builds use those: quicker, and without a network. Both compile only what changed.
HEADERS := tools/python_headers.sh $(BIN)/python
ISOLATED = options=$$($(HEADERS)) && $(PIP) $$options -e .
DIRECT = options=$$($(HEADERS)) && $(PIP) -q --no-build-isolation --no-deps \
         --config-settings=cmake.define.SLIPSTREAM_TESTS=ON $$options -e .

$(VENV)/.installed: $(NATIVE) | $(VENV)/.made
	$(if $(wildcard $(VENV)/.tools),$(DIRECT),$(ISOLATED))
	@touch $@

# Tools and test dependencies; the second command adds the C++ tests to the build.
$(VENV)/.tools: pyproject.toml | $(VENV)/.installed
	$(PIP) -q 'slipstream[test]'
	$(DIRECT)
	@touch $@

READY := $(VENV)/.installed $(VENV)/.tools

# ---- checks -----------------------------------------------------------------------------------------------------------

lint: $(READY)  ## ruff, clang-format, mypy, and the house rules
	$(BIN)/ruff check $(PY_DIRS)
	$(BIN)/ruff format --check $(PY_DIRS)
	@echo clang-format --dry-run
	@$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/python tools/house_rules.py

generated: $(READY)  ## write again what is made from tables: the stubs, docs/environment.md, a table of docs/numpy.md
	$(BIN)/python tools/make_stubs.py
	$(BIN)/python tools/make_tables.py
	$(BIN)/slipstream environment > docs/environment.md

format: $(if $(wildcard $(VENV)/.tools),,$(READY))  ## put all code into the agreed layout
	$(BIN)/ruff check --fix-only -q $(PY_DIRS)
	$(BIN)/ruff format -q $(PY_DIRS)
	@$(BIN)/clang-format -i $(CPP)

test-core: $(READY)  ## the C++ tests; T=name runs those whose name contains it
	$$(ls -t build/cp*/tests/core/core_tests | head -1) $(T)

test-async: $(READY)  ## the Python tests; T='-k name' and the like are passed on to pytest
	SLIPSTREAM_ENGINE=async $(PYTEST) $(T)

test-sync: $(READY)  ## the same on the synchronous engine
	SLIPSTREAM_ENGINE=sync $(PYTEST) $(T)

sanitize-quick: $(READY)  ## the C++ tests of the engine under the thread sanitizer
	$(BIN)/python tools/variant.py thread core

sanitize: $(READY)  ## C++ tests and a Python stress run under the thread and the address sanitizer
	$(BIN)/python tools/variant.py thread core
	$(BIN)/python tools/variant.py address core
	$(BIN)/python tools/variant.py thread python tests/programs/stress.py
	$(BIN)/python tools/variant.py address python tests/programs/stress.py

coverage: $(READY)  ## lines of core/engine that the C++ tests reach; fails under 90%
	$(BIN)/python tools/coverage.py

soak: $(READY)  ## a million operations of random programs, a thousand exits, interrupts, a loop that never waits; hours
	$(BIN)/python tools/soak.py
	$(BIN)/python tools/exits.py
	$(BIN)/python tools/interrupts.py
	$(BIN)/python tools/bounded_memory.py

flat: $(READY)  ## resident memory over 10,000 training steps that wait, run one ahead, and never wait; fails where it grows
	$(BIN)/python tools/flat_memory.py

# Their own environment, which sees all of .venv.
.ecosystem/.made: pyproject.toml | $(READY)
	$(PYTHON) -m venv .ecosystem
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
	  > $$(.ecosystem/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/venv.pth
	.ecosystem/bin/python -m pip --disable-pip-version-check install -q 'slipstream[ecosystem]'
	@touch $@

ecosystem: .ecosystem/.made  ## SciPy, scikit-learn, pandas and matplotlib on our arrays, in an environment of their own
	.ecosystem/bin/python -m pytest tests/ecosystem $(T)

peers: $(VENV)/.installed  ## bring the libraries that `make bench` measures beside us into .bench and .bench-mxnet
	$(BIN)/python -m benchmarks.install

bench: $(READY)  ## measure against the installed peers; B='name ...' picks benchmarks
	$(BIN)/python -m benchmarks $(B)

# ---- releases ---------------------------------------------------------------------------------------------------------

wheel: $(VENV)/.made  ## build a wheel into dist/
	options=$$($(HEADERS)) && $(BIN)/python -m pip --disable-pip-version-check wheel --no-deps $$options -w dist .

aarch64: $(READY)  ## compile the core for aarch64, and run its tests where qemu is installed
	$(BIN)/python tools/variant.py aarch64 core

clean:  ## remove all that was built
	rm -rf $(VENV) .ecosystem build dist
