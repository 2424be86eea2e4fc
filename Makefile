# make demo: the whole pipeline on real images. make test: all tests but the slow ones. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PYTHONDONTWRITEBYTECODE :=
export PLURIVOX_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data))

.PHONY: install demo test quick slow coverage soak lint bench docs stubs format clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "plurivox needs Python 3.11 or newer; run make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	npm install --silent --no-save --prefix $(VENV)/npm axe-core || echo "axe-core is not installed: the accessibility tests are skipped"
	touch $@

demo: install
	$(BIN)/python -m examples.demo

# Two processes of one thread each. ORDER=7 shuffles files, and the tests within each, by that seed; TESTS=tests/web runs some.
PYTEST = PLURIVOX_ORDER=$(ORDER) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --durations=10

test: install
	$(PYTEST) -m "not slow" $(TESTS)

# While you work: no browser, PostgreSQL, training or other long tests. 90 s once the kernels are compiled.
QUICK = --ignore=tests/interfaces/web --ignore=tests/train --ignore=src/plurivox/train
quick: install
	$(PYTEST) -m "not (slow or long or browser or postgres or training)" $(QUICK) $(TESTS)

slow: install
	$(PYTEST) -m slow $(TESTS)

coverage: install
	$(PYTEST) --cov --cov-report=term:skip-covered $(TESTS)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m docs.glossary

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: install
	PYTHONPATH=tests $(BIN)/python -m interfaces.web.soak
	PLURIVOX_EXAMPLES=200 $(BIN)/python -m pytest -q tests/interfaces/web/test_openapi.py
	PLURIVOX_SEARCH=yes $(BIN)/python -m pytest -q tests/core tests/contracts tests/io tests/web/store/test_assignment.py

bench: install
	$(BIN)/python -m benchmarks

docs: install
	$(BIN)/python -m docs.make

stubs: install
	$(BIN)/python -m docs.stubs

clean:
	rm -rf $(VENV) demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
